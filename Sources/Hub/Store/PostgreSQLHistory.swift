/// The events, sightings and runs of several sites in a PostgreSQL database. Only one thread may use it, and every call
/// waits for the server.
///
/// Rows are first copied into a temporary table. From there, only rows with a new key are inserted into the permanent
/// table. So writing a row twice changes nothing.
public final class PostgreSQLHistory {
    /// The version of the tables.
    public static let version = 1
    /// The statements that create each version of the tables from the previous one.
    private static let migrations = [
        """
        CREATE TABLE pharos_sightings (site text NOT NULL, receiver text NOT NULL, boot text NOT NULL, seq bigint NOT NULL,
            beacon text NOT NULL, at timestamptz NOT NULL, reports integer NOT NULL, rssi_dbm real, late boolean NOT NULL,
            PRIMARY KEY (receiver, boot, seq, beacon, site));
        CREATE INDEX pharos_sightings_at ON pharos_sightings (beacon, at);
        CREATE TABLE pharos_events (id text PRIMARY KEY, site text NOT NULL, at timestamptz NOT NULL, kind text NOT NULL,
            beacon text NOT NULL, place text NOT NULL, json text NOT NULL);
        CREATE INDEX pharos_events_beacon ON pharos_events (beacon, at);
        CREATE INDEX pharos_events_place ON pharos_events (place, at);
        """
    ]
    /// The tables and indexes that older databases of the present version may lack, each with its name and the
    /// statement that creates it. Reading also works without them.
    private static let additions = [
        ("pharos_events_room", "CREATE INDEX pharos_events_room ON pharos_events (site, at) WHERE kind = 'room'"),
        (
            runs,
            "CREATE TABLE \(runs) (site text NOT NULL, begun timestamptz NOT NULL, ended timestamptz NOT NULL, "
                + "is_over boolean NOT NULL, PRIMARY KEY (site, begun))"
        ),
    ]
    /// The table of the runs of collectors.
    private static let runs = "pharos_runs"
    /// The advisory lock that prevents two collectors from creating the tables at the same time.
    private static let lock = 0x5048_5253

    private let database: PostgreSQLDatabase
    /// True if this connection holds the advisory lock of a site.
    private var hasLock = false

    /// Connects to the database, and checks its tables.
    ///
    /// - Parameter isReadOnly: If true, the tables must already exist. If false, they are created or updated.
    public init(_ options: PostgreSQLOptions, isReadOnly: Bool = false) throws(PostgreSQLError) {
        database = try PostgreSQLDatabase(options)
        if isReadOnly {
            let foundVersion = try foundVersion()
            if foundVersion == 0 {
                throw PostgreSQLError(.empty, "\(database.name): no collector has written to this database")
            }
            try check(foundVersion)
        } else {
            try migrate()
        }
    }

    /// Returns the version of the tables in the database; 0 if there are none.
    private func foundVersion() throws(PostgreSQLError) -> Int {
        var version = 0
        guard try has("pharos_version") else { return version }
        try database.query("SELECT max(version) FROM pharos_version") { version = Self.number($0[0]) }
        return version
    }

    /// Returns true if the database has a table or an index.
    private func has(_ relation: String) throws(PostgreSQLError) -> Bool {
        var exists = false
        // to_regclass() cannot be used, because it would cache that a table is missing.
        try database.query(
            "SELECT count(*) > 0 FROM pg_catalog.pg_class JOIN pg_catalog.pg_namespace space ON space.oid = relnamespace "
                + "WHERE relname = $1 AND nspname = ANY (current_schemas(false))", [relation]
        ) { exists = $0.first == "t" }
        return exists
    }

    private func check(_ foundVersion: Int) throws(PostgreSQLError) {
        guard foundVersion > Self.version else { return }
        throw PostgreSQLError(
            .foreign,
            "\(database.name): its tables were made by a later version of pharos (\(foundVersion), not \(Self.version))"
        )
    }

