internal import Airtime
internal import Sites

/// Locates a receiver with `gauss`, `field` or `hmm`. Computes the probability of each cell and of each receiver offset
/// from the log-likelihoods of a window of vectors.
struct CellLocator: Sendable {
    private let table: ReceptionTable
    /// For each cell, the index in the map of its place: the nearest place on the cell's floor.
    private let placeOfCell: [Int]
    /// For each place, the index of the nearest cell; `nil` for a place without a position if the cells are squares of
    /// a grid.
    private let cellOfPlace: [Int?]
    /// For each cell, the index of its room; `nil` for a cell in no room.
    private let roomOfCell: [Int?]
    private let roomCount: Int
    /// The receiver offsets that are tried, in dB.
    private let offsets: [Double]
    /// The logarithm of the prior probability of each receiver offset, for an unknown receiver.
    private let priors: [Double]
    /// The logarithm of the probability of each receiver offset according to the run's vectors that are no longer in
    /// the window.
    private var runPriors: [Double] = []
    /// The value of ``runPriors`` when a run begins.
    private let firstPriors: [Double]
    /// The divisor of the log-likelihoods; see ``LocatorSettings/likelihoodTemperature``.
    private let temperature: Double
    /// The log-likelihoods of the cells in the last seconds of the run.
    private var window: CellWindow
    /// For `gauss`: a grid over the ground between the places, and the log-likelihoods of its cells in the last
    /// seconds. `nil` if a place has no position, and for `field` and `hmm`, because their own cells cover this ground.
    private var plane: (ground: PlacePlane, window: CellWindow)?
    /// The filter of `hmm`; `nil` for the other algorithms.
    private var filter: CellFilter?
    /// The time of the last vector, in seconds since the start of the run.
    private var lastSeconds: Double?

    /// The places for `gauss`; the cells of the grid for `field` and `hmm`.
    private var cells: [Cell] { window.cells }

    /// An additional divisor of log-likelihoods, for the filter and for learning the receiver offset. It is needed
    /// because readings one second apart are not independent.
    private static let dependence = 5.0.squareRoot() / 2

    init(_ map: SignalMap, walls: [Wall], rooms: [MapRoom] = []) throws(PositioningError) {
        let settings = map.settings
        (offsets, priors) = settings.offsets(on: map)
        firstPriors = settings.runPriors(priors, on: map)
        runPriors = firstPriors
        temperature = settings.likelihoodTemperature
        roomCount = rooms.count
        let length = settings.effectiveWindow ?? 5
        guard settings.algorithm != .gauss else {
            let model = GaussModel(map)
            table = model.table
            window = CellWindow(model.cells, offsets: offsets.count, length: length)
            if let ground = PlacePlane(map, gridMetres: settings.gridMetres) {
                let motion = WindowMotion(ground.grid, window: length)
                plane = (
                    ground, CellWindow(ground.grid.cells, motion: motion, offsets: offsets.count, length: length)
                )
            }
            // A place without a position is in no room.
            roomOfCell = map.places.map { place in
                place.position.flatMap { rooms.index(of: $0, floor: place.floor) }
            }
            placeOfCell = Array(map.places.indices)
            cellOfPlace = placeOfCell
            return
        }
        let model = try FieldModel(map, gridMetres: settings.gridMetres)
        let cells = model.grid.cells
        table = model.table
        let isFilter = settings.algorithm == .hmm
        window = CellWindow(
            cells, motion: isFilter ? nil : WindowMotion(model.grid, window: length), offsets: offsets.count,
            length: length)
        roomOfCell = cells.map { rooms.index(of: $0.position, floor: $0.floor) }
        placeOfCell = map.places.placeOfEach(of: cells)
        cellOfPlace = cells.cellOfEach(of: map.places)
        if isFilter {
            filter = CellFilter(model.grid, planes: offsets.count, walls: walls)
            begin()
        }
    }

