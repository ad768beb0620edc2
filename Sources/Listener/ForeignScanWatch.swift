internal import BluetoothTypes
internal import HCI

/// Notices when another program turns scanning on or off, or needs it to stop: an answer to a command that we did not send.
///
/// The kernel shows every answer to every raw socket, but the commands of others to nobody.
struct ForeignScanWatch: Sendable {
    /// Own commands without an answer yet, for each family.
    private var pending = [HCIOpcode: Int]()

    private static let opcodes = [LESetScanEnable.opcode, LESetExtendedScanEnable.opcode]

    /// Takes a packet of ours, before it is sent.
    mutating func sent(_ packet: HCIPacket) {
        guard packet.kind == .command, let opcode = Self.opcode(packet.octets, at: 0), Self.opcodes.contains(opcode)
        else { return }
        pending[opcode, default: 0] += 1
    }

    /// What another program has done.
    enum Sign {
        /// It has turned scanning on or off.
        case changed
        /// It was refused a new random address, because the controller scans: a beacon on the same radio.
        case hindered
    }

    /// Takes an event; what it says of another program, if anything.
    mutating func received(_ packet: HCIPacket) -> Sign? {
        guard packet.kind == .event, packet.octets.count >= 6 else { return nil }
        let isStatus = packet.octets[0] == HCIEventCode.commandStatus
        guard isStatus || packet.octets[0] == HCIEventCode.commandComplete,
            let opcode = Self.opcode(packet.octets, at: isStatus ? 4 : 3)
        else { return nil }
        let status = packet.octets[isStatus ? 2 : 5]
        if opcode == LESetRandomAddress.opcode {
            return status == HCIStatus.commandDisallowed.rawValue ? .hindered : nil
        }
        guard Self.opcodes.contains(opcode) else { return nil }
        if let own = pending[opcode], own > 0 {
            pending[opcode] = own - 1
            return nil
        }
        return !isStatus && status == HCIStatus.success.rawValue ? .changed : nil
    }

    /// An own command was given up: its answer may never come.
    mutating func forget() { pending = [:] }

    private static func opcode(_ octets: [UInt8], at offset: Int) -> HCIOpcode? {
        guard octets.count >= offset + 2 else { return nil }
        return HCIOpcode(rawValue: UInt16(octets[offset + 1]) << 8 | UInt16(octets[offset]))
    }
}
