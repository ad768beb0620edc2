internal import Advertiser
internal import BeaconService
public import BluetoothTypes
internal import Configuration
internal import LinuxHost
public import Listener
internal import Sightings
internal import Store
internal import Zones

/// A listener as a service: hears, keeps what happens in zones, starts hooks, tells the service manager how it is, and
/// leaves its status and its metrics for others.
public final class ListenService {
    /// How it runs.
    public struct Options {
        /// The listener file.
        public var path: String
        /// Goes before the file's own.
        public var adapter: AdapterName?
        /// What must survive a restart; `nil` for systemd's StateDirectory= or else /var/lib/pharos.
        public var stateDirectory: String?
        /// Status and locks; `nil` for /run/pharos.
        public var runtimeDirectory: String?
        /// The file for Prometheus; `nil` for NAME.prom beside the status.
        public var metricsFile: String?
        /// In microseconds; `nil` until somebody ends it.
        public var duration: Int?
        /// Of this program, as a broker is told.
        public var version = ""
        /// Is given each event as a line of JSON, as soon as it is kept; `nil` for the journal alone.
        public var onLine: (([UInt8]) -> Void)?

        /// The file, and the standard for everything else.
        public init(path: String) { self.path = path }
    }

    /// A round of what is counted by rounds, and of looking at the files to write, in microseconds.
    static let round = 1_000_000
    /// Between two looks at what need not be looked at after each report, in microseconds: signals, the broker, the
    /// service manager.
    static let look = 50_000
    /// Between two looks at what is too old, in nanoseconds: one hour.
    static let pruning: UInt64 = 3_600_000_000_000

    private let options: Options
    private var file: HubFile
    private let source: SightingSource
    private let hearing: ZoneHearing
    private let notifier: ServiceNotifier
    private let reload: SignalDescriptor
    private let hooks = HookRunner()
    private let word = ClockQuality(isRecorded: false)
    private let journal = HubJournal()
    private var telling: ZoneEvent.Telling
    private let ledger: EventLedger
    private let spool: SightingSpool
    /// `nil` where no broker is told.
    private var publishing: ListenPublishing?
    private var lastLine: Int64?
    private var report: ListenReport
    private var row = JSONRow()
    private var isReady = false
    private var nextRound: HeardInstant?
    private var nextLook: HeardInstant?
    private var nextSign: UInt64 = 0
    private var nextPruning: UInt64 = 0

    /// Hears until SIGINT, SIGTERM or SIGQUIT comes; SIGHUP reads the file anew. The calling thread must be the only one
    /// that was started before.
    ///
    /// - Throws: why nothing can ever be heard. The service manager has been told by then.
    public static func run(_ options: Options) throws(ListenerServiceError) {
        var notifier: ServiceNotifier?
        do {
            let manager = try ServiceNotifier()
            notifier = manager
            let stop = try SignalDescriptor(SignalDescriptor.ending)
            let reload = try SignalDescriptor([SignalDescriptor.hangUp])
            let file = try HubFile(path: options.path)
            let lock = try Self.lock(file, options)
            let service = try ListenService(file, options, manager, lock, stop: stop, reload: reload)
            try withExtendedLifetime(lock) { try service.run() }
        } catch {
            let reason = Self.error(error)
            try? notifier?.send(.status("\(reason)"), .stopping)
            try? notifier?.flush(waitingMilliseconds: ServiceNotifier.lastPatienceMilliseconds)
            throw reason
        }
    }

    private static func error(_ error: any Error) -> ListenerServiceError {
        if let error = error as? ListenerServiceError { return error }
        return .service(BeaconServiceError(error))
    }

    private static func runtime(_ options: Options) -> String { options.runtimeDirectory ?? "/run/pharos" }

