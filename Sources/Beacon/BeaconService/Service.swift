package import Advertiser
public import BluetoothTypes
internal import HCI
internal import LinuxHost

/// Keeps advertisements on the air. One thread waits for the adapter, for signals, for the kernel's messages, and for
/// the time at which the next work is due.
///
/// ``run(profile:adapter:directories:)`` works for a service manager: it recovers from every fault, and writes status,
/// metrics and state to files. ``advertise(_:options:output:)`` works for a terminal: it shows the advertisements on
/// the air, writes no files, and ends at the first fault.
public final class Service {
    private let environment: ServiceEnvironment
    private let runner: AdapterRunner
    private let signals: ServiceSignals
    private let view: any ServiceView
    /// The time on the air after which the service ends, in microseconds; `nil` for never.
    private let duration: Int?
    /// The descriptors of the last wait: the signals, the event sources, and the adapter's channel if it is open.
    private var poll = PollList(reading: [])
    /// The value of ``ServiceEnvironment/connectionChanges`` when ``poll`` was made.
    private var connectionChanges: Int?

    /// The number of messages to the service manager's watchdog in each watchdog period. With three, one may be late.
    private static let watchdogDivisor: UInt64 = 3

    /// Keeps a profile on the air until SIGINT, SIGTERM or SIGQUIT arrives. SIGHUP reloads the profile.
    ///
    /// Call this before the process has a second thread: the signals are blocked in this thread and in the threads that
    /// it starts.
    ///
    /// - Parameters:
    ///   - path: The profile's file.
    ///   - adapter: Overrides the profile's adapter. Without both, the first hciN with LE is used.
    ///   - directories: The directories for status, metrics, locks and state.
    /// - Throws: The reason why the beacon can never go on the air. The service manager has received it already.
    public static func run(
        profile path: String, adapter: AdapterName?, directories: ServiceDirectories
    ) throws(BeaconServiceError) {
        var notifier: ServiceNotifier?
        do {
            let manager = try ServiceNotifier()
            notifier = manager
            let signals = try ServiceSignals()
            let job = try ServiceJob(path: path, adapter: adapter)
            try Privileges.keepOnly(job.neededPrivileges)
            let environment = ServiceEnvironment(job, directories, notifier: manager, signals: signals)
            try environment.begin()
            try Service(environment, notifier: manager, signals: signals, view: ServiceReport(directories)).run()
        } catch {
            let reason = BeaconServiceError(error)
            switch reason {
            case .refused, .instanceLock:
                // `systemctl status` shows this text for a refused profile.
                try? notifier?.send(.status("\(reason)"), .stopping)
                try? notifier?.flush(waitingMilliseconds: ServiceNotifier.finalFlushMilliseconds)
            default: break
            }
            throw reason
        }
    }

    /// Advertises in the foreground until the duration is over, a signal arrives, or a fault ends it.
    ///
    /// - Throws: The fault. Nothing is on the air then, and the adapter is in its former state.
    public static func advertise(
        _ job: ServiceJob, options: ForegroundOptions = ForegroundOptions(), output: any AdvertisingOutput
    ) throws(BeaconServiceError) {
        do {
            try options.check(job.adapter)
            if options.dryRun { return try DryRun(job: job, options: options, output: output).run() }
            let signals = try ServiceSignals(stop: SignalDescriptor.termination, reload: [])
            let notifier = try ServiceNotifier { _ in nil }
            let environment = ServiceEnvironment(
                job, ServiceDirectories(), notifier: notifier, signals: signals,
                foreground: try Foreground(options, output))
            let view = ForegroundView(output)
            let service = Service(
                environment, notifier: notifier, signals: signals, view: view, persistence: .untilFault,
                duration: options.duration)
            try service.run()
            view.end(environment)
        } catch {
            throw BeaconServiceError(error)
        }
    }

    init(
        _ environment: ServiceEnvironment, notifier: ServiceNotifier, signals: ServiceSignals, view: any ServiceView,
        persistence: Supervisor.Persistence = .unlimited, duration: Int? = nil
    ) {
        self.environment = environment
        self.signals = signals
        self.view = view
        self.duration = duration
        var pacing = SupervisorPacing()
        if let period = notifier.watchdogMicroseconds {
            pacing.verification = Int(clamping: max(1, period / Self.watchdogDivisor))
        }
        // In the foreground only the user waits for the shutdown, so the shutdown may take longer.
        if persistence == .untilFault { pacing.shutdown = 5_000_000 }
        environment.listen(&pacing)
        runner = AdapterRunner(
            Supervisor(
                adapter: environment.job.adapterText, persistence: persistence, pacing: pacing, at: environment.now),
            in: environment)
    }

    /// Runs the service until its end.
    func run() throws(BeaconServiceError) {
        begin()
        while !isOver {
            do throws(SystemError) { try runOnce() } catch { throw .system(error) }
        }
        try finish()
    }

    var isOver: Bool { runner.ended != nil }

    func begin() {
        runner.wake()
        update()
    }

    /// Restores the adapter.
    ///
    /// - Throws: The reason why the beacon could not go on the air, or could not be turned off.
    func finish() throws(BeaconServiceError) {
        environment.finish()
        guard runner.ended == true else { throw reason }
        guard environment.isForeground, let failure = runner.shutdownFailure, !failure.isInterruption else { return }
        throw .advertising(failure)
    }

    private var reason: BeaconServiceError {
        if let failure = environment.openFailure { return failure }
        if environment.isForeground, let failure = runner.failure {
            return .advertising(environment.explain(failure))
        }
        return .refused(.invalid, runner.supervisor.lastError ?? "")
    }

