/// The most beacons in range of one receiver of which each is received in time.
public struct LargestFleet: Sendable {
    /// None, where not even a single beacon is received in time often enough.
    public let beacons: Int
    /// The latency in that fleet; a single beacon's, where there is none.
    public let latency: LatencyDistribution

    /// More are not looked for.
    public static let countLimit = 100_000_000

    /// `probability` of all detections are to take at most `seconds`.
    ///
    /// Refuses a time that is not above 0 or above an hour, a probability that is not between 0 and 1, an airtime above
    /// 5 ms, and what `LatencyModel` refuses.
    public init(
        within seconds: Double, probability: Double, intervalMicroseconds: Double, airtimeMicroseconds: Double,
        preset: ScannerPreset
    ) throws(AirtimeError) {
        try self.init(
            within: seconds, probability: probability,
            around: BoxSurroundings(
                intervalMicroseconds: intervalMicroseconds, airtimeMicroseconds: airtimeMicroseconds),
            preset: preset)
    }

    /// The same for boxes that send several advertisements: `asked` is the one that is to be received, among more boxes
    /// of the same mixture.
    public init(
        within seconds: Double, probability: Double, around asked: BoxSurroundings, preset: ScannerPreset
    ) throws(AirtimeError) {
        guard seconds > 0, seconds <= 3600 else { throw .quantity(name: "a time in s", value: seconds) }
        guard probability > 0, probability < 1 else { throw .share(probability) }
        guard asked.airtimeMicroseconds <= AdvertisingDelay.meanMicroseconds else {
            throw .airtime(asked.airtimeMicroseconds)
        }
        let search = FleetSearch(seconds: seconds, probability: probability, asked: asked, preset: preset)
        (beacons, latency) = try search.most()
    }
}

/// The search behind `LargestFleet`: one interval, one scanner, many fleets.
private struct FleetSearch {
    let seconds: Double
    let probability: Double
    let asked: BoxSurroundings
    let preset: ScannerPreset

    func most() throws(AirtimeError) -> (Int, LatencyDistribution) {
        let alone = try model(1)
        var low = 1
        var best = try alone.distribution(untilSeconds: seconds, horizonSeconds: horizon)
        guard share(best) >= probability else { return (0, best) }
        let patterns = HitPatterns(width: asked.airtimeMicroseconds / AdvertisingDelay.maximumMicroseconds)
        var high = ceiling(alone)
        var hasFailed = false
        while high - low > 1 {
            let guess = hasFailed ? low + (high - low) / 2 : guess(from: low, best, high)
            let beacons = min(high - 1, max(low + 1, guess))
            let latency = try model(beacons).distribution(
                untilSeconds: seconds, horizonSeconds: horizon, patterns: patterns)
            hasFailed = share(latency) < probability
            if hasFailed { high = beacons } else { (low, best) = (beacons, latency) }
        }
        return (low, best)
    }

    private var horizon: Double { max(seconds, 60) }

    private func model(_ beacons: Int) throws(AirtimeError) -> LatencyModel {
        let (group, otherClear) = try asked.fleet(ofBoxes: beacons)
        return try LatencyModel(group: group, preset: preset, otherClearProbability: otherClear)
    }

    private func share(_ latency: LatencyDistribution) -> Double {
        latency.received(within: min(seconds, latency.horizonSeconds)) ?? 1
    }

    /// A fleet that cannot hold the target: a beacon is received at least once no more often than it is on average.
    private func ceiling(_ alone: LatencyModel) -> Int {
        let packets = alone.windowShare * seconds * 1_000_000 / alone.meanPeriodMicroseconds
        let beacons = 2 + log(probability / packets) / asked.logSparing
        return Int(max(2, min(beacons.rounded(.up), Double(LargestFleet.countLimit))))
    }

    /// Where the target would just hold if losses were independent: packets get through with a probability that falls
    /// by the same factor with each beacon.
    private func guess(from low: Int, _ latency: LatencyDistribution, _ high: Int) -> Int {
        let share = share(latency)
        guard share < 1 - 1e-9 else { return Int((Double(low) * Double(high)).squareRoot()) }
        let more = log(log1p(-share) / log1p(-probability)) / -asked.logSparing
        return low + Int(min(max(more * 1.02, 0), Double(high - low))) + 1
    }
}
