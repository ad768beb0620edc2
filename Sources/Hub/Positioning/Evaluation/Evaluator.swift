public import Airtime
internal import Sites

/// Holds a map against surveys whose places are known, or against parts of its own that are left out.
public struct Evaluator: Sendable {
    private let survey: Survey
    private let positions: [BeaconKey: FloorPosition]
    /// In metres; 0 turns it off.
    public var floorPenalty = Evaluation.floorPenalty
    /// More instants than this are not looked at when parts are left out: evenly spread ones stand for all.
    public var instantLimit = 2000
    /// No more parts than this are left out, one after the other.
    public var partLimit = 48

    /// - Parameters:
    ///   - survey: What maps are made of.
    ///   - positions: Where beacons hang.
    public init(_ survey: Survey, positions: [BeaconKey: FloorPosition] = [:]) {
        self.survey = survey
        self.positions = positions
    }

    /// A map's answers over all stays of another survey.
    public static func instants(
        _ map: SignalMap, test: Survey, settings: LocatorSettings? = nil,
        floorPenalty: Double = Evaluation.floorPenalty
    ) throws(PositioningError) -> [EvaluatedInstant] {
        try instants(map, test, settings, floorPenalty, forTemper: true)
    }

    private static func instants(
        _ map: SignalMap, _ test: Survey, _ settings: LocatorSettings?, _ floorPenalty: Double, forTemper: Bool
    ) throws(PositioningError) -> [EvaluatedInstant] {
        var locator = try Locator(map, settings: settings)
        let stays = test.stays.indices.filter { !test.stays[$0].isDropped }
        return run(&locator, test, stays, floorPenalty, forTemper: forTemper) { _ in true }
    }

    /// The same, summed up.
    public static func evaluate(
        _ map: SignalMap, test: Survey, settings: LocatorSettings? = nil,
        floorPenalty: Double = Evaluation.floorPenalty
    ) throws(PositioningError) -> Evaluation {
        let instants = try instants(map, test, settings, floorPenalty, forTemper: false)
        return Evaluation(
            algorithm: (settings ?? map.settings).algorithm, leaving: .test, places: map.places, instants)
    }

    /// Leaves one part out after the other, makes a map of the rest, and locates what was left out.
    ///
    /// Refuses a survey of which nothing would remain.
    public func evaluate(
        _ settings: LocatorSettings, leaving: Evaluation.LeftOut
    ) throws(PositioningError) -> Evaluation {
        let instants = try results([settings], leaving: leaving, forTemper: false)[0].get()
        return Evaluation(
            algorithm: settings.algorithm, leaving: leaving, places: SurveyPlaces(survey).places, instants)
    }

    /// The instants of ``evaluate(_:leaving:)``; places are those of the map of the whole survey.
    public func instants(
        _ settings: LocatorSettings, leaving: Evaluation.LeftOut
    ) throws(PositioningError) -> [EvaluatedInstant] {
        try results([settings], leaving: leaving, forTemper: true)[0].get()
    }

