public import BluetoothTypes

/// The goal by which schedules are compared.
public enum PatternGoal: Hashable, Sendable {
    /// The shortest mean time to discovery of a visitor of the mix.
    case mean
    /// The shortest time within which this share of all visitors finds the beacon; above 0 and below 1.
    case percentile(Double)
    /// The largest share of visitors that find the beacon within a time in s.
    case found(withinSeconds: Double)
}

/// A constant interval, or a pattern.
public enum IntervalSchedule: Hashable, Sendable {
    case constant(AdvertisingInterval)
    case pattern(AdvertisingPattern)

    /// The mean number of events in a second.
    public var eventsPerSecond: Double {
        switch self {
        case .constant(let interval): 1_000_000 / Double(interval.meanPeriodMicroseconds)
        case .pattern(let pattern): 1_000_000 / pattern.meanPeriodMicroseconds
        }
    }
}

/// Finds the best constant interval, and the best patterns of two and three intervals, with at most ``eventsPerSecond``
/// events in a second on average.
///
/// First, a coarse search varies the intervals and the duration of the fast part. Then each value is changed as long as
/// the result improves. The slowest part is just long enough to keep the mean number of events within the limit. The
/// result is a good pattern, not a proven optimum.
public struct PatternSearch: Sendable {
    public let scanners: ScannerMix
    /// The beacons in range that have the same schedule, including the target beacon.
    public let count: Int
    /// The packets of an event.
    private let packets: EventPackets
    public let goal: PatternGoal
    /// The largest mean number of events in a second.
    public let eventsPerSecond: Double

    /// The range of ``eventsPerSecond``: from one event per longest interval to one event per shortest interval.
    public static let eventRange = 1 / 10.245...40.0

    /// - Parameters:
    ///   - airtimeMicroseconds: tau in µs; with extended PDUs, the airtime of the packet on one primary channel.
    ///   - extended: The auxiliary packets of extended PDUs; nil for legacy PDUs.
    ///
    /// Throws for a number of events outside ``eventRange``, a share outside 0...1, a time that is not positive, and
    /// the errors of the models.
    public init(
        scanners: ScannerMix, count: Int = 1, airtimeMicroseconds: Double, extended: ExtendedTraffic? = nil,
        goal: PatternGoal = .mean, eventsPerSecond: Double
    ) throws(AirtimeError) {
        try Quantity.check(eventsPerSecond, in: Self.eventRange, "a number of events in a second (0.0977...40)")
        switch goal {
        case .mean: break
        case .percentile(let share): guard share > 0, share < 1 else { throw .share(share) }
        case .found(let seconds):
            try Quantity.check(seconds, in: 0.001...LatencyModel.longestHorizonSeconds, "a time in s")
        }
        self.scanners = scanners
        self.count = count
        packets = EventPackets(airtimeMicroseconds: airtimeMicroseconds, extended: extended)
        units = packets.units(count: count)
        self.goal = goal
        self.eventsPerSecond = eventsPerSecond
        _ = try latency(of: shortest, untilSeconds: 0, horizonSeconds: 1)
    }

    /// The shortest constant interval that ``eventsPerSecond`` allows.
    var shortest: AdvertisingInterval {
        let wanted = (1_000_000 / eventsPerSecond - Double(AdvertisingInterval.meanDelayMicroseconds)) / 625
        // If the number of events was computed from an interval, the result is this interval despite rounding errors.
        let units = Int((wanted - 1e-6).rounded(.up))
        return AdvertisingInterval(rawValue: UInt32(min(max(units, self.units.lowerBound), self.units.upperBound)))
    }

    /// The intervals that controllers support and into which all packets of an event fit, in units of 0.625 ms.
    private let units: ClosedRange<Int>

    /// The latency with a schedule. Events are lost independently of each other.
    public func latency(
        of schedule: IntervalSchedule, untilSeconds: Double = 0, horizonSeconds: Double = 3600
    ) throws(AirtimeError) -> MixLatency {
        switch schedule {
        case .constant(let interval):
            return try latency(of: interval, untilSeconds: untilSeconds, horizonSeconds: horizonSeconds)
        case .pattern(let pattern):
            return try MixLatency(
                scanners, untilSeconds: untilSeconds, horizonSeconds: horizonSeconds,
                pattern: { scanner throws(AirtimeError) in try model(pattern, scanner) })
        }
    }

