public import BluetoothTypes

// Which adapters there are and what they are set to: BlueZ's doc/mgmt-api.txt. What only reads needs no privilege.

/// Read Management Version Information. Of no adapter.
public struct ReadManagementVersionInformation: ManagementParameterlessCommand {
    public static let opcode: UInt16 = 0x0001
    public static let name = "Read Management Version Information"

    /// The command has no parameters.
    public init() {}

    /// The interface's version, such as 1.22; it is counted apart from the kernel's.
    public struct ReturnParameters: HCIReturnParameters {
        public let version: UInt8
        public let revision: UInt16

        /// What is answered with success; nothing is checked.
        public init(version: UInt8, revision: UInt16) {
            self.version = version
            self.revision = revision
        }

        /// Reads 3 octets from `offset` on, whatever follows; `nil` when fewer are left.
        public init?(octets: Span<UInt8>, at offset: Int) {
            guard octets.holds(3, at: offset) else { return nil }
            version = octets[offset]
            revision = octets.uint16LittleEndian(at: offset + 1)
        }

        public var octets: [UInt8] {
            var result = [version]
            result.append(littleEndian: revision)
            return result
        }
    }
}

/// Read Management Supported Commands. Of no adapter.
public struct ReadManagementSupportedCommands: ManagementParameterlessCommand {
    public static let opcode: UInt16 = 0x0002
    public static let name = "Read Management Supported Commands"

    /// The command has no parameters.
    public init() {}

    /// The opcodes and event codes that the kernel knows.
    public struct ReturnParameters: HCIReturnParameters {
        public let commands: [UInt16]
        public let events: [UInt16]

        /// What is answered with success; nothing is checked.
        public init(commands: [UInt16], events: [UInt16]) {
            self.commands = commands
            self.events = events
        }

        /// Reads from `offset` on the fixed octets and the lists that they count; `nil` when not all are there.
        public init?(octets: Span<UInt8>, at offset: Int) {
            guard octets.holds(4, at: offset) else { return nil }
            let commandCount = Int(octets.uint16LittleEndian(at: offset))
            let eventCount = Int(octets.uint16LittleEndian(at: offset + 2))
            guard octets.holds(2 * (commandCount + eventCount), at: offset + 4) else { return nil }
            let numbers = (0..<commandCount + eventCount).map { octets.uint16LittleEndian(at: offset + 4 + 2 * $0) }
            commands = Array(numbers.prefix(commandCount))
            events = Array(numbers.dropFirst(commandCount))
        }

        public var octets: [UInt8] {
            var result: [UInt8] = []
            result.append(littleEndian: UInt16(truncatingIfNeeded: commands.count))
            result.append(littleEndian: UInt16(truncatingIfNeeded: events.count))
            for number in commands + events { result.append(littleEndian: number) }
            return result
        }
    }
}

/// Read Controller Index List. Of no adapter. Adapters that a program holds by their user channel are not in it.
public struct ReadControllerIndexList: ManagementParameterlessCommand {
    public static let opcode: UInt16 = 0x0003
    public static let name = "Read Controller Index List"

    /// The command has no parameters.
    public init() {}

    /// The N of each hciN that is set up; not those whose user channel is open.
    public struct ReturnParameters: HCIReturnParameters {
        public let indexes: [UInt16]

        /// What is answered with success; nothing is checked.
        public init(_ indexes: [UInt16]) {
            self.indexes = indexes
        }

        /// Reads from `offset` on the fixed octets and the lists that they count; `nil` when not all are there.
        public init?(octets: Span<UInt8>, at offset: Int) {
            guard octets.holds(2, at: offset) else { return nil }
            let count = Int(octets.uint16LittleEndian(at: offset))
            guard octets.holds(2 * count, at: offset + 2) else { return nil }
            indexes = (0..<count).map { octets.uint16LittleEndian(at: offset + 2 + 2 * $0) }
        }

        public var octets: [UInt8] {
            var result: [UInt8] = []
            result.append(littleEndian: UInt16(truncatingIfNeeded: indexes.count))
            for index in indexes { result.append(littleEndian: index) }
            return result
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
        /// All zero on an LE controller without a public address.
        public let address: DeviceAddress
        public let version: HCIVersion
        public let manufacturer: CompanyIdentifier
        public let supported: ManagementSettings
        public let current: ManagementSettings
        /// Class of device, name and short name: 263 octets that no beacon needs.
        public let rest: [UInt8]

        /// - Parameter rest: cut, or filled with zeros, to the 263 octets that follow the settings.
        public init(
            address: DeviceAddress, version: HCIVersion, manufacturer: CompanyIdentifier,
            supported: ManagementSettings, current: ManagementSettings, rest: [UInt8] = []
        ) {
            self.address = address
            self.version = version
            self.manufacturer = manufacturer
            self.supported = supported
            self.current = current
            self.rest = Array((rest + [UInt8](repeating: 0, count: Self.restLength)).prefix(Self.restLength))
        }

        /// Reads 6 octets from `offset` on, whatever follows them; `nil` when fewer are left.
        public init?(octets: Span<UInt8>, at offset: Int) {
            guard octets.holds(17 + Self.restLength, at: offset),
                let address = DeviceAddress(littleEndian: octets, at: offset)
            else { return nil }
            self.address = address
            version = HCIVersion(rawValue: octets[offset + 6])
            manufacturer = CompanyIdentifier(rawValue: octets.uint16LittleEndian(at: offset + 7))
            supported = ManagementSettings(rawValue: octets.uint32LittleEndian(at: offset + 9))
            current = ManagementSettings(rawValue: octets.uint32LittleEndian(at: offset + 13))
            rest = octets.array(offset + 17..<offset + 17 + Self.restLength)
        }

        public var octets: [UInt8] {
            var result = address.littleEndian
            result.append(version.rawValue)
            result.append(littleEndian: manufacturer.rawValue)
            result.append(littleEndian: supported.rawValue)
            result.append(littleEndian: current.rawValue)
            return result + rest
        }

        private static let restLength = 3 + 249 + 11
    }
}

/// Set Powered. Needs CAP_NET_ADMIN.
public struct SetPowered: ManagementSwitchCommand {
    public static let opcode: UInt16 = 0x0005
    public static let name = "Set Powered"

    public let value: UInt8

    /// The octet that is sent: 0 off, 1 on; others are for the kernel to refuse.
    public init(value: UInt8) {
        self.value = value
    }
}

/// Set Low Energy: without it a controller of both kinds does not advertise. Needs CAP_NET_ADMIN.
public struct SetLowEnergy: ManagementSwitchCommand {
    public static let opcode: UInt16 = 0x000D
    public static let name = "Set Low Energy"

    public let value: UInt8

    /// The octet that is sent: 0 off, 1 on; others are for the kernel to refuse.
    public init(value: UInt8) {
        self.value = value
    }
}
