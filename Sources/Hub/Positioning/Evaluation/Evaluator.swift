public import Airtime

/// Evaluates a map with a test survey, or a survey by leaving parts of it out.
public struct Evaluator: Sendable {
    private let survey: Survey
    private let positions: [BeaconKey: FloorPosition]
    /// The distance that a wrong floor adds to the error, in metres. 0 turns the penalty off.
    public var floorPenalty = Evaluation.floorPenalty
    /// The largest number of instants that are located when parts are left out. If there are more, evenly spaced
    /// instants are chosen.
    public var instantLimit = 2000
    /// The largest number of parts that are left out, one after the other.
    public var partLimit = 48

    /// An evaluator of a survey.
    ///
    /// - Parameter positions: The positions of beacons.
    public init(_ survey: Survey, positions: [BeaconKey: FloorPosition] = [:]) {
        self.survey = survey
        self.positions = positions
    }

    // MARK: Maps

    /// Locates all instants of a test survey on a map.
    ///
    /// - Parameter settings: The settings of the locator; `nil` for the map's settings.
    public static func instants(
        _ map: SignalMap, test: Survey, settings: LocatorSettings? = nil,
        floorPenalty: Double = Evaluation.floorPenalty
    ) throws(PositioningError) -> [EvaluatedInstant] {
        var locator = try Locator(map, settings: settings)
        let stays = test.stays.indices.filter { !test.stays[$0].isDropped }
        return run(&locator, test, stays, floorPenalty, forTemper: false) { _ in true }
    }

    /// Evaluates a map with a test survey.
    ///
    /// - Parameter settings: The settings of the locator; `nil` for the map's settings.
    public static func evaluate(
        _ map: SignalMap, test: Survey, settings: LocatorSettings? = nil,
        floorPenalty: Double = Evaluation.floorPenalty
    ) throws(PositioningError) -> Evaluation {
        let instants = try instants(map, test: test, settings: settings, floorPenalty: floorPenalty)
        return Evaluation(
            algorithm: (settings ?? map.settings).algorithm, leaving: .test, places: map.places, instants)
    }

    // MARK: Leaving out

    /// Leaves out one part after the other, makes a map of the rest, and locates the instants of the part.
    ///
    /// - Throws: If nothing would remain.
    public func evaluate(
        _ settings: LocatorSettings, leaving: Evaluation.LeftOut
    ) throws(PositioningError) -> Evaluation {
        let instants = try results([settings], leaving: leaving, forTemper: false)[0].get()
        return Evaluation(
            algorithm: settings.algorithm, leaving: leaving, places: SurveyPlaces(survey).places, instants)
    }

    /// The instants of ``evaluate(_:leaving:)``, from which ``Tempering/fit(_:)`` fits a temper. Their place
    /// numbers are those of the map of the whole survey.
    public func instants(
        _ settings: LocatorSettings, leaving: Evaluation.LeftOut
    ) throws(PositioningError) -> [EvaluatedInstant] {
        try results([settings], leaving: leaving, forTemper: true)[0].get()
    }

    /// The instants for each of several settings. Each part is left out once for all of them.
    ///
    /// - Parameter forTemper: True if the instants are for ``Tempering/fit(_:)``.
    func results(
        _ settings: [LocatorSettings], leaving: Evaluation.LeftOut, forTemper: Bool
    ) throws(PositioningError) -> [Result<[EvaluatedInstant], PositioningError>] {
        let whole = try SignalMap(survey, positions: positions, keepsVectors: false)
        let spacing = whole.spacing
        let parts = parts(leaving)
        guard parts.count > 1 else { throw .nothingLeft }
        let total = parts.reduce(0) { $0 + $1.vectors }
        let every = max(1, (total + instantLimit - 1) / max(1, instantLimit))
        let count = min(parts.count, partLimit)
        var results = settings.map { _ in Result<[EvaluatedInstant], PositioningError>.success([]) }
        let keepsVectors = settings.contains { $0.algorithm.needsPrints }
        for number in 0..<count {
            let part = parts[number * parts.count / count]
            let rest = part.vector.map { survey.without(vector: $0) } ?? survey.dropping(Set(part.stays))
            guard let map = try? SignalMap(rest, positions: positions, keepsVectors: keepsVectors), !map.places.isEmpty
            else { continue }
            for (index, settings) in settings.enumerated() {
                results[index] = results[index].flatMap { known in
                    do throws(PositioningError) {
                        var locator = try Locator(map, settings: settings)
                        let found = Self.run(&locator, survey, part.stays, floorPenalty, forTemper: forTemper) {
                            (part.vector ?? $0) == $0 && $0 % every == 0
                        }
                        return .success(known + found.map { renumbered($0, from: map, to: whole, spacing) })
                    } catch {
                        return .failure(error)
                    }
                }
            }
        }
        return results.map { result in
            if case .success(let found) = result, found.isEmpty { .failure(.nothingLeft) } else { result }
        }
    }

