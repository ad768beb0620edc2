import BluetoothTypes

/// A command of the kernel's Bluetooth management: its number, its layout and what it returns.
///
/// BlueZ's doc/mgmt-api.txt. The kernel checks lengths to the octet, so ``parameters`` never has one too many.
public protocol ManagementCommand: Hashable, Sendable {
    /// What follows the status octet in this command's Command Complete event.
    associatedtype ReturnParameters: HCIReturnParameters

    static var opcode: UInt16 { get }
    /// The name in mgmt-api.txt, without `Command`.
    static var name: String { get }

    var parameters: [UInt8] { get }
    /// Reads parameter octets; `nil` when their number or layout is not this command's. Values are not judged.
    init?(parameters octets: Span<UInt8>)
    /// The parameters by name, for people.
    var fields: [HCIField] { get }
}

extension ManagementCommand {
    /// The whole command to the adapter `index`.
    public func packet(_ index: UInt16) -> ManagementPacket {
        ManagementPacket(code: Self.opcode, index: index, parameters: parameters)
    }
}

/// A management command without parameters.
public protocol ManagementParameterlessCommand: ManagementCommand {
    init()
}

extension ManagementParameterlessCommand {
    public var parameters: [UInt8] { [] }
    public var fields: [HCIField] { [] }

    /// Reads the parameters of a command that has none; `nil` when there are some.
    public init?(parameters octets: Span<UInt8>) {
        guard octets.isEmpty else { return nil }
        self.init()
    }
}

/// A management command that turns something on or off.
public protocol ManagementSwitchCommand: ManagementCommand {
    /// What the adapter is set to afterwards is returned.
    associatedtype ReturnParameters = ManagementCurrentSettings

    /// 1 on, 0 off.
    var value: UInt8 { get }
    init(value: UInt8)
}

extension ManagementSwitchCommand {
    /// Turns the setting on or off.
    public init(_ on: Bool) {
        self.init(value: on ? 1 : 0)
    }

    /// Reads exactly 1 octet; `nil` for another number. Reserved values are kept.
    public init?(parameters octets: Span<UInt8>) {
        guard octets.count == 1 else { return nil }
        self.init(value: octets[0])
    }

    public var parameters: [UInt8] { [value] }
    public var fields: [HCIField] { [HCIField(Self.name, onOff: value)] }
}

/// What commands that change a setting return.
public struct ManagementCurrentSettings: HCIReturnParameters {
    public let settings: ManagementSettings

    /// The current settings of the adapter, after the command.
    public init(_ settings: ManagementSettings) {
        self.settings = settings
    }

    /// Reads 4 octets from `offset` on, whatever follows; `nil` when fewer are left.
    public init?(octets: Span<UInt8>, at offset: Int) {
        guard octets.holds(4, at: offset) else { return nil }
        settings = ManagementSettings(rawValue: octets.uint32LittleEndian(at: offset))
    }

    public var octets: [UInt8] {
        var result: [UInt8] = []
        result.append(littleEndian: settings.rawValue)
        return result
    }
}

/// What commands about one advertising instance return.
public struct ManagementInstance: HCIReturnParameters {
    public let instance: UInt8

    /// The instance that the command was about.
    public init(_ instance: UInt8) {
        self.instance = instance
    }

    /// Reads 1 octet from `offset` on, whatever follows; `nil` when it is not there.
    public init?(octets: Span<UInt8>, at offset: Int) {
        guard octets.holds(1, at: offset) else { return nil }
        instance = octets[offset]
    }

    public var octets: [UInt8] { [instance] }
}

/// Any management command in words, for dry runs.
public enum ManagementCommands {
    /// Every command that is declared in this module.
    public static let all: [any ManagementCommand.Type] = [
        ReadManagementVersionInformation.self, ReadManagementSupportedCommands.self, ReadControllerIndexList.self,
        ReadControllerInformation.self, SetPowered.self, SetLowEnergy.self, ReadAdvertisingFeatures.self,
        AddAdvertising.self, RemoveAdvertising.self, GetAdvertisingSizeInformation.self,
        AddExtendedAdvertisingParameters.self, AddExtendedAdvertisingData.self,
    ]

    /// The name of a command, and its fields where its octets fit its layout; its octets where they do not.
    public static func describe(_ packet: ManagementPacket) -> (name: String, fields: [HCIField]) {
        func describe<C: ManagementCommand>(_ type: C.Type) -> (String, [HCIField]) {
            (C.name, C(parameters: packet.parameters.span)?.fields ?? raw)
        }
        var raw: [HCIField] { packet.parameters.isEmpty ? [] : [HCIField("parameters", octets: packet.parameters)] }
        guard let type = all.first(where: { $0.opcode == packet.code }) else {
            return ("management command \(Hexadecimal.number(packet.code, width: 4))", raw)
        }
        return describe(type)
    }
}
