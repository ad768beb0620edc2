/// What a listener keeps: who is inside, what happened, and what was not handed on yet.
///
/// An event, the state that it makes and its places in the outbox are one transaction: whenever the process ends, an event
/// is neither lost nor told again under another id.
public final class EventStore {
    /// Something that happened.
    public struct Event: Hashable, Sendable {
        /// That no other event has.
        public var id: String
        /// In microseconds since 1970; `nil` where nobody knows.
        public var time: Int64?
        public var kind: String
        public var zone: String
        public var beacon: String?
        /// The event as one line of JSON.
        public var json: String

        /// See the properties of the same names.
        public init(id: String, time: Int64?, kind: String, zone: String, beacon: String?, json: String) {
            self.id = id
            self.time = time
            self.kind = kind
            self.zone = zone
            self.beacon = beacon
            self.json = json
        }
    }

    /// Who is inside of a place.
    public struct Presence: Hashable, Sendable {
        public var zone: String
        public var beacon: String
        /// In microseconds since 1970.
        public var since: Int64
        /// How many of the zone's times are over; in a room 1 while that is known.
        public var dwells: Int

        /// See the properties of the same names.
        public init(zone: String, beacon: String, since: Int64, dwells: Int) {
            self.zone = zone
            self.beacon = beacon
            self.since = since
            self.dwells = dwells
        }
    }

    /// What an event makes of who is inside.
    public enum Change: Hashable, Sendable {
        case none
        /// - Parameter isShared: Whether all beacons of the zone share one place.
        case inside(Presence, isShared: Bool)
        /// - Parameter beacon: `nil` for all of the zone.
        case outside(zone: String, beacon: String?)
        /// In this place and in no other one.
        case only(Presence)
        /// In no place any more.
        case nowhere(beacon: String)
    }

    /// An event with what it makes of who is inside.
    public struct Record: Hashable, Sendable {
        public var event: Event
        public var change: Change

        /// See the properties of the same names.
        public init(_ event: Event, _ change: Change) {
            self.event = event
            self.change = change
        }
    }

    /// An event that was not handed on yet.
    public struct Waiting: Hashable, Sendable {
        public var sequence: Int64
        public var event: Event
    }

    /// `PHRS`.
    static let application: Int32 = 0x5048_5253
    static let version: Int32 = 1
    private static let tables = """
        CREATE TABLE event (seq INTEGER PRIMARY KEY AUTOINCREMENT, id TEXT NOT NULL UNIQUE, at INTEGER,
            kind TEXT NOT NULL, zone TEXT NOT NULL, beacon TEXT, json TEXT NOT NULL);
        CREATE INDEX event_at ON event (at);
        CREATE INDEX event_beacon ON event (beacon, seq);
        CREATE INDEX event_zone ON event (zone, seq);
        CREATE TABLE presence (zone TEXT NOT NULL, beacon TEXT NOT NULL, since INTEGER NOT NULL,
            dwells INTEGER NOT NULL, PRIMARY KEY (zone, beacon)) WITHOUT ROWID;
        CREATE TABLE outbox (channel TEXT NOT NULL, seq INTEGER NOT NULL, PRIMARY KEY (channel, seq)) WITHOUT ROWID;
        """
    /// Who has left a room for another one; older files get it when they are opened.
    private static let index =
        "CREATE INDEX IF NOT EXISTS event_from ON event (json_extract(json, '$.from'), seq) WHERE kind = 'room'"
    private static let columns = "event.id, event.at, event.kind, event.zone, event.beacon, event.json"

    private let database: Database
    private var taken: TakenBatches?

    /// Opens the file, and makes it where it is missing.
    public init(path: String, isReadOnly: Bool = false) throws(StoreError) {
        database = try Database(
            path: path, isReadOnly: isReadOnly, application: Self.application, version: Self.version,
            setUp: Self.tables)
        if !isReadOnly { try database.execute(Self.index) }
    }

    /// Keeps an event with what it makes of who is inside; kept for good when this returns.
    ///
    /// - Parameter channels: Who has to be handed the event.
    /// - Returns: its number; `nil` where there is an event of this id already, and nothing was changed.
    @discardableResult
    public func record(_ event: Event, _ change: Change, for channels: [String]) throws(StoreError) -> Int64? {
        var number: Int64?
        try database.transaction { () throws(StoreError) in number = try insert(event, change, for: channels) }
        return number
    }

