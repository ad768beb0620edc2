internal import Airtime
public import Configuration
public import Listener
public import Sites

/// Locates the receiver of a run on a map, second by second.
public struct RunLocator: Sendable {
    private var locator: Locator
    /// True if answers should contain the score of every place.
    public var wantsScores: Bool {
        get { locator.wantsScores }
        set { locator.wantsScores = newValue }
    }
    private var session: String?
    private var heading: RunHeading
    /// For each received key, the beacon's number in the map; `nil` for a key that is not on the map.
    private var numberOfKey: [BeaconKey: Int?] = [:]

    /// Creates a locator for a map.
    ///
    /// - Parameters:
    ///   - settings: The settings of the locator.
    ///   - site: The site of the map. Its walls limit the movements in the algorithm `hmm`, and answers name its rooms.
    ///     `nil` to use no walls, and the rooms of the site from which the map was made, if it has any.
    /// - Throws: If the map lacks data that the algorithm needs.
    public init(_ map: SignalMap, settings: LocatorSettings, site: Site? = nil) throws(ListenerServiceError) {
        locator = try MapFitting.refusing { () throws(PositioningError) in
            let rooms = site.map(MapRoom.rooms) ?? []
            return try Locator(
                map, settings: settings, walls: site?.walls ?? [], rooms: rooms.isEmpty ? nil : rooms)
        }
        heading = RunHeading(window: settings.effectiveWindow ?? 1)
    }

    /// The map.
    public var map: SignalMap { locator.map }

    /// The algorithm of the locator.
    public var algorithm: PositioningAlgorithm { locator.map.settings.algorithm }

    /// The rooms that answers refer to.
    public var rooms: [MapRoom] { locator.rooms }

    /// Begins a new run with the given name.
    public mutating func begin(session: String?) {
        self.session = session
        locator.begin()
        heading.begin()
    }

    /// Adds the next second of the run, and locates the receiver.
    public mutating func locate(seconds: Double, _ heard: [HeardBeacon]) -> LocatedInstant {
        var levels: [Int: [Double]] = [:]
        var unknownBeacons = 0
        for beacon in heard {
            if let number = number(of: beacon) {
                levels[number, default: []] += beacon.levels
            } else {
                unknownBeacons += 1
            }
        }
        let vector = SignalVector(
            seconds: seconds,
            readings: levels.map { .init(beacon: $0.key, level: $0.value.reduce(0, +) / Double($0.value.count)) })
        let answer = locator.locate(vector, unknownBeacons: unknownBeacons)
        return LocatedInstant(
            session: session, seconds: seconds, algorithm: algorithm, answer: answer,
            heading: heading.add(answer, seconds: seconds))
    }

    /// Returns the beacon's number in the map. If the map contains several keys of the beacon, the first of them is
    /// used.
    private mutating func number(of beacon: HeardBeacon) -> Int? {
        // This limits the memory if very many identities are received.
        if numberOfKey.count > 2 * Survey.beaconLimit { numberOfKey.removeAll() }
        for key in beacon.keys {
            let number = numberOfKey[key] ?? map.number(of: key)
            numberOfKey[key] = .some(number)
            if let number { return number }
        }
        return nil
    }
}

/// The answer at one instant, with the true position if it is known.
public struct LocatedInstant: Sendable {
    /// The name of the run; `nil` if it has none.
    public let session: String?
    /// Seconds since the start of the run.
    public let seconds: Double
    public let algorithm: PositioningAlgorithm
    public let answer: LocatorAnswer
    /// The direction in which the receiver moves; `nil` if it stands, or if the direction is not known.
    public var heading: Heading?
    /// The true position of the receiver.
    public var truth: RunTruth.Spot?

    /// The horizontal distance between the answer and the true position, in metres; `nil` if one of them has no
    /// position.
    public var error: Double? {
        guard let truth, let position = answer.position else { return nil }
        return position.distance(to: truth.position)
    }

