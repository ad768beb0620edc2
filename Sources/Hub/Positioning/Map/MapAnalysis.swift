public import Airtime
internal import Sites

/// The analysis of a map: the level of each beacon, the number of received beacons and the expected error at each cell,
/// and the places that are mistaken for each other.
///
/// Everything is computed from the map's field, which also covers the ground between the surveyed places. If errors
/// were measured by leaving parts of the survey out, the expected errors are scaled to have the same mean at the
/// surveyed places.
public struct MapAnalysis: Sendable {
    /// The map.
    public let map: SignalMap
    /// The cells of all floors, or the places in their order if none has a position.
    public let cells: [Cell]
    /// The side of a cell, in metres. `nil` if the cells are the places.
    public let step: Double?
    /// The expected error at each cell, in metres. Empty if the cells are places without positions.
    public private(set) var expectedErrors: [Double] = []
    /// The number of beacons that are usually received at each cell.
    public let receivedBeacons: [Int]
    /// The error at each place, in metres: the error measured by leaving parts of the survey out, or the expected error
    /// if none was measured. `nil` if the place has no position.
    public private(set) var placeErrors: [Double?] = []
    /// For each place, up to five other places for which it is mistaken, with the probabilities, most likely first.
    public private(set) var confusion: [[LocatorAnswer.Candidate]] = []
    /// Areas in which fewer beacons than ``MapAdvice/fewestBeacons`` are received, largest first.
    public private(set) var gaps: [Gap] = []

    /// An area in which too few beacons are received.
    public struct Gap: Hashable, Sendable {
        /// The cell nearest to the middle of the area.
        public let position: FloorPosition
        public let floor: String?
        /// The area in m².
        public let area: Double
        /// The smallest number of beacons received at any of its cells.
        public let fewestBeacons: Int
    }

    private static let confusionLimit = 5
    private static let leastShare = 0.005
    /// The largest product of the squared number of cells and the number of beacons. It limits the time of the
    /// computation.
    private static let work = 20_000_000.0

    private let table: ReceptionTable
    /// The cell of each place; `nil` for places without a position.
    private let cellOfPlace: [Int?]

