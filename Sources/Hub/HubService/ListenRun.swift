internal import Advertiser
internal import BeaconService
internal import BluetoothTypes
internal import Configuration
internal import LinuxHost
internal import Listener
internal import Sightings
internal import Store
internal import Zones

/// One run of a listener's service. The source of sightings calls it with each report, and regularly with the time.
/// Each call passes the report or the time to the zones. The events that the zones return are handled in this order:
/// ledger, journal, broker, output, hooks.
final class ListenRun: SightingConsumer {
    /// The time between two rounds of counts and status files, in microseconds.
    private static let roundInterval = 1_000_000
    /// The time between two checks of signals, the broker and the service manager, in microseconds.
    private static let pollInterval = 50_000

    private let options: ListenService.Options
    private var file: HubFile
    private let source: SightingSource
    private let monitor: ZoneMonitor
    private let notifier: ServiceNotifier
    private let reload: SignalDescriptor
    private let hooks = HookRunner()
    private let clockQuality = ClockQuality(isRecorded: false)
    private let journal = Journal()
    private var context: ZoneEvent.Context
    private let ledger: EventLedger
    private let outbox: Outbox
    /// The publisher for the broker; `nil` if the file has no section `mqtt`.
    private var broker: BrokerPublisher?
    /// The sequence number of the last event that was printed but is not yet recorded as printed.
    private var lastPrintedEvent: Int64?
    private var status: ListenerStatusWriter
    private var row = JSONWriter()
    private var isReady = false
    private var nextRound: HeardInstant?
    private var nextPoll: HeardInstant?
    /// The time of the next message for systemd's watchdog, in nanoseconds of the monotonic clock.
    private var nextWatchdog: UInt64 = 0

    init(
        _ file: HubFile, _ options: ListenService.Options, _ source: SightingSource, _ notifier: ServiceNotifier,
        reload: SignalDescriptor
    ) throws(ListenerServiceError) {
        self.file = file
        self.options = options
        self.source = source
        self.notifier = notifier
        self.reload = reload
        monitor = ZoneMonitor(file, source)
        context = ZoneEvent.Context(file, source, clockQuality, isRecorded: false)
        let store = Self.storePath(file, options)
        ledger = EventLedger(path: store)
        outbox = Outbox(path: store + ".spool", of: "sightings")
        broker = try BrokerPublisher(
            file, at: options.path, source, ledger, outbox, boot: context.boot, version: options.version)
        status = ListenerStatusWriter(
            name: file.listener.name, directory: options.runtime, metrics: options.metricsFile)
    }

    private static func storePath(_ file: HubFile, _ options: ListenService.Options) -> String {
        let directory = StateDirectory.path(options.stateDirectory)
        let name = file.history.file ?? "\(file.listener.name).db"
        guard !name.hasPrefix("/") else { return name }
        try? Files.makeDirectory(directory, mode: 0o700)
        return "\(directory)/\(name)"
    }

    /// Runs until a signal arrives or the duration is over.
    func run() throws(ListenerServiceError) {
        for warning in file.warnings { journal.write(.warning, warning) }
        resume()
        broker?.begin()
        monitor.beginDeaf(at: HearingClock.machineNow)
        defer { end() }
        try source.run(self)
    }

    private func end() {
        try? notifier.send(.stopping)
        hooks.end()
        ledger.retry()
        broker?.finish()
        markLinesPrinted()
        ledger.finish()
        if hooks.dropped > 0 {
            journal.write(
                .warning, "hooks: \(hooks.dropped) were dropped, because more than \(HookRunner.queueLimit) waited")
        }
        writeNotices()
        status.write(snapshot(at: HearingClock.machineNow, isOver: true), journal)
        try? notifier.flush(waitingMilliseconds: ServiceNotifier.finalFlushMilliseconds)
    }

    // MARK: Calls from the source

    var nextWakeUp: HeardInstant? {
        [monitor.engine.nextWakeUp, nextRound, hooks.nextWakeUp].compactMap(\.self).min()
    }

    func receive(_ report: HeardReport, _ octets: Span<UInt8>, _ range: Range<Int>) {
        let events = monitor.receive(report, octets, range)
        for warning in monitor.takeWarnings() { journal.write(.warning, warning) }
        handle(events)
    }

    func advance(to now: HeardInstant) { handle(monitor.advance(to: now)) }

    func change(_ state: ListeningState, at now: HeardInstant) {
        handle(monitor.change(state, at: now))
        if state.isListening, !isReady {
            isReady = true
            try? notifier.send(.ready, .status("listening on \(source.adapter?.description ?? "an adapter")"))
        } else if isReady {
            try? notifier.send(.status("\(state)"))
        }
        broker?.change(isListening: state.isListening, at: now)
        broker?.publishZones(monitor.engine)
        status.write(snapshot(at: now), journal)
    }