    /// Discards the run so far.
    mutating func begin() {
        window.begin()
        plane?.window.begin()
        lastSeconds = nil
        runPriors = firstPriors
        filter?.begin(prior: firstPriors.map { exp($0) })
    }

    /// Adds the next vector of the run.
    mutating func add(_ vector: SignalVector) {
        let logLikelihoods = table.logLikelihoods(of: vector, offsets: offsets)
        filter?.predict(seconds: lastSeconds.map { vector.seconds - $0 } ?? 0)
        filter?.update(logLikelihoods, dividedBy: temperature * Self.dependence)
        if let oldest = window.add(logLikelihoods, seconds: vector.seconds) { learn(oldest) }
        if let onGround = plane?.ground.interpolated(logLikelihoods, placeCount: cells.count) {
            _ = plane?.window.add(onGround, seconds: vector.seconds)
        }
        lastSeconds = vector.seconds
    }

    /// Updates the probabilities of the receiver offsets with the log-likelihoods of a vector that leaves the window.
    /// The offset is assumed to be the same during the whole run.
    private mutating func learn(_ logLikelihoods: [Double]) {
        guard filter == nil, offsets.count > 1 else { return }
        for (index, prior) in runPriors.enumerated() {
            let ofOffset = logLikelihoods[index * cells.count..<(index + 1) * cells.count]
            guard let best = ofOffset.max(), best.isFinite else { return }
            let divisor = temperature * Self.dependence
            runPriors[index] = prior + best / divisor + log(ofOffset.reduce(0) { $0 + exp(($1 - best) / divisor) })
        }
        let best = runPriors.max() ?? 0
        let total = best + log(runPriors.reduce(0) { $0 + exp($1 - best) })
        // Another receiver may continue the run, so the probability of an offset is never lowered to 0.
        runPriors = zip(runPriors, firstPriors).map { max($0 - total, $1 - Self.largestDecrease) }
    }

    /// The largest amount by which a run can lower the logarithm of an offset's probability.
    private static let largestDecrease = 10.0

    // MARK: Regions

    /// The cells from which regions are computed, with the log-likelihoods of the window.
    private struct Ground {
        let cells: [Cell]
        let hypotheses: [WindowHypothesis]
        let priors: [Double]

        func posterior(_ temperature: Double) -> Posterior {
            Posterior(hypotheses, cells: cells.count, temperature: temperature, priors: priors)
        }
    }

    /// Returns the cells from which regions are computed.
    ///
    /// - Parameter largest: The largest temperature for which the result will be used.
    private func ground(upTo largest: Double) -> Ground {
        let window = plane?.window ?? window
        return Ground(
            cells: window.cells, hypotheses: window.hypotheses(temperature: largest, priors: runPriors),
            priors: runPriors)
    }

    /// Returns the index of the smallest temperature with which the 95 % region contains a position; see
    /// ``Locator/leastTemperature(_:at:floor:)``.
    func leastTemperature(_ temperatures: [Double], at position: FloorPosition, floor: String?) -> Int? {
        let ground = ground(upTo: temperatures.last ?? temperature)
        guard let estimate = ground.posterior(LocatorSettings.pointTemperature).position(ground.cells),
            floor == nil || estimate.floor == floor,
            ground.cells.contains(where: { $0.floor == estimate.floor && $0.covers(position) })
        else { return nil }
        return temperatures.least {
            ground.posterior($0).contains(position, with: 0.95, ground.cells, floor: estimate.floor)
        }
    }

    // MARK: Answers

