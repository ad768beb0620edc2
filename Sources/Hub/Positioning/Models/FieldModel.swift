internal import Airtime

/// `field`: what is heard of each beacon on a grid: a trend over the logarithm of the distance, and a Gaussian process
/// over what the surveyed places differ from it. On a map without a survey what the planner expects.
public struct FieldModel: Sendable {
    /// Around the surveyed places, floor by floor.
    public let grid: CellGrid
    /// What is heard of each of the map's beacons at each cell.
    public private(set) var table: EmissionTable

    /// Where there are no two places, in metres.
    static let unknownSpacing = 2.0
    /// The process forgets over so many times the distance between places, and over no less than this, in metres.
    static let lengths = 2.0
    static let shortest = 3.0
    /// A place that never heard the beacon says about as much as a level of F that is so uncertain, in dB².
    static let unheardVariance = 100.0
    /// The process varies at least so much, in dB²: shadowing of 5 dB.
    static let leastVariance = 25.0
    /// The overall share of seconds in which a beacon is heard counts for so many seconds at each cell.
    static let priorSeconds = 5.0
    /// Cells farther from every place than so many times the distance between places are left out.
    static let reach = 2.0
    /// More places than this do not help a cell: the nearest count.
    static let placeLimit = 128
    /// So many cells are looked at with the same places.
    static let tileSide = 8

    /// - Parameter gridMetres: The distance between cells; `nil` to let the size of the site decide.
    ///
    /// Refuses a map without positions.
    public init(_ map: SignalMap, gridMetres: Double?) throws(PositioningError) {
        if let plan = map.plan {
            let planned = try PlannedField(plan, floor: map.places.first?.floor, gridMetres: gridMetres)
            (grid, table) = (planned.grid, planned.table)
            return
        }
        let (grid, byFloor) = try Self.grid(map, step: gridMetres)
        self.grid = grid
        table = EmissionTable(cells: grid.cells.count, beacons: map.beacons.count)
        let positions = map.places.map { $0.position ?? FloorPosition(x: 0, y: 0) }
        let spread = SpreadOfLevels(map, places: byFloor.flatMap { $0 })
        let length = max(Self.lengths * (map.spacing ?? Self.unknownSpacing), Self.shortest)
        var cellsOfFloor = [[Int]](repeating: [], count: byFloor.count)
        for (cell, spot) in grid.spots.enumerated() { cellsOfFloor[spot.floor].append(cell) }
        for (floor, places) in byFloor.enumerated() {
            let fit = FloorFit(map, spread, places: places, positions: positions, length: length)
            fit.fill(&table, grid, cells: cellsOfFloor[floor])
        }
    }

    /// The cells around the surveyed places, and the places of each floor.
    static func grid(
        _ map: SignalMap, step: Double?
    ) throws(PositioningError) -> (grid: CellGrid, byFloor: [[Int]]) {
        let placed = map.places.indices.filter { map.places[$0].position != nil }
        guard !placed.isEmpty else { throw .noPositions(.field) }
        var floors: [String?] = []
        for place in placed where !floors.contains(map.places[place].floor) { floors.append(map.places[place].floor) }
        let byFloor = floors.map { floor in placed.filter { map.places[$0].floor == floor } }
        let positions = map.places.map { $0.position ?? FloorPosition(x: 0, y: 0) }
        let areas = zip(floors, byFloor).map { floor, places in
            let xs = places.map { positions[$0].x }
            let ys = places.map { positions[$0].y }
            return CellGrid.Area(
                floor: floor, low: .init(x: xs.min() ?? 0, y: ys.min() ?? 0),
                high: .init(x: xs.max() ?? 0, y: ys.max() ?? 0))
        }
        let reach = max(Self.reach * (map.spacing ?? Self.unknownSpacing), Self.shortest)
        let placesOf = Dictionary(uniqueKeysWithValues: zip(floors, byFloor))
        let grid = CellGrid(areas, step: step) { cell in
            placesOf[cell.floor, default: []].contains { positions[$0].distance(to: cell.position) <= reach }
        }
        return (grid, byFloor)
    }
}

/// The field of one floor while it is being made.
private struct FloorFit {
    private let map: SignalMap
    private let spread: SpreadOfLevels
    private let places: [Int]
    private let positions: [FloorPosition]
    private let length: Double
    /// By place of this floor, then by beacon: the statistics' index, -1 where it was never heard.
    private var found: [[Int32]]
    private var trends: [BeaconTrend?]

