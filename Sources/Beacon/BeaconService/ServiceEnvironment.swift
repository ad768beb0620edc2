internal import Advertiser
internal import BluetoothTypes
internal import HCI
internal import HCITransports
internal import LinuxHost
internal import VirtualController

/// The environment of a service: the adapter, files, sensors, clocks, the service manager and the log.
final class ServiceEnvironment {
    private(set) var job: ServiceJob
    let finder = AdapterFinder()
    let sensors = ServiceSensors()
    /// Descriptors that report what happens to the adapter or the machine.
    private(set) var sources: [any ServiceEventSource] = []
    /// The reason why the adapter can never be opened, with its exit code.
    private(set) var openFailure: BeaconServiceError?
    /// The session on the air, or the last session that was on the air; `nil` before the first session.
    private(set) var advertising: (any AdvertisingSession)?
    /// Increases when the adapter is opened or closed, because its descriptor changes then.
    private(set) var connectionChanges = 0
    private let directories: ServiceDirectories
    private let notifier: ServiceNotifier
    private let signals: ServiceSignals
    private let foreground: Foreground?
    private let writeLog: (Supervisor.LogPriority, String) -> Void
    private let wallClock: () -> (unixMicroseconds: Int, isTrusted: Bool)
    private var connection: AdapterConnection? { didSet { connectionChanges += 1 } }
    private var foreign: ForeignEvents?
    /// The adapters to power down at the end, because this service has powered them on. Their numbers may have changed
    /// by then.
    private var adaptersToPowerDown: Set<DeviceAddress> = []
    /// The adapters whose LE is turned off at the end, because this service has turned it on.
    private var adaptersToTurnLEOff: Set<DeviceAddress> = []
    private var lock: AdapterLock?
    /// The lock for listening, which an exclusive channel needs in addition to ``lock``.
    private var listenLock: AdapterLock?
    private var nameLock: InstanceLock?
    private var air: VirtualAirServer?
    /// The profile that was read last, until it is in use.
    private var nextJob: ServiceJob?
    /// The file of the last reload if it was refused; otherwise `nil`.
    private(set) var rejectedFile: InstanceStatus.RejectedFile?
    /// The last status line for the service manager.
    private var lastStatus: Supervisor.Notice?
    /// The warnings that were logged.
    private var loggedWarnings: Set<String> = []
    private var state: ServiceState?
    /// The adapter whose user channel this beacon has had, in this run or in the previous run.
    private var ownedAdapter: DeviceAddress?
    private var clockWatch = EIDClockWatch()

    /// The time after which a message is sent again if the service manager was too busy to accept it, in microseconds.
    private static let noticePause = 50_000
    /// The maximum time in which the kernel turns advertising on after it has accepted an instance, in microseconds.
    private static let confirmationMicroseconds = 200_000

    /// Returns the wall clock, and whether it is synchronised.
    static func readWallClock() -> (unixMicroseconds: Int, isTrusted: Bool) {
        (Int(WallClock.microseconds()), WallClock.synchronization() == .synchronized)
    }

    /// - Parameters:
    ///   - foreground: `nil` for a service that writes files.
    ///   - log: Writes a line of the log.
    ///   - opened: An adapter that is open already, and the events of its monitor channel; `nil` to open the job's
    ///     adapter with ``open()``.
    init(
        _ job: ServiceJob, _ directories: ServiceDirectories, notifier: ServiceNotifier, signals: ServiceSignals,
        foreground: Foreground? = nil, log: @escaping (Supervisor.LogPriority, String) -> Void = Journal().write,
        wallClock: @escaping () -> (unixMicroseconds: Int, isTrusted: Bool) = ServiceEnvironment.readWallClock,
        opened: (connection: AdapterConnection, foreign: ForeignEvents)? = nil
    ) {
        (connection, foreign) = (opened?.connection, opened?.foreign)
        self.job = job
        self.directories = directories
        self.notifier = notifier
        self.signals = signals
        self.foreground = foreground
        self.wallClock = wallClock
        writeLog = foreground.map { foreground in { foreground.output.warn($1) } } ?? log
    }

