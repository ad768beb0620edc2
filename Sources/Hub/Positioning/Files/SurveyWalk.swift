internal import Airtime

/// Records a walk from place to place: between two marks each second is a stay where the receiver was at its middle, if it
/// went straight on at one speed.
public final class SurveyWalk: RunConsumer {
    private let file: GrowingSurvey
    private let spots: [SurveySpot]
    private var heading: SurveyHeading
    /// Seconds since the walk's start at which each of the spots was passed, as far as they are known.
    private var marks: [Double]
    private var pending: [(seconds: Double, heard: [HeardBeacon])] = []
    private var segment = 1
    private var started: Int64?
    private var hasHeader = false
    private var latest = 0.0
    /// How long after the walk's start the first second began, in seconds: an adapter takes time to open. `nil` before
    /// that second is over.
    private var delay: Double?
    /// The numbers of the stays that were recorded.
    public private(set) var stays: [Int] = []
    /// Gets a sentence for whoever watches.
    public var onSentence: (_ sentence: String, _ isWarning: Bool) -> Void = { _, _ in }
    /// Asked often: whether the next place is passed just now.
    public var isPassing: () -> Bool = { false }
    /// Gets what the current second heard.
    public var onSecond: (_ heard: [HeardBeacon]) -> Void = { _ in }
    /// Gets the place that is to be passed next.
    public var onNext: (_ spot: SurveySpot) -> Void = { _ in }

    /// - Parameters:
    ///   - file: Where the lines go.
    ///   - spots: The places that are passed, all with positions; at least two.
    ///   - marks: When each is passed, in seconds since the start; empty where somebody marks them meanwhile, the first
    ///     one at the start.
    public init(_ file: GrowingSurvey, _ spots: [SurveySpot], marks: [Double], _ heading: SurveyHeading) {
        self.file = file
        self.spots = spots
        self.marks = marks.isEmpty ? [0] : marks
        self.heading = heading
    }

    /// How many of the places are not passed yet.
    public var left: Int { spots.count - marks.count }

    public var isSatisfied: Bool {
        if file.isBroken || segment >= spots.count { return true }
        if marks.count < spots.count, isPassing() {
            marks.append(max(latest, marks[marks.count - 1] + 0.001))
            if left > 0 { onNext(spots[marks.count]) }
        }
        return false
    }

    /// Half seconds are exact enough for a mark.
    public func pass(seconds: Double) { latest = seconds }

    public func begin(session: String?) {}
    public func date(_ unixMicroseconds: Int64?) { started = started ?? unixMicroseconds }
    public func listen(on adapter: String) { heading.adapter = adapter }
    public func say(_ sentence: String, isWarning: Bool) { onSentence(sentence, isWarning) }

    public func take(seconds: Double, _ heard: [HeardBeacon]) {
        let delay = delay ?? max(0, latest - (seconds + 1))
        self.delay = delay
        let seconds = seconds + delay
        latest = max(latest, seconds + 1)
        pending.append((seconds, heard))
        onSecond(heard)
        flush()
    }

    /// Writes what is known to lie between two marks.
    private func flush() {
        while segment < spots.count, segment < marks.count {
            let (from, to) = (marks[segment - 1], marks[segment])
            let count = pending.prefix { $0.seconds + 0.5 < to }.count
            for (seconds, heard) in pending.prefix(count) where seconds + 0.5 >= from {
                write(heard, share: (seconds + 0.5 - from) / (to - from))
            }
            pending.removeFirst(count)
            guard !pending.isEmpty else { return }
            segment += 1
        }
    }

    private func write(_ heard: [HeardBeacon], share: Double) {
        guard let from = spots[segment - 1].position, let to = spots[segment].position else { return }
        let header = SurveyHeader(heading, started: started)
        if !hasHeader { file.append(header.line) }
        hasHeader = true
        func between(_ start: Double, _ end: Double) -> Double {
            ((start + share * (end - start)) * 100).rounded() / 100
        }
        let number = file.nextStay
        file.append(
            SurveyWriter.line(
                Survey.Stay(
                    number: number, position: FloorPosition(x: between(from.x, to.x), y: between(from.y, to.y)),
                    floor: share < 0.5 ? spots[segment - 1].floor : spots[segment].floor, session: header.session))
                + SurveyWriter.line(seconds: 0, readings: SurveyRecorder.readings(heard))
                + SurveyWriter.end(stay: number, seconds: 1))
        stays.append(number)
    }
}