    init(
        _ map: SignalMap, _ spread: SpreadOfLevels, places: [Int], positions: [FloorPosition], length: Double
    ) {
        self.map = map
        self.spread = spread
        self.places = places
        self.positions = places.map { positions[$0] }
        self.length = length
        found = places.map { place in
            var row = [Int32](repeating: -1, count: map.beacons.count)
            for (index, statistics) in map.statistics[place].enumerated() { row[statistics.beacon] = Int32(index) }
            return row
        }
        trends = []
        trends = map.beacons.indices.map { beacon in
            var heard: [BeaconTrend.Point] = []
            for (place, row) in found.enumerated() where row[beacon] >= 0 {
                let statistics = map.statistics[places[place]][Int(row[beacon])]
                heard.append(
                    .init(
                        position: self.positions[place], level: statistics.mean,
                        variance: spread.variance(statistics) / Double(statistics.seconds) + SpreadOfLevels.unknown))
            }
            return BeaconTrend(heard, position: map.beacons[beacon].position)
        }
    }

    private func kernel(_ left: FloorPosition, _ right: FloorPosition) -> Double {
        let distance = left.distance(to: right) / length
        return exp(-distance * distance / 2)
    }

    func fill(_ table: inout EmissionTable, _ grid: CellGrid, cells: [Int]) {
        guard places.count > FieldModel.placeLimit else {
            for start in stride(from: 0, to: cells.count, by: 512) {
                fill(&table, grid, Array(cells[start..<min(start + 512, cells.count)]), Array(places.indices))
            }
            return
        }
        var tiles: [CellGrid.Spot: [Int]] = [:]
        for cell in cells {
            let spot = grid.spots[cell]
            let tile = CellGrid.Spot(
                floor: spot.floor, column: spot.column / FieldModel.tileSide, row: spot.row / FieldModel.tileSide)
            tiles[tile, default: []].append(cell)
        }
        for (_, cells) in tiles.sorted(by: { ($0.key.column, $0.key.row) < ($1.key.column, $1.key.row) }) {
            let x = cells.reduce(0) { $0 + grid.cells[$1].position.x } / Double(cells.count)
            let y = cells.reduce(0) { $0 + grid.cells[$1].position.y } / Double(cells.count)
            let middle = FloorPosition(x: x, y: y)
            let distances = positions.map { $0.distance(to: middle) }
            let nearest = places.indices.sorted { (distances[$0], $0) < (distances[$1], $1) }
            fill(&table, grid, cells, nearest.prefix(FieldModel.placeLimit).sorted())
        }
    }

    private func fill(_ table: inout EmissionTable, _ grid: CellGrid, _ cells: [Int], _ near: [Int]) {
        var kernel: [Double] = []
        kernel.reserveCapacity(near.count * near.count)
        for left in near {
            for right in near { kernel.append(self.kernel(positions[left], positions[right])) }
        }
        var cross: [Double] = []
        cross.reserveCapacity(near.count * cells.count)
        for place in near {
            for cell in cells { cross.append(self.kernel(positions[place], grid.cells[cell].position)) }
        }
        let listened = near.map { Double(map.places[places[$0]].seconds) }
        var weight = [Double](repeating: FieldModel.priorSeconds, count: cells.count)
        add(cross, listened, to: &weight)
        for beacon in map.beacons.indices {
            fill(&table, grid, cells, near, beacon, kernel, cross, weight)
        }
    }

    private func add(_ cross: [Double], _ values: [Double], to sums: inout [Double]) {
        for (place, value) in values.enumerated() where value != 0 {
            let start = place * sums.count
            for cell in sums.indices { sums[cell] += cross[start + cell] * value }
        }
    }

    private func fill(
        _ table: inout EmissionTable, _ grid: CellGrid, _ cells: [Int], _ near: [Int], _ beacon: Int,
        _ kernel: [Double], _ cross: [Double], _ weight: [Double]
    ) {
        var (values, noise): ([Double], [Double]) = ([], [])
        var heardSeconds = [Double](repeating: 0, count: near.count)
        let packet = spread.byBeacon[beacon]
        let trend = trends[beacon]
        var isHeard = false
        for (index, place) in near.enumerated() {
            let expected = trend?.level(at: positions[place]) ?? ReceivedLevel.floor
            let row = found[place][beacon]
            if row >= 0 {
                let statistics = map.statistics[places[place]][Int(row)]
                values.append(statistics.mean - expected)
                noise.append(spread.variance(statistics) / Double(statistics.seconds) + SpreadOfLevels.unknown)
                heardSeconds[index] = Double(statistics.seconds)
                isHeard = true
            } else {
                values.append(min(ReceivedLevel.floor - expected, 0))
                noise.append(FieldModel.unheardVariance)
            }
        }
        guard isHeard, let trend,
            let process = GaussianProcess(values: values, kernel: kernel, noise: noise, variance: trend.variance)
        else {
            for cell in cells {
                table.set(
                    beacon: beacon, cell: cell, mean: ReceivedLevel.floor,
                    variance: packet + FieldModel.unheardVariance, chance: 0)
            }
            return
        }
        let (means, variances) = process.predict(cross, count: cells.count)
        let total = Double(max(1, map.places.reduce(0) { $0 + $1.seconds }))
        let share = Double(map.beacons[beacon].seconds) / total
        var heard = [Double](repeating: FieldModel.priorSeconds * share, count: cells.count)
        add(cross, heardSeconds, to: &heard)
        for (index, cell) in cells.enumerated() {
            table.set(
                beacon: beacon, cell: cell, mean: trend.level(at: grid.cells[cell].position) + means[index],
                variance: variances[index] + packet, chance: heard[index] / weight[index])
        }
    }
}

