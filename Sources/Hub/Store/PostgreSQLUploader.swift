public import LinuxHost

extension EventLedger {
    /// The name of the ledger's channel for the site's PostgreSQL database.
    public static let postgreSQL = "postgresql"
}

/// Writes a collector's events, sightings and runs to PostgreSQL. A run is a time in which the collector ran. Also
/// takes the site's lock in the database. Only the collector that holds this lock is active.
///
/// Events wait in the collector's ``EventLedger`` until the database has them. Sightings and runs wait in an
/// ``Outbox``. Without a ledger, events wait in the outbox too. A separate thread uses the database, so only
/// ``finish(isHurried:)`` waits for the database. The owner must call ``poll()`` at least once a second.
public final class PostgreSQLUploader {
    /// The state of the site's lock. Of several collectors of a site, only the collector that holds the lock is active.
    public enum SiteLock: Hashable, Sendable {
        /// The database has not answered yet.
        case undecided
        /// The database does not answer. The collector continues, so that no data is missing.
        case unreachable
        /// This collector holds the lock and is active.
        case held
        /// Another collector has the lock. This collector is on standby.
        case heldByAnother
    }

    private enum Job: Sendable {
        case lock
        case write([PostgreSQLRow])
    }

    private enum Answer: Sendable {
        /// This collector holds the lock. If it has just taken the lock, the answer contains the beacons that are
        /// present at the site.
        case locked(PostgreSQLPresence?)
        case lockedByAnother
        /// The rows are written, except for those that the database refused, each with its error.
        case written(refused: [PostgreSQLError])
        case failed(PostgreSQLError)
    }

    private struct Work: Sendable {
        var job: Job?
        var answer: Answer?
        var isOver = false
    }

    /// The state of the site's lock. If `takesLock` is false, it never becomes ``SiteLock/held``.
    public private(set) var siteLock = SiteLock.undecided
    private let site: String
    private let takesLock: Bool
    private let work = Monitor(Work())
    private let outbox: Outbox
    private let ledger: EventLedger?
    private var presence: PostgreSQLPresence?
    private var notices: [Notice] = []
    /// The messages of the outbox that the current job writes.
    private var inFlight: [Outbox.Waiting] = []
    /// The events of the ledger that the current job writes.
    private var inFlightEvents: [EventStore.Waiting] = []
    /// False if it is certain that no event in the ledger waits.
    private var mayHaveEvents = true
    /// True while the thread works on a job.
    private var isBusy = false
    /// The time at which the thread got the current job, in nanoseconds.
    private var jobStart: UInt64 = 0
    /// True if a notice has already reported that the current job is slow.
    private var hasReportedSlow = false
    /// The length of the pause after the next failure, in nanoseconds.
    private var pause = PostgreSQLUploader.pauses.lowerBound
    /// The earliest time of the next job, in nanoseconds.
    private var nextTry: UInt64 = 0
    /// The time of the next check of the lock, in nanoseconds.
    private var nextLock: UInt64 = 0
    private var lastError: PostgreSQLError?
    /// The number of dropped messages that notices have already reported.
    private var reportedDropped = 0
    /// The time at which ``rows`` are next added to the outbox, in nanoseconds.
    private var nextRows: UInt64 = 0
    /// The sightings that are not in the outbox yet.
    private var rows: [SightingRow] = []
    private var run = ServiceRunWriter()

    private static let second: UInt64 = 1_000_000_000
    /// The largest number of messages or events that are written in one job.
    private static let batch = 64
    /// The largest number of sightings in one message.
    private static let rowsAtATime = 2000
    /// The shortest and the longest pause after a failure, in nanoseconds. The pause doubles with each failure.
    private static let pauses = second...10 * second
    /// The time between two checks of the lock, in nanoseconds.
    private static let lockPause = 2 * second
    /// If a signal ends the collector: the time limit for writing all remaining data, in milliseconds.
    private static let shutdownMilliseconds = 700
    /// If the collector ends without a signal: the time limit for each remaining batch, in milliseconds.
    private static let lastMilliseconds = 30_000
    /// The duration in nanoseconds after which a job is reported as slow.
    private static let slow = 60 * second

