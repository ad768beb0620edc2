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

/// The version of the Core Specification that a controller follows (Assigned Numbers 2.1).
public struct HCIVersion: RawRepresentable, Hashable, Comparable, Sendable, CustomStringConvertible {
    public let rawValue: UInt8

    /// Any octet, reserved ones included.
    public init(rawValue: UInt8) {
        self.rawValue = rawValue
    }

    public static let core40 = Self(rawValue: 6)
    public static let core41 = Self(rawValue: 7)
    public static let core42 = Self(rawValue: 8)
    public static let core50 = Self(rawValue: 9)
    public static let core51 = Self(rawValue: 10)
    public static let core52 = Self(rawValue: 11)
    public static let core53 = Self(rawValue: 12)
    public static let core54 = Self(rawValue: 13)

    /// `5.4`; `nil` for numbers not yet assigned.
    public var name: String? {
        Int(rawValue) < Self.names.count ? Self.names[Int(rawValue)] : nil
    }

    public var description: String {
        name.map { "Core \($0)" } ?? "unknown version \(Hexadecimal.number(rawValue, width: 2))"
    }

    /// Older versions have lower numbers.
    public static func < (left: Self, right: Self) -> Bool { left.rawValue < right.rawValue }

    private static let names = [
        "1.0b", "1.1", "1.2", "2.0", "2.1", "3.0", "4.0", "4.1", "4.2", "5.0", "5.1", "5.2", "5.3", "5.4", "6.0",
    ]
}

/// Who made something, as numbered by the Bluetooth SIG (Assigned Numbers 7.1).
public struct CompanyIdentifier: RawRepresentable, Hashable, Sendable, CustomStringConvertible {
    public let rawValue: UInt16

    /// Any company identifier, assigned or not.
    public init(rawValue: UInt16) {
        self.rawValue = rawValue
    }

    public static let intel = Self(rawValue: 2)
    public static let cambridgeSiliconRadio = Self(rawValue: 10)
    public static let texasInstruments = Self(rawValue: 13)
    public static let broadcom = Self(rawValue: 15)
    public static let qualcomm = Self(rawValue: 29)
    public static let mediaTek = Self(rawValue: 70)
    public static let nordic = Self(rawValue: 89)
    public static let realtek = Self(rawValue: 93)
    public static let cypress = Self(rawValue: 305)
    public static let espressif = Self(rawValue: 741)
    public static let siliconLabs = Self(rawValue: 767)
    /// The Linux Foundation: what Zephyr's own controller reports.
    public static let linuxFoundation = Self(rawValue: 1521)

    /// The makers of controllers that Pharos has met; `nil` for all others.
    public var name: String? {
        switch self {
        case .intel: "Intel"
        case .cambridgeSiliconRadio: "Cambridge Silicon Radio"
        case .texasInstruments: "Texas Instruments"
        case .broadcom: "Broadcom"
        case .qualcomm: "Qualcomm"
        case .mediaTek: "MediaTek"
        case .nordic: "Nordic Semiconductor"
        case .realtek: "Realtek"
        case .cypress: "Cypress"
        case .espressif: "Espressif"
        case .siliconLabs: "Silicon Labs"
        case .linuxFoundation: "The Linux Foundation"
        default: nil
        }
    }

    public var description: String {
        let number = Hexadecimal.number(rawValue, width: 4)
        return name.map { "\($0) (\(number))" } ?? "company \(number)"
    }
}

/// Supported_Commands: one bit for each command that a controller knows (Core Specification 5.4, Vol 4 Part E 6.27).
public struct SupportedCommands: Hashable, Sendable {
    public private(set) var octets: FixedOctets<64>

    /// The bitmap as a controller reported it.
    public init(octets: FixedOctets<64> = FixedOctets()) {
        self.octets = octets
    }

    /// The bitmap of a controller that knows `commands`; those without a bit are left out.
    public init(_ commands: [any HCICommand.Type]) {
        octets = FixedOctets()
        for command in commands {
            guard let (octet, bit) = Self.position(of: command.opcode) else { continue }
            octets[octet] |= 1 << bit
        }
    }

    /// Whether the bit of `command` is set; `false` for commands without one, such as those of vendors.
    public func contains(_ command: any HCICommand.Type) -> Bool {
        contains(command.opcode)
    }

    /// Whether the bit of the command is set; `false` for commands whose bit is not known here.
    public func contains(_ opcode: HCIOpcode) -> Bool {
        guard let (octet, bit) = Self.position(of: opcode) else { return false }
        return octets[octet] & 1 << bit != 0
    }

    /// Octet and bit of a command in the bitmap.
    static func position(of opcode: HCIOpcode) -> (octet: Int, bit: UInt8)? {
        switch opcode.rawValue {
        case 0x0C01: (5, 6)
        case 0x0C03: (5, 7)
        case 0x0C6D: (24, 6)
        case 0x1001: (14, 3)
        case 0x1002: (14, 4)
        case 0x1009: (15, 1)
        case 0x2001: (25, 0)
        case 0x2003: (25, 2)
        case 0x2005...0x2008: (25, UInt8(opcode.rawValue - 0x2005) + 4)
        case 0x2009...0x200C: (26, UInt8(opcode.rawValue - 0x2009))
        case 0x201C: (28, 3)
        case 0x2035...0x203B: (36, UInt8(opcode.rawValue - 0x2035) + 1)
        case 0x203C, 0x203D: (37, UInt8(opcode.rawValue - 0x203C))
        case 0x2041, 0x2042: (37, UInt8(opcode.rawValue - 0x2041) + 5)
        case 0x204B: (38, 7)
        default: nil
        }
    }
}
