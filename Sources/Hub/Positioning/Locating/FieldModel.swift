internal import Airtime
internal import Sites

/// The model of `field`: the level and the probability of reception of each beacon at each cell of a grid.
///
/// The mean level of a beacon is the sum of a trend and a Gaussian process. The trend depends on the logarithm of the
/// distance. The Gaussian process is fitted to the differences between the measured levels and the trend at the
/// surveyed places. For a map made from a site file, the planner computes the mean level instead.
public struct FieldModel: Sendable {
    /// The cells around the surveyed places, floor by floor.
    public let grid: CellGrid
    /// The reception of each of the map's beacons at each cell.
    public private(set) var table: ReceptionTable

    /// The assumed distance between places, in metres, if no floor has two places with positions.
    static let unknownSpacing = 2.0
    /// The smallest variance of the Gaussian process in dB². It is the variance of shadowing with a standard deviation
    /// of 5 dB.
    static let leastVariance = 25.0
    /// The length scales of the Gaussian process that are tried, as multiples of the distance between places.
    private static let lengthFactors = [2.0, 1.4, 1, 0.75]
    /// The smallest length scale of the Gaussian process, in metres.
    private static let shortestLength = 3.0
    /// The largest number of groups of places for which the tried length scales are compared.
    private static let lengthGroups = 4
    /// The distance from the nearest place beyond which cells are left out, as a multiple of the distance between
    /// places.
    private static let reachFactor = 2.0

    /// Computes the field of a map.
    ///
    /// - Parameters:
    ///   - gridMetres: The side of a cell in metres; `nil` to choose it by the size of the site.
    ///   - cellLimit: The largest number of cells. If there would be more, the cells become larger.
    /// - Throws: ``PositioningError/noPositions(_:)`` if no place has a position.
    public init(
        _ map: SignalMap, gridMetres: Double?, cellLimit: Int = CellGrid.limit
    ) throws(PositioningError) {
        if let site = map.modelSite {
            let planned = try PlannedField(
                site, floor: map.places.first?.floor, gridMetres: gridMetres, cellLimit: cellLimit)
            (grid, table) = (planned.grid, planned.table)
            return
        }
        let (grid, placesByFloor) = try Self.grid(map, step: gridMetres, limit: cellLimit)
        self.grid = grid
        table = ReceptionTable(cells: grid.cells.count, beacons: map.beacons.count)
        let spread = LevelSpread(map, places: placesByFloor.flatMap { $0 })
        let length = Self.length(map, spread, placesByFloor)
        for (floor, places) in placesByFloor.enumerated() {
            let fit = FloorField(map, spread, places: places, length: length)
            fit.fill(&table, grid, cells: grid.spots.indices.filter { grid.spots[$0].floor == floor })
        }
    }

    /// Returns the length scale in metres with which the Gaussian process best predicts the levels at each place from
    /// the levels at the other places.
    ///
    /// - Parameter placesByFloor: The indices of the places of each floor.
    private static func length(_ map: SignalMap, _ spread: LevelSpread, _ placesByFloor: [[Int]]) -> Double {
        let spacing = map.spacing ?? unknownSpacing
        var lengths: [Double] = []
        for factor in lengthFactors {
            let length = max(factor * spacing, shortestLength)
            if !lengths.contains(length) { lengths.append(length) }
        }
        guard lengths.count > 1 else { return lengths[0] }
        let floors = placesByFloor.filter { $0.count > 2 }
        let groups = min(lengthGroups, floors.reduce(0) { $0 + 1 + $1.count / FloorField.placeLimit })
        let sums = lengths.map { length in
            (0..<groups).reduce(0.0) { sum, group in
                let places = floors[group * floors.count / groups]
                let middle = places[(2 * group + 1) * places.count / (2 * groups)]
                return sum + FloorField(map, spread, places: places, length: length).leaveOneOutDensity(around: middle)
            }
        }
        return lengths[sums.indices.max { sums[$0] < sums[$1] } ?? 0]
    }

