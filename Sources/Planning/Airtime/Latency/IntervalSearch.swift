import BluetoothTypes

/// The search behind `IntervalAdvice`: one fleet, one mix of scanners, many intervals.
struct IntervalSearch: Sendable {
    /// The horizon of the distributions: an hour.
    static let horizonSeconds = 3600.0
    /// The intervals that controllers support and into which all packets of an event fit, in units of 0.625 ms.
    let units: ClosedRange<Int>
    /// The ratio of an interval of the coarse search to the next longer one.
    private static let ratio = 0.94

    let count: Int
    let packets: EventPackets
    let scanners: ScannerMix
    /// ln of the probability that the other advertisements of one other beacon do not hit a packet.
    let logOtherClearProbability: Double

    init(
        count: Int, packets: EventPackets, scanners: ScannerMix, logOtherClearProbability: Double = 0
    ) throws(AirtimeError) {
        guard logOtherClearProbability <= 0 else {
            throw .quantity(name: "a logarithm of a probability", value: logOtherClearProbability)
        }
        self.count = count
        self.packets = packets
        units = packets.units(count: count)
        self.scanners = scanners
        self.logOtherClearProbability = logOtherClearProbability
        // Throws the model's errors before the search.
        _ = try model(limitedInterval(units: units.lowerBound))
    }

    /// Returns the model with the mix's first scanner. Properties that do not depend on the scanner are valid for all
    /// scanners.
    func model(_ interval: AdvertisingInterval) throws(AirtimeError) -> LatencyModel {
        try model(interval, scanners.parts[0].scanner)
    }

    private func model(
        _ interval: AdvertisingInterval, _ preset: ScannerPreset
    ) throws(AirtimeError) -> LatencyModel {
        try model(Double(interval.microseconds), preset)
    }

    private func model(_ interval: Double, _ preset: ScannerPreset) throws(AirtimeError) -> LatencyModel {
        let group = try packets.group(count: count, intervalMicroseconds: interval)
        let other = count > 1 ? exp(Double(count - 1) * logOtherClearProbability) : 1
        return try LatencyModel(
            group: group, preset: preset, otherClearProbability: other)
    }

    func latency(_ interval: AdvertisingInterval, horizonSeconds: Double) throws(AirtimeError) -> MixLatency {
        try MixLatency(scanners, horizonSeconds: horizonSeconds) { preset throws(AirtimeError) in
            try model(interval, preset)
        }
    }

    func distribution(
        _ interval: Double, preset: ScannerPreset, horizonSeconds: Double
    ) throws(AirtimeError) -> LatencyDistribution {
        try model(interval, preset).distribution(horizonSeconds: horizonSeconds)
    }

    /// Returns the share of all detections that take at most `seconds`.
    func share(_ interval: AdvertisingInterval, within seconds: Double) throws(AirtimeError) -> Double {
        try scanners.mean { preset throws(AirtimeError) in
            try model(interval, preset).distribution(untilSeconds: seconds, horizonSeconds: seconds)
                .received(within: seconds) ?? 0
        }
    }

    /// E = w·N/ln 2, within the possible range; w is 2·tau with legacy PDUs.
    var shortestSensible: (interval: AdvertisingInterval, outcome: IntervalOutcome) {
        clamped(meanPeriod: packets.meanWindowMicroseconds * Double(count) / log(2))
    }

    /// E = w·N, where the most collision-free packets arrive; w is 2·tau with legacy PDUs.
    var greatestThroughput: (interval: AdvertisingInterval, outcome: IntervalOutcome) {
        clamped(meanPeriod: packets.meanWindowMicroseconds * Double(count))
    }

    private func clamped(meanPeriod: Double) -> (AdvertisingInterval, IntervalOutcome) {
        let wanted = ((meanPeriod - AdvertisingDelay.meanMicroseconds) / LatencyModel.stepMicroseconds).rounded()
        if wanted < Double(units.lowerBound) { return (limitedInterval(units: units.lowerBound), .clampedToShortest) }
        if wanted > Double(units.upperBound) { return (limitedInterval(units: units.upperBound), .clampedToLongest) }
        return (limitedInterval(units: Int(wanted)), .met)
    }

    /// Returns the interval of this many units of 0.625 ms, limited to ``units``.
    func limitedInterval(units value: Int) -> AdvertisingInterval {
        AdvertisingInterval(rawValue: UInt32(min(max(value, units.lowerBound), units.upperBound)))
    }

