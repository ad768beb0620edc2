/// The SQLite database of a listener or a collector. It contains the events, the presences, and the outbox. The outbox
/// lists the events that each channel has not received yet. A channel is a destination of events outside this program,
/// such as a broker or a hook.
///
/// An event, its effect on presences, and its entries in the outbox are written in one transaction. So even if the
/// process is killed, no event is lost or gets a second id.
public final class EventStore {
    /// An event of a zone or of a site.
    public struct Event: Hashable, Sendable {
        /// The unique id.
        public var id: String
        /// The time in microseconds since 1970; `nil` if it is not known.
        public var time: Int64?
        public var kind: String
        public var zone: String
        public var beacon: String?
        /// The event as one line of JSON.
        public var json: String
        /// The site of the collector, if the event was read from a database of several sites; otherwise `nil`.
        public var site: String?

        /// Creates an event for the database of one service.
        public init(id: String, time: Int64?, kind: String, zone: String, beacon: String?, json: String) {
            self.id = id
            self.time = time
            self.kind = kind
            self.zone = zone
            self.beacon = beacon
            self.json = json
        }
    }

    /// A beacon that is inside a zone or a room.
    public struct Presence: Hashable, Sendable {
        public var zone: String
        public var beacon: String
        /// The time at which the beacon entered, in microseconds since 1970.
        public var since: Int64
        /// For a zone, the number of dwell times that have ended. For a room, 1 if the room is known, otherwise 0.
        public var dwells: Int

        /// Creates a presence.
        public init(zone: String, beacon: String, since: Int64, dwells: Int) {
            self.zone = zone
            self.beacon = beacon
            self.since = since
            self.dwells = dwells
        }
    }

    /// The effect of an event on presences.
    public enum Change: Hashable, Sendable {
        /// The event does not change presences.
        case none
        /// - Parameter isShared: True if all beacons of the zone share one presence. The new presence then replaces the
        ///   old one.
        case inside(Presence, isShared: Bool)
        /// - Parameter beacon: The beacon that has left; `nil` if all beacons of the zone have left.
        case outside(zone: String, beacon: String?)
        /// The beacon is in this zone or room and in no other one.
        case only(Presence)
        /// The beacon is in no zone and no room.
        case nowhere(beacon: String)
    }

    /// An event with its effect on presences.
    public struct Record: Hashable, Sendable {
        public var event: Event
        public var change: Change
        /// The channels that have not received the event yet.
        public var channels: [String]

        /// Creates a record.
        public init(_ event: Event, _ change: Change, for channels: [String] = []) {
            self.event = event
            self.change = change
            self.channels = channels
        }
    }

    /// The delivery of events to a channel.
    public enum Delivery: Hashable, Sendable {
        /// The channel has received the event with this sequence number.
        case number(Int64, channel: String)
        /// The channel has received the event with this id.
        case id(String, channel: String)
        /// The channel has received all events up to this sequence number.
        case through(Int64, channel: String)
    }

    /// An event that a channel has not received yet, with its sequence number.
    public struct Waiting: Hashable, Sendable {
        /// The sequence number of the event. Later events have higher numbers.
        public var sequence: Int64
        public var event: Event
    }

    /// SQLite's application id: the letters `PHRS`.
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
    /// Creates the index of room changes by the room that the beacon left. The index is also added to files of older
    /// versions when they are opened.
    private static let index =
        "CREATE INDEX IF NOT EXISTS event_from ON event (json_extract(json, '$.from'), seq) WHERE kind = 'room'"
    private static let columns = "event.id, event.at, event.kind, event.zone, event.beacon, event.json"

    let database: Database
    private var batches = WrittenBatches()

    /// Opens the file, and creates it if it is missing.
    ///
    /// - Parameter milliseconds: The longest wait while another process has locked the file, for opening and for each
    ///   later statement, in milliseconds.
    public init(
        path: String, isReadOnly: Bool = false, waiting milliseconds: Int = Database.busyMilliseconds
    ) throws(StoreError) {
        database = try Database(
            path: path, isReadOnly: isReadOnly, application: Self.application, version: Self.version,
            setUp: Self.tables, waiting: milliseconds)
        if !isReadOnly {
            try database.execute(Self.index)
            try database.execute(Self.runTable)
        }
    }