    /// The analysis of a map.
    ///
    /// - Parameter cellLimit: The approximate largest number of cells.
    /// - Throws: If the field cannot be computed.
    public init(_ map: SignalMap, cellLimit: Int = 900) throws(PositioningError) {
        self.map = map
        let isPlaced = map.modelSite != nil || map.places.contains { $0.position != nil }
        var spots: [CellGrid.Spot] = []
        if isPlaced {
            let limit = min(Double(cellLimit), (Self.work / Double(max(1, map.beacons.count))).squareRoot())
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
        // In a field that the planner computed, a beacon whose level equals the receiver's sensitivity is received with
        // the probability in the middle of the range.
        let range = PlannedField.probabilityRange
        let least = map.modelSite == nil ? 0.5 : (range.lowerBound + range.upperBound) / 2
        let (table, count) = (table, cells.count)
        receivedBeacons = (0..<count).map { cell in
            map.beacons.indices.count { table.receptionProbability(beacon: $0, cell: cell) >= least }
        }
        expect(isPlaced: isPlaced)
        if isPlaced { gaps = Self.gaps(cells, spots, receivedBeacons) }
    }

    /// The mean level of a beacon at a cell in the field, in dBm.
    public func level(beacon: Int, cell: Int) -> Double { table.mean(beacon: beacon, cell: cell) }

    /// The measured mean level of a beacon at a place minus the level of the field there, in dB. `nil` if the beacon
    /// was not received at the place, or if the place has no position.
    public func residual(beacon: Int, place: Int) -> Double? {
        guard let cell = cellOfPlace[place],
            let found = map.statistics[place].first(where: { $0.beacon == beacon })
        else { return nil }
        return found.mean - table.mean(beacon: beacon, cell: cell)
    }

    /// The floors of the cells, each once, in their order.
    var floors: [String?] {
        var floors: [String?] = []
        for cell in cells where !floors.contains(cell.floor) { floors.append(cell.floor) }
        return floors
    }

    /// The number of beacons that are usually received at a place. `nil` for a place without a position.
    public func receivedBeacons(at place: Int) -> Int? { cellOfPlace[place].map { receivedBeacons[$0] } }

    /// Computes the expected errors and the places that are mistaken for each other, from the probability of each cell
    /// for a receiver at another cell.
    private mutating func expect(isPlaced: Bool) {
        let isKnown = if case .known = map.settings.receiverOffset { true } else { false }
        let deviation =
            isKnown ? 0 : map.modelSite == nil ? LocatorSettings.offsetDeviation : LocatorSettings.plannedDeviation
        let scale = Double(map.settings.effectiveWindow ?? 1).squareRoot() / LocatorSettings.pointTemperature
        let placeOfCell = isPlaced ? map.places.placeOfEach(of: cells) : Array(cells.indices)
        var cellIsPlace = [Bool](repeating: false, count: cells.count)
        for cell in cellOfPlace.compactMap({ $0 }) { cellIsPlace[cell] = true }
        var shares: [Int: [Double]] = [:]
        for truth in cells.indices where isPlaced || cellIsPlace[truth] {
            let found = table.expectedLogLikelihoods(at: truth, offsetVariance: deviation * deviation)
            let best = found.max() ?? 0
            let weights = found.map { exp(($0 - best) * scale) }
            let sum = weights.reduce(0, +)
            if isPlaced {
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
            shares[truth] = byPlace
        }
        confusion = map.places.indices.map { place in
            guard let cell = cellOfPlace[place], let found = shares[cell] else { return [] }
            let others = found.indices.filter { $0 != place && found[$0] >= Self.leastShare }
            return others.sorted { (found[$0], $1) > (found[$1], $0) }.prefix(Self.confusionLimit)
                .map { .init(place: $0, probability: found[$0]) }
        }
        setPlaceErrors(isPlaced: isPlaced)
    }

    /// Sets the error of each place. Scales the expected errors so that their mean agrees with the mean of the errors
    /// measured by leaving parts of the survey out.
    private mutating func setPlaceErrors(isPlaced: Bool) {
        var known: [String: Double] = [:]
        for result in map.evaluation?.byPlace ?? [] { if let error = result.meanError { known[result.place] = error } }
        guard isPlaced else {
            placeErrors = map.places.map { known[$0.name] }
            return
        }
        let expected = cellOfPlace.map { $0.map { expectedErrors[$0] } }
        var (sum, other) = (0.0, 0.0)
        for (place, error) in zip(map.places, expected) {
            guard let error, let honest = known[place.name] else { continue }
            (sum, other) = (sum + honest, other + error)
        }
        if sum > 0, other > 0 {
            let scale = sum / other
            expectedErrors = expectedErrors.map { $0 * scale }
        }
        placeErrors = map.places.indices.map { place in
            known[map.places[place].name] ?? cellOfPlace[place].map { expectedErrors[$0] }
        }
    }

    /// The gaps: connected cells with too few beacons.
    private static func gaps(_ cells: [Cell], _ spots: [CellGrid.Spot], _ receivedBeacons: [Int]) -> [Gap] {
        var left: [CellGrid.Spot: Int] = [:]
        for cell in cells.indices where receivedBeacons[cell] < MapAdvice.fewestBeacons { left[spots[cell]] = cell }
        var gaps: [Gap] = []
        for cell in cells.indices where left[spots[cell]] != nil {
            left[spots[cell]] = nil
            var members = [cell]
            var next = 0
            while next < members.count {
                let spot = spots[members[next]]
                next += 1
                for (column, row) in [(1, 0), (-1, 0), (0, 1), (0, -1)] {
                    let other = CellGrid.Spot(
                        floor: spot.floor, column: spot.column + column, row: spot.row + row)
                    if let found = left.removeValue(forKey: other) { members.append(found) }
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
