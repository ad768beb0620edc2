internal import BeaconFrames
internal import BluetoothTypes
internal import Sightings

/// The reports of one expected advertisement from one receiver, separated by sender.
struct ReceivedAdvertisement: Sendable {
    /// The reports from one sender.
    struct Source: Sendable {
        /// The address; `nil` if it changes, or if the reports had no address.
        let sender: Sender?
        /// The number of reports with the expected data.
        var right = 0
        /// The number of reports with other data.
        var wrong = 0
        var events = EventTimes()
        var levels = LevelTally()
        var lowestLevel = LowestLevel()
        /// The data of the first report with wrong data.
        var wrongOctets: [UInt8] = []
        /// The number of reports on unexpected physical layers.
        private(set) var wrongPHYs = 0
        /// The physical layers of the first report that was on unexpected physical layers; `nil` for legacy PDUs.
        private(set) var wrongPHY: ExtendedPHY?
        /// The number of times that the data became right again, after it had been right and then wrong.
        var octetReturns = 0
        private var jumps = LevelJumps()
        /// True if the last data was wrong and earlier data was right.
        private var hasTurnedWrong = false

        init(_ sender: Sender?) { self.sender = sender }

        var reports: Int { right + wrong }
        /// The number of jumps of the level: see `Sightings/LevelJumps`.
        var levelJumps: Int { jumps.count }

        mutating func add(_ sighting: Sighting, isRight: Bool, isOnPHY: Bool) {
            if !isOnPHY {
                if wrongPHYs == 0 { wrongPHY = sighting.phy }
                wrongPHYs += 1
            }
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
            lowestLevel.add(level)
            jumps.add(level, at: sighting.instant)
        }
    }

    /// The maximum number of separate senders. Reports of further senders are only counted.
    static let sourceLimit = 8

    private(set) var sources: [Source] = []
    /// The number of reports from further senders.
    private(set) var otherReports = 0
    var telemetry = TelemetryRecord()
    /// The last charge of the battery in a BTHome packet, in percent.
    var batteryPercent: Int?

    var isHeard: Bool { !sources.isEmpty }
    /// The number of times that a sender was received again after another sender. Several such returns show that both
    /// senders are present.
    var senderReturns: Int { senders.returns }

    private var senders = SenderChanges()

    /// - Parameter hasChangingAddress: Whether the address changes, so that all senders are one source.
    mutating func add(
        _ sighting: Sighting, isRight: Bool, isOnPHY: Bool, hasChangingAddress: Bool, octets: Span<UInt8>,
        _ range: Range<Int>
    ) {
        senders.add(sighting.sender)
        let sender = hasChangingAddress ? nil : sighting.sender
        let index: Int
        if let known = sources.firstIndex(where: { $0.sender == sender }) {
            index = known
        } else if sources.count < Self.sourceLimit {
            index = sources.count
            sources.append(Source(sender))
        } else {
            otherReports += 1
            return
        }
        sources[index].add(sighting, isRight: isRight, isOnPHY: isOnPHY)
        if !isRight, sources[index].wrongOctets.isEmpty {
            sources[index].wrongOctets = range.map { octets[$0] }
        }
    }
}

/// The telemetry of one beacon, as one receiver received it.
struct TelemetryRecord: Sendable {
    /// A frame and its time.
    struct Point: Sendable {
        var at: HeardInstant
        var frame: EddystoneTLM
    }

    /// The number of frames.
    private(set) var count = 0
    /// The first frame since the counters last went back.
    private(set) var first: Point?
    private(set) var last: Point?
    /// The number of times that a counter went back.
    private(set) var resets = 0
    /// The range of battery voltages in millivolts.
    private(set) var battery: ClosedRange<Int>?
    /// The range of temperatures in 1/256 °C.
    private(set) var temperature: ClosedRange<Int>?

    mutating func add(_ frame: EddystoneTLM, at instant: HeardInstant) {
        count += 1
        if let millivolts = frame.batteryMillivolts { battery = Self.extend(battery, Int(millivolts)) }
        if let value = frame.temperature { temperature = Self.extend(temperature, Int(value.rawValue)) }
        let point = Point(at: instant, frame: frame)
        if let last,
            Self.wentBack(frame.advertisements, last.frame.advertisements)
                || Self.wentBack(frame.uptimeDeciseconds, last.frame.uptimeDeciseconds)
        {
            resets += 1
            first = point
        }
        first = first ?? point
        last = point
    }

    /// Returns whether a counter went back. Counters wrap around, so a step forward of more than half the range counts
    /// as a step back.
    private static func wentBack(_ value: UInt32, _ former: UInt32) -> Bool { value &- former > UInt32.max / 2 }

    private static func extend(_ range: ClosedRange<Int>?, _ value: Int) -> ClosedRange<Int> {
        guard let range else { return value...value }
        return min(range.lowerBound, value)...max(range.upperBound, value)
    }
}

/// The conditions that a beacon's telemetry must meet.
struct TelemetryRule {
    /// Plausible battery voltages in millivolts, from an empty coin cell to a vehicle battery.
    static let batteries = 500...32_000
    /// Plausible temperatures of a beacon in 1/256 °C: -60...125 °C.
    private static let temperatures = -60 * 256...125 * 256
    /// The shortest time over which counters are compared, in seconds.
    private static let shortest = 20.0

    /// The number of events per second of all advertisements of the beacon, because ADV_CNT counts every frame.
    let eventsPerSecond: Double
    /// The maximum age of the values in a frame, in seconds.
    let renewalSeconds: Double

    /// Returns the first violated condition as one sentence; `nil` if all conditions are met.
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
        let dueEvents = eventsPerSecond * ticks / 10
        // Both counters in a frame have the same age, so no allowance for the age is needed.
        if abs(events - dueEvents) > 0.05 * dueEvents + 3 {
            return "it counted \(Int(events)) advertisements where \(Int(dueEvents)) are due"
        }
        return nil
    }

    private static func outside(_ range: ClosedRange<Int>, _ allowed: ClosedRange<Int>) -> Int? {
        if !allowed.contains(range.lowerBound) { return range.lowerBound }
        return allowed.contains(range.upperBound) ? nil : range.upperBound
    }
}