    /// The same in several ways, for which each part is left out once.
    ///
    /// - Parameter forTemper: Whether ``Tempering/fit(_:)`` wants to know them.
    func results(
        _ ways: [LocatorSettings], leaving: Evaluation.LeftOut, forTemper: Bool
    ) throws(PositioningError) -> [Result<[EvaluatedInstant], PositioningError>] {
        let whole = try SignalMap(survey, positions: positions, keepsVectors: false)
        let spacing = whole.spacing
        let places = Dictionary(
            whole.places.enumerated().map { (PlaceKey($0.element), $0.offset) }
        ) { first, _ in first }
        let parts = parts(leaving)
        guard parts.count > 1 else { throw .nothingLeft }
        let total = parts.reduce(0) { $0 + $1.vectors }
        let every = max(1, (total + instantLimit - 1) / max(1, instantLimit))
        let count = min(parts.count, partLimit)
        let chosen = (0..<count).map { $0 * parts.count / count }
        var results = ways.map { _ in Result<[EvaluatedInstant], PositioningError>.success([]) }
        let keepsVectors = ways.contains { $0.algorithm.needsPrints }
        for number in chosen {
            let part = parts[number]
            var rest = survey
            rest.remove(part)
            guard let map = try? SignalMap(rest, positions: positions, keepsVectors: keepsVectors), !map.places.isEmpty
            else { continue }
            for (way, settings) in ways.enumerated() {
                guard case .success(var known) = results[way] else { continue }
                results[way] = .success([])
                var locator: Locator
                do throws(PositioningError) {
                    locator = try Locator(map, settings: settings)
                } catch {
                    results[way] = .failure(error)
                    continue
                }
                let found = Self.run(&locator, survey, part.stays, floorPenalty, forTemper: forTemper) {
                    part.includes($0) && (every == 1 || $0 % every == 0)
                }
                for var instant in found {
                    // The map without the part numbers its places otherwise.
                    instant.truth = Self.truth(survey.stays[instant.stay], whole.places)
                    instant.place = instant.place.flatMap { places[PlaceKey(map.places[$0])] }
                    instant.isExact = instant.place != nil && instant.place == instant.truth
                    instant.isNear = Self.isNear(instant.place, instant.truth, whole.places, spacing)
                    known.append(instant)
                }
                results[way] = .success(known)
            }
        }
        return results.map { result in
            if case .success(let found) = result, found.isEmpty { .failure(.nothingLeft) } else { result }
        }
    }

    private struct PlaceKey: Hashable {
        let name: String
        let floor: String?

        init(_ place: Place) {
            name = place.name
            floor = place.floor
        }
    }

    // MARK: Parts

    /// What is left out at once.
    struct Part {
        var stays: [Int]
        /// `nil` for all vectors of the stays.
        var vector: Int?
        var vectors: Int

        func includes(_ vector: Int) -> Bool { self.vector.map { $0 == vector } ?? true }
    }

    func parts(_ leaving: Evaluation.LeftOut) -> [Part] {
        let found = SurveyPlaces(survey)
        var parts: [Part] = []
        var numbers: [String: Int] = [:]
        for (index, stay) in survey.stays.enumerated() {
            guard let place = found.placeOfStay[index], !stay.vectors.isEmpty else { continue }
            if leaving == .fingerprint {
                for vector in stay.vectors { parts.append(Part(stays: [index], vector: vector, vectors: 1)) }
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
            let cell = locator.cells.flatMap { cells in
                stay.position.flatMap { Self.cell(nearest: $0, floor: stay.floor, cells.cells) }
            }
            for vector in stay.vectors {
                let heard = map.vector(vector, of: test, numbers: numbers)
                let all = test.table.range(vector).count
                guard isWanted(vector), all > 0 else {
                    locator.hear(heard)
                    continue
                }
                let answer = locator.locate(heard, strangers: all - heard.readings.count)
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

    private static func cell(nearest position: FloorPosition, floor: String?, _ cells: [Cell]) -> Int? {
        var best: (distance: Double, cell: Int)?
        for (index, cell) in cells.enumerated() where floor == nil || cell.floor == floor {
            let distance = cell.position.distance(to: position)
            if best.map({ distance < $0.distance }) ?? true { best = (distance, index) }
        }
        return best?.cell
    }

    /// The place of that name, else the nearest on the floor.
    private static func truth(_ stay: Survey.Stay, _ places: [Place]) -> Int? {
        if let position = stay.position {
            var best: (distance: Double, place: Int)?
            for (index, place) in places.enumerated() where stay.floor == nil || place.floor == stay.floor {
                guard let other = place.position else { continue }
                let distance = other.distance(to: position)
                if best.map({ distance < $0.distance }) ?? true { best = (distance, index) }
            }
            if let best { return best.place }
        }
        return places.firstIndex { $0.name == stay.place && (stay.floor == nil || $0.floor == stay.floor) }
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

extension Survey {
    /// Takes a part out: whole stays, or a single vector.
    mutating func remove(_ part: Evaluator.Part) {
        guard let vector = part.vector else {
            let left = Set(part.stays)
            self = dropping { left.contains($0) }
            return
        }
        self = without(vector: vector)
    }
}
