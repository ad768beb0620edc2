/// The time from a random instant until a scanner with one radio first receives a given advertiser.
///
/// The time ends with the start of the first advertising event of which the scanner receives a copy: the copy lies
/// wholly inside a window on its channel, and nothing collides with it. The copies on channels 37, 38 and 39 follow
/// each other at `copySpacingMicroseconds`. All advertisers of the fleet have the same spacing, so the copies of an
/// event collide together. A scanner that received the ADV_EXT_IND of extended PDUs follows the pointer to the
/// auxiliary packets, even after the end of its window.
///
/// The model follows the phase of the scanner's cycle at which each event starts (`PhaseDistribution`), event by event.
/// The probability that an event in a window is received depends on how many events in windows were lost right before
/// it (``RunsModel``), because losses come in runs.
public struct LatencyModel: Equatable, Sendable {
    /// The dependence between the losses of one advertiser's events.
    public enum Losses: Hashable, Sendable {
        /// All advertisers have the same interval, so collisions repeat (see `RunsModel`).
        case inRuns
        /// The intervals are spread over the fleet, so each event is lost independently.
        case independent
    }

    /// The step of the recursion in µs: the unit of controllers. All intervals and the maximum of advDelay are
    /// multiples of this step.
    public static let stepMicroseconds = 625.0
    /// The range of T in µs that controllers support: 20 ms...10.24 s.
    public static let intervalRange = 20_000.0...10_240_000.0
    /// The longest scan interval of controllers in µs: 0xFFFF units of 0.625 ms.
    public static let longestScanInterval = 40_959_375
    /// The longest horizon of a distribution, in s.
    public static let longestHorizonSeconds = 86_400.0

    /// The fleet within range, including the target advertiser.
    public let group: AdvertiserGroup
    public let pattern: ScanPattern
    /// c in µs, from the start of one copy to the start of the next.
    public let copySpacingMicroseconds: Double
    /// g in µs: the part of each window that is lost at its beginning, while the radio changes its channel.
    public let windowGapMicroseconds: Double
    /// t_d in µs: the time after each decoded packet in which the scanner cannot receive.
    public let deadTimeMicroseconds: Double
    /// The probability that a packet is not destroyed by anything outside the fleet, such as other devices or fading.
    public let otherClearProbability: Double
    public let losses: Losses
    /// J in µs: 10 ms, or 0 for an advertiser without advDelay (which the specification does not allow).
    public let advertisingDelayMicroseconds: Double

    /// Throws for an empty fleet, an interval outside 20 ms...10.24 s, a scan interval above 40.96 s, an airtime above
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

    /// Creates the model of a fleet and a preset scanner, with the preset's window gap and dead time.
    public init(
        group: AdvertiserGroup, preset: ScannerPreset, copySpacingMicroseconds: Double = 1000,
        otherClearProbability: Double = 1
    ) throws(AirtimeError) {
        // Packets on LE Coded can be longer than the usual spacing.
        let spacing = max(copySpacingMicroseconds, group.airtimeMicroseconds)
        try self.init(
            group: group, pattern: preset.pattern, copySpacingMicroseconds: spacing,
            windowGapMicroseconds: preset.windowGapMicroseconds, deadTimeMicroseconds: preset.deadTimeMicroseconds,
            otherClearProbability: otherClearProbability)
    }

    /// E, the mean period between advertising events in µs.
    public var meanPeriodMicroseconds: Double {
        group.intervalMicroseconds + advertisingDelayMicroseconds / 2
    }

    /// The probability that no packet of the fleet hits a packet on its channel: (1 - 2·tau/E)^(N-1). For extended
    /// PDUs, the probability that no packet of the fleet hits any of the packets that the reception of an event needs.
    public var collisionFreeProbability: Double {
        let hit = group.collisionWindow.microseconds / meanPeriodMicroseconds
        return pow(max(0, 1 - hit), Double(group.count - 1))
    }

    /// The probability that the scanner is not still busy with another packet: 1/(1 + λ·t_d), where λ is the rate of
    /// clear packets on the channel.
    public var scannerReadyProbability: Double {
        let offered = Double(group.count) / meanPeriodMicroseconds * collisionFreeProbability * otherClearProbability
        return 1 / (1 + offered * deadTimeMicroseconds)
    }

    /// The share of events of which at least one copy falls into a window.
    public var windowShare: Double { cycle.share }

    private var cycle: ScannerCycle {
        ScannerCycle(
            pattern: pattern, airtime: group.airtimeMicroseconds, copySpacing: copySpacingMicroseconds,
            gap: windowGapMicroseconds)
    }
}

extension LatencyModel {
    /// The distribution of the latency.
    ///
    /// The curve ends when the share received is 99.5 %, but not before `untilSeconds`, and at the latest at
    /// `horizonSeconds`, which is at most a day. (At a resonance, discovery takes minutes or hours.) Throws for times
    /// that are negative or not numbers, and for `untilSeconds` beyond the horizon.
    public func distribution(
        untilSeconds: Double = 0, horizonSeconds: Double = 3600
    ) throws(AirtimeError) -> LatencyDistribution {
        try distribution(untilSeconds: untilSeconds, horizonSeconds: horizonSeconds, endsWhenExhausted: false)
    }

