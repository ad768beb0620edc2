internal import LinuxHost
internal import Listener
internal import Sightings

/// Takes what is heard, and has printed what comes of it.
final class ScanEngine: SightingConsumer {
    private var hearing: Hearing
    private let output: ScanOutput
    private var hasListened = false

    init(_ hearing: Hearing, _ output: ScanOutput) {
        self.hearing = hearing
        self.output = output
    }

    var nextWakeUp: HeardInstant? { hearing.nextWakeUp }
    var isSatisfied: Bool { Terminal.outputIsGone }

    func begin(at now: HeardInstant) { hearing.begin(at: now) }

    /// Prints what is due up to `now`.
    func advance(to now: HeardInstant) {
        while let event = hearing.nextEvent(until: now) { output.show(event, hearing.table) }
    }

    func hear(_ report: HeardReport, _ octets: Span<UInt8>, _ range: Range<Int>) {
        let place = hearing.hear(report.sighting, octets, range)
        guard output.form == .reports else { return }
        output.show(report, range.map { octets[$0] }, place, hearing.table)
    }

    /// Silence counts only while somebody listens.
    func change(_ state: ListeningState, at now: HeardInstant) {
        if state.isHearing { hearing.becomeHearing(at: now) } else { hearing.becomeDeaf(at: now) }
        if hasListened, state != .off { output.show(state, at: now) }
        hasListened = hasListened || state.isHearing
    }

    func rest(at now: HeardInstant) {
        output.repaint(hearing.table, at: now)
        output.flush()
    }

    func say(_ sentence: String, isWarning: Bool) {
        if !Terminal.outputIsTerminal || isWarning { Terminal.writeError("pharos: \(sentence)\n") }
    }

    /// Prints what is left.
    func finish(at now: HeardInstant) {
        advance(to: now)
        if let event = hearing.finish(at: now) { output.show(event, hearing.table) }
        output.finish(hearing.table, at: now)
    }
}
