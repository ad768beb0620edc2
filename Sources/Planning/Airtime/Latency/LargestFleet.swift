/// The largest number of beacons in range of one receiver at which each beacon is received in time.
public struct LargestFleet: Sendable {
    /// The largest number of beacons; 0 if even a single beacon is not received in time often enough.
    public let beacons: Int
    /// The latency in a fleet of ``beacons`` beacons; if the number is 0, the latency of a single beacon.
    public let latency: MixLatency

    /// The largest number that the search considers.
    public static let countLimit = 100_000_000

    /// Finds the largest fleet in which the share `probability` of all detections takes at most `seconds`.
    ///
    /// Throws for a time that is not above 0, a time above an hour, a probability that is not above 0 and below 1, and
    /// an airtime above 5 ms. Also throws the errors of `LatencyModel`.
    public init(
        within seconds: Double, probability: Double, intervalMicroseconds: Double, airtimeMicroseconds: Double,
        scanners: ScannerMix
    ) throws(AirtimeError) {
        try self.init(
            within: seconds, probability: probability,
            collisions: TargetCollisions(
                intervalMicroseconds: intervalMicroseconds, airtimeMicroseconds: airtimeMicroseconds),
            scanners: scanners)
    }

    /// Finds the largest number of machines that send several advertisements. All machines have the same mixture.
    ///
    /// - Parameter collisions: The collisions of the target advertisement.
    public init(
        within seconds: Double, probability: Double, collisions: TargetCollisions, scanners: ScannerMix
    ) throws(AirtimeError) {
        guard seconds > 0, seconds <= 3600 else { throw .quantity(name: "a time in s", value: seconds) }
        guard probability > 0, probability < 1 else { throw .share(probability) }
        guard collisions.airtimeMicroseconds <= AdvertisingDelay.meanMicroseconds else {
            throw .airtime(collisions.airtimeMicroseconds)
        }
        let search = FleetSearch(seconds: seconds, probability: probability, collisions: collisions, scanners: scanners)
        (beacons, latency) = try search.largestFleet()
    }
}

/// The search behind `LargestFleet`: one interval, one mix of scanners, many fleets.
private struct FleetSearch {
    let seconds: Double
    let probability: Double
    let collisions: TargetCollisions
    let scanners: ScannerMix

    func largestFleet() throws(AirtimeError) -> (Int, MixLatency) {
        let shareOfOne = try share(1)
        guard shareOfOne >= probability else { return (0, try latency(1)) }
        var (low, lowShare) = (1, shareOfOne)
        var (high, highShare) = (try missingCount(), 0.0)
        // If one end of the range stays the same for three steps, all guesses are on one side of the solution. Then the
        // next guess is the middle of the range.
        var unchangedSteps = (low: 0, high: 0)
        while high - low > 1 {
            let isStuck = max(unchangedSteps.low, unchangedSteps.high) > 2
            let guess = isStuck ? low + (high - low) / 2 : guess(from: low, lowShare, to: high, highShare)
            let beacons = min(high - 1, max(low + 1, guess))
            let share = try share(beacons)
            if share < probability {
                (high, highShare) = (beacons, share)
                unchangedSteps = (unchangedSteps.low + 1, 0)
            } else {
                (low, lowShare) = (beacons, share)
                unchangedSteps = (0, unchangedSteps.high + 1)
            }
            if isStuck { unchangedSteps = (0, 0) }
        }
        return (low, try latency(low))
    }

    /// Returns the share of all detections that take at most ``seconds``.
    private func share(_ beacons: Int) throws(AirtimeError) -> Double {
        try scanners.mean { preset throws(AirtimeError) in
            let latency = try model(beacons, preset).distribution(untilSeconds: seconds, horizonSeconds: seconds)
            return latency.received(within: min(seconds, latency.horizonSeconds)) ?? 1
        }
    }

    private func latency(_ beacons: Int) throws(AirtimeError) -> MixLatency {
        try MixLatency(scanners, untilSeconds: seconds, horizonSeconds: max(seconds, 60)) {
            preset throws(AirtimeError) in try model(beacons, preset)
        }
    }

    private func model(_ beacons: Int, _ preset: ScannerPreset) throws(AirtimeError) -> LatencyModel {
        let (group, otherClear) = try collisions.fleet(ofMachines: beacons)
        return try LatencyModel(group: group, preset: preset, otherClearProbability: otherClear)
    }

    /// Returns a number of beacons with which the target is missed. The probability that a beacon is received at least
    /// once is at most the mean number of its packets that are received, so if the target is met, this mean is at least
    /// the target share.
    private func missingCount() throws(AirtimeError) -> Int {
        let packets = try scanners.mean { preset throws(AirtimeError) in
            let alone = try model(1, preset)
            return alone.windowShare * seconds * 1_000_000 / alone.meanPeriodMicroseconds
        }
        let beacons = 2 + log(probability / packets) / collisions.logClearProbability
        return Int(max(2, min(beacons.rounded(.up), Double(LargestFleet.countLimit))))
    }

    /// Returns an estimate of the largest number of beacons.
    ///
    /// If losses are independent, each further beacon reduces the probability that a packet gets through by the same
    /// factor, and ln(-ln(1 - share)) falls along a straight line. If a fleet that misses the target is known, the line
    /// is drawn through both fleets. Otherwise the line starts at the fleet that reaches the target, with the slope
    /// that follows from this factor.
    private func guess(from low: Int, _ lowShare: Double, to high: Int, _ highShare: Double) -> Int {
        guard lowShare < 1 - 1e-9 else { return Int((Double(low) * Double(high)).squareRoot()) }
        let lowHeight = log(log1p(-lowShare) / log1p(-probability))
        let width = Double(high - low)
        guard highShare > 0 else {
            return low + Int(min(max(lowHeight / -collisions.logClearProbability * 1.02, 0), width)) + 1
        }
        let highHeight = log(log1p(-highShare) / log1p(-probability))
        return low + Int((lowHeight / (lowHeight - highHeight) * width).rounded())
    }
}
