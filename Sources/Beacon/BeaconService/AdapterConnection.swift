internal import Advertiser
internal import BeaconFrames
internal import BluetoothTypes
package import HCI
internal import HCITransports
internal import LinuxHost

/// A service's open adapter: a channel for HCI packets, or the kernel's advertising manager.
final class AdapterConnection {
    private enum Form {
        case hci(OpenAdapter, ClosableChannel)
        case managed(index: UInt16, any ManagementChannel)
    }

    let descriptor: Descriptor
    /// The number of an hciN that was powered on for this connection.
    private(set) var raisedIndex: UInt16?
    /// The address of an adapter whose LE was turned on for this connection.
    private(set) var raisedLowEnergy: DeviceAddress?
    let isUserChannel: Bool
    private let form: Form
    private let foreign: ForeignEvents?

    init(
        _ name: AdapterName, interruption: SignalDescriptor, air: VirtualAirServer?, foreign: ForeignEvents?
    ) throws(TransportError) {
        self.foreign = foreign
        if let index = name.kernelIndex { foreign?.follow(index) }
        if case .managed(let index) = name {
            // Throws if there is no such adapter.
            _ = try BlueZAdapter(index: index)
            let socket = try ManagementSocket(name.description, interruption: interruption)
            form = .managed(index: index, socket)
            descriptor = socket.descriptor
            raisedIndex = nil
            isUserChannel = false
        } else {
            let adapter = try OpenAdapter(name, interruption: interruption, air: air)
            form = .hci(adapter, ClosableChannel(adapter.channel))
            descriptor = adapter.descriptor
            raisedIndex = adapter.raisedIndex
            isUserChannel = adapter.isExclusive
        }
    }

    /// Uses an open channel to the advertising manager of hci`index`, such as that of a simulated kernel.
    init(managed index: UInt16, _ channel: any ManagementChannel, _ descriptor: Descriptor, foreign: ForeignEvents?) {
        foreign?.follow(index)
        self.foreign = foreign
        self.descriptor = descriptor
        form = .managed(index: index, channel)
        isUserChannel = false
    }

    /// The controller behind a socket, for a lock; `nil` for other adapters. Each access reads the controller's
    /// address.
    var adapterBehindSocket: LockedAdapter? {
        guard case .hci(let adapter, _) = form else { return nil }
        return AdapterClaim.adapter(adapter)
    }

    /// Closes the adapter, even if a session still refers to it.
    func close() {
        if case .hci(_, let channel) = form { channel.close() }
        foreign?.ignore()
    }

    /// The inputs of a new session.
    struct SessionInputs {
        let sensors: ServiceSensors
        /// The ids and counters of an earlier run; `nil` if there are none.
        let memory: BeaconMemory?
        /// The wall clock, and whether it is synchronised; `nil` if ids do not depend on it.
        let wallClock: (unixMicroseconds: Int, isTrusted: Bool)?
        /// Receives each HCI packet, and whether the controller sent it; `nil` without a capture.
        let record: ((HCIPacket, Bool) -> Void)?
    }

    /// A session that is on the air.
    struct StartedSession {
        let session: any AdvertisingSession
        /// The result of comparing the new session's clock with the wall clock; `nil` if they were not compared.
        var correction: EIDClock.Correction?
    }

    /// Puts the job's advertisements on the air. Counts, ids and clock continue from `session`, the previous session.
    func start(
        _ job: ServiceJob, after session: (any AdvertisingSession)?, _ inputs: SessionInputs
    ) throws(SessionError) -> StartedSession {
        let started: StartedSession
        switch form {
        case .hci(let adapter, let channel):
            started = try start(job, after: session, inputs, hciHost(channel, inputs), adapter.isExclusive)
        case .managed(let index, let socket):
            let host = ManagementHost(channel: socket)
            host.observer = { [foreign] packet, isFromKernel in
                if !isFromKernel { foreign?.announce(packet) }
            }
            started = try startManaged(job, after: session, inputs, host, index)
        }
        foreign?.watch(started.session.watched)
        return started
    }

    private func hciHost(_ channel: ClosableChannel, _ inputs: SessionInputs) -> HCIHost {
        let host = HCIHost(channel: channel)
        let (foreign, record) = (foreign, inputs.record)
        guard foreign != nil || record != nil else { return host }
        host.observer = { packet, isFromController, _ in
            if !isFromController { foreign?.announce(packet) }
            record?(packet, isFromController)
        }
        return host
    }

    private func start(
        _ job: ServiceJob, after session: (any AdvertisingSession)?, _ inputs: SessionInputs, _ host: HCIHost,
        _ isExclusive: Bool
    ) throws(SessionError) -> StartedSession {
        let capabilities: ControllerCapabilities
        do throws(HCICommandError) {
            capabilities = try ControllerCapabilities.read(from: host, isExclusive: isExclusive)
        } catch {
            throw .command(error, remedy: nil)
        }
        let allocation = try SetAllocation(job.sources, on: capabilities, isExclusive: isExclusive)
        if let running = session as? BeaconSession {
            running.live.changeEpoch(to: job.eidEpoch)
            let correction = synchronize(running, inputs)
            try running.rearm(on: host, allocation: allocation)
            return StartedSession(session: running, correction: correction)
        }
        let newSession = BeaconSession(
            host: host, allocation: allocation, clock: clock(job, session, inputs, host.now), memory: inputs.memory,
            countersAtStart: job.counters, telemetry: inputs.sensors)
        let correction = synchronize(newSession, inputs)
        try newSession.start()
        return StartedSession(session: newSession, correction: correction)
    }