    /// Returns the answer for the vectors in the window.
    func answer(
        heard: Int, used: Int, placeCount: Int, wantsScores: Bool, wantsRegion50: Bool
    ) -> LocatorAnswer {
        let filtered = filter.map { Posterior($0.probabilities) }
        let ground = filtered == nil ? ground(upTo: max(temperature, LocatorSettings.pointTemperature)) : nil
        // `gauss` computes only the region from the ground, and everything else from the places.
        let hypotheses = plane == nil ? ground?.hypotheses ?? [] : window.standing
        func posterior(_ temperature: Double) -> Posterior {
            filtered ?? Posterior(hypotheses, cells: cells.count, temperature: temperature, priors: runPriors)
        }
        let cellPosterior = posterior(temperature)
        guard let estimate = posterior(LocatorSettings.pointTemperature).position(cells) else {
            return .none(.noCandidate, heard: heard, used: used)
        }
        var byPlace = [Double](repeating: 0, count: placeCount)
        for (cell, weight) in cellPosterior.probabilities.enumerated() { byPlace[placeOfCell[cell]] += weight }
        let likeliestPlaces = byPlace.indices.sorted { (byPlace[$0], $1) > (byPlace[$1], $0) }
        let groundPosterior = plane == nil ? cellPosterior : ground?.posterior(temperature) ?? cellPosterior
        let groundCells = plane?.window.cells ?? cells
        func region(_ probability: Double) -> Region {
            groundPosterior.region(probability, groundCells, around: estimate.position, floor: estimate.floor)
        }
        let region95 = region(0.95)
        let siteArea = groundCells.reduce(0) { $0 + $1.groundArea }
        var answer = LocatorAnswer(used < 3 || region95.area > siteArea / 4 ? .poor : .fix, heard: heard, used: used)
        answer.position = estimate.position
        answer.floor = estimate.floor
        answer.place = likeliestPlaces.first
        answer.candidates = likeliestPlaces.prefix(5).filter { byPlace[$0] > 0 }
            .map { .init(place: $0, probability: byPlace[$0]) }
        answer.region95 = region95
        if wantsRegion50 { answer.region50 = region(0.5) }
        answer.rooms = rooms(cellPosterior)
        answer.receiverOffset = offset(cellPosterior)
        if wantsScores { answer.scores = scores(window.standing) }
        return answer
    }

    /// Returns up to five rooms, the likeliest first.
    private func rooms(_ posterior: Posterior) -> [LocatorAnswer.RoomCandidate] {
        var byRoom = [Double](repeating: 0, count: roomCount)
        for (cell, weight) in posterior.probabilities.enumerated() {
            if let room = roomOfCell[cell] { byRoom[room] += weight }
        }
        let likeliestRooms = byRoom.indices.sorted { (byRoom[$0], $1) > (byRoom[$1], $0) }
        return likeliestRooms.prefix(5).filter { byRoom[$0] > 0 }.map { .init(room: $0, probability: byRoom[$0]) }
    }

    /// The likeliest receiver offset, in dB.
    private func offset(_ posterior: Posterior) -> Double {
        let shares = filter?.planeProbabilities ?? posterior.offsetWeights
        return offsets[shares.indices.max { shares[$0] < shares[$1] } ?? 0]
    }

    /// Returns the negative logarithm of the likelihood of each place's cell. The likelihood is the sum over all
    /// offsets.
    private func scores(_ hypotheses: [WindowHypothesis]) -> [Double?] {
        cellOfPlace.map { cell in
            guard let cell else { return nil }
            let values = hypotheses.map { $0.logLikelihoods[cell] + priors[$0.offset] }
            guard let best = values.max() else { return nil }
            return -(best + log(values.reduce(0) { $0 + exp($1 - best) }))
        }
    }
}

extension Array where Element == Place {
    /// Returns the index of each cell's place, which is the nearest place on the cell's floor.
    func placeOfEach(of cells: [Cell]) -> [Int] {
        cells.map { cell in nearest(to: cell.position) { $0 == cell.floor } ?? 0 }
    }
}

extension Array where Element == Cell {
    /// Returns the index of the cell nearest to each place on the place's floor; `nil` for a place without a position.
    func cellOfEach(of places: [Place]) -> [Int?] {
        places.map { place in place.position.flatMap { nearest(to: $0, floor: place.floor) } }
    }
}
