public import Configuration

/// The accuracy of a locator's answers at instants whose true place is known.
public struct Evaluation: Hashable, Sendable {
    /// The part of the survey that was left out of the map.
    public enum LeftOut: String, CaseIterable, Hashable, Sendable {
        /// Nothing. The map was evaluated with a test survey.
        case test
        /// A visit: all stays at a place in one session.
        case visit
        /// A stay.
        case stay
        /// Half of the seconds of a stay.
        case half
        /// A place. This tests the interpolation between places.
        case place
        /// A session, such as a day.
        case session
        /// All stays with one heading.
        case heading
        /// A vector. Vectors of one stay are nearly identical, so the measured errors are too small.
        case fingerprint

        /// The reason why the measured errors are too small; `nil` if they are not.
        public var warning: String? {
            switch self {
            case .fingerprint, .half:
                "vectors of one stay are nearly identical: on another day the errors are several times as large"
            case .stay: "stays of one visit are alike: on another day the errors are larger"
            case .test, .visit, .place, .session, .heading: nil
            }
        }

        /// The largest part that can be left out so that most places remain on the map. It is a visit if at least half
        /// of the places were visited several times. Otherwise it is a stay if at least half of the places have several
        /// stays. Otherwise it is half of a stay.
        public static func suited(to survey: Survey) -> LeftOut {
            var visits: [Int: Set<String>] = [:]
            var stays: [Int: Int] = [:]
            let places = SurveyPlaces(survey).placeOfStay
            for (stay, place) in zip(survey.stays, places) {
                guard let place, !stay.vectors.isEmpty else { continue }
                visits[place, default: []].insert(survey.session(of: stay) ?? "")
                stays[place, default: 0] += 1
            }
            // With fewer than two places, no place can be mistaken for another, so the choice does not matter.
            let visitedAgain = visits.values.count { $0.count > 1 }
            if visits.count < 2 || 2 * visitedAgain >= visits.count { return .visit }
            return 2 * stays.values.count(where: { $0 > 1 }) >= stays.count ? .stay : .half
        }
    }

    /// The result for one place.
    public struct PlaceResult: Hashable, Sendable {
        /// The place's name.
        public let place: String
        public let instants: Int
        /// The mean error in metres; `nil` if no answer had a position.
        public let meanError: Double?
        /// The share of the instants with the right place.
        public let exact: Double
    }

    /// A place that was mistaken for another place.
    public struct Confusion: Hashable, Sendable {
        public let place: String
        /// The name of the place in the wrong answers.
        public let mistakenFor: String
        /// The share of these answers among all instants at the true place.
        public let share: Double
    }

    public internal(set) var algorithm: PositioningAlgorithm
    public internal(set) var leaving: LeftOut
    /// The number of instants at which at least one beacon was received.
    public internal(set) var instants = 0
    /// The share of the instants with an answer.
    public internal(set) var availability = 0.0
    /// The mean error in metres; `nil` if no answer or no true place has a position.
    public internal(set) var mean: Double?
    /// The median error in metres.
    public internal(set) var median: Double?
    /// The 75th percentile of the error, in metres.
    public internal(set) var percentile75: Double?
    /// The 95th percentile of the error, in metres.
    public internal(set) var percentile95: Double?
    /// The root mean square of the error, in metres.
    public internal(set) var rootMeanSquare: Double?
    /// The ends of the 95 % confidence interval of the mean, by ``StayBootstrap``. Empty if it is not known.
    public internal(set) var meanInterval: [Double] = []
    /// The share of the instants with the right place. An instant without an answer counts as wrong.
    public internal(set) var exact = 0.0
    /// The share of the instants with the right place or a place next to it.
    public internal(set) var exactOrAdjacent = 0.0
    /// The share of the answers on the right floor.
    public internal(set) var floorRate = 0.0
    /// The share of the true positions that are in the 50 % region; `nil` if the algorithm has no regions.
    public internal(set) var coverage50: Double?
    /// The share of the true positions that are in the 95 % region; `nil` if the algorithm has no regions.
    public internal(set) var coverage95: Double?
    /// The median area of the 95 % region in m².
    public internal(set) var medianRegionArea: Double?
    /// The most frequent mistakes, at most twenty.
    public internal(set) var confusion: [Confusion] = []
    /// The result for each place, in the order of the map.
    public internal(set) var byPlace: [PlaceResult] = []

    /// The default penalty in metres that a wrong floor adds to the error, as in the IPIN competition.
    public static let floorPenalty = 15.0
    /// The largest distance between neighbouring places, as a multiple of the median distance between places. In a
    /// square grid, diagonal places are neighbours too.
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
        exactOrAdjacent = Double(instants.count { $0.isNear }) / count
        floorRate = answered.isEmpty ? 0 : Double(answered.count { $0.isRightFloor }) / Double(answered.count)
        let regions = answered.filter { $0.isInRegion95 != nil }
        if !regions.isEmpty {
            coverage50 = Double(regions.count { $0.isInRegion50 == true }) / Double(regions.count)
            coverage95 = Double(regions.count { $0.isInRegion95 == true }) / Double(regions.count)
            medianRegionArea = Percentiles(answered.compactMap(\.area)).value(at: 50)
        }
        countByPlace(places, instants)
    }

    private mutating func countByPlace(_ places: [Place], _ instants: [EvaluatedInstant]) {
        let byTruth = Dictionary(grouping: instants.filter { $0.truth != nil }) { $0.truth ?? 0 }
        var mistakes: [(share: Double, truth: Int, place: Int)] = []
        for (truth, instants) in byTruth.sorted(by: { $0.key < $1.key }) {
            byPlace.append(
                PlaceResult(
                    place: places[truth].name, instants: instants.count,
                    meanError: Percentiles(instants.compactMap(\.error)).mean,
                    exact: Double(instants.count { $0.isExact }) / Double(instants.count)))
            var others: [Int: Int] = [:]
            for place in instants.compactMap(\.place) where place != truth { others[place, default: 0] += 1 }
            for (place, count) in others {
                mistakes.append((Double(count) / Double(instants.count), truth, place))
            }
        }
        confusion = mistakes.sorted { ($0.share, $1.truth, $1.place) > ($1.share, $0.truth, $0.place) }.prefix(20).map {
            Confusion(place: places[$0.truth].name, mistakenFor: places[$0.place].name, share: $0.share)
        }
    }
}

