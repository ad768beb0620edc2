/// How many beacons stand within range of a receiver: N of the other models.
public enum Neighborhood {
    /// Where the receiver stands in a square grid.
    public enum GridPlace: Hashable, Sendable {
        /// At a beacon, which is counted.
        case beacon
        /// In the middle between four beacons.
        case cellCenter
    }

    /// The beacons of a square grid within `radius` meters, those on the rim counted: 317 for 100 m and a spacing of
    /// 10 m, 137 for 15 m; from a cell's center 316 and 140. (The thesis says 250 and 130.) Work: radius/spacing.
    ///
    /// Refuses numbers that are not positive, and a radius of more than 100,000 spacings.
    public static func gridCount(
        radiusMeters radius: Double, spacingMeters spacing: Double, from place: GridPlace = .beacon
    ) throws(AirtimeError) -> Int {
        try checkRadius(radius)
        guard spacing > 0, spacing.isFinite else { throw .quantity(name: "a grid spacing (over 0 m)", value: spacing) }
        // A hair outwards: a beacon at exactly the radius counts however the division rounds.
        let reach = radius / spacing * (1 + 1e-12)
        guard reach <= 100_000 else {
            throw .quantity(name: "a radius in grid spacings (0...100 000)", value: reach)
        }
        let shift = place == .beacon ? 0.0 : 0.5
        var count = 0
        for row in Int(-reach - 1)...Int(reach + 1) {
            let across = Double(row) + shift
            let square = reach * reach - across * across
            guard square >= 0 else { continue }
            let half = square.squareRoot()
            let first = (-half - shift).rounded(.up)
            let last = (half - shift).rounded(.down)
            if last >= first { count += Int(last - first) + 1 }
        }
        return count
    }

    /// The densest square grid, by its spacing in meters, that has at most `beacons` within `radius` meters.
    ///
    /// Refuses fewer than one beacon, more than 10⁹, and a radius that is not positive.
    public static func gridSpacing(
        holding beacons: Int, radiusMeters radius: Double, from place: GridPlace = .beacon
    ) throws(AirtimeError) -> Double {
        guard beacons > 0, beacons <= 1_000_000_000 else { throw .count(beacons) }
        try checkRadius(radius)
        // A quarter of the area that each beacon may take is too dense, two radii are sparse enough for any place.
        var low = radius * (Double.pi / Double(beacons)).squareRoot() / 2
        var high = 2 * radius
        for _ in 0..<50 {
            let middle = (low + high) / 2
            let count = try gridCount(radiusMeters: radius, spacingMeters: middle, from: place)
            if count > beacons { low = middle } else { high = middle }
        }
        return high
    }

    /// How many of `positions` stand within `radius` meters of `receiver`, the rim and a beacon at the receiver's own
    /// place counted.
    public static func count(
        of positions: [FloorPosition], around receiver: FloorPosition, radiusMeters radius: Double
    ) throws(AirtimeError) -> Int {
        try checkRadius(radius)
        return positions.count { $0.distance(to: receiver) <= radius }
    }

    private static func checkRadius(_ radius: Double) throws(AirtimeError) {
        guard radius > 0, radius.isFinite else { throw .quantity(name: "a radius (over 0 m)", value: radius) }
    }
}