    /// Returns the cells around the surveyed places, and the indices of the places of each floor. In regions, the
    /// outermost cells include the ground beyond them, up to half of the distance between places.
    ///
    /// - Throws: ``PositioningError/noPositions(_:)`` if no place has a position.
    static func grid(
        _ map: SignalMap, step: Double?, limit: Int = CellGrid.limit
    ) throws(PositioningError) -> (grid: CellGrid, placesByFloor: [[Int]]) {
        let withPosition = map.places.indices.filter { map.places[$0].position != nil }
        guard !withPosition.isEmpty else { throw .noPositions(.field) }
        var floors: [String?] = []
        for place in withPosition where !floors.contains(map.places[place].floor) {
            floors.append(map.places[place].floor)
        }
        let placesByFloor = floors.map { floor in withPosition.filter { map.places[$0].floor == floor } }
        let positions = Dictionary(
            uniqueKeysWithValues: zip(floors, placesByFloor.map { $0.compactMap { map.places[$0].position } }))
        let areas = floors.compactMap { floor in
            FloorBounds(positions[floor, default: []]).map { CellGrid.Area(floor: floor, low: $0.low, high: $0.high) }
        }
        let spacing = map.spacing ?? unknownSpacing
        let reach = max(reachFactor * spacing, shortestLength)
        let grid = CellGrid(areas, step: step, limit: limit, margin: spacing / 2) { cell in
            positions[cell.floor, default: []].contains { $0.distance(to: cell.position) <= reach }
        }
        return (grid, placesByFloor)
    }
}

extension SignalMap {
    /// Returns the side of a cell in metres with which about `count` cells cover the places. The side is at least 1 m,
    /// and otherwise at most a third of the distance between places. Returns `nil` to use the default side of
    /// ``CellGrid``.
    func cellSide(for count: Double) -> Double? {
        var area = 0.0
        for floor in Set(places.map(\.floor)) {
            guard let bounds = FloorBounds(places.filter { $0.floor == floor }.compactMap(\.position)) else { continue }
            area += (bounds.high.x - bounds.low.x) * (bounds.high.y - bounds.low.y)
        }
        let side = (area / count).squareRoot()
        return side > 1 ? max(1, min(side, (spacing ?? side) / 3)) : nil
    }

    /// The side of the cells from which regions are computed, in metres. It is a quarter of the distance between
    /// places, or more on large sites. `nil` to use the default side of ``CellGrid``.
    var regionCellSide: Double? {
        let side = cellSide(for: Self.regionCells) ?? 0
        let quarter = (spacing ?? FieldModel.unknownSpacing) / 4
        return max(side, quarter) > Self.smallestRegionCell ? max(side, quarter) : nil
    }

    private static let regionCells = 3000.0
    private static let smallestRegionCell = 0.5
}

/// Computes the field of one floor.
private struct FloorField {
    private let map: SignalMap
    private let spread: LevelSpread
    /// The indices of the floor's places in the map.
    private let places: [Int]
    /// The positions of the floor's places.
    private let positions: [FloorPosition]
    /// The length scale of the Gaussian process, in metres.
    private let length: Double
    /// The statistics of each place of the floor, by beacon.
    private let statistics: [[Int: PlaceStatistics]]
    private let trends: [BeaconTrend?]

    /// The variance in dB² of the level ``ReceivedLevel/notReceived``. This level is assumed at a place where a beacon
    /// was never received.
    private static let absentVariance = 100.0
    /// The weight in seconds of a beacon's mean probability of reception. The probability at a cell is computed as if
    /// the mean over all places had been measured for this time in addition to the survey.
    private static let priorSeconds = 5.0
    /// The number of nearest places that influence a cell.
    static let placeLimit = 64
    /// The side of a tile, in cells. All cells of a tile are computed from the same places.
    private static let tileSide = 8

    init(_ map: SignalMap, _ spread: LevelSpread, places: [Int], length: Double) {
        self.map = map
        self.spread = spread
        self.places = places
        self.length = length
        positions = places.map { map.places[$0].position ?? FloorPosition(x: 0, y: 0) }
        statistics = places.map { Dictionary(uniqueKeysWithValues: map.statistics[$0].map { ($0.beacon, $0) }) }
        trends = map.trends(over: places, spread)
    }

