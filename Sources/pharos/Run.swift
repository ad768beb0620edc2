internal import ArgumentParser
internal import HCITransports
internal import LinuxHost

/// `run PROFILE`: the service.
struct Run: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "run", abstract: "Keep a profile on the air as a service.",
        discussion: """
            Meant for systemd (systemctl enable --now pharos@NAME), but works without it: SIGHUP reloads the profile, \
            SIGTERM ends the service. It waits for a missing adapter, and puts the beacon back on the air whenever the \
            adapter was unplugged, powered down or reset.
            """)

    @Argument(help: "Beacon profile, such as /etc/pharos/lobby-north.json.", completion: .file())
    var profile: String

    @Option(
        name: .shortAndLong,
        help: ArgumentHelp(
            "hci0, hci0:user, hci0:mgmt, tcp:HOST:PORT, unix:PATH, serial:PATH@RATE or virtual.", valueName: "name"),
        completion: .adapters, transform: OptionValue.adapter)
    var adapter: AdapterName?

    @Option(
        help: ArgumentHelp("Directory of the saved state (default: /var/lib/pharos).", valueName: "directory"),
        completion: .directory)
    var stateDir: String?

    @Option(
        help: ArgumentHelp("Directory of status files and locks (default: /run/pharos).", valueName: "directory"),
        completion: .directory)
    var runtimeDir: String?

    @Option(
        help: ArgumentHelp(
            "File for the Prometheus metrics (default: NAME.prom in the runtime directory).", valueName: "file"),
        completion: .file())
    var metricsFile: String?

    func run() throws {
        let notifier = try ServiceNotifier()
        do {
            let signals = try ServiceSignals()
            let job = try ServiceJob(path: profile, adapter: adapter)
            try Privileges.keepOnly(job.neededPrivileges)
            let folders = ServiceFolders(state: stateDir, runtime: runtimeDir, metrics: metricsFile)
            let box = ServiceBox(job, folders: folders, notifier: notifier, signals: signals)
            try box.begin()
            try Service(box, notifier: notifier, signals: signals).run()
        } catch let error as InstanceLockError {
            try? notifier.send(.status("\(error)"), .stopping)
            try? notifier.flush(waitingMilliseconds: ServiceNotifier.lastPatienceMilliseconds)
            throw error
        } catch let failure as Failure {
            // What stands here is what `systemctl status` shows of a profile that is refused.
            try? notifier.send(.status(failure.oneLine), .stopping)
            try? notifier.flush(waitingMilliseconds: ServiceNotifier.lastPatienceMilliseconds)
            throw failure
        }
    }
}

/// Where a service keeps what it keeps.
struct ServiceFolders {
    let state: String
    let runtime: String
    private let metrics: String?

    /// - Parameters are as on the command line; what is left out, systemd's StateDirectory= tells.
    init(state: String?, runtime: String?, metrics: String?) {
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

    init() throws(SystemError) {
        stop = try SignalDescriptor(SignalDescriptor.ending)
        reload = try SignalDescriptor([SignalDescriptor.hangUp])
    }
}
