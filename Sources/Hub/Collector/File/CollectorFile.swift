public import Airtime
public import Messaging
public import Sightings

/// The receivers of a site and where they stand: the contents of one JSON file, checked and with all defaults filled in.
public struct CollectorFile: Hashable, Sendable {
    /// The only version of the format so far.
    public static let version = 1

    /// Letters, digits, `.`, `_` and `-`, at most 64.
    public var name: String
    /// From the lowest to the highest; empty where nobody has drawn the site.
    public var floors: [Floor] = []
    public var receivers: [Receiver] = []
    /// What is known of beacons that receivers do not know.
    public var beacons: [Beacon] = []
    /// Whether beacons without a name are told one by one; otherwise they are counted.
    public var listsStrangers = false
    /// The side of a cell in metres; `nil` for what the floors' size makes good.
    public var cellMeters: Double?
    /// How fast a beacon is carried, in m/s.
    public var fastest = 1.5

    /// Where receivers tell what they hear; `nil` where they do so in files.
    public var broker: BrokerSection?
    /// `nil` where nothing is kept.
    public var history: History?
    /// Where history of several sites is kept; `nil` for nowhere.
    public var siteStore: SiteStore?

    /// What is kept on this machine, and for how long.
    public struct History: Hashable, Sendable {
        /// As it stands in the file; `nil` for NAME.collect.db in the state directory.
        public var file: String?
        /// After so many days events are forgotten.
        public var days = 400
    }

    /// A database of PostgreSQL.
    public struct SiteStore: Hashable, Sendable {
        /// As libpq takes it: `host=db dbname=pharos`, or a URI; without a password.
        public var connection: String
        /// The file with the password, relative to this file.
        public var passwordFile: String?
    }

    /// One floor of the site.
    public struct Floor: Hashable, Sendable {
        public var name: String
        /// The file with its outline, walls and path loss, relative to this file.
        public var site: String
        /// Of rooms that overlap the first counts; without any a place belongs to the room of the receiver that is
        /// expected to hear it best.
        public var rooms: [Room] = []
    }

    /// A part of a floor with a name.
    public struct Room: Hashable, Sendable {
        public var name: String
        /// At least three, in metres east and north.
        public var corners: [FloorPosition]
    }

    /// Something that hears.
    public struct Receiver: Hashable, Sendable {
        public var name: String
        public var floor: String?
        /// In which room it stands.
        public var room: String?
        public var position: FloorPosition?
        /// What it shows too little, in dB: it is added to each level.
        public var levelOffset = 0
    }

    /// A beacon that somebody has described.
    public struct Beacon: Hashable, Sendable {
        public var name: String
        public var identity: BeaconIdentity
        public var intervalMicroseconds: Int?
        /// What a receiver sees at 1 m, in dBm.
        public var calibrationAtOneMeter: Int?
    }

    /// Nothing but a name.
    public init(name: String) { self.name = name }

    /// The place of a floor in ``floors``.
    public func floor(_ name: String?) -> Int? {
        guard let name else { return floors.count == 1 ? 0 : nil }
        return floors.firstIndex { $0.name == name }
    }
}
