internal import BluetoothTypes

/// One level of a topic, made from a name: letters of any alphabet, digits, `.`, `_` and `-`.
///
/// Every other character becomes `_`. If a character was replaced, four hexadecimal digits computed from the whole name
/// are added, so that two names do not share a topic. Only names from configuration files become levels, never received
/// data.
public struct TopicLevel: Hashable, Sendable, CustomStringConvertible {
    public let description: String

    /// - Parameter name: The name, which must not be empty. From a name of more than 200 characters, only the beginning
    ///   is used, followed by the digits.
    public init(_ name: String) {
        self.init(name) { scalar in
            scalar.properties.isAlphabetic || scalar.properties.numericType != nil
                || "._-".unicodeScalars.contains(scalar)
        }
    }

    /// Creates a level that contains only ASCII letters, digits, `_` and `-`. Home Assistant requires such node and
    /// object ids.
    public init(identifier name: String) {
        self.init(name) { scalar in
            scalar.isASCII
                && (scalar.properties.isAlphabetic || ("0"..."9").contains(scalar) || scalar == "_" || scalar == "-")
        }
    }

    private init(_ name: String, isGood: (Unicode.Scalar) -> Bool) {
        var text = String.UnicodeScalarView()
        var isUnchanged = !name.isEmpty
        for (index, scalar) in name.unicodeScalars.enumerated() {
            guard index < 200 else {
                isUnchanged = false
                break
            }
            let isKept = isGood(scalar)
            text.append(isKept ? scalar : "_")
            isUnchanged = isUnchanged && isKept
        }
        let digits = String(StableHash.of(name) & 0xFFFF | 0x1_0000, radix: 16).dropFirst()
        description = String(text) + (isUnchanged ? "" : "_\(digits)")
    }
}

/// The topics of one receiver, or of a collector, in its site: `pharos/SITE/…`.
public struct TopicTree: Hashable, Sendable {
    /// The number of shards into which the beacons of a site are divided.
    public static let shards = 16
    /// The name of the site if the listener file has none.
    public static let defaultSite = "home"

    private let root: String
    /// The site as a topic level.
    private let site: TopicLevel
    private let receiver: TopicLevel
    /// The part of the status topic between the site and `status`. For a collector, it differs from that of every
    /// receiver.
    private let statusLevels: String

    /// - Parameters:
    ///   - site: The site in the listener file; `nil` for ``defaultSite``.
    ///   - receiver: The listener's name.
    public init(site: String?, receiver: String) {
        self.site = TopicLevel(site ?? Self.defaultSite)
        root = "pharos/\(self.site)"
        self.receiver = TopicLevel(receiver)
        statusLevels = "receivers/\(self.receiver)"
    }

    /// Creates the topics of a site's collector.
    public init(collectorOf site: String) {
        self.site = TopicLevel(site)
        root = "pharos/\(self.site)"
        receiver = TopicLevel("collector")
        statusLevels = "collectors/all"
    }

    /// The topic of the retained status: `online` or `offline`.
    public var status: String { "\(root)/\(statusLevels)/status" }
    /// The topic of the retained state of the receiver.
    public var receiverState: String { "\(root)/receivers/\(receiver)/state" }

    /// Returns the topic of the sightings of the beacons of one shard, which are published once a second.
    public func sightings(shard: Int) -> String { "\(root)/sightings/\(shard)/\(receiver)" }

    /// The topic filter for the sightings of all receivers.
    public var sightingsFilter: String { "\(root)/sightings/+/+" }
    /// The topic filters for the status and the state of all receivers.
    public var receiverFilters: [String] { ["\(root)/receivers/+/status", "\(root)/receivers/+/state"] }

    /// Returns the topic of the retained state of a beacon.
    public func beaconState(_ name: String) -> String { "\(root)/beacons/\(TopicLevel(name))/state" }
    /// Returns the topic of the retained attributes of a beacon, which Home Assistant's trackers show.
    public func beaconAttributes(_ name: String) -> String { "\(root)/beacons/\(TopicLevel(name))/attributes" }

    /// Returns the topic of the events of a zone.
    public func zoneEvents(_ name: String) -> String { "\(root)/zones/\(TopicLevel(name))/events" }
    /// Returns the topic of the retained state of a zone, which contains the beacons inside.
    public func zoneState(_ name: String) -> String { "\(root)/zones/\(TopicLevel(name))/state" }

    /// The topic filter for the states of all zones of the site.
    var zoneStateFilter: String { "\(root)/zones/+/state" }
    /// Returns a text that distinguishes a zone from the zones of all other sites.
    func zoneIdentifier(_ name: String) -> String { "\(site)-\(name)" }

    /// Returns the shard of a beacon, in 0..<``shards``.
    ///
    /// - Parameter id: The name of the beacon, or the text of its identity.
    public static func shard(of id: String) -> Int { Int(StableHash.of(id) % UInt64(shards)) }
}
