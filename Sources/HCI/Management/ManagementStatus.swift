import BluetoothTypes

/// How the kernel's Bluetooth management answers a command; not to be mixed up with ``HCIStatus``, whose numbers mean
/// other things.
///
/// BlueZ's doc/mgmt-api.txt, "Error Codes". Every octet is kept, also those that have no name yet.
public struct ManagementStatus: RawRepresentable, Error, Hashable, Sendable, CustomStringConvertible {
    public let rawValue: UInt8

    /// Any octet, reserved ones included.
    public init(rawValue: UInt8) {
        self.rawValue = rawValue
    }

    public static let success = Self(rawValue: 0x00)
    public static let unknownCommand = Self(rawValue: 0x01)
    public static let failed = Self(rawValue: 0x03)
    public static let noResources = Self(rawValue: 0x07)
    public static let timeout = Self(rawValue: 0x08)
    public static let busy = Self(rawValue: 0x0A)
    public static let rejected = Self(rawValue: 0x0B)
    public static let notSupported = Self(rawValue: 0x0C)
    public static let invalidParameters = Self(rawValue: 0x0D)
    public static let notPowered = Self(rawValue: 0x0F)
    public static let invalidIndex = Self(rawValue: 0x11)
    public static let rfkilled = Self(rawValue: 0x12)
    public static let permissionDenied = Self(rawValue: 0x14)

    public var isSuccess: Bool { rawValue == 0 }

    /// Such as `Invalid Parameters`; `nil` for octets that have no name.
    public var name: String? {
        Int(rawValue) < Self.names.count ? Self.names[Int(rawValue)] : nil
    }

    /// `Invalid Parameters (0x0D)`.
    public var description: String {
        "\(name ?? "unknown status") (\(Hexadecimal.number(rawValue, width: 2)))"
    }

    /// Indexed by the status octet.
    private static let names = [
        "Success", "Unknown Command", "Not Connected", "Failed", "Connect Failed", "Authentication Failed",
        "Not Paired", "No Resources", "Timeout", "Already Connected", "Busy", "Rejected", "Not Supported",
        "Invalid Parameters", "Disconnected", "Not Powered", "Cancelled", "Invalid Index", "RFKilled",
        "Already Paired", "Permission Denied",
    ]
}

/// Why a management command has no result.
public enum ManagementError: Error, Hashable, Sendable {
    /// The kernel answered with an error.
    case refused(command: String, index: UInt16, status: ManagementStatus)
    case noAnswer(command: String, index: UInt16, after: Duration)
    /// The answer is too short for what the command returns.
    case malformedReturn(command: String, index: UInt16, octets: [UInt8])
    case channel(HCIChannelError)

    /// What the kernel said, where it said something.
    public var status: ManagementStatus? {
        guard case .refused(_, _, let status) = self else { return nil }
        return status
    }
}

extension ManagementError: CustomStringConvertible {
    public var description: String {
        switch self {
        case .refused(let command, let index, let status):
            "the kernel refused \(command)\(Self.place(index)): \(status)\(Self.remedy(status))"
        case .noAnswer(let command, let index, let time):
            "the kernel did not answer \(command)\(Self.place(index)) within \(time.secondsText) s"
        case .malformedReturn(let command, let index, let octets):
            "the kernel's answer to \(command)\(Self.place(index)) is too short: "
                + (octets.isEmpty ? "empty" : Hexadecimal.text(octets))
        case .channel(let error):
            error.description
        }
    }

    private static func place(_ index: UInt16) -> String {
        index == ManagementPacket.noController ? "" : " on hci\(index)"
    }

    /// What a person can do about it.
    private static func remedy(_ status: ManagementStatus) -> String {
        switch status {
        case .permissionDenied: "; run as root, or give the program CAP_NET_ADMIN"
        case .rfkilled: "; `rfkill unblock bluetooth` switches the radio on"
        case .invalidIndex: "; no such adapter, or a program holds its user channel"
        default: ""
        }
    }
}
