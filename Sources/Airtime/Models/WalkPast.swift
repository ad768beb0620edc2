/// Somebody with a receiver walks past a beacon in a straight line: for how long is it within range, and is it seen?
///
/// Symbols: R the detection range, y the closest distance to the beacon, v the speed. dwell = 2·√(R² - y²)/v, and
/// P(seen) = F_L(dwell) with F_L the distribution of the time until the beacon is first received. Assumption: within R
/// the beacon is received as well as anywhere, beyond it not at all.
public struct WalkPast: Hashable, Sendable {
    /// v in m/s; people walk at about 1.4.
    public let speedMetersPerSecond: Double
    /// y in meters.
    public let closestDistanceMeters: Double
    /// R in meters.
    public let rangeMeters: Double

    /// Refuses a speed outside 0.001...1000 m/s, and a distance or range outside 0...10⁶ m.
    public init(
        speedMetersPerSecond: Double, closestDistanceMeters: Double, rangeMeters: Double
    ) throws(AirtimeError) {
        try Quantity.check(speedMetersPerSecond, in: 0.001...1000, "a speed (0.001...1000 m/s)")
        try Quantity.check(closestDistanceMeters, in: 0...1_000_000, "a closest distance (0...1 000 000 m)")
        try Quantity.check(rangeMeters, in: 0...1_000_000, "a detection range (0...1 000 000 m)")
        self.speedMetersPerSecond = speedMetersPerSecond
        self.closestDistanceMeters = closestDistanceMeters
        self.rangeMeters = rangeMeters
    }

    /// Seconds within range; 0 when the path does not come that close.
    public var dwellSeconds: Double {
        guard rangeMeters > closestDistanceMeters else { return 0 }
        let half = (rangeMeters - closestDistanceMeters) * (rangeMeters + closestDistanceMeters)
        return 2 * half.squareRoot() / speedMetersPerSecond
    }

    /// P(seen), from the share of beacons that are received within some seconds.
    ///
    /// - Throws: ``AirtimeError/share(_:)`` when the distribution gives what is no share.
    public func seenProbability(
        receivedWithinSeconds distribution: (Double) -> Double
    ) throws(AirtimeError) -> Double {
        guard dwellSeconds > 0 else { return 0 }
        let share = distribution(dwellSeconds)
        guard share >= -1e-9, share <= 1 + 1e-9 else { throw .share(share) }
        return min(1, max(0, share))
    }
}
