internal import Airtime

/// Finds the beacons near a place: they lie in the cells of a grid.
struct BeaconIndex {
    private let bounds: FloorBounds?
    private let columns: Int
    private let rows: Int
    private let cell: Double
    /// The beacons of cell c stand in `members` from `starts[c]` to before `starts[c + 1]`.
    private var starts: [Int]
    private var members: [Int32]

    /// - Parameter reach: How far away beacons are asked for, in m.
    init(_ beacons: [SiteBeacon], reach: Double) {
        let bounds = FloorBounds(beacons.lazy.map(\.position))
        self.bounds = bounds
        let extent = max(bounds?.width ?? 0, bounds?.height ?? 0)
        // Cells of a quarter of the reach, unless that makes far more cells than beacons.
        let cell = max(reach / 4, extent / max(1, Double(beacons.count).squareRoot() * 2), 1e-6)
        self.cell = cell
        let columns = Int((bounds?.width ?? 0) / cell) + 1
        let rows = Int((bounds?.height ?? 0) / cell) + 1
        self.columns = columns
        self.rows = rows
        let places = beacons.map { beacon in
            guard let bounds else { return 0 }
            let column = Int((beacon.position.x - bounds.low.x) / cell)
            let row = Int((beacon.position.y - bounds.low.y) / cell)
            return min(row, rows - 1) * columns + min(column, columns - 1)
        }
        starts = [Int](repeating: 0, count: columns * rows + 1)
        for place in places { starts[place + 1] += 1 }
        for index in 1..<starts.count { starts[index] += starts[index - 1] }
        var next = starts
        members = [Int32](repeating: 0, count: beacons.count)
        for (index, place) in places.enumerated() {
            members[next[place]] = Int32(index)
            next[place] += 1
        }
    }

    /// Calls `visit` with each beacon whose cell is within `reach` of a place: with all that are near, and some more.
    func visit(around position: FloorPosition, reach: Double, _ visit: (Int) -> Void) {
        guard let bounds else { return }
        let columnRange = range(position.x - bounds.low.x, reach, columns)
        for row in range(position.y - bounds.low.y, reach, rows) {
            for column in columnRange {
                let place = row * columns + column
                for member in members[starts[place]..<starts[place + 1]] { visit(Int(member)) }
            }
        }
    }

    private func range(_ place: Double, _ reach: Double, _ count: Int) -> Range<Int> {
        let low = max(0, ((place - reach) / cell).rounded(.down))
        let high = min(Double(count - 1), ((place + reach) / cell).rounded(.down))
        return low <= high ? Int(low)..<Int(high) + 1 : 0..<0
    }
}
