internal import Advertiser
internal import BeaconFrames
internal import BluetoothTypes
internal import EddystoneSecurity
internal import HCI
internal import HCITransports
internal import LinuxHost

/// A service's open adapter: a channel for HCI packets, or the kernel's advertising manager.
final class AdapterConnection {
    private enum Connection {
        case hci(OpenAdapter, ClosableChannel)
        case managed(index: UInt16, ManagementSocket)
    }

    let descriptor: Descriptor
    /// N of an hciN that was brought up for this.
    private(set) var raisedIndex: UInt16?
    let isUserChannel: Bool
    private let connection: Connection
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
            connection = .managed(index: index, socket)
            descriptor = socket.descriptor
            raisedIndex = nil
            isUserChannel = false
        } else {
            let adapter = try OpenAdapter(name, interruption: interruption, air: air)
            connection = .hci(adapter, ClosableChannel(adapter.channel))
            descriptor = adapter.descriptor
            raisedIndex = adapter.raisedIndex
            isUserChannel = adapter.isExclusive
        }
    }

    /// Lets go of the adapter, whoever still holds a session on it.
    func close() {
        if case .hci(_, let channel) = connection { channel.close() }
        foreign?.ignore()
    }

    /// What stays the same over all of a service's sessions.
    struct SessionInputs {
        let sensors: ServiceSensors
        let memory: BeaconMemory?
        /// Sets the clock of ephemeral ids right.
        let synchronize: (any AdvertisingSession) -> Void
        /// Tells the operator what will not be as it was asked for.
        let warn: (String) -> Void
    }

    /// Puts the job's advertisements on the air. Counts, ids and the clock of `session` go on.
    func start(
        _ job: ServiceJob, after session: (any AdvertisingSession)?, _ inputs: SessionInputs
    ) throws(SessionError) -> any AdvertisingSession {
        switch connection {
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
            if let running = session as? BeaconSession {
                try running.rearm(on: host, plan: plan)
                return watched(running, inputs)
            }
            let clock = clock(job, session, inputs, host.now)
            let first = BeaconSession(
                host: host, plan: plan, clock: clock, memory: inputs.memory, telemetry: inputs.sensors)
            inputs.synchronize(first)
            try first.start()
            return watched(first, inputs)
        case .managed(let index, let socket):
            let host = ManagementHost(channel: socket)
            host.observer = foreign?.managementObserver
            return try startManaged(job, after: session, inputs, host, index)
        }
    }

    /// Others are watched from now on, and the operator is told what is not as it was asked for.
    private func watched(_ session: any AdvertisingSession, _ inputs: SessionInputs) -> any AdvertisingSession {
        foreign?.watch(session.watched)
        for warning in session.warnings { inputs.warn(warning) }
        return session
    }

    private func startManaged(
        _ job: ServiceJob, after session: (any AdvertisingSession)?, _ inputs: SessionInputs, _ host: ManagementHost,
        _ index: UInt16
    ) throws(SessionError) -> ManagedSession {
        let adapter = try ManagedAdapter(host, index: index)
        if adapter.raisedPower { raisedIndex = index }
        // Powering an adapter resets it.
        foreign?.skip()
        let plan = try ManagedPlan(job.sources.map(\.advertisement), on: adapter.capabilities)
        for warning in plan.warnings { inputs.warn("\(warning)") }
        var counters = TelemetryCounters()
        if let old = session as? ManagedSession { counters = old.counters }
        let first = ManagedSession(
            host: host, plan: plan, sources: job.sources, clock: clock(job, session, inputs, host.now),
            memory: session?.memory ?? inputs.memory, countersAtStart: counters, telemetry: inputs.sensors)
        inputs.synchronize(first)
        try first.start()
        foreign?.watch(first.watched)
        return first
    }

    private func clock(
        _ job: ServiceJob, _ session: (any AdvertisingSession)?, _ inputs: SessionInputs, _ now: HCIInstant
    ) -> EIDClock {
        let saved = session?.clock.counter(at: now) ?? inputs.memory?.eidCounter
        return EIDClock(epochUnixSeconds: job.eidEpoch, saved: saved, at: now)
    }

    /// Sends the job's advertisements in the place of those of `session`.
    func changeOver(
        to job: ServiceJob, from session: any AdvertisingSession, _ inputs: SessionInputs
    ) throws(SessionError) -> any AdvertisingSession {
        if let running = session as? ManagedSession { return try changeOver(to: job, from: running, inputs) }
        guard case .hci(let adapter, _) = connection, let running = session as? BeaconSession else {
            throw .ended(.adapterGone, "the adapter is closed")
        }
        let capabilities = running.plan.capabilities
        try running.replace(with: SendingPlan(job.sources, on: capabilities, isExclusive: adapter.isExclusive))
        return watched(running, inputs)
    }

    private func changeOver(
        to job: ServiceJob, from session: ManagedSession, _ inputs: SessionInputs
    ) throws(SessionError) -> ManagedSession {
        // The kernel gives the freed instances to the new ones; what it refuses leaves the old ones to be added again.
        try session.stop()
        do throws(SessionError) {
            return try startManaged(
                job, after: session, inputs, session.managementHost, session.plan.index)
        } catch {
            guard !error.isInterruption else { throw error }
            try? session.restart()
            foreign?.watch(session.watched)
            throw error
        }
    }
}
