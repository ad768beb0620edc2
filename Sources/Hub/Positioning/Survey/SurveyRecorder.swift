public import Airtime
internal import Configuration
internal import LinuxHost

/// The name, position and floor of the place at which stays are recorded.
public struct SurveySpot: Hashable, Sendable {
    /// The place's name; `nil` if only the position is known.
    public var place: String?
    /// The position in metres east and north; `nil` if it is not known.
    public var position: FloorPosition?
    /// The floor's name; `nil` on sites with one floor.
    public var floor: String?

    /// Creates a spot.
    public init(place: String? = nil, position: FloorPosition? = nil, floor: String? = nil) {
        self.place = place
        self.position = position
        self.floor = floor
    }
}

/// Appends the stays of one recording to a survey.
struct RecordedStays {
    let file: GrowingSurvey
    /// The receiver and the time of the recording. They are written as a header line before the first stay.
    var recording: Survey.Recording
    /// The session of all stays; `nil` to use the day on which the recording began.
    let session: String?
    /// The numbers of the recorded stays, including the current stay.
    private(set) var numbers: [Int] = []

    /// - Parameter session: The session of all stays; `nil` to use the day on which the recording began.
    init(_ file: GrowingSurvey, _ recording: Survey.Recording, session: String?) {
        self.file = file
        self.recording = recording
        self.session = session
    }

    /// Sets the time at which the recording began, in microseconds since 1970. Later calls are ignored.
    mutating func date(_ unixMicroseconds: Int64?) {
        guard recording.started == nil, let unixMicroseconds else { return }
        recording.started = RFC3339Time(secondsSince1970: Int(unixMicroseconds / 1_000_000))
    }

    /// Begins a stay.
    mutating func begin(at spot: SurveySpot, heading: Double?) {
        if numbers.isEmpty { file.append(SurveyWriter.line(recording)) }
        let day = recording.started.map { String($0.description.prefix(10)) }
        let stay = Survey.Stay(
            number: file.nextStay, place: spot.place, position: spot.position, floor: spot.floor, heading: heading,
            session: session ?? day)
        file.append(SurveyWriter.line(stay))
        numbers.append(stay.number)
    }

    /// Appends a second to the stay.
    func append(seconds: Double, _ heard: [HeardBeacon]) {
        var byKey: [BeaconKey: [Double]] = [:]
        for beacon in heard { if let key = beacon.recordedKey { byKey[key, default: []] += beacon.levels } }
        let readings = byKey.sorted { $0.key < $1.key }.map { (key: $0.key, levels: $0.value) }
        file.append(SurveyWriter.line(seconds: seconds, readings: readings))
    }

    /// Ends the stay.
    func end(seconds: Int) {
        if let number = numbers.last { file.append(SurveyWriter.end(stay: number, seconds: seconds)) }
    }
}

/// Appends stays at one place to a survey, second by second.
public final class SurveyRecorder: RunConsumer {
    /// A planned stay with one heading.
    public struct Leg: Hashable, Sendable {
        /// The heading in degrees clockwise from north; `nil` if it is not known.
        public var heading: Double?
        /// The length of the stay in seconds.
        public var seconds: Int

        /// Creates a leg.
        public init(heading: Double?, seconds: Int) {
            self.heading = heading
            self.seconds = seconds
        }
    }

    private var recorded: RecordedStays
    private let spot: SurveySpot
    private let legs: [Leg]
    /// The index of the current leg.
    private var leg = 0
    /// The number of seconds of the current leg so far.
    private var count = 0
    /// True if a stay has begun and has not ended yet.
    private var isOpen = false
    /// The time of the stay's first second, in seconds since the start of the run.
    private var origin: Double?
    /// Receives messages for the user.
    public var onSentence: (_ sentence: String, _ isWarning: Bool) -> Void = { _, _ in }
    /// Receives each second: the number of seconds that remain in the leg, and the received beacons.
    public var onSecond: (_ left: Int, _ heard: [HeardBeacon]) -> Void = { _, _ in }
    /// True if the recorder waits for ``turn()`` before the next leg.
    public var waits = false

    /// Creates a recorder.
    ///
    /// - Parameters:
    ///   - file: The survey.
    ///   - legs: The legs, at least one. If the source is a file, the legs follow each other without a pause.
    ///   - recording: The site and the receiver. The adapter and the start are set later.
    ///   - session: The session of the stays; `nil` to use the day on which the recording began.
    public init(
        _ file: GrowingSurvey, at spot: SurveySpot, legs: [Leg], _ recording: Survey.Recording, session: String? = nil
    ) {
        recorded = RecordedStays(file, recording, session: session)
        self.spot = spot
        self.legs = legs
    }

    /// The numbers of the recorded stays, including the current stay.
    public var stays: [Int] { recorded.numbers }

    /// True if all seconds of the current leg have been recorded.
    public var isLegComplete: Bool { leg >= legs.count || count >= legs[leg].seconds }

    public var isSatisfied: Bool {
        recorded.file.isBroken || (waits ? isLegComplete : isLegComplete && leg + 1 >= legs.count)
    }

    public func begin(session: String?) {}
    public func date(_ unixMicroseconds: Int64?) { recorded.date(unixMicroseconds) }
    public func listen(on adapter: String) { recorded.recording.adapter = adapter }

    public func take(seconds: Double, _ heard: [HeardBeacon]) {
        if isLegComplete {
            guard !waits, leg + 1 < legs.count else { return }
            turn()
        }
        if count == 0 {
            recorded.begin(at: spot, heading: legs[leg].heading)
            isOpen = true
        }
        let start = origin ?? seconds
        origin = start
        recorded.append(seconds: seconds - start, heard)
        count += 1
        onSecond(legs[leg].seconds - count, heard)
        if isLegComplete { finish() }
    }

    /// Begins the next leg.
    public func turn() {
        finish()
        leg += 1
        count = 0
        origin = nil
    }

    public func say(_ sentence: String, isWarning: Bool) { onSentence(sentence, isWarning) }

    /// Ends the stay that is being recorded.
    public func finish() {
        if isOpen { recorded.end(seconds: count) }
        isOpen = false
    }
}
