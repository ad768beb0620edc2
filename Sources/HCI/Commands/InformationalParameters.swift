public import BluetoothTypes

// Informational parameters: Core Specification 5.4, Vol 4 Part E 7.4.

/// Read Local Version Information (7.4.1): what the controller is and who made it.
public struct ReadLocalVersionInformation: HCIParameterlessCommand {
    public static let opcode = HCIOpcode(rawValue: 0x1001)
    public static let name = "Read Local Version Information"

    /// The command has no parameters.
    public init() {}

    /// HCI and LMP versions, their revisions and the company, 8 octets.
    public struct ReturnParameters: HCIReturnParameters {
        public let version: HCIVersion
        /// The maker's own number.
        public let revision: UInt16
        /// Of the link manager; the same number as `version` on today's controllers.
        public let lmpVersion: HCIVersion
        public let company: CompanyIdentifier
        /// The maker's own number.
        public let lmpSubversion: UInt16

        /// What is answered with success; nothing is checked.
        public init(
            version: HCIVersion, revision: UInt16, lmpVersion: HCIVersion, company: CompanyIdentifier,
            lmpSubversion: UInt16
        ) {
            self.version = version
            self.revision = revision
            self.lmpVersion = lmpVersion
            self.company = company
            self.lmpSubversion = lmpSubversion
        }

        /// Reads 8 octets from `offset` on, whatever follows; `nil` when fewer are left.
        public init?(octets: Span<UInt8>, at offset: Int) {
            guard octets.holds(8, at: offset) else { return nil }
            version = HCIVersion(rawValue: octets[offset])
            revision = octets.uint16LittleEndian(at: offset + 1)
            lmpVersion = HCIVersion(rawValue: octets[offset + 3])
            company = CompanyIdentifier(rawValue: octets.uint16LittleEndian(at: offset + 4))
            lmpSubversion = octets.uint16LittleEndian(at: offset + 6)
        }

        public var octets: [UInt8] {
            var octets: [UInt8] = [version.rawValue]
            octets.append(littleEndian: revision)
            octets.append(lmpVersion.rawValue)
            octets.append(littleEndian: company.rawValue)
            octets.append(littleEndian: lmpSubversion)
            return octets
        }
    }
}

/// Read Local Supported Commands (7.4.2).
public struct ReadLocalSupportedCommands: HCIParameterlessCommand {
    public static let opcode = HCIOpcode(rawValue: 0x1002)
    public static let name = "Read Local Supported Commands"

    /// The command has no parameters.
    public init() {}

    /// Supported_Commands, 64 octets.
    public struct ReturnParameters: HCIReturnParameters {
        public let commands: SupportedCommands

        /// What is answered with success; nothing is checked.
        public init(_ commands: SupportedCommands) {
            self.commands = commands
        }

        /// Reads 64 octets from `offset` on, whatever follows; `nil` when fewer are left.
        public init?(octets: Span<UInt8>, at offset: Int) {
            guard let bitmap = FixedOctets<64>(octets, at: offset) else { return nil }
            commands = SupportedCommands(octets: bitmap)
        }

        public var octets: [UInt8] { commands.octets.octets }
    }
}

/// Read BD_ADDR (7.4.6): the controller's public address; all zero when it has none.
public struct ReadBDADDR: HCIParameterlessCommand {
    public static let opcode = HCIOpcode(rawValue: 0x1009)
    public static let name = "Read BD_ADDR"

    /// The command has no parameters.
    public init() {}

    /// BD_ADDR, 6 octets.
    public struct ReturnParameters: HCIReturnParameters {
        public let address: DeviceAddress

        /// What is answered with success; nothing is checked.
        public init(_ address: DeviceAddress) {
            self.address = address
        }

        /// Reads 6 octets from `offset` on, whatever follows them; `nil` when fewer are left.
        public init?(octets: Span<UInt8>, at offset: Int) {
            guard let address = DeviceAddress(littleEndian: octets, at: offset) else { return nil }
            self.address = address
        }

        public var octets: [UInt8] { address.littleEndian }
    }
}
