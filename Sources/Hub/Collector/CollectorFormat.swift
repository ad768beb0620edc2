internal import Airtime
internal import Configuration
internal import Messaging
internal import Sightings
internal import Sites

/// The keys of a collector file.
enum CollectorKeys {
    static let name = Key("name", .name, "Name of this site, such as \"museum\".", isRequired: true)
    static let floors = Key(
        "floors", .list("floors", 1...partLimit, of: .section(FloorKeys.section)),
        "The floors, from the lowest to the highest.")
    static let receivers = Key(
        "receivers", .list("receivers", 1...5000, of: .section(ReceiverKeys.section)),
        "The receivers and their positions.", isRequired: true)
    static let beacons = Key(
        "beacons", .list("beacons", 1...100_000, of: .section(CollectorBeaconKeys.section)),
        "Names and properties of beacons.")
    static let strangers = Key(
        "strangers", ValueType<Strangers>.word,
        "Beacons without a name. count: only count them. list: report each of them.", default: .count)
    static let cell = Key(
        "cellM", .thousandths(100...10_000, unit: "m"),
        "Side of a cell of the floor plan. Default: 0.5 m, and 1 m for large floors.")
    static let fastest = Key(
        "fastestMPerS", .thousandths(50...50_000, unit: "m/s"), "Highest speed of a beacon.", default: 1500)
    static let history = Key(
        "history", .section(CollectorHistoryKeys.section),
        "The database of past events. Without it, no events are kept.")
    static let postgreSQL = Key(
        "postgresql", .section(PostgreSQLKeys.section),
        "A PostgreSQL database for the history of several sites. If several collectors of the site use it, one works, and another one takes over when that one ends."
    )

    static let section = Section(
        "The receivers of a site and their positions.",
        [
            FileHeader.schema, FileHeader.version, name, floors, receivers, beacons, strangers, cell, fastest,
            BrokerKeys.mqtt, history, postgreSQL,
        ],
        hint: { key in
            key == "shards"
                ? "delete this line: one collector works for a whole site, and with \"postgresql\" others stand by for it"
                : nil
        })

    /// The treatment of beacons without a name: only counted, or each reported.
    enum Strangers: String, CaseIterable { case count, list }

    /// The largest number of floors, of rooms of a floor, and of corners of a room.
    static let partLimit = 1000

    static let position = ValueType<[Int]>.position(.thousandths(-100_000_000...100_000_000, unit: "m"))
        .map { _, _, parts in FloorPosition(x: Double(parts[0]) / 1000, y: Double(parts[1]) / 1000) }

    /// The type of a text for people, such as the name of a room.
    static let label = ValueType<String>.label().defined(as: "label", "A text for people.")
}

/// The keys of a floor.
enum FloorKeys {
    static let name = Key("name", CollectorKeys.label, "Name of the floor.", isRequired: true)
    static let site = Key(
        "site", .path(), "Site file of the floor, relative to this file, such as \"ground.json\".", isRequired: true)
    static let rooms = Key(
        "rooms", .list("rooms", 1...CollectorKeys.partLimit, of: .section(RoomKeys.section)),
        "Rooms of the floor. If two rooms overlap, the first one counts. Default: the rooms of the site file.")
    static let section = Section("A floor.", [name, site, rooms])
}

/// The keys of a room.
enum RoomKeys {
    static let name = Key("name", CollectorKeys.label, "Name of the room.", isRequired: true)
    static let outline = Key(
        "outline",
        .list("corners", 3...CollectorKeys.partLimit, of: CollectorKeys.position, isWhole: true)
            .map { decoder, node, corners in
                if let outline = try? FloorOutline(corners: corners) { return outline.corners }
                decoder.error("these corners enclose no area: give at least three, in order around the room", at: node)
                return nil
            },
        "Corners of the room in order, such as [[0, 0], [4, 0], [4, 3], [0, 3]]. The last corner may repeat the first.",
        isRequired: true)
    static let section = Section("A room.", [name, outline])
}

