internal import Airtime

/// `field`: the level and the probability of reception of each beacon at each cell of a grid.
///
/// The mean of a beacon is a trend over the logarithm of the distance, plus a Gaussian process over the differences of
/// the surveyed places from the trend. For a map made from a site file, the planner computes the mean.
public struct FieldModel: Sendable {
    /// The cells around the surveyed places, floor by floor.
    public let grid: CellGrid
    /// The reception of each of the map's beacons at each cell.
    public private(set) var table: EmissionTable

    /// The distance between places if there are no two places, in metres.
    static let unknownSpacing = 2.0
    /// The smallest variance of the process in dB²: shadowing of 5 dB.
    static let leastVariance = 25.0
    /// The length scale of the process as a multiple of the distance between places, and the smallest one in metres.
    private static let lengthFactor = 2.0
    private static let shortestLength = 3.0
    /// Cells farther from every place than this multiple of the distance between places are left out.
    private static let reachFactor = 2.0

    /// The field of a map.
    ///
    /// - Parameter gridMetres: The side of a cell in metres; `nil` to choose it by the size of the site.
    /// - Throws: ``PositioningError/noPositions(_:)`` if no place has a position.
    public init(_ map: SignalMap, gridMetres: Double?) throws(PositioningError) {
        if let site = map.modelSite {
            let planned = try PlannedField(site, floor: map.places.first?.floor, gridMetres: gridMetres)
            (grid, table) = (planned.grid, planned.table)
            return
        }
        let (grid, byFloor) = try Self.grid(map, step: gridMetres)
        self.grid = grid
        table = EmissionTable(cells: grid.cells.count, beacons: map.beacons.count)
        let spread = LevelSpread(map, places: byFloor.flatMap { $0 })
        let length = max(Self.lengthFactor * (map.spacing ?? Self.unknownSpacing), Self.shortestLength)
        for (floor, places) in byFloor.enumerated() {
            let fit = FloorField(map, spread, places: places, length: length)
            fit.fill(&table, grid, cells: grid.spots.indices.filter { grid.spots[$0].floor == floor })
        }
    }

    /// The cells around the surveyed places, and the numbers of the places of each floor.
    private static func grid(
        _ map: SignalMap, step: Double?
    ) throws(PositioningError) -> (grid: CellGrid, byFloor: [[Int]]) {
        let placed = map.places.indices.filter { map.places[$0].position != nil }
        guard !placed.isEmpty else { throw .noPositions(.field) }
        var floors: [String?] = []
        for place in placed where !floors.contains(map.places[place].floor) { floors.append(map.places[place].floor) }
        let byFloor = floors.map { floor in placed.filter { map.places[$0].floor == floor } }
        let positions = Dictionary(
            uniqueKeysWithValues: zip(floors, byFloor.map { $0.compactMap { map.places[$0].position } }))
        let areas = floors.map { floor in
            let xs = positions[floor, default: []].map(\.x)
            let ys = positions[floor, default: []].map(\.y)
            return CellGrid.Area(
                floor: floor, low: .init(x: xs.min() ?? 0, y: ys.min() ?? 0),
                high: .init(x: xs.max() ?? 0, y: ys.max() ?? 0))
        }
        let reach = max(reachFactor * (map.spacing ?? unknownSpacing), shortestLength)
        let grid = CellGrid(areas, step: step) { cell in
            positions[cell.floor, default: []].contains { $0.distance(to: cell.position) <= reach }
        }
        return (grid, byFloor)
    }
}

/// Computes the field of one floor.
private struct FloorField {
    private let map: SignalMap
    private let spread: LevelSpread
    /// The numbers of the floor's places in the map, and their positions.
    private let places: [Int]
    private let positions: [FloorPosition]
    /// The length scale of the Gaussian process, in metres.
    private let length: Double
    /// The statistics of each place of the floor, by beacon.
    private let found: [[Int: PlaceStatistics]]
    private let trends: [BeaconTrend?]

    /// Where a beacon was never received, its level is assumed as ``ReceivedLevel/floor`` with this variance, in dB².
    private static let absentVariance = 100.0
    /// The number of seconds as which the overall probability of reception counts in that of each cell.
    private static let priorSeconds = 5.0
    /// Only the nearest places influence a cell.
    private static let placeLimit = 64
    /// The side in cells of a square whose cells are computed from the same places.
    private static let tileSide = 8

