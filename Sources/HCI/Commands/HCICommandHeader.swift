import BluetoothTypes

/// The head of a command packet: which command, and where its parameters lie.
///
/// Core Specification 5.4, Vol 4 Part E 5.4.1.
public struct HCICommandHeader: Hashable, Sendable {
    public let opcode: HCIOpcode
    /// Offsets of the parameters in the packet's octets.
    public let parameters: Range<Int>

    /// Reads the octets of a command packet (without the H4 type octet); `nil` when the length octet and the number of
    /// octets disagree.
    public init?(_ octets: Span<UInt8>) {
        guard octets.count >= 3, octets.count == 3 + Int(octets[2]) else { return nil }
        opcode = HCIOpcode(rawValue: octets.uint16LittleEndian(at: 0))
        parameters = 3..<octets.count
    }
}

extension HCIPacket {
    /// A command packet; what is over 255 octets of parameters cannot be counted and is left off.
    public static func command(_ opcode: HCIOpcode, _ parameters: [UInt8]) -> HCIPacket {
        let parameters = parameters.prefix(255)
        var octets: [UInt8] = []
        octets.reserveCapacity(3 + parameters.count)
        octets.append(littleEndian: opcode.rawValue)
        octets.append(UInt8(parameters.count))
        octets += parameters
        return HCIPacket(.command, octets)
    }

    /// Opcode and place of the parameters; `nil` when this is no command or its length is wrong.
    public var commandHeader: HCICommandHeader? {
        kind == .command ? HCICommandHeader(octets.span) : nil
    }
}
