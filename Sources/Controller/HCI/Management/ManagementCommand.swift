internal import BluetoothTypes

/// A command of the kernel's Bluetooth management interface.
///
/// See BlueZ's doc/mgmt-api.txt. The kernel refuses a message that is longer or shorter than the layout of its command.
public protocol ManagementCommand: HCIRecord {
    /// The return parameters, which follow the status byte in this command's Command Complete event.
    associatedtype ReturnParameters: HCIReturnParameters

    static var opcode: UInt16 { get }
    /// The name in mgmt-api.txt, without `Command`.
    static var name: String { get }
}

extension ManagementCommand {
    /// The parameter bytes.
    public var parameters: [UInt8] { encoded }

    /// The names of the parameters and their values in words, for display.
    public var fields: [HCIField] { described }

    /// Returns the message that sends this command to the adapter `index`.
    public func packet(_ index: UInt16) -> ManagementPacket {
        ManagementPacket(code: Self.opcode, index: index, parameters: parameters)
    }

    /// Reads the parameter bytes; `nil` if their number or layout does not fit this command. Reserved values are kept.
    public init?(parameters octets: Span<UInt8>) {
        self.init(decoding: octets, allowsTrailingOctets: false)
    }
}

/// A management command without parameters.
public protocol ManagementParameterlessCommand: ManagementCommand {
    init()
}

extension ManagementParameterlessCommand {
    public init(placeholder: HCIPlaceholder) { self.init() }
    public mutating func layout(_ fields: inout HCIFieldCoder) {}
}

/// The return parameters of commands that change a setting.
public struct ManagementCurrentSettings: HCIReturnParameters {
    public private(set) var settings: ManagementSettings = []

    /// The settings of the adapter after the command.
    public init(_ settings: ManagementSettings) {
        self.settings = settings
    }

    public init(placeholder: HCIPlaceholder) {}
    public mutating func layout(_ fields: inout HCIFieldCoder) {
        fields.named("Current_Settings", &settings)
    }
}

/// The return parameters of commands for one advertising instance.
public struct ManagementInstance: HCIReturnParameters {
    /// The host's number of the advertising instance, from 1.
    public private(set) var instance: UInt8 = 0

    public init(placeholder: HCIPlaceholder) {}
    public mutating func layout(_ fields: inout HCIFieldCoder) {
        fields.number("Instance", &instance)
    }
}

/// Describes management commands in words, for dry runs.
public enum ManagementCommands {
    /// Every command that is declared in this module.
    public static let all: [any ManagementCommand.Type] = [
        ReadManagementSupportedCommands.self, ReadControllerIndexList.self, ReadControllerInformation.self,
        SetPowered.self, SetLowEnergy.self, ReadAdvertisingFeatures.self, AddAdvertising.self, RemoveAdvertising.self,
        AddExtendedAdvertisingParameters.self, AddExtendedAdvertisingData.self,
        AddAdvertisementPatternsMonitor.self, RemoveAdvertisementMonitor.self,
    ]

    /// Returns the name of a command, and its fields. If the bytes do not fit the command's layout, the result has a
    /// single field with all bytes.
    public static func describe(_ packet: ManagementPacket) -> (name: String, fields: [HCIField]) {
        let raw = packet.parameters.isEmpty ? [] : [HCIField("parameters", octets: packet.parameters)]
        func describe<C: ManagementCommand>(_ type: C.Type) -> (String, [HCIField]) {
            (C.name, C(parameters: packet.parameters.span)?.fields ?? raw)
        }
        guard let type = all.first(where: { $0.opcode == packet.code }) else {
            return ("management command \(Hexadecimal.number(packet.code, width: 4))", raw)
        }
        return describe(type)
    }
}

/// The settings of an adapter, with one bit for each setting.
///
/// BlueZ's doc/mgmt-api.txt, Read Controller Information. Bits without a name in this type are accepted too.
public struct ManagementSettings: OptionSet, Hashable, Sendable {
    public let rawValue: UInt32

    /// Accepts any bits, including reserved bits.
    public init(rawValue: UInt32) {
        self.rawValue = rawValue
    }

    public static let powered = Self(rawValue: 1 << 0)
    /// The adapter accepts connections. This setting also makes non-connectable advertising connectable.
    public static let connectable = Self(rawValue: 1 << 1)
    public static let discoverable = Self(rawValue: 1 << 3)
    /// Basic Rate / Enhanced Data Rate.
    public static let bredr = Self(rawValue: 1 << 7)
    public static let lowEnergy = Self(rawValue: 1 << 9)
    /// The command Set Advertising has turned advertising on. The kernel sends the advertising instances only while
    /// this setting is off.
    public static let advertising = Self(rawValue: 1 << 10)
    public static let privacy = Self(rawValue: 1 << 13)
    public static let staticAddress = Self(rawValue: 1 << 15)
}

extension ManagementSettings: CustomStringConvertible {
    /// The settings in words, such as `powered, low energy (0x00000201)`.
    public var description: String {
        bitNames(
            rawValue,
            [
                (0, "powered"), (1, "connectable"), (3, "discoverable"), (7, "BR/EDR"), (9, "low energy"),
                (10, "advertising"), (13, "privacy"), (15, "static address"),
            ])
    }
}

/// The options of an advertising instance. Some of the flags select which other parameters are used.
///
/// BlueZ's doc/mgmt-api.txt, Add Advertising and Add Extended Advertising Parameters.
public struct ManagementAdvertisingFlags: OptionSet, Hashable, Sendable {
    public let rawValue: UInt32

    /// Accepts any bits, including reserved bits.
    public init(rawValue: UInt32) {
        self.rawValue = rawValue
    }