    /// Nobody else listens under this name.
    private static func lock(_ file: HubFile, _ options: Options) throws -> InstanceLock? {
        let name = file.listener.name
        do throws(SystemError) {
            try Files.makeDirectory(runtime(options))
        } catch {
            HubJournal().write(
                .warning,
                "\(error): nothing is told of this listener there; make the directory, or name another one with "
                    + "--runtime-dir")
            return nil
        }
        do throws(InstanceLockError) {
            return try InstanceLock("\(name).listener", in: runtime(options))
        } catch {
            if case .held(_, let process) = error {
                throw ListenerServiceError.refused(
                    .unavailable,
                    "a listener called \(name) runs already\(process.map { " (process \($0))" } ?? ""): stop that one first, "
                        + "or give this file another name")
            }
            HubJournal().write(.warning, "\(error): another listener of this name would not be noticed")
            return nil
        }
    }

    private init(
        _ file: HubFile, _ options: Options, _ notifier: ServiceNotifier, _ lock: InstanceLock?,
        stop: SignalDescriptor, reload: SignalDescriptor
    ) throws {
        self.file = file
        self.options = options
        self.notifier = notifier
        self.reload = reload
        let adapter = options.adapter ?? file.listener.adapter
        if case .managed(let index)? = adapter {
            throw ListenerServiceError.refused(
                .invalid,
                "\(options.path): hci\(index):mgmt tells only which beacons are there, and nothing of their silence: use "
                    + "hci\(index), or hci\(index):user")
        }
        try Privileges.keepOnly(Self.privileges(adapter))
        var live = SightingSource.Options(adapter: adapter)
        live.settings = file.listener.settings
        live.durationMicroseconds = options.duration
        live.samples = file.known.profiles
        live.purpose = "pharos listen \(file.listener.name)"
        live.runtimeDirectory = Self.runtime(options)
        live.signals = stop
        live.waitsForAdapter = true
        live.hasLeftover = lock != nil && ListenReport.isLeft(file.listener.name, in: Self.runtime(options))
        source = try .live(live)
        source.levelOffset = file.listener.levelOffset
        hearing = ZoneHearing(file, source)
        telling = ZoneEvent.Telling(file, source, word, isRecorded: false)
        ledger = EventLedger(path: Self.store(file, options))
        spool = SightingSpool(path: Self.store(file, options) + ".spool")
        publishing = try ListenPublishing(
            file, at: options.path, source, hearing, ledger, spool, boot: telling.boot, version: options.version)
        report = ListenReport(
            name: file.listener.name, directory: Self.runtime(options), metrics: options.metricsFile)
    }

    /// What the adapter needs, and no more.
    private static func privileges(_ adapter: AdapterName?) -> Set<Privileges.Capability> {
        switch adapter {
        case nil, .raw, .managed: [.netAdmin, .netRaw]
        case .user: [.netAdmin]
        case .tcp, .unix, .serial, .virtual: []
        }
    }

    // MARK: The run

    private func run() throws(ListenerServiceError) {
        for warning in file.warnings { journal.write(.warning, warning) }
        hooks.onFailure = { [journal] in journal.write(.warning, $0) }
        hooks.onSettled = { [ledger] in ledger.settle($0, for: EventLedger.hooks) }
        ledger.onSentence = { [journal] in journal.write($1 ? .warning : .notice, $0) }
        publishing?.onSentence = { [journal] in journal.write($1 ? .warning : .notice, $0) }
        spool.onSentence = { [journal] in journal.write($1 ? .warning : .notice, $0) }
        takeUp()
        publishing?.begin()
        // Who was inside is not known for ever while there is no adapter.
        hearing.beginDeaf(at: HeardInstant(nanoseconds: MonotonicClock.nanoseconds()))
        hearing.onEvent = { [unowned self] in take($0) }
        hearing.onRest = { [unowned self] in rest(at: $0) }
        hearing.onSentence = { [journal] in journal.write($1 ? .warning : .notice, $0) }
        hearing.onChange = { [unowned self] _, now in change(at: now) }
        hearing.ownWakeUp = { [unowned self] in wakeUp }
        defer { finish() }
        try source.run(hearing)
    }

    private func finish() {
        try? notifier.send(.stopping)
        hooks.end()
        ledger.retry()
        publishing?.finish()
        settleLines()
        report.write(self.state(at: MonotonicClock.nanoseconds(), isOver: true), journal)
        try? notifier.flush(waitingMilliseconds: ServiceNotifier.lastPatienceMilliseconds)
    }

