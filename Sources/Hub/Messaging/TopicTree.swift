internal import BluetoothTypes

/// One level of a topic, made from a name: letters of any alphabet, digits, `.`, `_` and `-`.
///
/// Every other character becomes `_`, and four digits made from the whole name are added, so that two names never share
/// a topic. Only names from files become levels, never received data.
public struct TopicLevel: Hashable, Sendable, CustomStringConvertible {
    public let description: String

    /// - Parameter name: Not empty. Only its first 200 characters and the digits are used.
    public init(_ name: String) {
        self.init(name) { scalar in
            scalar.properties.isAlphabetic || scalar.properties.numericType != nil
                || "._-".unicodeScalars.contains(scalar)
        }
    }

    /// A level of ASCII letters, digits, `_` and `-`, as Home Assistant needs it for node and object ids.
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

/// The topics of one receiver, or of a collector, in its site: `pharos/SITE/…`.
public struct TopicTree: Hashable, Sendable {
    /// The number of shards into which the beacons of a site are divided.
    public static let shards = 16
    /// The site of receivers whose file names none.
    public static let defaultSite = "home"

    private let root: String
    /// The site in the topics.
    private let site: TopicLevel
    private let receiver: TopicLevel
    /// The levels of the status topic between site and `status`. No receiver's name can produce those of a collector.
    private let statusLevels: String

    /// - Parameters:
    ///   - site: As in the listener file; `nil` for ``defaultSite``.
    ///   - receiver: The listener's name.
    public init(site: String?, receiver: String) {
        self.site = TopicLevel(site ?? Self.defaultSite)
        root = "pharos/\(self.site)"
        self.receiver = TopicLevel(receiver)
        statusLevels = "receivers/\(self.receiver)"
    }

    /// The topics of a site's collector.
    public init(collectorOf site: String) {
        self.site = TopicLevel(site)
        root = "pharos/\(self.site)"
        receiver = TopicLevel("collector")
        statusLevels = "collectors/all"
    }

    /// `online` or `offline`, retained.
    public var status: String { "\(root)/\(statusLevels)/status" }
    /// The state of the receiver, retained.
    public var receiverState: String { "\(root)/receivers/\(receiver)/state" }

    /// The sightings of the beacons of one shard, once a second.
    public func sightings(shard: Int) -> String { "\(root)/sightings/\(shard)/\(receiver)" }

    /// The filter that subscribes to the sightings of all receivers.
    public var sightingsFilter: String { "\(root)/sightings/+/+" }
    /// The filters that subscribe to the status and the state of all receivers.
    public var receiverFilters: [String] { ["\(root)/receivers/+/status", "\(root)/receivers/+/state"] }

    /// The state of a beacon, retained.
    public func beaconState(_ name: String) -> String { "\(root)/beacons/\(TopicLevel(name))/state" }
    /// The attributes of a beacon for Home Assistant's trackers, retained.
    public func beaconAttributes(_ name: String) -> String { "\(root)/beacons/\(TopicLevel(name))/attributes" }

    /// The events of a zone.
    public func zoneEvents(_ name: String) -> String { "\(root)/zones/\(TopicLevel(name))/events" }
    /// The beacons inside a zone, retained.
    public func zoneState(_ name: String) -> String { "\(root)/zones/\(TopicLevel(name))/state" }

    /// The filter that subscribes to the states of all zones of the site.
    var zoneStateFilter: String { "\(root)/zones/+/state" }
    /// A text that distinguishes the zone from the zones of all other sites.
    func zoneIdentifier(_ name: String) -> String { "\(site)-\(name)" }

    /// The shard of a beacon, 0..<``shards``.
    ///
    /// - Parameter id: The name of the beacon, or the text of its identity.
    public static func shard(of id: String) -> Int { Int(StableHash.of(id) % UInt64(shards)) }
}
