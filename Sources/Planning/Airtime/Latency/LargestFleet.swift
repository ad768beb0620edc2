/// The largest number of beacons in range of one receiver at which each is received in time.
public struct LargestFleet: Sendable {
    /// 0 if a single beacon is not received in time often enough.
    public let beacons: Int
    /// The latency in that fleet; if there is none, the latency of a single beacon.
    public let latency: MixLatency

    /// The largest number that the search considers.
    public static let countLimit = 100_000_000

    /// The target: the share `probability` of all detections takes at most `seconds`.
    ///
    /// Throws for a time that is not above 0 or above an hour, a probability that is not between 0 and 1, an airtime above
    /// 5 ms, and what `LatencyModel` refuses.
    public init(
        within seconds: Double, probability: Double, intervalMicroseconds: Double, airtimeMicroseconds: Double,
        scanners: ScannerMix
    ) throws(AirtimeError) {
        try self.init(
            within: seconds, probability: probability,
            around: BoxSurroundings(
                intervalMicroseconds: intervalMicroseconds, airtimeMicroseconds: airtimeMicroseconds),
            scanners: scanners)
    }

    /// The number of boxes with several advertisements: the target is the advertisement `asked`, and all boxes have the
    /// same mixture.
    public init(
        within seconds: Double, probability: Double, around asked: BoxSurroundings, scanners: ScannerMix
    ) throws(AirtimeError) {
        guard seconds > 0, seconds <= 3600 else { throw .quantity(name: "a time in s", value: seconds) }
        guard probability > 0, probability < 1 else { throw .share(probability) }
        guard asked.airtimeMicroseconds <= AdvertisingDelay.meanMicroseconds else {
            throw .airtime(asked.airtimeMicroseconds)
        }
        let search = FleetSearch(seconds: seconds, probability: probability, asked: asked, scanners: scanners)
        (beacons, latency) = try search.most()
    }
}

/// The search behind `LargestFleet`: one interval, one scanner, many fleets.
private struct FleetSearch {
    let seconds: Double
    let probability: Double
    let asked: BoxSurroundings
    let scanners: ScannerMix

    func most() throws(AirtimeError) -> (Int, MixLatency) {
        let single = try share(1)
        guard single >= probability else { return (0, try latency(1)) }
        var (low, reached) = (1, single)
        var (high, missed) = (try ceiling(), 0.0)
        // If one end stays the same for two steps, the guesses lie on one side of the solution.
        var standing = (low: 0, high: 0)
        while high - low > 1 {
            let isStuck = max(standing.low, standing.high) > 2
            let guess = isStuck ? low + (high - low) / 2 : guess(from: low, reached, to: high, missed)
            let beacons = min(high - 1, max(low + 1, guess))
            let share = try share(beacons)
            if share < probability {
                (high, missed) = (beacons, share)
                standing = (standing.low + 1, 0)
            } else {
                (low, reached) = (beacons, share)
                standing = (0, standing.high + 1)
            }
            if isStuck { standing = (0, 0) }
        }
        return (low, try latency(low))
    }

    /// The share received in time.
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
        let (group, otherClear) = try asked.fleet(ofBoxes: beacons)
        return try LatencyModel(group: group, preset: preset, otherClearProbability: otherClear)
    }

    /// A fleet that cannot hold the target: a beacon is received at least once no more often than it is on average.
    private func ceiling() throws(AirtimeError) -> Int {
        let packets = try scanners.mean { preset throws(AirtimeError) in
            let alone = try model(1, preset)
            return alone.windowShare * seconds * 1_000_000 / alone.meanPeriodMicroseconds
        }
        let beacons = 2 + log(probability / packets) / asked.logSparing
        return Int(max(2, min(beacons.rounded(.up), Double(LargestFleet.countLimit))))
    }

    /// An estimate of the largest number. Packets get through with a probability that falls by the same factor with
    /// each beacon if losses are independent, and then ln(-ln(1 - share)) falls along a line: of that factor's slope
    /// from the fleet that reaches the target, or also through the fleet that misses it, if one is known.
    private func guess(from low: Int, _ reached: Double, to high: Int, _ missed: Double) -> Int {
        guard reached < 1 - 1e-9 else { return Int((Double(low) * Double(high)).squareRoot()) }
        let above = log(log1p(-reached) / log1p(-probability))
        let width = Double(high - low)
        guard missed > 0 else { return low + Int(min(max(above / -asked.logSparing * 1.02, 0), width)) + 1 }
        let below = log(log1p(-missed) / log1p(-probability))
        return low + Int((above / (above - below) * width).rounded())
    }
}