    /// An instant with the place numbers of the map of the whole survey instead of those of a map of a part.
    private func renumbered(
        _ instant: EvaluatedInstant, from map: SignalMap, to whole: SignalMap, _ spacing: Double?
    ) -> EvaluatedInstant {
        var instant = instant
        instant.truth = Self.truth(survey.stays[instant.stay], whole.places)
        instant.place = instant.place.flatMap { place in
            let taken = map.places[place]
            return whole.places.firstIndex { $0.name == taken.name && $0.floor == taken.floor }
        }
        instant.isExact = instant.place != nil && instant.place == instant.truth
        instant.isNear = Self.isNear(instant.place, instant.truth, whole.places, spacing)
        return instant
    }

    // MARK: Parts

    /// Stays, or one vector of a stay, that are left out together.
    struct Part {
        var stays: [Int]
        /// `nil` for all vectors of the stays.
        var vector: Int?
        /// The number of vectors.
        var vectors: Int
    }

    func parts(_ leaving: Evaluation.LeftOut) -> [Part] {
        let found = SurveyPlaces(survey)
        var parts: [Part] = []
        var numbers: [String: Int] = [:]
        for (index, stay) in survey.stays.enumerated() {
            guard let place = found.placeOfStay[index], !stay.vectors.isEmpty else { continue }
            if leaving == .fingerprint {
                parts += stay.vectors.map { Part(stays: [index], vector: $0, vectors: 1) }
                continue
            }
            let session = survey.session(of: stay) ?? ""
            let key =
                switch leaving {
                case .visit, .fingerprint, .test: "\(place)/\(session)"
                case .place: "\(place)"
                case .session: session
                case .heading: stay.heading.map { "\($0)" } ?? ""
                }
            if let number = numbers[key] {
                parts[number].stays.append(index)
                parts[number].vectors += stay.vectors.count
            } else {
                numbers[key] = parts.count
                parts.append(Part(stays: [index], vector: nil, vectors: stay.vectors.count))
            }
        }
        return parts
    }

    // MARK: One run

    private static func run(
        _ locator: inout Locator, _ test: Survey, _ stays: [Int], _ floorPenalty: Double, forTemper: Bool,
        _ isWanted: (Int) -> Bool
    ) -> [EvaluatedInstant] {
        let map = locator.map
        let numbers = map.numbers(for: test)
        let spacing = map.spacing
        var result: [EvaluatedInstant] = []
        for index in stays {
            let stay = test.stays[index]
            locator.begin()
            let truth = truth(stay, map.places)
            let cell = stay.position.flatMap { locator.cells?.cells.nearest(to: $0, floor: stay.floor) }
            for vector in stay.vectors {
                let known = map.vector(vector, of: test, numbers: numbers)
                let received = test.vector(vector).readings.count
                guard isWanted(vector), received > 0 else {
                    locator.add(known)
                    continue
                }
                let answer = locator.locate(known, strangers: received - known.readings.count)
                var instant = EvaluatedInstant(stay: index, vector: vector)
                instant.truth = truth
                instant.isAnswered = answer.state != .none
                instant.place = answer.place
                if instant.isAnswered {
                    instant.isRightFloor = stay.floor == nil || answer.floor == stay.floor
                    if let position = answer.position, let place = stay.position {
                        instant.error = position.distance(to: place) + (instant.isRightFloor ? 0 : floorPenalty)
                    }
                    instant.isExact = truth != nil && answer.place == truth
                    instant.isNear = isNear(answer.place, truth, map.places, spacing)
                    instant.area = answer.region95?.area
                }
                if let cells = locator.cells, let cell, instant.isAnswered {
                    let found = cells.logLikelihoods
                    instant.mass = cells.posterior(found).mass(above: cell)
                    if forTemper {
                        instant.temperedMasses = Tempering.steps.map {
                            cells.posterior(found, temper: $0).mass(above: cell)
                        }
                    }
                }
                result.append(instant)
            }
        }
        return result
    }

    /// The nearest place on the floor, or else the place with the stay's name.
    private static func truth(_ stay: Survey.Stay, _ places: [Place]) -> Int? {
        let nearest = stay.position.flatMap { position in
            places.nearest(to: position) { stay.floor == nil || $0 == stay.floor }
        }
        return nearest
            ?? places.firstIndex { $0.name == stay.place && (stay.floor == nil || $0.floor == stay.floor) }
    }

    private static func isNear(_ place: Int?, _ truth: Int?, _ places: [Place], _ spacing: Double?) -> Bool {
        guard let place, let truth else { return false }
        if place == truth { return true }
        guard places[place].floor == places[truth].floor, let from = places[truth].position,
            let to = places[place].position, let spacing
        else { return false }
        return from.distance(to: to) <= Evaluation.nearness * spacing
    }
}
