/// How good answers were, by section after section of instants whose truth is known.
public struct Evaluation: Hashable, Sendable {
    /// What was left out, or what the map was held against.
    public enum LeftOut: String, CaseIterable, Hashable, Sendable {
        /// Another survey.
        case test
        /// All stays of a place in one session.
        case visit
        /// Whole places: tells how good the interpolation is.
        case place
        /// Whole sessions, such as days.
        case session
        /// All stays with one heading.
        case heading
        /// Single vectors. Those of one stay are twins, so this flatters.
        case fingerprint

        /// What must be said beside such numbers; `nil` where they are honest.
        public var warning: String? {
            self == .fingerprint
                ? "vectors of one stay are twins: the errors of another day are several times as large" : nil
        }
    }

    /// One place's part.
    public struct PlaceResult: Hashable, Sendable {
        /// Its name.
        public let place: String
        public let instants: Int
        /// In metres; `nil` where no answer had a position.
        public let meanError: Double?
        /// The share of the instants at which it was named.
        public let exact: Double
    }

    /// A place that was taken for another one.
    public struct Confusion: Hashable, Sendable {
        public let place: String
        public let taken: String
        /// Of the place's instants.
        public let share: Double
    }

    public internal(set) var algorithm: PositioningAlgorithm
    public internal(set) var leaving: LeftOut
    /// Instants at which anything was heard.
    public internal(set) var instants = 0
    /// The share of them with an answer.
    public internal(set) var availability = 0.0
    /// In metres; `nil` where nothing has a position.
    public internal(set) var mean: Double?
    public internal(set) var median: Double?
    public internal(set) var percentile75: Double?
    public internal(set) var percentile95: Double?
    public internal(set) var rootMeanSquare: Double?
    /// The 95 % interval of the mean, by drawing stays.
    public internal(set) var meanInterval: [Double] = []
    /// The share of the instants with the right place; no answer is none.
    public internal(set) var exact = 0.0
    /// The share with the right place or one next to it.
    public internal(set) var near = 0.0
    /// The share of the answers on the right floor.
    public internal(set) var floorRate = 0.0
    /// The share of the truths within the 50 % region; `nil` for rules that know no region.
    public internal(set) var coverage50: Double?
    /// The share of the truths within the 95 % region.
    public internal(set) var coverage95: Double?
    /// In m².
    public internal(set) var medianRegionArea: Double?
    /// Most frequent first, at most twenty.
    public internal(set) var confusion: [Confusion] = []
    /// In the order of the map.
    public internal(set) var byPlace: [PlaceResult] = []

    /// What a wrong floor costs, in metres, unless another penalty is given: the rule of the IPIN competition.
    public static let floorPenalty = 15.0
    /// Places no farther apart than so many times the usual distance are neighbors: diagonals are.
    public static let nearness = 1.45

    init(
        algorithm: PositioningAlgorithm, leaving: LeftOut, places: [Place], _ instants: [EvaluatedInstant]
    ) {
        self.algorithm = algorithm
        self.leaving = leaving
        self.instants = instants.count
        guard !instants.isEmpty else { return }
        let count = Double(instants.count)
        let answered = instants.filter(\.isAnswered)
        availability = Double(answered.count) / count
        let errors = answered.compactMap(\.error)
        let percentiles = Percentiles(errors)
        mean = percentiles.mean
        median = percentiles.value(at: 50)
        percentile75 = percentiles.value(at: 75)
        percentile95 = percentiles.value(at: 95)
        rootMeanSquare = percentiles.rootMeanSquare
        let byStay = answered.compactMap { instant in instant.error.map { (stay: instant.stay, value: $0) } }
        if let bootstrap = StayBootstrap(byStay) { meanInterval = [bootstrap.low, bootstrap.high] }
        exact = Double(instants.count { $0.isExact }) / count
        near = Double(instants.count { $0.isNear }) / count
        floorRate = answered.isEmpty ? 0 : Double(answered.count { $0.isRightFloor }) / Double(answered.count)
        let masses = answered.compactMap(\.mass)
        if !masses.isEmpty {
            coverage50 = Double(masses.count { $0 < 0.5 }) / Double(masses.count)
            coverage95 = Double(masses.count { $0 < 0.95 }) / Double(masses.count)
            medianRegionArea = Percentiles(answered.compactMap(\.area)).value(at: 50)
        }
        tell(places, instants)
    }

    private mutating func tell(_ places: [Place], _ instants: [EvaluatedInstant]) {
        var byTruth: [Int: [EvaluatedInstant]] = [:]
        for instant in instants { if let truth = instant.truth { byTruth[truth, default: []].append(instant) } }
        var taken: [(share: Double, truth: Int, place: Int)] = []
        for (truth, found) in byTruth.sorted(by: { $0.key < $1.key }) {
            byPlace.append(
                PlaceResult(
                    place: places[truth].name, instants: found.count,
                    meanError: Percentiles(found.compactMap(\.error)).mean,
                    exact: Double(found.count { $0.isExact }) / Double(found.count)))
            var others: [Int: Int] = [:]
            for place in found.compactMap(\.place) where place != truth { others[place, default: 0] += 1 }
            for (place, count) in others { taken.append((Double(count) / Double(found.count), truth, place)) }
        }
        confusion = taken.sorted { ($0.share, $1.truth, $1.place) > ($1.share, $0.truth, $0.place) }.prefix(20).map {
            Confusion(place: places[$0.truth].name, taken: places[$0.place].name, share: $0.share)
        }
    }
}

/// One instant whose truth is known, with what was answered.
public struct EvaluatedInstant: Hashable, Sendable {
    /// The stay's place in the survey that was located.
    public internal(set) var stay: Int
    /// The instant's vector in that survey.
    public internal(set) var vector: Int
    public internal(set) var isAnswered = false
    /// In metres, a wrong floor's penalty included; `nil` without an answer and without positions.
    public internal(set) var error: Double?
    /// The true place's number in the map: that of the name, else the nearest.
    public internal(set) var truth: Int?
    /// The answered place's number in the map.
    public internal(set) var place: Int?
    public internal(set) var isExact = false
    public internal(set) var isNear = false
    public internal(set) var isRightFloor = false
    /// How much probability lies in cells likelier than the truth's: below 0.95 the 95 % region holds the truth.
    public internal(set) var mass: Double?
    /// The 95 % region's, in m².
    public internal(set) var area: Double?
    /// The masses at ``Tempering/steps``, where they were asked for.
    var temperedMasses: [Double] = []

    init(stay: Int, vector: Int) {
        self.stay = stay
        self.vector = vector
    }
}
