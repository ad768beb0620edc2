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

    func distribution(
        untilSeconds: Double, horizonSeconds: Double, patterns: @autoclosure () -> HitPatterns
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
            curve = LatencyCurve(receivedPerStep: receivedPerStep, recursion: recursion)
            if recursion.isFinished { break }
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
