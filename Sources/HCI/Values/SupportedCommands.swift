public import BluetoothTypes

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
        case 0x2035...0x203B: (36, UInt8(opcode.rawValue - 0x2035) + 1)
        case 0x203C, 0x203D: (37, UInt8(opcode.rawValue - 0x203C))
        case 0x2041, 0x2042: (37, UInt8(opcode.rawValue - 0x2041) + 5)
        case 0x204B: (38, 7)
        default: nil
        }
    }
}
