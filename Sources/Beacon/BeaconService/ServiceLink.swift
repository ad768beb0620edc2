internal import Advertiser
internal import BeaconFrames
internal import BluetoothTypes
internal import EddystoneSecurity
internal import HCI
internal import HCITransports
internal import LinuxHost

/// A service's way to its controller, from one opening to the next closing: by HCI, or through the kernel's advertising
/// manager.
final class ServiceLink {
    private enum Way {
        case hci(OpenAdapter, ClosableChannel)
        case managed(index: UInt16, ManagementSocket)
    }

    let descriptor: Descriptor
    /// N of an hciN that was brought up for this.
    private(set) var raisedIndex: UInt16?
    let isUserChannel: Bool
    private let way: Way
    private var foreign: ForeignEvents?

    init(
        _ name: AdapterName, interruption: SignalDescriptor, air: VirtualAirServer?, foreign: ForeignEvents?
    ) throws(TransportError) {
        self.foreign = foreign
        if let index = name.kernelIndex { foreign?.follow(index) }
        if case .managed(let index) = name {
            // Says that it is not there, where it is not.
            _ = try BlueZAdapter(index: index)
            let socket = try ManagementSocket(name.description, interruption: interruption)
            way = .managed(index: index, socket)
            descriptor = socket.descriptor
            raisedIndex = nil
            isUserChannel = false
        } else {
            let adapter = try OpenAdapter(name, interruption: interruption, air: air)
            way = .hci(adapter, ClosableChannel(adapter.channel))
            descriptor = adapter.descriptor
            raisedIndex = adapter.raisedIndex
            isUserChannel = adapter.isExclusive
        }
    }

    /// Lets go of the adapter, whoever still holds a session on it.
    func close() {
        if case .hci(_, let channel) = way { channel.close() }
        foreign?.ignore()
    }

    /// What stays the same over all of a service's sessions.
    struct Environment {
        let sensors: ServiceSensors
        let memory: BeaconMemory?
        /// Sets the clock of ephemeral ids right.
        let synchronize: (any KeptSession) -> Void
        /// Tells the operator what will not be as it was asked for.
        let warn: (String) -> Void
    }

    /// Puts the job's advertisements on the air. Counts, ids and the clock of `session` go on.
    func start(
        _ job: ServiceJob, after session: ServiceSession?, _ environment: Environment
    ) throws(AdvertisingError) -> ServiceSession {
        switch way {
        case .hci(let adapter, let channel):
            let host = HCIHost(channel: channel)
            host.observer = foreign?.observer
            let found: ControllerCapabilities
            do throws(HCICommandError) {
                found = try ControllerCapabilities.read(from: host, isExclusive: adapter.isExclusive)
            } catch {
                throw .command(error, remedy: nil)
            }
            let plan = try SendingPlan(job.sources, on: found, isExclusive: adapter.isExclusive)
            if let session, case .hci(let running) = session.way {
                try running.rearm(on: host, plan: plan)
                return watched(session, environment)
            }
            let clock = clock(job, session, environment, host.now)
            let first = BeaconSession(
                host: host, plan: plan, clock: clock, memory: environment.memory, telemetry: environment.sensors)
            environment.synchronize(first)
            try first.start()
            return watched(ServiceSession(first), environment)
        case .managed(let index, let socket):
            let host = ManagementHost(channel: socket)
            host.observer = foreign?.managementObserver
            return ServiceSession(try startManaged(job, after: session, environment, host, index))
        }
    }

    /// Others are watched from now on, and the operator is told what is not as it was asked for.
    private func watched(_ session: ServiceSession, _ environment: Environment) -> ServiceSession {
        foreign?.watch(session.watched)
        for warning in session.warnings { environment.warn(warning) }
        return session
    }

    private func startManaged(
        _ job: ServiceJob, after session: ServiceSession?, _ environment: Environment, _ host: ManagementHost,
        _ index: UInt16
    ) throws(AdvertisingError) -> ManagedSession {
        let adapter = try ManagedAdapter(host, index: index)
        if adapter.raisedPower { raisedIndex = index }
        // Powering an adapter resets it.
        foreign?.skip()
        let plan = try ManagedPlan(job.sources.map(\.advertisement), on: adapter.capabilities)
        for warning in plan.warnings { environment.warn("\(warning)") }
        var counters = TelemetryCounters()
        if case .managed(let old) = session?.way { counters = old.counters }
        let first = ManagedSession(
            host: host, plan: plan, sources: job.sources, clock: clock(job, session, environment, host.now),
            memory: session?.memory ?? environment.memory, countersAtStart: counters, telemetry: environment.sensors)
        environment.synchronize(first)
        try first.start()
        foreign?.watch(first.plan.watched)
        return first
    }