    private static let copySpacing = 1000.0

    /// - Parameter workLimit: The number of additions after which the distribution is extrapolated.
    private func latency(
        of interval: AdvertisingInterval, untilSeconds: Double, horizonSeconds: Double,
        workLimit: Int = LatencyModel.workLimit
    ) throws(AirtimeError) -> MixLatency {
        let group = try packets.group(count: count, intervalMicroseconds: Double(interval.microseconds))
        return try MixLatency(
            scanners, untilSeconds: untilSeconds, horizonSeconds: horizonSeconds, workLimit: workLimit
        ) { scanner throws(AirtimeError) in
            try LatencyModel(
                group: group, pattern: scanner.pattern,
                copySpacingMicroseconds: max(Self.copySpacing, packets.airtimeMicroseconds),
                windowGapMicroseconds: scanner.windowGapMicroseconds,
                deadTimeMicroseconds: scanner.deadTimeMicroseconds, losses: .independent)
        }
    }

    private func model(_ pattern: AdvertisingPattern, _ scanner: ScannerPreset) throws(AirtimeError)
        -> PatternLatencyModel
    {
        let mean = try packets.group(count: count, intervalMicroseconds: Double(pattern.meanInterval.microseconds))
        return try PatternLatencyModel(
            pattern: pattern, count: count, airtimeMicroseconds: packets.airtimeMicroseconds, scanner: scanner,
            otherClearProbability: mean.auxiliaryClearProbability)
    }

    /// Returns the value of the goal: a time in s, or the share of visitors that do not find the beacon in time. A
    /// lower value is better. The value is infinite if it is unknown.
    public func cost(of latency: MixLatency) -> Double {
        switch goal {
        case .mean: latency.whole.meanSeconds ?? .infinity
        case .percentile(let share): latency.whole.percentile(share) ?? .infinity
        case .found(let seconds): 1 - (latency.whole.received(within: seconds) ?? 0)
        }
    }

    // MARK: One interval

    /// The best constant interval.
    public func bestInterval() throws(AirtimeError) -> AdvertisingInterval {
        let low = Int(shortest.rawValue)
        let high = min(units.upperBound, max(low + 1, Int(Double(low) * Self.triedMultiple)))
        var best = (units: low, cost: try cost(ofUnits: low, workLimit: Self.trialWorkLimit))
        func attempt(_ units: Int) throws(AirtimeError) {
            let cost = try cost(ofUnits: units, workLimit: Self.trialWorkLimit)
            if cost < best.cost { best = (units, cost) }
        }
        var units = low
        while units < high {
            units = max(units + 1, Int(Double(units) * Self.ratio))
            try attempt(min(units, high))
        }
        var step = max(1, Int(Double(best.units) * (Self.ratio - 1)) / 2)
        while step >= 1 {
            let middle = best.units
            for units in [middle - step, middle + step] where units >= low && units <= high { try attempt(units) }
            step /= 2
        }
        // The latencies of the trials may be extrapolated. So the shortest interval is replaced only if the other
        // interval is also better with the full work limit.
        if best.units != low {
            let whole = LatencyModel.workLimit
            if try cost(ofUnits: low, workLimit: whole) <= cost(ofUnits: best.units, workLimit: whole) {
                best.units = low
            }
        }
        return AdvertisingInterval(rawValue: UInt32(best.units))
    }

    /// The number of additions after which a trial is extrapolated.
    private static let trialWorkLimit = 4_000_000

    /// Intervals up to this multiple of the shortest interval are tried, because a longer interval may avoid a
    /// resonance.
    private static let triedMultiple = 2.0
    /// The ratio of each interval that is tried to the previous one.
    private static let ratio = 1.02

