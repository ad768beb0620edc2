public import Airtime
internal import Configuration
internal import LinuxHost

/// The place at which stays are recorded.
public struct SurveySpot: Hashable, Sendable {
    /// The place's name. `nil` if there is only a position.
    public var place: String?
    /// Metres east and north. `nil` if unknown.
    public var position: FloorPosition?
    /// The floor's name. `nil` on sites with one floor.
    public var floor: String?

    /// A place.
    public init(place: String? = nil, position: FloorPosition? = nil, floor: String? = nil) {
        self.place = place
        self.position = position
        self.floor = floor
    }
}

/// What all stays of a recording have in common.
public struct SurveyHeading: Hashable, Sendable {
    /// The site's name.
    public var site: String?
    /// The receiver's name.
    public var receiver: String?
    /// The adapter that receives. `nil` until it is known, and for a file.
    public var adapter: String?
    /// The session. `nil` for the day.
    public var session: String?

    /// The site, receiver and session of a recording.
    public init(site: String? = nil, receiver: String? = nil, session: String? = nil) {
        self.site = site
        self.receiver = receiver
        self.session = session
    }
}

/// Appends stays at one place to a survey, second by second.
public final class SurveyRecorder: RunConsumer {
    /// A stay with one heading.
    public struct Leg: Hashable, Sendable {
        /// Degrees clockwise from north. `nil` if unknown.
        public var heading: Double?
        /// The number of seconds.
        public var seconds: Int

        /// A stay with a heading.
        public init(heading: Double?, seconds: Int) {
            self.heading = heading
            self.seconds = seconds
        }
    }

    private let file: GrowingSurvey
    private let spot: SurveySpot
    private let legs: [Leg]
    private var heading: SurveyHeading
    private var started: Int64?
    private var hasHeader = false
    private var leg = 0
    private var count = 0
    private var isOpen = false
    private var origin: Double?
    /// The numbers of the stays that were recorded.
    public private(set) var stays: [Int] = []
    /// Called with a message for the user.
    public var onSentence: (_ sentence: String, _ isWarning: Bool) -> Void = { _, _ in }
    /// Called with each second: the number of seconds left, and the received beacons.
    public var onSecond: (_ left: Int, _ heard: [HeardBeacon]) -> Void = { _, _ in }
    /// Whether the recorder waits for ``turn()`` before the next leg.
    public var waits = false

    /// A recorder.
    ///
    /// - Parameters:
    ///   - file: The survey.
    ///   - legs: At least one. A file that is recorded from continues from one to the next.
    public init(_ file: GrowingSurvey, at spot: SurveySpot, legs: [Leg], _ heading: SurveyHeading) {
        self.file = file
        self.spot = spot
        self.legs = legs
        self.heading = heading
    }

    /// Whether the current leg has all its seconds.
    public var isLegComplete: Bool { leg >= legs.count || count >= legs[leg].seconds }

    public var isSatisfied: Bool { file.isBroken || (waits ? isLegComplete : isLegComplete && leg + 1 >= legs.count) }

    public func begin(session: String?) {}

    public func date(_ unixMicroseconds: Int64?) { started = started ?? unixMicroseconds }
    public func listen(on adapter: String) { heading.adapter = adapter }

    public func take(seconds: Double, _ heard: [HeardBeacon]) {
        if isLegComplete {
            guard !waits, leg + 1 < legs.count else { return }
            turn()
        }
        if count == 0 { begin() }
        let start = origin ?? seconds
        origin = start
        file.append(SurveyWriter.line(seconds: seconds - start, readings: Self.readings(heard)))
        count += 1
        onSecond(legs[leg].seconds - count, heard)
        if isLegComplete { end() }
    }

    /// Begins the next leg.
    public func turn() {
        end()
        leg += 1
        count = 0
        origin = nil
    }

    public func say(_ sentence: String, isWarning: Bool) { onSentence(sentence, isWarning) }

    /// Ends the stay that is being recorded.
    public func finish() { end() }

    private func begin() {
        isOpen = true
        let header = SurveyHeader(heading, started: started)
        if !hasHeader { file.append(header.line) }
        hasHeader = true
        let number = file.nextStay
        file.append(
            SurveyWriter.line(
                Survey.Stay(
                    number: number, place: spot.place, position: spot.position, floor: spot.floor,
                    heading: legs[leg].heading, session: header.session)))
        stays.append(number)
    }

    private func end() {
        guard isOpen, let stay = stays.last else { return }
        file.append(SurveyWriter.end(stay: stay, seconds: count))
        isOpen = false
    }

    /// The levels of every packet by beacon, sorted by key.
    static func readings(_ heard: [HeardBeacon]) -> [(key: BeaconKey, levels: [Double])] {
        var byKey: [BeaconKey: [Double]] = [:]
        for beacon in heard { if let key = beacon.recordedKey { byKey[key, default: []] += beacon.levels } }
        return byKey.sorted { $0.key < $1.key }.map { (key: $0.key, levels: $0.value) }
    }
}

/// The first line of a recording, and the session of its stays.
struct SurveyHeader {
    let line: String
    /// The given session, or the day.
    let session: String?

    init(_ heading: SurveyHeading, started: Int64?) {
        let time = started.map { RFC3339Time(secondsSince1970: Int($0 / 1_000_000)) }
        line = SurveyWriter.line(
            Survey.Recording(
                site: heading.site, receiver: heading.receiver, adapter: heading.adapter, started: time))
        session = heading.session ?? time.map { String($0.description.prefix(10)) }
    }
}
