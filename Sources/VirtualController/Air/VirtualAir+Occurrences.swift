import BluetoothTypes
import HCI

extension VirtualAir {
    /// T_IFS (Core Specification 5.4, Vol 6 Part B 4.1.1).
    private static let interFrameSpaceMicroseconds = 150
    /// SCAN_REQ: 12 octets of addresses and the 10 that every packet has.
    private static let scanRequestMicroseconds = 176

    func perform(_ occurrence: Occurrence) {
        switch occurrence {
        case .advertisingEvent(let run): controller(run.controller)?.beginAdvertisingEvent(run)
        case .copy(let event, let index): transmit(event, copy: index)
        case .transmitted(let pdu, let event, let transmission): finish(pdu, of: event, transmission)
        case .scanResponse(let event, let channel, let scanner): respond(event, on: channel, to: scanner)
        case .durationOver(let run): controller(run.controller)?.durationIsOver(run)
        case .eventsOver(let run): controller(run.controller)?.eventsAreOver(run)
        case .scanTurn(let id, let run): controller(id)?.takeScanTurn(run)
        case .scanResponseHeard(let pdu, let scanner): controller(scanner)?.report(pdu)
        case .toController(let id, let packet): controller(id)?.work(on: packet)
        case .toHost(let id, let packet): controller(id)?.sink(packet)
        }
    }

    /// Puts one copy of an advertising event on the air, and plans the next.
    func transmit(_ event: AdvertisingEvent, copy index: Int) {
        // Whoever stopped between two channels is silent at once.
        guard let sender = controller(event.run.controller), sender.isRunning(event.run),
            index < event.channels.count
        else { return }
        var pdu = event.pdu
        pdu.start = now
        pdu.channel = event.channels[index]
        observer?(pdu)
        send(pdu, event)
        if index + 1 < event.channels.count {
            let spacing = max(parameters.copySpacingMicroseconds, pdu.airtimeMicroseconds)
            plan(.copy(event, index: index + 1), inMicroseconds: spacing)
        } else {
            sender.completedAdvertisingEvent(event)
            if event.isLast { plan(.eventsOver(event.run), inMicroseconds: pdu.airtimeMicroseconds) }
        }
    }

    private func send(_ pdu: AirPDU, _ event: AdvertisingEvent) {
        var transmission: UInt64 = 0
        if parameters.packetsCollide {
            transmission = collisions.begin(pdu)
        } else if scanners.isEmpty {
            return
        }
        plan(.transmitted(pdu, event, transmission: transmission), inMicroseconds: pdu.airtimeMicroseconds)
    }

    private func finish(_ pdu: AirPDU, of event: AdvertisingEvent, _ transmission: UInt64) {
        if parameters.packetsCollide, !collisions.end(transmission) { return }
        for listener in scanners where listener.id != pdu.sender && listener.hears(pdu) {
            listener.report(pdu)
            if event.scanResponse != nil, listener.asksForScanResponse(to: pdu) {
                let delay = 2 * Self.interFrameSpaceMicroseconds + Self.scanRequestMicroseconds
                plan(.scanResponse(event, channel: pdu.channel, to: listener.id), inMicroseconds: delay)
            }
        }
    }

    private func respond(_ event: AdvertisingEvent, on channel: Int, to scanner: VirtualController.ID) {
        guard let sender = controller(event.run.controller), sender.isRunning(event.run),
            let asker = controller(scanner)?.state.scanner?.identity, var pdu = event.scanResponse,
            sender.answers(asker, event.filterPolicy)
        else { return }
        pdu.start = now
        pdu.channel = channel
        observer?(pdu)
        sender.noticeScanRequest(event.run.set, from: asker)
        // The exchange ends when the response does; the scanner stays on the channel for it.
        plan(.scanResponseHeard(pdu, by: scanner), inMicroseconds: pdu.airtimeMicroseconds)
    }
}
