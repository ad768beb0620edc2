internal import Advertiser
internal import BluetoothTypes
internal import HCI
internal import HCITransports
internal import LinuxHost
internal import VirtualController

/// The environment of a service: adapters, files, sensors, the service manager and the log.
final class ServiceEnvironment {
    private(set) var job: ServiceJob
    let finder = AdapterFinder()
    private(set) var sensors: ServiceSensors
    /// What tells of things beside the adapter.
    private(set) var sources: [any ServiceEventSource] = []
    /// Why it will never work, with its exit code.
    private(set) var permanentFailure: BeaconServiceError?
    private let directories: ServiceDirectories
    private let notifier: ServiceNotifier
    private let signals: ServiceSignals
    private let journal: Journal
    private let wallClock: () -> (unixMicroseconds: Int, isTrusted: Bool)
    private var link: AdapterConnection? { didSet { linkChanges += 1 } }
    /// Counts how often the adapter was opened and closed: another descriptor each time.
    private(set) var linkChanges = 0
    private var foreign: ForeignEvents?
    /// The hciN that have been brought up, to be put down in the end, whatever their numbers are by then.
    private var raised: Set<DeviceAddress> = []
    private var lock: AdapterLock?
    /// Of a user channel, beside which nobody can listen.
    private var listenLock: AdapterLock?
    /// Nobody else runs under this name.
    private var nameLock: InstanceLock?
    /// What is on the air, or was last.
    private(set) var advertising: (any AdvertisingSession)?
    private var air: VirtualAirServer?
    /// Read at a reload, and not yet in use.
    private var nextJob: ServiceJob?
    private var lastStatus: Supervisor.Notice?
    private var warned: Set<String> = []
    private var state: ServiceState
    private var report: ServiceReport
    private var clockWatch = EIDClockWatch()

    /// How soon a service manager that was busy is tried again, in microseconds.
    private static let noticePause = 50_000

    /// What the wall clock shows, and whether somebody says that it is right.
    static func askWallClock() -> (unixMicroseconds: Int, isTrusted: Bool) {
        (Int(WallClock.microseconds()), WallClock.synchronization() == .synchronized)
    }

    init(
        _ job: ServiceJob, _ directories: ServiceDirectories, notifier: ServiceNotifier, signals: ServiceSignals,
        journal: Journal = Journal(),
        wallClock: @escaping () -> (unixMicroseconds: Int, isTrusted: Bool) = ServiceEnvironment.askWallClock
    ) {
        self.job = job
        self.directories = directories
        self.notifier = notifier
        self.signals = signals
        self.journal = journal
        self.wallClock = wallClock
        sensors = ServiceSensors { journal.write(.notice, $0) }
        state = ServiceState(path: directories.stateFile(job.name), log: journal.write)
        report = ServiceReport(directories, log: journal.write)
    }

    /// Makes the runtime directory where it is missing, and takes the name in it.
    ///
    /// - Throws: ``InstanceLockError/held(_:process:)`` where another instance runs under this name. Where no lock can be
    ///   made that is told, and costs nothing else.
    func begin() throws(BeaconServiceError) {
        for warning in job.warnings { log(.warning, warning) }
        do throws(SystemError) {
            try Files.makeDirectory(directories.runtime)
        } catch {
            log(
                .warning,
                "\(error): `pharos status` shows nothing of this beacon; make the directory, or name another one with "
                    + "--runtime-dir")
            return
        }
        do throws(InstanceLockError) {
            nameLock = try InstanceLock(job.name, in: directories.runtime)
        } catch {
            guard case .system = error else { throw .instanceLock(error) }
            log(.warning, "\(error): another instance under the name \(job.name) would not be noticed")
        }
    }

    var channelDescriptor: Descriptor? { link?.descriptor }

    /// Opens what tells of the kernel's adapters, as far as there is any of it, and says how much is heard.
    func listen(_ pacing: inout SupervisorPacing) {
        let kernel = job.isOnKernelAdapter
        let arrivals = kernel ? try? AdapterEvents(finder) : nil
        let rfkill = kernel ? try? RFKillEvents(finder) : nil
        foreign = kernel && job.neededPrivileges.contains(.netRaw) ? try? ForeignEvents(finder) : nil
        pacing.hearsArrivals = arrivals != nil
        pacing.hearsRFKill = rfkill != nil
        let clock = try? ClockEvents { [unowned self] in lookAtTheClock() }
        let all: [(any ServiceEventSource)?] = [arrivals, rfkill, foreign, clock]
        sources = all.compactMap(\.self)
    }
}

extension ServiceEnvironment: AdapterEnvironment {
    var now: HCIInstant { HCIInstant(nanoseconds: MonotonicClock.nanoseconds()) }

    var isStopWanted: Bool { signals.isStopWanted }

    func open() throws(AdapterFault) {
        do {
            let name = try finder.find(job.adapter)
            try takeLock(name)
            if name == .virtual, air == nil {
                air = try VirtualAirServer(VirtualAirConfiguration(model: .raspberryPi))
            }
            // What was told until now is about the time before, and so is what raising the adapter has told.
            for source in sources { _ = source.take() }
            try refuseWhenBlocked(name)
            let opened = try AdapterConnection(name, interruption: signals.stop, air: air, foreign: foreign)
            foreign?.skip()
            link = opened
            finder.isUserChannelOpen = opened.isUserChannel
            noteRaised(opened)
        } catch {
            throw fault(error)
        }
    }

    /// Not every form is told by the kernel why an adapter cannot be raised. What changes after this is heard.
    private func refuseWhenBlocked(_ name: AdapterName) throws(AdapterFault) {
        guard let index = name.kernelIndex, let blocked = RFKill.switch(of: "hci\(index)"), let remedy = blocked.remedy
        else { return }
        throw AdapterFault(.rfkill, "\(name): the radio is switched off by rfkill; \(remedy)")
    }

