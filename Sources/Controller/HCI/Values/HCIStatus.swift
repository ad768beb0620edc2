import BluetoothTypes

/// The status byte with which a controller answers a command.
///
/// Core Specification 5.4, Vol 1 Part F 1.3. Every byte is accepted, even if it has no name yet.
public struct HCIStatus: RawRepresentable, Error, Hashable, Sendable, CustomStringConvertible {
    public let rawValue: UInt8

    /// Accepts any byte, including reserved values.
    public init(rawValue: UInt8) {
        self.rawValue = rawValue
    }

    public static let success = Self(rawValue: 0x00)
    public static let unknownCommand = Self(rawValue: 0x01)
    public static let unknownConnectionIdentifier = Self(rawValue: 0x02)
    public static let hardwareFailure = Self(rawValue: 0x03)
    public static let memoryCapacityExceeded = Self(rawValue: 0x07)
    public static let commandDisallowed = Self(rawValue: 0x0C)
    public static let unsupportedFeatureOrParameterValue = Self(rawValue: 0x11)
    public static let invalidParameters = Self(rawValue: 0x12)
    public static let unspecifiedError = Self(rawValue: 0x1F)
    public static let parameterOutOfMandatoryRange = Self(rawValue: 0x30)
    public static let controllerBusy = Self(rawValue: 0x3A)
    public static let advertisingTimeout = Self(rawValue: 0x3C)
    public static let unknownAdvertisingIdentifier = Self(rawValue: 0x42)
    public static let limitReached = Self(rawValue: 0x43)
    public static let operationCancelledByHost = Self(rawValue: 0x44)
    public static let packetTooLong = Self(rawValue: 0x45)

    public var isSuccess: Bool { rawValue == 0 }

    /// The specification's name, such as `Command Disallowed`; `nil` for reserved bytes.
    public var name: String? {
        Int(rawValue) < Self.names.count ? Self.names[Int(rawValue)] : nil
    }

    /// The name and the number, such as `Command Disallowed (0x0C)`.
    public var description: String {
        "\(name ?? "unknown status") (\(Hexadecimal.number(rawValue, width: 2)))"
    }

    /// The names of the status values, indexed by the status byte.
    private static let names: [String?] = [
        "Success",
        "Unknown HCI Command",
        "Unknown Connection Identifier",
        "Hardware Failure",
        "Page Timeout",
        "Authentication Failure",
        "PIN or Key Missing",
        "Memory Capacity Exceeded",
        "Connection Timeout",
        "Connection Limit Exceeded",
        "Synchronous Connection Limit To A Device Exceeded",
        "Connection Already Exists",
        "Command Disallowed",
        "Connection Rejected due to Limited Resources",
        "Connection Rejected Due To Security Reasons",
        "Connection Rejected due to Unacceptable BD_ADDR",
        "Connection Accept Timeout Exceeded",
        "Unsupported Feature or Parameter Value",
        "Invalid HCI Command Parameters",
        "Remote User Terminated Connection",
        "Remote Device Terminated Connection due to Low Resources",
        "Remote Device Terminated Connection due to Power Off",
        "Connection Terminated By Local Host",
        "Repeated Attempts",
        "Pairing Not Allowed",
        "Unknown LMP PDU",
        "Unsupported Remote Feature",
        "SCO Offset Rejected",
        "SCO Interval Rejected",
        "SCO Air Mode Rejected",
        "Invalid LMP Parameters / Invalid LL Parameters",
        "Unspecified Error",
        "Unsupported LMP Parameter Value / Unsupported LL Parameter Value",
        "Role Change Not Allowed",
        "LMP Response Timeout / LL Response Timeout",
        "LMP Error Transaction Collision / LL Procedure Collision",
        "LMP PDU Not Allowed",
        "Encryption Mode Not Acceptable",
        "Link Key cannot be Changed",
        "Requested QoS Not Supported",
        "Instant Passed",
        "Pairing With Unit Key Not Supported",
        "Different Transaction Collision",
        nil,
        "QoS Unacceptable Parameter",
        "QoS Rejected",
        "Channel Classification Not Supported",
        "Insufficient Security",
        "Parameter Out Of Mandatory Range",
        nil,
        "Role Switch Pending",
        nil,
        "Reserved Slot Violation",
        "Role Switch Failed",
        "Extended Inquiry Response Too Large",
        "Secure Simple Pairing Not Supported By Host",
        "Host Busy - Pairing",
        "Connection Rejected due to No Suitable Channel Found",
        "Controller Busy",
        "Unacceptable Connection Parameters",
        "Advertising Timeout",
        "Connection Terminated due to MIC Failure",
        "Connection Failed to be Established / Synchronization Timeout",
        nil,
        "Coarse Clock Adjustment Rejected but Will Try to Adjust Using Clock Dragging",
        "Type0 Submap Not Defined",
        "Unknown Advertising Identifier",
        "Limit Reached",
        "Operation Cancelled by Host",
        "Packet Too Long",
    ]
}
