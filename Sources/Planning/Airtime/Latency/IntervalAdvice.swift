public import BluetoothTypes

/// The advertising interval to set, and why.
///
/// The rule: the longest interval that meets the goal, because the energy is proportional to 1/E. An interval with a
/// mean period below 2·tau·N/ln 2 is advised only if all longer intervals miss the goal, because shorter intervals lose
/// more to collisions. (With extended PDUs, 2·tau is replaced by the mean collision window.) The advised interval is
/// never shorter than the interval at which the most packets arrive, never outside the range of controllers, and never
/// shorter than an event. Because of resonance, the latency does not always grow with the interval: an interval is
/// accepted only if the intervals that are 1 % shorter and 1 % longer nearly meet the goal as well. If no interval
/// passes this test, an interval that meets the goal is advised without it; ``isSteady`` is then false.
public struct IntervalAdvice: Sendable {
    /// The goal of the advice.
    public let goal: IntervalGoal
    /// The interval to set.
    public let interval: AdvertisingInterval
    public let outcome: IntervalOutcome
    /// False if the goal is met, but an interval that is 1 % shorter or longer clearly misses it.
    public let isSteady: Bool
    /// The model at ``interval``, with the first scanner of the mix.
    public let model: LatencyModel
    /// The latency at ``interval``.
    public let latency: MixLatency
    /// The interval with E = 2·tau·N/ln 2, limited to the controllers' range. A shorter interval is advised only if all
    /// longer intervals miss the goal.
    public let shortestSensible: AdvertisingInterval
    let search: IntervalSearch

    /// The distribution of the latency of all visitors at ``interval``.
    public var distribution: LatencyDistribution { latency.whole }
    /// The shortest interval that the search considers. Controllers support it, and all packets of an event fit into
    /// it. With several beacons it is so long that two events of one beacon cannot hit the same event of another
    /// beacon.
    public var shortestPossible: AdvertisingInterval { search.limitedInterval(units: search.units.lowerBound) }
    /// E at ``interval``, in µs.
    public var meanPeriodMicroseconds: Double { model.meanPeriodMicroseconds }
    public var collisionFreeProbability: Double { model.collisionFreeProbability * model.otherClearProbability }

    /// Finds the interval for `count` beacons of this airtime (in µs) and the visitors' scanners.
    ///
    /// - Parameters:
    ///   - airtimeMicroseconds: tau in µs; with extended PDUs, the airtime of the packet on one primary channel.
    ///   - extended: The auxiliary packets of extended PDUs; nil for legacy PDUs.
    ///   - logOtherClearProbability: ln of the probability that the other advertisements of one beacon do not hit
    ///     an event (``TargetCollisions/logOtherClearProbability``); 0 for beacons with one advertisement.
    ///
    /// Throws if the fleet is empty, if the time of the goal is not above 0 or is longer than an hour, if the
    /// probability of the goal is not above 0 and below 1 (no time is long enough for a probability of 1), or if the
    /// logarithm is above 0. Also throws the errors of `LatencyModel`.
    public init(
        goal: IntervalGoal, count: Int, airtimeMicroseconds: Double, extended: ExtendedTraffic? = nil,
        scanners: ScannerMix,
        logOtherClearProbability: Double = 0
    ) throws(AirtimeError) {
        self.goal = goal
        search = try IntervalSearch(
            count: count, packets: EventPackets(airtimeMicroseconds: airtimeMicroseconds, extended: extended),
            scanners: scanners, logOtherClearProbability: logOtherClearProbability)
        let chosen: IntervalSearch.Longest
        switch goal {
        case .detect(let seconds, let probability):
            guard seconds > 0, seconds <= 3600 else { throw .quantity(name: "a time in s", value: seconds) }
            guard probability > 0, probability < 1 else { throw .share(probability) }
            chosen = try search.longest(within: seconds, probability: probability)
        case .maximumThroughput:
            let greatest = search.greatestThroughput
            chosen = .init(interval: greatest.interval, outcome: greatest.outcome)
        }
        interval = chosen.interval
        outcome = chosen.outcome
        isSteady = chosen.isSteady
        shortestSensible = search.shortestSensible.interval
        model = try search.model(chosen.interval)
        latency = try search.latency(chosen.interval, horizonSeconds: IntervalSearch.horizonSeconds)
    }
}

/// The goal of an advertising interval.
public enum IntervalGoal: Hashable, Sendable {
    /// The share `probability` of all detections takes at most `withinSeconds` seconds, with as little energy as
    /// possible.
    case detect(withinSeconds: Double, probability: Double)
    /// As many packets as possible arrive, of all beacons together.
    case maximumThroughput
}