    private func noteRaised(_ link: AdapterConnection) {
        if let index = link.raisedIndex, let adapter = try? BlueZAdapter(index: index) {
            raised.insert(adapter.address)
        }
    }

    /// The adapter keeps its power: putting it down would be heard as somebody else's doing.
    func close() {
        link?.close()
        link = nil
        finder.isUserChannelOpen = false
    }

    /// Another instance on the same hciN would undo our work. Behind a stream the other end decides who may share.
    private func takeLock(_ name: AdapterName) throws {
        guard let index = name.kernelIndex else {
            (lock, listenLock) = (nil, nil)
            return
        }
        let address = try BlueZAdapter(index: index).address
        guard lock?.address != address else { return }
        (lock, listenLock) = (nil, nil)
        do throws(AdapterLockError) {
            lock = try AdapterLock(address, for: job.name, in: directories.runtime)
            if case .user = name {
                listenLock = try AdapterLock(address, .listen, for: job.name, in: directories.runtime)
            }
        } catch {
            guard case .system = error else { throw error }
            log(.warning, "\(error): another instance on this adapter would not be noticed")
        }
    }

    private func fault(_ error: any Error) -> AdapterFault {
        let fault = AdapterFinder.fault(error)
        if fault.isPermanent { permanentFailure = BeaconServiceError(error) }
        return fault
    }

    var session: (any AdapterSession)? { advertising }

    func startSession() throws(SessionError) -> any AdapterSession {
        guard let link else { throw .ended(.adapterGone, "the adapter is closed") }
        // Also after a failure: only now is it known whether the kernel has powered the adapter on.
        defer { noteRaised(link) }
        let started = try link.start(job, after: advertising, sessionInputs())
        advertising = started
        return started
    }

    func changeOver() throws(SessionError) -> any AdapterSession {
        guard let link, let advertising else { throw .ended(.adapterGone, "the adapter is closed") }
        let changed = try link.changeOver(to: nextJob ?? job, from: advertising, sessionInputs())
        self.advertising = changed
        return changed
    }

    private func sessionInputs() -> AdapterConnection.SessionInputs {
        .init(
            sensors: sensors, memory: state.saved, synchronize: { [unowned self] in synchronize($0) },
            warn: { [unowned self] in warn($0) })
    }

    /// What stays as it is over restarts of the beacon is told once.
    private func warn(_ text: String) {
        if warned.insert(text).inserted { log(.warning, text) }
    }

    func readProfile() -> Supervisor.Input {
        do throws(BeaconServiceError) {
            let read = try job.reread()
            guard read.name == job.name else {
                return .reloadBad("its name is \(read.name) now, and files are named after it; restart for that")
            }
            guard !read.needsMore(than: job) else {
                return .reloadBad("\(read.adapterText) needs rights that were given up; restart for that")
            }
            for warning in read.warnings { log(.warning, warning) }
            nextJob = read
            return .reloadGood(adapter: read.adapterText)
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

    func explain(_ error: HCIChannelError) -> AdapterFault {
        let fault = finder.explain(error)
        if fault.isPermanent { permanentFailure = .refused(.notPermitted, fault.text) }
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
            log(.warning, "the service manager could not be informed: \(error)")
        }
    }

    /// Tells the service manager what it had no room for, as far as it has now.
    func tellAgain() { try? notifier.flush() }
}

extension ServiceEnvironment {
    /// The wall clock was set, or somebody may say by now that it is right.
    func lookAtTheClock() {
        if let advertising { synchronize(advertising) }
    }

    /// Compares the clock of ephemeral ids with the wall clock.
    private func synchronize(_ session: any AdvertisingSession) {
        // Nobody is asked about a wall clock that does not matter.
        guard session.clock.epochUnixSeconds != nil else { return }
        let wall = wallClock()
        let correction = session.synchronize(unixMicroseconds: wall.unixMicroseconds, isTrusted: wall.isTrusted)
        if let (priority, text) = clockWatch.note(correction, at: MonotonicClock.nanoseconds()) { log(priority, text) }
    }

    /// By how many seconds the clock of ephemeral ids is ahead of a wall clock that nobody vouches for.
    var eidClockAhead: Int? { clockWatch.ahead }

    /// What others read about this instance, and what it must not forget, is brought up to date.
    func report(_ runner: AdapterRunner) {
        if clockWatch.isDue(at: MonotonicClock.nanoseconds()) { lookAtTheClock() }
        report.update(runner, self)
        guard let advertising, advertising.hasMemory else { return }
        state.save(advertising.memory, isLast: runner.ended != nil)
    }

    /// Leaves the adapters as they were found.
    func finish() {
        nameLock = nil
        try? notifier.flush(waitingMilliseconds: ServiceNotifier.lastPatienceMilliseconds)
        for adapter in raised.compactMap(BlueZAdapter.find) {
            do throws(TransportError) {
                try BlueZAdapter.bringDown(adapter.index)
            } catch {
                // One that is gone has no power to take away.
                if error.reason != .missing { log(.warning, "\(error)") }
            }
        }
    }

    /// When something has to be done although nothing happens.
    var nextWakeUp: HCIInstant {
        var earliest = HCIInstant.distantFuture
        if let save = state.nextSave { earliest = min(earliest, HCIInstant(nanoseconds: save)) }
        if notifier.hasBacklog { earliest = min(earliest, now.advanced(byMicroseconds: Self.noticePause)) }
        if let look = clockWatch.nextLook { earliest = min(earliest, HCIInstant(nanoseconds: look)) }
        for source in sources {
            if let due = source.nextWakeUp { earliest = min(earliest, due) }
        }
        return earliest
    }
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
