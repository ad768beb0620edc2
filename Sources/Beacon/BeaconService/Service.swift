internal import Advertiser
internal import BeaconFrames
public import BluetoothTypes
internal import EddystoneSecurity
internal import HCI
internal import LinuxHost

/// A supervised beacon: one thread that waits for the adapter, for signals, for what the kernel tells, and for the time
/// of the next thing to do.
public final class Service {
    private let environment: ServiceEnvironment
    private let runner: AdapterRunner
    private let signals: ServiceSignals
    /// What is waited for: the signals, what tells of things beside the adapter, and the adapter's channel, if it is open.
    private var poll = PollList(reading: [])
    /// The environment's ``ServiceEnvironment/linkChanges`` when that list was made.
    private var linkChanges: Int?

    /// Signs of life for each period of the watchdog: one may come late, and not bring the service down.
    private static let watchdogDivisor: UInt64 = 3

    /// Keeps a profile on the air until SIGINT, SIGTERM or SIGQUIT comes; SIGHUP reads the profile anew.
    ///
    /// The calling thread must be the only one that was started before: these signals are blocked in it, and in every
    /// thread that it starts.
    ///
    /// - Parameters:
    ///   - path: The profile's file.
    ///   - adapter: Goes before the profile's own; `nil` on both sides takes the first hciN with LE.
    ///   - directories: Where the service keeps what it keeps.
    /// - Throws: why the beacon can never go on the air, whatever happens. The service manager has been told by then.
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
            try Service(environment, notifier: manager, signals: signals).run()
        } catch {
            let reason = BeaconServiceError(error)
            switch reason {
            case .refused, .instanceLock:
                // What stands here is what `systemctl status` shows of a profile that is refused.
                try? notifier?.send(.status("\(reason)"), .stopping)
                try? notifier?.flush(waitingMilliseconds: ServiceNotifier.lastPatienceMilliseconds)
            default: break
            }
            throw reason
        }
    }

    init(_ environment: ServiceEnvironment, notifier: ServiceNotifier, signals: ServiceSignals) {
        self.environment = environment
        self.signals = signals
        var pacing = SupervisorPacing()
        if let period = notifier.watchdogMicroseconds {
            pacing.verification = Int(clamping: max(1, period / Self.watchdogDivisor))
        }
        environment.listen(&pacing)
        runner = AdapterRunner(
            Supervisor(adapter: environment.job.adapterText, pacing: pacing, at: environment.now), in: environment)
    }

    /// Runs until it is told to end.
    func run() throws(BeaconServiceError) {
        begin()
        while !isOver {
            do throws(SystemError) { try turn() } catch { throw .system(error) }
        }
        try finish()
    }

    var isOver: Bool { runner.ended != nil }

    func begin() {
        runner.wake()
        environment.report(runner)
    }

    /// Leaves everything in order.
    ///
    /// - Throws: why the beacon could never go on the air.
    func finish() throws(BeaconServiceError) {
        environment.finish()
        guard runner.ended == false else { return }
        throw environment.permanentFailure ?? .refused(.invalid, runner.supervisor.lastError ?? "")
    }

    /// Waits for the next thing to happen, and does what it asks for.
    func turn() throws(SystemError) {
        let sources = environment.sources
        if environment.linkChanges != linkChanges {
            linkChanges = environment.linkChanges
            poll = PollList(
                reading: [signals.stop.descriptor, signals.reload.descriptor] + sources.map(\.descriptor)
                    + [environment.channelDescriptor].compactMap(\.self))
        }
        let due = runner.nextWakeUp ?? .distantFuture
        let deadline = min(due, environment.nextWakeUp)
        environment.tellAgain()
        try poll.wait(until: deadline.nanoseconds)
        // Whoever heard the signal first may have been busy with something else.
        if poll.isReady(0) || signals.isStopTaken, environment.isStopWanted { runner.handle(.stop) }
        if poll.isReady(1), signals.reload.take() != nil { runner.handle(.reloadRequested) }
        let channelIsReady = poll.count > 2 + sources.count && poll.isReady(2 + sources.count)
        let now = environment.now
        for (position, source) in sources.enumerated()
        where poll.isReady(2 + position) || source.nextWakeUp.map({ $0 <= now }) == true {
            for input in source.take() { runner.handle(input) }
        }
        // Unless it has been closed because of what the kernel told.
        if channelIsReady, environment.linkChanges == linkChanges { runner.receive() }
        if due <= now { runner.wake() }
        environment.report(runner)
    }
}

/// Where a service keeps what it keeps.
public struct ServiceDirectories: Hashable, Sendable {
    let state: String
    let runtime: String
    private let metrics: String?

