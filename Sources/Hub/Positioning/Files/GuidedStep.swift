internal import Airtime
public import Configuration

/// What a map says on the way to a beacon, as a part of a line and as a member of an object.
public struct GuidedStep: Sendable {
    private let guide: MapGuide
    private let map: SignalMap

    /// - Parameter map: That of the guide.
    public init(_ guide: MapGuide, on map: SignalMap) {
        self.guide = guide
        self.map = map
    }

    private static let directions = [
        "north", "north-east", "east", "south-east", "south", "south-west", "west", "north-west",
    ]

    private static func direction(_ bearing: Double) -> String {
        directions[Int((bearing / 45).rounded()) % directions.count]
    }

    /// Where to go, for people.
    public var text: String {
        guard let answer = guide.answer, answer.state != .none else {
            return "map: \(guide.answer?.reason?.rawValue ?? "listening")"
        }
        guard let target = guide.target else { return "map: nobody knows where it is" }
        let place = target.place.map { MapText.line(map.places[$0].name) }
        switch guide.lead {
        case .otherFloor: return "it is on another floor: \(MapText.line(target.floor ?? ""))"
        case .way(let distance, let bearing):
            let near =
                place.map { (target.source == .walk ? ", where it was strongest: " : ", at ") + $0 } ?? ""
            return "\(MapText.metres(distance).dropLast()) m \(Self.direction(bearing))" + near
        case nil: return "map: no position"
        }
    }

    /// The same for programs.
    public var json: JSONValue {
        var (distance, bearing, isOtherFloor): (Double?, Double?, Bool?) = (nil, nil, nil)
        switch guide.lead {
        case .otherFloor: isOtherFloor = true
        case .way(let metres, let degrees): (distance, bearing, isOtherFloor) = (metres, degrees, false)
        case nil: break
        }
        let answer = guide.answer.flatMap { $0.state == .none ? nil : $0 }
        return .record([
            ("state", .optional(guide.answer) { .string($0.state.rawValue) }),
            ("reason", .optional(guide.answer?.reason) { .string($0.rawValue) }),
            ("place", .optional(answer?.place) { .string(map.places[$0].name) }),
            ("floor", .text(answer?.floor)),
            ("position", .optional(answer?.position) { Self.point($0) }),
            ("target", .optional(guide.target) { target($0) }),
            ("distanceM", JSONValue.rounded(distance)), ("bearingDeg", JSONValue.rounded(bearing, 1)),
            ("otherFloor", .optional(isOtherFloor) { .boolean($0) }),
        ])
    }

    private static func point(_ position: FloorPosition) -> JSONValue {
        .record([("x", JSONValue.rounded(position.x)), ("y", JSONValue.rounded(position.y))])
    }

    private func target(_ target: MapGuide.Target) -> JSONValue {
        .record([
            ("source", .string(target.source.rawValue)),
            ("place", .optional(target.place) { .string(map.places[$0].name) }),
            ("floor", .text(target.floor)), ("position", Self.point(target.position)),
        ])
    }
}
