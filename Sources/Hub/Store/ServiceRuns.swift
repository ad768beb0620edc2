/// A span of time in which a service did not run, in microseconds since 1970.
public struct ServicePause: Hashable, Sendable {
    public var start: Int64
    public var end: Int64

    /// Creates the pause from `start` to `end`.
    public init(start: Int64, end: Int64) { (self.start, self.end) = (start, end) }
}

/// A span of time in which a service ran, in microseconds since 1970.
struct ServiceRun: Hashable, Sendable {
    /// The age of a run's last record, in microseconds, from which the service counts as stopped. A running service
    /// records its run every ``ServiceRunWriter/interval``.
    private static let silence: Int64 = 60_000_000

    let start: Int64
    let end: Int64
    /// True if the service ended at ``end``. If false, ``end`` is the time at which the service last recorded the run.
    let isOver: Bool

    /// Returns the pauses between runs, the oldest first. If the service does not run at `now`, the last pause is the
    /// pause after the last run.
    ///
    /// - Parameters:
    ///   - runs: The runs, in the order of their starts. They may overlap when another collector becomes active for the
    ///     site.
    ///   - now: The present time, in microseconds since 1970.
    static func pauses(between runs: [ServiceRun], until now: Int64) -> [ServicePause] {
        guard var latest = runs.first else { return [] }
        var pauses: [ServicePause] = []
        for run in runs.dropFirst() {
            if run.start > latest.end { pauses.append(ServicePause(start: latest.end, end: run.start)) }
            if run.end >= latest.end { latest = run }
        }
        if now > latest.end, latest.isOver || now - latest.end > silence {
            pauses.append(ServicePause(start: latest.end, end: .max))
        }
        return pauses
    }
}

/// The recorded runs of the service that writes the database. A database of an older version has no runs.
extension EventStore {
    static let runTable =
        "CREATE TABLE IF NOT EXISTS run (begun INTEGER PRIMARY KEY, ended INTEGER NOT NULL, isOver INTEGER NOT NULL)"

    /// Records a run of the service. If the database has a run with this start, updates its end.
    func record(_ run: ServiceRun) throws(StoreError) {
        try database.execute(
            "INSERT INTO run (begun, ended, isOver) VALUES (?1, ?2, ?3) ON CONFLICT (begun) DO UPDATE SET "
                + "ended = max(ended, excluded.ended), isOver = excluded.isOver",
            [.integer(run.start), .integer(run.end), .integer(run.isOver ? 1 : 0)])
    }

    func pruneRuns(before time: Int64) throws(StoreError) {
        try database.execute("DELETE FROM run WHERE ended < ?", [.integer(time)])
    }

    /// Returns the pauses of the service since its first recorded run, the oldest first. The time before the first
    /// recorded run is not a pause, because older versions did not record runs.
    ///
    /// - Parameter now: The present time, in microseconds since 1970.
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

/// Decides when to write the run of a service to its database.
struct ServiceRunWriter {
    /// The time between two writes, in nanoseconds.
    static let interval: UInt64 = 10_000_000_000
    /// The change of the wall clock between two writes, in microseconds, from which a new run begins. Such a change
    /// means that the clock was set or the machine slept.
    private static let jump: Int64 = 60_000_000

    /// The start of the run, in microseconds since 1970; `nil` before the first call of ``extend(to:at:)``.
    private(set) var start: Int64?
    /// The end of the run so far, in microseconds since 1970.
    private(set) var end: Int64 = 0

    /// Returns the run so far; `nil` if ``extend(to:at:)`` was not called yet.
    ///
    /// - Parameter isOver: True if the run ends now.
    func run(isOver: Bool) -> ServiceRun? { start.map { ServiceRun(start: $0, end: end, isOver: isOver) } }

    /// The time of the next write, in nanoseconds.
    private var nextWrite: UInt64 = 0

    /// Extends the run to the present time, or begins a new run.
    ///
    /// - Parameters:
    ///   - time: The present wall-clock time, in microseconds since 1970.
    ///   - now: The present time of the monotonic clock, in nanoseconds.
    /// - Returns: True if the run must be written to the database now.
    mutating func extend(to time: Int64, at now: UInt64) -> Bool {
        guard start != nil, now < nextWrite || abs(time - end) < Self.jump else {
            // At the first call, and after a jump of the wall clock, a new run begins.
            (start, end, nextWrite) = (time, time, now + Self.interval)
            return true
        }
        guard now >= nextWrite else { return false }
        (end, nextWrite) = (max(end, time), now + Self.interval)
        return true
    }

    /// Extends the run to its end. If the wall clock has jumped forward, does nothing.
    mutating func finish(at time: Int64) { if time - end < Self.jump { end = max(end, time) } }
}