    /// Waits for the next event, and handles it.
    func runOnce() throws(SystemError) {
        let sources = environment.sources
        let signalCount = signals.descriptors.count
        if environment.connectionChanges != connectionChanges {
            connectionChanges = environment.connectionChanges
            poll = PollList(
                reading: signals.descriptors + sources.map(\.descriptor)
                    + [environment.channelDescriptor].compactMap(\.self))
        }
        let due = runner.nextWakeUp ?? .distantFuture
        environment.flushNotices()
        let deadline = min(due, environment.nextWakeUp, view.nextUpdate ?? .distantFuture, end ?? .distantFuture)
        try poll.wait(until: deadline.nanoseconds)
        // Another part of the program may have taken the signal while it waited for a command.
        if poll.isReady(0) || signals.isStopTaken, environment.isStopWanted { runner.handle(.stop) }
        if signals.takeReload(poll) { runner.handle(.reloadRequested) }
        let channelIsReady = poll.count > signalCount + sources.count && poll.isReady(signalCount + sources.count)
        let now = environment.now
        for (position, source) in sources.enumerated()
        where poll.isReady(signalCount + position) || source.nextWakeUp.map({ $0 <= now }) == true {
            for event in source.take() { handle(event) }
        }
        // An event may have closed the channel.
        if channelIsReady, environment.connectionChanges == connectionChanges { runner.receive() }
        if due <= now { runner.wake() }
        if let end, end <= now { runner.handle(.stop) }
        update()
    }

    private func handle(_ event: ServiceEvent) {
        switch event {
        case .input(let input): runner.handle(input)
        case .addressChanged:
            if let fault = environment.noteForeignAddress() { runner.handle(fault) }
        case .clockSet: environment.compareClocks()
        }
    }

    /// The time at which ``duration`` is over; `nil` without a duration, and before the advertisements are on the air.
    private var end: HCIInstant? {
        guard let duration else { return nil }
        return environment.advertising?.onAirSince?.advanced(byMicroseconds: duration)
    }

    private func update() {
        environment.save(isLast: isOver)
        view.update(runner, environment)
    }
}

/// Shows the state of a service: in status files, or on a terminal.
protocol ServiceView: AnyObject {
    /// The latest moment for the next ``update(_:_:)``; `nil` if it need not be called without an event.
    var nextUpdate: HCIInstant? { get }
    /// The service calls this each time it has handled events or work that was due.
    func update(_ runner: AdapterRunner, _ environment: ServiceEnvironment)
}

/// The directories of a service.
public struct ServiceDirectories: Hashable, Sendable {
    let state: String
    let runtime: String
    private let metrics: String?

    /// - Parameters:
    ///   - state: The directory for the state that survives a restart; `nil` for systemd's StateDirectory= if it is
    ///     set, otherwise /var/lib/pharos.
    ///   - runtime: The directory for status and locks; `nil` for /run/pharos.
    ///   - metrics: The file for Prometheus; `nil` for NAME.prom in the runtime directory.
    public init(state: String? = nil, runtime: String? = nil, metrics: String? = nil) {
        self.state = StateDirectory.path(state)
        self.runtime = runtime ?? StatusFile.defaultDirectory
        self.metrics = metrics
    }

    func stateFile(_ name: String) -> String { "\(state)/\(name).state.json" }
    /// The path of the state file in versions up to 1.0. A profile can have the same path.
    func oldStateFile(_ name: String) -> String { "\(state)/\(name).json" }
    func statusFile(_ name: String) -> String { "\(runtime)/\(name).status.json" }
    func metricsFile(_ name: String) -> String { metrics ?? "\(runtime)/\(name).prom" }
}

/// The signals of a service. A stop signal also ends the wait for a controller's answer; a reload signal does not.
struct ServiceSignals {
    let stop: SignalDescriptor
    private let reload: SignalDescriptor?

    /// - Parameter reload: The signals that request a reload; empty for a service that does not reload.
    init(stop: [Int32] = SignalDescriptor.ending, reload: [Int32] = [SignalDescriptor.hangUp]) throws(SystemError) {
        self.stop = try SignalDescriptor(stop)
        self.reload = reload.isEmpty ? nil : try SignalDescriptor(reload)
    }

    /// The descriptors to wait for: first the descriptor of the stop signals, then the descriptor of the reload signals
    /// if there are any.
    var descriptors: [Descriptor] { [stop.descriptor] + [reload?.descriptor].compactMap(\.self) }

    /// Returns whether a reload was requested.
    ///
    /// - Parameter poll: A list that begins with ``descriptors``, after its wait.
    func takeReload(_ poll: PollList) -> Bool {
        guard let reload, poll.isReady(1) else { return false }
        return reload.take() != nil
    }

    /// `true` if a stop signal has already been read from its descriptor. Makes no system call.
    var isStopTaken: Bool { stop.takenAt != nil }

    /// `true` if a stop signal has arrived. It never changes back to `false`.
    var isStopWanted: Bool { isStopTaken || stop.take() != nil }
}

/// Writes log lines to standard error: with their priority for the journal (sd-daemon(3)), with the program's name for
/// terminals and files.
package struct Journal {
    /// systemd sets JOURNAL_STREAM if standard error goes to the journal.
    private let isJournal = Terminal.environment("JOURNAL_STREAM") != nil

    package init() {}

    package func write(_ priority: Supervisor.LogPriority, _ text: String) {
        for line in text.split(whereSeparator: \.isNewline) {
            Terminal.writeError((isJournal ? "<\(priority.rawValue)>" : "pharos: ") + line + "\n")
        }
    }
}
