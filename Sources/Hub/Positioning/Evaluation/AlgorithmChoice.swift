public import Airtime
internal import Sites

/// Fits a map: tries several algorithms, chooses the best, and fits its likelihood temperature. To compare the
/// algorithms, parts of the survey are left out of the map, and the receiver is then located in these parts.
public struct AlgorithmChoice: Sendable {
    /// One algorithm that was tried.
    public struct Trial: Sendable {
        /// The algorithm with its fitted parameters.
        public let settings: LocatorSettings
        public let evaluation: Evaluation
        /// The mean error of the algorithm minus the mean error of the best algorithm. `nil` for the best algorithm,
        /// and if the difference is not known.
        public internal(set) var behind: Difference?
    }

    /// The difference between two mean errors at the same instants, with its 95 % confidence interval over stays.
    public struct Difference: Hashable, Sendable {
        /// The mean of the differences, in metres.
        public let mean: Double
        /// The lower end of the interval, in metres.
        public let low: Double
        /// The upper end of the interval, in metres.
        public let high: Double

        /// True if the interval excludes 0.
        public var isCertain: Bool { low > 0 || high < 0 }
    }

    /// The algorithms that were tried, best first.
    public private(set) var trials: [Trial] = []
    /// The map with the settings of the best algorithm.
    public private(set) var map: SignalMap

    /// The algorithms that are tried by default. `hmm` is not one of them, because only a walk can test it.
    public static let candidates: [PositioningAlgorithm] = [
        .nn, .nnMean, .nnMedian, .bhattacharyya, .relative, .wknn, .gauss, .field,
    ]
    /// The values of k that are tried for `wknn` by leaving places out.
    static let neighborCounts = [1, 3, 5, 10, 15, 20, 25]
    /// The product of the numbers of places and beacons above which the algorithms are evaluated with a coarser grid,
    /// and with fewer maps.
    static let largeMap = 10_000
    /// The largest number of cells of the coarser grid.
    private static let coarseCells = 3000.0
    /// The smallest share of answered instants for a normal rank. Algorithms with a smaller share are ranked last.
    static let leastAvailability = 0.9

    /// Fits a map. If nothing can be left out, the first candidate is chosen with its default parameters.
    ///
    /// - Parameters:
    ///   - candidates: The algorithms to try. If there is only one, its parameters are fitted.
    ///   - base: The settings that all algorithms share, such as the grid.
    ///   - neighbors: The number k of nearest vectors that `wknn` uses; `nil` to fit k by leaving places out.
    ///   - leaving: The kind of parts that are left out, one after the other.
    ///   - floorPenalty: The distance that a wrong floor adds to the error, in metres.
    /// - Throws: If the survey has no places, or if no beacon was received at any place.
    public init(
        _ survey: Survey, positions: [BeaconKey: FloorPosition] = [:],
        candidates: [PositioningAlgorithm] = AlgorithmChoice.candidates, base: LocatorSettings = LocatorSettings(),
        neighbors: Int? = nil, leaving: Evaluation.LeftOut? = nil, floorPenalty: Double = Evaluation.floorPenalty
    ) throws(PositioningError) {
        map = try SignalMap(survey, positions: positions, keepsVectors: false)
        defer {
            map.settings.gridMetres = base.gridMetres
            if map.wantsVectors { map.keepVectors(survey) }
        }
        let leaving = leaving ?? .suited(to: survey)
        var evaluator = Evaluator(survey, positions: positions)
        evaluator.floorPenalty = floorPenalty
        var base = base
        if survey.vectorCount > 20_000 || map.places.count * map.beacons.count > Self.largeMap {
            evaluator.instantLimit = survey.vectorCount > 20_000 ? 200 : 600
            evaluator.partLimit = 4
            evaluator.groupsParts = true
            base.gridMetres = base.gridMetres ?? map.cellSide(for: Self.coarseCells)
        }
        let probabilisticCount = candidates.count(where: \.isProbabilistic)
        let fitsNeighbors = candidates.contains(.wknn) && neighbors == nil
        let progress = FitProgress(
            total: evaluator.mapCount(leaving) * candidates.count + evaluator.temperatureMapCount(leaving)
                * probabilisticCount
                + (fitsNeighbors ? evaluator.mapCount(.place) * Self.neighborCounts.count : 0))
        evaluator.progress = progress
        defer { progress.finish() }
        var variants = candidates.map { algorithm in
            var settings = base
            settings.algorithm = algorithm
            if algorithm == .wknn { settings.neighbors = neighbors ?? Self.neighbors(evaluator, settings) }
            return settings
        }
        for (index, temperature) in evaluator.temperatures(variants, leaving: leaving).enumerated() {
            if let temperature { variants[index].likelihoodTemperature = temperature }
        }
        let results = (try? evaluator.results(variants, leaving: leaving)) ?? []
        var instants: [[EvaluatedInstant]] = []
        for (settings, result) in zip(variants, results) {
            guard case .success(let evaluated) = result else { continue }
            trials.append(
                Trial(
                    settings: settings,
                    evaluation: Evaluation(
                        algorithm: settings.algorithm, leaving: leaving, places: map.places, evaluated)))
            instants.append(evaluated)
        }
        guard !trials.isEmpty else {
            map.settings = base
            map.settings.algorithm = candidates.first ?? .field
            return
        }
        let order = trials.indices.sorted { rank($0) < rank($1) }
        let best = order[0]
        for index in trials.indices where index != best {
            trials[index].behind = Self.difference(instants[index], instants[best])
        }
        trials = order.map { trials[$0] }
        map.settings = trials[0].settings
        map.evaluation = trials[0].evaluation
    }

