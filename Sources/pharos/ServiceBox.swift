internal import Advertiser
internal import BluetoothTypes
internal import HCI
internal import HCITransports
internal import LinuxHost
internal import VirtualController

/// A keeper's surroundings on a real box: adapters, files, the service manager, the journal.
final class ServiceBox: BeaconSurroundings {
    private(set) var job: ServiceJob
    private let folders: ServiceFolders
    private let notifier: ServiceNotifier
    private let signals: ServiceSignals
    private let journal = Journal()
    private let finder = AdapterFinder()
    private var opened: OpenAdapter?
    private var channel: ClosableChannel?
    private var controller: Controller?
    private var lock: AdapterLock?
    private var air: VirtualAirServer?
    private var lastStatus: Supervisor.Notice?
    /// Read at a reload, and not yet in use.
    private var nextJob: ServiceJob?
    /// Why it will never work, with its exit code.
    private(set) var permanentFailure: (any Error)?
    private(set) var sources: [any ServiceEventSource] = []
    let hearsArrivals = false
    let hearsRFKill = false

    /// The controller behind the open adapter, once it has been asked.
    private struct Controller {
        let host: HCIHost
        let capabilities: ControllerCapabilities
        let isExclusive: Bool
    }

    init(_ job: ServiceJob, folders: ServiceFolders, notifier: ServiceNotifier, signals: ServiceSignals) {
        self.job = job
        self.folders = folders
        self.notifier = notifier
        self.signals = signals
    }

    var now: HCIInstant { HCIInstant(nanoseconds: MonotonicClock.nanoseconds()) }
    var adapterText: String { job.adapterText }
    var channelDescriptor: Descriptor? { opened?.descriptor }

    func open() throws(BeaconFault) {
        do {
            let name = try finder.find(job.adapter)
            try takeLock(name)
            if name == .virtual, air == nil {
                air = try VirtualAirServer(VirtualAirConfiguration(model: .raspberryPi))
            }
            let adapter = try OpenAdapter(name, interruption: signals.stop, air: air)
            channel = ClosableChannel(adapter.channel) { HCIInstant(nanoseconds: MonotonicClock.nanoseconds()) }
            opened = adapter
        } catch {
            throw fault(error)
        }
    }

    func close() {
        do throws(TransportError) {
            try opened?.close()
        } catch {
            log(.warning, "\(error)")
        }
        channel?.close()
        channel = nil
        opened = nil
        controller = nil
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

    func explain(_ error: HCIChannelError) -> BeaconFault {
        finder.explain(error)
    }

    func log(_ priority: Supervisor.LogPriority, _ text: String) {
        journal.write(priority, text)
    }

    func notify(_ notice: Supervisor.Notice) {
        let state: ServiceNotifier.State =
            switch notice {
            case .ready: .ready
            case .reloading: .reloading(since: MonotonicClock.nanoseconds())
            case .stopping: .stopping
            case .watchdog: .watchdog
            case .status(let text): .status(text)
            }
        if case .status = notice {
            guard notice != lastStatus else { return }
            lastStatus = notice
        }
        do throws(SystemError) {
            try notifier.send(state)
        } catch {
            log(.warning, "the service manager could not be told: \(error)")
        }
    }
}

extension ServiceBox {
    func start(_ session: (any KeptSession)?) throws(AdvertisingError) -> any KeptSession {
        guard let opened, let channel else { throw .ended("the adapter is closed") }
        let host = HCIHost(channel: channel)
        let found: ControllerCapabilities
        do throws(HCICommandError) {
            found = try ControllerCapabilities.read(from: host, isExclusive: opened.isExclusive)
        } catch {
            throw .command(error, remedy: nil)
        }
        controller = Controller(host: host, capabilities: found, isExclusive: opened.isExclusive)
        let session = try makeSession(job)
        try session.start()
        return session
    }

    func changeOver(_ session: any KeptSession) throws(AdvertisingError) -> any KeptSession {
        let next = try makeSession(nextJob ?? job)
        do throws(AdvertisingError) {
            try next.start()
        } catch {
            try? session.rearm()
            throw error
        }
        return next
    }

    private func makeSession(_ job: ServiceJob) throws(AdvertisingError) -> AdvertisingSession {
        guard let controller else { throw .ended("the adapter is closed") }
        let sources = job.sources()
        guard sources.count == 1, let source = sources.first else {
            throw .impossible("this version sends one advertisement, and the profile has \(sources.count)")
        }
        let plan = try AdvertisingPlan(
            source.advertisement, on: controller.capabilities, isExclusive: controller.isExclusive)
        return AdvertisingSession(
            host: controller.host, plan: plan, source: source, isExclusive: controller.isExclusive)
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
        if let nextJob { job = nextJob }
        nextJob = nil
    }

    /// What others read about this instance is brought up to date.
    func report(_ keeper: BeaconKeeper) {}

    func finish(_ keeper: BeaconKeeper) {}
}
