internal import BeaconFrames
public import BluetoothTypes
public import HCI

/// Sends advertisements through instances of the kernel's advertising manager.
///
/// It runs on the caller's thread, like ``BeaconSession``, and never changes the instances of other programs. Its own
/// instances are lost if the adapter is powered down or unplugged, or if another program removes them. ``handle(_:)``
/// then throws `ended`, and ``restart()`` adds them again if the adapter is still present.
public final class ManagedSession {
    /// One advertisement on the air.
    public struct OnAir: Hashable, Sendable {
        /// The radio power that the kernel has reported.
        public internal(set) var grant: RadioPowerGrant
        public internal(set) var payload: AdvertisingData
        /// The time at which the payload must be built again, in microseconds after the start; `nil` if it never
        /// changes.
        var nextChange: Int?
    }

    public private(set) var layout: InstanceLayout
    public let live: LiveContent
    /// The advertisements on the air, in the order of the layout's instances; empty before ``start(isRepeated:)``.
    public private(set) var onAir: [OnAir] = []

    /// The connection to the kernel.
    public let host: ManagementHost
    private let sources: [PayloadSource]
    /// The instances that this session has added and that still exist, according to the kernel's events.
    private var addedInstances: [InstanceLayout.Instance] = []

    /// - Parameters:
    ///   - sources: The payload sources, one for each of the layout's instances, in their order.
    ///   - clock: The clock for ephemeral ids; `nil` for a new clock that starts now, at 65280 s.
    ///   - memory: The ids and counters of an earlier run; `nil` if there are none.
    ///   - countersAtStart: The first values of the telemetry counters.
    ///   - telemetry: The sensors; `nil` to send their values as unknown.
    ///   - randomness: The source of random numbers for salts and for the times at which ids change.
    public init(
        host: ManagementHost, layout: InstanceLayout, sources: [PayloadSource], clock: EIDClock? = nil,
        memory: BeaconMemory? = nil, countersAtStart: TelemetryCounters = TelemetryCounters(),
        telemetry: (any TelemetrySource)? = nil,
        randomness: any RandomNumberGenerator = SystemRandomNumberGenerator()
    ) {
        // The addresses in the schedules of ephemeral ids are not used here: the kernel chooses the addresses.
        live = LiveContent(
            clock ?? EIDClock(at: host.now), memory: memory, countersAtStart: countersAtStart, telemetry: telemetry,
            randomness: randomness)
        self.host = host
        self.layout = layout
        self.sources = sources
    }

    /// Data that is set for a moment before the real data: one length byte of 0, which means that no structure follows.
    ///
    /// Without it, the kernel might not send the real data. The kernel does not send data that, according to its own
    /// records, the controller already has, not even for an instance that was removed and added again. These records
    /// are wrong if another program has changed the data with HCI commands.
    private static let placeholderData = AdvertisingData(octets: [0])

    /// Adds the instances, one after the other. If one fails, the instances before it are removed.
    ///
    /// - Parameter isRepeated: `true` if an earlier session or start has already sent the data, so that the kernel
    ///   might not send it again.
    public func start(isRepeated: Bool = false) throws(SessionError) {
        live.stoppedAt = nil
        live.onAirSince = nil
        onAir = []
        live.setRotatingKeys(sources.compactMap(\.advertisement.content.rotatingKey), at: host.now)
        do throws(SessionError) {
            for (instance, source) in zip(layout.instances, sources) {
                let grant = try prepare(instance)
                guard let payload = try makePayload(source, grant) else {
                    throw .payload("all salts of encrypted telemetry are used until the ephemeral id changes")
                }
                if isRepeated { try send(layout.data(instance, Self.placeholderData)) }
                try send(layout.data(instance, payload))
                noteAdded(instance)
                onAir.append(OnAir(grant: grant, payload: payload, nextChange: nextChange(source, after: 0)))
            }
        } catch {
            _ = removeAll()
            throw error
        }
        live.onAirSince = host.now
    }