    /// The value by which trials are ranked, the smallest first: the mean error in metres. If no error is known, 1000
    /// times the share of wrong places. A million is added if too many answers are missing.
    private func rank(_ index: Int) -> Double {
        let evaluation = trials[index].evaluation
        let missing = evaluation.availability < Self.leastAvailability ? 1e6 : 0
        return (evaluation.mean ?? (1000 * (1 - evaluation.exact))) + missing
    }

    private static func neighbors(_ evaluator: Evaluator, _ settings: LocatorSettings) -> Int {
        var best = (error: Double.infinity, count: settings.neighbors)
        var evaluator = evaluator
        evaluator.instantLimit = min(evaluator.instantLimit, 400)
        let variants = neighborCounts.map { count in
            var settings = settings
            settings.neighbors = count
            settings.window = 1
            return settings
        }
        let results = (try? evaluator.results(variants, leaving: .place)) ?? []
        for (variant, result) in zip(variants, results) {
            guard case .success(let evaluated) = result, let mean = Percentiles(evaluated.compactMap(\.error)).mean,
                mean < best.error
            else { continue }
            best = (mean, variant.neighbors)
        }
        return best.count
    }

    /// The error of `left` minus the error of `right` at the same instants. `nil` if the two lists have fewer than two
    /// stays in common.
    public static func difference(_ left: [EvaluatedInstant], _ right: [EvaluatedInstant]) -> Difference? {
        let rightInstants = Dictionary(right.map { ($0.vector, $0) }) { first, _ in first }
        let pairs = left.compactMap { instant -> (stay: Int, value: Double)? in
            guard let error = instant.error, let rightError = rightInstants[instant.vector]?.error else { return nil }
            return (instant.stay, error - rightError)
        }
        guard let mean = Percentiles(pairs.map(\.value)).mean, let interval = StayBootstrap(pairs) else { return nil }
        return Difference(mean: mean, low: interval.low, high: interval.high)
    }
}

/// Fits the likelihood temperature: the divisor of the log-likelihoods with which 95 % regions contain 95 % of the true
/// positions.
enum Tempering {
    /// The temperatures that are tried.
    static let steps = [0.25, 0.35, 0.5, 0.7, 1, 1.4, 2, 2.8, 4, 5.6, 8, 11, 16]
    /// The share of the true positions that the 95 % region should contain.
    static let targetCoverage = 0.95
    /// The share of the time that a receiver is assumed to spend between the places of the map. To simulate a receiver
    /// between places, places are left out of the map.
    static let betweenShare = 0.5
    /// The largest number of maps that are made to leave places out.
    static let placeParts = 24
    /// The largest number of instants with which a temperature is fitted.
    static let instantLimit = 400

    /// The fitted temperature, interpolated between two steps on a logarithmic scale. `nil` if `atPlaces` is empty.
    ///
    /// - Parameters:
    ///   - atPlaces: For each instant at a place of the map, the index of the smallest step with which the region
    ///     contains the true position; the number of steps if no step is large enough.
    ///   - between: The same indices for instants at places that were left out of the map. Empty if they are not known.
    static func fit(_ atPlaces: [Int], between: [Int] = []) -> Double? {
        guard let atPlaces = coverages(atPlaces) else { return nil }
        let coverages =
            coverages(between).map { zip(atPlaces, $0).map { $0 + betweenShare * ($1 - $0) } } ?? atPlaces
        guard let sufficient = coverages.firstIndex(where: { $0 >= targetCoverage }) else {
            return steps[steps.count - 1]
        }
        guard sufficient > 0 else { return steps[0] }
        let (below, above) = (coverages[sufficient - 1], coverages[sufficient])
        let share = above > below ? (targetCoverage - below) / (above - below) : 1
        return exp(log(steps[sufficient - 1]) + share * (log(steps[sufficient]) - log(steps[sufficient - 1])))
    }

    /// For each temperature in ``steps``, the share of the true positions that the region contains. `nil` if there are
    /// no instants.
    private static func coverages(_ smallestSteps: [Int]) -> [Double]? {
        guard !smallestSteps.isEmpty else { return nil }
        return steps.indices.map { step in Double(smallestSteps.count { $0 <= step }) / Double(smallestSteps.count) }
    }
}

extension Array where Element == Double {
    /// Finds the first element for which `holds` returns true, by binary search. For all later elements, `holds` must
    /// return true too.
    ///
    /// - Returns: The index of the element; `count` if there is none.
    func least(_ holds: (Double) -> Bool) -> Int {
        var (low, high) = (0, count)
        while low < high {
            let middle = (low + high) / 2
            if holds(self[middle]) { high = middle } else { low = middle + 1 }
        }
        return low
    }
}
