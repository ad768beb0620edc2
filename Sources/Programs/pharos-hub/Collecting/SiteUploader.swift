internal import Collector
internal import CommandSupport
internal import Configuration
internal import LinuxHost
internal import Store

/// Brings what a collector keeps to PostgreSQL: it waits in a spool until the database has it, 100 MB of it or seven days.
///
/// The database is spoken with on a thread of its own, for which nobody waits.
final class SiteUploader {
    private enum Answer: Sendable {
        case kept
        case failed(SiteStoreError)
    }

    private struct Work: Sendable {
        var job: [SiteRow]?
        var answer: Answer?
        var isOver = false
    }

    private let site: String
    private let path: String
    private let work = Monitor(Work())
    private var spool: MessageSpool?
    /// Without a spool, or with one that takes nothing.
    private var unkept: [MessageSpool.Message] = []
    private var onTheWay: [MessageSpool.Waiting] = []
    private var isWorking = false
    /// When the thread was handed the last batch, and whether somebody was told that it takes long.
    private var begun: UInt64 = 0
    private var saidSlow = false
    private var pause = SiteUploader.pauses.lowerBound
    private var nextTry: UInt64 = 0
    private var lastError: SiteStoreError?
    private var saidDropped = 0
    private var lost = 0
    private var isSpoolFailing = false
    /// Otherwise the spool is only in memory.
    private var isKept = true
    private var nextRows: UInt64 = 0
    private var rows: [SightingCollector.Sighting] = []

    private static let octetLimit = 100_000_000
    /// Where there is no disk for it.
    private static let memoryLimit = 10_000_000
    private static let timeLimit: Int64 = 7 * 86_400_000_000
    /// Messages of a batch, rows of a message, messages in memory at most.
    private static let batch = 64
    private static let rowsAtATime = 2000
    private static let unkeptLimit = 1000
    /// Between two attempts, in nanoseconds.
    private static let pauses: ClosedRange<UInt64> = 1_000_000_000...60_000_000_000
    /// Whoever is asked to end does not wait longer, and whoever has read everything waits so long for each batch.
    private static let farewellMilliseconds = 2000
    private static let lastMilliseconds = 30_000
    /// In nanoseconds.
    private static let slow: UInt64 = 60_000_000_000

    /// Connects to nobody yet.
    ///
    /// - Parameters:
    ///   - file: The collector's; what it names lies in `directory`.
    ///   - path: Of the spool.
    /// - Throws: where the connection's text or the password's file cannot be used.
    init(_ section: CollectorFile.SiteStore, of site: String, in directory: String, path: String) throws {
        self.site = site
        self.path = path
        let options = try Self.options(section, in: directory)
        openSpool()
        let work = work
        try BackgroundThread.start { Self.serve(options, work) }
    }

    /// Where the database is.
    static func options(_ section: CollectorFile.SiteStore, in directory: String) throws(SiteStoreError) -> SiteOptions
    {
        let file = section.passwordFile.map { $0.hasPrefix("/") ? $0 : directory + $0 }
        return try SiteOptions(connection: section.connection, passwordFile: file)
    }

    /// The thread.
    private static func serve(_ options: SiteOptions, _ work: Monitor<Work>) {
        // A signal is for the main thread, which only blocks those of threads that it starts later.
        _ = try? SignalDescriptor()
        var history: SiteHistory?
        while true {
            let job: [SiteRow]? =
                work.wait { work in
                    if work.isOver { return .some(nil) }
                    guard let job = work.job else { return nil }
                    work.job = nil
                    return .some(job)
                } ?? nil
            guard let job else { return }
            let answer: Answer
            do throws(SiteStoreError) {
                if history == nil { history = try SiteHistory(options) }
                try history?.write(job)
                answer = .kept
            } catch {
                // A connection that has failed is made anew, and so are its tables.
                if error.kind != .data { history = nil }
                answer = .failed(error)
            }
            work.change { $0.answer = answer }
        }
    }

    // MARK: What is to be kept

    /// Takes what has happened at once, and what was heard each second.
    func keep(_ events: [SightingCollector.Event], _ sightings: [SightingCollector.Sighting]) {
        var messages: [MessageSpool.Message] = []
        func add(_ rows: [SiteRow]) {
            guard let table = rows.first?.table else { return }
            messages.append(
                .init(topic: table.rawValue, text: rows.map(\.text).joined(), time: WallClock.microseconds()))
        }
        add(
            events.map { event in
                .event(
                    id: event.id, site: site, milliseconds: event.unixMilliseconds, kind: event.kind.rawValue,
                    beacon: event.beacon ?? "", place: event.place, json: event.json.line)
            })
        rows += sightings
        let now = MonotonicClock.nanoseconds()
        if rows.count >= Self.rowsAtATime || now >= nextRows {
            nextRows = now + Self.pauses.lowerBound
            for start in stride(from: 0, to: rows.count, by: Self.rowsAtATime) {
                add(rows[start..<min(rows.count, start + Self.rowsAtATime)].map(row))
            }
            rows.removeAll(keepingCapacity: true)
        }
        spool(messages)
        poll()
    }

    private func row(_ sighting: SightingCollector.Sighting) -> SiteRow {
        .sighting(
            site: site, receiver: sighting.receiver, boot: sighting.boot, sequence: sighting.sequence,
            beacon: sighting.beacon, milliseconds: sighting.unixMilliseconds, reports: sighting.reports,
            level: sighting.level, isLate: sighting.isLate)
    }