    private var wakeUp: HeardInstant? {
        guard let due = hooks.nextWakeUp.map(HeardInstant.init(nanoseconds:)) else { return nextRound }
        return min(nextRound ?? due, due)
    }

    private func change(at now: HeardInstant) {
        if source.state.isHearing, !isReady {
            isReady = true
            try? notifier.send(.ready, .status("listening on \(source.adapter?.description ?? "an adapter")"))
        } else if isReady {
            try? notifier.send(.status("\(source.state)"))
        }
        publishing?.change(isHearing: source.state.isHearing, at: now)
        report.write(state(at: now.nanoseconds), journal)
    }

    private func rest(at now: HeardInstant) {
        if !hooks.isIdle { hooks.work() }
        settleLines()
        // Whoever is woken for a round must have one, or would be woken again and again.
        guard now >= min(nextLook ?? now, nextRound ?? now) else { return }
        nextLook = now.advanced(byMicroseconds: Self.look)
        publishing?.rest()
        if reload.take() != nil { readAgain(at: now) }
        sign()
        guard now >= nextRound ?? now else { return }
        nextRound = now.advanced(byMicroseconds: Self.round)
        let state = state(at: now.nanoseconds)
        report.write(state, journal)
        publishing?.endRound(source, state: state.word.rawValue, at: now)
        hearing.beginRound()
        ledger.retry()
        prune()
    }

    /// A sign of life, more often than the service manager wants.
    private func sign() {
        let now = MonotonicClock.nanoseconds()
        if notifier.hasBacklog { try? notifier.flush() }
        guard let period = notifier.watchdogMicroseconds, now >= nextSign else { return }
        nextSign = now + period * 1000 / 3
        try? notifier.send(.watchdog)
    }

    private func readAgain(at now: HeardInstant) {
        try? notifier.send(.reloading(since: MonotonicClock.nanoseconds()))
        defer { try? notifier.send(.ready) }
        do throws(ListenerServiceError) {
            let next = try HubFile(path: options.path)
            guard next.listener.name == file.listener.name, next.listener.adapter == file.listener.adapter,
                next.listener.settings == file.listener.settings
            else {
                return journal.write(
                    .warning,
                    "\(options.path): a new name, adapter or scan needs a restart: it goes on with the old file")
            }
            let boot = ZoneEvent.Telling.newBoot
            let broker = try ListenPublishing(
                next, at: options.path, source, hearing, ledger, spool, boot: boot, version: options.version)
            for warning in next.warnings { journal.write(.warning, warning) }
            file = next
            source.levelOffset = next.listener.levelOffset
            hearing.replace(next, source, at: now, telling.unix)
            // The numbers begin anew.
            telling.boot = boot
            publish(by: broker, at: now)
            journal.write(.notice, "\(options.path) was read again")
        } catch {
            for message in error.messages { journal.write(.warning, message) }
            journal.write(.warning, "\(options.path): it goes on with the old file")
            try? notifier.send(.status("reload refused: \(error.messages.first ?? "\(error)")"))
        }
    }

    /// Tells another broker from now on, or the same one by another file.
    private func publish(by next: ListenPublishing?, at now: HeardInstant) {
        next?.onSentence = { [journal] in journal.write($1 ? .warning : .notice, $0) }
        if let former = publishing {
            if let next { next.replace(former) } else { former.finish() }
        } else {
            next?.begin()
        }
        publishing = next
        next?.change(isHearing: source.state.isHearing, at: now)
    }

    // MARK: What is kept

    private static func store(_ file: HubFile, _ options: Options) -> String {
        let directory = options.stateDirectory ?? Terminal.environment("STATE_DIRECTORY") ?? "/var/lib/pharos"
        let name = file.history.file ?? "\(file.listener.name).db"
        guard !name.hasPrefix("/") else { return name }
        try? Files.makeDirectory(directory)
        return "\(directory)/\(name)"
    }

