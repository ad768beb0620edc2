/// Messages that wait for somebody who is away, oldest first, in a file of their own.
///
/// The newest few may be forgotten when the power goes; nothing else is.
public final class MessageSpool {
    /// Something to be told.
    public struct Message: Hashable, Sendable {
        public var topic: String
        public var text: String
        /// When it came, in microseconds since 1970.
        public var time: Int64

        /// See the properties of the same names.
        public init(topic: String, text: String, time: Int64) {
            self.topic = topic
            self.text = text
            self.time = time
        }
    }

    /// One that waits, with its number.
    public struct Waiting: Hashable, Sendable {
        public var number: Int64
        public var message: Message
    }

    /// `PHRM`.
    static let application: Int32 = 0x5048_524D
    static let version: Int32 = 1
    private static let tables = """
        CREATE TABLE message (seq INTEGER PRIMARY KEY AUTOINCREMENT, at INTEGER NOT NULL, topic TEXT NOT NULL,
            text TEXT NOT NULL);
        """
    /// So many of the oldest are given up at a time.
    private static let step: Int64 = 100

    private let database: Database
    private let octetLimit: Int
    private let timeLimit: Int64
    /// How many wait, and their topics and texts in octets.
    public private(set) var count = 0
    public private(set) var octets = 0
    /// Those that were given up since the file was opened.
    public private(set) var dropped = 0

    /// Opens the file, and makes it where it is missing.
    ///
    /// - Parameters:
    ///   - octetLimit: More than that do not wait: the oldest go.
    ///   - timeLimit: In microseconds; older ones go.
    public init(path: String, octetLimit: Int, timeLimit: Int64) throws(StoreError) {
        database = try Database(
            path: path, application: Self.application, version: Self.version, setUp: Self.tables)
        self.octetLimit = octetLimit
        self.timeLimit = timeLimit
        // Once a second, for days perhaps: a disk need not be waited for each time.
        try database.execute("PRAGMA synchronous = NORMAL")
        (count, octets) = try sum("?1 = ?1", 0)
    }

    /// Puts messages behind all others.
    public func append(_ messages: [Message]) throws(StoreError) {
        guard let newest = messages.map(\.time).max() else { return }
        try database.transaction { () throws(StoreError) in
            for message in messages {
                try database.execute(
                    "INSERT INTO message (at, topic, text) VALUES (?, ?, ?)",
                    [.integer(message.time), .text(message.topic), .text(message.text)])
            }
        }
        count += messages.count
        octets += messages.reduce(0) { $0 + $1.topic.utf8.count + $1.text.utf8.count }
        while octets > octetLimit, count > 0 {
            try drop("seq < (SELECT min(seq) + ?1 FROM message)", Self.step)
        }
        try drop("at < ?1", newest - timeLimit)
    }

    private func drop(_ condition: String, _ value: Int64) throws(StoreError) {
        let (rows, size) = try sum(condition, value)
        guard rows > 0 else { return }
        try database.execute("DELETE FROM message WHERE \(condition)", [.integer(value)])
        (count, octets, dropped) = (count - rows, octets - size, dropped + rows)
    }

    /// How many messages there are of some kind, and their octets.
    private func sum(_ condition: String, _ value: Int64) throws(StoreError) -> (Int, Int) {
        var found = (0, 0)
        try database.query(
            "SELECT count(*), coalesce(sum(length(CAST(topic AS BLOB)) + length(CAST(text AS BLOB))), 0) "
                + "FROM message WHERE \(condition)", [.integer(value)]
        ) { row in found = (Int(clamping: row.first?.integer ?? 0), Int(clamping: row.last?.integer ?? 0)) }
        return found
    }

    /// The oldest.
    public func first(_ limit: Int) throws(StoreError) -> [Waiting] {
        var found: [Waiting] = []
        try database.query(
            "SELECT seq, at, topic, text FROM message ORDER BY seq LIMIT ?", [.integer(Int64(limit))]
        ) { row in
            guard row.count == 4, let number = row[0].integer, let time = row[1].integer, let topic = row[2].text,
                let text = row[3].text
            else { return }
            found.append(Waiting(number: number, message: Message(topic: topic, text: text, time: time)))
        }
        return found
    }

    /// These have been told.
    public func remove(_ messages: [Waiting]) throws(StoreError) {
        try database.transaction { () throws(StoreError) in
            for each in messages {
                try database.execute("DELETE FROM message WHERE seq = ?", [.integer(each.number)])
                guard database.changes == 1 else { continue }
                count -= 1
                octets -= each.message.topic.utf8.count + each.message.text.utf8.count
            }
        }
    }
}
