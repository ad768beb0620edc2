internal import Airtime

/// Records a walk from place to place. Each second becomes a stay. The position of the stay is on the straight line
/// between two places, where the receiver was in the middle of the second.
public final class SurveyWalk: RunConsumer {
    private var recorded: RecordedStays
    private let spots: [SurveySpot]
    /// The times at which the places were passed, as far as they are known, in seconds since the start of the walk.
    private var marks: [Double]
    /// The seconds that are not written yet, because the time at which the next place is passed is not known.
    private var pending: [(seconds: Double, heard: [HeardBeacon])] = []
    /// The index in ``spots`` of the place to which the receiver is walking.
    private var destination = 1
    /// The time since the start of the walk, in seconds.
    private var elapsed = 0.0
    /// The time in seconds from the start of the walk to the start of the first second. Opening an adapter takes this
    /// time. `nil` before the end of the first second.
    private var delay: Double?
    /// Receives messages for the user.
    public var onSentence: (_ sentence: String, _ isWarning: Bool) -> Void = { _, _ in }
    /// Returns true if the receiver passes the next place at this moment. Called often.
    public var isPassing: () -> Bool = { false }
    /// Receives the beacons that were received in each second.
    public var onSecond: (_ heard: [HeardBeacon]) -> Void = { _ in }
    /// Receives the place that is passed next.
    public var onNext: (_ spot: SurveySpot) -> Void = { _ in }

    /// Creates a recorder of a walk.
    ///
    /// - Parameters:
    ///   - file: The survey.
    ///   - spots: The places of the walk in their order, at least two, all with positions.
    ///   - marks: The times at which the places are passed, in seconds since the start. If empty, ``isPassing`` marks
    ///     them during the walk. The walk begins at the first place.
    ///   - recording: The site and the receiver. The adapter and the start are set later.
    ///   - session: The session of the stays; `nil` to use the day on which the recording began.
    public init(
        _ file: GrowingSurvey, _ spots: [SurveySpot], marks: [Double], _ recording: Survey.Recording,
        session: String? = nil
    ) {
        recorded = RecordedStays(file, recording, session: session)
        self.spots = spots
        self.marks = marks.isEmpty ? [0] : marks
    }

    /// The numbers of the stays that were recorded.
    public var stays: [Int] { recorded.numbers }

    /// The number of places that have not been passed yet.
    public var left: Int { spots.count - marks.count }

    public var isSatisfied: Bool {
        if recorded.file.isBroken || destination >= spots.count { return true }
        if marks.count < spots.count, isPassing() {
            marks.append(max(elapsed, marks[marks.count - 1] + 0.001))
            if left > 0 { onNext(spots[marks.count]) }
        }
        return false
    }

    /// Updates the time since the start of the walk.
    public func pass(seconds: Double) { elapsed = seconds }

    public func begin(session: String?) {}
    public func date(_ unixMicroseconds: Int64?) { recorded.date(unixMicroseconds) }
    public func listen(on adapter: String) { recorded.recording.adapter = adapter }
    public func say(_ sentence: String, isWarning: Bool) { onSentence(sentence, isWarning) }

    public func take(seconds: Double, _ heard: [HeardBeacon]) {
        let delay = delay ?? max(0, elapsed - (seconds + 1))
        self.delay = delay
        let seconds = seconds + delay
        elapsed = max(elapsed, seconds + 1)
        pending.append((seconds, heard))
        onSecond(heard)
        flush()
    }

    /// Writes the seconds between two known marks.
    private func flush() {
        while destination < spots.count, destination < marks.count {
            let (from, to) = (marks[destination - 1], marks[destination])
            let count = pending.prefix { $0.seconds + 0.5 < to }.count
            for (seconds, heard) in pending.prefix(count) where seconds + 0.5 >= from {
                write(heard, share: (seconds + 0.5 - from) / (to - from))
            }
            pending.removeFirst(count)
            guard !pending.isEmpty else { return }
            destination += 1
        }
    }

    private func write(_ heard: [HeardBeacon], share: Double) {
        guard let from = spots[destination - 1].position, let to = spots[destination].position else { return }
        func between(_ start: Double, _ end: Double) -> Double {
            ((start + share * (end - start)) * 100).rounded() / 100
        }
        let spot = SurveySpot(
            position: FloorPosition(x: between(from.x, to.x), y: between(from.y, to.y)),
            floor: share < 0.5 ? spots[destination - 1].floor : spots[destination].floor)
        recorded.begin(at: spot, heading: nil)
        recorded.append(seconds: 0, heard)
        recorded.end(seconds: 1)
    }
}
