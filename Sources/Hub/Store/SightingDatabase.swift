/// The reports of one beacon that one receiver received in one batch.
public struct SightingRow: Hashable, Sendable {
    public var receiver: String
    public var beacon: String
    /// The time in milliseconds since 1970.
    public var milliseconds: Int64
    public var reports: Int
    /// The level in dBm; `nil` if no report had a level.
    public var level: Double?
    /// The batch. A batch that arrives twice is counted once.
    public var batch: Batch
    /// True if it arrived too late for presence, and perhaps after later batches.
    public var isLate: Bool

    /// The number of a batch, unique for its receiver.
    public struct Batch: Hashable, Sendable {
        public var boot: String
        public var sequence: Int64

        /// Creates a number.
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
    /// The number of reports that arrived too late for presence.
    public var late: Int
    /// The mean level in dBm; `nil` if no report had a level.
    public var level: Double?

    /// Creates a minute.
    public init(receiver: String, milliseconds: Int64, reports: Int, late: Int, level: Double?) {
        self.receiver = receiver
        self.milliseconds = milliseconds
        self.reports = reports
        self.late = late
        self.level = level
    }
}

/// The batches of each receiver's runs that earlier processes have written, from the first to the last number.
struct TakenBatches {
    fileprivate struct Run: Hashable {
        let receiver: String
        let boot: String
    }

    fileprivate var earlier: [Run: [ClosedRange<Int64>]] = [:]
    /// The number of this process in the file.
    fileprivate var number: Int64 = 1

    fileprivate func holds(_ row: SightingRow) -> Bool {
        let ranges = earlier[Run(receiver: row.receiver, boot: row.batch.boot)]
        return ranges?.contains { $0.contains(row.batch.sequence) } ?? false
    }
}

/// The tables of sightings, in files that have them: one row for each beacon, receiver and minute.
struct SightingDatabase {
    private let database: Database

    private static let minute: Int64 = 60_000
    /// Levels are summed in thousandths of a decibel.
    private static let scale = 1000.0

    init(_ database: Database) { self.database = database }

    private func make() throws(StoreError) {
        try database.execute(
            "CREATE TABLE IF NOT EXISTS heard (beacon TEXT NOT NULL, minute INTEGER NOT NULL, receiver TEXT NOT NULL, "
                + "reports INTEGER NOT NULL, late INTEGER NOT NULL, levels INTEGER NOT NULL, level INTEGER NOT NULL, "
                + "PRIMARY KEY (beacon, minute, receiver)) WITHOUT ROWID")
        try database.execute(
            "CREATE TABLE IF NOT EXISTS late (receiver TEXT NOT NULL, boot TEXT NOT NULL, seq INTEGER NOT NULL, "
                + "beacon TEXT NOT NULL, at INTEGER NOT NULL, PRIMARY KEY (receiver, boot, seq, beacon)) WITHOUT ROWID")
        try database.execute(
            "CREATE TABLE IF NOT EXISTS taken (receiver TEXT NOT NULL, boot TEXT NOT NULL, process INTEGER NOT NULL, "
                + "first INTEGER NOT NULL, last INTEGER NOT NULL, at INTEGER NOT NULL, "
                + "PRIMARY KEY (receiver, boot, process)) WITHOUT ROWID")
    }

    private func taken() throws(StoreError) -> TakenBatches {
        var found = TakenBatches()
        try database.query("SELECT receiver, boot, process, first, last FROM taken") { row in
            guard row.count == 5, let receiver = row[0].text, let boot = row[1].text, let process = row[2].integer,
                let first = row[3].integer, let last = row[4].integer, first <= last
            else { return }
            found.earlier[.init(receiver: receiver, boot: boot), default: []].append(first...last)
            found.number = max(found.number, process + 1)
        }
        return found
    }

    private func note(_ row: SightingRow, of process: Int64) throws(StoreError) {
        try database.execute(
            "INSERT INTO taken (receiver, boot, process, first, last, at) VALUES (?1, ?2, ?3, ?4, ?4, ?5) "
                + "ON CONFLICT DO UPDATE SET first = min(first, excluded.first), last = max(last, excluded.last), "
                + "at = max(at, excluded.at)",
            [
                .text(row.receiver), .text(row.batch.boot), .integer(process), .integer(row.batch.sequence),
                .integer(row.milliseconds),
            ])
    }

    /// Returns true if the file has the tables.
    private func isThere() throws(StoreError) -> Bool {
        var count: Int64 = 0
        try database.query("SELECT count(*) FROM sqlite_master WHERE name IN ('heard', 'late')") {
            count = $0.first?.integer ?? 0
        }
        return count == 2
    }

    /// Adds rows.
    ///
    /// - Parameter known: The batches of earlier processes, which are read once.
    func add(_ rows: [SightingRow], _ known: inout TakenBatches?) throws(StoreError) {
        guard !rows.isEmpty else { return }
        try make()
        if known == nil { known = try taken() }
        guard let taken = known else { return }
        var noted: SightingRow?
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
                // An earlier process has already stored this row.
                if taken.holds(row) { continue }
                // The rows of a batch follow each other.
                if noted?.batch != row.batch || noted?.receiver != row.receiver { try note(row, of: taken.number) }
                noted = row
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
    }

    func minutes(
        of beacon: String, _ range: ClosedRange<Int64>, _ each: (HeardMinute) -> Void
    ) throws(StoreError) {
        guard try isThere() else { return }
        try database.query(
            "SELECT receiver, minute, reports, late, levels, level FROM heard WHERE beacon = ? AND minute BETWEEN ? AND ? "
                + "ORDER BY minute, receiver",
            [
                .text(beacon), .integer(range.lowerBound == .min ? .min : range.lowerBound / 1000 - Self.minute + 1),
                .integer(range.upperBound / 1000),
            ]
        ) { row in
            guard row.count == 6, let receiver = row[0].text, let minute = row[1].integer,
                let reports = row[2].integer, let late = row[3].integer, let levels = row[4].integer,
                let level = row[5].integer
            else { return }
            each(
                HeardMinute(
                    receiver: receiver, milliseconds: minute, reports: Int(clamping: reports),
                    late: Int(clamping: late), level: levels > 0 ? Double(level) / Double(levels) / Self.scale : nil))
        }
    }

    func prune(before time: Int64) throws(StoreError) {
        guard try isThere() else { return }
        // Steps from beacon to beacon along the key, so that a query for an hour does not read the minutes of a year.
        try database.execute(
            "WITH RECURSIVE name(beacon) AS (SELECT min(beacon) FROM heard UNION ALL SELECT (SELECT min(beacon) FROM heard "
                + "WHERE heard.beacon > name.beacon) FROM name WHERE beacon NOT NULL) "
                + "DELETE FROM heard WHERE beacon IN (SELECT beacon FROM name) AND minute < ?",
            [.integer(time / 1000 - Self.minute)])
        try database.execute("DELETE FROM late WHERE at < ?", [.integer(time / 1000)])
        try make()
        try database.execute("DELETE FROM taken WHERE at < ?", [.integer(time / 1000)])
    }
}