    /// Goes on where an earlier run has ended, however it did.
    private func takeUp() {
        ledger.open()
        let kept = ledger.presences
        hearing.resume(
            kept.map { .init(zone: $0.zone, beacon: $0.beacon, since: $0.since, dwells: $0.dwells) },
            unixMicroseconds: WallClock.microseconds())
        // Zones and beacons that the file has no more.
        let inside = Set(
            hearing.engine.presences { if case .unix(let time) = $0 { time } else { nil } }.map {
                [$0.zone, $0.beacon]
            })
        for presence in kept where !inside.contains([presence.zone, presence.beacon]) { ledger.forget(presence) }
        if let onLine = options.onLine {
            for each in ledger.waiting(for: EventLedger.lines, limit: .max) {
                onLine(Array((each.event.json + "\n").utf8))
                lastLine = each.sequence
            }
        } else {
            ledger.settle(through: .max, for: EventLedger.lines)
        }
        for each in ledger.waiting(for: EventLedger.hooks, limit: HookRunner.queueLimit) {
            startHooks(each.event, each.sequence)
        }
    }

    private func take(_ event: ZoneEvent) {
        telling.clock = word.text
        event.write(telling, into: &row)
        let json = String(decoding: row.octets, as: UTF8.self)
        row.removeAll()
        let kept = EventStore.Event(
            id: event.id(telling), time: telling.unixMicroseconds(event.instant), kind: event.kind.rawValue,
            zone: event.zone, beacon: event.beacon, json: json)
        var channels: [String] = []
        if options.onLine != nil { channels.append(EventLedger.lines) }
        if file.hooks.contains(where: { $0.matches(event.kind, zone: event.zone) }) {
            channels.append(EventLedger.hooks)
        }
        if publishing != nil { channels.append(ListenPublishing.channel) }
        let number = ledger.record(kept, change(of: event), for: channels)
        journal.write(.notice, ZoneText.line(event, telling))
        publishing?.take(event, json: json, number: number)
        if let onLine = options.onLine {
            onLine(Array((json + "\n").utf8))
            lastLine = number ?? lastLine
        }
        if channels.contains(EventLedger.hooks) { startHooks(kept, number) }
    }

    /// What was told is not told again; what nobody has read is told by the next run.
    private func settleLines() {
        guard let number = lastLine, !Terminal.outputIsGone else { return }
        lastLine = nil
        ledger.settle(through: number, for: EventLedger.lines)
    }

    private func change(of event: ZoneEvent) -> EventStore.Change {
        guard let beacon = event.beacon else { return .none }
        switch event.kind {
        case .enter, .dwell:
            guard let since = telling.unix(event.since) else { return .none }
            return .inside(
                .init(zone: event.zone, beacon: beacon, since: since, dwells: event.dwells), isShared: !event.isOfOne)
        case .exit: return .outside(zone: event.zone, beacon: event.isOfOne ? beacon : nil)
        case .known, .unknown: return .none
        }
    }

    private func startHooks(_ event: EventStore.Event, _ number: Int64?) {
        let kind = ZoneEvent.Kind(rawValue: event.kind)
        let jobs = file.hooks.filter { rule in kind.map { rule.matches($0, zone: event.zone) } ?? false }.map { rule in
            HookRunner.Job(
                rule: rule, number: number, id: event.id, json: event.json, kind: event.kind, zone: event.zone,
                beacon: event.beacon)
        }
        if jobs.isEmpty, let number { ledger.settle(number, for: EventLedger.hooks) }
        hooks.add(jobs)
    }

    /// Forgets what is too old. A clock that nobody vouches for forgets nothing.
    private func prune() {
        let now = MonotonicClock.nanoseconds()
        guard now >= nextPruning else { return }
        nextPruning = now + Self.pruning
        guard word.text == "synchronized" else { return }
        ledger.prune(before: WallClock.microseconds() - Int64(file.history.days) * 86_400_000_000)
    }

    private func state(at now: UInt64, isOver: Bool = false) -> ListenReport.State {
        ListenReport.State(
            file: file, source: source, hearing: hearing, hooks: hooks, ledger: ledger, broker: publishing?.report,
            now: HeardInstant(nanoseconds: now), isOver: isOver)
    }
}