    /// Returns the answer as one JSON object.
    ///
    /// - Parameters:
    ///   - rooms: The rooms that the answer refers to.
    ///   - hasScores: True if the object contains the score of every place.
    ///   - compared: The answers of all algorithms at the same instant; `nil` if only one algorithm locates.
    public func json(
        on map: SignalMap, rooms: [MapRoom] = [], hasScores: Bool = false, compared: [LocatedInstant]? = nil
    ) -> JSONValue {
        var members: [(String, JSONValue)] = [("session", .text(session)), ("time", .rounded(seconds))]
        members += stateMembers(on: map, rooms)
        members += [
            ("heard", .integer(answer.heard)), ("used", .integer(answer.used)),
            ("receiverOffsetDb", .rounded(answer.receiverOffset)), ("algorithm", .string(algorithm.rawValue)),
        ]
        if let truth {
            members.append(("truth", truth.json))
            members.append(("errorM", .rounded(error)))
        }
        if hasScores { members.append(("scores", scores(on: map))) }
        if let compared {
            let algorithms = compared.map { instant in
                var members: [(String, JSONValue)] = [("algorithm", .string(instant.algorithm.rawValue))]
                members += instant.stateMembers(on: map, rooms)
                if instant.truth != nil { members.append(("errorM", .rounded(instant.error))) }
                if hasScores { members.append(("scores", instant.scores(on: map))) }
                return JSONValue.record(members)
            }
            members.append(("algorithms", .array(algorithms)))
        }
        return .record(members)
    }

    private func stateMembers(on map: SignalMap, _ rooms: [MapRoom]) -> [(String, JSONValue)] {
        let state: [(String, JSONValue)] = [("state", .string(answer.state.rawValue))]
        guard answer.state != .none else {
            return state + [("reason", .optional(answer.reason) { .string($0.rawValue) })]
        }
        return state + placeMembers(on: map) + (rooms.isEmpty ? [] : roomMembers(rooms))
            + [("region95", .optional(answer.region95, Self.region)), ("heading", .optional(heading, \.json))]
    }

    private func roomMembers(_ rooms: [MapRoom]) -> [(String, JSONValue)] {
        let candidates = answer.rooms.map { candidate in
            JSONValue.record([
                ("room", .string(rooms[candidate.room].name)), ("probability", .rounded(candidate.probability, 4)),
            ])
        }
        return [
            ("room", .optional(answer.room) { .string(rooms[$0.room].name) }),
            ("roomProbability", .rounded(answer.room?.probability, 4)), ("rooms", .array(candidates)),
        ]
    }

    private func placeMembers(on map: SignalMap) -> [(String, JSONValue)] {
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
        ]
    }

    private static func region(_ region: Region) -> JSONValue {
        .record([
            ("areaM2", .rounded(region.area)), ("radiusM", .rounded(region.radius)),
            ("polygon", .array(region.polygon.map { .roundedPosition($0) })),
        ])
    }

    /// Returns the score of each place, by the place's name. If several places have the same name, the floor or a
    /// number in parentheses follows the name, except for the first of these places.
    private func scores(on map: SignalMap) -> JSONValue {
        var usedNames: Set<String> = []
        return .record(
            map.places.enumerated().map { index, place in
                let score = answer.scores.indices.contains(index) ? answer.scores[index] : nil
                var name = place.name
                if usedNames.contains(name), let floor = place.floor { name = "\(name) (\(floor))" }
                var count = 2
                while usedNames.contains(name) {
                    name = "\(place.name) (\(count))"
                    count += 1
                }
                usedNames.insert(name)
                return (name, MapText.score(score))
            })
    }

    /// Returns the answer as one line of text.
    ///
    /// - Parameter rooms: The rooms that the answer refers to.
    public func text(on map: SignalMap, rooms: [MapRoom] = []) -> String {
        let time = "\(MapText.metres(seconds).dropLast(3)) s"
        let start = (session.map { MapText.line($0) + "  " } ?? "") + time
        let error = error.map { "  error \(MapText.metres($0)) m" } ?? ""
        guard answer.state != .none else { return "\(start)  none: \(answer.reason?.rawValue ?? "")" }
        var parts = [start]
        if answer.state == .poor {
            parts.append(answer.used < 3 ? "poor: fewer than 3 beacons" : "poor: region over a quarter of the site")
        }
        if let place = answer.place {
            let share = answer.probability.map { " \(MapText.percent($0)) %" } ?? ""
            parts.append(MapText.name(map.places[place]) + share)
        }
        if let room = answer.room {
            let share = room.probability.map { " \(MapText.percent($0)) %" } ?? ""
            parts.append("room \(MapText.line(rooms[room.room].name))\(share)")
        }
        if let position = answer.position {
            let radius = answer.region95.map { " within \(MapText.metres($0.radius)) m" } ?? ""
            parts.append("\(MapText.metres(position.x)), \(MapText.metres(position.y)) m\(radius)")
        }
        if let heading { parts.append(heading.text) }
        parts.append("\(answer.used) of \(MapText.count(answer.heard, "beacon"))")
        return parts.joined(separator: "  ") + error
    }
}
