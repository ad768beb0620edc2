internal import BeaconFrames
internal import Sightings

/// What one receiver heard of one expected advertisement: apart by who sent it.
struct HeardAdvertisement: Sendable {
    /// What came from one sender.
    struct Source: Sendable {
        /// `nil` where the sender turns over, or told no address.
        let sender: Sender?
        var right = 0
        var wrong = 0
        var events = HeardEvents()
        var levels = LevelTally()
        /// The first octets that were not the expected ones.
        var wrongOctets: [UInt8] = []
        /// How often right octets followed on wrong ones that had followed on right ones.
        var octetReturns = 0
        /// Jumps of the level by more than 30 dB within a second, each in the other direction than the one before.
        var levelJumps = 0

        private var lastLevel: (level: Int8, at: HeardInstant)?
        private var lastJumpWasUp: Bool?
        private var hasTurnedWrong = false

        init(_ sender: Sender?) { self.sender = sender }

        var reports: Int { right + wrong }

        mutating func add(_ sighting: Sighting, isRight: Bool) {
            if isRight {
                if hasTurnedWrong { octetReturns += 1 }
                hasTurnedWrong = false
                right += 1
            } else {
                hasTurnedWrong = hasTurnedWrong || right > 0
                wrong += 1
            }
            events.add(at: sighting.instant)
            guard let level = sighting.rssi, LevelTally.range.contains(level) else { return }
            levels.add(level)
            if let last = lastLevel, sighting.instant.microseconds(since: last.at) <= 1_000_000 {
                let jump = Int(level) - Int(last.level)
                if abs(jump) > 30, lastJumpWasUp != (jump > 0) {
                    levelJumps += 1
                    lastJumpWasUp = jump > 0
                }
            }
            lastLevel = (level, sighting.instant)
        }
    }

    /// Senders that are kept apart; what comes from more of them is only counted.
    static let sourceLimit = 8

    private(set) var sources: [Source] = []
    /// Reports of senders beyond the limit.
    private(set) var crowd = 0
    /// How often a sender came back after another one: two that send at once.
    private(set) var senderReturns = 0
    var telemetry = TelemetryRecord()

    var isHeard: Bool { !sources.isEmpty }

    private var lastSender: Sender?
    private var senderBefore: Sender?

    /// - Parameter isTurning: Whether its address turns over, so that all senders are one source.
    mutating func add(_ sighting: Sighting, isRight: Bool, isTurning: Bool, octets: Span<UInt8>, _ range: Range<Int>) {
        if sighting.sender != lastSender {
            if lastSender != nil, senderBefore == sighting.sender { senderReturns += 1 }
            senderBefore = lastSender
            lastSender = sighting.sender
        }
        let sender = isTurning ? nil : sighting.sender
        let place: Int
        if let known = sources.firstIndex(where: { $0.sender == sender }) {
            place = known
        } else if sources.count < Self.sourceLimit {
            place = sources.count
            sources.append(Source(sender))
        } else {
            crowd += 1
            return
        }
        sources[place].add(sighting, isRight: isRight)
        if !isRight, sources[place].wrongOctets.isEmpty {
            sources[place].wrongOctets = range.map { octets[$0] }
        }
    }
}

/// What the telemetry of one beacon told, as one receiver heard it.
struct TelemetryRecord: Sendable {
    /// A frame, and when it was heard.
    struct Point: Sendable {
        var at: HeardInstant
        var frame: EddystoneTLM
    }

    private(set) var count = 0
    /// Since the counters last went back.
    private(set) var first: Point?
    private(set) var last: Point?
    /// How often a counter went back.
    private(set) var backs = 0
    private(set) var battery: ClosedRange<Int>?
    /// In 1/256 °C.
    private(set) var temperature: ClosedRange<Int>?

    mutating func add(_ frame: EddystoneTLM, at instant: HeardInstant) {
        count += 1
        if let millivolts = frame.batteryMillivolts { battery = Self.extend(battery, Int(millivolts)) }
        if let value = frame.temperature { temperature = Self.extend(temperature, Int(value.rawValue)) }
        let point = Point(at: instant, frame: frame)
        if let last,
            Self.isBack(frame.advertisements, last.frame.advertisements)
                || Self.isBack(frame.uptimeDeciseconds, last.frame.uptimeDeciseconds)
        {
            backs += 1
            first = point
        }
        first = first ?? point
        last = point
    }

    /// Counters wrap round: what is nearer behind than ahead has gone back.
    private static func isBack(_ now: UInt32, _ before: UInt32) -> Bool { now &- before > UInt32.max / 2 }

    private static func extend(_ range: ClosedRange<Int>?, _ value: Int) -> ClosedRange<Int> {
        guard let range else { return value...value }
        return min(range.lowerBound, value)...max(range.upperBound, value)
    }
}

/// What telemetry of a beacon must be like.
struct TelemetryRule {
    /// Batteries that can be, in millivolts: from a spent button cell to those of a lorry.
    private static let batteries = 500...32_000
    /// Temperatures that a beacon can live at, in 1/256 °C: -60...125.
    private static let temperatures = -60 * 256...125 * 256
    /// Counters over a shorter time tell nothing, in seconds.
    private static let shortest = 20.0

    /// Of all advertisements of the box: ADV_CNT counts every frame.
    let eventsPerSecond: Double
    /// How old a frame's numbers may be when it is heard.
    let renewalSeconds: Double

    /// Why it cannot be, in one sentence; `nil` where it can.
    func fault(_ record: TelemetryRecord) -> String? {
        if let battery = record.battery, let wrong = Self.outside(battery, Self.batteries) {
            return "it reports a battery voltage of \(wrong) mV"
        }
        if let temperature = record.temperature, let wrong = Self.outside(temperature, Self.temperatures) {
            return "it reports a temperature of \(wrong / 256) °C"
        }
        guard let first = record.first, let last = record.last else { return nil }
        let elapsed = Double(last.at.microseconds(since: first.at)) / 1_000_000
        guard elapsed >= Self.shortest, elapsed >= 10 * renewalSeconds else { return nil }
        let ticks = Double(last.frame.uptimeDeciseconds &- first.frame.uptimeDeciseconds)
        let tickSlack = 0.01 * 10 * elapsed + 10 * renewalSeconds + 2
        if abs(ticks - 10 * elapsed) > tickSlack {
            return "its uptime advanced by \(Int(ticks / 10)) s in \(Int(elapsed)) s"
        }
        let events = Double(last.frame.advertisements &- first.frame.advertisements)
        let owed = eventsPerSecond * ticks / 10
        // Both counters are of one moment, so that their age does not matter.
        if abs(events - owed) > 0.05 * owed + 3 {
            return "it counted \(Int(events)) advertisements where \(Int(owed)) are due"
        }
        return nil
    }

    private static func outside(_ range: ClosedRange<Int>, _ allowed: ClosedRange<Int>) -> Int? {
        if !allowed.contains(range.lowerBound) { return range.lowerBound }
        return allowed.contains(range.upperBound) ? nil : range.upperBound
    }
}
