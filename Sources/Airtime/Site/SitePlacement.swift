/// A proposal where to put beacons: the widest square grid that reaches the target everywhere.
public struct SitePlacement: Hashable, Sendable {
    /// m between beacons.
    public let spacing: Double
    public let positions: [FloorPosition]
    /// The share of surveyed places that reach the target.
    public let holdingShare: Double
    /// The probability at the weakest place that the best beacon is received within the wanted time.
    public let weakestShare: Double

    /// No more beacons than this are proposed.
    public static let beaconLimit = 20_000

    /// Tries grids from wide to narrow, a sixth closer each time.
    ///
    /// - Parameters:
    ///   - pattern: What each beacon is to be: its place and name do not count.
    ///   - places: Where the target is to hold.
    ///   - wanted: The share of places that must reach it.
    ///   - isStopped: Asked again and again; once it holds, the best grid found so far is the answer.
    /// - Returns: the first grid that does; else the best one found, where closer grids collide too much or take too
    ///   many beacons. `nil` without any place.
    public static func propose(
        like pattern: SiteBeacon, walls: [Wall], radio: SiteRadio, background: BackgroundLoad, scanner: ScannerPreset,
        target: SiteSurvey.Target, over bounds: FloorBounds, outline: FloorOutline?, places: [FloorPosition],
        wanted: Double = 1, isStopped: () -> Bool = { false }
    ) throws(AirtimeError) -> SitePlacement? {
        guard !places.isEmpty else { return nil }
        var spacing = min(
            max(bounds.width, bounds.height, 1), 2 * radio.reach(radioPower: pattern.radioPower, limit: 100))
        var best: SitePlacement?
        var worse = 0
        while spacing >= 0.5, worse < 6 {
            let positions = grid(over: bounds, outline: outline, spacing: spacing)
            guard positions.count <= beaconLimit else { break }
            let beacons = try positions.enumerated().map { index, position throws(AirtimeError) in
                try SiteBeacon(
                    name: "proposed-\(index + 1)", position: position,
                    intervalMicroseconds: pattern.intervalMicroseconds,
                    airtimeMicroseconds: pattern.airtimeMicroseconds,
                    radioPower: pattern.radioPower)
            }
            let model = SiteModel(beacons: beacons, walls: walls, radio: radio, background: background)
            var survey = SiteSurvey(model: model, scanner: scanner, target: target)
            var (holding, weakest) = (0, 1.0)
            for place in places {
                if isStopped() { return best }
                let share = try survey.point(at: place).detectedShare
                if share >= target.probability { holding += 1 }
                weakest = min(weakest, share)
            }
            let found = SitePlacement(
                spacing: spacing, positions: positions, holdingShare: Double(holding) / Double(places.count),
                weakestShare: weakest)
            if found.holdingShare >= wanted { return found }
            if let known = best, known.holdingShare >= found.holdingShare {
                worse += 1
            } else {
                best = found
                worse = 0
            }
            spacing *= 5 / 6.0
        }
        return best
    }

    /// A square grid in the middle of its cells; at least one place.
    private static func grid(
        over bounds: FloorBounds, outline: FloorOutline?, spacing: Double
    ) -> [FloorPosition] {
        let columns = max(1, Int((bounds.width / spacing).rounded(.up)))
        let rows = max(1, Int((bounds.height / spacing).rounded(.up)))
        guard columns.multipliedReportingOverflow(by: rows).partialValue <= 4 * beaconLimit else {
            return [FloorPosition](repeating: bounds.low, count: beaconLimit + 1)
        }
        var positions: [FloorPosition] = []
        for row in 0..<rows {
            for column in 0..<columns {
                let position = FloorPosition(
                    x: bounds.low.x + bounds.width * (Double(column) + 0.5) / Double(columns),
                    y: bounds.low.y + bounds.height * (Double(row) + 0.5) / Double(rows))
                if outline?.contains(position) ?? true { positions.append(position) }
            }
        }
        return positions
    }
}
