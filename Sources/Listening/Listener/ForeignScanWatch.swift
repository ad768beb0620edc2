internal import HCI

/// Detects the commands of other programs: the controller answers a command that this session did not send.
///
/// Every raw socket receives every answer from the controller, but not the commands of other programs.
struct ForeignScanWatch: Sendable {
    /// The number of this session's commands that have no answer yet, for each opcode.
    private var pending = [HCIOpcode: Int]()

    private static let enables: Set = [LESetScanEnable.opcode, LESetExtendedScanEnable.opcode]
    private static let opcodes = enables.union([HCIReset.opcode, LESetEventMask.opcode])

    /// Takes a packet that this session is about to send.
    mutating func takeSent(_ packet: HCIPacket) {
        guard packet.kind == .command, let opcode = Self.opcode(packet.octets, at: 0), Self.opcodes.contains(opcode)
        else { return }
        pending[opcode, default: 0] += 1
    }

    /// An effect of another program.
    enum Effect {
        /// The program turned scanning on or off.
        case changedScan
        /// The controller refused to set a new random address for the program, because the controller scans. The
        /// program needs the address to send a beacon with the same radio.
        case needsPause
        /// The program reset the controller, or the controller reset itself: all settings are lost.
        case reset
        /// The program set the LE event mask: the kernel sets up the controller.
        case setEventMask
    }

    /// Takes an event. Returns the effect of another program, if there is one.
    mutating func takeReceived(_ packet: HCIPacket) -> Effect? {
        guard packet.kind == .event, packet.octets.count >= 6 else { return nil }
        let isStatus = packet.octets[0] == HCIEventCode.commandStatus
        guard isStatus || packet.octets[0] == HCIEventCode.commandComplete,
            let opcode = Self.opcode(packet.octets, at: isStatus ? 4 : 3)
        else { return nil }
        let status = packet.octets[isStatus ? 2 : 5]
        if opcode == LESetRandomAddress.opcode {
            return status == HCIStatus.commandDisallowed.rawValue ? .needsPause : nil
        }
        guard Self.opcodes.contains(opcode) else { return nil }
        if let count = pending[opcode], count > 0 {
            pending[opcode] = count - 1
            return nil
        }
        guard !isStatus, status == HCIStatus.success.rawValue else { return nil }
        return Self.enables.contains(opcode) ? .changedScan : opcode == HCIReset.opcode ? .reset : .setEventMask
    }

    /// Removes the commands of this session that have no answer yet, because the answers may never arrive.
    mutating func forget() { pending = [:] }

    private static func opcode(_ octets: [UInt8], at offset: Int) -> HCIOpcode? {
        guard octets.count >= offset + 2 else { return nil }
        return HCIOpcode(rawValue: UInt16(octets[offset + 1]) << 8 | UInt16(octets[offset]))
    }
}