    private func migrate() throws(PostgreSQLError) {
        let foundVersion = try foundVersion()
        try check(foundVersion)
        guard foundVersion < Self.version else { return try addMissing() }
        try database.transaction { () throws(PostgreSQLError) in
            try database.execute("SELECT pg_advisory_xact_lock(\(Self.lock))")
            // Another collector may have created the tables in the meantime.
            for version in try self.foundVersion()..<Self.version {
                for statement in Self.migrations[version].split(separator: ";") where statement.contains("CREATE") {
                    try database.execute(String(statement))
                }
                try database.execute("CREATE TABLE IF NOT EXISTS pharos_version (version integer PRIMARY KEY)")
                try database.execute("INSERT INTO pharos_version VALUES (\(version + 1))")
            }
        }
        try addMissing()
    }

    /// Creates the ``additions`` that are missing.
    private func addMissing() throws(PostgreSQLError) {
        for (relation, statement) in Self.additions {
            guard try !has(relation) else { continue }
            try database.transaction { () throws(PostgreSQLError) in
                try database.execute("SELECT pg_advisory_xact_lock(\(Self.lock))")
                // Another collector may have created the relation in the meantime.
                if try !has(relation) { try database.execute(statement) }
            }
        }
    }

    /// Writes rows. A sighting or an event whose key already exists is not changed. A run whose start already exists
    /// gets the later of the two ends.
    public func write(_ rows: [PostgreSQLRow]) throws(PostgreSQLError) {
        let sightings = rows.filter { $0.table == .sightings }.map(\.text)
        let events = rows.filter { $0.table == .events }.map(\.text)
        let runs = rows.filter { $0.table == .runs }.map(\.text)
        try database.transaction { () throws(PostgreSQLError) in
            if !sightings.isEmpty {
                try database.execute(
                    "CREATE TEMPORARY TABLE IF NOT EXISTS pharos_new_sightings (site text, receiver text, boot text, "
                        + "seq bigint, beacon text, at bigint, reports integer, rssi_dbm real, late boolean) "
                        + "ON COMMIT DELETE ROWS")
                try database.copy(sightings, into: "pharos_new_sightings")
                try database.execute(
                    "INSERT INTO pharos_sightings SELECT site, receiver, boot, seq, beacon, to_timestamp(at / 1000.0), "
                        + "reports, rssi_dbm, late FROM pharos_new_sightings ORDER BY receiver, boot, seq, beacon "
                        + "ON CONFLICT DO NOTHING")
            }
            if !events.isEmpty {
                try database.execute(
                    "CREATE TEMPORARY TABLE IF NOT EXISTS pharos_new_events (id text, site text, at bigint, kind text, "
                        + "beacon text, place text, json text) ON COMMIT DELETE ROWS")
                try database.copy(events, into: "pharos_new_events")
                try database.execute(
                    "INSERT INTO pharos_events SELECT id, site, to_timestamp(at / 1000.0), kind, beacon, place, json "
                        + "FROM pharos_new_events ORDER BY id ON CONFLICT DO NOTHING")
            }
            guard !runs.isEmpty else { return }
            try database.execute(
                "CREATE TEMPORARY TABLE IF NOT EXISTS pharos_new_runs (site text, begun bigint, ended bigint, "
                    + "is_over boolean) ON COMMIT DELETE ROWS")
            try database.copy(runs, into: "pharos_new_runs")
            try database.execute(
                "INSERT INTO \(Self.runs) AS run SELECT site, to_timestamp(begun / 1000000.0), "
                    + "to_timestamp(max(ended) / 1000000.0), bool_or(is_over) FROM pharos_new_runs GROUP BY site, begun "
                    + "ORDER BY site, begun ON CONFLICT (site, begun) DO UPDATE "
                    + "SET ended = greatest(run.ended, excluded.ended), is_over = run.is_over OR excluded.is_over")
        }
    }

    // MARK: The site's lock

    /// Tries to take the advisory lock of a site. The lock is held until this connection ends.
    ///
    /// - Returns: True if the lock was free.
    public func takeLock(of site: String) throws(PostgreSQLError) -> Bool {
        try database.query("SELECT pg_try_advisory_lock(\(Self.lock), hashtext($1))", [site]) { row in
            hasLock = row.first == "t"
        }
        return hasLock
    }

