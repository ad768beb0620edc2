public import Airtime

/// Ways to find a position without a survey, or with little of one: to hold others against.
public enum PositioningBaseline {
    /// A beacon whose place is known, as heard in a window.
    public struct Heard: Hashable, Sendable {
        public let position: FloorPosition
        /// In dBm.
        public let level: Double

        /// - Parameters are as the properties of the same names.
        public init(position: FloorPosition, level: Double) {
            self.position = position
            self.level = level
        }
    }

    /// The middle of the strongest beacons, each with its power as its weight: 10^(level/10). `nil` without any.
    ///
    /// - Parameter count: How many count; of equal levels the first.
    public static func weightedCentroid(_ heard: [Heard], count: Int = 6) -> FloorPosition? {
        let sorted = heard.enumerated().sorted { ($0.element.level, $1.offset) > ($1.element.level, $0.offset) }
        guard let strongest = sorted.first?.element.level, count > 0 else { return nil }
        var (x, y, total) = (0.0, 0.0, 0.0)
        for (_, beacon) in sorted.prefix(count) {
            let weight = pow(10, (beacon.level - strongest) / 10)
            (x, y, total) = (x + weight * beacon.position.x, y + weight * beacon.position.y, total + weight)
        }
        return FloorPosition(x: x / total, y: y / total)
    }

    /// A beacon whose trend over the distance is known, as heard in a window.
    struct Ranged {
        let trend: BeaconTrend
        let level: Double
    }

    /// Where the levels fit the trends best: least squares over the cells of a grid. `nil` without any.
    static func multilateration(_ heard: [Ranged], _ cells: [Cell]) -> FloorPosition? {
        guard !heard.isEmpty else { return nil }
        var best: (misfit: Double, cell: Int)?
        for (index, cell) in cells.enumerated() {
            let misfit = heard.reduce(0.0) { sum, beacon in
                let difference = beacon.level - beacon.trend.level(at: cell.position)
                return sum + difference * difference / (beacon.trend.variance + SpreadOfLevels.expected)
            }
            if best.map({ misfit < $0.misfit }) ?? true { best = (misfit, index) }
        }
        return best.map { cells[$0.cell].position }
    }

    /// S1's simple distance: four receivers at the corners of a rectangle; the mean level of each side, as a share of
    /// -96...-14 dBm, gives the share of the way across. "No meaningful results", says its author.
    ///
    /// - Parameter levels: At the corners (0, 0), (1, 0), (1, 1), (0, 1), in dBm.
    ///
    /// - Returns: The share of the way in x and in y, 0...1.
    public static func simpleDistance(_ levels: [Double]) -> FloorPosition? {
        guard levels.count == 4, levels.allSatisfy(\.isFinite) else { return nil }
        let shares = levels.map { level in min(max((level + 96) / 82, 0), 1) }
        let (left, right) = ((shares[0] + shares[3]) / 2, (shares[1] + shares[2]) / 2)
        let (near, far) = ((shares[0] + shares[1]) / 2, (shares[2] + shares[3]) / 2)
        func across(_ from: Double, _ to: Double) -> Double { from + to > 0 ? to / (from + to) : 0.5 }
        return FloorPosition(x: across(left, right), y: across(near, far))
    }
}

/// Multilateration with the trends that a survey tells: the beacons' places known or guessed, walls and bodies not.
public struct Multilateration: Sendable {
    private let trends: [BeaconTrend?]
    private let cells: [Cell]

    /// Refuses a map without positions.
    public init(_ map: SignalMap) throws(PositioningError) {
        trends = map.trends
        cells = try FieldModel.grid(map, step: nil).grid.cells
    }

    /// From the means of a window, in the map's beacon numbers; `nil` where nothing of the map was heard.
    public func locate(_ readings: [SignalVector.Reading]) -> FloorPosition? {
        PositioningBaseline.multilateration(
            readings.compactMap { reading in
                trends[reading.beacon].map { .init(trend: $0, level: reading.level) }
            }, cells)
    }
}
