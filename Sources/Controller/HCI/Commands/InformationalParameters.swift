public import BluetoothTypes

// Informational parameters: Core Specification 5.4, Vol 4 Part E 7.4.

/// Read Local Version Information (7.4.1): the controller's version and manufacturer.
public struct ReadLocalVersionInformation: HCIParameterlessCommand {
    public static let opcode = HCIOpcode(rawValue: 0x1001)
    public static let name = "Read Local Version Information"

    /// The command has no parameters.
    public init() {}

    /// HCI and LMP versions, their revisions and the company.
    public struct ReturnParameters: HCIReturnParameters {
        public private(set) var version = HCIVersion(rawValue: 0)
        /// The revision of the controller's HCI, numbered by the manufacturer.
        public private(set) var revision: UInt16 = 0
        /// The version of the link manager. Current controllers report the same value as in `version`.
        public private(set) var lmpVersion = HCIVersion(rawValue: 0)
        public private(set) var company = CompanyIdentifier(rawValue: 0)
        /// The revision of the controller's link manager, numbered by the manufacturer.
        public private(set) var lmpSubversion: UInt16 = 0

        /// Creates the return parameters that a controller sends. The values are not checked.
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

        public init(placeholder: HCIPlaceholder) {}
        public mutating func layout(_ fields: inout HCIFieldCoder) {
            fields.named("HCI_Version", &version)
            fields.number("HCI_Subversion", &revision)
            fields.named("LMP_Version", &lmpVersion)
            fields.named("Company_Identifier", &company)
            fields.number("LMP_Subversion", &lmpSubversion)
        }
    }
}

/// Read Local Supported Commands (7.4.2).
public struct ReadLocalSupportedCommands: HCIParameterlessCommand {
    public static let opcode = HCIOpcode(rawValue: 0x1002)
    public static let name = "Read Local Supported Commands"

    /// The command has no parameters.
    public init() {}

    /// Supported_Commands: a bit for each command.
    public struct ReturnParameters: HCIReturnParameters {
        public private(set) var commands = SupportedCommands()

        /// Creates the return parameters that a controller sends. The values are not checked.
        public init(_ commands: SupportedCommands) {
            self.commands = commands
        }

        public init(placeholder: HCIPlaceholder) {}
        public mutating func layout(_ fields: inout HCIFieldCoder) {
            var bitmap = commands.octets
            fields.fixed("Supported_Commands", &bitmap)
            commands = SupportedCommands(octets: bitmap)
        }
    }
}

/// Read BD_ADDR (7.4.6): the controller's public address; all zero if it has none.
public struct ReadBDADDR: HCIParameterlessCommand {
    public static let opcode = HCIOpcode(rawValue: 0x1009)
    public static let name = "Read BD_ADDR"

    /// The command has no parameters.
    public init() {}

    /// The public address.
    public struct ReturnParameters: HCIReturnParameters {
        public private(set) var address = DeviceAddress(FixedOctets())

        /// Creates the return parameters that a controller sends. The values are not checked.
        public init(_ address: DeviceAddress) {
            self.address = address
        }

        public init(placeholder: HCIPlaceholder) {}
        public mutating func layout(_ fields: inout HCIFieldCoder) {
            fields.address("BD_ADDR", &address)
        }
    }
}

/// The version of the Core Specification that a controller follows (Assigned Numbers 2.1).
public struct HCIVersion: RawRepresentable, Hashable, Comparable, Sendable, CustomStringConvertible {
    public let rawValue: UInt8

    /// Accepts any byte, including reserved values.
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

    /// The version, such as `5.4`; `nil` for numbers that are not assigned yet.
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

/// A manufacturer, as numbered by the Bluetooth SIG (Assigned Numbers 7.1).
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
    /// The Linux Foundation. The controller of the Zephyr project reports this company.
    public static let linuxFoundation = Self(rawValue: 1521)

    /// The manufacturer's name; `nil` for numbers without a constant in this type.
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

/// Supported_Commands: one bit for each supported command (Core Specification 5.4, Vol 4 Part E 6.27).
public struct SupportedCommands: Hashable, Sendable {
    public private(set) var octets: FixedOctets<64>

    /// The bitmap as a controller reported it.
    public init(octets: FixedOctets<64> = FixedOctets()) {
        self.octets = octets
    }

    /// The bitmap of a controller that supports `commands`. Commands without a known bit are left out.
    public init(_ commands: [any HCICommand.Type]) {
        octets = FixedOctets()
        for command in commands {
            guard let (octet, bit) = Self.position(of: command.opcode) else { continue }
            octets[octet] |= 1 << bit
        }
    }

    /// Returns true if the bit of `command` is set; false for commands that have no bit, such as vendor commands.
    public func contains(_ command: any HCICommand.Type) -> Bool {
        contains(command.opcode)
    }

    /// Returns true if the bit of the command is set; false for commands without a known bit.
    public func contains(_ opcode: HCIOpcode) -> Bool {
        guard let (octet, bit) = Self.position(of: opcode) else { return false }
        return octets[octet] & 1 << bit != 0
    }

    /// Returns the position of a command's bit in the bitmap: the byte, and the bit in this byte. `nil` if it is not
    /// known.
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
        case 0x2074: (44, 1)
        case 0x207F: (46, 2)
        default: nil
        }
    }
}