    func handleIdle(at now: HeardInstant) {
        if !hooks.isIdle { handle(hooks.work()) }
        markLinesPrinted()
        // A round that is due must be completed in this call. Otherwise the source would call again at once.
        guard now >= min(nextPoll ?? now, nextRound ?? now) else { return }
        nextPoll = now.advanced(byMicroseconds: Self.pollInterval)
        broker?.poll()
        writeNotices()
        if reload.take() != nil { readAgain(at: now) }
        sendWatchdog()
        guard now >= nextRound ?? now else { return }
        nextRound = now.advanced(byMicroseconds: Self.roundInterval)
        let snapshot = snapshot(at: now)
        status.write(snapshot, journal)
        broker?.endRound(monitor, source, state: snapshot.state.rawValue, at: now)
        monitor.beginRound()
        ledger.retry()
        ledger.markRunning(at: WallClock.microseconds())
        ledger.pruneHourly(days: file.history.days)
    }

    func say(_ sentence: String, isWarning: Bool) { journal.write(isWarning ? .warning : .notice, sentence) }

    func finish(at now: HeardInstant) { handle(monitor.advance(to: now)) }

    // MARK: Events

    private func handle(_ events: [ZoneEvent]) {
        for event in events { handle(event) }
    }

    private func handle(_ event: ZoneEvent) {
        context.clock = clockQuality.text
        event.write(context, into: &row)
        let json = String(decoding: row.octets, as: UTF8.self)
        row.removeAll()
        let stored = EventStore.Event(
            id: event.id(context), time: context.unixMicroseconds(event.instant), kind: event.kind.rawValue,
            zone: event.zone, beacon: event.isOfSharedZone ? nil : event.beacon, json: json)
        let jobs = hookJobs(stored)
        var channels: [String] = []
        if options.printsEvents { channels.append(EventLedger.lines) }
        if !jobs.isEmpty { channels.append(EventLedger.hooks) }
        if broker != nil { channels.append(EventLedger.broker) }

        let number = ledger.record(stored, presenceChange(event), for: channels)
        journal.write(.notice, ZoneText.line(event, context))
        broker?.publish(event, json: json, id: stored.id, number: number)
        broker?.publishZones(monitor.engine)
        broker?.poll()
        if options.printsEvents {
            Terminal.write(json + "\n")
            lastPrintedEvent = number ?? lastPrintedEvent
            if number == nil, !Terminal.outputIsGone { ledger.markDelivered(id: stored.id, for: EventLedger.lines) }
        }
        if !jobs.isEmpty { handle(hooks.add(jobs, number: number)) }
    }

    private func presenceChange(_ event: ZoneEvent) -> EventStore.Change {
        guard let beacon = event.beacon else { return .none }
        switch event.kind {
        case .enter, .dwell:
            guard let since = context.unix(event.since) else { return .none }
            return .inside(
                .init(zone: event.zone, beacon: beacon, since: since, dwells: event.dwells),
                isShared: !event.hasOwnPresence)
        case .exit: return .outside(zone: event.zone, beacon: event.hasOwnPresence ? beacon : nil)
        case .known, .unknown: return .none
        }
    }

    private func hookJobs(_ event: EventStore.Event) -> [HookRunner.Job] {
        guard let kind = ZoneEvent.Kind(rawValue: event.kind) else { return [] }
        let rules = file.hooks.filter { $0.matches(kind, zone: event.zone) }
        guard !rules.isEmpty else { return [] }
        // An event of a shared zone has no `beacon`, but its JSON names the beacon.
        let beacon = event.beacon ?? JSONDocument.parse(Array(event.json.utf8)).root?["beacon"]?.string
        return rules.map { rule in
            HookRunner.Job(
                rule: rule, id: event.id, json: event.json, kind: event.kind, zone: event.zone, beacon: beacon)
        }
    }

    private func handle(_ results: [HookRunner.Result]) {
        for result in results {
            switch result {
            case .completed(let number): ledger.markDelivered(number, for: EventLedger.hooks)
            case .completedUnstored(let id): ledger.markDelivered(id: id, for: EventLedger.hooks)
            case .warning(let text): journal.write(.warning, text)
            }
        }
    }

    /// Records the printed events as printed. If the output was closed, records nothing, so that the next run of the
    /// service prints the events again.
    private func markLinesPrinted() {
        guard let number = lastPrintedEvent, !Terminal.outputIsGone else { return }
        lastPrintedEvent = nil
        ledger.markDelivered(through: number, for: EventLedger.lines)
    }