    private func cost(ofUnits units: Int, workLimit: Int) throws(AirtimeError) -> Double {
        let interval = AdvertisingInterval(rawValue: UInt32(units))
        switch goal {
        case .found(let seconds):
            return cost(
                of: try latency(of: interval, untilSeconds: seconds, horizonSeconds: seconds, workLimit: workLimit))
        case .mean, .percentile:
            let horizon = Self.searchHorizon
            let latency = try latency(of: interval, untilSeconds: 0, horizonSeconds: horizon, workLimit: workLimit)
            let cost = cost(of: latency)
            // If the goal's time is beyond the search horizon, its exact value is unknown. The cost is then above the
            // horizon, and falls with the share that is found within the horizon.
            return cost.isFinite ? cost : horizon * (2 - (latency.whole.received(within: horizon) ?? 0))
        }
    }

    private static let searchHorizon = 600.0

    // MARK: Patterns

    /// The best patterns of two and of three intervals; each is `nil` if every such pattern has more events than
    /// allowed.
    ///
    /// - Parameter seconds: The goal's value with the best constant interval. It determines how long the trials of
    ///   patterns are followed.
    public func bestAdvertisingPatterns(
        constantCost seconds: Double
    ) throws(AirtimeError) -> (two: AdvertisingPattern?, three: AdvertisingPattern?) {
        var trials = try Trials(self, constantCost: seconds)
        let seeds = trials.coarse()
        guard let two = trials.best(of: seeds + trials.refined(seeds, share: 0.6)) else { return (nil, nil) }
        let longer = trials.withMiddlePart(two)
        let three = trials.best(of: longer + trials.refined(longer, share: 1))
        return (two.pattern, three?.pattern)
    }

    /// The fast parts of a pattern and the interval of its slowest part. The slowest part is just long enough to keep
    /// the mean number of events within the limit.
    private struct PatternTrial {
        /// Intervals in units of 0.625 ms, and durations in ms.
        var fast: [(units: Int, milliseconds: Int)]
        var slowUnits: Int
        /// The pattern of all parts; nil until the duration of the slowest part is known.
        var pattern: AdvertisingPattern?
    }

    /// The trials of a search. All trials use the same starts (see ``PatternLatencyModel``), so that equal patterns
    /// have equal costs.
    private struct Trials {
        private let search: PatternSearch
        private let models: [(share: Double, scanner: ScannerPreset)]
        private let horizon: Double
        /// The approximate number of additions so far.
        private var work = 0
        /// The number of additions at which the search ends.
        private static let workLimit = 120_000_000.0

        private static let fewestStarts = 8
        private static let fewStarts = 48
        private static let manyStarts = 192
        private static let mostStarts = 768
        /// The share of ``workLimit`` that one comparison of trials may take.
        private static let comparedShare = 0.3
        /// The number of trials of the coarse search that are refined.
        private static let seedCount = 3
        private static let longestSlow = 120_000

        init(_ search: PatternSearch, constantCost: Double) throws(AirtimeError) {
            self.search = search
            models = search.scanners.parts.map { ($0.share, $0.scanner) }
            horizon =
                switch search.goal {
                case .mean: min(600, max(10, 5 * constantCost))
                case .percentile: min(600, max(10, 3 * constantCost))
                case .found(let seconds): seconds
                }
        }

        /// - Parameter units: The length of a step, as in ``PatternLatencyModel/curve(starts:horizonSeconds:units:)``.
        private mutating func cost(_ pattern: AdvertisingPattern, starts: Int, units: Int = 4) -> Double {
            var curves: [(share: Double, curve: FirstReceptions)] = []
            for (share, scanner) in models {
                guard let model = try? search.model(pattern, scanner) else { return .infinity }
                let curve = model.curve(starts: starts, horizonSeconds: horizon, units: units)
                work += curve.work
                curves.append((share, curve))
            }
            switch search.goal {
            case .mean: return curves.reduce(0) { $0 + $1.share * $1.curve.meanSeconds }
            case .percentile(let share):
                return FirstReceptions.time(ofShare: share, in: curves) ?? horizon
                    * (1 + FirstReceptions.unreceived(in: curves))
            case .found: return FirstReceptions.unreceived(in: curves)
            }
        }