    /// Creates the runtime directory, locks the instance's name in it, and reads the saved state.
    ///
    /// - Throws: ``InstanceLockError/held(_:process:)`` if another instance with this name is running. If no lock can
    ///   be created, logs a warning and continues.
    func begin() throws(BeaconServiceError) {
        for warning in job.warnings { write(.warning, warning) }
        var state = ServiceState(
            path: directories.stateFile(job.name), oldPath: directories.oldStateFile(job.name))
        if let problem = state.load() { write(.warning, problem) }
        self.state = state
        do throws(SystemError) {
            try Files.makeDirectory(directories.runtime)
        } catch {
            write(
                .warning,
                "\(error): `pharos status` cannot show this beacon; create the directory, or choose another one with "
                    + "--runtime-dir")
            return
        }
        if let last = StatusFile.beacon(job.name, in: directories.runtime), last.adapter.hasSuffix(":user") {
            ownedAdapter = last.address
        }
        do throws(InstanceLockError) {
            nameLock = try InstanceLock(job.name, in: directories.runtime)
        } catch {
            guard case .system = error else { throw .instanceLock(error) }
            write(.warning, "\(error): a second instance named \(job.name) could start unnoticed")
        }
    }

    /// Opens the event sources, and sets the pacing for the sources that are available.
    func listen(_ pacing: inout SupervisorPacing) {
        let isKernelAdapter = job.isOnKernelAdapter
        let arrivals = isKernelAdapter ? try? AdapterEvents(finder) : nil
        let rfkill = isKernelAdapter ? try? RFKillEvents(finder) : nil
        foreign = isKernelAdapter && job.neededPrivileges.contains(.netRaw) ? try? ForeignEvents(finder) : nil
        pacing.hasArrivalEvents = arrivals != nil
        pacing.hasRFKillEvents = rfkill != nil
        let possibleSources: [(any ServiceEventSource)?] = [arrivals, rfkill, foreign, try? ClockEvents()]
        sources = possibleSources.compactMap(\.self)
    }

    var isForeground: Bool { foreground != nil }

    var channelDescriptor: Descriptor? { connection?.descriptor }

    /// The reports that a second virtual controller has received so far; `nil` on real adapters.
    var heard: HeardOnAir? { foreground?.receiver?.heard() }

    private func write(_ priority: Supervisor.LogPriority, _ text: String) { writeLog(priority, text) }
}

extension ServiceEnvironment: AdapterEnvironment {
    var now: HCIInstant { HCIInstant(nanoseconds: MonotonicClock.nanoseconds()) }

    var isStopWanted: Bool { signals.isStopWanted }

    var session: (any AdapterSession)? { advertising }

    func open() throws(AdapterFault) {
        do {
            let name = try finder.find(job.adapter)
            guard name != .virtualTour else {
                throw BeaconServiceError.refused(
                    .request, "\(name): only commands that receive can use this adapter; to send, use virtual")
            }
            try takeLock(name)
            if name == .virtual, air == nil {
                air = try VirtualAirServer(VirtualAirConfiguration(model: foreground?.model ?? .raspberryPi))
            }
            dropOldEvents()
            try refuseWhenBlocked(name)
            let opened = try connect(name)
            try takeLock(opened)
            foreign?.skip()
            connection = opened
            finder.isUserChannelOpen = opened.isUserChannel
            if opened.isUserChannel { ownedAdapter = finder.addressInUse }
            noteRaised(opened)
            if let foreground, let air { try foreground.receive(from: air) }
        } catch {
            let fault = AdapterFinder.fault(error)
            if fault.isPermanent || isForeground { openFailure = BeaconServiceError(error) }
            throw fault
        }
    }

    private func connect(_ name: AdapterName) throws(TransportError) -> AdapterConnection {
        do throws(TransportError) {
            return try AdapterConnection(name, interruption: signals.stop, air: air, foreign: foreign)
        } catch {
            try lowerOwnAdapter(name, error)
            let connection = try AdapterConnection(name, interruption: signals.stop, air: air, foreign: foreign)
            // Powering the adapter down and taking its user channel cause events. These events are no faults of the new
            // session.
            dropOldEvents()
            return connection
        }
    }

