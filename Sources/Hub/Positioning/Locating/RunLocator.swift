internal import Airtime
public import Configuration
public import Listener
public import Sites

/// Locates runs on a map, second by second.
public struct RunLocator: Sendable {
    private var locator: Locator
    /// True if answers contain the score of every place.
    public var wantsScores: Bool {
        get { locator.wantsScores }
        set { locator.wantsScores = newValue }
    }
    private var session: String?
    private var numbers: [BeaconKey: Int?] = [:]

    /// A locator for a map.
    ///
    /// - Parameters:
    ///   - settings: The settings of the locator.
    ///   - walls: Walls that the algorithm `hmm` does not cross.
    /// - Throws: If the map lacks what the algorithm needs.
    public init(_ map: SignalMap, settings: LocatorSettings, walls: [Wall] = []) throws(ListenerServiceError) {
        locator = try MapFitting.refusing { () throws(PositioningError) in
            try Locator(map, settings: settings, walls: walls)
        }
    }

    /// The map.
    public var map: SignalMap { locator.map }

    /// Begins another run.
    public mutating func begin(session: String?) {
        self.session = session
        locator.begin()
    }

    /// Adds the next second of the run, and locates the receiver.
    public mutating func locate(seconds: Double, _ heard: [HeardBeacon]) -> LocatedInstant {
        var levels: [Int: [Double]] = [:]
        var strangers = 0
        for beacon in heard {
            if let number = number(of: beacon) {
                levels[number, default: []] += beacon.levels
            } else {
                strangers += 1
            }
        }
        let vector = SignalVector(
            seconds: seconds,
            readings: levels.map { .init(beacon: $0.key, level: $0.value.reduce(0, +) / Double($0.value.count)) })
        let answer = locator.locate(vector, strangers: strangers)
        return LocatedInstant(session: session, seconds: seconds, answer: answer)
    }

    /// The first of the beacon's keys that the map has.
    private mutating func number(of beacon: HeardBeacon) -> Int? {
        // Limits the memory if very many identities are received.
        if numbers.count > 2 * Survey.beaconLimit { numbers.removeAll() }
        for key in beacon.keys {
            let number = numbers[key] ?? map.number(of: key)
            numbers[key] = .some(number)
            if let number { return number }
        }
        return nil
    }
}

/// The answer at one instant, with the true position if it is known.
public struct LocatedInstant: Sendable {
    /// The name of the run. `nil` if it has none.
    public let session: String?
    /// Seconds since the start of the run.
    public let seconds: Double
    public let answer: LocatorAnswer
    /// The true position of the receiver.
    public var truth: RunTruth.Spot?

    /// The error in metres, in the plane. `nil` without a true position and without an answer.
    public var error: Double? {
        guard let truth, let position = answer.position else { return nil }
        return position.distance(to: truth.position)
    }

    /// The answer as one object.
    ///
    /// - Parameter hasScores: True if it contains the score of every place.
    public func json(on map: SignalMap, hasScores: Bool = false) -> JSONValue {
        var members: [(String, JSONValue)] = [
            ("session", .text(session)), ("time", .rounded(seconds)),
            ("state", .string(answer.state.rawValue)),
        ]
        if answer.state == .none {
            members.append(("reason", .optional(answer.reason) { .string($0.rawValue) }))
        } else {
            members += placed(on: map)
        }
        members += [
            ("heard", .integer(answer.heard)), ("used", .integer(answer.used)),
            ("receiverOffsetDb", .rounded(answer.receiverOffset)),
            ("algorithm", .string(map.settings.algorithm.rawValue)),
        ]
        if let truth {
            members.append(("truth", truth.json))
            members.append(("errorM", .rounded(error)))
        }
        if hasScores { members.append(("scores", scores(on: map))) }
        return .record(members)
    }

    private func placed(on map: SignalMap) -> [(String, JSONValue)] {
        [
            ("floor", .text(answer.floor)),
            ("position", .optional(answer.position) { .point($0, 6) }),
            ("place", .optional(answer.place) { .string(map.places[$0].name) }),
            ("probability", .rounded(answer.probability, 4)),
            (
                "candidates",
                .array(
                    answer.candidates.map {
                        .record([
                            ("place", .string(map.places[$0.place].name)),
                            ("probability", .rounded($0.probability, 4)),
                        ])
                    })
            ),
            ("region95", .optional(answer.region95, Self.region)),
        ]
    }

    private static func region(_ region: Region) -> JSONValue {
        .record([
            ("areaM2", .rounded(region.area)), ("radiusM", .rounded(region.radius)),
            (
                "polygon",
                .array(region.polygon.map { .roundedPosition($0) })
            ),
        ])
    }

    /// The scores by the place's name. Further places with the same name have their floor or a number in parentheses.
    private func scores(on map: SignalMap) -> JSONValue {
        var taken: Set<String> = []
        return .record(
            map.places.enumerated().map { number, place in
                let score = answer.scores.indices.contains(number) ? answer.scores[number] : nil
                var name = place.name
                if taken.contains(name), let floor = place.floor { name = "\(name) (\(floor))" }
                var count = 2
                while taken.contains(name) {
                    name = "\(place.name) (\(count))"
                    count += 1
                }
                taken.insert(name)
                return (name, MapText.score(score))
            })
    }

    /// The answer as one line of text.
    public func text(on map: SignalMap) -> String {
        let time = "\(MapText.metres(seconds).dropLast(3)) s"
        let start = (session.map { MapText.line($0) + "  " } ?? "") + time
        let error = error.map { "  error \(MapText.metres($0)) m" } ?? ""
        guard answer.state != .none else { return "\(start)  none: \(answer.reason?.rawValue ?? "")" }
        var parts = [start]
        if answer.state == .poor { parts.append("poor") }
        if let place = answer.place {
            let share = answer.probability.map { " \(MapText.percent($0)) %" } ?? ""
            parts.append(MapText.name(map.places[place]) + share)
        }
        if let position = answer.position {
            let radius = answer.region95.map { " within \(MapText.metres($0.radius)) m" } ?? ""
            parts.append("\(MapText.metres(position.x)), \(MapText.metres(position.y)) m\(radius)")
        }
        parts.append("\(answer.used) of \(MapText.count(answer.heard, "beacon"))")
        return parts.joined(separator: "  ") + error
    }
}
