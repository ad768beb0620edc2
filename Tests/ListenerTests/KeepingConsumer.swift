import BeaconFrames
import Listener
import Sightings

/// A consumer that stores all calls.
final class KeepingConsumer: SightingConsumer {
    private(set) var reports: [HeardReport] = []
    private(set) var data: [[UInt8]] = []
    private(set) var states: [ListeningState] = []
    /// The times of ``states``.
    private(set) var changes: [HeardInstant] = []
    private(set) var sentences: [String] = []
    /// The time of each call. Times must not go back.
    private(set) var instants: [HeardInstant] = []
    private(set) var began = 0
    private(set) var finished: HeardInstant?
    /// The number of reports after which the source should end.
    var limit = Int.max

    var isSatisfied: Bool { reports.count >= limit }

    func begin(at now: HeardInstant) { began += 1 }
    func advance(to now: HeardInstant) { instants.append(now) }

    func receive(_ report: HeardReport, _ octets: Span<UInt8>, _ range: Range<Int>) {
        reports.append(report)
        data.append(range.map { octets[$0] })
    }

    func change(_ state: ListeningState, at now: HeardInstant) {
        states.append(state)
        changes.append(now)
    }

    func say(_ sentence: String, isWarning: Bool) { sentences.append(sentence) }
    func finish(at now: HeardInstant) { finished = now }
}