    /// If this beacon has had the adapter's user channel before, powers the adapter down: bluetoothd powers it on as
    /// soon as the channel is closed, so a beacon that starts again would never get the channel back.
    ///
    /// - Throws: `problem` if powering the adapter down cannot help: if this beacon has not had the adapter's user
    ///   channel, or if the user channel is busy for another reason.
    private func lowerOwnAdapter(_ name: AdapterName, _ problem: TransportError) throws(TransportError) {
        guard case .user(let index) = name, problem.reason == .busy, !isForeground,
            let adapter = try? BlueZAdapter(index: index), adapter.isUp, adapter.address == ownedAdapter
        else { throw problem }
        write(
            .notice,
            "\(name): another program has powered the adapter up since this beacon last used it; powering it down "
                + "again")
        try BlueZAdapter.bringDown(index)
    }

    /// Drops the events that arrived before the adapter is opened, and the events that powering it on causes, because
    /// they do not concern the new session. Only a change of the wall clock is handled.
    private func dropOldEvents() {
        for source in sources {
            for case .clockSet in source.take() { compareClocks() }
        }
    }

    /// Refuses an adapter whose radio is switched off by rfkill, because not every form of adapter reports this when it
    /// is opened. If rfkill switches the radio off later, an event reports this.
    private func refuseWhenBlocked(_ name: AdapterName) throws(AdapterFault) {
        guard let index = name.kernelIndex, let radioSwitch = RFKill.switch(of: "hci\(index)"),
            let remedy = radioSwitch.remedy
        else { return }
        throw AdapterFault(.rfkill, "\(name): the radio is switched off by rfkill; \(remedy)")
    }

    private func noteRaised(_ connection: AdapterConnection) {
        if let index = connection.raisedIndex, let adapter = try? BlueZAdapter(index: index) {
            adaptersToPowerDown.insert(adapter.address)
        }
        if let address = connection.raisedLowEnergy { adaptersToTurnLEOff.insert(address) }
    }

    /// Closes the adapter, but leaves it powered: powering it down would look like another program's action.
    func close() {
        if let foreground {
            // The monitor channel may have shown which program took the adapter away.
            for cause in foreign?.causes() ?? [] { foreground.output.warn("\(finder.nameInUse): \(cause)") }
        }
        connection?.close()
        connection = nil
        finder.isUserChannelOpen = false
    }

    /// Takes the lock of an hciN or of a serial line, because two instances on one controller would undo each other's
    /// settings. The lock of a controller behind a socket is taken later, when the socket is connected.
    private func takeLock(_ name: AdapterName) throws {
        switch name {
        case .raw(let index), .user(let index), .managed(let index):
            let adapter = LockedAdapter(try BlueZAdapter(index: index).address)
            if isForeground, case .managed = name {
                // A program that uses the kernel's advertising manager needs no lock, but it must not share the adapter
                // with a crowd.
                (lock, listenLock) = (nil, nil)
                return try CrowdRun.refuse(besideCrowdOn: adapter, in: directories.runtime)
            }
            let isUserChannel = if case .user = name { true } else { false }
            try takeLock(adapter, isAlsoListening: isUserChannel)
        case .serial:
            if let adapter = AdapterClaim.adapter(name) { try takeLock(adapter, isAlsoListening: true) }
        case .tcp, .unix: return
        case .virtual, .virtualTour: (lock, listenLock) = (nil, nil)
        }
    }

    /// Takes the lock of the controller behind a socket, before the session resets the controller.
    private func takeLock(_ opened: AdapterConnection) throws {
        if let adapter = opened.adapterBehindSocket { try takeLock(adapter, isAlsoListening: true) }
    }

