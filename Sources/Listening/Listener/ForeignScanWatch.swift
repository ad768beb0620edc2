internal import BluetoothTypes
internal import HCI

/// Notices when another program turns scanning on or off, needs it to stop, or resets the controller: an answer to a
/// command that we did not send.
///
/// The kernel shows every answer to every raw socket, but the commands of others to nobody.
struct ForeignScanWatch: Sendable {
    /// Own commands without an answer yet, for each family.
    private var pending = [HCIOpcode: Int]()

    private static let enables: Set = [LESetScanEnable.opcode, LESetExtendedScanEnable.opcode]
    private static let opcodes = enables.union([HCIReset.opcode, LESetEventMask.opcode])

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
        /// It has reset the controller, or the controller itself did: all that was set is forgotten.
        case reset
        /// It has said which LE events it wants: the kernel sets the controller up.
        case masked
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
        guard !isStatus, status == HCIStatus.success.rawValue else { return nil }
        return Self.enables.contains(opcode) ? .changed : opcode == HCIReset.opcode ? .reset : .masked
    }

    /// An own command was given up: its answer may never come.
    mutating func forget() { pending = [:] }

    private static func opcode(_ octets: [UInt8], at offset: Int) -> HCIOpcode? {
        guard octets.count >= offset + 2 else { return nil }
        return HCIOpcode(rawValue: UInt16(octets[offset + 1]) << 8 | UInt16(octets[offset]))
    }
}