    /// Sets the longest wait while another process has locked the file, in milliseconds.
    func wait(forOthers milliseconds: Int) { database.wait(forOthers: milliseconds) }

    // MARK: Events

    /// Writes an event with its effect on presences. Both are on the disk when this function returns.
    ///
    /// - Parameter channels: The channels that must receive the event.
    /// - Returns: The event's sequence number; `nil` if the store already has an event with this id. In that case
    ///   nothing is changed.
    @discardableResult
    public func record(_ event: Event, _ change: Change, for channels: [String]) throws(StoreError) -> Int64? {
        var number: Int64?
        try database.transaction { () throws(StoreError) in number = try insert(event, change, for: channels) }
        return number
    }

    /// Writes deliveries, then events in their order, then sightings, in one transaction.
    public func write(
        _ records: [Record], _ sightings: [SightingRow] = [], _ deliveries: [Delivery] = []
    ) throws(StoreError) {
        try database.transaction { () throws(StoreError) in
            for delivery in deliveries { try markDelivered(delivery) }
            for record in records { try insert(record.event, record.change, for: record.channels) }
            try SightingDatabase(database).add(sightings, &batches)
        }
        batches.markWritten()
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
        for channel in channels {
            try database.execute(
                "INSERT INTO outbox (channel, seq) SELECT ?, seq FROM event WHERE id = ?",
                [.text(channel), .text(event.id)])
        }
        try apply(change)
        return try database.number("SELECT seq FROM event WHERE id = ?", [.text(event.id)])
    }

    /// Deletes events before `time`, in microseconds since 1970, that every channel has received.
    ///
    /// - Returns: The number of deleted events.
    @discardableResult
    public func prune(before time: Int64) throws(StoreError) -> Int {
        try database.execute(
            "DELETE FROM event WHERE at < ? AND seq NOT IN (SELECT seq FROM outbox)", [.integer(time)])
        let count = database.changes
        try SightingDatabase(database).prune(before: time)
        try pruneRuns(before: time)
        return count
    }

    private static func event(_ row: ArraySlice<Database.Value>) -> Event? {
        let row = Array(row)
        guard row.count == 6, let id = row[0].text, let kind = row[2].text, let zone = row[3].text,
            let json = row[5].text
        else { return nil }
        return Event(id: id, time: row[1].integer, kind: kind, zone: zone, beacon: row[4].text, json: json)
    }

    // MARK: Presences

    /// Returns the presences, the earliest first.
    public func presences() throws(StoreError) -> [Presence] {
        try database.rows("SELECT zone, beacon, since, dwells FROM presence ORDER BY since, zone, beacon") { row in
            guard row.count == 4, let zone = row[0].text, let beacon = row[1].text, let since = row[2].integer,
                let dwells = row[3].integer
            else { return nil }
            return Presence(zone: zone, beacon: beacon, since: since, dwells: Int(clamping: dwells))
        }
    }

    /// Removes a presence without an event.
    public func forget(_ presence: Presence) throws(StoreError) {
        try apply(.outside(zone: presence.zone, beacon: presence.beacon))
    }

