public import Airtime
internal import Configuration
internal import LinuxHost

/// Where something is recorded, as a survey has it.
public struct SurveySpot: Hashable, Sendable {
    /// `nil` where there is a position only.
    public var place: String?
    /// Metres east and north; `nil` where nobody knows.
    public var position: FloorPosition?
    /// `nil` on sites with one floor.
    public var floor: String?

    /// - Parameters are as the properties of the same names.
    public init(place: String? = nil, position: FloorPosition? = nil, floor: String? = nil) {
        self.place = place
        self.position = position
        self.floor = floor
    }
}

/// What the first line of a recording and the stays in it have in common.
public struct SurveyHeading: Hashable, Sendable {
    /// The site's name.
    public var site: String?
    /// The receiver's name.
    public var receiver: String?
    /// What it hears with; `nil` until that is known, and of a recording.
    public var adapter: String?
    /// What is recorded together; `nil` for the day.
    public var session: String?

    /// - Parameters are as the properties of the same names.
    public init(site: String? = nil, receiver: String? = nil, session: String? = nil) {
        self.site = site
        self.receiver = receiver
        self.session = session
    }
}

/// Records stays at one place onto the end of a survey, second by second.
public final class SurveyRecorder: RunConsumer {
    /// A stay with one heading.
    public struct Leg: Hashable, Sendable {
        /// Degrees clockwise from north; `nil` where unknown.
        public var heading: Double?
        /// How many seconds belong to it.
        public var seconds: Int

        /// - Parameters are as the properties of the same names.
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
    /// Gets a sentence for whoever watches.
    public var onSentence: (_ sentence: String, _ isWarning: Bool) -> Void = { _, _ in }
    /// Gets what the current second says: seconds left, and what was heard.
    public var onSecond: (_ left: Int, _ heard: [HeardBeacon]) -> Void = { _, _ in }
    /// Whether the next leg waits for ``turn()``.
    public var waits = false

    /// - Parameters:
    ///   - file: Where the lines go.
    ///   - legs: At least one; a recording goes from one to the next.
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

    /// Goes to the next leg.
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

    /// A stay that has no end counts with what it has; this one has one.
    private func end() {
        guard isOpen, let stay = stays.last else { return }
        file.append(SurveyWriter.end(stay: stay, seconds: count))
        isOpen = false
    }

    /// Every packet by beacon, in the order of the keys.
    static func readings(_ heard: [HeardBeacon]) -> [(key: BeaconKey, levels: [Double])] {
        var byKey: [BeaconKey: [Double]] = [:]
        for beacon in heard { if let key = beacon.recordedKey { byKey[key, default: []] += beacon.levels } }
        return byKey.sorted { $0.key < $1.key }.map { (key: $0.key, levels: $0.value) }
    }
}

/// The first line of a recording, and the session of its stays.
struct SurveyHeader {
    let line: String
    /// That which was named, else the day.
    let session: String?

    init(_ heading: SurveyHeading, started: Int64?) {
        let time = started.map { RFC3339Time(secondsSince1970: Int($0 / 1_000_000)) }
        line = SurveyWriter.line(
            Survey.Recording(
                site: heading.site, receiver: heading.receiver, adapter: heading.adapter, started: time))
        session = heading.session ?? time.map { String($0.description.prefix(10)) }
    }
}
