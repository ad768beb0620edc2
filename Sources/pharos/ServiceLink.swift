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
        let synchronize: (any ServiceSession) -> Void
        /// Tells the operator what will not be as it was asked for.
        let warn: (String) -> Void
    }

    private func warn(_ session: BeaconSession, _ environment: Environment) {
        for status in session.advertisements {
            guard let complaint = status.grant.complaint else { continue }
            environment.warn("\(status.advertisement.content.typeName): radio power \(complaint)")
        }
    }

    /// Puts the job's advertisements on the air. Counts, ids and the clock of `session` go on.
    func start(
        _ job: ServiceJob, after session: (any ServiceSession)?, _ environment: Environment
    ) throws(AdvertisingError) -> any ServiceSession {
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
            let plan = try BeaconPlan(job.sources, on: found, isExclusive: adapter.isExclusive)
            if let session = session as? BeaconSession {
                try session.rearm(on: host, plan: plan)
                foreign?.watch(session.plan.watched)
                warn(session, environment)
                return session
            }
            let clock = clock(job, session, environment, host.now)
            let first = BeaconSession(
                host: host, plan: plan, clock: clock, memory: environment.memory, telemetry: environment.sensors)
            environment.synchronize(first)
            try first.start()
            foreign?.watch(first.plan.watched)
            warn(first, environment)
            return first
        case .managed(let index, let socket):
            let host = ManagementHost(channel: socket)
            host.observer = foreign?.managementObserver
            return try startManaged(job, after: session, environment, host, index)
        }
    }

    private func startManaged(
        _ job: ServiceJob, after session: (any ServiceSession)?, _ environment: Environment, _ host: ManagementHost,
        _ index: UInt16
    ) throws(AdvertisingError) -> ManagedSession {
        let adapter = try ManagedAdapter(host, index: index)
        if adapter.raisedPower { raisedIndex = index }
        // Powering an adapter resets it.
        foreign?.skip()
        let plan = try ManagedPlan(job.sources.map(\.advertisement), on: adapter.capabilities)
        for warning in plan.warnings { environment.warn("\(warning)") }
        let counters = (session as? ManagedSession)?.counters ?? TelemetryCounters()
        let first = ManagedSession(
            host: host, plan: plan, sources: job.sources, clock: clock(job, session, environment, host.now),
            memory: session?.memory ?? environment.memory, countersAtStart: counters, telemetry: environment.sensors)
        environment.synchronize(first)
        try first.start()
        foreign?.watch(.managed(instances: Set(plan.instances.map(\.number))))
        return first
    }

    private func clock(
        _ job: ServiceJob, _ session: (any ServiceSession)?, _ environment: Environment, _ now: HCIInstant
    ) -> EIDClock {
        let saved = session?.clock.counter(at: now) ?? environment.memory?.eidCounter ?? IdentityKey.firstCounter
        return EIDClock(epochUnixSeconds: job.eidEpoch, saved: saved, at: now)
    }

    /// Sends the job's advertisements in the place of those of `session`.
    func changeOver(
        to job: ServiceJob, from session: any ServiceSession, _ environment: Environment
    ) throws(AdvertisingError) -> any ServiceSession {
        if let session = session as? BeaconSession, case .hci(let adapter, _) = way {
            let capabilities = session.plan.capabilities
            try session.replace(with: BeaconPlan(job.sources, on: capabilities, isExclusive: adapter.isExclusive))
            foreign?.watch(session.plan.watched)
            warn(session, environment)
            return session
        }
        guard let session = session as? ManagedSession else { throw .ended(.adapterGone, "the adapter is closed") }
        // The kernel gives the freed instances to the new ones; what it refuses leaves the old ones to be added again.
        try session.stop()
        do throws(AdvertisingError) {
            return try startManaged(job, after: session, environment, session.managementHost, session.plan.index)
        } catch {
            guard !error.isInterruption else { throw error }
            try? session.restart()
            foreign?.watch(.managed(instances: Set(session.plan.instances.map(\.number))))
            throw error
        }
    }
}

/// A session of any form, as a service sees it.
protocol ServiceSession: KeptSession {
    var clock: EIDClock { get }
    /// What must survive a restart.
    var memory: BeaconMemory { get }
    func synchronize(unixMicroseconds: Int)
}

extension BeaconSession: ServiceSession {}
extension ManagedSession: ServiceSession {}

extension RadioPowerGrant {
    /// What is to be said where the power is not the one that was asked for.
    fileprivate var complaint: String? {
        switch self {
        case .notSettable, .unverified: description
        case .granted, .reported, .unknown: nil
        }
    }
}

extension BeaconPlan {
    /// What others must leave alone.
    fileprivate var watched: ForeignActivity.Watched {
        let handles = allocation.sets.compactMap { set -> UInt8? in
            guard case .extended(let handle) = set.plan.family else { return nil }
            return handle
        }
        return handles.isEmpty ? .legacy : .sets(handles: Set(handles))
    }
}
