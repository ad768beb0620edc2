public import Airtime
public import Configuration

/// Directions to a beacon on a map: the beacon's position, and the distance and bearing from the receiver.
public struct BeaconDirections: Sendable {
    /// The source of the beacon's position.
    public enum Source: String, Hashable, Sendable {
        /// The beacon's position in the map.
        case position
        /// The place where the survey received the beacon with the highest level.
        case survey
        /// The place where this run received the beacon with the highest level so far. Used if neither the map nor the
        /// survey has a position for the beacon.
        case walk
    }

    /// The assumed position of the beacon.
    public struct Destination: Hashable, Sendable {
        public let source: Source
        /// The index in the map of the place at the position, or of the nearest place if there is none at the position.
        public let place: Int?
        /// The position in metres east and north.
        public let position: FloorPosition
        /// The floor's name; `nil` on sites with one floor.
        public let floor: String?
    }

    /// The direction from the receiver to the beacon.
    public enum Direction: Hashable, Sendable {
        /// The distance in metres, and the bearing in degrees clockwise from north.
        case sameFloor(distance: Double, bearing: Double)
        case otherFloor
    }

    /// The assumed position of the beacon; `nil` if it is not known.
    public private(set) var destination: Destination?
    /// The newest answer about the receiver; `nil` before the first answer.
    public private(set) var answer: LocatorAnswer?
    private let map: SignalMap
    /// The highest level at which this run has received the beacon, in dBm.
    private var highestLevel = -Double.infinity

    /// Creates directions to a beacon.
    ///
    /// - Parameter keys: The possible keys of the beacon. The first key that the map contains is used.
    public init(_ map: SignalMap, to keys: [BeaconKey]) {
        self.map = map
        guard let number = keys.lazy.compactMap({ map.number(of: $0) }).first else { return }
        let received = map.places.indices.compactMap { place in
            map.statistics[place].first { $0.beacon == number }.map { (place: place, mean: $0.mean) }
        }.filter { map.places[$0.place].position != nil }
        let strongest = received.max { ($0.mean, $1.place) < ($1.mean, $0.place) }?.place
        if let position = map.beacons[number].position {
            let floor = strongest.map { map.places[$0].floor } ?? map.places.first?.floor
            let place = map.places.nearest(to: position) { $0 == floor }
            destination = Destination(source: .position, place: place, position: position, floor: floor)
        } else if let strongest, let position = map.places[strongest].position {
            destination = Destination(
                source: .survey, place: strongest, position: position, floor: map.places[strongest].floor)
        }
    }

    /// Updates the position of the receiver.
    public mutating func update(_ answer: LocatorAnswer) { self.answer = answer }

    /// Updates the level of the beacon at the receiver, in dBm.
    public mutating func update(level: Double) {
        guard destination.map({ $0.source == .walk }) ?? true, level > highestLevel, let answer, answer.state != .none,
            let position = answer.position
        else { return }
        highestLevel = level
        destination = Destination(source: .walk, place: answer.place, position: position, floor: answer.floor)
    }

    /// The direction to the beacon; `nil` if the position of the receiver or of the beacon is not known.
    public var direction: Direction? {
        guard let destination, let answer, answer.state != .none else { return nil }
        if let floor = destination.floor, let receiverFloor = answer.floor, floor != receiverFloor {
            return .otherFloor
        }
        guard let position = answer.position else { return nil }
        let degrees = atan2(destination.position.x - position.x, destination.position.y - position.y) * 180 / .pi
        return .sameFloor(
            distance: position.distance(to: destination.position), bearing: degrees < 0 ? degrees + 360 : degrees)
    }

    // MARK: Text and JSON

    /// The directions as text that can be part of a line.
    public var text: String {
        guard let answer, answer.state != .none else { return "map: \(answer?.reason?.rawValue ?? "listening")" }
        guard let destination else { return "map: position unknown" }
        switch direction {
        case .otherFloor: return "it is on another floor: \(MapText.line(destination.floor ?? ""))"
        case .sameFloor(let distance, let bearing):
            let compass = Heading.compass(bearing)
            let place = destination.place.map { MapText.line(map.places[$0].name) }
            let placeText = place.map { (destination.source == .walk ? ", strongest so far at " : ", at ") + $0 } ?? ""
            return "\(MapText.metres(distance).dropLast()) m \(compass)\(placeText)"
        case nil: return "map: no position"
        }
    }

    /// The directions as one JSON object.
    public var json: JSONValue {
        var (distance, bearing, isOtherFloor): (Double?, Double?, Bool?) = (nil, nil, nil)
        switch direction {
        case .otherFloor: isOtherFloor = true
        case .sameFloor(let metres, let degrees): (distance, bearing, isOtherFloor) = (metres, degrees, false)
        case nil: break
        }
        let located = answer.flatMap { $0.state == .none ? nil : $0 }
        return .record([
            ("state", .text(answer?.state.rawValue)), ("reason", .text(answer?.reason?.rawValue)),
            ("place", .text(located?.place.map { map.places[$0].name })), ("floor", .text(located?.floor)),
            ("position", .optional(located?.position) { .point($0) }), ("target", .optional(destination, json)),
            ("distanceM", .rounded(distance)), ("bearingDeg", .rounded(bearing, 1)),
            ("otherFloor", .optional(isOtherFloor) { .boolean($0) }),
        ])
    }

    private func json(_ destination: Destination) -> JSONValue {
        .record([
            ("source", .string(destination.source.rawValue)),
            ("place", .text(destination.place.map { map.places[$0].name })),
            ("floor", .text(destination.floor)), ("position", .point(destination.position)),
        ])
    }
}
