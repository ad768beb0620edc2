public import Airtime
internal import BluetoothTypes
internal import LinuxHost
internal import Synchronization

/// Evaluates a map with a test survey, or evaluates a survey by leaving parts of it out.
public struct Evaluator: Sendable {
    private let survey: Survey
    private let positions: [BeaconKey: FloorPosition]
    /// The distance that a wrong floor adds to the error, in metres. 0 turns the penalty off.
    public var floorPenalty = Evaluation.floorPenalty
    /// The largest number of instants at which the receiver is located when parts are left out. If there are more
    /// instants, evenly spaced instants are chosen.
    public var instantLimit = 2000
    /// The largest number of parts that are left out, one after the other.
    public var partLimit = 48
    /// Used if there are more parts than ``partLimit``. True to leave out all parts, several at a time; false to leave
    /// out only some evenly spaced parts, one at a time.
    var groupsParts = false
    /// Shows the number of evaluated maps; `nil` to show nothing.
    var progress: FitProgress?

    /// Creates an evaluator of a survey.
    ///
    /// - Parameter positions: The known positions of beacons.
    public init(_ survey: Survey, positions: [BeaconKey: FloorPosition] = [:]) {
        self.survey = survey
        self.positions = positions
    }

    // MARK: Maps

    /// Locates the receiver on a map at all instants of a test survey.
    ///
    /// - Parameter settings: The settings of the locator; `nil` for the map's settings.
    public static func instants(
        _ map: SignalMap, test: Survey, settings: LocatorSettings? = nil,
        floorPenalty: Double = Evaluation.floorPenalty
    ) throws(PositioningError) -> [EvaluatedInstant] {
        var locator = try Locator(map, settings: settings)
        let stays = test.stays.indices.filter { !test.stays[$0].isCancelled }
        return evaluated(stays, of: test, with: &locator, floorPenalty) { _ in true }
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

    /// Leaves out one part after the other, makes a map of the rest, and locates the receiver at the instants of the
    /// part.
    ///
    /// - Throws: If no data would remain to make a map from.
    public func evaluate(
        _ settings: LocatorSettings, leaving: Evaluation.LeftOut
    ) throws(PositioningError) -> Evaluation {
        let instants = try results([settings], leaving: leaving)[0].get()
        return Evaluation(
            algorithm: settings.algorithm, leaving: leaving, places: SurveyPlaces(survey).places, instants)
    }

    /// Fits the temperature of each of several settings by leaving parts out. Places are left out too, to simulate a
    /// receiver between places. An element is `nil` if its algorithm has no temperature, or if the temperature cannot
    /// be fitted.
    func temperatures(_ settings: [LocatorSettings], leaving: Evaluation.LeftOut) -> [Double?] {
        let indices = settings.indices.filter { settings[$0].algorithm.isProbabilistic }
        let side = (try? SignalMap(survey, positions: positions, keepsVectors: false))?.regionCellSide
        let fitted = indices.map { index in
            var settings = settings[index]
            settings.gridMetres = settings.gridMetres ?? side
            // `hmm` uses the temperature of `field`.
            if settings.algorithm == .hmm { settings.algorithm = .field }
            return settings
        }
        var temperatures = [Double?](repeating: nil, count: settings.count)
        var evaluator = self
        evaluator.instantLimit = min(instantLimit, Tempering.instantLimit)
        guard !fitted.isEmpty, let atPlaces = try? evaluator.leastSteps(fitted, leaving: leaving) else {
            return temperatures
        }
        evaluator.partLimit = min(partLimit, Tempering.placeParts)
        let between = leaving == .place ? nil : try? evaluator.leastSteps(fitted, leaving: .place)
        for (fittedIndex, index) in indices.enumerated() {
            guard case .success(let steps) = atPlaces[fittedIndex] else { continue }
            temperatures[index] = Tempering.fit(steps, between: (try? between?[fittedIndex].get()) ?? [])
        }
        return temperatures
    }

    /// The number of maps that ``temperatures(_:leaving:)`` makes for each element of `settings`.
    func temperatureMapCount(_ leaving: Evaluation.LeftOut) -> Int {
        mapCount(leaving) + (leaving == .place ? 0 : min(mapCount(.place), Tempering.placeParts))
    }

    /// Locates the receiver at the instants of the left-out parts, with each of several settings. The place indices in
    /// the results refer to the map of the whole survey.
    func results(
        _ settings: [LocatorSettings], leaving: Evaluation.LeftOut
    ) throws(PositioningError) -> [Result<[EvaluatedInstant], PositioningError>] {
        let wholeMap = try SignalMap(survey, positions: positions, keepsVectors: false)
        let spacing = wholeMap.spacing
        return try leavingOut(leaving, settings) { locator, stays, isWanted in
            Self.evaluated(stays, of: survey, with: &locator, floorPenalty, isWanted).map {
                renumbered($0, from: locator.map, to: wholeMap, spacing)
            }
        }
    }

    /// For each of several settings and each instant, computes the index of the smallest temperature in
    /// ``Tempering/steps`` with which the 95 % region contains the true position. An instant is skipped if it has no
    /// answer, if the answer is on a wrong floor, or if the map does not cover the true position.
    private func leastSteps(
        _ settings: [LocatorSettings], leaving: Evaluation.LeftOut
    ) throws(PositioningError) -> [Result<[Int], PositioningError>] {
        // Regions must also be large enough on another day. A survey of one day does not show how levels change from
        // day to day, so the change is simulated.
        let sessions = Set(survey.stays.filter { !$0.isCancelled }.map { survey.session(of: $0) })
        let shift = sessions.count < 2 ? DayShift() : nil
        return try leavingOut(leaving, settings) { locator, stays, isWanted in
            Self.pass(stays, of: survey, to: &locator, shift: shift, isWanted: isWanted) { locator, instant in
                let stay = survey.stays[instant.stay]
                return stay.position.flatMap { locator.leastTemperature(Tempering.steps, at: $0, floor: stay.floor) }
            }
        }
    }

    /// Leaves out one part after the other, makes a map of the rest, and calls `measure` for each of several settings.
    ///
    /// - Parameter measure: Receives a locator on the map of the rest, the stays to locate, and a function that returns
    ///   true for the vectors to locate.
    private func leavingOut<Value>(
        _ leaving: Evaluation.LeftOut, _ settings: [LocatorSettings],
        _ measure: (inout Locator, _ stays: [Int], _ isWanted: (Int) -> Bool) -> [Value]
    ) throws(PositioningError) -> [Result<[Value], PositioningError>] {
        let parts = parts(leaving)
        guard parts.count > 1 else { throw .nothingLeft }
        let total = parts.reduce(0) { $0 + $1.vectors }
        let step = max(1, (total + instantLimit - 1) / max(1, instantLimit))
        var results = settings.map { _ in Result<[Value], PositioningError>.success([]) }
        let keepsVectors = settings.contains { $0.algorithm.needsFingerprints }
        for fold in folds(parts) {
            let vectors = Set(fold.flatMap { $0.range.map(Array.init) ?? [] })
            let stays = Set(fold.filter { $0.range == nil }.flatMap(\.stays))
            let remainingSurvey = survey.cancelling(stays).without(vectors: vectors)
            guard let map = try? SignalMap(remainingSurvey, positions: positions, keepsVectors: keepsVectors),
                !map.places.isEmpty
            else { continue }
            let tested = stays.union(fold.flatMap(\.stays)).sorted()
            for (index, settings) in settings.enumerated() {
                progress?.step()
                results[index] = results[index].flatMap { earlierValues in
                    do throws(PositioningError) {
                        var locator = try Locator(map, settings: settings)
                        return .success(
                            earlierValues
                                + measure(&locator, tested) {
                                    (vectors.isEmpty || vectors.contains($0)) && $0 % step == 0
                                })
                    } catch {
                        return .failure(error)
                    }
                }
            }
        }
        return results.map { result in
            if case .success(let values) = result, values.isEmpty { .failure(.nothingLeft) } else { result }
        }
    }

    /// Converts the place indices of an instant: from a map without the left-out parts to the map of the whole survey.
    private func renumbered(
        _ instant: EvaluatedInstant, from map: SignalMap, to wholeMap: SignalMap, _ spacing: Double?
    ) -> EvaluatedInstant {
        var instant = instant
        instant.truth = Self.truth(survey.stays[instant.stay], wholeMap.places)
        instant.place = instant.place.flatMap { place in
            let answered = map.places[place]
            return wholeMap.places.firstIndex { $0.name == answered.name && $0.floor == answered.floor }
        }
        instant.isExact = instant.place != nil && instant.place == instant.truth
        instant.isNear = Self.isNear(instant.place, instant.truth, wholeMap.places, spacing)
        return instant
    }

    // MARK: Parts

    /// A part of the survey that is left out as a whole: some stays, or some vectors of a stay.
    struct Part {
        var stays: [Int]
        /// The indices of the vectors that are left out; `nil` for all vectors of the stays.
        var range: Range<Int>?
        /// The number of vectors that are left out.
        var vectors: Int
    }

    /// The number of maps that ``results(_:leaving:)`` makes for each element of `settings`.
    func mapCount(_ leaving: Evaluation.LeftOut) -> Int { min(parts(leaving).count, partLimit) }

    /// Groups of parts that are left out together. If there are at most ``partLimit`` parts, each part is a group.
    /// Otherwise there are ``partLimit`` groups. If ``groupsParts`` is true, each group has parts from the whole
    /// survey. If it is false, each group is a single part, and these parts are evenly spaced.
    private func folds(_ parts: [Part]) -> [[Part]] {
        guard parts.count > partLimit else { return parts.map { [$0] } }
        guard groupsParts else { return (0..<partLimit).map { [parts[$0 * parts.count / partLimit]] } }
        var folds = [[Part]](repeating: [], count: partLimit)
        for (index, part) in parts.enumerated() { folds[(index + index / partLimit) % partLimit].append(part) }
        return folds
    }

    /// All parts of the survey that can be left out.
    func parts(_ leaving: Evaluation.LeftOut) -> [Part] {
        let surveyPlaces = SurveyPlaces(survey)
        var parts: [Part] = []
        var indexOfKey: [String: Int] = [:]
        for (index, stay) in survey.stays.enumerated() {
            guard let place = surveyPlaces.placeOfStay[index], !stay.vectors.isEmpty else { continue }
            if leaving == .fingerprint {
                parts += stay.vectors.map { Part(stays: [index], range: $0..<$0 + 1, vectors: 1) }
                continue
            }
            if leaving == .half {
                let middle = stay.vectors.lowerBound + stay.vectors.count / 2
                let halves = [stay.vectors.lowerBound..<middle, middle..<stay.vectors.upperBound]
                parts += halves.filter { !$0.isEmpty }.map { Part(stays: [index], range: $0, vectors: $0.count) }
                continue
            }
            let session = survey.session(of: stay) ?? ""
            let key =
                switch leaving {
                case .visit, .fingerprint, .half, .test: "\(place)/\(session)"
                case .stay: "stay \(index)"
                case .place: "\(place)"
                case .session: session
                case .heading: stay.heading.map { "\($0)" } ?? ""
                }
            if let part = indexOfKey[key] {
                parts[part].stays.append(index)
                parts[part].vectors += stay.vectors.count
            } else {
                indexOfKey[key] = parts.count
                parts.append(Part(stays: [index], range: nil, vectors: stay.vectors.count))
            }
        }
        return parts
    }

    // MARK: One run

    /// Passes the vectors of some stays to a locator. Calls `measure` after each wanted vector with at least one
    /// received beacon.
    ///
    /// - Parameters:
    ///   - shift: The simulated change of the levels; `nil` for no change.
    ///   - measure: Receives the locator, the indices of the stay and the vector, and the number of received beacons
    ///     that are not on the map.
    private static func pass<Value>(
        _ stays: [Int], of test: Survey, to locator: inout Locator, shift: DayShift?, isWanted: (Int) -> Bool,
        _ measure: (Locator, (stay: Int, vector: Int, unknownBeacons: Int)) -> Value?
    ) -> [Value] {
        let numbers = locator.map.numbers(for: test)
        var values: [Value] = []
        for index in stays {
            let stay = test.stays[index]
            guard let last = stay.vectors.last(where: isWanted) else { continue }
            locator.begin()
            let place = shift == nil ? nil : truth(stay, locator.map.places)
            for vector in stay.vectors.lowerBound...last {
                var onMap = locator.map.vector(vector, of: test, numbers: numbers)
                if let place, let shift { onMap = shift.shifted(onMap, place) }
                locator.add(onMap)
                let received = test.vector(vector).readings.count
                guard isWanted(vector), received > 0 else { continue }
                if let value = measure(locator, (index, vector, received - onMap.readings.count)) {
                    values.append(value)
                }
            }
        }
        return values
    }

    private static func evaluated(
        _ stays: [Int], of test: Survey, with locator: inout Locator, _ floorPenalty: Double, _ isWanted: (Int) -> Bool
    ) -> [EvaluatedInstant] {
        locator.wantsRegion50 = true
        let places = locator.map.places
        let spacing = locator.map.spacing
        return pass(stays, of: test, to: &locator, shift: nil, isWanted: isWanted) { locator, located in
            let stay = test.stays[located.stay]
            let truth = truth(stay, places)
            let answer = locator.answer(unknownBeacons: located.unknownBeacons)
            var instant = EvaluatedInstant(stay: located.stay, vector: located.vector)
            instant.truth = truth
            guard answer.state != .none else { return instant }
            instant.isAnswered = true
            instant.place = answer.place
            instant.isRightFloor = stay.floor == nil || answer.floor == stay.floor
            if let position = answer.position, let place = stay.position {
                instant.error = position.distance(to: place) + (instant.isRightFloor ? 0 : floorPenalty)
            }
            instant.isExact = truth != nil && answer.place == truth
            instant.isNear = isNear(answer.place, truth, places, spacing)
            instant.area = answer.region95?.area
            if let position = stay.position, let region95 = answer.region95 {
                instant.isInRegion95 = instant.isRightFloor && region95.contains(position)
                instant.isInRegion50 = instant.isRightFloor && answer.region50?.contains(position) == true
            }
            return instant
        }
    }

    /// The index of a stay's true place in the map. The true place is the place on the stay's floor that is nearest to
    /// the stay's position. If the stay has no position, it is the place with the stay's place name.
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

/// Shows on the terminal how many maps of a fit have been evaluated.
final class FitProgress: Sendable {
    private let line = ProgressLine()
    private let done = Atomic(0)
    private let total: Int

    /// - Parameter total: The number of maps.
    init(total: Int) { self.total = total }

    /// Counts a map.
    func step() {
        let count = done.add(1, ordering: .relaxed).newValue
        line.report(min(count, total), of: total, "maps evaluated")
    }

    /// Removes the progress line from the terminal.
    func finish() { line.finish() }
}

/// A simulated change of the levels from one day to another: a pseudo-random difference in dB for each beacon at each
/// place. The same beacon and place always have the same difference.
private struct DayShift {
    /// The standard deviation of a beacon's level at a place from day to day, in dB.
    private static let deviation = 3.5

    func shifted(_ vector: SignalVector, _ place: Int) -> SignalVector {
        SignalVector(
            seconds: vector.seconds,
            sorted: vector.readings.map { .init(beacon: $0.beacon, level: $0.level + shift($0.beacon, place)) })
    }

    private func shift(_ beacon: Int, _ place: Int) -> Double {
        var random = SplitMix64(seed: UInt64(beacon) << 32 | UInt64(place))
        return Self.deviation * (-2 * log(1 - random.nextUnit())).squareRoot() * cos(2 * .pi * random.nextUnit())
    }
}