    /// Returns true if this connection holds the lock of a site. Throws an error if this connection has taken the lock,
    /// but the database does not answer.
    public func holdsLock() throws(PostgreSQLError) -> Bool {
        if hasLock { try database.execute("SELECT 1") }
        return hasLock
    }

    /// Returns the beacons that are present at a site, according to the last event of each beacon.
    public func presence(at site: String) throws(PostgreSQLError) -> PostgreSQLPresence {
        var presence = PostgreSQLPresence()
        // Steps from beacon to beacon along the index, because reading all events of several years would take too long.
        try database.query(
            "WITH RECURSIVE tag(name) AS ((SELECT beacon FROM pharos_events ORDER BY 1 LIMIT 1) UNION ALL "
                + "SELECT (SELECT min(beacon) FROM pharos_events WHERE beacon > tag.name) FROM tag "
                + "WHERE tag.name IS NOT NULL) SELECT name, last.kind, last.place, "
                + "(extract(epoch FROM last.at) * 1000000)::bigint, "
                + "(extract(epoch FROM coalesce(entered.at, last.at)) * 1000000)::bigint FROM tag "
                + "JOIN LATERAL (SELECT kind, place, at FROM pharos_events WHERE beacon = tag.name AND site = $1 "
                + "AND kind IN ('enter', 'room', 'known', 'unknown', 'exit') "
                // Events of the same time are ordered by their ids.
                + "ORDER BY at DESC, id DESC LIMIT 1) last ON true "
                + "LEFT JOIN LATERAL (SELECT at FROM pharos_events WHERE beacon = tag.name AND site = $1 "
                + "AND kind = 'enter' ORDER BY at DESC LIMIT 1) entered ON true", [site]
        ) { row in
            guard let name = row[0], !name.isEmpty, let kind = row[1] else { return }
            presence.newest = max(presence.newest, Int64(Self.number(row[3])))
            guard kind != "exit" else { return }
            let room = row[2] ?? ""
            presence.presences.append(
                .init(
                    zone: room, beacon: name, since: Int64(Self.number(row[4])),
                    dwells: room.isEmpty || kind == "unknown" ? 0 : 1))
        }
        return presence
    }

    // MARK: History

    /// Returns the events of a beacon at all sites, or of a room at one site, the oldest first. The events of a room
    /// include those in which a beacon left this room for another one.
    ///
    /// - Parameters:
    ///   - site: The site of the room. Other sites may have a room of the same name.
    ///   - range: The times in microseconds since 1970, both ends included.
    ///   - limit: The largest number of events.
    public func events(
        of name: String, at site: String, _ range: ClosedRange<Int64>, limit: Int
    ) throws(PostgreSQLError) -> [EventStore.Event] {
        var events: [EventStore.Event] = []
        try database.query(
            "SELECT id, (extract(epoch FROM at) * 1000000)::bigint, kind, beacon, place, json, site FROM pharos_events "
                + "WHERE (beacon = $1 OR place = $1 AND site = $4 OR kind = 'room' AND site = $4 "
                + "AND json::json ->> 'from' = $1) AND at BETWEEN \(Self.timeBounds) ORDER BY at, id LIMIT \(limit)",
            [name] + Self.texts(range) + [site]
        ) { row in
            var event = EventStore.Event(
                id: row[0] ?? "", time: Int64(Self.number(row[1])), kind: row[2] ?? "", zone: row[4] ?? "",
                beacon: row[3] ?? "", json: row[5] ?? "")
            event.site = row[6]
            events.append(event)
        }
        return events
    }