    public static let connectable = Self(rawValue: 1 << 0)
    public static let discoverable = Self(rawValue: 1 << 1)
    public static let limitedDiscoverable = Self(rawValue: 1 << 2)
    /// The kernel puts a Flags structure before the data.
    public static let addFlags = Self(rawValue: 1 << 3)
    /// The kernel puts a TX Power Level structure after the data.
    public static let addTxPower = Self(rawValue: 1 << 4)
    public static let secondaryChannel1M = Self(rawValue: 1 << 7)
    public static let secondaryChannel2M = Self(rawValue: 1 << 8)
    public static let secondaryChannelCoded = Self(rawValue: 1 << 9)
    /// The controller has extended advertising and accepts a TX power. This flag occurs only in the supported flags.
    public static let canSetTxPower = Self(rawValue: 1 << 10)
    public static let hardwareOffload = Self(rawValue: 1 << 11)
    /// The duration in Add Extended Advertising Parameters is used.
    public static let useDuration = Self(rawValue: 1 << 12)
    /// The timeout in Add Extended Advertising Parameters is used.
    public static let useTimeout = Self(rawValue: 1 << 13)
    /// The intervals in Add Extended Advertising Parameters are used.
    public static let useIntervals = Self(rawValue: 1 << 14)
    /// The power in Add Extended Advertising Parameters is used.
    public static let useTxPower = Self(rawValue: 1 << 15)
    /// The command that sets the data will also contain a scan response.
    public static let scanResponse = Self(rawValue: 1 << 16)
}

extension ManagementAdvertisingFlags: CustomStringConvertible {
    /// The flags in words, such as `use intervals, use TX power (0x0000C000)`.
    public var description: String {
        bitNames(
            rawValue,
            [
                (0, "connectable"), (1, "discoverable"), (2, "limited discoverable"), (3, "add flags"),
                (4, "add TX power"), (7, "secondary 1M"), (8, "secondary 2M"), (9, "secondary coded"),
                (10, "can set TX power"), (11, "hardware offload"), (12, "use duration"), (13, "use timeout"),
                (14, "use intervals"), (15, "use TX power"), (16, "scan response"),
            ])
    }
}

/// Returns the names of the bits that are set in `value`, followed by `value` in hexadecimal digits.
private func bitNames(_ value: UInt32, _ names: [(bit: UInt32, name: String)]) -> String {
    let setBits = names.filter { value & 1 << $0.bit != 0 }.map(\.name)
    return (setBits.isEmpty ? "none" : setBits.joined(separator: ", ")) + " (\(Hexadecimal.number(value, width: 8)))"
}

/// The status of a management command. Its numbers differ from those of ``HCIStatus``.
///
/// BlueZ's doc/mgmt-api.txt, "Error Codes". Bytes without a name are accepted too.
public struct ManagementStatus: RawRepresentable, Error, Hashable, Sendable, CustomStringConvertible {
    public let rawValue: UInt8

    /// Accepts any byte, including reserved values.
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

    /// The name, such as `Invalid Parameters`; `nil` for bytes that have no name.
    public var name: String? {
        Int(rawValue) < Self.names.count ? Self.names[Int(rawValue)] : nil
    }

    /// The name and the number, such as `Invalid Parameters (0x0D)`.
    public var description: String {
        "\(name ?? "unknown status") (\(Hexadecimal.number(rawValue, width: 2)))"
    }

    /// The names of the status values, indexed by the status byte.
    private static let names = [
        "Success", "Unknown Command", "Not Connected", "Failed", "Connect Failed", "Authentication Failed",
        "Not Paired", "No Resources", "Timeout", "Already Connected", "Busy", "Rejected", "Not Supported",
        "Invalid Parameters", "Disconnected", "Not Powered", "Cancelled", "Invalid Index", "RFKilled",
        "Already Paired", "Permission Denied",
    ]
}

/// The reason why a management command has no result.
public enum ManagementError: Error, Hashable, Sendable {
    /// The kernel answered with an error.
    case refused(command: String, index: UInt16, status: ManagementStatus)
    case noAnswer(command: String, index: UInt16, after: Duration)
    /// The answer is shorter than the command's return parameters.
    case malformedReturn(command: String, index: UInt16, octets: [UInt8])
    case channel(HCIChannelError)

    /// The kernel's status if it refused the command; `nil` for other errors.
    public var status: ManagementStatus? {
        guard case .refused(_, _, let status) = self else { return nil }
        return status
    }
}

extension ManagementError: CustomStringConvertible {
    public var description: String {
        switch self {
        case .refused(let command, let index, let status):
            "the kernel refused \(command)\(Self.adapter(index)): \(status)\(Self.remedy(status))"
        case .noAnswer(let command, let index, let time):
            "the kernel did not answer \(command)\(Self.adapter(index)) within \(time.secondsText) s"
        case .malformedReturn(let command, let index, let octets):
            "the kernel's answer to \(command)\(Self.adapter(index)) is too short: "
                + (octets.isEmpty ? "empty" : Hexadecimal.text(octets))
        case .channel(let error):
            error.description
        }
    }

    private static func adapter(_ index: UInt16) -> String {
        index == ManagementPacket.noController ? "" : " on hci\(index)"
    }

    /// Returns the text that tells the user what to do; empty if it is not known.
    private static func remedy(_ status: ManagementStatus) -> String {
        switch status {
        case .permissionDenied: "; run as root, or give the program CAP_NET_ADMIN"
        case .rfkilled: "; `rfkill unblock bluetooth` switches the radio on"
        case .invalidIndex: "; there is no such adapter, or a program uses its user channel"
        default: ""
        }
    }
}