/// The outcome of the search for an interval.
public enum IntervalOutcome: Equatable, Sendable {
    /// The goal is met.
    case met
    /// The goal is met at the longest interval that controllers support.
    case metAtLongest
    /// A shorter interval would be better: this is the shortest interval that controllers support.
    case clampedToShortest
    /// A longer interval would be better: this is the longest interval that controllers support.
    case clampedToLongest
    /// No interval meets the goal: this is the best interval; the shortfall lists changes that would help.
    case impossible(Shortfall)

    /// How far the best interval misses the goal, and changes: each of them alone would be enough to meet the goal.
    public struct Shortfall: Hashable, Sendable {
        /// The share received in time at the best interval.
        public let share: Double
        /// The time in s within which the target share is received at the best interval. Nil if this time is above an
        /// hour, or if it is above a minute and above ten times the target time.
        public let seconds: Double?
        /// The largest number of beacons that meets the goal with these scanners; nil if a single beacon misses it.
        public let beacons: Int?
        /// The longest interval that meets the goal with ``beacons`` beacons; nil if ``beacons`` is nil.
        public let intervalOfFewer: AdvertisingInterval?
        /// The share that a scanner without pauses receives in time at the best interval.
        public let continuousShare: Double
    }
}

/// A range of intervals over which a fleet is spread, so that two beacons that collided once do not collide again and
/// again. The range is near the advised interval, and contains no interval that resonates with the scanner.
public struct IntervalSpread: Hashable, Sendable {
    /// The shortest and the longest interval that a beacon gets.
    public let intervals: ClosedRange<AdvertisingInterval>
    /// The increase of the number of events of the fleet compared with the advised interval, as a share; negative for a
    /// decrease. The energy changes by the same share.
    public let extraEvents: Double

    /// The narrowest useful spread, as a share of the interval.
    static let narrowest = 0.02

    /// The interval of a beacon. It depends only on the beacon's identity; the intervals of many identities are spread
    /// evenly.
    public func interval(of identity: String) -> AdvertisingInterval {
        .spread(identity, over: intervals)
    }
}

extension IntervalAdvice {
    /// Returns the widest spread whose ends meet the goal and that contains no interval to avoid. The ends differ from
    /// the advised interval by at most the share `share`. Returns nil for a single beacon, and if no spread is wide
    /// enough to be useful.
    public func spread(within share: Double = 0.1) throws(AirtimeError) -> IntervalSpread? {
        guard search.count > 1 else { return nil }
        let center = Double(interval.microseconds)
        let lowest = max(
            center * (1 - share), Double(search.limitedInterval(units: search.units.lowerBound).microseconds))
        let highest = min(
            center * (1 + share), Double(search.limitedInterval(units: search.units.upperBound).microseconds))
        var bands: [Resonance.Band] = []
        for part in search.scanners.parts {
            bands += try Resonance.bands(
                within: lowest...highest, pattern: part.scanner.pattern,
                airtimeMicroseconds: search.packets.airtimeMicroseconds)
        }
        guard !bands.contains(where: { $0.intervalsMicroseconds.contains(center) }) else { return nil }
        let step = LatencyModel.stepMicroseconds
        let below = bands.map(\.intervalsMicroseconds.upperBound).filter { $0 < center }.max().map { $0 + step }
        let above = bands.map(\.intervalsMicroseconds.lowerBound).filter { $0 > center }.min().map { $0 - step }
        let low = try intervalMeetingGoal(near: max(lowest, below ?? lowest))
        let high = try intervalMeetingGoal(near: min(highest, above ?? highest))
        guard Double(high.microseconds - low.microseconds) >= IntervalSpread.narrowest * center else { return nil }
        // The mean of 1/E over intervals that are distributed evenly over the spread.
        let (short, long) = (Double(low.meanPeriodMicroseconds), Double(high.meanPeriodMicroseconds))
        let events = log(long / short) / (long - short)
        return IntervalSpread(intervals: low...high, extraEvents: events * meanPeriodMicroseconds - 1)
    }

    /// Returns the first of these intervals that meets the goal: the interval at `end`, then the interval in the middle
    /// between `end` and the advised interval. If neither meets the goal, returns the advised interval.
    private func intervalMeetingGoal(near end: Double) throws(AirtimeError) -> AdvertisingInterval {
        let center = Double(interval.microseconds)
        for share in [1, 0.5] {
            let microseconds = center + (end - center) * share
            // Rounds toward the advised interval, so that the result does not lie in a band of intervals to avoid.
            let units = (microseconds / LatencyModel.stepMicroseconds).rounded(end < center ? .up : .down)
            let candidate = AdvertisingInterval(rawValue: UInt32(units))
            guard case .detect(let seconds, let probability) = goal else { return candidate }
            if try search.share(candidate, within: seconds) >= probability { return candidate }
        }
        return interval
    }
}