    /// A result of the search for the longest interval.
    struct Longest {
        let interval: AdvertisingInterval
        let outcome: IntervalOutcome
        /// True if the intervals that are 1 % shorter and 1 % longer nearly meet the goal too.
        var isSteady = true
    }

    /// Returns the longest interval at which the share `probability` of all detections takes at most `seconds`, among
    /// the examined intervals. If none of them meets this goal, returns the best of them with the shortfall.
    ///
    /// Intervals below ``shortestSensible`` are examined only if all longer intervals miss the goal: with scanners that
    /// pause, a few more events in a window may then outweigh the additional collisions.
    func longest(within seconds: Double, probability: Double) throws(AirtimeError) -> Longest {
        var trials = IntervalTrials(search: self, seconds: seconds, probability: probability)
        let low = Int(shortestSensible.interval.rawValue)
        let lowest = min(low, Int(greatestThroughput.interval.rawValue))
        let high = try max(low, longestConceivable(within: seconds, probability: probability))
        var candidates: [Int] = []
        var missed = high + 1
        var candidate = high
        while true {
            candidates.append(candidate)
            if try trials.meetsTarget(candidate), let refined = try trials.refine(candidate, below: missed) {
                return Longest(
                    interval: limitedInterval(units: refined),
                    outcome: refined == units.upperBound ? .metAtLongest : .met)
            }
            guard candidate > lowest else { break }
            missed = candidate
            let limit = candidate > low ? low : lowest
            candidate = max(limit, min(candidate - 1, Int(Double(candidate) * Self.ratio)))
        }
        var best = (unit: low, share: -1.0)
        for candidate in candidates {
            let share = try trials.share(candidate)
            if share > best.share { best = (candidate, share) }
        }
        // Look between the examined intervals, in ever smaller steps around the best interval.
        var step = max(1, best.unit / 32)
        while true {
            for unit in [best.unit - step, best.unit + step] where (lowest...high).contains(unit) {
                let share = try trials.share(unit)
                if share > best.share { best = (unit, share) }
            }
            guard step > 1 else { break }
            step /= 2
        }
        // An interval that meets the goal is better than an interval that misses it, even if its neighbors miss the
        // goal.
        if best.share >= probability {
            return Longest(interval: limitedInterval(units: best.unit), outcome: .met, isSteady: false)
        }
        let shortfall = try shortfall(
            at: limitedInterval(units: best.unit), best.share, within: seconds, probability: probability)
        return Longest(interval: limitedInterval(units: best.unit), outcome: .impossible(shortfall))
    }

    /// Returns an upper limit of the intervals that can meet the goal, in units of 0.625 ms. On average, at most
    /// seconds/E·(share of events in a window) events are received in time. If the goal is met, this number is at least
    /// `probability`.
    private func longestConceivable(within seconds: Double, probability: Double) throws(AirtimeError) -> Int {
        let share = try scanners.mean { preset throws(AirtimeError) in
            try model(limitedInterval(units: units.upperBound), preset).windowShare
        }
        let period = seconds * 1_000_000 * share / probability
        let longest = (period - AdvertisingDelay.meanMicroseconds) / LatencyModel.stepMicroseconds
        return Int(min(max(longest, Double(units.lowerBound)), Double(units.upperBound)))
    }

    private func shortfall(
        at interval: AdvertisingInterval, _ share: Double, within seconds: Double, probability: Double
    ) throws(AirtimeError) -> IntervalOutcome.Shortfall {
        let distribution = try latency(
            interval, horizonSeconds: min(Self.horizonSeconds, max(60, 10 * seconds))
        ).whole
        let continuous = try IntervalSearch(
            count: count, packets: packets, scanners: ScannerMix(.continuous),
            logOtherClearProbability: logOtherClearProbability)
        let fewerBeacons = try mostBeacons(within: seconds, probability: probability)
        var intervalOfFewer: AdvertisingInterval?
        if let fewerBeacons {
            intervalOfFewer = try IntervalSearch(
                count: fewerBeacons, packets: packets, scanners: scanners,
                logOtherClearProbability: logOtherClearProbability
            ).longest(within: seconds, probability: probability).interval
        }
        return IntervalOutcome.Shortfall(
            share: share, seconds: distribution.percentile(probability), beacons: fewerBeacons,
            intervalOfFewer: intervalOfFewer,
            continuousShare: try continuous.share(interval, within: seconds))
    }

