public import Configuration
internal import Glibc

/// A zone of a listener file, with all defaults: which beacons belong to it, and when they enter and leave.
public struct ZoneRule: Hashable, Sendable {
    /// The beacons of a zone.
    public enum Members: Hashable, Sendable {
        /// All beacons with this tag.
        case tag(String)
        /// Beacons by name.
        case beacons([String])
    }

    /// The unit that enters and leaves.
    public enum Per: String, Hashable, Sendable, CaseIterable {
        /// Each beacon enters and leaves on its own, such as each of several desks.
        case beacon
        /// The zone is entered with the first beacon, and left with the last.
        case zone
    }

    /// The bound within which a beacon is inside the zone.
    public enum Bound: Hashable, Sendable {
        /// Distances in thousandths of a metre: a beacon enters at `within` and leaves beyond `leaveBeyond`.
        case distance(within: Int, leaveBeyond: Int)
        /// Levels in dBm: a beacon enters at `above` and leaves below `leaveBelow`.
        case level(above: Int, leaveBelow: Int)
    }

    /// What a beacon must send to be counted.
    public enum Proof: String, Hashable, Sendable, CaseIterable {
        /// Its identity, which can be copied.
        case none
        /// An ephemeral id of its key.
        case eid
    }

    /// Texts of an event, in which `${key}` is replaced by the beacon's attachment `key`, or by nothing if it is
    /// missing.
    public struct Content: Hashable, Sendable {
        public var title: String?
        public var body: String?
    }

    /// Letters, digits, `.`, `_` and `-`.
    public var name: String
    public var members: Members
    public var per: Per
    public var bound: Bound
    /// The number of reports that are needed to enter.
    public var reports = 2
    /// The time in which they must arrive, in microseconds; `nil` for 3 s, or three periods of the beacon if that is
    /// longer.
    public var window: Int?
    /// How long a beacon must be beyond the leaving bound to leave, in microseconds of listened time.
    public var leaveAfter = 5_000_000
    /// The silence after which a beacon leaves, in microseconds of listened time; `nil` to compute it for each beacon.
    public var silentAfter: Int?
    /// The times inside after which a dwell event is sent, in seconds, ascending.
    public var dwellSeconds: [Int] = []
    /// The exclusive group: only the nearest zone of a group can be entered; `nil` for no group.
    public var exclusive: String?
    /// How much stronger a beacon of this zone must be than the beacon inside another zone of the group to take over, in
    /// dB, apart from chance. Levels are compared relative to 1 m if both are known.
    public var exclusiveDecibels = 3
    public var proof = Proof.none
    public var onEnter: Content?
    public var onExit: Content?

    /// The default distance, in thousandths of a metre.
    public static let defaultDistance = 1000
    /// The default of the leaving distance, as a multiple of the entering distance.
    static let leaveFactor = 1.5
    /// The default difference from the entering level to the lower leaving level, in dB.
    static let leaveDecibels = 6

    /// A zone of `members` with defaults for everything else.
    ///
    /// - Parameters:
    ///   - per: `nil` for `beacon` with a tag, and for `zone` with names.
    ///   - bound: `nil` for entering at 1 m and leaving at 1.5 m.
    public init(name: String, members: Members, per: Per? = nil, bound: Bound? = nil) {
        self.name = name
        self.members = members
        if case .tag = members { self.per = per ?? .beacon } else { self.per = per ?? .zone }
        self.bound = bound ?? .within(Self.defaultDistance)
    }
}

extension ZoneRule.Bound {
    /// A distance in thousandths of a metre, with the default leaving bound.
    static func within(_ distance: Int) -> Self {
        .distance(within: distance, leaveBeyond: Int(Double(distance) * ZoneRule.leaveFactor))
    }

    /// A level in dBm, with the default leaving bound.
    static func above(_ level: Int) -> Self { .level(above: level, leaveBelow: level - ZoneRule.leaveDecibels) }

    /// True if the bound is a distance, which needs the beacon's level at 1 m.
    var isDistance: Bool { if case .distance = self { true } else { false } }

    /// The lowest level with which a beacon enters: in dBm, or relative to 1 m in dB.
    var enterMeasure: Double {
        switch self {
        case .distance(let within, _): Self.gain(meters: Double(within) / 1000)
        case .level(let above, _): Double(above)
        }
    }

    /// The lowest level with which a beacon stays.
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

    /// The level at a distance, relative to that at 1 m, in dB.
    private static func gain(meters: Double) -> Double { -10 * exponent * Glibc.log10(max(0.001, meters)) }

    /// The distance in metres at which the level is `gain` dB above the level at 1 m.
    static func meters(gain: Double) -> Double { Glibc.pow(10, -gain / (10 * exponent)) }
}

extension ZoneRule.Content {
    /// The texts with attachments filled in.
    func filled(_ attachments: [BeaconAttachment]) -> ZoneRule.Content {
        func fill(_ text: String) -> String {
            NamedTexts.fill(text) { key in attachments.first { $0.key == key }?.text ?? "" }
        }
        return ZoneRule.Content(title: title.map(fill), body: body.map(fill))
    }

    /// The keys of both texts, each once.
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
    /// In the order of the file.
    public var attachments: [BeaconAttachment]

    /// A beacon.
    public init(name: String, tags: [String] = [], attachments: [BeaconAttachment] = []) {
        self.name = name
        self.tags = tags
        self.attachments = attachments
    }
}
