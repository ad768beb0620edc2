internal import Advertiser
internal import BluetoothTypes
internal import EddystoneSecurity
internal import HCI
internal import HCITransports
internal import LinuxHost
internal import VirtualController

/// A keeper's surroundings on a real box: adapters, files, sensors, the service manager, the journal.
final class ServiceBox {
    private(set) var job: ServiceJob
    let finder = AdapterFinder()
    private(set) var sensors: ServiceSensors
    /// Of the controller in use, or of the last one.
    private(set) var capabilities: ControllerCapabilities?
    /// Why it will never work, with its exit code.
    private(set) var permanentFailure: (any Error)?
    private let folders: ServiceFolders
    private let notifier: ServiceNotifier
    private let signals: ServiceSignals
    private let journal = Journal()
    private var adapter: OpenAdapter?
    private var channel: ClosableChannel?
    private var host: HCIHost?
    private var lock: AdapterLock?
    private var air: VirtualAirServer?
    /// Read at a reload, and not yet in use.
    private var nextJob: ServiceJob?
    private var lastStatus: Supervisor.Notice?
    private var state: ServiceState
    private var report: ServiceReport

    init(_ job: ServiceJob, folders: ServiceFolders, notifier: ServiceNotifier, signals: ServiceSignals) {
        self.job = job
        self.folders = folders
        self.notifier = notifier
        self.signals = signals
        let journal = journal
        sensors = ServiceSensors { journal.write(.notice, $0) }
        state = ServiceState(path: folders.stateFile(job.name), log: journal.write)
        report = ServiceReport(folders, log: journal.write)
    }

    var channelDescriptor: Descriptor? { adapter?.descriptor }
}

extension ServiceBox: BeaconSurroundings {
    var now: HCIInstant { HCIInstant(nanoseconds: MonotonicClock.nanoseconds()) }

    func open() throws(BeaconFault) {
        do {
            let name = try finder.find(job.adapter)
            try takeLock(name)
            if name == .virtual, air == nil {
                air = try VirtualAirServer(VirtualAirConfiguration(model: .raspberryPi))
            }
            let opened = try OpenAdapter(name, interruption: signals.stop, air: air)
            adapter = opened
            channel = ClosableChannel(opened.channel)
            finder.isUserChannelOpen = opened.isExclusive
        } catch {
            throw fault(error)
        }
    }

    func close() {
        host = nil
        channel?.close()
        channel = nil
        finder.isUserChannelOpen = false
        do throws(TransportError) {
            try adapter?.close()
        } catch {
            // One that is gone has no power to take away.
            if error.reason != .missing { log(.warning, "\(error)") }
        }
        adapter = nil
    }

    /// Another instance on the same hciN would undo our work. Behind a stream the other end decides who may share.
    private func takeLock(_ name: AdapterName) throws {
        guard let index = name.kernelIndex else {
            lock = nil
            return
        }
        let address = try BlueZAdapter(index: index).address
        guard lock?.address != address else { return }
        lock = nil
        do throws(AdapterLockError) {
            lock = try AdapterLock(address, for: job.name, in: folders.runtime)
        } catch {
            guard case .system = error else { throw error }
            log(.warning, "\(error): another instance on this adapter would not be noticed")
        }
    }

    private func fault(_ error: any Error) -> BeaconFault {
        let fault = AdapterFinder.fault(error)
        if fault.isPermanent { permanentFailure = error }
        return fault
    }

    func start(_ session: (any KeptSession)?) throws(AdvertisingError) -> any KeptSession {
        guard let adapter, let channel else { throw .ended("the adapter is closed") }
        let host = HCIHost(channel: channel)
        let found: ControllerCapabilities
        do throws(HCICommandError) {
            found = try ControllerCapabilities.read(from: host, isExclusive: adapter.isExclusive)
        } catch {
            throw .command(error, remedy: nil)
        }
        capabilities = found
        self.host = host
        let plan = try BeaconPlan(job.sources, on: found, isExclusive: adapter.isExclusive)
        if let session = session as? BeaconSession {
            try session.rearm(on: host, plan: plan)
            return session
        }
        let memory = state.load()
        let clock = EIDClock(
            epochUnixSeconds: job.eidEpoch, saved: memory?.eidCounter ?? IdentityKey.firstCounter, at: host.now)
        let first = BeaconSession(host: host, plan: plan, clock: clock, memory: memory, telemetry: sensors)
        synchronize(first)
        try first.start()
        return first
    }

    func changeOver(_ session: any KeptSession) throws(AdvertisingError) -> any KeptSession {
        guard let adapter, let capabilities, let session = session as? BeaconSession else {
            throw .ended("the adapter is closed")
        }
        let sources = (nextJob ?? job).sources
        try session.replace(with: BeaconPlan(sources, on: capabilities, isExclusive: adapter.isExclusive))
        return session
    }

    func readProfile() -> Supervisor.Input {
        do {
            let read = try job.reread()
            guard read.name == job.name else {
                return .reloadBad("its name is \(read.name) now, and files are named after it; restart for that")
            }
            guard !read.needsMore(than: job) else {
                return .reloadBad("\(read.adapterText) needs rights that were given up; restart for that")
            }
            nextJob = read
            return .reloadGood(adapter: read.adapterText)
        } catch let failure as Failure {
            return .reloadBad(failure.oneLine)
        } catch {
            return .reloadBad("\(error)")
        }
    }

    func adoptProfile() {
        if let nextJob {
            if nextJob.adapter != job.adapter { finder.forget() }
            job = nextJob
        }
        nextJob = nil
    }

    func explain(_ error: HCIChannelError) -> BeaconFault {
        let fault = finder.explain(error)
        if fault.isPermanent { permanentFailure = Failure(.notPermitted, fault.text) }
        return fault
    }

    func log(_ priority: Supervisor.LogPriority, _ text: String) {
        journal.write(priority, text)
    }

    func notify(_ notice: Supervisor.Notice) {
        if case .status = notice {
            guard notice != lastStatus else { return }
            lastStatus = notice
        }
        do throws(SystemError) {
            try notifier.send(ServiceNotifier.State(notice))
        } catch {
            log(.warning, "the service manager could not be told: \(error)")
        }
    }
}

extension ServiceBox {
    /// Whoever keeps the wall clock right has set the clock of ephemeral ids right with it. Where nobody can be asked
    /// it is believed: a clock without a battery is behind, and the saved counter is ahead of it then.
    func synchronize(_ session: BeaconSession?) {
        guard let session, WallClock.synchronization() != .unsynchronized else { return }
        session.synchronize(unixMicroseconds: Int(WallClock.microseconds()))
    }

    /// What others read about this instance, and what it must not forget, is brought up to date.
    func report(_ keeper: BeaconKeeper) {
        report.update(keeper, self)
        guard let session = keeper.session as? BeaconSession else { return }
        state.save(session.memory, isLast: keeper.ended != nil)
    }

    /// When ``report(_:)`` has something to do although nothing happens.
    var nextReport: HCIInstant { state.nextSave.map(HCIInstant.init) ?? .distantFuture }
}

extension ServiceNotifier.State {
    fileprivate init(_ notice: Supervisor.Notice) {
        switch notice {
        case .ready: self = .ready
        case .reloading: self = .reloading(since: MonotonicClock.nanoseconds())
        case .stopping: self = .stopping
        case .watchdog: self = .watchdog
        case .status(let text): self = .status(text)
        }
    }
}