    /// Returns the largest number of beacons that meets the goal at its shortest sensible interval, to about 2 %; nil
    /// if a single beacon misses the goal. Found by bisection.
    private func mostBeacons(within seconds: Double, probability: Double) throws(AirtimeError) -> Int? {
        var low = 0
        var high = count
        while high - low > max(1, low / 50) {
            let middle = (low + high) / 2
            let smallerFleet = try IntervalSearch(
                count: middle, packets: packets, scanners: scanners, logOtherClearProbability: logOtherClearProbability)
            let share = try smallerFleet.share(smallerFleet.shortestSensible.interval, within: seconds)
            if share >= probability { low = middle } else { high = middle }
        }
        return low > 0 ? low : nil
    }
}

/// The shares of the intervals that were tried, so that no share is computed twice. Intervals are in units of 0.625 ms.
private struct IntervalTrials {
    let search: IntervalSearch
    let seconds: Double
    let probability: Double
    private var shares: [Int: Double] = [:]

    init(search: IntervalSearch, seconds: Double, probability: Double) {
        self.search = search
        self.seconds = seconds
        self.probability = probability
    }

    /// Returns the share of all detections that take at most ``seconds``.
    mutating func share(_ unit: Int) throws(AirtimeError) -> Double {
        let interval = search.limitedInterval(units: unit)
        if let known = shares[Int(interval.rawValue)] { return known }
        let share = try search.share(interval, within: seconds)
        shares[Int(interval.rawValue)] = share
        return share
    }

    /// Returns true if the share received in time is at least ``probability``.
    mutating func meetsTarget(_ unit: Int) throws(AirtimeError) -> Bool { try share(unit) >= probability }

    /// Returns the longest interval below `end` that meets the target together with its neighbors; nil if no interval
    /// does.
    ///
    /// `unit` meets the target, and `end` misses it. The search bisects between them, and then tries a few shorter
    /// intervals until the neighbors nearly meet the target too.
    mutating func refine(_ unit: Int, below end: Int) throws(AirtimeError) -> Int? {
        var low = unit
        var high = end
        while high - low > max(1, low / 400) {
            let middle = (low + high) / 2
            if try meetsTarget(middle) { low = middle } else { high = middle }
        }
        let candidates = [low, low - low / 100, low - low / 50, unit]
        for candidate in candidates where candidate >= search.units.lowerBound {
            if try meetsTargetNearby(around: candidate) { return candidate }
        }
        return nil
    }

    /// Returns true if the interval meets the target, and both neighbors miss it by at most a tenth of 1 -
    /// `probability`.
    private mutating func meetsTargetNearby(around unit: Int) throws(AirtimeError) -> Bool {
        guard try meetsTarget(unit) else { return false }
        let leastShare = probability - 0.1 * (1 - probability)
        for neighbor in [unit - max(1, unit / 100), unit + max(1, unit / 100)] {
            guard try share(neighbor) >= leastShare else { return false }
        }
        return true
    }
}

/// The packets of one advertising event of equal advertisers.
struct EventPackets: Hashable, Sendable {
    /// tau in µs; with extended PDUs, the airtime of the ADV_EXT_IND on one primary channel.
    let airtimeMicroseconds: Double
    /// The auxiliary packets of extended PDUs; nil for legacy PDUs.
    let extended: ExtendedTraffic?

    func group(count: Int, intervalMicroseconds: Double) throws(AirtimeError) -> AdvertiserGroup {
        try AdvertiserGroup(
            count: count, intervalMicroseconds: intervalMicroseconds, airtimeMicroseconds: airtimeMicroseconds,
            extended: extended)
    }

    /// w in µs: the mean length of the window of start times at which another event destroys an event; 2·tau with
    /// legacy PDUs.
    var meanWindowMicroseconds: Double {
        extended.map { $0.meanWindowMicroseconds(against: $0) } ?? 2 * airtimeMicroseconds
    }

    /// Returns the intervals, in units of 0.625 ms, that controllers support and into which all packets of an event
    /// fit. With several advertisers they are also so long that two events of one advertiser cannot hit the same event
    /// of another advertiser.
    func units(count: Int) -> ClosedRange<Int> {
        let (shortest, longest) = (0x20, 0x4000)
        guard let extended else { return shortest...longest }
        let event = Double(extended.event.shortestMicroseconds())
        let needed = count > 1 ? max(event, extended.spanMicroseconds(against: extended)) : event
        return min(longest, max(shortest, Int((needed / LatencyModel.stepMicroseconds).rounded(.up))))...longest
    }
}