        /// Returns the trial with a slow part that is just long enough to keep the number of events within the limit;
        /// `nil` if no duration does, or if a part would be too short.
        private func completed(_ trial: PatternTrial) -> PatternTrial? {
            let rate = search.eventsPerSecond / 1000
            let slowMicroseconds = trial.slowUnits * 625
            let slowRate = 1000 / Double(slowMicroseconds + AdvertisingInterval.meanDelayMicroseconds)
            let units = trial.fast.map(\.units) + [trial.slowUnits]
            guard slowRate < rate, Set(units).count == units.count else { return nil }
            var parts: [AdvertisingPattern.Part] = []
            for part in trial.fast {
                guard part.milliseconds * 1000 >= max(part.units * 625, AdvertisingPattern.durationRange.lowerBound)
                else { return nil }
                parts.append(Self.part(part.units, part.milliseconds))
            }
            // Only the duration of the last part is varied, so the events of the other parts are counted once.
            guard let probe = AdvertisingPattern(parts + [Self.part(trial.slowUnits, 1)]) else { return nil }
            let events = parts.indices.reduce(0) { $0 + probe.events(inPart: $1) }
            let fastMilliseconds = trial.fast.reduce(0) { $0 + $1.milliseconds }
            let needed = (events + 0.5 - rate * Double(fastMilliseconds)) / (rate - slowRate)
            let shortestMilliseconds = max(500, (slowMicroseconds + 999) / 1000)
            var milliseconds = max(shortestMilliseconds, Int(needed) - slowMicroseconds / 1000) / 50 * 50
            if milliseconds < shortestMilliseconds { milliseconds += 50 }
            while milliseconds <= Self.longestSlow {
                guard let pattern = AdvertisingPattern(parts + [Self.part(trial.slowUnits, milliseconds)]) else {
                    return nil
                }
                if events + pattern.events(inPart: parts.count) <= rate * Double(fastMilliseconds + milliseconds) {
                    var copy = trial
                    copy.pattern = pattern
                    return copy
                }
                milliseconds += 50
            }
            return nil
        }

        private static func part(_ units: Int, _ milliseconds: Int) -> AdvertisingPattern.Part {
            .init(
                interval: RequestedInterval(AdvertisingInterval(rawValue: UInt32(units))),
                durationMicroseconds: milliseconds * 1000)
        }

        /// The best trials of a coarse search over two intervals.
        mutating func coarse() -> [PatternTrial] {
            let constantUnits = Int(search.shortest.rawValue)
            var candidates: [(trial: PatternTrial, cost: Double)] = []
            // The fast interval is very short, so that a beacon is found at once, or just below the constant interval.
            // In the second case, the fast and the slow interval are on both sides of the constant interval, which
            // avoids a resonance.
            let short = [search.units.lowerBound, 96, 240, 640].filter { $0 * 2 < constantUnits }
            let near = [0.6, 0.75, 0.88].map { Int(Double(constantUnits) * $0) / 4 * 4 }
            let fast = (near + short).filter { search.units.contains($0) }
            let slow = [1.08, 1.15, 1.3, 1.6, 2.5, 5].map { Int(Double(constantUnits) * $0) / 4 * 4 }
                .filter { search.units.contains($0) }
            for units in fast {
                for milliseconds in [500, 2000, 6000, 15_000] {
                    for slowUnits in slow {
                        let trial = PatternTrial(fast: [(units, milliseconds)], slowUnits: slowUnits)
                        guard Double(work) < 0.4 * Self.workLimit || candidates.isEmpty,
                            let completedTrial = completed(trial),
                            let pattern = completedTrial.pattern
                        else { continue }
                        candidates.append((completedTrial, cost(pattern, starts: Self.fewStarts)))
                    }
                }
            }
            // Trials with the same slow interval are refined to nearly the same pattern, so only the best of them is
            // kept.
            var slowIntervals: Set<Int> = []
            return candidates.sorted { $0.cost < $1.cost }.filter { slowIntervals.insert($0.trial.slowUnits).inserted }
                .prefix(Self.seedCount).map(\.trial)
        }