    /// Starts again after the adapter or the instances were lost. Reads the kernel's list of instances, and uses
    /// numbers that are free now. The counters continue.
    public func restart() throws(SessionError) {
        let earlierCounters = counters
        _ = removeAll()
        let adapter = try ManagedAdapter(host, index: layout.index)
        layout = try InstanceLayout(sources.map(\.advertisement), on: adapter.capabilities)
        live.countersAtStart = earlierCounters
        try start(isRepeated: true)
    }

    /// Sends every instance again. This is needed after another program turned advertising off or changed its data with
    /// HCI commands, because the kernel does not notice HCI commands of other programs. The counters and the time
    /// continue.
    ///
    /// - Throws: `ended` if another program keeps all instances off the air.
    public func rearm() throws(SessionError) {
        let settings = try advertising {
            try host.execute(ReadControllerInformation(), index: layout.index).current
        }
        if let obstacle = settings.obstacle(index: layout.index) { throw .ended(.foreignDisabled, obstacle) }
        guard live.stoppedAt == nil, addedInstances == layout.instances else { return try restart() }
        for position in onAir.indices {
            let instance = layout.instances[position]
            onAir[position].grant = try prepare(instance)
            try send(layout.data(instance, Self.placeholderData))
            try send(layout.data(instance, onAir[position].payload))
        }
    }

    /// The time at which the payload of an instance or an ephemeral id must change next; `nil` if there is none.
    public var nextWakeUp: HCIInstant? {
        guard live.stoppedAt == nil, let onAirSince else { return nil }
        let renewals = onAir.compactMap(\.nextChange).map { onAirSince.advanced(byMicroseconds: $0) }
        return (renewals + [live.nextIDChange].compactMap(\.self)).min()
    }

    /// Replaces the payloads that are out of date.
    public func wake(_ now: HCIInstant) throws(SessionError) {
        if let due = nextWakeUp, due <= now { try renew() }
    }

    /// The telemetry counters. Their time also advances while nothing is on the air.
    public var counters: TelemetryCounters { live.counters(afterEvents: computedEvents, at: host.now) }

    /// Records that nothing has been on the air since `instant`. No events are counted from then on.
    public func silence(since instant: HCIInstant) {
        live.stoppedAt = live.stoppedAt ?? instant
    }

    /// Removes the session's instances.
    ///
    /// - Throws: The reason why an instance may still be on the air: the kernel did not confirm that it is removed.
    public func stop() throws(SessionError) {
        let failure = removeAll()
        live.stoppedAt = host.now
        if let failure { throw failure }
    }

    public func stop(by deadline: HCIInstant) throws(SessionError) {
        host.answerDeadline = deadline
        try stop()
    }

    /// Returns the number of advertising events of one instance so far, computed from the time on the air and the mean
    /// period.
    public func computedEvents(_ position: Int) -> UInt64 {
        guard onAirSince != nil, layout.instances.indices.contains(position) else { return 0 }
        return UInt64(elapsed / layout.meanPeriodMicroseconds(position)) + 1
    }

    public var now: HCIInstant { host.now }

    private var elapsed: Int { live.elapsed(at: live.countedUntil(host.now)) }
}

// MARK: Messages to the kernel

extension ManagedSession {
    /// Sends the parameters if the kernel has a message for them. The message creates the instance. If the instance
    /// exists already, it gets a new address.
    private func prepare(_ instance: InstanceLayout.Instance) throws(SessionError) -> RadioPowerGrant {
        let requested = instance.advertisement.radioPower
        guard let parameters = try layout.parameters(instance) else {
            return requested == nil ? .unknown : .notSettable(reason: "this kernel cannot set the power", reported: nil)
        }
        let power = try advertising { try execute(parameters) }.power
        noteAdded(instance)
        if power != .noPreference { return requested == nil ? .reported(power) : .granted(power) }
        guard requested != nil else { return .unknown }
        return .notSettable(reason: "the kernel cannot set it on this controller", reported: nil)
    }

    /// Sends the message again if it fails. After the adapter was powered down, Linux 6.1 still takes an old set for
    /// enabled, so the first message fails when the kernel tries to turn that set off.
    private func execute(
        _ parameters: AddExtendedAdvertisingParameters
    ) throws(ManagementError) -> AddExtendedAdvertisingParameters.ReturnParameters {
        do throws(ManagementError) {
            return try host.execute(parameters, index: layout.index)
        } catch {
            guard error.status == .failed else { throw error }
            return try host.execute(parameters, index: layout.index)
        }
    }