    func fill(_ table: inout ReceptionTable, _ grid: CellGrid, cells: [Int]) {
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
            fill(&table, grid, cells, from: nearest(to: FloorPosition(x: x, y: y)))
        }
    }

    private func kernel(_ left: FloorPosition, _ right: FloorPosition) -> Double {
        let distance = left.distance(to: right) / length
        return exp(-distance * distance / 2)
    }

    /// Computes the field at some cells from some places.
    ///
    /// - Parameter nearPlaces: The indices in ``places`` of the places that influence the cells.
    private func fill(_ table: inout ReceptionTable, _ grid: CellGrid, _ cells: [Int], from nearPlaces: [Int]) {
        let kernel = nearPlaces.flatMap { left in nearPlaces.map { self.kernel(positions[left], positions[$0]) } }
        let cross = nearPlaces.flatMap { place in cells.map { self.kernel(positions[place], grid.cells[$0].position) } }
        let surveyedSeconds = nearPlaces.map { Double(map.places[places[$0]].seconds) }
        let seconds = sums(cross, surveyedSeconds, cells.count)
        for beacon in map.beacons.indices {
            fill(&table, grid, cells, nearPlaces, beacon, kernel, cross, seconds)
        }
    }

    /// Returns, for each cell, the sum of the values of the places, weighted by their correlations with the cell.
    private func sums(_ cross: [Double], _ values: [Double], _ count: Int) -> [Double] {
        var sums = [Double](repeating: 0, count: count)
        for (place, value) in values.enumerated() where value != 0 {
            for cell in 0..<count { sums[cell] += cross[place * count + cell] * value }
        }
        return sums
    }

    /// Returns the Gaussian process of a beacon over some places; `nil` if none of them received the beacon.
    private func process(_ beacon: Int, _ nearPlaces: [Int], _ kernel: [Double]) -> GaussianProcess? {
        let received = nearPlaces.map { statistics[$0][beacon] }
        guard let trend = trends[beacon], received.contains(where: { $0 != nil }) else { return nil }
        let values = zip(nearPlaces, received).map { place, received in
            let expected = trend.level(at: positions[place])
            return received.map { $0.mean - expected } ?? min(ReceivedLevel.notReceived - expected, 0)
        }
        let noise = received.map { $0.map(spread.varianceOfMean) ?? Self.absentVariance }
        return GaussianProcess(values: values, kernel: kernel, noise: noise, variance: trend.variance)
    }

    /// Returns a measure of how well the levels around a place predict each other. It is the logarithm of the
    /// probability density of the level at each place, given the levels at the other places, summed over all beacons
    /// and the places that received them.
    ///
    /// - Parameter middle: The index in the map of the place in the middle.
    func leaveOneOutDensity(around middle: Int) -> Double {
        guard let position = map.places[middle].position else { return 0 }
        let nearPlaces = nearest(to: position)
        let kernel = nearPlaces.flatMap { left in nearPlaces.map { self.kernel(positions[left], positions[$0]) } }
        return map.beacons.indices.reduce(0.0) { sum, beacon in
            let isReceived = nearPlaces.map { statistics[$0][beacon] != nil }
            guard isReceived.count(where: { $0 }) > 2, let process = process(beacon, nearPlaces, kernel) else {
                return sum
            }
            return zip(isReceived, process.leaveOneOutDensities).reduce(sum) { $1.0 ? $0 + $1.1 : $0 }
        }
    }

    /// Returns the indices in ``places`` of the places that influence a position, in ascending order.
    private func nearest(to position: FloorPosition) -> [Int] {
        guard places.count > Self.placeLimit else { return Array(places.indices) }
        let distances = positions.map { $0.distance(to: position) }
        return places.indices.sorted { (distances[$0], $0) < (distances[$1], $1) }.prefix(Self.placeLimit).sorted()
    }

    private func fill(
        _ table: inout ReceptionTable, _ grid: CellGrid, _ cells: [Int], _ nearPlaces: [Int], _ beacon: Int,
        _ kernel: [Double], _ cross: [Double], _ seconds: [Double]
    ) {
        let levelVariance = spread.byBeacon[beacon]
        guard let process = process(beacon, nearPlaces, kernel), let trend = trends[beacon] else {
            for cell in cells {
                table.set(
                    beacon: beacon, cell: cell, mean: ReceivedLevel.notReceived,
                    variance: levelVariance + Self.absentVariance,
                    probability: 0)
            }
            return
        }
        let (means, variances) = process.predict(cross, count: cells.count)
        let total = Double(max(1, map.places.reduce(0) { $0 + $1.seconds }))
        let overallProbability = Double(map.beacons[beacon].seconds) / total
        let receivedSeconds = sums(cross, nearPlaces.map { Double(statistics[$0][beacon]?.seconds ?? 0) }, cells.count)
        for (index, cell) in cells.enumerated() {
            let probability =
                (receivedSeconds[index] + Self.priorSeconds * overallProbability)
                / (seconds[index] + Self.priorSeconds)
            table.set(
                beacon: beacon, cell: cell, mean: trend.level(at: grid.cells[cell].position) + means[index],
                variance: variances[index] + levelVariance, probability: probability)
        }
    }
}
