public import Airtime
public import Configuration
public import Messaging
public import Sightings

/// A site with its receivers and their positions: the contents of one JSON file, after all checks and with all
/// defaults.
public struct CollectorFile: Hashable, Sendable {
    /// The name of the site: at most 64 letters, digits, `.`, `_` and `-`.
    public var name: String
    /// The floors, from the lowest to the highest; empty if the site has no floor plans.
    public var floors: [Floor] = []
    public var receivers: [Receiver] = []
    /// Names and properties of beacons whose names the receivers do not know.
    public var beacons: [Beacon] = []
    /// True if each beacon without a name is reported; false if such beacons are only counted.
    public var listsStrangers = false
    /// The side of a cell in metres; `nil` to choose it by the size of the floors.
    public var cellMeters: Double?
    /// The highest speed of a beacon, in m/s.
    public var fastest = 1.5

    /// The MQTT broker to which the receivers publish; `nil` if the lines of the receivers are read from files.
    public var broker: BrokerSection?
    /// The database of past events on this machine; `nil` if no events are kept.
    public var history: History?
    /// The PostgreSQL database; `nil` if nothing is kept in PostgreSQL.
    public var postgreSQL: PostgreSQL?

    /// The database of past events on this machine.
    public struct History: Hashable, Sendable {
        /// The path of the database as written in the collector file; `nil` for NAME.collect.db in the state directory.
        public var file: String?
        /// Events older than this number of days are deleted.
        public var days = 400
    }

    /// A PostgreSQL database.
    public struct PostgreSQL: Hashable, Sendable {
        /// A connection string of libpq, such as `host=db dbname=pharos`, or a URI; without a password.
        public var connection: String
        /// The path of the file with the password, relative to the collector file.
        public var passwordFile: String?
    }

    /// One floor of the site.
    public struct Floor: Hashable, Sendable {
        public var name: String
        /// The path of the site file with the floor's outline, walls and path loss, relative to the collector file.
        public var site: String
        /// The rooms of the floor. A position in several rooms belongs to the first of them. If this list is empty, the
        /// rooms of the site file are used. If the site file has no rooms either, a position belongs to the room of the
        /// receiver that would receive the highest level from there.
        public var rooms: [Room] = []
    }

    /// A part of a floor with a name.
    public struct Room: Hashable, Sendable {
        public var name: String
        /// The corners of the outline, at least three, in metres east and north.
        public var corners: [FloorPosition]
    }

    /// A receiver of the site.
    public struct Receiver: Hashable, Sendable {
        public var name: String
        public var floor: String?
        public var room: String?
        public var position: FloorPosition?
        /// The correction that is added to each received level, in dB.
        public var levelOffset = 0
    }

    /// A beacon with a name.
    public struct Beacon: Hashable, Sendable {
        public var name: String
        public var identity: BeaconIdentity
        public var intervalMicroseconds: Int?
        /// The beacon's level at a distance of 1 m, in dBm.
        public var calibrationAtOneMeter: Int?
    }

    /// Creates a file that contains only a name.
    public init(name: String) { self.name = name }

    /// Returns the index in ``floors`` of the floor with this name; without a name, the index of the only floor.
    /// Returns `nil` if there is no such floor, or if there are several floors and no name.
    public func floor(_ name: String?) -> Int? {
        guard let name else { return floors.count == 1 ? 0 : nil }
        return floors.firstIndex { $0.name == name }
    }

    // MARK: Reading

    /// Reads a collector file.
    ///
    /// - Returns: The file, and all problems in the order of the file. The file is `nil` if it has errors.
    public static func decode(_ octets: [UInt8]) -> (file: CollectorFile?, problems: [FileProblem]) {
        let (root, syntaxProblems) = JSONDocument.parse(octets)
        var reader = CollectorReader()
        var file = root.flatMap { reader.file($0) }
        let (broker, brokerProblems) = BrokerSection.decode(root?["mqtt"])
        file?.broker = broker
        let problems = syntaxProblems + reader.decoder.problems + brokerProblems
        let hasErrors = problems.contains(where: \.isError)
        return (hasErrors ? nil : file, problems.sorted { $0.position < $1.position })
    }

    /// The text of `profiles/schema/collector.schema.json` (JSON Schema, draft 2020-12).
    public static var schema: String { CollectorKeys.section.schemaFile(title: "Pharos collector") }
}

/// Reads a collector file, beginning with its outermost object.
private struct CollectorReader {
    var decoder = ConfigurationDecoder()
    private var floors: [String] = []
    /// The path at which each name was read, to find names that occur twice.
    private var names: [String: JSONPath] = [:]
    /// The path at which each identity was read, to find identities that occur twice.
    private var identities: [BeaconIdentity: JSONPath] = [:]