/// The results at one interval: a point of the curve around the advice.
public struct IntervalPoint: Hashable, Sendable {
    public let interval: AdvertisingInterval
    /// The probability that a packet on one channel has no collision, 0...1.
    public let collisionFreeProbability: Double
    /// Percentiles of the latency in seconds; nil beyond the horizon.
    public let p50: Double?
    public let p90: Double?
    public let p99: Double?
    /// The additional percentile in seconds; nil if none was requested, or beyond the horizon.
    public let wanted: Double?
    /// True for an additional point between the evenly spaced points.
    public let isExtra: Bool
}

extension IntervalAdvice {
    /// The latency of the fleet at another interval with another scanner, within `horizonSeconds`.
    public func distribution(
        intervalMicroseconds: Double, preset: ScannerPreset, horizonSeconds: Double = 3600
    ) throws(AirtimeError) -> LatencyDistribution {
        try search.distribution(intervalMicroseconds, preset: preset, horizonSeconds: horizonSeconds)
    }

    /// The results at other intervals, in ascending order: at `count` intervals (2...1000), evenly spaced over `range`
    /// on a logarithmic scale; at `between` additional intervals between any two neighbors of these intervals; and in
    /// the middle of each of the `resonances` slowest resonances.
    ///
    /// Percentiles above `horizonSeconds` are nil. `wantedShare` (0..<1) adds the percentile of this share. Throws the
    /// errors of `LatencyModel`.
    public func curve(
        over range: ClosedRange<AdvertisingInterval>, points count: Int = 13, between: Int = 0, resonances: Int = 0,
        wantedShare: Double? = nil, horizonSeconds: Double = 3600
    ) throws(AirtimeError) -> [IntervalPoint] {
        let low = max(range.lowerBound.rawValue, UInt32(search.units.lowerBound))
        let high = min(range.upperBound.rawValue, UInt32(search.units.upperBound))
        guard low <= high else { throw .interval(Double(range.lowerBound.microseconds)) }
        guard count >= 2, count <= 1000 else { throw .quantity(name: "a number of points", value: Double(count)) }
        // The points by their intervals in units of 0.625 ms; the value is true for an additional point.
        var units: [UInt32: Bool] = [:]
        for unit in try search.resonanceCenters(resonances, within: low...high) { units[unit] = true }
        let last = (count - 1) * (between + 1)
        for index in 0...last {
            let fraction = Double(index) / Double(last)
            let unit = UInt32((Double(low) * pow(Double(high) / Double(low), fraction)).rounded())
            let isExtra = index % (between + 1) != 0
            units[unit] = isExtra && units[unit] ?? true
        }
        var points: [IntervalPoint] = []
        for (unit, isExtra) in units.sorted(by: { $0.key < $1.key }) {
            points.append(
                try search.point(unit, isExtra: isExtra, wantedShare: wantedShare, horizonSeconds: horizonSeconds))
        }
        return points
    }
}

extension IntervalSearch {
    fileprivate func point(
        _ unit: UInt32, isExtra: Bool, wantedShare: Double?, horizonSeconds: Double
    ) throws(AirtimeError) -> IntervalPoint {
        let interval = AdvertisingInterval(rawValue: unit)
        let distribution = try latency(interval, horizonSeconds: horizonSeconds).whole
        let model = try model(interval)
        return IntervalPoint(
            interval: interval,
            collisionFreeProbability: model.collisionFreeProbability * model.otherClearProbability,
            p50: distribution.percentile(0.5), p90: distribution.percentile(0.9), p99: distribution.percentile(0.99),
            wanted: wantedShare.flatMap(distribution.percentile), isExtra: isExtra)
    }

    /// Returns the intervals in the middle of the `count` slowest resonances, in units of 0.625 ms. The evenly spaced
    /// points may miss them.
    fileprivate func resonanceCenters(_ count: Int, within range: ClosedRange<UInt32>) throws(AirtimeError) -> [UInt32]
    {
        guard count > 0 else { return [] }
        let step = LatencyModel.stepMicroseconds
        var bands: [(band: Resonance.Band, scanInterval: Double)] = []
        for part in scanners.parts {
            let pattern = part.scanner.pattern
            let bandsOfScanner = try Resonance.bands(
                within: Double(range.lowerBound) * step...Double(range.upperBound) * step, pattern: pattern,
                airtimeMicroseconds: packets.airtimeMicroseconds)
            bands += bandsOfScanner.map { ($0, Double(pattern.intervalMicroseconds)) }
        }
        return bands.sorted { $0.band.worst.slowness > $1.band.worst.slowness }.prefix(count).map {
            band, scanInterval in
            // The interval with k·E = m·I.
            let period = Double(band.worst.scanIntervals) * scanInterval / Double(band.worst.events)
            let ends = band.intervalsMicroseconds
            let center = min(ends.upperBound, max(ends.lowerBound, period - AdvertisingDelay.meanMicroseconds))
            return UInt32((center / step).rounded())
        }
    }
}