    /// - Parameters:
    ///   - state: What must survive a restart; `nil` for systemd's StateDirectory= or else /var/lib/pharos.
    ///   - runtime: Status and locks; `nil` for /run/pharos.
    ///   - metrics: The file for Prometheus; `nil` for NAME.prom beside the status.
    public init(state: String? = nil, runtime: String? = nil, metrics: String? = nil) {
        self.state = state ?? Terminal.environment("STATE_DIRECTORY") ?? "/var/lib/pharos"
        self.runtime = runtime ?? "/run/pharos"
        self.metrics = metrics
    }

    func stateFile(_ name: String) -> String { "\(state)/\(name).json" }
    func statusFile(_ name: String) -> String { "\(runtime)/\(name).status.json" }
    func metricsFile(_ name: String) -> String { metrics ?? "\(runtime)/\(name).prom" }
}

/// The signals of a service: those that end it also end any waiting for a controller, the other waits its turn.
struct ServiceSignals {
    let stop: SignalDescriptor
    let reload: SignalDescriptor

    init(stop: [Int32] = SignalDescriptor.ending, reload: [Int32] = [SignalDescriptor.hangUp]) throws(SystemError) {
        self.stop = try SignalDescriptor(stop)
        self.reload = try SignalDescriptor(reload)
    }

    /// Whether somebody has heard the wish to stop. Costs no system call.
    var isStopTaken: Bool { stop.takenAt != nil }

    /// Once it is true it stays so.
    var isStopWanted: Bool { isStopTaken || stop.take() != nil }
}

/// Log lines on standard error: for the journal each with its priority in front (sd-daemon(3)), for people with the
/// program's name.
struct Journal {
    /// systemd sets JOURNAL_STREAM where standard error goes to the journal.
    private let isJournal = Terminal.environment("JOURNAL_STREAM") != nil
    /// Where the lines go instead, for tests.
    var hear: ((Supervisor.LogPriority, String) -> Void)?

    func write(_ priority: Supervisor.LogPriority, _ text: String) {
        if let hear { return hear(priority, text) }
        for line in text.split(whereSeparator: \.isNewline) {
            Terminal.writeError((isJournal ? "<\(priority.rawValue)>" : "pharos: ") + line + "\n")
        }
    }
}

/// What a service has to do: a profile that was read and found good, with its keys, and the adapter that it is for.
struct ServiceJob {
    let name: String
    let path: String
    /// As on the command line or in the profile; `nil` takes the first hciN with LE.
    let adapter: AdapterName?
    let sources: [PayloadSource]
    /// When the clock of ephemeral ids was 65280, in seconds since 1970.
    let eidEpoch: Int?
    /// Tells one version of the profile from another.
    let hash: String
    /// What its author should know of the profile, one sentence each.
    let warnings: [String]
    private let adapterOption: AdapterName?

    /// - Throws: `refused` with everything that is wrong.
    init(path: String, adapter: AdapterName?) throws(BeaconServiceError) {
        self.path = path
        adapterOption = adapter
        let profile = try LoadedProfile(path: path, isReadAgain: true)
        name = profile.name
        hash = profile.hash
        warnings = profile.warnings
        eidEpoch = profile.eidEpochUnixSeconds
        self.adapter = adapter ?? profile.adapter
        let problems = profile.advertisements.compactMap(ServiceSensors.problem)
        guard problems.isEmpty else { throw .refused(.invalid, "\(path): " + problems.joined(separator: "; ")) }
        sources = try profile.advertisements.map { advertisement throws(BeaconServiceError) in
            try profile.source(advertisement)
        }
    }

    /// The same file, read anew.
    func reread() throws(BeaconServiceError) -> ServiceJob {
        try ServiceJob(path: path, adapter: adapterOption)
    }

    /// How the adapter is called in sentences.
    var adapterText: String { adapter?.description ?? "a Bluetooth adapter" }

    /// Whether the kernel's Bluetooth is used.
    var isOnKernelAdapter: Bool { adapter.map { $0.kernelIndex != nil } ?? true }

    /// What this adapter needs, and no more: the others are given up for good.
    var neededPrivileges: Set<Privileges.Capability> {
        switch adapter {
        // The manager needs the first; the monitor channel, which tells what others do, the second.
        case nil, .raw, .managed: [.netAdmin, .netRaw]
        case .user: [.netAdmin]
        case .tcp, .unix, .serial, .virtual: []
        }
    }

    /// Whether a reload may take over from `other`: what it needs has not been given up.
    func needsMore(than other: ServiceJob) -> Bool {
        !neededPrivileges.isSubset(of: other.neededPrivileges)
    }
}