    private func takeLock(_ adapter: LockedAdapter, isAlsoListening: Bool) throws {
        guard lock?.adapter != adapter || (listenLock != nil) != isAlsoListening else { return }
        (lock, listenLock) = (nil, nil)
        let holder = isForeground ? "pharos advertise" : job.name
        if isForeground { try? Files.makeDirectory(directories.runtime) }
        do throws(AdapterLockError) {
            lock = try AdapterLock(adapter, for: holder, in: directories.runtime)
            if isAlsoListening {
                listenLock = try AdapterLock(adapter, .listen, for: holder, in: directories.runtime)
            }
        } catch {
            guard case .system = error else { throw error }
            // A user without rights in the directory may still advertise.
            if !isForeground { write(.warning, "\(error): a second instance could use this adapter unnoticed") }
        }
    }

    func startSession() throws(SessionError) -> any AdapterSession {
        guard let connection else { throw .ended(.adapterGone, "the adapter is closed") }
        // This is also necessary after a failed start, because the adapter may have been powered on before the failure.
        defer { noteRaised(connection) }
        return note(try connection.start(job, after: advertising, inputs))
    }

    /// Checks that advertising is on, because the kernel answers with success even if it does not turn advertising on.
    func confirmOnAir() throws(SessionError) {
        guard let foreign, let advertising, advertising.controller.family == .managed else { return }
        // A session that has started again may have instances with other numbers.
        foreign.watch(advertising.watched)
        let deadline = now.advanced(byMicroseconds: Self.confirmationMicroseconds)
        if let obstacle = foreign.obstacle(until: deadline) { throw .ended(.foreignDisabled, obstacle) }
    }

    /// Notes that another program has changed the controller's address. Returns the fault if an advertisement needs its
    /// own address.
    func noteForeignAddress() -> Supervisor.Input? {
        guard let session = advertising as? BeaconSession else { return nil }
        do throws(SessionError) {
            try session.noteForeignAddress()
            return nil
        } catch {
            return .failed(.foreignChanged, "\(finder.nameInUse): \(error)")
        }
    }

    func changeOver() throws(SessionError) -> any AdapterSession {
        guard let connection, let advertising else { throw .ended(.adapterGone, "the adapter is closed") }
        return note(try connection.changeOver(to: nextJob ?? job, from: advertising, inputs))
    }

    private var inputs: AdapterConnection.SessionInputs {
        let needsWallClock = (nextJob ?? job).eidEpoch != nil
        return AdapterConnection.SessionInputs(
            sensors: sensors, memory: state?.memoryOfLastRun ?? job.memory,
            wallClock: needsWallClock ? wallClock() : nil,
            record: foreground.map { foreground in { foreground.record($0, $1) } })
    }

    private func note(_ started: AdapterConnection.StartedSession) -> any AdvertisingSession {
        advertising = started.session
        if let correction = started.correction { note(correction) }
        let isComplete = !isForeground || started.session.controller.family == .managed
        for warning in isComplete ? started.session.warnings : started.session.transmitPowerWarnings {
            // A warning is still true when the beacon starts again, so it is logged only once.
            if loggedWarnings.insert(warning).inserted {
                write(.warning, isForeground ? "warning: \(warning)" : warning)
            }
        }
        return started.session
    }

    func readProfile() -> Supervisor.Input {
        let input = readNewProfile()
        if case .reloadBad(let reason) = input {
            rejectedFile = InstanceStatus.RejectedFile(time: .now, reason: reason)
        } else {
            rejectedFile = nil
        }
        return input
    }

