/// A time in which the service of a database did not run, in microseconds since 1970.
public struct ServicePause: Hashable, Sendable {
    public var start: Int64
    public var end: Int64

    /// The time from `start` to `end`.
    public init(start: Int64, end: Int64) { (self.start, self.end) = (start, end) }
}

/// A time in which a service ran, in microseconds since 1970.
struct ServiceRun: Hashable, Sendable {
    /// The time without a write after which the service does not run, in microseconds. A running service writes at least
    /// every ``ServiceRunWriter/interval``.
    private static let silence: Int64 = 60_000_000

    let start: Int64
    let end: Int64
    /// True if the service ended at ``end``. Otherwise ``end`` is the time of its last write.
    let isOver: Bool

    /// The times between the first of some runs and `now` in which none of them ran, the oldest first.
    ///
    /// - Parameters:
    ///   - runs: In the order of their starts. They may overlap, because another collector of a site may take over.
    ///   - now: Microseconds since 1970.
    static func pauses(between runs: [ServiceRun], until now: Int64) -> [ServicePause] {
        guard var last = runs.first else { return [] }
        var pauses: [ServicePause] = []
        for run in runs.dropFirst() {
            if run.start > last.end { pauses.append(ServicePause(start: last.end, end: run.start)) }
            if run.end >= last.end { last = run }
        }
        if now > last.end, last.isOver || now - last.end > silence {
            pauses.append(ServicePause(start: last.end, end: .max))
        }
        return pauses
    }
}

/// The times in which the service of a database ran. An older database has none.
extension EventStore {
    static let runTable =
        "CREATE TABLE IF NOT EXISTS run (begun INTEGER PRIMARY KEY, ended INTEGER NOT NULL, isOver INTEGER NOT NULL)"

    /// Records a run of the service, or the new end of a run that is known by its start.
    func record(_ run: ServiceRun) throws(StoreError) {
        try database.execute(
            "INSERT INTO run (begun, ended, isOver) VALUES (?1, ?2, ?3) ON CONFLICT (begun) DO UPDATE SET "
                + "ended = max(ended, excluded.ended), isOver = excluded.isOver",
            [.integer(run.start), .integer(run.end), .integer(run.isOver ? 1 : 0)])
    }

    func pruneRuns(before time: Int64) throws(StoreError) {
        try database.execute("DELETE FROM run WHERE ended < ?", [.integer(time)])
    }

    /// The times between the first run and `now` in which the service did not run, the oldest first. The first
    /// version of the service recorded no runs; the time of its events is no pause.
    ///
    /// - Parameter now: Microseconds since 1970.
    public func pauses(until now: Int64) throws(StoreError) -> [ServicePause] {
        guard try database.number("SELECT count(*) FROM sqlite_master WHERE name = 'run'", []) ?? 0 > 0 else {
            return []
        }
        let runs: [ServiceRun] = try database.rows(
            "SELECT begun, ended, isOver FROM run ORDER BY begun"
        ) { row in
            guard row.count == 3, let start = row[0].integer, let end = row[1].integer else { return nil }
            return ServiceRun(start: start, end: end, isOver: row[2].integer == 1)
        }
        return ServiceRun.pauses(between: runs, until: now)
    }
}

/// Decides when the run of a service is written to its database.
struct ServiceRunWriter {
    /// The time between two writes, in nanoseconds.
    static let interval: UInt64 = 10_000_000_000
    /// The advance of the wall clock, in microseconds, after which a new run begins: the clock was set, or the machine
    /// slept.
    private static let jump: Int64 = 60_000_000

    /// The start and the end of the run so far, in microseconds since 1970.
    private(set) var start: Int64?
    private(set) var end: Int64 = 0

    /// The run so far; `nil` before the first time.
    ///
    /// - Parameter isOver: True if it ends now.
    func run(isOver: Bool) -> ServiceRun? { start.map { ServiceRun(start: $0, end: end, isOver: isOver) } }

    /// The time of the next write, in nanoseconds.
    private var nextWrite: UInt64 = 0

    /// Takes the present time.
    ///
    /// - Parameters:
    ///   - time: Microseconds since 1970.
    ///   - now: The monotonic clock in nanoseconds.
    /// - Returns: true if the run must be written.
    mutating func takes(_ time: Int64, at now: UInt64) -> Bool {
        guard start != nil, now < nextWrite || abs(time - end) < Self.jump else {
            // The first time, and after a jump.
            (start, end, nextWrite) = (time, time, now + Self.interval)
            return true
        }
        guard now >= nextWrite else { return false }
        (end, nextWrite) = (max(end, time), now + Self.interval)
        return true
    }

    /// Takes the time of the end of the run.
    mutating func ends(at time: Int64) { if time - end < Self.jump { end = max(end, time) } }
}
