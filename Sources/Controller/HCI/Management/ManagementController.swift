public import BluetoothTypes

// Adapters and their settings: BlueZ's doc/mgmt-api.txt. Commands that only read need no privilege.

/// Read Management Supported Commands. It does not concern a particular adapter.
public struct ReadManagementSupportedCommands: ManagementParameterlessCommand {
    public static let opcode: UInt16 = 0x0002
    public static let name = "Read Management Supported Commands"

    /// The command has no parameters.
    public init() {}

    /// The opcodes and event codes that the kernel supports.
    public struct ReturnParameters: HCIReturnParameters {
        public private(set) var commands: [UInt16] = []
        public private(set) var events: [UInt16] = []

        /// Creates the return parameters that the kernel sends. The values are not checked.
        public init(commands: [UInt16], events: [UInt16]) {
            self.commands = commands
            self.events = events
        }

        public init(placeholder: HCIPlaceholder) {}
        public mutating func layout(_ fields: inout HCIFieldCoder) {
            let commandCount = fields.count("Num_Of_Commands", of: commands.count, in: 0...0xFFFF, bytes: 2)
            let eventCount = fields.count("Num_Of_Events", of: events.count, in: 0...0xFFFF, bytes: 2)
            fields.each(&commands, count: commandCount, placeholder: 0) { $1.number("Command", &$0) }
            fields.each(&events, count: eventCount, placeholder: 0) { $1.number("Event", &$0) }
        }
    }
}

/// Read Controller Index List. It does not concern a particular adapter. The list does not contain adapters whose user
/// channel is open.
public struct ReadControllerIndexList: ManagementParameterlessCommand {
    public static let opcode: UInt16 = 0x0003
    public static let name = "Read Controller Index List"

    /// The command has no parameters.
    public init() {}

    /// The number N of each adapter hciN that is set up.
    public struct ReturnParameters: HCIReturnParameters {
        public private(set) var indexes: [UInt16] = []

        /// Creates the return parameters that the kernel sends. The values are not checked.
        public init(_ indexes: [UInt16]) {
            self.indexes = indexes
        }

        public init(placeholder: HCIPlaceholder) {}
        public mutating func layout(_ fields: inout HCIFieldCoder) {
            let count = fields.count("Num_Controllers", of: indexes.count, in: 0...0xFFFF, bytes: 2)
            fields.each(&indexes, count: count, placeholder: 0) { $1.number("Controller_Index", &$0) }
        }
    }
}

/// Read Controller Information.
public struct ReadControllerInformation: ManagementParameterlessCommand {
    public static let opcode: UInt16 = 0x0004
    public static let name = "Read Controller Information"

    /// The command has no parameters.
    public init() {}

    /// Address, settings and names of one adapter.
    public struct ReturnParameters: HCIReturnParameters {
        /// The public address; all zero for an LE controller without a public address.
        public private(set) var address = DeviceAddress(FixedOctets())
        public private(set) var version = HCIVersion(rawValue: 0)
        public private(set) var manufacturer = CompanyIdentifier(rawValue: 0)
        public private(set) var supported: ManagementSettings = []
        public private(set) var current: ManagementSettings = []
        /// Class of device, name and short name: 263 bytes that Pharos does not use.
        public private(set) var unusedFields = FixedOctets<263>()

        /// Creates the return parameters that the kernel sends. The values are not checked, and the names are empty.
        public init(
            address: DeviceAddress, version: HCIVersion, manufacturer: CompanyIdentifier,
            supported: ManagementSettings, current: ManagementSettings
        ) {
            self.address = address
            self.version = version
            self.manufacturer = manufacturer
            self.supported = supported
            self.current = current
        }

        public init(placeholder: HCIPlaceholder) {}
        public mutating func layout(_ fields: inout HCIFieldCoder) {
            fields.address("Address", &address)
            fields.named("Bluetooth_Version", &version)
            fields.named("Manufacturer", &manufacturer)
            fields.named("Supported_Settings", &supported)
            fields.named("Current_Settings", &current)
            fields.fixed("Class_Of_Device, Name, Short_Name", &unusedFields)
        }
    }
}

/// Set Powered. Needs CAP_NET_ADMIN.
public struct SetPowered: ManagementCommand {
    public typealias ReturnParameters = ManagementCurrentSettings
    public static let opcode: UInt16 = 0x0005
    public static let name = "Set Powered"

    /// 0 off, 1 on. The kernel refuses other values.
    public private(set) var value: UInt8 = 0

    /// Turns the adapter on or off.
    public init(_ on: Bool) {
        value = on ? 1 : 0
    }

    public init(placeholder: HCIPlaceholder) {}
    public mutating func layout(_ fields: inout HCIFieldCoder) {
        fields.onOff("Powered", &value)
    }
}

/// Set Low Energy: turns LE on or off. While LE is off, a dual-mode controller does not advertise. Needs CAP_NET_ADMIN.
public struct SetLowEnergy: ManagementCommand {
    public typealias ReturnParameters = ManagementCurrentSettings
    public static let opcode: UInt16 = 0x000D
    public static let name = "Set Low Energy"

    /// 0 off, 1 on. The kernel refuses other values.
    public private(set) var value: UInt8 = 0

    /// Turns LE on or off.
    public init(_ on: Bool) {
        value = on ? 1 : 0
    }

    public init(placeholder: HCIPlaceholder) {}
    public mutating func layout(_ fields: inout HCIFieldCoder) {
        fields.onOff("Low_Energy", &value)
    }
}
