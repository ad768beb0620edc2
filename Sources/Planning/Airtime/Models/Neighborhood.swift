/// The number of beacons within range of a receiver: N of the other models.
public enum Neighborhood {
    /// The position of the receiver in a square grid.
    public enum GridPlace: Hashable, Sendable {
        /// At a beacon, which is counted.
        case beacon
        /// In the middle between four beacons.
        case cellCenter
    }

    /// Returns the number of beacons of a square grid within `radius` meters, including beacons at exactly this
    /// distance. Around a beacon, 317 beacons are within 100 m with a spacing of 10 m, and 137 with 15 m; around the
    /// center of a cell, 316 and 140. (The thesis of ``ThesisFormula`` states 250 and 130.) The computing time is
    /// proportional to radius/spacing.
    ///
    /// Throws for numbers that are not positive, and a radius of more than 100,000 spacings.
    public static func gridCount(
        radiusMeters radius: Double, spacingMeters spacing: Double, from place: GridPlace = .beacon
    ) throws(AirtimeError) -> Int {
        try checkRadius(radius)
        guard spacing > 0, spacing.isFinite else { throw .quantity(name: "a grid spacing (over 0 m)", value: spacing) }
        // The radius is increased slightly, so that a beacon at exactly the radius counts despite rounding errors.
        let radiusInSpacings = radius / spacing * (1 + 1e-12)
        guard radiusInSpacings <= 100_000 else {
            throw .quantity(name: "a radius in grid spacings (0...100 000)", value: radiusInSpacings)
        }
        let shift = place == .beacon ? 0.0 : 0.5
        var count = 0
        for row in Int(-radiusInSpacings - 1)...Int(radiusInSpacings + 1) {
            let across = Double(row) + shift
            let square = radiusInSpacings * radiusInSpacings - across * across
            guard square >= 0 else { continue }
            let halfWidth = square.squareRoot()
            let firstColumn = (-halfWidth - shift).rounded(.up)
            let lastColumn = (halfWidth - shift).rounded(.down)
            if lastColumn >= firstColumn { count += Int(lastColumn - firstColumn) + 1 }
        }
        return count
    }

    /// Returns the spacing, in meters, of the densest square grid that has at most `beacons` beacons within `radius`
    /// meters.
    ///
    /// Throws for fewer than one beacon, more than 10⁹, and a radius that is not positive.
    public static func gridSpacing(
        holding beacons: Int, radiusMeters radius: Double, from place: GridPlace = .beacon
    ) throws(AirtimeError) -> Double {
        guard beacons > 0, beacons <= 1_000_000_000 else { throw .count(beacons) }
        try checkRadius(radius)
        // At the lower end of the search range, each beacon has only a quarter of its share of the area, so the grid is
        // too dense. At the upper end, twice the radius, at most one beacon is within the radius.
        var low = radius * (Double.pi / Double(beacons)).squareRoot() / 2
        var high = 2 * radius
        for _ in 0..<50 {
            let middle = (low + high) / 2
            let count = try gridCount(radiusMeters: radius, spacingMeters: middle, from: place)
            if count > beacons { low = middle } else { high = middle }
        }
        return high
    }

    private static func checkRadius(_ radius: Double) throws(AirtimeError) {
        guard radius > 0, radius.isFinite else { throw .quantity(name: "a radius (over 0 m)", value: radius) }
    }
}

/// The time within range, and the probability of discovery, of a receiver that is carried past a beacon in a straight
/// line.
///
/// Symbols: R the detection range, y the closest distance to the beacon, v the speed. dwell = 2·√(R² - y²)/v, and
/// P(seen) = F_L(dwell) with F_L the distribution of the time until the beacon is first received. Assumption: within R
/// the reception does not depend on the distance, and beyond R the beacon is not received.
public struct WalkPast: Hashable, Sendable {
    /// v in m/s; people walk at about 1.4.
    public let speedMetersPerSecond: Double
    /// y in meters.
    public let closestDistanceMeters: Double
    /// R in meters.
    public let rangeMeters: Double

    /// Throws for a speed outside 0.001...1000 m/s, and a distance or range outside 0...10⁶ m.
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

    /// The time within range in seconds; 0 if the path does not come within range.
    public var dwellSeconds: Double {
        guard rangeMeters > closestDistanceMeters else { return 0 }
        let halfPathSquared = (rangeMeters - closestDistanceMeters) * (rangeMeters + closestDistanceMeters)
        return 2 * halfPathSquared.squareRoot() / speedMetersPerSecond
    }

    /// Returns P(seen), the probability that the receiver discovers the beacon.
    ///
    /// - Parameter distribution: F_L. Returns the share of beacons that are received within a time in seconds.
    /// - Throws: ``AirtimeError/share(_:)`` if the distribution returns a value that is not a share.
    public func seenProbability(
        receivedWithinSeconds distribution: (Double) -> Double
    ) throws(AirtimeError) -> Double {
        guard dwellSeconds > 0 else { return 0 }
        let share = distribution(dwellSeconds)
        guard share >= -1e-9, share <= 1 + 1e-9 else { throw .share(share) }
        return min(1, max(0, share))
    }
}

/// A position on a floor plan, in m.
public struct FloorPosition: Hashable, Sendable {
    public let x: Double
    public let y: Double

    /// Accepts any numbers. Callers that read the numbers from files check that they are finite.
    public init(x: Double, y: Double) {
        self.x = x
        self.y = y
    }

    /// The distance in m.
    public func distance(to other: FloorPosition) -> Double {
        let (dx, dy) = (other.x - x, other.y - y)
        return (dx * dx + dy * dy).squareRoot()
    }
}