    /// Replaces all presences without an event.
    public func replacePresences(with presences: [Presence]) throws(StoreError) {
        try database.transaction { () throws(StoreError) in
            try database.execute("DELETE FROM presence")
            for presence in presences { try put(presence) }
        }
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

    // MARK: Channels

    /// Returns the oldest events that a channel has not received yet and whose sequence number is above `sequence`, at
    /// most `limit` of them.
    public func waiting(for channel: String, limit: Int, after sequence: Int64 = 0) throws(StoreError) -> [Waiting] {
        try database.rows(
            "SELECT event.seq, \(Self.columns) FROM outbox JOIN event USING (seq) WHERE channel = ? AND seq > ? "
                + "ORDER BY seq LIMIT ?", [.text(channel), .integer(sequence), .integer(Int64(limit))]
        ) { row in
            guard let sequence = row.first?.integer, let event = Self.event(row.dropFirst()) else { return nil }
            return Waiting(sequence: sequence, event: event)
        }
    }

    /// Returns the number of events that a channel has not received yet.
    public func waitingCount(for channel: String) throws(StoreError) -> Int {
        Int(clamping: try database.number("SELECT count(*) FROM outbox WHERE channel = ?", [.text(channel)]) ?? 0)
    }

    /// Records a delivery.
    public func markDelivered(_ delivery: Delivery) throws(StoreError) {
        switch delivery {
        case .number(let sequence, let channel):
            try database.execute(
                "DELETE FROM outbox WHERE channel = ? AND seq = ?", [.text(channel), .integer(sequence)])
        case .id(let id, let channel):
            try database.execute(
                "DELETE FROM outbox WHERE channel = ? AND seq = (SELECT seq FROM event WHERE id = ?)",
                [.text(channel), .text(id)])
        case .through(let sequence, let channel):
            try database.execute(
                "DELETE FROM outbox WHERE channel = ? AND seq <= ?", [.text(channel), .integer(sequence)])
        }
    }

    // MARK: History

    /// The query for the sequence numbers of the events of a beacon, zone or room.
    static let ofName =
        "SELECT seq FROM event WHERE (beacon = ?1 OR zone = ?1 OR kind = 'room' "
        + "AND json_extract(json, '$.from') = ?1) AND coalesce(at, 0) BETWEEN ?2 AND ?3 ORDER BY seq"
    /// The query for all names of beacons, zones and rooms. It steps from name to name along the indexes, because
    /// reading all events of several years would take too long.
    static let allNames =
        "WITH RECURSIVE place(name) AS (SELECT min(zone) FROM event WHERE zone > '' UNION ALL SELECT (SELECT min(zone) "
        + "FROM event WHERE zone > place.name) FROM place WHERE place.name NOT NULL), "
        + "tag(name) AS (SELECT min(beacon) FROM event UNION ALL SELECT (SELECT min(beacon) FROM event "
        + "WHERE beacon > tag.name) FROM tag WHERE tag.name NOT NULL) SELECT name FROM place WHERE name NOT NULL "
        + "UNION SELECT name FROM tag WHERE name NOT NULL ORDER BY name"

    /// Returns the sequence numbers of the events of a beacon, a zone or a room, the oldest first. The events of a room
    /// include those in which a beacon left this room for another one.
    ///
    /// - Parameter range: The times in microseconds since 1970, both ends included.
    public func numbers(
        of name: String, _ range: ClosedRange<Int64> = .min ... .max
    ) throws(StoreError) -> [Int64] {
        try database.rows(
            Self.ofName, [.text(name), .integer(range.lowerBound), .integer(range.upperBound)]
        ) { $0.first?.integer }
    }

    /// Returns the events with these sequence numbers. Numbers without an event are skipped.
    public func events(_ numbers: some Sequence<Int64>) throws(StoreError) -> [Event] {
        var events: [Event] = []
        for number in numbers {
            events += try database.rows("SELECT \(Self.columns) FROM event WHERE seq = ?", [.integer(number)]) {
                Self.event($0[...])
            }
        }
        return events
    }

    /// Returns which receivers received a beacon in each minute, the oldest minute first.
    ///
    /// - Parameters:
    ///   - range: The times in microseconds since 1970, both ends included.
    ///   - limit: The largest number of elements. There is one element for each minute and receiver.
    public func minutes(
        of beacon: String, _ range: ClosedRange<Int64> = .min ... .max, limit: Int = .max
    ) throws(StoreError) -> [HeardMinute] {
        try SightingDatabase(database).minutes(of: beacon, range, limit: limit)
    }

    /// Returns the names of the beacons, zones and rooms that have events.
    public func names() throws(StoreError) -> [String] {
        try database.rows(Self.allNames) { $0.first?.text }
    }

    /// Returns the time of the newest event, in microseconds since 1970; `nil` if there is none.
    public func newestTime() throws(StoreError) -> Int64? { try database.number("SELECT max(at) FROM event") }
}