    private func noteAdded(_ instance: InstanceLayout.Instance) {
        if !addedInstances.contains(instance) { addedInstances.append(instance) }
    }

    /// - Parameter packet: Add Advertising or Add Extended Advertising Data.
    private func send(_ packet: ManagementPacket) throws(SessionError) {
        let octets = packet.parameters
        try advertising {
            if let command = AddExtendedAdvertisingData(parameters: octets.span),
                packet.code == AddExtendedAdvertisingData.opcode
            {
                _ = try host.execute(command, index: layout.index)
            } else if let command = AddAdvertising(parameters: octets.span) {
                _ = try host.execute(command, index: layout.index)
            }
        }
    }

    /// Changes ids that are due, and renews telemetry.
    private func renew() throws(SessionError) {
        let now = host.now
        for index in live.idSchedules.indices {
            guard let schedule = live.changeIDIfDue(index, at: now) else { continue }
            for position in onAir.indices where sources[position].advertisement.content.rotatingKey == schedule.key {
                // On a controller with advertising sets, the kernel chooses a new address only when it gets the
                // parameters again.
                onAir[position].grant = try prepare(layout.instances[position])
                try renew(position)
            }
        }
        let elapsed = elapsed
        for position in onAir.indices {
            guard let renewal = onAir[position].nextChange, renewal <= elapsed else { continue }
            try renew(position)
        }
    }

    private func renew(_ position: Int) throws(SessionError) {
        // Without an unused salt, the old payload stays until the id changes.
        if let payload = try makePayload(sources[position], onAir[position].grant) {
            onAir[position].payload = payload
        }
        try send(layout.data(layout.instances[position], onAir[position].payload))
        onAir[position].nextChange = nextChange(sources[position], after: elapsed)
    }

    /// Returns the payload; `nil` if encrypted telemetry has no unused salt left.
    private func makePayload(
        _ source: PayloadSource, _ grant: RadioPowerGrant
    ) throws(SessionError) -> AdvertisingData? {
        try live.payload(
            source, power: grant.power, counters: counters, isFirst: onAirSince == nil, at: host.now)
    }

    /// Returns the time at which a payload that was built at `elapsed` must be built again; `nil` if it never changes.
    /// Both times are in microseconds after the start.
    private func nextChange(_ source: PayloadSource, after elapsed: Int) -> Int? {
        source.renewalMicroseconds.map { (elapsed / $0 + 1) * $0 }
    }

    /// Removes all instances that this session has added. Returns the reason why an instance may still be on the air;
    /// `nil` if all are removed.
    private func removeAll() -> SessionError? {
        var failure: SessionError?
        for instance in addedInstances {
            do throws(SessionError) {
                try removeDespiteSignals(instance)
            } catch {
                failure = failure ?? error
            }
        }
        addedInstances = []
        return failure
    }

    /// Removes an instance. If a signal interrupts the command, it is sent again, because a second Ctrl-C must not
    /// leave the beacon on the air.
    private func removeDespiteSignals(_ instance: InstanceLayout.Instance) throws(SessionError) {
        let command = try layout.removal(instance)
        for attempt in 0..<3 {
            do throws(ManagementError) {
                _ = try host.execute(command, index: layout.index)
                return
            } catch {
                switch error {
                case .refused(_, _, .invalidParameters), .refused(_, _, .invalidIndex): return
                case .channel(.interrupted) where attempt < 2: continue
                default: throw .management(error)
                }
            }
        }
    }
}

extension ManagedSession: AdvertisingSession {
    public var isOnAir: Bool { onAirSince != nil && live.stoppedAt == nil }

    public func receive(until deadline: HCIInstant) throws(SessionError) {
        try takeEvents(until: deadline, { try host.nextEvent(until: max($0, host.now)) }, handle)
    }

    public var watched: ForeignActivity.Watched { .managed(instances: Set(layout.instances.map(\.number))) }