    mutating func file(_ node: JSONNode) -> CollectorFile? {
        guard isCollectorFile(node), decoder.expect(.collector, node),
            let root = decoder.open(CollectorKeys.section, node)
        else { return nil }
        _ = decoder.read(FileHeader.schema, in: root)
        _ = decoder.read(FileHeader.version, in: root)
        let name = decoder.read(CollectorKeys.name, in: root)
        let floors = (decoder.read(CollectorKeys.floors, in: root) ?? []).compactMap { floor($0) }
        self.floors = floors.map(\.name)
        let receivers = (decoder.read(CollectorKeys.receivers, in: root) ?? []).compactMap { receiver($0) }
        if let list = root["receivers"], !floors.isEmpty, !receivers.isEmpty,
            receivers.allSatisfy({ $0.position == nil })
        {
            decoder.warning(
                "no receiver has a \"position\": rooms and positions are unknown if the site files have no positions of them either",
                at: list)
        }
        names = [:]
        let beacons = (decoder.read(CollectorKeys.beacons, in: root) ?? []).compactMap { beacon($0) }
        let strangers = decoder.read(CollectorKeys.strangers, in: root)
        let cell = decoder.read(CollectorKeys.cell, in: root)
        let fastest = decoder.read(CollectorKeys.fastest, in: root)
        for key in ["beacons", "espresense", "theengs", "raddec"] {
            guard let node = root["mqtt"]?[key] else { continue }
            decoder.warning("only listeners publish this; a collector ignores it", at: node)
        }
        let history = history(root)
        let postgreSQL = postgreSQL(root)
        guard let name else { return nil }
        var file = CollectorFile(name: name)
        (file.floors, file.receivers, file.beacons) = (floors, receivers, beacons)
        file.listsStrangers = strangers == .list
        file.cellMeters = cell.map { Double($0) / 1000 }
        if let fastest { file.fastest = Double(fastest) / 1000 }
        (file.history, file.postgreSQL) = (history, postgreSQL)
        return file
    }

    /// Returns false and reports an error if the file is a collector's state file or a recording.
    private mutating func isCollectorFile(_ node: JSONNode) -> Bool {
        if node["collector"] != nil, node["written"] != nil {
            decoder.error(
                "this is the state file of a collector, which `pharos where` reads, not a collector file", at: node)
        } else if node["event"] != nil, node["version"] == nil {
            decoder.error(
                "this is a recording, not a collector file: name the collector file first, and the recording with --from",
                at: node)
        } else {
            return true
        }
        return false
    }

    private mutating func floor(_ object: JSONNode) -> CollectorFile.Floor? {
        let name = decoder.read(FloorKeys.name, in: object)
        let site = decoder.read(FloorKeys.site, in: object)
        let rooms = (decoder.read(FloorKeys.rooms, in: object) ?? []).compactMap { room($0) }
        guard let name, let site else { return nil }
        if floors.contains(name), let node = object["name"] {
            decoder.error("another floor already has the name \(ProblemText.quoted(name))", at: node)
        }
        floors.append(name)
        return .init(name: name, site: site, rooms: rooms)
    }

    private mutating func room(_ object: JSONNode) -> CollectorFile.Room? {
        let name = decoder.read(RoomKeys.name, in: object)
        let corners = decoder.read(RoomKeys.outline, in: object)
        guard let name, let corners else { return nil }
        return .init(name: name, corners: corners)
    }

    private mutating func receiver(_ object: JSONNode) -> CollectorFile.Receiver? {
        let name = uniqueName(decoder.read(ReceiverKeys.name, in: object), at: object["name"])
        let floor = decoder.read(ReceiverKeys.floor, in: object)
        let room = decoder.read(ReceiverKeys.room, in: object)
        let position = decoder.read(ReceiverKeys.position, in: object)
        let offset = decoder.read(ReceiverKeys.levelOffset, in: object) ?? 0
        if let floor, let node = object["floor"], !floors.contains(floor) {
            if floors.isEmpty {
                decoder.error("\(ProblemText.quoted(floor)) is not known: the file has no \"floors\"", at: node)
            } else {
                decoder.notAWord(floor, floors, at: node)
            }
        }
        if floor == nil, floors.count > 1, let node = object["position"] {
            decoder.error(
                "this position needs a \"floor\" of the receiver: \(floors.joined(separator: " or "))", at: node)
        }
        return name.map { .init(name: $0, floor: floor, room: room, position: position, levelOffset: offset) }
    }

    private mutating func beacon(_ object: JSONNode) -> CollectorFile.Beacon? {
        let name = uniqueName(decoder.read(CollectorBeaconKeys.name, in: object), at: object["name"])
        let identity = decoder.read(CollectorBeaconKeys.identity, in: object)
        let interval = decoder.read(CollectorBeaconKeys.interval, in: object)
        let calibration = decoder.read(CollectorBeaconKeys.calibration, in: object)
        if let identity, let node = object["identity"],
            let otherPath = identities.updateValue(node.path, forKey: identity)
        {
            decoder.error("\(otherPath) is the same identity", at: node)
        }
        guard let name, let identity else { return nil }
        return .init(
            name: name, identity: identity, intervalMicroseconds: interval, calibrationAtOneMeter: calibration)
    }

    private mutating func uniqueName(_ name: String?, at node: JSONNode?) -> String? {
        guard let name, let node else { return nil }
        if let otherPath = names.updateValue(node.path, forKey: name) {
            decoder.error("\(otherPath) is the same name", at: node)
        }
        return name
    }

    private mutating func history(_ root: JSONNode) -> CollectorFile.History? {
        guard let object = decoder.read(CollectorKeys.history, in: root) else { return nil }
        var history = CollectorFile.History()
        history.file = decoder.read(CollectorHistoryKeys.file, in: object)
        history.days = decoder.read(CollectorHistoryKeys.days, in: object) ?? history.days
        return history
    }

    private mutating func postgreSQL(_ root: JSONNode) -> CollectorFile.PostgreSQL? {
        guard let object = decoder.read(CollectorKeys.postgreSQL, in: root) else { return nil }
        let connection = decoder.read(PostgreSQLKeys.connection, in: object)
        let file = decoder.read(PostgreSQLKeys.passwordFile, in: object)
        return connection.map { .init(connection: $0, passwordFile: file) }
    }
}
