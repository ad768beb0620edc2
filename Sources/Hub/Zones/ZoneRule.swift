public import Configuration
internal import Glibc

/// A zone of a listener file, with the defaults filled in: which beacons belong to it, and when they enter and leave.
public struct ZoneRule: Hashable, Sendable {
    /// The beacons of a zone.
    public enum Members: Hashable, Sendable {
        /// All beacons with this tag.
        case tag(String)
        /// The beacons with these names.
        case beacons([String])
    }

    /// The scope of the enter and exit events: each beacon, or the zone as a whole.
    public enum Scope: String, Hashable, Sendable, CaseIterable {
        /// Each beacon enters and leaves on its own, for example if each of several desks has a beacon.
        case beacon
        /// The zone is entered when its first beacon enters, and left when its last beacon leaves.
        case zone
    }

    /// The bound within which a beacon is inside the zone.
    public enum Bound: Hashable, Sendable {
        /// Distances in thousandths of a metre: a beacon enters at `within` and leaves beyond `leaveBeyond`.
        case distance(within: Int, leaveBeyond: Int)
        /// Levels in dBm: a beacon enters at `above` and leaves below `leaveBelow`.
        case level(above: Int, leaveBelow: Int)
    }

    /// The data that a beacon must send to count as present.
    public enum Proof: String, Hashable, Sendable, CaseIterable {
        /// Its identity, which can be copied.
        case none
        /// An Eddystone ephemeral id, which only a beacon with the key can compute.
        case eid
    }

    /// Texts of an event. Each `${key}` in them is replaced by the beacon's attachment `key`, or by an empty text if
    /// the beacon has no such attachment.
    public struct Content: Hashable, Sendable {
        public var title: String?
        public var body: String?
    }

    /// The name of the zone, of letters, digits, `.`, `_` and `-`.
    public var name: String
    public var members: Members
    public var scope: Scope
    public var bound: Bound
    /// The number of reports that are needed to enter.
    public var reports = 2
    /// The time within which the ``reports`` must arrive, in microseconds; `nil` for 3 s, or three periods of the
    /// beacon if that is longer.
    public var window: Int?
    /// The time for which a beacon must be beyond the leaving bound to leave, in microseconds of listened time.
    public var leaveAfter = 5_000_000
    /// The silence after which a beacon leaves, in microseconds of listened time; `nil` to compute it for each beacon.
    public var silentAfter: Int?
    /// The times inside the zone after which a dwell event is sent, in seconds, in ascending order.
    public var dwellSeconds: [Int] = []
    /// The name of the exclusive group; `nil` for no group. At any time, beacons are inside at most one zone of a
    /// group: the nearest zone.
    public var exclusive: String?
    /// The number of dB by which a beacon of this zone must be stronger to replace the beacon inside another zone of
    /// the group. The difference must also be statistically significant. If the powers of both beacons at 1 m are
    /// known, the levels relative to 1 m are compared.
    public var exclusiveDecibels = 3
    public var proof = Proof.none
    public var onEnter: Content?
    public var onExit: Content?

    /// The default distance, in thousandths of a metre.
    public static let defaultDistance = 1000
    /// The default of the leaving distance, as a multiple of the entering distance.
    static let leaveFactor = 1.5
    /// The default number of dB by which the leaving level is below the entering level.
    static let leaveDecibels = 6

    /// Creates a zone of `members` with defaults for everything else.
    ///
    /// - Parameters:
    ///   - scope: `nil` for the default: `beacon` if the members are given by tag, `zone` if they are given by name.
    ///   - bound: `nil` for the default: enter within 1 m, leave beyond 1.5 m.
    public init(name: String, members: Members, scope: Scope? = nil, bound: Bound? = nil) {
        self.name = name
        self.members = members
        if case .tag = members { self.scope = scope ?? .beacon } else { self.scope = scope ?? .zone }
        self.bound = bound ?? .within(Self.defaultDistance)
    }
}

extension ZoneRule.Bound {
    /// Returns a bound with this entering distance, in thousandths of a metre, and the default leaving distance.
    static func within(_ distance: Int) -> Self {
        .distance(within: distance, leaveBeyond: Int(Double(distance) * ZoneRule.leaveFactor))
    }

    /// Returns a bound with this entering level, in dBm, and the default leaving level.
    static func above(_ level: Int) -> Self { .level(above: level, leaveBelow: level - ZoneRule.leaveDecibels) }

    /// True if the bound is a distance. Such a bound needs the beacon's level at 1 m.
    var isDistance: Bool { if case .distance = self { true } else { false } }

    /// The lowest level with which a beacon enters: in dBm, or in dB relative to 1 m if the bound is a distance.
    var enterMeasure: Double {
        switch self {
        case .distance(let within, _): Self.gain(meters: Double(within) / 1000)
        case .level(let above, _): Double(above)
        }
    }

    /// The lowest level with which a beacon stays inside, in the unit of ``enterMeasure``.
    var stayMeasure: Double {
        switch self {
        case .distance(_, let beyond): Self.gain(meters: Double(beyond) / 1000)
        case .level(_, let below): Double(below)
        }
    }
}

extension ZoneRule.Bound {
    /// The path loss exponent of free space.
    private static let exponent = 2.0

    /// Returns the level at a distance, relative to the level at 1 m, in dB.
    private static func gain(meters: Double) -> Double { -10 * exponent * Glibc.log10(max(0.001, meters)) }

    /// Returns the distance in metres for a level relative to the level at 1 m, in dB.
    static func meters(gain: Double) -> Double { Glibc.pow(10, -gain / (10 * exponent)) }
}

extension ZoneRule.Content {
    /// Returns the texts with each `${key}` replaced by the attachment of that key.
    func filled(_ attachments: [BeaconAttachment]) -> ZoneRule.Content {
        func fill(_ text: String) -> String {
            NamedTexts.fill(text) { key in attachments.first { $0.key == key }?.text ?? "" }
        }
        return ZoneRule.Content(title: title.map(fill), body: body.map(fill))
    }

    /// The keys of the attachments that the texts use, each key once.
    var keys: [String] {
        var keys: [String] = []
        for key in [title, body].compactMap(\.self).flatMap(NamedTexts.names) where !keys.contains(key) {
            keys.append(key)
        }
        return keys
    }
}

/// The name, tags and attachments of a beacon.
public struct ZoneBeacon: Hashable, Sendable {
    public var name: String
    public var tags: [String]
    /// The attachments, in the order of the file.
    public var attachments: [BeaconAttachment]

    /// Creates a beacon.
    public init(name: String, tags: [String] = [], attachments: [BeaconAttachment] = []) {
        self.name = name
        self.tags = tags
        self.attachments = attachments
    }
}