    /// Keeps several events, in their order, and what was heard meanwhile: all or nothing.
    public func keep(_ records: [Record], _ sightings: [SightingRow] = []) throws(StoreError) {
        try database.transaction { () throws(StoreError) in
            for record in records { try insert(record.event, record.change, for: []) }
            try SightingDatabase(database).add(sightings, &taken)
        }
    }

    @discardableResult
    private func insert(_ event: Event, _ change: Change, for channels: [String]) throws(StoreError) -> Int64? {
        try database.execute(
            "INSERT OR IGNORE INTO event (id, at, kind, zone, beacon, json) VALUES (?, ?, ?, ?, ?, ?)",
            [
                .text(event.id), event.time.map(Database.Value.integer) ?? .null, .text(event.kind),
                .text(event.zone), event.beacon.map(Database.Value.text) ?? .null, .text(event.json),
            ])
        guard database.changes == 1 else { return nil }
        var number: Int64?
        try database.query("SELECT seq FROM event WHERE id = ?", [.text(event.id)]) { number = $0.first?.integer }
        for channel in channels {
            try database.execute(
                "INSERT INTO outbox (channel, seq) SELECT ?, seq FROM event WHERE id = ?",
                [.text(channel), .text(event.id)])
        }
        try apply(change)
        return number
    }

    private func apply(_ change: Change) throws(StoreError) {
        switch change {
        case .none: break
        case .inside(let presence, let isShared):
            if isShared { try database.execute("DELETE FROM presence WHERE zone = ?", [.text(presence.zone)]) }
            try put(presence)
        case .outside(let zone, nil): try database.execute("DELETE FROM presence WHERE zone = ?", [.text(zone)])
        case .outside(let zone, let beacon?):
            try database.execute("DELETE FROM presence WHERE zone = ? AND beacon = ?", [.text(zone), .text(beacon)])
        case .only(let presence):
            try database.execute("DELETE FROM presence WHERE beacon = ?", [.text(presence.beacon)])
            try put(presence)
        case .nowhere(let beacon): try database.execute("DELETE FROM presence WHERE beacon = ?", [.text(beacon)])
        }
    }

    private func put(_ presence: Presence) throws(StoreError) {
        try database.execute(
            "INSERT OR REPLACE INTO presence (zone, beacon, since, dwells) VALUES (?, ?, ?, ?)",
            [
                .text(presence.zone), .text(presence.beacon), .integer(presence.since),
                .integer(Int64(presence.dwells)),
            ])
    }

    /// Replaces who is inside, without an event.
    public func replacePresences(with presences: [Presence]) throws(StoreError) {
        try database.transaction { () throws(StoreError) in
            try database.execute("DELETE FROM presence")
            for presence in presences { try put(presence) }
        }
    }

    /// The time of the newest event, in microseconds since 1970; `nil` when there is none.
    public func newestTime() throws(StoreError) -> Int64? {
        var time: Int64?
        try database.query("SELECT max(at) FROM event") { time = $0.first?.integer }
        return time
    }

    /// Who is inside, by what was kept.
    public func presences() throws(StoreError) -> [Presence] {
        var found: [Presence] = []
        try database.query("SELECT zone, beacon, since, dwells FROM presence ORDER BY since, zone, beacon") { row in
            guard row.count == 4, let zone = row[0].text, let beacon = row[1].text, let since = row[2].integer,
                let dwells = row[3].integer
            else { return }
            found.append(Presence(zone: zone, beacon: beacon, since: since, dwells: Int(clamping: dwells)))
        }
        return found
    }

    /// Forgets who is inside of places that there are no more.
    public func forget(_ presence: Presence) throws(StoreError) {
        try database.execute(
            "DELETE FROM presence WHERE zone = ? AND beacon = ?", [.text(presence.zone), .text(presence.beacon)])
    }

