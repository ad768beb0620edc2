/// The time from a random instant until a given advertiser is first received by a scanner with one radio.
///
/// Counted to the start of the first advertising event one of whose copies is received: wholly inside a window on its
/// channel, and clear. The copies on channels 37, 38, 39 follow each other in `copySpacingMicroseconds`; every
/// advertiser of the fleet has the same, so that the copies of an event collide together.
///
/// The law of the wait between two received events comes from a recursion over time (`GapRecursion`), exact for one
/// advertiser up to the grid of 0.625 ms; the latency follows from it, because a random instant lies in a wait with a
/// probability in proportion to its length: P(L ≤ t) = 1/mean · ∫₀ᵗ P(wait > s) ds.
public struct LatencyModel: Hashable, Sendable {
    /// How the losses of one advertiser's events depend on each other.
    public enum Losses: Hashable, Sendable {
        /// All advertisers keep the same interval: collisions repeat (see `RunsModel`).
        case inRuns
        /// Intervals spread over the fleet: every event is lost or not on its own.
        case independent
    }

    /// The step of the recursion in µs: the controllers' unit, which divides every interval and advDelay.
    public static let stepMicroseconds = 625.0
    /// T in µs that controllers can be set to: 20 ms...10.24 s.
    public static let intervalRange = 20_000.0...10_240_000.0
    /// The longest scan interval in µs that a controller can be asked for, 0xFFFF units of 0.625 ms.
    public static let longestScanInterval = 40_959_375
    /// The longest time that a distribution may be asked for, in seconds.
    public static let longestHorizonSeconds = 86_400.0

    /// The fleet within range, the asked advertiser included.
    public let group: AdvertiserGroup
    public let pattern: ScanPattern
    /// c in µs, from the start of one copy to the start of the next.
    public let copySpacingMicroseconds: Double
    /// g in µs: what each window loses at its beginning, while the radio changes its channel.
    public let windowGapMicroseconds: Double
    /// t_d in µs: how long the scanner is deaf after each packet that it decoded.
    public let deadTimeMicroseconds: Double
    /// The probability that nothing else spoils a packet: strangers, fading.
    public let otherClearProbability: Double
    public let losses: Losses
    /// J in µs: 10 ms, or 0 for an advertiser without advDelay (which the specification does not allow).
    public let advertisingDelayMicroseconds: Double

    /// Refuses an empty fleet, an interval outside 20 ms...10.24 s, a scan interval above 40.96 s, an airtime above
    /// 5 ms, a copy spacing shorter than the airtime or above 1 s, negative times, and a probability outside 0...1.
    public init(
        group: AdvertiserGroup, pattern: ScanPattern, copySpacingMicroseconds: Double = 1000,
        windowGapMicroseconds: Double = 0, deadTimeMicroseconds: Double = 0, otherClearProbability: Double = 1,
        losses: Losses = .inRuns, withAdvertisingDelay: Bool = true
    ) throws(AirtimeError) {
        guard group.count >= 1 else { throw .count(group.count) }
        guard Self.intervalRange.contains(group.intervalMicroseconds) else {
            throw .interval(group.intervalMicroseconds)
        }
        guard group.airtimeMicroseconds <= AdvertisingDelay.meanMicroseconds else {
            throw .airtime(group.airtimeMicroseconds)
        }
        guard pattern.intervalMicroseconds <= Self.longestScanInterval else {
            throw .scan(
                windowMicroseconds: pattern.windowMicroseconds, intervalMicroseconds: pattern.intervalMicroseconds)
        }
        guard copySpacingMicroseconds >= group.airtimeMicroseconds, copySpacingMicroseconds <= 1_000_000 else {
            throw .quantity(name: "a copy spacing in µs", value: copySpacingMicroseconds)
        }
        guard windowGapMicroseconds >= 0, windowGapMicroseconds.isFinite else {
            throw .quantity(name: "a window gap in µs", value: windowGapMicroseconds)
        }
        guard deadTimeMicroseconds >= 0, deadTimeMicroseconds.isFinite else {
            throw .quantity(name: "a dead time in µs", value: deadTimeMicroseconds)
        }
        guard otherClearProbability >= 0, otherClearProbability <= 1 else { throw .share(otherClearProbability) }
        self.group = group
        self.pattern = pattern
        self.copySpacingMicroseconds = copySpacingMicroseconds
        self.windowGapMicroseconds = windowGapMicroseconds
        self.deadTimeMicroseconds = deadTimeMicroseconds
        self.otherClearProbability = otherClearProbability
        self.losses = losses
        advertisingDelayMicroseconds = withAdvertisingDelay ? AdvertisingDelay.maximumMicroseconds : 0
    }

    /// The fleet against a preset, with the preset's gap and dead time.
    public init(
        group: AdvertiserGroup, preset: ScannerPreset, copySpacingMicroseconds: Double = 1000,
        otherClearProbability: Double = 1
    ) throws(AirtimeError) {
        try self.init(
            group: group, pattern: preset.pattern, copySpacingMicroseconds: copySpacingMicroseconds,
            windowGapMicroseconds: preset.windowGapMicroseconds, deadTimeMicroseconds: preset.deadTimeMicroseconds,
            otherClearProbability: otherClearProbability)
    }

    /// E in µs.
    public var meanPeriodMicroseconds: Double {
        group.intervalMicroseconds + advertisingDelayMicroseconds / 2
    }