    init(_ map: SignalMap, _ spread: LevelSpread, places: [Int], length: Double) {
        self.map = map
        self.spread = spread
        self.places = places
        self.length = length
        positions = places.map { map.places[$0].position ?? FloorPosition(x: 0, y: 0) }
        found = places.map { Dictionary(uniqueKeysWithValues: map.statistics[$0].map { ($0.beacon, $0) }) }
        trends = map.trends(over: places, spread)
    }

    func fill(_ table: inout EmissionTable, _ grid: CellGrid, cells: [Int]) {
        guard places.count > Self.placeLimit else {
            return fill(&table, grid, cells, from: Array(places.indices))
        }
        let tiles = Dictionary(grouping: cells) { cell in
            let spot = grid.spots[cell]
            return [spot.column / Self.tileSide, spot.row / Self.tileSide]
        }
        for cells in tiles.values {
            let x = cells.reduce(0) { $0 + grid.cells[$1].position.x } / Double(cells.count)
            let y = cells.reduce(0) { $0 + grid.cells[$1].position.y } / Double(cells.count)
            let distances = positions.map { $0.distance(to: FloorPosition(x: x, y: y)) }
            let nearest = places.indices.sorted { (distances[$0], $0) < (distances[$1], $1) }
            fill(&table, grid, cells, from: nearest.prefix(Self.placeLimit).sorted())
        }
    }

    private func kernel(_ left: FloorPosition, _ right: FloorPosition) -> Double {
        let distance = left.distance(to: right) / length
        return exp(-distance * distance / 2)
    }

    /// - Parameter near: The places that influence the cells.
    private func fill(_ table: inout EmissionTable, _ grid: CellGrid, _ cells: [Int], from near: [Int]) {
        let kernel = near.flatMap { left in near.map { self.kernel(positions[left], positions[$0]) } }
        let cross = near.flatMap { place in cells.map { self.kernel(positions[place], grid.cells[$0].position) } }
        let listened = near.map { Double(map.places[places[$0]].seconds) }
        let seconds = sums(cross, listened, cells.count)
        for beacon in map.beacons.indices {
            fill(&table, grid, cells, near, beacon, kernel, cross, seconds)
        }
    }

    /// For each cell, the sum of the values of the places, weighted by their correlation with the cell.
    private func sums(_ cross: [Double], _ values: [Double], _ count: Int) -> [Double] {
        var sums = [Double](repeating: 0, count: count)
        for (place, value) in values.enumerated() where value != 0 {
            for cell in 0..<count { sums[cell] += cross[place * count + cell] * value }
        }
        return sums
    }

    private func fill(
        _ table: inout EmissionTable, _ grid: CellGrid, _ cells: [Int], _ near: [Int], _ beacon: Int,
        _ kernel: [Double], _ cross: [Double], _ seconds: [Double]
    ) {
        let packet = spread.byBeacon[beacon]
        let received = near.map { found[$0][beacon] }
        var process: GaussianProcess?
        if let trend = trends[beacon], received.contains(where: { $0 != nil }) {
            let values = zip(near, received).map { place, received in
                let expected = trend.level(at: positions[place])
                return received.map { $0.mean - expected } ?? min(ReceivedLevel.floor - expected, 0)
            }
            let noise = received.map { $0.map(spread.varianceOfMean) ?? Self.absentVariance }
            process = GaussianProcess(values: values, kernel: kernel, noise: noise, variance: trend.variance)
        }
        guard let process, let trend = trends[beacon] else {
            for cell in cells {
                table.set(
                    beacon: beacon, cell: cell, mean: ReceivedLevel.floor, variance: packet + Self.absentVariance,
                    chance: 0)
            }
            return
        }
        let (means, variances) = process.predict(cross, count: cells.count)
        let total = Double(max(1, map.places.reduce(0) { $0 + $1.seconds }))
        let share = Double(map.beacons[beacon].seconds) / total
        let receivedSeconds = sums(cross, received.map { Double($0?.seconds ?? 0) }, cells.count)
        for (index, cell) in cells.enumerated() {
            let chance =
                (receivedSeconds[index] + Self.priorSeconds * share) / (seconds[index] + Self.priorSeconds)
            table.set(
                beacon: beacon, cell: cell, mean: trend.level(at: grid.cells[cell].position) + means[index],
                variance: variances[index] + packet, chance: chance)
        }
    }
}
