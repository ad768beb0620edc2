extension LatencyModel {
    /// The distribution of the latency.
    ///
    /// It reaches at least to `untilSeconds`, and on until 99.9 % are received, but never beyond `horizonSeconds`,
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
        var recursion = GapRecursion(coverage: coverage, kernel: kernel, chain: chain)
        let limit = Int((horizonSeconds * 1_000_000 / step).rounded(.up))
        let wanted = Int((untilSeconds * 1_000_000 / step).rounded(.up))
        let receivedPerStep = coverage.share * chain.received * step / meanPeriodMicroseconds
        var curve = LatencyCurve(receivedPerStep: receivedPerStep)
        while recursion.completeSteps < limit {
            recursion.advance(limit: limit)
            curve = LatencyCurve(receivedPerStep: receivedPerStep, recursion: recursion)
            if recursion.isFinished { break }
            if recursion.completeSteps >= wanted, curve.received.last ?? 0 >= 0.999 { break }
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
        // No more states than events fit into one window; where there is no pause, as many as there are known runs.
        let window = coverage.intervals.map { $0.upperBound - $0.lowerBound }.max() ?? 0
        let events = window * Self.stepMicroseconds / meanPeriodMicroseconds
        let limit = max(RunsModel.exactLength, Int(min(events + 2, Double(RunsModel.longest))))
        return LossChain(runs: runs, limit: limit)
    }

    /// Why the result may be more than 2 % off; nil when it is not.
    private var knownError: String? {
        guard losses == .inRuns, collisionFreeProbability < 0.95, pattern.windowMicroseconds < 100_000,
            pattern.windowMicroseconds < pattern.intervalMicroseconds
        else { return nil }
        return "windows under 100 ms: collisions that repeat from one window to the next are left out, so that high "
            + "percentiles come out up to 5 % too short"
    }
}
