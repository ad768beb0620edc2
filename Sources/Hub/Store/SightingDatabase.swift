/// The reports of one beacon that one receiver received in one batch of sightings.
public struct SightingRow: Hashable, Sendable {
    public var receiver: String
    public var beacon: String
    /// The time in milliseconds since 1970.
    public var milliseconds: Int64
    public var reports: Int
    /// The level in dBm; `nil` if no report had a level.
    public var level: Double?
    /// The batch with which the reports arrived. A batch that arrives twice is counted once.
    public var batch: Batch
    /// True if the batch arrived too late to change the presence of beacons, possibly after later batches.
    public var isLate: Bool

    /// Identifies a batch of a receiver.
    public struct Batch: Hashable, Sendable {
        /// The unique identifier of the run of the receiver.
        public var boot: String
        /// The number of the batch in that run.
        public var sequence: Int64

        /// Creates the identifier of a batch.
        public init(boot: String, sequence: Int64) {
            self.boot = boot
            self.sequence = sequence
        }
    }

    /// Creates a row.
    public init(
        receiver: String, beacon: String, milliseconds: Int64, reports: Int, level: Double?, batch: Batch,
        isLate: Bool = false
    ) {
        self.receiver = receiver
        self.beacon = beacon
        self.milliseconds = milliseconds
        self.reports = reports
        self.level = level
        self.batch = batch
        self.isLate = isLate
    }
}

/// The reports of a beacon that a receiver received in one minute.
public struct HeardMinute: Hashable, Sendable {
    public var receiver: String
    /// The start of the minute, in milliseconds since 1970.
    public var milliseconds: Int64
    public var reports: Int
    /// The number of reports that arrived too late to change the presence of the beacon.
    public var late: Int
    /// The mean level in dBm; `nil` if no report had a level.
    public var level: Double?
}

/// The numbers of the batches that have been written to the file, in blocks of 4096 numbers. With them, a process does
/// not write a batch again that an earlier process has written.
struct WrittenBatches {
    /// A block of 4096 successive batch numbers of one run of a receiver.
    fileprivate struct Block: Hashable {
        let receiver: String
        let boot: String
        let index: Int64

        init(_ row: SightingRow) {
            receiver = row.receiver
            boot = row.batch.boot
            index = row.batch.sequence >> 12
        }

        /// Returns the position of a row's batch number in its block, 0...4095.
        static func position(_ row: SightingRow) -> Int { Int(row.batch.sequence & 0xFFF) }
    }

    /// The numbers of a block that have been written.
    fileprivate struct Numbers {
        /// The numbers that were in the file when this process read the block. Earlier processes have written these
        /// batches.
        let earlier: NumberRanges
        /// The numbers that earlier processes or this process have written.
        var all: NumberRanges
        /// The time of the newest batch of the block, in milliseconds since 1970.
        var time: Int64
    }

    fileprivate var blocks: [Block: Numbers] = [:]
    /// The blocks with numbers that are not in the file yet.
    fileprivate var changedBlocks: Set<Block> = []
    /// The largest number of blocks that are kept in memory.
    private static let limit = 20_000

    /// Marks the changed blocks as written. Must be called after the transaction that wrote them.
    mutating func markWritten() {
        changedBlocks = []
        if blocks.count > Self.limit { blocks = [:] }
    }
}

/// A set of numbers from 0 to 4095, stored as ascending ranges, and written as text such as `3-17,20`.
struct NumberRanges: Hashable, Sendable {
    private var ranges: [ClosedRange<Int>] = []

    /// Creates an empty set.
    init() {}

    /// Reads the set from a text. Parts that are not numbers or ranges of numbers from 0 to 4095 are ignored.
    init(_ text: String) {
        for part in text.split(separator: ",") {
            let ends = part.split(separator: "-").compactMap { Int($0) }
            guard let first = ends.first, let last = ends.last, first <= last, last < 4096 else { continue }
            for number in first...last { insert(number) }
        }
    }

    var text: String {
        ranges.map { $0.count == 1 ? "\($0.lowerBound)" : "\($0.lowerBound)-\($0.upperBound)" }.joined(separator: ",")
    }

    /// Returns the index of the first range that ends at or after a number.
    private func rangeIndex(_ number: Int) -> Int {
        var (low, high) = (0, ranges.count)
        while low < high {
            let middle = (low + high) / 2
            if ranges[middle].upperBound < number { low = middle + 1 } else { high = middle }
        }
        return low
    }