    /// The probability that a packet is clear of the fleet on its channel: (1 - 2·tau/E)^(N-1).
    public var collisionFreeProbability: Double {
        pow(1 - 2 * group.airtimeMicroseconds / meanPeriodMicroseconds, Double(group.count - 1))
    }

    /// The probability that the scanner is not still busy with another packet: 1/(1 + λ·t_d), λ the rate of clear
    /// packets offered.
    public var scannerReadyProbability: Double {
        let offered = Double(group.count) / meanPeriodMicroseconds * collisionFreeProbability * otherClearProbability
        return 1 / (1 + offered * deadTimeMicroseconds)
    }

    /// The share of events that fall into a window, at least with one copy.
    public var windowShare: Double { coverage.share }

    var coverage: CoverageSet {
        CoverageSet(
            pattern: pattern, airtime: group.airtimeMicroseconds, copySpacing: copySpacingMicroseconds,
            gap: windowGapMicroseconds, step: Self.stepMicroseconds)
    }
}

extension LatencyModel {
    /// The distribution of the latency.
    ///
    /// It reaches at least to `untilSeconds`, and on until 99.5 % are received, but never beyond `horizonSeconds`,
    /// which may be at most a day: at a resonance discovery takes minutes or hours. The horizon of the result says
    /// how far it reaches. Refuses times that are negative or no numbers, and `untilSeconds` beyond the horizon.
    public func distribution(
        untilSeconds: Double = 0, horizonSeconds: Double = 3600
    ) throws(AirtimeError) -> LatencyDistribution {
        try distribution(
            untilSeconds: untilSeconds, horizonSeconds: horizonSeconds,
            patterns: HitPatterns(width: group.airtimeMicroseconds / AdvertisingDelay.maximumMicroseconds))
    }

    /// - Parameter shares: Where they are given, only the times by which these are received are of interest, ascending:
    ///   the distribution ends as soon as no more of them can be reached within the horizon.
    func distribution(
        untilSeconds: Double, horizonSeconds: Double, of shares: [Double] = [],
        patterns: @autoclosure () -> HitPatterns
    ) throws(AirtimeError) -> LatencyDistribution {
        guard horizonSeconds > 0, horizonSeconds <= Self.longestHorizonSeconds else {
            throw .quantity(name: "a horizon in s", value: horizonSeconds)
        }
        guard untilSeconds >= 0, untilSeconds <= horizonSeconds else {
            throw .quantity(name: "a time in s", value: untilSeconds)
        }
        let chain = try lossChain(patterns: patterns())
        let coverage = coverage
        let step = Self.stepMicroseconds
        let kernel = PeriodKernel(
            intervalSteps: group.intervalMicroseconds / step, jitterSteps: Int(advertisingDelayMicroseconds / step))
        let limit = Int((horizonSeconds * 1_000_000 / step).rounded(.up))
        let wanted = Int((untilSeconds * 1_000_000 / step).rounded(.up))
        let receivedPerStep = coverage.share * chain.received * step / meanPeriodMicroseconds
        var curve = LatencyCurve(receivedPerStep: receivedPerStep)
        if receivedPerStep * Double(limit) < 1e-4 {
            // So seldom that no second reception comes into play.
            curve.extend(to: Double(limit))
            return LatencyDistribution(
                curve: curve, stepSeconds: step / 1_000_000, isExhausted: false, lostMass: 0, knownError: knownError)
        }
        var recursion = GapRecursion(coverage: coverage, kernel: kernel, chain: chain)
        let longestPeriod = Double(kernel.steps + kernel.width)
        let cycle = recursion.isEven ? longestPeriod : coverage.cycle(longestPeriod: longestPeriod)
        while recursion.completeSteps < limit {
            recursion.advance(limit: limit)
            curve.extend(by: recursion)
            if recursion.isFinished { break }
            if let next = shares.first(where: { $0 > curve.received.last ?? 0 }), curve.bound(at: Double(limit)) < next
            {
                break
            }
            if recursion.completeSteps >= wanted, curve.received.last ?? 0 >= Self.completeShare { break }
            if curve.continues(cycle: cycle, until: limit, wanted: wanted, share: Self.completeShare) { break }
        }
        return LatencyDistribution(
            curve: curve, stepSeconds: step / 1_000_000, isExhausted: recursion.isFinished && receivedPerStep > 0,
            lostMass: recursion.lostMass, knownError: knownError)
    }

    private func lossChain(patterns: @autoclosure () -> HitPatterns) throws(AirtimeError) -> LossChain {
        let other = otherClearProbability * scannerReadyProbability
        guard losses == .inRuns, group.count > 1 else {
            return LossChain(independent: collisionFreeProbability * other)
        }
        let runs = try RunsModel(group: group, otherClearProbability: other, patterns: patterns())
        // Without a pause runs grow as long as they like; windows cut them, so that fewer states do.
        let limit = coverage.share >= GapRecursion.evenShare ? RunsModel.longest : 6
        return LossChain(runs: runs, limit: limit)
    }

    /// The curve ends here, where no one asks for later times.
    private static let completeShare = 0.995

    /// Why the result may be more than 2 % off; nil when it is not.
    private var knownError: String? {
        guard losses == .inRuns, collisionFreeProbability < 0.95, pattern.windowMicroseconds < 100_000,
            pattern.windowMicroseconds < pattern.intervalMicroseconds
        else { return nil }
        return "windows under 100 ms: collisions that repeat from one window to the next are left out, so that high "
            + "percentiles come out up to 5 % too short"
    }
}
