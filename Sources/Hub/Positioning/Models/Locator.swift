internal import Airtime
public import Sites

/// Locates a receiver on a map, vector by vector.
///
/// ```swift
/// var locator = try Locator(map)
/// for vector in run { print(locator.locate(vector).position as Any) }
/// ```
///
/// It has no clock, so a recording gives the same answers at any speed.
public struct Locator: Sendable {
    /// The map, with the settings in use.
    public let map: SignalMap
    /// Whether answers contain the score of every place.
    public var wantsScores = false

    private enum Method: Sendable {
        case rule(any PlaceRule)
        case neighbors(WeightedNeighbors)
        case baseline(BaselineRule)
        /// The method is ``Locator/cells``.
        case cells
    }

    private let method: Method
    /// The state of `gauss`, `field` and `hmm`. `nil` for other algorithms.
    private(set) var cells: CellLocator?
    private var window: SampleWindow

    /// Scores that differ by no more than this share are equal: rounding may differ by as much.
    private static let tie = 1e-12

    /// - Parameters:
    ///   - settings: How to locate; `nil` for the map's settings.
    ///   - walls: Walls that `hmm` does not walk through.
    /// - Throws: If the map lacks what the algorithm needs.
    public init(
        _ map: SignalMap, settings: LocatorSettings? = nil, walls: [Wall] = []
    ) throws(PositioningError) {
        var map = map
        if let settings { map.settings = settings }
        let settings = map.settings
        let algorithm = settings.algorithm
        if map.modelSite != nil, algorithm != .field, algorithm != .hmm, !algorithm.isBaseline {
            throw .noSurvey(algorithm)
        }
        if algorithm.needsPrints, map.prints.isEmpty { throw .noPrints(algorithm) }
        self.map = map
        window = SampleWindow(length: settings.effectiveWindow)
        switch algorithm {
        case .nn: method = .rule(NearestPrintRule(map))
        case .nnMean: method = .rule(NearestPrintRule(map, \.mean))
        case .nnMedian: method = .rule(NearestPrintRule(map, \.median))
        case .bhattacharyya: method = .rule(BhattacharyyaRule(map))
        case .relative: method = .rule(RelativeRule(map, settings))
        case .wknn: method = .neighbors(WeightedNeighbors(map))
        case .weightedCentroid, .simpleDistance: method = .baseline(try BaselineRule(map))
        case .gauss, .field, .hmm:
            method = .cells
            cells = try CellLocator(map, walls: walls)
        }
    }

    /// Forgets the run so far.
    public mutating func begin() {
        window = SampleWindow(length: map.settings.effectiveWindow)
        cells?.begin()
    }

    /// Takes the next second of a run and locates the receiver.
    ///
    /// - Parameters:
    ///   - vector: With the map's beacon numbers; other numbers are ignored.
    ///   - strangers: The number of beacons received in this second that are not on the map.
    public mutating func locate(_ vector: SignalVector, strangers: Int = 0) -> LocatorAnswer {
        add(vector)
        let used = window.beaconCount
        let heard = used + strangers
        guard used > 0 else { return .none(strangers > 0 ? .nothingInCommon : .nothingHeard, heard: strangers) }
        var answer = LocatorAnswer(used < 3 ? .poor : .fix, heard: heard, used: used)
        switch method {
        case .rule(let rule):
            let scores = rule.scores(window)
            if let place = Self.winner(scores) {
                answer.place = place
                answer.position = map.places[place].position
            } else {
                answer = .none(.noCandidate, heard: heard, used: used)
            }
            if wantsScores { answer.scores = scores }
        case .neighbors(let neighbors):
            guard let found = neighbors.locate(window) else { return .none(.noCandidate, heard: heard, used: used) }
            (answer.position, answer.place) = (found.position, found.place)
            if wantsScores { answer.scores = neighbors.scores(window) }
        case .baseline(let rule):
            guard let found = rule.locate(window) else { return .none(.noCandidate, heard: heard, used: used) }
            (answer.position, answer.place) = (found.position, found.place)
            if wantsScores { answer.scores = map.places.map { $0.position?.distance(to: found.position) } }
        case .cells:
            guard let cells else { break }
            answer = cells.answer(heard: heard, used: used, placeCount: map.places.count, wantsScores: wantsScores)
            if let place = answer.place, map.places[place].position == nil { answer.position = nil }
            return answer
        }
        answer.floor = answer.place.flatMap { map.places[$0].floor }
        return answer
    }

    /// Takes the next second of a run without locating the receiver.
    mutating func add(_ vector: SignalVector) {
        let known = vector.readings.filter { map.beacons.indices.contains($0.beacon) }
        let vector = SignalVector(seconds: vector.seconds, sorted: known)
        window.append(vector)
        cells?.add(vector)
    }

    /// The first place with the smallest score. `nil` if no place is possible.
    private static func winner(_ scores: [Double?]) -> Int? {
        guard let least = scores.compactMap({ $0 }).min(), least.isFinite else { return nil }
        let limit = least + tie * abs(least)
        return scores.firstIndex { $0.map { $0 <= limit } ?? false }
    }
}