    /// What a channel was not handed yet, oldest first.
    public func waiting(for channel: String, limit: Int, after sequence: Int64 = 0) throws(StoreError) -> [Waiting] {
        var found: [Waiting] = []
        try database.query(
            "SELECT event.seq, \(Self.columns) FROM outbox JOIN event USING (seq) WHERE channel = ? AND seq > ? "
                + "ORDER BY seq LIMIT ?", [.text(channel), .integer(sequence), .integer(Int64(limit))]
        ) { row in
            guard let sequence = row.first?.integer, let event = Self.event(row.dropFirst()) else { return }
            found.append(Waiting(sequence: sequence, event: event))
        }
        return found
    }

    /// How many events a channel was not handed yet.
    public func waitingCount(for channel: String) throws(StoreError) -> Int {
        var count = 0
        try database.query("SELECT count(*) FROM outbox WHERE channel = ?", [.text(channel)]) {
            count = Int(clamping: $0.first?.integer ?? 0)
        }
        return count
    }

    /// A channel has been handed an event.
    public func settle(_ sequence: Int64, for channel: String) throws(StoreError) {
        try database.execute(
            "DELETE FROM outbox WHERE channel = ? AND seq = ?", [.text(channel), .integer(sequence)])
    }

    /// A channel has been handed all events up to one.
    public func settle(through sequence: Int64, for channel: String) throws(StoreError) {
        try database.execute(
            "DELETE FROM outbox WHERE channel = ? AND seq <= ?", [.text(channel), .integer(sequence)])
    }

    static let ofName =
        "SELECT \(columns) FROM event WHERE (beacon = ?1 OR zone = ?1 OR kind = 'room' "
        + "AND json_extract(json, '$.from') = ?1) AND coalesce(at, 0) BETWEEN ?2 AND ?3 ORDER BY seq"
    /// Name by name along the indexes: years of events are not read for a handful of names.
    static let allNames =
        "WITH RECURSIVE place(name) AS (SELECT min(zone) FROM event WHERE zone > '' UNION ALL SELECT (SELECT min(zone) "
        + "FROM event WHERE zone > place.name) FROM place WHERE place.name NOT NULL), "
        + "tag(name) AS (SELECT min(beacon) FROM event UNION ALL SELECT (SELECT min(beacon) FROM event "
        + "WHERE beacon > tag.name) FROM tag WHERE tag.name NOT NULL) SELECT name FROM place WHERE name NOT NULL "
        + "UNION SELECT name FROM tag WHERE name NOT NULL ORDER BY name"

    /// What happened with a beacon or in a zone, oldest first; in a room also who has left it for another one.
    ///
    /// - Parameters:
    ///   - name: Of the beacon, the zone or the room.
    ///   - range: In microseconds since 1970, both ends included.
    public func history(
        of name: String, _ range: ClosedRange<Int64> = .min ... .max, _ each: (Event) -> Void
    ) throws(StoreError) {
        try database.query(
            Self.ofName, [.text(name), .integer(range.lowerBound), .integer(range.upperBound)]
        ) { row in
            if let event = Self.event(row[...]) { each(event) }
        }
    }

    /// The beacons and zones of which something is kept.
    public func names() throws(StoreError) -> [String] {
        var names: [String] = []
        try database.query(Self.allNames) { row in if let name = row.first?.text { names.append(name) } }
        return names
    }

    /// Who heard a beacon, minute by minute and oldest first; nothing where nobody keeps that.
    ///
    /// - Parameter range: In microseconds since 1970, both ends included.
    public func minutes(
        of beacon: String, _ range: ClosedRange<Int64> = .min ... .max, _ each: (HeardMinute) -> Void
    ) throws(StoreError) {
        try SightingDatabase(database).minutes(of: beacon, range, each)
    }

    /// Forgets events before `time`, in microseconds since 1970, that nobody waits for.
    ///
    /// - Returns: how many.
    @discardableResult
    public func prune(before time: Int64) throws(StoreError) -> Int {
        try database.execute(
            "DELETE FROM event WHERE at < ? AND seq NOT IN (SELECT seq FROM outbox)", [.integer(time)])
        let count = database.changes
        try SightingDatabase(database).prune(before: time)
        return count
    }

    private static func event(_ row: ArraySlice<Database.Value>) -> Event? {
        let row = Array(row)
        guard row.count == 6, let id = row[0].text, let kind = row[2].text, let zone = row[3].text,
            let json = row[5].text
        else { return nil }
        return Event(id: id, time: row[1].integer, kind: kind, zone: zone, beacon: row[4].text, json: json)
    }
}