    private func startManaged(
        _ job: ServiceJob, after session: (any AdvertisingSession)?, _ inputs: SessionInputs, _ host: ManagementHost,
        _ index: UInt16
    ) throws(SessionError) -> StartedSession {
        let adapter = try ManagedAdapter(host, index: index)
        if adapter.raisedPower { raisedIndex = index }
        if adapter.raisedLowEnergy { raisedLowEnergy = adapter.capabilities.address }
        // Powering an adapter on resets its controller. The events of this reset are no disturbance, so they are
        // dropped.
        foreign?.skip()
        let layout = try InstanceLayout(job.sources.map(\.advertisement), on: adapter.capabilities)
        let newSession = ManagedSession(
            host: host, layout: layout, sources: job.sources, clock: clock(job, session, inputs, host.now),
            memory: session?.memory ?? inputs.memory,
            countersAtStart: (session as? ManagedSession)?.counters ?? job.counters, telemetry: inputs.sensors)
        let correction = synchronize(newSession, inputs)
        try newSession.start(isRepeated: session != nil)
        return StartedSession(session: newSession, correction: correction)
    }

    /// Compares the session's clock with the wall clock, before the first id is computed.
    private func synchronize(_ session: any AdvertisingSession, _ inputs: SessionInputs) -> EIDClock.Correction? {
        inputs.wallClock.map { session.synchronize(unixMicroseconds: $0.unixMicroseconds, isTrusted: $0.isTrusted) }
    }

    private func clock(
        _ job: ServiceJob, _ session: (any AdvertisingSession)?, _ inputs: SessionInputs, _ now: HCIInstant
    ) -> EIDClock {
        let saved = session?.clock.counter(at: now) ?? inputs.memory?.eidCounter
        return EIDClock(epochUnixSeconds: job.eidEpoch, saved: saved, at: now)
    }

    /// Replaces the advertisements of `session` with those of the job.
    ///
    /// - Throws: The failure. The old advertisements are on the air again, as far as the controller allows it.
    func changeOver(
        to job: ServiceJob, from session: any AdvertisingSession, _ inputs: SessionInputs
    ) throws(SessionError) -> StartedSession {
        let started: StartedSession
        switch (form, session) {
        case (.hci(let adapter, _), let running as BeaconSession):
            let capabilities = running.allocation.capabilities
            let idState = running.live.idState
            // New ids are computed from the clock.
            running.live.changeEpoch(to: job.eidEpoch)
            let correction = synchronize(running, inputs)
            do throws(SessionError) {
                try running.replace(
                    with: SetAllocation(job.sources, on: capabilities, isExclusive: adapter.isExclusive))
            } catch {
                running.live.restoreIDState(idState)
                throw error
            }
            started = StartedSession(session: running, correction: correction)
        case (.managed, let running as ManagedSession):
            started = try changeOver(to: job, from: running, inputs)
        default: throw .ended(.adapterGone, "the adapter is closed")
        }
        foreign?.watch(started.session.watched)
        return started
    }

    private func changeOver(
        to job: ServiceJob, from session: ManagedSession, _ inputs: SessionInputs
    ) throws(SessionError) -> StartedSession {
        // The new advertisements may need the kernel's instances that the old advertisements occupy.
        try session.stop()
        do throws(SessionError) {
            return try startManaged(job, after: session, inputs, session.host, session.layout.index)
        } catch {
            guard !error.isInterruption else { throw error }
            try? session.restart()
            foreign?.watch(session.watched)
            throw error
        }
    }
}

/// A channel that can be closed while a session still refers to it: a session that is off the air keeps its counts, but
/// not its adapter.
package final class ClosableChannel: HCIChannel {
    private var channel: (any HCIChannel)?

    /// Passes everything to `channel` until it is closed.
    package init(_ channel: any HCIChannel) {
        self.channel = channel
    }

    /// Closes the channel. From now on every call throws `gone`.
    package func close() { channel = nil }

    package var now: HCIInstant { HCIInstant(nanoseconds: MonotonicClock.nanoseconds()) }

    package func send(_ packet: HCIPacket) throws(HCIChannelError) {
        guard let channel else { throw .gone("the adapter was closed") }
        try channel.send(packet)
    }

    package var receivedAt: HCIInstant { channel?.receivedAt ?? now }

    package func receive(until deadline: HCIInstant) throws(HCIChannelError) -> HCIPacket? {
        guard let channel else { throw .gone("the adapter was closed") }
        return try channel.receive(until: deadline)
    }
}
