internal import Advertiser
internal import BeaconService
public import BluetoothTypes
internal import LinuxHost
public import Listener

/// The service of a listener file: receives advertisements, stores the events of zones, starts hooks, publishes to a
/// broker, and writes a status file and metrics.
public enum ListenService {
    /// The options of the service.
    public struct Options {
        /// The listener file.
        public var path: String
        /// The adapter to use instead of the adapter in the file; `nil` for the adapter in the file.
        public var adapter: AdapterName?
        /// The directory of files that must survive a restart of the machine; `nil` for the StateDirectory= of systemd,
        /// or /var/lib/pharos if systemd did not set it.
        public var stateDirectory: String?
        /// The directory of status files and locks; `nil` for /run/pharos.
        public var runtimeDirectory: String?
        /// The metrics file for Prometheus; `nil` for NAME.listener.prom in the runtime directory.
        public var metricsFile: String?
        /// The run time in microseconds; `nil` to run until a signal arrives.
        public var duration: Int?
        /// The version of this program, which is published to the broker.
        public var version = ""
        /// True if each event is printed as a line of JSON after it was stored, in addition to its line in the journal.
        public var printsEvents = false

        /// Creates options for the file at `path`, with defaults for everything else.
        public init(path: String) { self.path = path }

        var runtime: String { runtimeDirectory ?? "/run/pharos" }
    }

    /// Runs the service until SIGINT, SIGTERM or SIGQUIT. At SIGHUP, the service reads the file again. The calling
    /// thread must be the only thread of the process.
    ///
    /// - Throws: The reason why the service cannot receive. The service manager has then been notified.
    public static func run(_ options: Options) throws(ListenerServiceError) {
        var notifier: ServiceNotifier?
        do {
            let manager = try ServiceNotifier()
            notifier = manager
            let stop = try SignalDescriptor(SignalDescriptor.ending)
            let reload = try SignalDescriptor([SignalDescriptor.hangUp])
            let file = try HubFile(path: options.path)
            let lock = try lock(file, options)
            let source = try open(file, options, hasLock: lock != nil, stop: stop)
            let run = try ListenRun(file, options, source, manager, reload: reload)
            try withExtendedLifetime(lock) { try run.run() }
        } catch {
            let reason: ListenerServiceError = error as? ListenerServiceError ?? .service(BeaconServiceError(error))
            try? notifier?.send(.status("\(reason)"), .stopping)
            try? notifier?.flush(waitingMilliseconds: ServiceNotifier.finalFlushMilliseconds)
            throw reason
        }
    }

    /// Takes the lock of the listener's name. Throws an error if a service of the same name is already running. If the
    /// lock cannot be created, logs a warning and returns `nil`.
    private static func lock(_ file: HubFile, _ options: Options) throws -> InstanceLock? {
        let name = file.listener.name
        do throws(SystemError) {
            try Files.makeDirectory(options.runtime)
        } catch {
            Journal().write(
                .warning,
                "\(error): the status of this listener cannot be written; create the directory, or name another one "
                    + "with --runtime-dir")
            return nil
        }
        do throws(InstanceLockError) {
            return try InstanceLock("\(name).listener", in: options.runtime)
        } catch {
            if case .held(_, let process) = error {
                throw ListenerServiceError.refused(
                    .unavailable,
                    "a listener named \(name) is already running\(process.map { " (process \($0))" } ?? ""): stop it first, "
                        + "or give this file another name")
            }
            Journal().write(.warning, "\(error): a second listener of this name would not be detected")
            return nil
        }
    }

    private static func open(
        _ file: HubFile, _ options: Options, hasLock: Bool, stop: SignalDescriptor
    ) throws -> SightingSource {
        let adapter = options.adapter ?? file.listener.adapter
        if case .managed(let index)? = adapter {
            throw ListenerServiceError.refused(
                .invalid,
                "\(options.path): hci\(index):mgmt reports only that beacons are present, not when they are silent: use "
                    + "hci\(index) or hci\(index):user")
        }
        try Privileges.keepOnly(adapter.neededPrivileges)
        var live = SightingSource.Options(adapter: adapter)
        live.settings = file.listener.settings
        live.durationMicroseconds = options.duration
        live.virtualBeacons = file.known.virtualBeacons
        live.purpose = "pharos listen \(file.listener.name)"
        live.runtimeDirectory = options.runtime
        live.signals = stop
        live.waitsForAdapter = true
        live.hasLeftover = hasLock && ListenerStatusWriter.wasInterrupted(file.listener.name, in: options.runtime)
        let source = try SightingSource.live(live)
        source.useLevels(of: file.listener)
        return source
    }
}
