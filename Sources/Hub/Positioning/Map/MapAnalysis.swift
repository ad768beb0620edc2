public import Airtime
internal import Sites

/// The analysis of a map. It contains the level of each beacon, the number of received beacons and the expected error
/// at each cell, and the places that are mistaken for each other.
///
/// All values are computed from the map's field (``FieldModel``), which also covers the ground between the surveyed
/// places. If errors were measured by leaving parts of the survey out, the expected errors are multiplied by a factor,
/// so that expected and measured errors have the same mean at the surveyed places.
public struct MapAnalysis: Sendable {
    /// The map.
    public let map: SignalMap
    /// The cells of all floors. If no place has a position, the places in their order.
    public let cells: [Cell]
    /// The side of a cell in metres; `nil` if the cells are places.
    public let step: Double?
    /// The expected error at each cell, in metres. Empty if the cells are places without positions.
    public private(set) var expectedErrors: [Double] = []
    /// The number of beacons that are usually received at each cell.
    public let receivedBeacons: [Int]
    /// The error at each place in metres, measured by leaving parts of the survey out. If it was not measured, the
    /// expected error; `nil` if the place has no position.
    public private(set) var placeErrors: [Double?] = []
    /// For each place, up to five other places for which it is mistaken, with their probabilities, the likeliest first.
    public private(set) var confusion: [[LocatorAnswer.Candidate]] = []
    /// Areas in which fewer beacons than ``MapAdvice/fewestBeacons`` are received, the largest first.
    public private(set) var gaps: [Gap] = []

    /// An area in which too few beacons are received.
    public struct Gap: Hashable, Sendable {
        /// The cell nearest to the middle of the area.
        public let position: FloorPosition
        public let floor: String?
        /// The area in m².
        public let area: Double
        /// The number of beacons received at the cell of the area with the fewest beacons.
        public let fewestBeacons: Int
    }

    /// The largest number of places in an element of ``confusion``.
    private static let confusionLimit = 5
    /// The smallest probability of a place in ``confusion``.
    private static let leastProbability = 0.005
    /// The largest product of the squared number of cells and the number of beacons. It limits the time of the
    /// computation.
    private static let workLimit = 20_000_000.0

    private let table: ReceptionTable
    /// The index of each place's cell; `nil` for places without a position.
    private let cellOfPlace: [Int?]

    /// Analyses a map.
    ///
    /// - Parameter cellLimit: The approximate limit of the number of cells.
    /// - Throws: If the field cannot be computed.
    public init(_ map: SignalMap, cellLimit: Int = 900) throws(PositioningError) {
        self.map = map
        let hasPositions = map.modelSite != nil || map.places.contains { $0.position != nil }
        var spots: [CellGrid.Spot] = []
        if hasPositions {
            let limit = min(Double(cellLimit), (Self.workLimit / Double(max(1, map.beacons.count))).squareRoot())
            let model = try FieldModel(map, gridMetres: 0.5, cellLimit: Int(limit))
            cells = model.grid.cells
            spots = model.grid.spots
            step = model.grid.step
            table = model.table
            cellOfPlace = cells.cellOfEach(of: map.places)
        } else {
            let model = GaussModel(map)
            (cells, table, step) = (model.cells, model.table, nil)
            cellOfPlace = map.places.indices.map { $0 }
        }
        // A beacon whose level equals the receiver's sensitivity is at the limit of usual reception. If the planner
        // computed the field, the probability of receiving such a beacon is in the middle of its range.
        let range = PlannedField.probabilityRange
        let leastProbability = map.modelSite == nil ? 0.5 : (range.lowerBound + range.upperBound) / 2
        let (table, count) = (table, cells.count)
        receivedBeacons = (0..<count).map { cell in
            map.beacons.indices.count { table.receptionProbability(beacon: $0, cell: cell) >= leastProbability }
        }
        computeExpectedErrors(hasPositions: hasPositions)
        if hasPositions { gaps = Self.gaps(cells, spots, receivedBeacons) }
    }

    /// Returns the mean level of a beacon at a cell in the field, in dBm.
    public func level(beacon: Int, cell: Int) -> Double { table.mean(beacon: beacon, cell: cell) }

    /// Returns the measured mean level of a beacon at a place minus the level in the field, in dB. Returns `nil` if the
    /// beacon was not received at the place, or if the place has no position.
    public func residual(beacon: Int, place: Int) -> Double? {
        guard let cell = cellOfPlace[place],
            let statistics = map.statistics[place].first(where: { $0.beacon == beacon })
        else { return nil }
        return statistics.mean - table.mean(beacon: beacon, cell: cell)
    }

    /// The floors of the cells in their order, without repetitions.
    var floors: [String?] {
        var floors: [String?] = []
        for cell in cells where !floors.contains(cell.floor) { floors.append(cell.floor) }
        return floors
    }

    /// Returns the number of beacons that are usually received at a place; `nil` for a place without a position.
    public func receivedBeacons(at place: Int) -> Int? { cellOfPlace[place].map { receivedBeacons[$0] } }

