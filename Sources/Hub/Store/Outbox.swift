public import LinuxHost

/// A queue of messages for a receiver, which is a broker or a database, the oldest message first.
///
/// The messages are stored in an SQLite file, so that they survive a restart. While the file cannot be written, new
/// messages wait in memory. After a power failure, the messages of the last few seconds may be missing. The owner must
/// remove a message when the receiver has it. Until then, ``first(_:)`` returns the message again.
///
/// If the wall clock is set, the times of all messages since the start of the machine are changed by the same amount.
/// So the age of a message is always the time for which it has waited.
public final class Outbox {
    /// A message for the receiver.
    public struct Message: Hashable, Sendable {
        public var topic: String
        public var text: String
        /// The time at which the message was appended, in microseconds since 1970.
        public var time: Int64

        /// Creates a message.
        ///
        /// - Parameter time: The time at which the message was appended, in microseconds since 1970.
        public init(topic: String, text: String, time: Int64) {
            self.topic = topic
            self.text = text
            self.time = time
        }

        fileprivate var byteCount: Int { topic.utf8.count + text.utf8.count }
    }

    /// A message with its number in the outbox.
    public struct Waiting: Hashable, Sendable {
        /// The number of the message: positive if it is in the file, negative if it is in memory.
        public var number: Int64
        public var message: Message
    }

    /// The capacity of an outbox. If it is exceeded, the oldest messages are dropped.
    public struct Limits: Hashable, Sendable {
        /// The largest size of the topics and texts in the file, in bytes.
        public var fileBytes = 100_000_000
        /// The largest size of the topics and texts in memory, in bytes.
        public var memoryBytes = 1 << 20
        /// The largest age of messages in the file, in microseconds.
        public var age: Int64 = 7 * 86_400_000_000

        /// Creates the default limits: 100 MB and seven days in the file, and 1 MiB in memory.
        public init() {}
    }

    /// SQLite's application id: the letters `PHRM`.
    static let application: Int32 = 0x5048_524D
    static let version: Int32 = 1
    private static let tables = """
        CREATE TABLE message (seq INTEGER PRIMARY KEY AUTOINCREMENT, at INTEGER NOT NULL, topic TEXT NOT NULL,
            text TEXT NOT NULL);
        """
    /// The number of oldest messages that are dropped at a time if the file is full.
    private static let droppedAtATime: Int64 = 100

    /// The longest wait while another process has locked the file, in milliseconds.
    private static let lockMilliseconds = 50
    /// The pause before the next attempt if the file was locked, in nanoseconds.
    private static let pause: UInt64 = 1_000_000_000

    /// The number of messages that were dropped since the outbox was created.
    public private(set) var dropped = 0
    private let path: String
    /// The word for the messages in notices, such as `sightings`.
    private let contents: String
    private let limits: Limits
    private var database: Database?
    /// The number of messages in the file.
    private var fileCount = 0
    /// The size of the topics and texts in the file, in bytes.
    private var fileBytes = 0
    /// The numbers of the messages that were removed because the receiver has them, but are still in the file.
    private var removedNumbers: Set<Int64> = []
    /// The messages in memory, the oldest first.
    private var memory: [Waiting] = []
    /// The size of the topics and texts in memory, in bytes.
    private var memoryBytes = 0
    /// The number of the newest message in memory.
    private var lastMemoryNumber: Int64 = 0
    private var clock: WallClockSteps
    /// The correction that the times in the file still need, because the wall clock was set; `nil` if the times are
    /// right. `step` is the sum of the clock's steps in microseconds. Only times from `start` on are corrected: the
    /// start of the machine by the clock before these steps, in microseconds since 1970.
    private var pendingCorrection: (step: Int64, start: Int64)?
    private var failure = FailureReport()
    /// After the file was locked, the earliest time of the next attempt to use it, in nanoseconds.
    private var nextTry: UInt64 = 0

    /// Creates an outbox. ``open()`` or the first ``append(_:at:)`` opens its file.
    ///
    /// - Parameters:
    ///   - path: The path of the SQLite file, which is created if it is missing.
    ///   - contents: The word for the messages in notices, such as `sightings`.
    ///   - reading: The present time of the clocks.
    public init(
        path: String, of contents: String, limits: Limits = Limits(), at reading: WallClockSteps.Reading = .now()
    ) {
        clock = WallClockSteps(reading)
        self.path = path
        self.contents = contents
        self.limits = limits
    }

    /// The number of messages that wait.
    public var count: Int { max(0, fileCount - removedNumbers.count) + memory.count }
    /// The number of messages that wait in memory. They are lost if the process ends.
    public var countInMemory: Int { memory.count }
    /// The size of the topics and texts of the messages that wait, in bytes.
    public var byteCount: Int { fileBytes + memoryBytes }

    /// Returns new notices for the operator, for example that the file cannot be written, or can be written again.
    public func takeNotices() -> [Notice] { failure.takeNotices() }

    /// Opens the file, and counts the messages of an earlier run.
    public func open() { attempt { () throws(StoreError) in try openFile() } }

    private func openFile() throws(StoreError) {
        guard database == nil else { return }
        let opened = try Database(
            path: path, application: Self.application, version: Self.version, setUp: Self.tables,
            waiting: Self.lockMilliseconds)
        // Messages arrive every second. With FULL, SQLite would flush each of them to the disk, which wears out the
        // disk.
        try opened.execute("PRAGMA synchronous = NORMAL")
        database = opened
        (fileCount, fileBytes) = try sum(opened, "?1 = ?1", 0)
    }