/// The keys of a receiver.
enum ReceiverKeys {
    static let name = Key("name", .name, "Name of the receiver.", isRequired: true)
    static let floor = Key(
        "floor", CollectorKeys.label, "Floor of the receiver. Not needed if there is only one floor.")
    static let room = Key("room", CollectorKeys.label, "Room of the receiver.")
    static let position = Key(
        "position", CollectorKeys.position,
        "Position of the receiver on its floor. Default: the position of the receiver of this name in the site file.")
    static let levelOffset = Key(
        "rssiOffsetDb", .integer(-40...40, unit: "dB"), "Correction that is added to each received level.", default: 0)
    static let section = Section("A receiver.", [name, floor, room, position, levelOffset])
}

/// The keys of a beacon.
enum CollectorBeaconKeys {
    static let name = Key(
        "name", .name, "Name of the beacon or of the person who carries it.", isRequired: true)
    static let identity = Key(
        "identity",
        ValueType<String>(schema: ["type": "string", "pattern": "^(ibeacon|altbeacon|uid|url|eid|address):"]) {
            $0.text($1)
        }.map { decoder, node, text in
            if let identity = BeaconIdentity(text) { return identity }
            decoder.error(
                "\(ProblemText.quoted(text)) is not an identity of a beacon; write ibeacon:UUID-MAJOR-MINOR, "
                    + "altbeacon:COMPANY-ID, uid:NAMESPACE-INSTANCE, url:TEXT or address:AA:BB:CC:DD:EE:FF", at: node)
            return nil
        }, "Identity, such as \"ibeacon:UUID-MAJOR-MINOR\".", isRequired: true)
    static let interval = Key(
        "intervalMs", .thousandths(20_000...10_485_759, unit: "ms"), "Configured advertising interval.")
    static let calibration = Key(
        "measuredPowerAt1mDbm", .integer(DistanceEstimate.plausiblePowers, unit: "dBm"), "Signal strength at 1 m.")
    static let section = Section("A beacon.", [name, identity, interval, calibration])
}

/// The keys of the history on this machine.
enum CollectorHistoryKeys {
    static let file = Key("file", .path(), "SQLite database. Default: NAME.collect.db in /var/lib/pharos.")
    static let days = Key(
        "days", .integer(1...36_500, unit: "days"), "Events older than this are deleted.", default: 400)
    static let section = Section("The database of past events.", [file, days])
}

/// The keys of the PostgreSQL database.
enum PostgreSQLKeys {
    static let connection = Key(
        "connection", connectionString,
        """
        Connection string of libpq, such as "host=db dbname=pharos user=pharos sslmode=verify-full", without a password.
        """, isRequired: true)
    static let passwordFile = Key("passwordFile", .path(), "File of mode 0600 with the password in one line.")
    static let section = Section(
        "A PostgreSQL database.", [connection, passwordFile],
        hint: { key in
            ["password", "user", "host", "port", "dbname", "database", "url"].contains(key)
                ? "write \"connection\": \"host=db dbname=pharos user=pharos\", and put the password into a file of mode "
                    + "0600 that \"passwordFile\" names" : nil
        })

    /// The maximum length of a connection string, in bytes.
    private static let limit = 4096

    private static let connectionString = ValueType<String>(
        schema: ["type": "string", "minLength": 1, "maxLength": .integer(limit), "pattern": "^[^\\u0000]+$"]
    ) { decoder, node in
        guard let text = decoder.text(node) else { return nil }
        guard !text.isEmpty, text.utf8.count <= limit, !text.utf8.contains(0) else {
            decoder.error("a connection string of libpq is expected, such as \"host=db dbname=pharos\"", at: node)
            return nil
        }
        if hasPassword(text) {
            decoder.error(
                "do not write the password here: put it into a file of mode 0600 that \"passwordFile\" names", at: node)
        }
        return text
    }

    /// Returns true if a connection string contains a password: `password=…`, `sslpassword=…`, or `//USER:PASSWORD@` in
    /// a URI.
    private static func hasPassword(_ text: String) -> Bool {
        let words = text.split { " \t\n?&".contains($0) }
        let keys = words.map { $0.prefix { $0 != "=" } }
        if keys.contains("password") || keys.contains("sslpassword") { return true }
        let parts = text.split(separator: "/", maxSplits: 3, omittingEmptySubsequences: false)
        guard parts.count > 2, parts[0].hasSuffix(":"), parts[1].isEmpty else { return false }
        // A password may contain @, so the host begins after the last @.
        guard let end = parts[2].lastIndex(of: "@") else { return false }
        return parts[2][..<end].contains(":")
    }
}