    /// Starts the thread, which connects to the database with its first job.
    ///
    /// - Parameters:
    ///   - site: The collector's name.
    ///   - path: The path of the file of the outbox.
    ///   - ledger: The ledger whose events for the channel ``EventLedger/postgreSQL`` are written; `nil` for none.
    ///   - takesLock: True if this collector is active only while it holds the site's lock, and is otherwise on
    ///     standby.
    public init(
        _ options: PostgreSQLOptions, site: String, outbox path: String, ledger: EventLedger? = nil, takesLock: Bool
    ) throws(SystemError) {
        self.site = site
        self.ledger = ledger
        self.takesLock = takesLock
        var limits = Outbox.Limits()
        limits.memoryBytes = 10_000_000
        outbox = Outbox(path: path, of: "events and sightings for PostgreSQL", limits: limits)
        outbox.open()
        let work = work
        try BackgroundThread.start { Self.serve(options, site, work) }
    }

    /// The main function of the thread.
    private static func serve(_ options: PostgreSQLOptions, _ site: String, _ work: Monitor<Work>) {
        // Blocks signals in this thread, because the main thread handles them.
        _ = try? SignalDescriptor()
        var history: PostgreSQLHistory?
        while true {
            let job: Job? =
                work.wait { work in
                    if work.isOver { return .some(nil) }
                    guard let job = work.job else { return nil }
                    work.job = nil
                    return .some(job)
                } ?? nil
            guard let job else { return }
            var answer: Answer
            do throws(PostgreSQLError) {
                let connection: PostgreSQLHistory
                if let history { connection = history } else { connection = try PostgreSQLHistory(options) }
                history = connection
                switch job {
                case .lock: answer = try lock(connection, site)
                case .write(let rows): answer = .written(refused: try write(rows, to: connection))
                }
            } catch {
                // After a refusal of data the connection is still good. After any other error, the next job connects
                // again.
                if error.kind != .data { history = nil }
                answer = .failed(error)
            }
            work.change { $0.answer = answer }
        }
    }

    private static func lock(_ history: PostgreSQLHistory, _ site: String) throws(PostgreSQLError) -> Answer {
        if try history.holdsLock() { return .locked(nil) }
        return try history.takeLock(of: site) ? .locked(try history.presence(at: site)) : .lockedByAnother
    }

    /// Writes the rows of messages. If there is only one message, its rows are written without those that the database
    /// refuses. Of several messages, all are written or none.
    ///
    /// - Returns: The error of each row that was refused.
    private static func write(
        _ rows: [PostgreSQLRow], to history: PostgreSQLHistory
    ) throws(PostgreSQLError) -> [PostgreSQLError] {
        guard rows.count == 1 else {
            try history.write(rows)
            return []
        }
        return try writeAccepted(rows, to: history)
    }

    /// Writes rows without those that the database refuses. If the database refuses several rows, writes each half of
    /// them on its own.
    ///
    /// - Returns: The error of each row that was refused.
    private static func writeAccepted(
        _ rows: [PostgreSQLRow], to history: PostgreSQLHistory
    ) throws(PostgreSQLError) -> [PostgreSQLError] {
        do throws(PostgreSQLError) {
            try history.write(rows)
            return []
        } catch {
            guard error.kind == .data else { throw error }
            let lines = rows.flatMap(\.lines)
            guard lines.count > 1 else { return [error] }
            let middle = lines.count / 2
            let refusedBefore = try writeAccepted(Array(lines[..<middle]), to: history)
            let refusedAfter = try writeAccepted(Array(lines[middle...]), to: history)
            return refusedBefore + refusedAfter
        }
    }

    // MARK: Adding