    func contains(_ number: Int) -> Bool {
        let index = rangeIndex(number)
        return index < ranges.count && ranges[index].contains(number)
    }

    mutating func insert(_ number: Int) {
        let index = rangeIndex(number)
        guard index == ranges.count || !ranges[index].contains(number) else { return }
        let joinsLower = index > 0 && ranges[index - 1].upperBound == number - 1
        let joinsUpper = index < ranges.count && ranges[index].lowerBound == number + 1
        switch (joinsLower, joinsUpper) {
        case (true, true):
            ranges[index - 1] = ranges[index - 1].lowerBound...ranges[index].upperBound
            ranges.remove(at: index)
        case (true, false): ranges[index - 1] = ranges[index - 1].lowerBound...number
        case (false, true): ranges[index] = number...ranges[index].upperBound
        case (false, false): ranges.insert(number...number, at: index)
        }
    }
}

/// The tables of sightings in an ``EventStore`` file: one row for each beacon, receiver and minute. They are created
/// when the first sightings are added.
struct SightingDatabase {
    private let database: Database

    /// One minute in milliseconds.
    private static let minute: Int64 = 60_000
    /// The number of units in a decibel. Sums of levels are in thousandths of a decibel.
    private static let scale = 1000.0

    init(_ database: Database) { self.database = database }

    /// Creates the tables if they are missing.
    private func make() throws(StoreError) {
        try database.execute(
            "CREATE TABLE IF NOT EXISTS heard (beacon TEXT NOT NULL, minute INTEGER NOT NULL, receiver TEXT NOT NULL, "
                + "reports INTEGER NOT NULL, late INTEGER NOT NULL, levels INTEGER NOT NULL, level INTEGER NOT NULL, "
                + "PRIMARY KEY (beacon, minute, receiver)) WITHOUT ROWID")
        try database.execute(
            "CREATE TABLE IF NOT EXISTS late (receiver TEXT NOT NULL, boot TEXT NOT NULL, seq INTEGER NOT NULL, "
                + "beacon TEXT NOT NULL, at INTEGER NOT NULL, PRIMARY KEY (receiver, boot, seq, beacon)) WITHOUT ROWID")
        try database.execute(
            "CREATE TABLE IF NOT EXISTS batches (receiver TEXT NOT NULL, boot TEXT NOT NULL, block INTEGER NOT NULL, "
                + "numbers TEXT NOT NULL, at INTEGER NOT NULL, PRIMARY KEY (receiver, boot, block)) WITHOUT ROWID")
        // Earlier versions stored only the range from the first to the last number, including numbers that never
        // arrived.
        try database.execute("DROP TABLE IF EXISTS taken")
    }

    /// Reads the numbers of a block from the file.
    private func numbers(_ block: WrittenBatches.Block) throws(StoreError) -> WrittenBatches.Numbers {
        var ranges = NumberRanges()
        var time: Int64 = 0
        try database.query(
            "SELECT numbers, at FROM batches WHERE receiver = ? AND boot = ? AND block = ?",
            [.text(block.receiver), .text(block.boot), .integer(block.index)]
        ) { row in
            ranges = NumberRanges(row.first?.text ?? "")
            time = row.last?.integer ?? 0
        }
        return WrittenBatches.Numbers(earlier: ranges, all: ranges, time: time)
    }

    /// Adds the batch of a row to the written batches.
    ///
    /// - Returns: False if an earlier process has already written the batch.
    private func note(_ row: SightingRow, _ written: inout WrittenBatches) throws(StoreError) -> Bool {
        let block = WrittenBatches.Block(row)
        var numbers: WrittenBatches.Numbers
        if let kept = written.blocks[block] { numbers = kept } else { numbers = try self.numbers(block) }
        let isNew = !numbers.earlier.contains(WrittenBatches.Block.position(row))
        if isNew {
            numbers.all.insert(WrittenBatches.Block.position(row))
            numbers.time = max(numbers.time, row.milliseconds)
            written.changedBlocks.insert(block)
        }
        written.blocks[block] = numbers
        return isNew
    }