    /// Returns the distribution of the latency.
    ///
    /// - Parameters:
    ///   - endsWhenExhausted: True to end the curve before `untilSeconds` when the share received is nearly 1.
    ///   - workLimit: The number of additions after which the distribution is extrapolated.
    func distribution(
        untilSeconds: Double = 0, horizonSeconds: Double = 3600, endsWhenExhausted: Bool = false,
        workLimit: Int = Self.workLimit
    ) throws(AirtimeError) -> LatencyDistribution {
        guard horizonSeconds > 0, horizonSeconds <= Self.longestHorizonSeconds else {
            throw .quantity(name: "a time limit in s", value: horizonSeconds)
        }
        guard untilSeconds >= 0, untilSeconds <= horizonSeconds else {
            throw .quantity(name: "a time in s", value: untilSeconds)
        }
        let cycle = cycle
        var phases = PhaseDistribution(
            cycle: cycle, windowMicroseconds: pattern.windowMicroseconds, interval: group.intervalMicroseconds,
            delay: advertisingDelayMicroseconds, reception: try receptionAfterLosses(cycle))
        let horizonEvents = horizonSeconds * 1_000_000 / meanPeriodMicroseconds
        let wantedEvents = untilSeconds * 1_000_000 / meanPeriodMicroseconds
        // At index k: the probability that event number k (from 0) after the random instant is the first one received.
        var received: [Double] = []
        var unreceived = 1.0
        var work = 0
        var extrapolatedFrom: Int?
        let exhaustedRest = endsWhenExhausted ? Self.exhaustedRest : -.infinity
        while Double(received.count) < horizonEvents,
            Double(received.count) < wantedEvents || unreceived > 1 - Self.completeShare
        {
            if unreceived <= exhaustedRest { break }
            if work > workLimit {
                extrapolatedFrom = received.count
                extrapolate(&received, unreceived: unreceived, horizonEvents: horizonEvents, wantedEvents: wantedEvents)
                break
            }
            if !received.isEmpty { phases.advance() }
            received.append(phases.receive())
            unreceived -= received[received.count - 1]
            work += phases.work
        }
        return LatencyDistribution(
            received: received, intervalMicroseconds: group.intervalMicroseconds,
            delayMicroseconds: advertisingDelayMicroseconds, spreadEvents: phases.isEven ? received.count : 1,
            horizonSeconds: horizonSeconds,
            extrapolatedFromSeconds: extrapolatedFrom.map { Double($0) * meanPeriodMicroseconds / 1_000_000 })
    }

    /// Returns the probability that an event within a window is received, by the number of earlier events within
    /// windows that were lost in a row.
    private func receptionAfterLosses(_ cycle: ScannerCycle) throws(AirtimeError) -> [PhaseDistribution.Reception] {
        let other = otherClearProbability * scannerReadyProbability
        guard losses == .inRuns, group.count > 1, cycle.share > 0 else {
            let clear = collisionFreeProbability * other
            return [PhaseDistribution.Reception(rightAfterLoss: clear, afterUncovered: clear)]
        }
        let isEven = pattern.windowMicroseconds >= pattern.intervalMicroseconds
        let runs = try RunsModel(
            group: group, otherClearProbability: other,
            samples: isEven
                ? ObservedEvents.consecutive(RunsModel.shortLength, samples: RunsModel.fewSamples)
                : ObservedEvents.samples(
                    RunsModel.shortLength, samples: RunsModel.fewSamples, of: cycle,
                    intervalMicroseconds: group.intervalMicroseconds))
        return (0..<(isEven ? Self.longestRun : Self.longestRunInWindows)).map { losses in
            PhaseDistribution.Reception(
                rightAfterLoss: runs.clearAfterLosses(losses, isNext: true),
                afterUncovered: runs.clearAfterLosses(losses, isNext: false))
        }
    }

    /// Extrapolates the distribution: each further event receives a constant share of the part not yet received. This
    /// share is the mean over about the last half of the computed events.
    private func extrapolate(
        _ received: inout [Double], unreceived: Double, horizonEvents: Double, wantedEvents: Double
    ) {
        let scanInterval = Double(pattern.intervalMicroseconds) / meanPeriodMicroseconds
        let scanIntervals = max(1, (Double(received.count) / 2 / scanInterval).rounded(.down))
        let events = min(received.count, max(1, Int((scanIntervals * scanInterval).rounded())))
        let receivedLately = received.suffix(events).reduce(0, +)
        let rate = 1 - pow(unreceived / (unreceived + receivedLately), 1 / Double(events))
        var unreceived = unreceived
        while Double(received.count) < horizonEvents,
            Double(received.count) < wantedEvents || unreceived > 1 - Self.completeShare
        {
            received.append(unreceived * rate)
            unreceived -= unreceived * rate
        }
    }

    /// The number of additions after which a distribution is extrapolated.
    static let workLimit = 40_000_000
    /// The distribution counts as exhausted when the share not yet received is at most this value.
    private static let exhaustedRest = 5e-7
    /// The share at which the distribution ends.
    private static let completeShare = 0.995
    /// The number of losses in a row after which the probability of another loss is treated as constant, for a scanner
    /// without pauses.
    private static let longestRun = 64
    /// The number of losses in a row after which the probability of another loss is treated as constant, for a scanner
    /// with pauses.
    private static let longestRunInWindows = 8
}