    private func clock(
        _ job: ServiceJob, _ session: ServiceSession?, _ environment: Environment, _ now: HCIInstant
    ) -> EIDClock {
        let saved = session?.clock.counter(at: now) ?? environment.memory?.eidCounter
        return EIDClock(epochUnixSeconds: job.eidEpoch, saved: saved, at: now)
    }

    /// Sends the job's advertisements in the place of those of `session`.
    func changeOver(
        to job: ServiceJob, from session: ServiceSession, _ environment: Environment
    ) throws(AdvertisingError) -> ServiceSession {
        switch (session.way, way) {
        case (.hci(let running), .hci(let adapter, _)):
            let capabilities = running.plan.capabilities
            try running.replace(with: SendingPlan(job.sources, on: capabilities, isExclusive: adapter.isExclusive))
            return watched(session, environment)
        case (.managed(let running), _):
            return ServiceSession(try changeOver(to: job, from: running, environment))
        case (.hci, .managed):
            throw .ended(.adapterGone, "the adapter is closed")
        }
    }

    private func changeOver(
        to job: ServiceJob, from session: ManagedSession, _ environment: Environment
    ) throws(AdvertisingError) -> ManagedSession {
        // The kernel gives the freed instances to the new ones; what it refuses leaves the old ones to be added again.
        try session.stop()
        do throws(AdvertisingError) {
            return try startManaged(
                job, after: ServiceSession(session), environment, session.managementHost, session.plan.index)
        } catch {
            guard !error.isInterruption else { throw error }
            try? session.restart()
            foreign?.watch(session.plan.watched)
            throw error
        }
    }
}

extension SendingPlan {
    /// What others must leave alone.
    fileprivate var watched: ForeignActivity.Watched {
        let handles = allocation.sets.compactMap { set -> UInt8? in
            guard case .extended(let handle) = set.plan.family else { return nil }
            return handle
        }
        return handles.isEmpty ? .legacy : .sets(handles: Set(handles))
    }
}

extension ManagedPlan {
    /// What others must leave alone.
    fileprivate var watched: ForeignActivity.Watched { .managed(instances: Set(instances.map(\.number))) }
}

/// A service's session, by either of the two ways to its controller.
final class ServiceSession: KeptSession {
    enum Way {
        /// By HCI commands.
        case hci(BeaconSession)
        /// Through the kernel's advertising manager.
        case managed(ManagedSession)
    }

    let way: Way
    private let session: any KeptSession

    init(_ session: BeaconSession) {
        way = .hci(session)
        self.session = session
    }

    init(_ session: ManagedSession) {
        way = .managed(session)
        self.session = session
    }

    /// What others must leave alone.
    fileprivate var watched: ForeignActivity.Watched {
        switch way {
        case .hci(let session): session.plan.watched
        case .managed(let session): session.plan.watched
        }
    }

    var isOnAir: Bool { session.isOnAir }
    var onAirSince: HCIInstant? { session.onAirSince }
    var nextWakeUp: HCIInstant? { session.nextWakeUp }
    func wake(_ now: HCIInstant) throws(AdvertisingError) { try session.wake(now) }
    func receive() throws(AdvertisingError) { try session.receive() }
    func verify() throws(AdvertisingError) -> Bool { try session.verify() }
    func rearm() throws(AdvertisingError) { try session.rearm() }
    func silence(since instant: HCIInstant) { session.silence(since: instant) }
    func stop(by deadline: HCIInstant) throws(AdvertisingError) { try session.stop(by: deadline) }
    var advertisements: [OnAirAdvertisement] { session.advertisements }
    var computedEvents: UInt64 { session.computedEvents }
    var secondsOnAir: Int { session.secondsOnAir }
    var controller: OnAirController { session.controller }
    var warnings: [String] { session.warnings }
    var clock: EIDClock { session.clock }
    var hasMemory: Bool { session.hasMemory }
    var memory: BeaconMemory { session.memory }
    func synchronize(unixMicroseconds: Int, isTrusted: Bool) -> EIDClock.Correction {
        session.synchronize(unixMicroseconds: unixMicroseconds, isTrusted: isTrusted)
    }
}
