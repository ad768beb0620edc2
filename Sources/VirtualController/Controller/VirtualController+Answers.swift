import BluetoothTypes
import HCI

/// How a command ended, and what it returns after its status.
struct CommandReply {
    var status: HCIStatus
    var returned: [UInt8] = []
}

extension VirtualController {
    /// Works on a packet of the host as far as `fault` lets it.
    func take(_ packet: HCIPacket, _ fault: VirtualFault) {
        guard isAttached else { return }
        switch fault {
        case .pass: work(on: packet)
        case .drop: break
        case .delay(let microseconds): air?.plan(.toController(id, packet), inMicroseconds: microseconds)
        case .replace(let other): work(on: other)
        case .fail(let status):
            guard let opcode = packet.opcode else { return work(on: packet) }
            answer(opcode, CommandReply(status: status))
        case .withoutCredits(let microseconds):
            withholding = CreditWithholding(microseconds: microseconds)
            work(on: packet)
            withholding = nil
        case .vanish: air?.detach(self)
        }
    }

    /// Works on a packet that has come through. Data packets belong to connections, of which there are none.
    func work(on packet: HCIPacket) {
        guard isAttached, let opcode = packet.opcode else { return }
        guard supported.contains(opcode) else {
            let answer = CommandStatus(status: .unknownCommand, credits: credits(), opcode: opcode)
            return send(.commandStatus(answer), after: latencyMicroseconds)
        }
        guard let header = packet.commandHeader else {
            return answer(opcode, CommandReply(status: .invalidParameters))
        }
        let parameters = Array(packet.octets[header.parameters])
        answer(opcode, execute(opcode, parameters.span))
    }

    private func answer(_ opcode: HCIOpcode, _ reply: CommandReply) {
        let answer = CommandComplete(
            credits: credits(), opcode: opcode, returnOctets: [reply.status.rawValue] + reply.returned)
        send(.commandComplete(answer), after: latencyMicroseconds)
    }

    /// What the next answer says about further commands.
    private func credits() -> UInt8 {
        guard let withholding else { return 1 }
        returnCredits(withholding)
        return 0
    }

    private func returnCredits(_ withholding: CreditWithholding) {
        guard let microseconds = withholding.microseconds else { return }
        air?.plan(.toHost(id, ControllerEvents.creditsReturned.packet), inMicroseconds: microseconds)
    }

    /// Sends an event to the host, unless the hook has other plans for it.
    func send(_ event: HCIEvent, after latency: Int = 0) {
        guard isAttached else { return }
        let packet = event.packet
        switch eventHook?(packet) ?? .pass {
        case .pass: deliver(packet, after: latency)
        case .drop: break
        case .delay(let microseconds): deliver(packet, after: max(0, microseconds) &+ latency)
        case .replace(let other): deliver(other, after: latency)
        case .fail(let status): deliver(ControllerEvents.with(status, packet), after: latency)
        case .withoutCredits(let microseconds):
            deliver(ControllerEvents.withoutCredits(packet), after: latency)
            returnCredits(CreditWithholding(microseconds: microseconds))
        case .vanish: air?.detach(self)
        }
    }

    private func deliver(_ packet: HCIPacket, after microseconds: Int) {
        if microseconds > 0 {
            air?.plan(.toHost(id, packet), inMicroseconds: microseconds)
        } else {
            sink(packet)
        }
    }

    /// Sends an LE Meta event, if both masks let it out.
    func sendMeta(_ event: HCIEvent, _ bit: LEEventMask) {
        guard state.eventMask.contains(.leMeta), state.leEventMask.contains(bit) else { return }
        send(event)
    }
}

extension HCIPacket {
    /// Of a command, however wrong its length is; `nil` for all else.
    fileprivate var opcode: HCIOpcode? {
        guard kind == .command, octets.count >= 2 else { return nil }
        return HCIOpcode(rawValue: octets.span.uint16LittleEndian(at: 0))
    }
}
