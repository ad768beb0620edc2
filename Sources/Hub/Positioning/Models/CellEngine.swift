internal import Airtime
internal import Sites

/// What `gauss`, `field` and `hmm` share: log-likelihoods over cells and offsets, summed over the window.
struct CellEngine: Sendable {
    let cells: [Cell]
    let table: EmissionTable
    /// The map's place that each cell belongs to: the nearest on its floor.
    let placeOfCell: [Int]
    /// The cell nearest to each place; `nil` for places without a position on a grid.
    let cellOfPlace: [Int?]
    let offsets: [Double]
    let priors: [Double]
    private let window: Int
    private let temper: Double
    /// The log-likelihoods of the window's vectors, each by offset, then by cell, oldest first.
    private var recent: [[Double]] = []
    private var filter: CellFilter?
    private var lastSeconds: Double?

    /// Readings a second apart tell less than so many independent ones would: what a filter divides each one's by,
    /// beside the temper.
    static let dependence = 5.0.squareRoot()

    init(_ map: SignalMap, walls: [Wall]) throws(PositioningError) {
        let settings = map.settings
        var grid: CellGrid?
        if settings.algorithm == .gauss {
            let model = GaussModel(map)
            (cells, table) = (model.cells, model.table)
            placeOfCell = model.places
            cellOfPlace = model.places.map { $0 }
        } else {
            let model = try FieldModel(map, gridMetres: settings.gridMetres)
            (cells, table) = (model.grid.cells, model.table)
            grid = model.grid
            placeOfCell = cells.map { Self.nearest(to: $0, map.places) }
            cellOfPlace = map.places.map { place in
                place.position.flatMap { model.grid.nearest(to: $0, floor: place.floor) }
            }
        }
        let (offsets, priors) = settings.offsets(on: map)
        (self.offsets, self.priors) = (offsets, priors)
        window = settings.effectiveWindow ?? 5
        temper = settings.temper
        if settings.algorithm == .hmm, let grid {
            var filter = CellFilter(grid, planes: offsets.count, walls: walls)
            filter.begin(prior: priors.map { exp($0) })
            self.filter = filter
        }
    }

    private static func nearest(to cell: Cell, _ places: [Place]) -> Int {
        var best = (distance: Double.infinity, place: 0)
        for (index, place) in places.enumerated() where place.floor == cell.floor {
            guard let position = place.position else { continue }
            let distance = position.distance(to: cell.position)
            if distance < best.distance { best = (distance, index) }
        }
        return best.place
    }

    mutating func begin() {
        recent = []
        lastSeconds = nil
        filter?.begin(prior: priors.map { exp($0) })
    }

    mutating func hear(_ vector: SignalVector) {
        // The oldest one's memory is the newest one's.
        var found =
            recent.count < window
            ? [Double](repeating: 0, count: offsets.count * cells.count) : recent.removeFirst()
        table.write(vector, offsets, to: &found)
        filter?.pass(seconds: lastSeconds.map { vector.seconds - $0 } ?? 0)
        filter?.hear(found, dividedBy: temper * Self.dependence / 2)
        recent.append(found)
        lastSeconds = vector.seconds
    }

    /// By offset, then by cell: the window's sum over the root of how many there are.
    var logLikelihoods: [Double] {
        guard var sum = recent.first else { return [Double](repeating: 0, count: cells.count * offsets.count) }
        guard recent.count > 1 else { return sum }
        let scale = 1 / Double(recent.count).squareRoot()
        unsafe sum.withUnsafeMutableBufferPointer { sum in
            for other in recent.dropFirst() {
                unsafe other.withUnsafeBufferPointer { other in
                    for index in 0..<sum.count { unsafe sum[index] += other[index] }
                }
            }
            for index in 0..<sum.count { unsafe sum[index] *= scale }
        }
        return sum
    }

    /// - Parameter temper: `nil` for the map's own.
    func posterior(_ logLikelihoods: [Double], temper: Double? = nil) -> Posterior {
        if let filter, temper == nil { return Posterior(filter.probabilities) }
        return Posterior(logLikelihoods, cells: cells.count, temper: temper ?? self.temper, priors: priors)
    }

    func answer(heard: Int, used: Int, placeCount: Int, wantsScores: Bool) -> LocatorAnswer {
        // A filter needs the window for the scores alone.
        let found = filter == nil || wantsScores ? logLikelihoods : []
        let posterior = posterior(found)
        let point = filter == nil ? self.posterior(found, temper: LocatorSettings.pointTemper) : posterior
        guard let estimate = point.position(cells) else { return .none(.noCandidate, heard: heard, used: used) }
        var byPlace = [Double](repeating: 0, count: placeCount)
        for (cell, weight) in posterior.probabilities.enumerated() { byPlace[placeOfCell[cell]] += weight }
        let order = Self.largest(5, of: byPlace)
        let region = posterior.region(0.95, cells, around: estimate.position)
        let site = cells.reduce(0) { $0 + $1.area }
        var answer = LocatorAnswer(used < 3 || region.area > site / 4 ? .poor : .fix, heard: heard, used: used)
        answer.position = estimate.position
        answer.floor = estimate.floor
        answer.place = order.first
        answer.candidates = order.filter { byPlace[$0] > 0 }
            .map { .init(place: $0, probability: byPlace[$0]) }
        answer.region95 = region
        answer.receiverOffset = offset(posterior)
        if wantsScores { answer.scores = scores(found) }
        return answer
    }

    /// The places of the largest values, largest first, of equal ones the first.
    private static func largest(_ count: Int, of values: [Double]) -> [Int] {
        var order: [Int] = []
        for (index, value) in values.enumerated() where order.count < count || value > values[order[count - 1]] {
            order.insert(index, at: order.firstIndex { value > values[$0] } ?? order.count)
            if order.count > count { order.removeLast() }
        }
        return order
    }

    /// The likeliest offset, in dB.
    private func offset(_ posterior: Posterior) -> Double {
        let shares = filter?.planeProbabilities ?? posterior.offsetWeights
        return offsets[shares.indices.max { shares[$0] < shares[$1] } ?? 0]
    }

    /// By place: minus the log-likelihood of its cell, summed over the offsets.
    private func scores(_ found: [Double]) -> [Double?] {
        cellOfPlace.map { cell in
            guard let cell else { return nil }
            let values = offsets.indices.map { found[$0 * cells.count + cell] + priors[$0] }
            guard let best = values.max() else { return nil }
            return -(best + log(values.reduce(0) { $0 + exp($1 - best) }))
        }
    }
}