    private func readNewProfile() -> Supervisor.Input {
        do throws(BeaconServiceError) {
            let newJob = try job.reread()
            guard newJob.name == job.name else {
                return .reloadBad(
                    "the profile's name is now \(newJob.name), but the service's files have the old name; restart the "
                        + "service")
            }
            guard !newJob.needsMore(than: job) else {
                return .reloadBad("\(newJob.adapterText) needs capabilities that were given up; restart the service")
            }
            for warning in newJob.warnings { write(.warning, warning) }
            nextJob = newJob
            return .reloadGood(adapter: newJob.adapterText)
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
        if fault.isPermanent { openFailure = .refused(.notPermitted, fault.text) }
        return fault
    }

    /// The error with which a session in the foreground ends. If an adapter is unplugged, the kernel first reports that
    /// the adapter was powered down; then only the kernel's list of adapters shows the cause.
    func explain(_ error: SessionError) -> SessionError {
        guard case .ended(.poweredDown, _) = error else { return error }
        let fault = finder.explain(.gone("the adapter was powered down"))
        return fault.cause == .adapterGone ? .ended(fault.cause, fault.text) : error
    }

    /// Writes a message of the supervisor. In the foreground, notices are left out, because the view shows success.
    func log(_ priority: Supervisor.LogPriority, _ text: String) {
        if isForeground, priority == .notice { return }
        write(priority, text)
    }

    func notify(_ notice: Supervisor.Notice) {
        if case .status = notice {
            guard notice != lastStatus else { return }
            lastStatus = notice
        }
        do throws(SystemError) {
            try notifier.send(ServiceNotifier.State(notice))
        } catch {
            write(.warning, "the service manager could not be informed: \(error)")
        }
    }

    /// Sends the messages that the service manager had no room for, if it has room now.
    func flushNotices() { try? notifier.flush() }
}

extension ServiceEnvironment {
    /// Compares the clock of ephemeral ids with the wall clock.
    func compareClocks() {
        // Without an epoch, the clock of ephemeral ids does not depend on the wall clock.
        guard let advertising, advertising.clock.epochUnixSeconds != nil else {
            clockWatch = EIDClockWatch()
            return
        }
        let time = wallClock()
        note(advertising.synchronize(unixMicroseconds: time.unixMicroseconds, isTrusted: time.isTrusted))
    }

    private func note(_ correction: EIDClock.Correction) {
        if let (priority, text) = clockWatch.note(correction, at: MonotonicClock.nanoseconds()) {
            write(priority, text)
        }
    }

    /// Seconds by which the clock of ephemeral ids is ahead of a wall clock that may be wrong; `nil` if they agree.
    var eidClockAhead: Int? { clockWatch.ahead }

    /// Saves the values that must survive a restart, and logs changes of the sensors.
    ///
    /// - Parameter isLast: `true` if the service ends.
    func save(isLast: Bool) {
        if clockWatch.isDue(at: MonotonicClock.nanoseconds()) { compareClocks() }
        for message in sensors.takeMessages() { write(.notice, message) }
        guard let advertising, advertising.hasMemory else { return }
        if let (priority, text) = state?.save(advertising.memory, isLast: isLast) { write(priority, text) }
    }

    /// Restores the adapters.
    func finish() {
        nameLock = nil
        try? notifier.flush(waitingMilliseconds: ServiceNotifier.finalFlushMilliseconds)
        for adapter in adaptersToPowerDown.compactMap(BlueZAdapter.find) {
            do throws(TransportError) {
                try BlueZAdapter.bringDown(adapter.index)
            } catch {
                // A missing adapter does not have to be powered down.
                if error.reason != .missing { write(.warning, "\(error)") }
            }
        }
        for adapter in adaptersToTurnLEOff.compactMap(BlueZAdapter.find) {
            guard let socket = try? ManagementSocket(adapter.name) else { continue }
            _ = try? ManagementHost(channel: socket).execute(SetLowEnergy(false), index: adapter.index)
        }
    }

    /// The time of the next work that no event announces.
    var nextWakeUp: HCIInstant {
        var wakeUp = HCIInstant.distantFuture
        if let save = state?.nextSave { wakeUp = min(wakeUp, HCIInstant(nanoseconds: save)) }
        if notifier.hasBacklog { wakeUp = min(wakeUp, now.advanced(byMicroseconds: Self.noticePause)) }
        if let reading = clockWatch.nextReading { wakeUp = min(wakeUp, HCIInstant(nanoseconds: reading)) }
        for source in sources {
            if let due = source.nextWakeUp { wakeUp = min(wakeUp, due) }
        }
        return wakeUp
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