    /// Adds events and sightings to upload. Events are uploaded at once, sightings once a second. Do not add events
    /// that are in the ledger.
    public func add(_ events: [EventStore.Event], _ sightings: [SightingRow]) {
        mayHaveEvents = ledger != nil
        var messages: [Outbox.Message] = []
        func addMessage(_ rows: [PostgreSQLRow]) {
            guard let table = rows.first?.table else { return }
            messages.append(
                .init(topic: table.rawValue, text: rows.map(\.text).joined(), time: WallClock.microseconds()))
        }
        // Each event has a message of its own, so that an event that the database refuses is dropped alone.
        for event in events { addMessage([PostgreSQLRow(event, at: site)]) }
        rows += sightings
        let now = MonotonicClock.nanoseconds()
        if rows.count >= Self.rowsAtATime || now >= nextRows {
            nextRows = now + Self.second
            for start in stride(from: 0, to: rows.count, by: Self.rowsAtATime) {
                addMessage(rows[start..<min(rows.count, start + Self.rowsAtATime)].map { PostgreSQLRow($0, at: site) })
            }
            rows.removeAll(keepingCapacity: true)
        }
        outbox.append(messages)
        poll()
    }

    /// Records that the collector runs, so that the site's history shows when no collector ran. Must be called about
    /// once a second.
    ///
    /// - Parameter time: The present wall-clock time, in microseconds since 1970.
    public func markRunning(at time: Int64) {
        if run.extend(to: time, at: MonotonicClock.nanoseconds()) { addRun(isOver: false) }
    }

    private func addRun(isOver: Bool) {
        guard let run = run.run(isOver: isOver) else { return }
        let row = PostgreSQLRow(run, at: site)
        outbox.append([.init(topic: row.table.rawValue, text: row.text, time: WallClock.microseconds())])
    }

    // MARK: The database

    /// Handles the thread's answer if there is one. Then passes the next job to the thread if it is idle.
    public func poll() {
        if let answer = work.change({ work in
            defer { work.answer = nil }
            return work.answer
        }) {
            handle(answer)
        }
        reportDropped()
        let now = MonotonicClock.nanoseconds()
        if isBusy {
            guard !hasReportedSlow, now - jobStart > Self.slow else { return }
            hasReportedSlow = true
            notices.append(Notice("PostgreSQL has not answered for 60 s; events and sightings wait", isWarning: true))
        } else if now >= nextTry {
            if takesLock, now >= nextLock {
                nextLock = now + Self.lockPause
                start(.lock)
            } else {
                writeNext()
            }
        }
    }

    /// Passes the next events of the ledger to the thread. If there are none, passes the next messages of the outbox.
    private func writeNext() {
        // After the database has refused the data of a batch, messages and events are written one by one. The other
        // messages then do not wait until the refused rows of a message are found.
        let limit = lastError?.kind == .data ? 1 : Self.batch
        if mayHaveEvents, let events = ledger?.waiting(for: EventLedger.postgreSQL, limit: limit) {
            mayHaveEvents = !events.isEmpty
            guard events.isEmpty else {
                inFlightEvents = events
                return start(.write(events.map { PostgreSQLRow($0.event, at: site) }))
            }
        }
        guard outbox.count > 0 else { return }
        inFlight = outbox.first(limit)
        guard !inFlight.isEmpty else { return }
        start(
            .write(
                inFlight.compactMap { waiting in
                    PostgreSQLRow.Table(rawValue: waiting.message.topic).map {
                        PostgreSQLRow($0, text: waiting.message.text)
                    }
                }))
    }

    private func start(_ job: Job) {
        (isBusy, jobStart, hasReportedSlow) = (true, MonotonicClock.nanoseconds(), false)
        work.change { $0.job = job }
    }