    private func openSpool() {
        if let end = path.lastIndex(of: "/"), end > path.startIndex { try? Files.makeDirectory(String(path[..<end])) }
        do throws(StoreError) {
            spool = try MessageSpool(path: path, octetLimit: Self.octetLimit, timeLimit: Self.timeLimit)
        } catch {
            failSpool(error)
            isKept = false
            spool = try? MessageSpool(path: ":memory:", octetLimit: Self.memoryLimit, timeLimit: Self.timeLimit)
        }
    }

    private func spool(_ messages: [MessageSpool.Message]) {
        guard !messages.isEmpty || !unkept.isEmpty else { return }
        unkept += messages
        if spool == nil { openSpool() }
        do throws(StoreError) {
            try spool?.append(unkept)
            if spool != nil { unkept.removeAll() }
            isSpoolFailing = isSpoolFailing && spool == nil
        } catch {
            failSpool(error)
        }
        if unkept.count > Self.unkeptLimit {
            lost += unkept.count - Self.unkeptLimit
            unkept.removeFirst(unkept.count - Self.unkeptLimit)
        }
    }

    private func failSpool(_ error: StoreError) {
        guard !isSpoolFailing else { return }
        isSpoolFailing = true
        Terminal.writeError("pharos: warning: \(error): what is kept for PostgreSQL waits in memory\n")
    }

    // MARK: The database

    /// Hands over what waits, where the last batch is there. Never waits itself.
    func poll() {
        if let answer = work.change({ work in
            defer { work.answer = nil }
            return work.answer
        }) {
            take(answer)
        }
        sayDropped()
        if isWorking, !saidSlow, MonotonicClock.nanoseconds() - begun > Self.slow {
            saidSlow = true
            Terminal.writeError("pharos: warning: PostgreSQL has not answered for 60 s; what happens waits\n")
        }
        guard !isWorking, MonotonicClock.nanoseconds() >= nextTry, let spool, spool.count > 0 else { return }
        do throws(StoreError) {
            onTheWay = try spool.first(lastError?.kind == .data ? 1 : Self.batch)
        } catch {
            return failSpool(error)
        }
        let job = onTheWay.compactMap { waiting in
            SiteRow.Table(rawValue: waiting.message.topic).map { SiteRow($0, text: waiting.message.text) }
        }
        (isWorking, begun, saidSlow) = (true, MonotonicClock.nanoseconds(), false)
        work.change { $0.job = job }
    }

    private func take(_ answer: Answer) {
        isWorking = false
        switch answer {
        case .kept:
            if let lastError, lastError.kind != .data {
                Terminal.writeError("pharos: PostgreSQL: what happens is kept there again\n")
            }
            (lastError, pause) = (nil, Self.pauses.lowerBound)
            settle()
        case .failed(let error) where error.kind == .data:
            // One by one, so that one that it never takes holds up no other.
            if onTheWay.count == 1 {
                Terminal.writeError("pharos: warning: \(error): this batch is given up\n")
                settle()
            }
            lastError = error
        case .failed(let error):
            if lastError?.description != error.description {
                Terminal.writeError("pharos: warning: \(error); what happens waits, and it is tried again\n")
            }
            lastError = error
            nextTry = MonotonicClock.nanoseconds() + pause
            pause = min(pause * 2, Self.pauses.upperBound)
        }
    }

    private func settle() {
        do throws(StoreError) { try spool?.remove(onTheWay) } catch { failSpool(error) }
        onTheWay = []
    }

    private func sayDropped() {
        let dropped = (spool?.dropped ?? 0) + lost
        guard dropped > saidDropped * 2 || dropped > 0 && saidDropped == 0 else { return }
        saidDropped = dropped
        Terminal.writeError(
            "pharos: warning: \(dropped) batches never reached PostgreSQL: there was no room, or 7 days were over\n"
        )
    }

    /// Takes leave: what is not there in time waits in the spool.
    ///
    /// - Parameter isHurried: Whether somebody asked for it, and waits.
    func finish(isHurried: Bool) {
        nextRows = 0
        keep([], [])
        nextTry = 0
        let milliseconds = isHurried ? Self.farewellMilliseconds : Self.lastMilliseconds
        var deadline = MonotonicClock.nanoseconds() + UInt64(milliseconds) * 1_000_000
        poll()
        while isWorking, MonotonicClock.nanoseconds() < deadline {
            guard
                let answer = work.wait(
                    milliseconds: 100,
                    { work in
                        defer { work.answer = nil }
                        return work.answer
                    })
            else { continue }
            take(answer)
            guard lastError == nil else { continue }
            if !isHurried { deadline = MonotonicClock.nanoseconds() + UInt64(milliseconds) * 1_000_000 }
            poll()
        }
        work.change { $0.isOver = true }
        let left = spool?.count ?? 0
        if isKept, left > 0 { Terminal.writeError("pharos: PostgreSQL: \(left) batches wait for the next start\n") }
        let gone = unkept.count + (isKept ? 0 : left)
        if gone > 0 { Terminal.writeError("pharos: PostgreSQL: \(gone) batches did not get there, and are lost\n") }
    }
}