    /// Returns the pauses of each site in which no collector ran, the oldest first. The time before the first recorded
    /// run is not a pause, because older versions did not record runs.
    ///
    /// - Parameter now: The present time, in microseconds since 1970.
    public func pauses(until now: Int64) throws(PostgreSQLError) -> [String: [ServicePause]] {
        guard try has(Self.runs) else { return [:] }
        var runs: [String: [ServiceRun]] = [:]
        try database.query(
            "SELECT site, (extract(epoch FROM begun) * 1000000)::bigint, (extract(epoch FROM ended) * 1000000)::bigint, "
                + "is_over FROM \(Self.runs) ORDER BY site, begun"
        ) { row in
            runs[row[0] ?? "", default: []].append(
                ServiceRun(
                    start: Int64(Self.number(row[1])), end: Int64(Self.number(row[2])), isOver: row[3] == "t"))
        }
        return runs.mapValues { ServiceRun.pauses(between: $0, until: now) }
    }

    /// Returns which receivers received a beacon in each minute, the oldest minute first.
    ///
    /// - Parameters:
    ///   - range: The times in microseconds since 1970, both ends included.
    ///   - limit: The largest number of elements. There is one element for each minute and receiver.
    public func minutes(
        of beacon: String, _ range: ClosedRange<Int64>, limit: Int
    ) throws(PostgreSQLError) -> [HeardMinute] {
        var minutes: [HeardMinute] = []
        try database.query(
            "SELECT receiver, (extract(epoch FROM date_trunc('minute', at)) * 1000)::bigint AS minute, sum(reports), "
                + "coalesce(sum(reports) FILTER (WHERE late), 0), (sum(rssi_dbm * reports) * 1000 "
                + "/ nullif(sum(reports) FILTER (WHERE rssi_dbm IS NOT NULL), 0))::bigint FROM pharos_sightings "
                + "WHERE beacon = $1 AND at BETWEEN \(Self.timeBounds) GROUP BY site, receiver, minute "
                + "ORDER BY minute, receiver, site LIMIT \(limit)",
            [beacon] + Self.texts(range)
        ) { row in
            minutes.append(
                HeardMinute(
                    receiver: row[0] ?? "", milliseconds: Int64(Self.number(row[1])), reports: Self.number(row[2]),
                    late: Self.number(row[3]), level: row[4].map { Double(Self.number($0)) / 1000 }))
        }
        return minutes
    }

    /// Returns the names of the beacons and of the rooms of a site that have events or sightings, at most 1000 names.
    public func names(at site: String) throws(PostgreSQLError) -> [String] {
        var names: [String] = []
        // Steps from name to name along the indexes, because reading all rows of several years would take too long.
        func allValues(_ name: String, _ column: String, _ table: String) -> String {
            "\(name)(name) AS ((SELECT \(column) FROM \(table) ORDER BY 1 LIMIT 1) UNION ALL SELECT (SELECT \(column) "
                + "FROM \(table) WHERE \(column) > \(name).name ORDER BY 1 LIMIT 1) FROM \(name) "
                + "WHERE \(name).name IS NOT NULL)"
        }
        try database.query(
            "WITH RECURSIVE \(allValues("tag", "beacon", "pharos_events")), \(allValues("place", "place", "pharos_events")), "
                + "\(allValues("heard", "beacon", "pharos_sightings")) SELECT name FROM tag WHERE name IS NOT NULL "
                + "UNION SELECT name FROM place WHERE name != '' AND EXISTS (SELECT FROM pharos_events "
                + "WHERE place = name AND site = $1) UNION SELECT name FROM heard WHERE name IS NOT NULL "
                + "ORDER BY name LIMIT 1000", [site]
        ) { row in if let name = row[0] { names.append(name) } }
        return names
    }

    private static let timeBounds =
        "to_timestamp($2::double precision / 1000000) AND to_timestamp($3::double precision / 1000000)"

    /// Returns the bounds of a range as texts, limited to the years that PostgreSQL supports.
    private static func texts(_ range: ClosedRange<Int64>) -> [String?] {
        let years: ClosedRange<Int64> = -60_000_000_000_000_000...200_000_000_000_000_000
        let supported = range.clamped(to: years)
        return ["\(supported.lowerBound)", "\(supported.upperBound)"]
    }

    private static func number(_ text: String?) -> Int { text.flatMap { Int($0) } ?? 0 }
}