    private func write(_ written: WrittenBatches) throws(StoreError) {
        for block in written.changedBlocks {
            guard let numbers = written.blocks[block] else { continue }
            try database.execute(
                "INSERT OR REPLACE INTO batches (receiver, boot, block, numbers, at) VALUES (?, ?, ?, ?, ?)",
                [
                    .text(block.receiver), .text(block.boot), .integer(block.index), .text(numbers.all.text),
                    .integer(numbers.time),
                ])
        }
    }

    /// Returns true if the file has the tables of sightings.
    private func hasTables() throws(StoreError) -> Bool {
        try database.number("SELECT count(*) FROM sqlite_master WHERE name IN ('heard', 'late')") == 2
    }

    /// Adds rows to the tables. Rows of batches that an earlier process has already written are left out.
    func add(_ rows: [SightingRow], _ written: inout WrittenBatches) throws(StoreError) {
        guard !rows.isEmpty else { return }
        try make()
        var noted: (row: SightingRow, isNew: Bool)?
        for row in rows {
            if row.isLate {
                try database.execute(
                    "INSERT OR IGNORE INTO late (receiver, boot, seq, beacon, at) VALUES (?, ?, ?, ?, ?)",
                    [
                        .text(row.receiver), .text(row.batch.boot), .integer(row.batch.sequence), .text(row.beacon),
                        .integer(row.milliseconds),
                    ])
                guard database.changes == 1 else { continue }
            } else {
                // The rows of a batch follow each other, so only the first row of a batch adds it to the written
                // batches.
                if noted?.row.batch != row.batch || noted?.row.receiver != row.receiver {
                    noted = (row, try note(row, &written))
                }
                if noted?.isNew == false { continue }
            }
            let (reports, isLate) = (Int64(row.reports), row.isLate)
            let minute = row.milliseconds - (row.milliseconds % Self.minute + Self.minute) % Self.minute
            try database.execute(
                "INSERT INTO heard (beacon, minute, receiver, reports, late, levels, level) VALUES (?, ?, ?, ?, ?, ?, ?) "
                    + "ON CONFLICT DO UPDATE SET reports = reports + excluded.reports, late = late + excluded.late, "
                    + "levels = levels + excluded.levels, level = level + excluded.level",
                [
                    .text(row.beacon), .integer(minute), .text(row.receiver), .integer(reports),
                    .integer(isLate ? reports : 0), .integer(row.level == nil ? 0 : reports),
                    .integer(row.level.map { Int64(($0 * Self.scale).rounded()) * reports } ?? 0),
                ])
        }
        try write(written)
    }

    func minutes(
        of beacon: String, _ range: ClosedRange<Int64>, limit: Int
    ) throws(StoreError) -> [HeardMinute] {
        guard try hasTables() else { return [] }
        return try database.rows(
            "SELECT receiver, minute, reports, late, levels, level FROM heard WHERE beacon = ? AND minute BETWEEN ? AND ? "
                + "ORDER BY minute, receiver LIMIT ?",
            [
                .text(beacon), .integer(range.lowerBound == .min ? .min : range.lowerBound / 1000 - Self.minute + 1),
                .integer(range.upperBound / 1000), .integer(Int64(limit)),
            ]
        ) { row in
            guard row.count == 6, let receiver = row[0].text, let minute = row[1].integer,
                let reports = row[2].integer, let late = row[3].integer, let levels = row[4].integer,
                let level = row[5].integer
            else { return nil }
            return HeardMinute(
                receiver: receiver, milliseconds: minute, reports: Int(clamping: reports),
                late: Int(clamping: late), level: levels > 0 ? Double(level) / Double(levels) / Self.scale : nil)
        }
    }

    func prune(before time: Int64) throws(StoreError) {
        guard try hasTables() else { return }
        // Steps from beacon to beacon along the primary key, so that deleting the rows of an hour does not read the
        // rows of a year.
        try database.execute(
            "WITH RECURSIVE name(beacon) AS (SELECT min(beacon) FROM heard UNION ALL SELECT (SELECT min(beacon) FROM heard "
                + "WHERE heard.beacon > name.beacon) FROM name WHERE beacon NOT NULL) "
                + "DELETE FROM heard WHERE beacon IN (SELECT beacon FROM name) AND minute < ?",
            [.integer(time / 1000 - Self.minute)])
        try database.execute("DELETE FROM late WHERE at < ?", [.integer(time / 1000)])
        try make()
        try database.execute("DELETE FROM batches WHERE at < ?", [.integer(time / 1000)])
    }
}