    private func handle(_ answer: Answer) {
        isBusy = false
        switch answer {
        case .locked(let newPresence):
            presence = newPresence ?? presence
            siteLock = .held
            reportSuccess()
        case .lockedByAnother:
            siteLock = .heldByAnother
            reportSuccess()
        case .written(let refused):
            reportSuccess()
            removeInFlight()
            guard let error = refused.first else { return }
            let dropped =
                refused.count == 1 ? "this event or sighting is" : "\(refused.count) events or sightings are"
            notices.append(Notice("\(error): \(dropped) dropped", isWarning: true))
            // The next messages often have the same fault, so they are still written one by one.
            lastError = error
        case .failed(let error) where error.kind == .data:
            // The messages and events of a refused batch stay in the outbox and the ledger. The next batch contains
            // only the first of them.
            (inFlight, inFlightEvents) = ([], [])
            lastError = error
        case .failed(let error):
            // While another collector works, this collector stays on standby.
            if siteLock != .heldByAnother { siteLock = .unreachable }
            (inFlight, inFlightEvents) = ([], [])
            if lastError?.description != error.description {
                notices.append(Notice("\(error); events and sightings wait; retrying", isWarning: true))
            }
            lastError = error
            nextTry = MonotonicClock.nanoseconds() + pause
            pause = min(pause * 2, Self.pauses.upperBound)
        }
    }

    private func reportSuccess() {
        if let lastError, lastError.kind != .data {
            notices.append(Notice("PostgreSQL: the database answers again", isWarning: false))
        }
        (lastError, pause) = (nil, Self.pauses.lowerBound)
    }

    private func removeInFlight() {
        if !inFlight.isEmpty { outbox.remove(inFlight) }
        if let last = inFlightEvents.last { ledger?.markDelivered(through: last.sequence, for: EventLedger.postgreSQL) }
        (inFlight, inFlightEvents) = ([], [])
    }

    private func reportDropped() {
        guard outbox.dropped > reportedDropped * 2 || outbox.dropped > 0 && reportedDropped == 0 else { return }
        reportedDropped = outbox.dropped
        notices.append(
            Notice(
                "\(reportedDropped) batches of events and sightings for PostgreSQL were dropped: the outbox was full, or "
                    + "they were 7 days old",
                isWarning: true))
    }

    /// Returns the beacons that were present at the site when the lock was taken. Returns `nil` if this function has
    /// already returned them.
    public func takePresence() -> PostgreSQLPresence? {
        defer { presence = nil }
        return presence
    }

    /// Returns new notices for the operator. Each notice is returned once.
    public func takeNotices() -> [Notice] {
        defer { notices = [] }
        return outbox.takeNotices() + notices
    }

    /// Writes the waiting data, and ends the thread. Data that cannot be written in time stays in the ledger and the
    /// outbox until the collector starts again.
    ///
    /// - Parameter isHurried: True if a signal asked the process to end. This function then takes at most about 0.7 s.
    public func finish(isHurried: Bool) {
        nextRows = 0
        run.finish(at: WallClock.microseconds())
        addRun(isOver: true)
        add([], [])
        (nextTry, nextLock) = (0, .max)
        let time = UInt64(isHurried ? Self.shutdownMilliseconds : Self.lastMilliseconds) * 1_000_000
        var deadline = MonotonicClock.nanoseconds() + time
        poll()
        while isBusy, MonotonicClock.nanoseconds() < deadline {
            let answer = work.wait(milliseconds: 100) { work in
                defer { work.answer = nil }
                return work.answer
            }
            guard let answer else { continue }
            handle(answer)
            // After the database has refused data, the remaining data is still written, message by message.
            guard lastError == nil || lastError?.kind == .data else { continue }
            if !isHurried { deadline = MonotonicClock.nanoseconds() + time }
            poll()
        }
        work.change { $0.isOver = true }
        let (inFile, inMemory) = (outbox.count - outbox.countInMemory, outbox.countInMemory)
        if inFile > 0 {
            notices.append(
                Notice(
                    "PostgreSQL: \(inFile) batches of events and sightings are not uploaded yet, and will be uploaded "
                        + "when the collector starts again", isWarning: false))
        }
        let events = ledger?.waitingCount(for: EventLedger.postgreSQL) ?? 0
        if events > 0 {
            notices.append(
                Notice(
                    "PostgreSQL: \(events) events are not uploaded yet, and will be uploaded when the collector starts "
                        + "again", isWarning: false))
        }
        if inMemory > 0 {
            notices.append(
                Notice(
                    "PostgreSQL: \(inMemory) batches of events and sightings did not arrive, and are lost",
                    isWarning: true))
        }
    }
}