extension SignalMap {
    /// Each beacon's trend over all places; `nil` where no place with a position heard it.
    var trends: [BeaconTrend?] {
        let spread = SpreadOfLevels(self, places: Array(places.indices))
        var heard = [[BeaconTrend.Point]](repeating: [], count: beacons.count)
        for (place, found) in statistics.enumerated() {
            guard let position = places[place].position else { continue }
            for statistics in found {
                heard[statistics.beacon].append(
                    .init(
                        position: position, level: statistics.mean,
                        variance: spread.variance(statistics) / Double(statistics.seconds) + SpreadOfLevels.unknown))
            }
        }
        return heard.enumerated().map { BeaconTrend($1, position: beacons[$0].position) }
    }
}

/// A beacon's level over the logarithm of the distance: A - 10·n·log10 d, d at least 1 m.
struct BeaconTrend: Sendable {
    /// Where it is taken to hang.
    let centre: FloorPosition
    /// A in dBm.
    let levelAtOneMetre: Double
    /// n.
    let exponent: Double
    /// What the levels differ from the trend beyond their own noise, in dB².
    let variance: Double

    /// A place where it was heard.
    struct Point {
        let position: FloorPosition
        let level: Double
        /// Of the level, in dB².
        let variance: Double
    }

    static let exponents = 0.5...4.0
    /// Where the places do not tell one.
    static let usualExponent = 2.0

    /// - Parameter position: Where it hangs; else it is taken to hang between the three places that hear it best.
    init?(_ points: [Point], position: FloorPosition?) {
        guard !points.isEmpty else { return nil }
        let centre = position ?? Self.centre(points)
        let logs = points.map { Self.logarithm($0.position, centre) }
        var (sum, x, y) = (0.0, 0.0, 0.0)
        for (index, point) in points.enumerated() {
            let weight = 1 / point.variance
            (sum, x, y) = (sum + weight, x + weight * logs[index], y + weight * point.level)
        }
        (x, y) = (x / sum, y / sum)
        var (squares, products) = (0.0, 0.0)
        for (index, point) in points.enumerated() {
            let weight = 1 / point.variance
            squares += weight * (logs[index] - x) * (logs[index] - x)
            products += weight * (logs[index] - x) * (point.level - y)
        }
        let fitted = squares > 1e-9 ? -products / squares / 10 : Self.usualExponent
        let exponent = min(max(fitted, Self.exponents.lowerBound), Self.exponents.upperBound)
        let atOneMetre = y + 10 * exponent * x
        var excess = 0.0
        for (index, point) in points.enumerated() {
            let difference = point.level - (atOneMetre - 10 * exponent * logs[index])
            excess += difference * difference - point.variance
        }
        self.centre = centre
        self.exponent = exponent
        levelAtOneMetre = atOneMetre
        variance = max(FieldModel.leastVariance, excess / Double(points.count))
    }

    /// In dBm.
    func level(at position: FloorPosition) -> Double {
        levelAtOneMetre - 10 * exponent * Self.logarithm(position, centre)
    }

    private static func logarithm(_ position: FloorPosition, _ centre: FloorPosition) -> Double {
        log10(max(1, position.distance(to: centre)))
    }

    private static func centre(_ points: [Point]) -> FloorPosition {
        let strongest = points.enumerated().sorted { ($0.element.level, $1.offset) > ($1.element.level, $0.offset) }
        var (x, y, total) = (0.0, 0.0, 0.0)
        for (_, point) in strongest.prefix(3) {
            let weight = pow(10, (point.level - strongest[0].element.level) / 20)
            (x, y, total) = (x + weight * point.position.x, y + weight * point.position.y, total + weight)
        }
        return FloorPosition(x: x / total, y: y / total)
    }
}
