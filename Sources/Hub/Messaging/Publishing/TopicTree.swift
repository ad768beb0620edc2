/// One level of a topic, made of a name: letters, digits, `.`, `_` and `-`, whatever alphabet.
///
/// Everything else becomes `_`, and four digits are added that tell one such name from others, so that no two names share
/// a topic. Only names of files become levels, never what was received.
public struct TopicLevel: Hashable, Sendable, CustomStringConvertible {
    public let description: String

    /// - Parameter name: Not empty; at most 200 characters of it count beside the digits.
    public init(_ name: String) {
        self.init(name) { scalar in
            scalar.properties.isAlphabetic || scalar.properties.numericType != nil
                || "._-".unicodeScalars.contains(scalar)
        }
    }

    /// The same of ASCII letters, digits, `_` and `-`, as Home Assistant wants its node and object ids.
    public init(identifier name: String) {
        self.init(name) { scalar in
            scalar.isASCII
                && (scalar.properties.isAlphabetic || ("0"..."9").contains(scalar) || scalar == "_" || scalar == "-")
        }
    }

    private init(_ name: String, isGood: (Unicode.Scalar) -> Bool) {
        var text = String.UnicodeScalarView()
        var isWhole = !name.isEmpty
        for (place, scalar) in name.unicodeScalars.enumerated() {
            guard place < 200 else {
                isWhole = false
                break
            }
            let isKept = isGood(scalar)
            text.append(isKept ? scalar : "_")
            isWhole = isWhole && isKept
        }
        let digits = String(StableHash.of(name) & 0xFFFF | 0x1_0000, radix: 16).dropFirst()
        description = String(text) + (isWhole ? "" : "_\(digits)")
    }
}

/// FNV-1a with 64 bits: the same for everybody who divides beacons among collectors.
public enum StableHash {
    /// Of the text's octets in UTF-8.
    public static func of(_ text: String) -> UInt64 {
        text.utf8.reduce(0xCBF2_9CE4_8422_2325) { ($0 ^ UInt64($1)) &* 0x100_0000_01B3 }
    }
}

/// The topics of one receiver, or of a collector, in its site: `pharos/SITE/…`.
public struct TopicTree: Hashable, Sendable {
    /// Into how many parts the beacons of a site are divided.
    public static let shards = 16
    /// What a site is called whose receivers do not say.
    public static let defaultSite = "home"

    private let root: String
    private let receiver: TopicLevel
    /// Who tells: no receiver's name makes its status that of a collector.
    private let teller: String

    /// - Parameters:
    ///   - site: As in the listener file; `nil` for ``defaultSite``.
    ///   - receiver: The listener's name.
    public init(site: String?, receiver: String) {
        root = "pharos/\(TopicLevel(site ?? Self.defaultSite))"
        self.receiver = TopicLevel(receiver)
        teller = "receivers/\(self.receiver)"
    }

    /// The topics of a site's collector.
    public init(collectorOf site: String) {
        root = "pharos/\(TopicLevel(site))"
        receiver = TopicLevel("collector")
        teller = "collectors/all"
    }

    /// `online` or `offline`, retained.
    public var status: String { "\(root)/\(teller)/status" }
    /// How the receiver hears, retained.
    public var receiverState: String { "\(root)/receivers/\(receiver)/state" }

    /// What was heard of the beacons of one part, once a second.
    public func sightings(shard: Int) -> String { "\(root)/sightings/\(shard)/\(receiver)" }

    /// The filter that subscribes to the sightings of all receivers.
    public var sightingsFilter: String { "\(root)/sightings/+/+" }
    /// The filters that subscribe to the status and the state of all receivers.
    public var receiverFilters: [String] { ["\(root)/receivers/+/status", "\(root)/receivers/+/state"] }

    /// Where a beacon is, retained.
    public func beaconState(_ name: String) -> String { "\(root)/beacons/\(TopicLevel(name))/state" }
    /// The same as Home Assistant's trackers want it, retained.
    public func beaconAttributes(_ name: String) -> String { "\(root)/beacons/\(TopicLevel(name))/attributes" }

    /// What happens in a zone.
    public func zoneEvents(_ name: String) -> String { "\(root)/zones/\(TopicLevel(name))/events" }
    /// Who is in a zone, retained.
    public func zoneState(_ name: String) -> String { "\(root)/zones/\(TopicLevel(name))/state" }

    /// The part to which a beacon belongs, 0..<``shards``.
    ///
    /// - Parameter id: Its name, or the text of its identity.
    public static func shard(of id: String) -> Int { Int(StableHash.of(id) % UInt64(shards)) }
}