/// An instant whose true place is known, with the answer.
public struct EvaluatedInstant: Hashable, Sendable {
    /// The index of the stay in the located survey.
    public internal(set) var stay: Int
    /// The index of the vector in the located survey.
    public internal(set) var vector: Int
    public internal(set) var isAnswered = false
    /// The error in metres, including the penalty for a wrong floor; `nil` if the answer or the true place has no
    /// position.
    public internal(set) var error: Double?
    /// The index of the true place in the map. The true place is the place nearest to the true position. If the stay
    /// has no position, it is the place with the stay's place name.
    public internal(set) var truth: Int?
    /// The index of the answer's place in the map.
    public internal(set) var place: Int?
    public internal(set) var isExact = false
    public internal(set) var isNear = false
    public internal(set) var isRightFloor = false
    /// True if the 50 % region contains the true position. `nil` if the algorithm has no regions.
    public internal(set) var isInRegion50: Bool?
    /// True if the 95 % region contains the true position.
    public internal(set) var isInRegion95: Bool?
    /// The area of the 95 % region in m².
    public internal(set) var area: Double?
}

// MARK: JSON

extension Evaluation {
    /// The evaluation in the form of `map evaluate --json` and of map files.
    public var json: JSONValue {
        .record([
            ("algorithm", .string(algorithm.rawValue)), ("protocol", .string(leaving.rawValue)),
            ("instants", .integer(instants)), ("availability", .rounded(availability, 4)),
            (
                "errorM",
                .record([
                    ("mean", .rounded(mean)), ("median", .rounded(median)), ("p75", .rounded(percentile75)),
                    ("p95", .rounded(percentile95)), ("rms", .rounded(rootMeanSquare)),
                    ("meanInterval", .array(meanInterval.map { .rounded($0) })),
                ])
            ),
            ("exact", .rounded(exact, 4)), ("near", .rounded(exactOrAdjacent, 4)),
            ("floorRate", .rounded(floorRate, 4)),
            ("coverage50", .rounded(coverage50, 4)), ("coverage95", .rounded(coverage95, 4)),
            ("medianRegionAreaM2", .rounded(medianRegionArea)), ("confusion", .array(confusion.map(\.json))),
            ("byPlace", .array(byPlace.map(\.json))),
        ])
    }

    /// Reads the evaluation from a map file. `nil` if the algorithm, the protocol or the number of instants cannot be
    /// read. Other missing values are read as unknown or 0.
    init?(_ node: JSONNode) {
        guard let algorithm = node["algorithm"]?.string.flatMap(PositioningAlgorithm.init(rawValue:)),
            let leaving = node["protocol"]?.string.flatMap(LeftOut.init(rawValue:)),
            let instants = node["instants"]?.integer, instants >= 0
        else { return nil }
        func real(_ node: JSONNode?) -> Double? {
            guard case .number(let number)? = node?.value, let value = Double(number.text) else { return nil }
            return (0..<1e9).contains(value) ? value : nil
        }
        func share(_ node: JSONNode?) -> Double? { real(node).map { min($0, 1) } }
        self.init(algorithm: algorithm, leaving: leaving, places: [], [])
        self.instants = instants
        availability = share(node["availability"]) ?? 0
        let errors = node["errorM"]
        mean = real(errors?["mean"])
        median = real(errors?["median"])
        percentile75 = real(errors?["p75"])
        percentile95 = real(errors?["p95"])
        rootMeanSquare = real(errors?["rms"])
        meanInterval = (errors?["meanInterval"]?.elements ?? []).compactMap { real($0) }
        exact = share(node["exact"]) ?? 0
        exactOrAdjacent = share(node["near"]) ?? 0
        floorRate = share(node["floorRate"]) ?? 0
        coverage50 = share(node["coverage50"])
        coverage95 = share(node["coverage95"])
        medianRegionArea = real(node["medianRegionAreaM2"])
        confusion = (node["confusion"]?.elements ?? []).compactMap { node in
            guard let place = node["place"]?.string, let mistakenFor = node["taken"]?.string,
                let share = share(node["share"])
            else { return nil }
            return Confusion(place: place, mistakenFor: mistakenFor, share: share)
        }
        byPlace = (node["byPlace"]?.elements ?? []).compactMap { node in
            guard let place = node["place"]?.string, let instants = node["instants"]?.integer else { return nil }
            return PlaceResult(
                place: place, instants: instants, meanError: real(node["meanErrorM"]), exact: share(node["exact"]) ?? 0)
        }
    }
}

extension Evaluation.PlaceResult {
    fileprivate var json: JSONValue {
        .record([
            ("place", .string(place)), ("instants", .integer(instants)), ("meanErrorM", .rounded(meanError)),
            ("exact", .rounded(exact, 4)),
        ])
    }
}

extension Evaluation.Confusion {
    fileprivate var json: JSONValue {
        .record([("place", .string(place)), ("taken", .string(mistakenFor)), ("share", .rounded(share, 4))])
    }
}