    /// Adds messages at the end of the queue.
    ///
    /// - Parameter reading: The present time of the clocks.
    public func append(_ messages: [Message], at reading: WallClockSteps.Reading = .now()) {
        let step = follow(reading)
        for var message in messages {
            lastMemoryNumber -= 1
            // The message's time may have been read before the clock was set. If the corrected time is nearer to the
            // present, use that time.
            let corrected = message.time &+ step
            if abs(reading.wall &- corrected) < abs(reading.wall &- message.time) { message.time = corrected }
            memory.append(Waiting(number: lastMemoryNumber, message: message))
            memoryBytes += message.byteCount
        }
        guard !memory.isEmpty else { return }
        let isWritten = attempt { () throws(StoreError) in
            try openFile()
            if let database { try write(to: database) }
        }
        if isWritten { failure.end("\(path): \(contents) are written to this file again") }
        while memoryBytes > limits.memoryBytes, !memory.isEmpty {
            memoryBytes -= memory.removeFirst().message.byteCount
            dropped += 1
        }
    }

    /// Corrects the times of the messages in memory if the wall clock was set.
    ///
    /// - Returns: The change of the wall clock, in microseconds; 0 if the clock was not set.
    private func follow(_ reading: WallClockSteps.Reading) -> Int64 {
        let start = clock.last.start
        guard let step = clock.step(until: reading) else { return 0 }
        for index in memory.indices { memory[index].message.time &+= step }
        pendingCorrection = ((pendingCorrection?.step ?? 0) + step, pendingCorrection?.start ?? start)
        return step
    }

    private func write(to database: Database) throws(StoreError) {
        try database.transaction { () throws(StoreError) in
            if let pendingCorrection {
                try database.execute(
                    "UPDATE message SET at = at + ? WHERE at >= ?",
                    [.integer(pendingCorrection.step), .integer(pendingCorrection.start)])
            }
            for message in memory.map(\.message) {
                try database.execute(
                    "INSERT INTO message (at, topic, text) VALUES (?, ?, ?)",
                    [.integer(message.time), .text(message.topic), .text(message.text)])
            }
        }
        pendingCorrection = nil
        let newest = memory.map(\.message.time).max() ?? 0
        fileCount += memory.count
        fileBytes += memoryBytes
        (memory, memoryBytes) = ([], 0)
        while fileBytes > limits.fileBytes, fileCount > 0 {
            try drop(database, "seq < (SELECT min(seq) + ?1 FROM message)", Self.droppedAtATime)
        }
        try drop(database, "at < ?1", newest - limits.age)
    }

    private func drop(_ database: Database, _ condition: String, _ value: Int64) throws(StoreError) {
        let (rows, size) = try sum(database, condition, value)
        guard rows > 0 else { return }
        try database.execute("DELETE FROM message WHERE \(condition)", [.integer(value)])
        (fileCount, fileBytes, dropped) = (fileCount - rows, fileBytes - size, dropped + rows)
    }

    /// Returns the number of messages in the file that meet a condition, and the total size of their topics and texts
    /// in bytes.
    private func sum(_ database: Database, _ condition: String, _ value: Int64) throws(StoreError) -> (Int, Int) {
        var countAndSize = (0, 0)
        try database.query(
            "SELECT count(*), coalesce(sum(length(CAST(topic AS BLOB)) + length(CAST(text AS BLOB))), 0) "
                + "FROM message WHERE \(condition)", [.integer(value)]
        ) { row in countAndSize = (Int(clamping: row.first?.integer ?? 0), Int(clamping: row.last?.integer ?? 0)) }
        return countAndSize
    }

    /// Returns the oldest messages, at most `limit` of them. Messages in memory are returned only if the file has none.
    public func first(_ limit: Int) -> [Waiting] {
        var messages: [Waiting] = []
        if let database, fileCount > removedNumbers.count {
            attempt { () throws(StoreError) in
                try database.query(
                    "SELECT seq, at, topic, text FROM message ORDER BY seq LIMIT ?",
                    [.integer(Int64(limit + removedNumbers.count))]
                ) { row in
                    guard row.count == 4, let number = row[0].integer, let time = row[1].integer,
                        let topic = row[2].text, let text = row[3].text, !removedNumbers.contains(number),
                        messages.count < limit
                    else { return }
                    messages.append(Waiting(number: number, message: Message(topic: topic, text: text, time: time)))
                }
            }
        }
        return messages.isEmpty ? Array(memory.prefix(limit)) : messages
    }

    /// Removes messages that the receiver has. While the file cannot be written, the removed messages stay in the file
    /// but are not returned.
    public func remove(_ messages: [Waiting]) {
        let numbers = Set(messages.map(\.number))
        memory.removeAll { numbers.contains($0.number) }
        memoryBytes = memory.reduce(0) { $0 + $1.message.byteCount }
        removedNumbers.formUnion(numbers.filter { $0 > 0 })
        guard let database, !removedNumbers.isEmpty else { return }
        attempt { () throws(StoreError) in
            try database.transaction { () throws(StoreError) in
                for number in removedNumbers {
                    try database.execute("DELETE FROM message WHERE seq = ?", [.integer(number)])
                }
            }
            removedNumbers = []
            (fileCount, fileBytes) = try sum(database, "?1 = ?1", 0)
        }
    }

    @discardableResult
    private func attempt(_ body: () throws(StoreError) -> Void) -> Bool {
        guard MonotonicClock.nanoseconds() >= nextTry else { return false }
        do throws(StoreError) {
            try body()
            return true
        } catch {
            if error.kind == .busy { nextTry = MonotonicClock.nanoseconds() + Self.pause }
            failure.begin("\(error); \(contents) wait in memory")
            return false
        }
    }
}
