internal import Glibc

/// A zone as a listener file states it, with all defaults filled in: which beacons, how near, and when it is entered and
/// left.
public struct ZoneRule: Hashable, Sendable {
    /// Which beacons it is built around.
    public enum Members: Hashable, Sendable {
        /// All that carry this tag.
        case tag(String)
        /// By name.
        case beacons([String])
    }

    /// What is entered and left.
    public enum Per: String, Hashable, Sendable, CaseIterable {
        /// Each beacon has a place of its own in the zone, such as each of several desks.
        case beacon
        /// All beacons together: it is entered with the first, and left with the last.
        case zone
    }

    /// By what a beacon is in the zone.
    public enum Bound: Hashable, Sendable {
        /// By distance, in thousandths of a metre: in at and below the first, out beyond the second.
        case distance(within: Int, leaveBeyond: Int)
        /// By level, in dBm: in at and above the first, out below the second.
        case level(above: Int, leaveBelow: Int)
    }

    /// What a beacon must show to be counted.
    public enum Proof: String, Hashable, Sendable, CaseIterable {
        /// Its identity, which anybody can copy.
        case none
        /// An ephemeral id that its key explains.
        case eid
    }

    /// A text with `${key}` where the attachment under that key is put; of a missing one nothing.
    public struct Content: Hashable, Sendable {
        public var title: String?
        public var body: String?

        /// `nil` where there is no such text.
        public init(title: String? = nil, body: String? = nil) {
            self.title = title
            self.body = body
        }
    }

    /// Letters, digits, `.`, `_` and `-`.
    public var name: String
    public var members: Members
    public var per: Per
    public var bound: Bound
    /// Reports that are needed to enter.
    public var reports = 2
    /// In which they must come, in microseconds; `nil` for 3 s, or three periods of the beacon where that is longer.
    public var window: Int?
    /// How long it must be beyond the leaving bound, in microseconds of listened time.
    public var leaveAfter = 5_000_000
    /// The silence after which it has left, in microseconds of listened time; `nil` to compute it for each beacon.
    public var silentAfter: Int?
    /// After how many seconds inside that is told, ascending.
    public var dwellSeconds: [Int] = []
    /// Of the zones with this word only the nearest one is inside; `nil` where others do not matter.
    public var exclusive: String?
    public var proof = Proof.none
    public var onEnter: Content?
    public var onExit: Content?

    /// How near `near` is, in thousandths of a metre.
    public static let defaultDistance = 1000
    /// How much farther the leaving bound is than the entering one.
    static let leaveFactor = 1.5
    /// How much weaker the leaving level is, in dB.
    static let leaveDecibels = 6

    /// A zone of `members` within 1 m, left beyond 1.5 m.
    ///
    /// - Parameters:
    ///   - per: `nil` for each beacon with a tag, and for all together where they are named.
    ///   - bound: `nil` for 1 m.
    public init(name: String, members: Members, per: Per? = nil, bound: Bound? = nil) {
        self.name = name
        self.members = members
        if case .tag = members { self.per = per ?? .beacon } else { self.per = per ?? .zone }
        self.bound = bound ?? .within(Self.defaultDistance)
    }
}

extension ZoneRule.Bound {
    /// A distance in thousandths of a metre, and the leaving bound that goes with it.
    static func within(_ distance: Int) -> Self {
        .distance(within: distance, leaveBeyond: Int(Double(distance) * ZoneRule.leaveFactor))
    }

    /// A level in dBm, and the leaving bound that goes with it.
    static func above(_ level: Int) -> Self { .level(above: level, leaveBelow: level - ZoneRule.leaveDecibels) }

    /// How a distance is judged: by the level relative to that at 1 m, which needs the beacon's power.
    var isDistance: Bool { if case .distance = self { true } else { false } }

    /// The least measure with which a beacon enters: a level in dBm, or relative to 1 m in dB.
    var enterMeasure: Double {
        switch self {
        case .distance(let within, _): Self.gain(meters: Double(within) / 1000)
        case .level(let above, _): Double(above)
        }
    }

    /// The least measure with which a beacon stays.
    var stayMeasure: Double {
        switch self {
        case .distance(_, let beyond): Self.gain(meters: Double(beyond) / 1000)
        case .level(_, let below): Double(below)
        }
    }
}

extension ZoneRule.Bound {
    /// How fast a level falls: 2 in the open.
    private static let exponent = 2.0

    /// The level at a distance, relative to that at 1 m, in dB.
    private static func gain(meters: Double) -> Double { -10 * exponent * Glibc.log10(max(0.001, meters)) }

    /// The distance in metres at which a level is so many dB above that at 1 m.
    static func meters(gain: Double) -> Double { Glibc.pow(10, -gain / (10 * exponent)) }
}

extension ZoneRule.Content {
    /// The texts with attachments in their places.
    func filled(_ attachments: [ZoneBeacon.Attachment]) -> ZoneRule.Content {
        func fill(_ text: String) -> String {
            var result = ""
            var rest = text[...]
            while let key = Self.nextKey(in: rest) {
                result += rest[..<key.whole.lowerBound]
                result += attachments.first { $0.key == rest[key.name] }?.text ?? ""
                rest = rest[key.whole.upperBound...]
            }
            return result + rest
        }
        return ZoneRule.Content(title: title.map(fill), body: body.map(fill))
    }

    /// The keys in both texts, each once.
    var keys: [String] {
        var keys: [String] = []
        for text in [title, body].compactMap(\.self) {
            var rest = text[...]
            while let key = Self.nextKey(in: rest) {
                if !keys.contains(String(rest[key.name])) { keys.append(String(rest[key.name])) }
                rest = rest[key.whole.upperBound...]
            }
        }
        return keys
    }

    private static func nextKey(in text: Substring) -> (whole: Range<String.Index>, name: Range<String.Index>)? {
        var place = text.startIndex
        while let dollar = text[place...].firstIndex(of: "$") {
            let brace = text.index(after: dollar)
            guard brace < text.endIndex, text[brace] == "{" else {
                place = brace
                continue
            }
            let name = text.index(after: brace)
            guard let end = text[name...].firstIndex(of: "}") else { return nil }
            return (dollar..<text.index(after: end), name..<end)
        }
        return nil
    }
}

/// What a zone wants to know of a beacon that has a name.
public struct ZoneBeacon: Hashable, Sendable {
    public var name: String
    public var tags: [String]
    /// In the order of the file.
    public var attachments: [Attachment]

    /// A beacon of which nothing more is written down, unless said otherwise.
    public init(name: String, tags: [String] = [], attachments: [Attachment] = []) {
        self.name = name
        self.tags = tags
        self.attachments = attachments
    }

    /// A text under a key, such as who sits at the desk.
    public struct Attachment: Hashable, Sendable {
        public var key: String
        public var text: String

        /// `text` under `key`.
        public init(key: String, text: String) {
            self.key = key
            self.text = text
        }
    }
}