        /// Returns the best of the given trials. The comparison uses more starts than the search, and the shortest
        /// steps.
        mutating func best(of trials: [PatternTrial]) -> PatternTrial? {
            var best: (trial: PatternTrial, cost: Double)?
            var starts: Int?
            for trial in trials {
                guard let pattern = trial.pattern else { continue }
                let count = starts ?? comparedStarts(pattern, trials: trials.count)
                starts = count
                let cost = cost(pattern, starts: count, units: 1)
                if cost < best?.cost ?? .infinity { best = (trial, cost) }
            }
            return best?.trial ?? trials.first
        }

        /// Returns the number of starts with which trials are compared: fewer if each start takes more computation.
        private mutating func comparedStarts(_ pattern: AdvertisingPattern, trials: Int) -> Int {
            let before = work
            _ = cost(pattern, starts: Self.fewestStarts, units: 1)
            let workPerStart = Double(max(1, work - before)) / Double(Self.fewestStarts)
            let affordable = Self.comparedShare * Self.workLimit / Double(trials) / workPerStart
            return min(Self.mostStarts, max(Self.fewStarts, Int(affordable)))
        }

        /// Returns trials with three intervals: the given trial with a second fast part before its slow part. The
        /// interval of this part is the shortest constant interval, or the mean of the shortest constant interval and
        /// the interval of the first part.
        func withMiddlePart(_ trial: PatternTrial) -> [PatternTrial] {
            let constantUnits = Int(search.shortest.rawValue)
            let first = trial.fast[0]
            return [(first.units + constantUnits) / 2, constantUnits].compactMap { units in
                let second = (
                    units: max(units / 4 * 4, search.units.lowerBound),
                    milliseconds: max(first.milliseconds, (units * 625 + 999) / 1000)
                )
                return completed(PatternTrial(fast: [first, second], slowUnits: trial.slowUnits))
            }
        }

        /// Refines trials one after the other.
        ///
        /// - Parameter share: The share of ``workLimit`` after which refining ends.
        mutating func refined(_ trials: [PatternTrial], share: Double) -> [PatternTrial] {
            var refined: [PatternTrial] = []
            let (before, remainingWork) = (Double(work), share * Self.workLimit - Double(work))
            for (index, trial) in trials.enumerated() {
                refined.append(refine(trial, until: before + remainingWork * Double(index + 1) / Double(trials.count)))
            }
            return refined
        }

        /// Changes each value of a trial as long as the cost falls.
        private mutating func refine(_ start: PatternTrial, until limit: Double) -> PatternTrial {
            var best = start
            var leastCost = start.pattern.map { cost($0, starts: Self.manyStarts) } ?? .infinity
            for factor in [1.25, 1.06] {
                var isBetter = true
                var rounds = 0
                while isBetter, rounds < 3, Double(work) < limit {
                    isBetter = false
                    rounds += 1
                    for valueIndex in 0...2 * best.fast.count {
                        for factor in [factor, 1 / factor] {
                            guard let trial = completed(scaled(best, valueIndex: valueIndex, by: factor)),
                                let pattern = trial.pattern, pattern != best.pattern
                            else { continue }
                            guard Double(work) < limit else { return best }
                            let cost = cost(pattern, starts: Self.manyStarts)
                            if cost < leastCost { (best, leastCost, isBetter) = (trial, cost, true) }
                        }
                    }
                }
            }
            return best
        }

        /// Returns the trial with one value multiplied by `factor`.
        ///
        /// - Parameter valueIndex: The index of the value in the list of all values: interval and duration of each fast
        ///   part, then the slow interval.
        private func scaled(_ trial: PatternTrial, valueIndex: Int, by factor: Double) -> PatternTrial {
            var copy = trial
            func units(_ value: Int) -> Int {
                let wanted = Int((Double(value) * factor / 4).rounded()) * 4
                return min(max(wanted, search.units.lowerBound), search.units.upperBound)
            }
            let part = valueIndex / 2
            if part == copy.fast.count {
                copy.slowUnits = units(copy.slowUnits)
            } else if valueIndex % 2 == 0 {
                copy.fast[part].units = units(copy.fast[part].units)
            } else {
                let wanted = Int((Double(copy.fast[part].milliseconds) * factor / 50).rounded()) * 50
                copy.fast[part].milliseconds = max(500, wanted)
            }
            return copy
        }
    }
}