    /// Checks with the kernel that the instances are on the air, without disturbing them.
    ///
    /// The kernel's list of instances is incomplete, so it is not used. If the controller has advertising sets, the
    /// same data is sent again. The kernel refuses the data of an instance that no longer exists, and enables an
    /// instance that another program turned off with HCI commands. On a legacy controller, sending the data would
    /// change the address, so only the adapter's settings are checked.
    public func verify() throws(SessionError) -> Bool {
        guard isOnAir else { return false }
        let settings = try advertising {
            try host.execute(ReadControllerInformation(), index: layout.index).current
        }
        guard settings.isSuperset(of: [.powered, .lowEnergy]), !settings.contains(.advertising) else { return false }
        guard layout.form == .extended, layout.capabilities.hasExtendedAdvertising else { return true }
        for (instance, state) in zip(layout.instances, onAir) {
            do throws(SessionError) {
                try send(layout.data(instance, state.payload))
            } catch {
                guard case .management(.refused(_, _, .invalidParameters)) = error else { throw error }
                return false
            }
        }
        return true
    }

    public var advertisements: [OnAirAdvertisement] {
        zip(layout.instances, onAir).enumerated().map { position, pair in
            let (instance, state) = pair
            let range = instance.interval
            return OnAirAdvertisement(
                advertisement: instance.advertisement, place: .instance(instance.number),
                sharers: layout.takesTurns ? layout.instances.count : 1, isItsTurn: true, setInterval: range,
                grantedMicroseconds: range.lowerBound.microseconds...range.upperBound.microseconds,
                meanPeriodMicroseconds: layout.meanPeriodMicroseconds(position), pattern: nil, address: nil,
                isAddressRefused: false,
                isAddressRandom: instance.advertisement.pdu != .connectable, grant: state.grant,
                payload: state.payload, events: computedEvents(position))
        }
    }

    public var computedEvents: UInt64 { onAir.indices.reduce(0) { $0 + computedEvents($1) } }

    public var controller: OnAirController {
        let capabilities = layout.capabilities
        return OnAirController(
            family: .managed, hasExtendedAdvertising: capabilities.hasExtendedAdvertising,
            version: capabilities.version, manufacturer: nil, address: capabilities.address)
    }

    public var warnings: [String] { layout.warnings.map(\.description) + transmitPowerWarnings }
}

// MARK: Events

extension ManagedSession {
    /// Handles an event of the kernel that is not the answer to a message.
    ///
    /// - Throws: `ended` if the event means that an advertisement is off the air.
    public func handle(_ event: ManagementEvent) throws(SessionError) {
        guard event.index == layout.index else { return }
        switch event.content {
        case .indexRemoved:
            throw loss(.adapterGone, "the adapter was unplugged, or a program took its user channel")
        case .newSettings(let settings) where !settings.contains(.powered):
            throw loss(.poweredDown, "the adapter was powered down")
        case .newSettings(let settings) where !settings.contains(.lowEnergy):
            throw loss(.foreignDisabled, "LE was turned off")
        case .newSettings(let settings):
            if let obstacle = settings.obstacle(index: layout.index) { throw .ended(.foreignDisabled, obstacle) }
        case .advertisingRemoved(let instance) where addedInstances.contains { $0.number == instance }:
            addedInstances.removeAll { $0.number == instance }
            throw loss(
                .foreignDisabled,
                "advertising instance \(instance) was removed, by another program or with the adapter's power")
        case .advertisingAdded(let instance) where addedInstances.contains { $0.number == instance }:
            // The instance now belongs to the other program, so this session must not remove it.
            addedInstances.removeAll { $0.number == instance }
            throw loss(.foreignChanged, "another program took advertising instance \(instance)")
        case .controllerError(let code):
            throw loss(
                .hardwareError, "the controller reports a hardware error (\(Hexadecimal.number(code, width: 2)))")
        default:
            return
        }
    }

    private func loss(_ cause: SupervisorCause, _ text: String) -> SessionError {
        .ended(cause, "hci\(layout.index):mgmt: \(text)")
    }
}