    /// Computes the expected errors, and the places that are mistaken for each other. Both follow from the probability
    /// of each cell for a receiver at another cell.
    private mutating func computeExpectedErrors(hasPositions: Bool) {
        let isOffsetKnown = if case .known = map.settings.receiverOffset { true } else { false }
        let deviation =
            isOffsetKnown
            ? 0 : map.modelSite == nil ? LocatorSettings.offsetDeviation : LocatorSettings.plannedDeviation
        let scale = Double(map.settings.effectiveWindow ?? 1).squareRoot() / LocatorSettings.pointTemperature
        let placeOfCell = hasPositions ? map.places.placeOfEach(of: cells) : Array(cells.indices)
        var cellIsPlace = [Bool](repeating: false, count: cells.count)
        for cell in cellOfPlace.compactMap({ $0 }) { cellIsPlace[cell] = true }
        var probabilitiesOfCell: [Int: [Double]] = [:]
        for truth in cells.indices where hasPositions || cellIsPlace[truth] {
            let logLikelihoods = table.expectedLogLikelihoods(at: truth, offsetVariance: deviation * deviation)
            let best = logLikelihoods.max() ?? 0
            let weights = logLikelihoods.map { exp(($0 - best) * scale) }
            let sum = weights.reduce(0, +)
            if hasPositions {
                let position = cells[truth].position
                var error = 0.0
                for (cell, weight) in weights.enumerated() where weight > 1e-6 {
                    let penalty = cells[cell].floor == cells[truth].floor ? 0 : Evaluation.floorPenalty
                    error += weight * (cells[cell].position.distance(to: position) + penalty)
                }
                expectedErrors.append(error / sum)
            }
            guard cellIsPlace[truth] else { continue }
            var byPlace = [Double](repeating: 0, count: map.places.count)
            for (cell, weight) in weights.enumerated() { byPlace[placeOfCell[cell]] += weight / sum }
            probabilitiesOfCell[truth] = byPlace
        }
        confusion = map.places.indices.map { place in
            guard let cell = cellOfPlace[place], let probabilities = probabilitiesOfCell[cell] else { return [] }
            let others = probabilities.indices.filter { $0 != place && probabilities[$0] >= Self.leastProbability }
            return others.sorted { (probabilities[$0], $1) > (probabilities[$1], $0) }.prefix(Self.confusionLimit)
                .map { .init(place: $0, probability: probabilities[$0]) }
        }
        setPlaceErrors(hasPositions: hasPositions)
    }

    /// Sets the error of each place. Multiplies the expected errors by a factor, so that their mean equals the mean of
    /// the errors that were measured by leaving parts of the survey out.
    private mutating func setPlaceErrors(hasPositions: Bool) {
        var measuredErrors: [String: Double] = [:]
        for result in map.evaluation?.byPlace ?? [] {
            if let error = result.meanError { measuredErrors[result.place] = error }
        }
        guard hasPositions else {
            placeErrors = map.places.map { measuredErrors[$0.name] }
            return
        }
        let expectedOfPlace = cellOfPlace.map { $0.map { expectedErrors[$0] } }
        var (measuredSum, expectedSum) = (0.0, 0.0)
        for (place, expected) in zip(map.places, expectedOfPlace) {
            guard let expected, let measured = measuredErrors[place.name] else { continue }
            (measuredSum, expectedSum) = (measuredSum + measured, expectedSum + expected)
        }
        if measuredSum > 0, expectedSum > 0 {
            let scale = measuredSum / expectedSum
            expectedErrors = expectedErrors.map { $0 * scale }
        }
        placeErrors = map.places.indices.map { place in
            measuredErrors[map.places[place].name] ?? cellOfPlace[place].map { expectedErrors[$0] }
        }
    }

    /// Returns the gaps, which are connected cells with too few beacons.
    private static func gaps(_ cells: [Cell], _ spots: [CellGrid.Spot], _ receivedBeacons: [Int]) -> [Gap] {
        var remaining: [CellGrid.Spot: Int] = [:]
        for cell in cells.indices where receivedBeacons[cell] < MapAdvice.fewestBeacons {
            remaining[spots[cell]] = cell
        }
        var gaps: [Gap] = []
        for cell in cells.indices where remaining[spots[cell]] != nil {
            remaining[spots[cell]] = nil
            var members = [cell]
            var index = 0
            while index < members.count {
                let spot = spots[members[index]]
                index += 1
                for (column, row) in [(1, 0), (-1, 0), (0, 1), (0, -1)] {
                    let neighbor = CellGrid.Spot(
                        floor: spot.floor, column: spot.column + column, row: spot.row + row)
                    if let neighborCell = remaining.removeValue(forKey: neighbor) { members.append(neighborCell) }
                }
            }
            let x = members.reduce(0) { $0 + cells[$1].position.x } / Double(members.count)
            let y = members.reduce(0) { $0 + cells[$1].position.y } / Double(members.count)
            let middle = FloorPosition(x: x, y: y)
            let distances = members.map { cells[$0].position.distance(to: middle) }
            let nearest = members[distances.indices.min { distances[$0] < distances[$1] } ?? 0]
            gaps.append(
                Gap(
                    position: cells[nearest].position, floor: cells[nearest].floor,
                    area: members.reduce(0) { $0 + cells[$1].area },
                    fewestBeacons: members.map { receivedBeacons[$0] }.min() ?? 0))
        }
        return gaps.enumerated().sorted { ($0.element.area, $1.offset) > ($1.element.area, $0.offset) }.map(\.element)
    }
}