    // MARK: Start, reload, housekeeping

    /// Continues an earlier run: restores the presences of that run, and delivers the events that were not delivered.
    private func resume() {
        ledger.open()
        let stored = ledger.presences
        monitor.resume(
            stored.map { .init(zone: $0.zone, beacon: $0.beacon, since: $0.since, dwells: $0.dwells) },
            unixMicroseconds: WallClock.microseconds())
        // Delete the stored presences of zones and beacons that are no longer in the file.
        let restored = Set(
            monitor.engine.presences { if case .unix(let time) = $0 { time } else { nil } }.map {
                [$0.zone, $0.beacon]
            })
        for presence in stored where !restored.contains([presence.zone, presence.beacon]) { ledger.forget(presence) }
        if options.printsEvents {
            for waiting in ledger.waiting(for: EventLedger.lines, limit: .max) ?? [] {
                Terminal.write(waiting.event.json + "\n")
                lastPrintedEvent = waiting.sequence
            }
        } else {
            ledger.markDelivered(through: .max, for: EventLedger.lines)
        }
        for waiting in ledger.waiting(for: EventLedger.hooks, limit: HookRunner.queueLimit) ?? [] {
            let jobs = hookJobs(waiting.event)
            if jobs.isEmpty { ledger.markDelivered(waiting.sequence, for: EventLedger.hooks) }
            handle(hooks.add(jobs, number: waiting.sequence))
        }
    }

    private func readAgain(at now: HeardInstant) {
        try? notifier.send(.reloading(since: MonotonicClock.nanoseconds()))
        defer { try? notifier.send(.ready) }
        do throws(ListenerServiceError) {
            let newFile = try HubFile(path: options.path, isReadAgain: true)
            guard newFile.listener.name == file.listener.name, newFile.listener.adapter == file.listener.adapter,
                newFile.listener.settings == file.listener.settings
            else {
                return journal.write(
                    .warning,
                    "\(options.path): a new name, adapter or scan takes effect only after a restart; the old file stays "
                        + "in use")
            }
            guard Self.storePath(newFile, options) == Self.storePath(file, options) else {
                return journal.write(
                    .warning,
                    "\(options.path): a new \"history\" \"file\" takes effect only after a restart; the old file stays in "
                        + "use")
            }
            let boot = ZoneEvent.Context.newBoot
            let newBroker = try BrokerPublisher(
                newFile, at: options.path, source, ledger, outbox, boot: boot, version: options.version)
            for warning in newFile.warnings { journal.write(.warning, warning) }
            file = newFile
            source.useLevels(of: newFile.listener)
            monitor.replace(newFile, source, at: now, context.unix)
            // The new engine numbers its events from 1 again, so a new boot id keeps the events' ids unique.
            context.boot = boot
            replaceBroker(newBroker, at: now)
            journal.write(.notice, "\(options.path) was read again")
        } catch {
            for message in error.messages { journal.write(.warning, message) }
            journal.write(.warning, "\(options.path): the old file stays in use")
            try? notifier.send(.status("reload refused: \(error.messages.first ?? "\(error)")"))
        }
    }

    /// Replaces the publisher after the file was read again. The old and the new publisher may use the same broker.
    private func replaceBroker(_ newBroker: BrokerPublisher?, at now: HeardInstant) {
        if let former = broker {
            if let newBroker { newBroker.replace(former) } else { former.finish() }
        } else {
            newBroker?.begin()
        }
        broker = newBroker
        newBroker?.change(isListening: source.state.isListening, at: now)
        newBroker?.publishZones(monitor.engine)
    }

    /// Notifies the service manager's watchdog, three times in each watchdog period.
    private func sendWatchdog() {
        let now = MonotonicClock.nanoseconds()
        if notifier.hasBacklog { try? notifier.flush() }
        guard let period = notifier.watchdogMicroseconds, now >= nextWatchdog else { return }
        nextWatchdog = now + period * 1000 / 3
        try? notifier.send(.watchdog)
    }

    /// Writes the notices of the files and of the broker to the journal.
    private func writeNotices() {
        for notice in ledger.takeNotices() + outbox.takeNotices() + (broker?.takeNotices() ?? []) {
            journal.write(notice.isWarning ? .warning : .notice, notice.text)
        }
    }

    private func snapshot(at now: HeardInstant, isOver: Bool = false) -> ListenerStatusWriter.Snapshot {
        ListenerStatusWriter.Snapshot(
            file: file, source: source, monitor: monitor, hooks: hooks, ledger: ledger, broker: broker?.report,
            now: now, isOver: isOver)
    }
}
