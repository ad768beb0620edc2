internal import Airtime
public import Sites

/// Finds a receiver on a map, vector by vector.
///
/// ```swift
/// var locator = try Locator(map)
/// for vector in run { print(locator.locate(vector).position as Any) }
/// ```
///
/// It has no clock: a recording gives the same answers at any speed.
public struct Locator: Sendable {
    /// What it looks for places on.
    public let map: SignalMap
    /// Whether answers hold every place's score.
    public var wantsScores = false

    private enum Engine: Sendable {
        case rule(any PlaceRule)
        case neighbors(WeightedNeighbors)
        case baseline(BaselineRule)
        case cells(CellEngine)
    }

    private var engine: Engine
    private var sample: Sample

    /// Scores that differ by no more than this share are equal: sums of other orders differ by as much.
    static let tie = 1e-12

    /// - Parameters:
    ///   - settings: The map's own without them.
    ///   - walls: Nobody walks through them (`hmm`).
    ///
    /// Refuses an algorithm that the map has nothing for.
    public init(
        _ map: SignalMap, settings: LocatorSettings? = nil, walls: [Wall] = []
    ) throws(PositioningError) {
        var map = map
        if let settings { map.settings = settings }
        let settings = map.settings
        self.map = map
        if map.plan != nil, settings.algorithm != .field, settings.algorithm != .hmm, !settings.algorithm.isBaseline {
            throw .noSurvey(settings.algorithm)
        }
        if settings.algorithm.needsPrints, map.prints.isEmpty { throw .noPrints(settings.algorithm) }
        sample = Sample(window: settings.effectiveWindow)
        switch settings.algorithm {
        case .nn:
            engine = .rule(NearestVectorRule(table: NearestVectors(map)))
        case .nnMean: engine = .rule(NearestMiddleRule(map, \.mean))
        case .nnMedian: engine = .rule(NearestMiddleRule(map, \.median))
        case .bhattacharyya: engine = .rule(BhattacharyyaRule(map))
        case .relative: engine = .rule(RelativeRule(map, settings))
        case .wknn:
            engine = .neighbors(
                WeightedNeighbors(
                    table: NearestVectors(map), positions: map.places.map(\.position),
                    floors: map.places.map(\.floor), neighbors: max(1, settings.neighbors)))
        case .gauss, .field, .hmm: engine = .cells(try CellEngine(map, walls: walls))
        case .weightedCentroid, .simpleDistance: engine = .baseline(try BaselineRule(map))
        }
    }

    /// Forgets the run so far: somebody else, or somewhere else.
    public mutating func begin() {
        sample = Sample(window: map.settings.effectiveWindow)
        if case .cells(var cells) = engine {
            cells.begin()
            engine = .cells(cells)
        }
    }

    /// Takes the next second of a run and says where the receiver is.
    ///
    /// - Parameters:
    ///   - vector: In the map's beacon numbers; others are left out.
    ///   - strangers: Beacons heard in this second that are not on the map.
    public mutating func locate(_ vector: SignalVector, strangers: Int = 0) -> LocatorAnswer {
        hear(vector)
        let used = sample.heardCount
        guard used > 0 else { return .none(strangers > 0 ? .nothingInCommon : .nothingHeard, heard: strangers) }
        switch engine {
        case .rule(let rule):
            if !wantsScores, let winner = rule.winner(sample) {
                return answer(winner, heard: used + strangers, used: used)
            }
            return answer(rule.scores(sample), heard: used + strangers, used: used)
        case .neighbors(let neighbors):
            guard let found = neighbors.locate(sample) else {
                return .none(.noCandidate, heard: used + strangers, used: used)
            }
            var answer = LocatorAnswer(used < 3 ? .poor : .fix, heard: used + strangers, used: used)
            answer.position = found.position
            answer.place = found.place
            answer.floor = map.places[found.place].floor
            if wantsScores { answer.scores = neighbors.scores(sample) }
            return answer
        case .baseline(let rule):
            guard let found = rule.locate(sample) else {
                return .none(.noCandidate, heard: used + strangers, used: used)
            }
            var answer = LocatorAnswer(used < 3 ? .poor : .fix, heard: used + strangers, used: used)
            answer.position = found.position
            answer.place = found.place
            answer.floor = found.place.flatMap { map.places[$0].floor }
            if wantsScores { answer.scores = map.places.map { $0.position?.distance(to: found.position) } }
            return answer
        case .cells(let cells):
            var answer = cells.answer(
                heard: used + strangers, used: used, placeCount: map.places.count, wantsScores: wantsScores)
            if let place = answer.place, map.places[place].position == nil { answer.position = nil }
            return answer
        }
    }

    /// Hears what is left of a vector without beacons that the map does not know.
    mutating func hear(_ vector: SignalVector) {
        let known = map.beacons.count
        let isClean = vector.readings.allSatisfy { $0.beacon >= 0 && $0.beacon < known }
        let vector =
            isClean
            ? vector
            : SignalVector(
                seconds: vector.seconds, readings: vector.readings.filter { $0.beacon >= 0 && $0.beacon < known })
        sample.append(vector)
        if case .cells(var cells) = engine {
            // Not held twice while it changes.
            engine = .rule(NoRule())
            cells.hear(vector)
            engine = .cells(cells)
        }
    }

    /// The engine's cells; `nil` for rules that have none.
    var cells: CellEngine? {
        if case .cells(let cells) = engine { cells } else { nil }
    }

    private func answer(_ scores: [Double?], heard: Int, used: Int) -> LocatorAnswer {
        guard let least = scores.compactMap({ $0 }).min(), least.isFinite else {
            var answer = LocatorAnswer.none(.noCandidate, heard: heard, used: used)
            if wantsScores { answer.scores = scores }
            return answer
        }
        let limit = least + Self.tie * abs(least)
        let place = scores.firstIndex { $0.map { $0 <= limit } ?? false } ?? 0
        var answer = answer(place, heard: heard, used: used)
        if wantsScores { answer.scores = scores }
        return answer
    }

    private func answer(_ place: Int, heard: Int, used: Int) -> LocatorAnswer {
        var answer = LocatorAnswer(used < 3 ? .poor : .fix, heard: heard, used: used)
        answer.place = place
        answer.position = map.places[place].position
        answer.floor = map.places[place].floor
        return answer
    }
}

/// Stands where a rule is while it changes.
private struct NoRule: PlaceRule {
    func scores(_ sample: Sample) -> [Double?] { [] }
}
