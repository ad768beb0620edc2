public import Airtime
internal import Configuration

/// The contents of a new site file.
public struct SiteDraft: Sendable {
    public var name: String
    /// The picture behind the floor: its file, its width in m, and the position of its lower left corner.
    public var picture: (file: String, width: Double, position: FloorPosition)?
    /// The corners of the floor; empty for a site without an outline.
    public var outline: [FloorPosition] = []
    public var walls: [Wall] = []
    public var beacons: [Point] = []
    public var mounts: [FloorPosition] = []
    public var paths: [Path] = []
    public var rooms: [Room] = []
    public var receivers: [Point] = []

    /// A wall through two or more corners.
    public struct Wall: Hashable, Sendable {
        public var points: [FloorPosition]
        /// The loss of one crossing in dB.
        public var attenuation: Double
    }

    /// A beacon or a receiver.
    public struct Point: Hashable, Sendable {
        public var name: String
        public var position: FloorPosition
    }

    /// A path along which people walk.
    public struct Path: Hashable, Sendable {
        public var name: String
        public var points: [FloorPosition]
        /// The walking speed in m/s; nil for the default.
        public var speed: Double?
    }

    /// A room, with its corners in order.
    public struct Room: Hashable, Sendable {
        public var name: String
        public var corners: [FloorPosition]
    }

    /// Creates an empty site.
    ///
    /// - Parameter name: At most 64 letters, digits, `.`, `_` and `-`.
    public init(name: String) { self.name = name }

    /// The text of the file. Positions are in m, rounded to mm. Keys without a value are left out. The default scanner
    /// and the default target are written out, so that the user can change them in the file.
    public var text: String {
        var members: [(String, JSONValue)] = [("version", .integer(Site.version)), ("name", .string(name))]
        if let picture {
            members.append(
                (
                    "picture",
                    .record([
                        ("file", .string(picture.file)), ("widthM", Self.number(picture.width)),
                        ("position", Self.coordinates(picture.position)),
                    ])
                ))
        }
        func add<Element>(_ key: String, _ list: [Element], _ value: (Element) -> JSONValue) {
            if !list.isEmpty { members.append((key, .array(list.map(value)))) }
        }
        add("outline", outline, Self.coordinates)
        add("walls", walls) { wall in
            let ends =
                wall.points.count == 2
                ? [("from", Self.coordinates(wall.points[0])), ("to", Self.coordinates(wall.points[1]))]
                : [("points", JSONValue.array(wall.points.map(Self.coordinates)))]
            return .record(ends + [("attenuationDb", Self.number(wall.attenuation))])
        }
        add("rooms", rooms) {
            .record([("name", .string($0.name)), ("outline", .array($0.corners.map(Self.coordinates)))])
        }
        add("beacons", beacons, Self.point)
        add("receivers", receivers, Self.point)
        add("mounts", mounts, Self.coordinates)
        add("paths", paths) { path in
            .record(
                [("name", .string(path.name)), ("points", .array(path.points.map(Self.coordinates)))]
                    + (path.speed.map { [("speedMps", Self.number($0))] } ?? []))
        }
        let target = SiteCoverage.Target.usual
        members += [
            ("scanner", "android-low-power"),
            (
                "target",
                .record([
                    ("detectWithinS", Self.number(target.seconds)), ("probability", Self.number(target.probability)),
                ])
            ),
        ]
        return JSONValue.record(members).pretty
    }

    private static func point(_ point: Point) -> JSONValue {
        .record([("name", .string(point.name)), ("position", coordinates(point.position))])
    }

    private static func coordinates(_ position: FloorPosition) -> JSONValue {
        .array([number(position.x), number(position.y)])
    }

    /// A number rounded to thousandths.
    private static func number(_ value: Double) -> JSONValue { .rounded(value) }
}
