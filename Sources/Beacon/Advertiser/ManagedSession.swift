internal import BeaconFrames
public import BluetoothTypes
public import HCI

/// Advertisements in instances of the kernel's advertising manager, from the first command to the last.
///
/// Runs on the caller's thread, as ``BeaconSession`` does. Other programs' instances are never touched. When ours
/// are lost (adapter powered down, unplugged, instances removed by another program) ``run(until:)`` throws `ended`, and
/// ``restart()`` brings them back where the adapter is still there.
public final class ManagedSession {
    /// One advertisement on the air.
    public struct OnAir: Hashable, Sendable {
        /// What the radio really sends with, as far as the kernel tells.
        public internal(set) var grant: RadioPowerGrant
        public internal(set) var payload: AdvertisingData
        /// In microseconds after the start; `nil` for never.
        var nextChange: Int?
    }

    public private(set) var plan: ManagedPlan
    /// In the order of the plan's instances; empty before ``start()``.
    public private(set) var onAir: [OnAir] = []
    /// When the last instance was added; `nil` before.
    public private(set) var onAirSince: HCIInstant?

    /// The way to the kernel.
    public var managementHost: ManagementHost { host }
    let host: ManagementHost
    private let sources: [PayloadSource]
    private var live: LiveContent
    var added: [ManagedPlan.Instance] = []
    private var countersAtStart: TelemetryCounters
    private var stoppedAt: HCIInstant?

    /// - Parameters:
    ///   - sources: one for each of the plan's instances, in their order.
    ///   - clock: for ephemeral ids; one that starts at 65280 now where it is left out.
    ///   - memory: what was on the air before a restart.
    ///   - countersAtStart: what telemetry starts to count from.
    ///   - telemetry: the sensors; without them what they say is sent as unknown.
    ///   - randomness: for salts, and for the moments at which ids turn over.
    public init(
        host: ManagementHost, plan: ManagedPlan, sources: [PayloadSource], clock: EIDClock? = nil,
        memory: BeaconMemory? = nil, countersAtStart: TelemetryCounters = TelemetryCounters(),
        telemetry: (any TelemetrySource)? = nil,
        randomness: any RandomNumberGenerator = SystemRandomNumberGenerator()
    ) {
        // The addresses of its ids are the kernel's.
        live = LiveContent(
            clock ?? EIDClock(at: host.now), memory: memory, telemetry: telemetry, randomness: randomness)
        self.countersAtStart = countersAtStart
        self.host = host
        self.plan = plan
        self.sources = sources
    }

    /// Adds the instances, one after the other. When one fails those before it are removed, and the error is thrown.
    public func start() throws(SessionError) {
        stoppedAt = nil
        onAirSince = nil
        onAir = []
        live.keep(sources.compactMap(\.advertisement.content.rotatingKey), at: host.now)
        do throws(SessionError) {
            for (instance, source) in zip(plan.instances, sources) {
                let grant = try prepare(instance)
                guard let payload = try makePayload(source, grant) else {
                    throw .payload("every salt of encrypted telemetry is used up until the ephemeral id turns over")
                }
                try send(plan.data(instance, payload))
                note(instance)
                onAir.append(OnAir(grant: grant, payload: payload, nextChange: nextChange(source, after: 0)))
            }
        } catch {
            _ = removeAll()
            throw error
        }
        onAirSince = host.now
    }

    /// Begins anew after whatever happened to the adapter or to our instances: the kernel is asked what there is now, and
    /// instances that others have taken meanwhile are left to them. Counters go on.
    public func restart() throws(SessionError) {
        let soFar = counters
        _ = removeAll()
        let adapter = try ManagedAdapter(host, index: plan.index)
        plan = try ManagedPlan(sources.map(\.advertisement), on: adapter.capabilities)
        countersAtStart = soFar
        try start()
    }

    /// Puts every instance on the air again in its place, after somebody turned advertising off behind the kernel's
    /// back. Counters and time go on.
    public func rearm() throws(SessionError) {
        guard stoppedAt == nil, added == plan.instances else { return try restart() }
        for position in onAir.indices {
            onAir[position].grant = try prepare(plan.instances[position])
            try send(plan.data(plan.instances[position], onAir[position].payload))
        }
    }

    /// Keeps the advertisements on the air until `deadline`.
    ///
    /// - Throws: `ended` when they are not any more, with the reason; `management` with `interrupted` inside when a
    ///   signal came.
    public func run(until deadline: HCIInstant) throws(SessionError) {
        while true {
            let event = try advertising { try host.nextEvent(until: min(nextWakeUp ?? deadline, deadline)) }
            if let event { try handle(event) }
            try wake(host.now)
            if host.now >= deadline { return }
        }
    }

    /// When the octets of an instance are out of date; `nil` for never.
    public var nextWakeUp: HCIInstant? {
        guard stoppedAt == nil, let onAirSince else { return nil }
        let changes = onAir.compactMap(\.nextChange).map { onAirSince.advanced(byMicroseconds: $0) }
        return (changes + [live.nextTurn].compactMap(\.self)).min()
    }

    /// Renews what is out of date.
    public func wake(_ now: HCIInstant) throws(SessionError) {
        if let due = nextWakeUp, due <= now { try renew() }
    }

    /// The wall clock shows this: ids turn over at once if the beacon's own clock was late, or far ahead.
    ///
    /// - Parameter isTrusted: Whether somebody says that the wall clock is right.
    @discardableResult
    public func synchronize(unixMicroseconds: Int, isTrusted: Bool) -> EIDClock.Correction {
        live.synchronize(unixMicroseconds: unixMicroseconds, isTrusted: isTrusted, at: host.now)
    }

    /// The beacon's own clock, for ephemeral ids.
    public var clock: EIDClock { live.clock }

    /// Whether ``memory`` holds something: ids that turn over, or numbers that encryption has used.
    public var hasMemory: Bool { !live.turns.isEmpty || live.hasSealedPackets }

    /// What must survive a restart.
    public var memory: BeaconMemory { live.memory(at: host.now) }

    /// What telemetry tells now.
    public var counters: TelemetryCounters {
        // Time goes by while nothing is on the air.
        let microseconds = onAirSince.map { max(0, host.now.microseconds(since: $0)) } ?? 0
        return countersAtStart.advanced(byEvents: computedEvents, microseconds: microseconds)
    }

    /// Nothing has been on the air since `instant`: events are not counted from then on.
    public func silence(since instant: HCIInstant) {
        stoppedAt = stoppedAt ?? instant
    }

    /// Removes our instances. All that can be tried has been tried when this returns.
    ///
    /// - Throws: when the kernel did not confirm it: something may still be on the air.
    public func stop() throws(SessionError) {
        let failure = removeAll()
        stoppedAt = host.now
        if let failure { throw failure }
    }

    /// Advertising events of one instance so far, computed from the time on the air and the mean period. An instance
    /// that takes turns has its share of them.
    public func computedEvents(_ position: Int) -> UInt64 {
        guard onAirSince != nil, plan.instances.indices.contains(position) else { return 0 }
        return UInt64(elapsed / plan.meanPeriodMicroseconds(position)) + 1
    }

    /// Now, on the session's clock.
    public var now: HCIInstant { host.now }

    /// Whole seconds since the last instance was added.
    public var secondsOnAir: Int { elapsed / 1_000_000 }

    var isSilent: Bool { stoppedAt != nil }

    private var elapsed: Int { onAirSince.map { max(0, (stoppedAt ?? host.now).microseconds(since: $0)) } ?? 0 }
}

/// What is sent to the kernel for each instance.
extension ManagedSession {
    /// Sends the parameters, where they have a message of their own. A new instance, and a new random address.
    private func prepare(_ instance: ManagedPlan.Instance) throws(SessionError) -> RadioPowerGrant {
        let asked = instance.advertisement.radioPower
        guard let parameters = try plan.parameters(instance) else {
            return asked == nil ? .unknown : .notSettable(reason: "this kernel takes no power", reported: nil)
        }
        let answer = try advertising { try execute(parameters) }
        note(instance)
        if answer.power != .noPreference { return asked == nil ? .reported(answer.power) : .granted(answer.power) }
        guard asked != nil else { return .unknown }
        return .notSettable(reason: "the kernel cannot set it on this controller", reported: nil)
    }

    /// After its adapter was powered down, Linux 6.1 takes a set that it kept for enabled, fails to turn it off, and
    /// forgets it: the second time works.
    private func execute(
        _ parameters: AddExtendedAdvertisingParameters
    ) throws(ManagementError) -> AddExtendedAdvertisingParameters.ReturnParameters {
        do throws(ManagementError) {
            return try host.execute(parameters, index: plan.index)
        } catch {
            guard error.status == .failed else { throw error }
            return try host.execute(parameters, index: plan.index)
        }
    }

    func note(_ instance: ManagedPlan.Instance) {
        if !added.contains(instance) { added.append(instance) }
    }

    /// `packet` is Add Advertising or Add Extended Advertising Data.
    func send(_ packet: ManagementPacket) throws(SessionError) {
        let octets = packet.parameters
        try advertising {
            if let command = AddExtendedAdvertisingData(parameters: octets.span),
                packet.code == AddExtendedAdvertisingData.opcode
            {
                _ = try host.execute(command, index: plan.index)
            } else if let command = AddAdvertising(parameters: octets.span) {
                _ = try host.execute(command, index: plan.index)
            }
        }
    }

    /// Turns ids over, and renews telemetry.
    private func renew() throws(SessionError) {
        let now = host.now
        for index in live.turns.indices {
            guard let turn = live.turnIfDue(index, at: now) else { continue }
            for position in onAir.indices where sources[position].advertisement.content.rotatingKey == turn.key {
                // The parameters draw a new address, which the data alone does not on a controller with sets.
                onAir[position].grant = try prepare(plan.instances[position])
                try renew(position)
            }
        }
        let elapsed = elapsed
        for position in onAir.indices {
            guard let change = onAir[position].nextChange, change <= elapsed else { continue }
            try renew(position)
        }
    }

    private func renew(_ position: Int) throws(SessionError) {
        // Out of salts, what was told before goes on until the window ends.
        if let payload = try makePayload(sources[position], onAir[position].grant) {
            onAir[position].payload = payload
        }
        try send(plan.data(plan.instances[position], onAir[position].payload))
        onAir[position].nextChange = nextChange(sources[position], after: elapsed)
    }

    /// `nil` for encrypted telemetry where no salt is left.
    private func makePayload(
        _ source: PayloadSource, _ grant: RadioPowerGrant
    ) throws(SessionError) -> AdvertisingData? {
        try live.payload(
            source, power: grant.power, counters: counters, isFirst: onAirSince == nil, at: host.now)
    }

    /// When, in microseconds after the start, the octets of `elapsed` are out of date; `nil` for never.
    private func nextChange(_ source: PayloadSource, after elapsed: Int) -> Int? {
        source.renewalMicroseconds.map { (elapsed / $0 + 1) * $0 }
    }

    /// Returns why something may still be on the air, if it may.
    private func removeAll() -> SessionError? {
        var failure: SessionError?
        for instance in added {
            do throws(SessionError) {
                try removeDespiteSignals(instance)
            } catch {
                failure = failure ?? error
            }
        }
        added = []
        return failure
    }

    /// A second Ctrl-C while the first one is obeyed must not leave the beacon on.
    private func removeDespiteSignals(_ instance: ManagedPlan.Instance) throws(SessionError) {
        let command = try plan.removal(instance)
        for attempt in 0..<3 {
            do throws(ManagementError) {
                _ = try host.execute(command, index: plan.index)
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
    public var isOnAir: Bool { onAirSince != nil && !isSilent }

    public func receive(until deadline: HCIInstant) throws(SessionError) {
        try takeEvents(until: deadline, { try host.nextEvent(until: max($0, host.now)) }, handle)
    }

    public var watched: ForeignActivity.Watched { .managed(instances: Set(plan.instances.map(\.number))) }

    /// Asks the kernel as far as that disturbs nothing.
    ///
    /// Its list of instances leaves some out. Where the controller has sets, the same data is sent again: the kernel
    /// refuses that for an instance that is gone, and enables one that somebody turned off behind its back. On a legacy
    /// controller that would draw a new address, so there the adapter's settings have to do.
    public func verify() throws(SessionError) -> Bool {
        guard isOnAir else { return false }
        let settings = try advertising {
            try host.execute(ReadControllerInformation(), index: plan.index).current
        }
        guard settings.isSuperset(of: [.powered, .lowEnergy]), !settings.contains(.advertising) else { return false }
        guard plan.form == .extended, plan.capabilities.hasExtendedAdvertising else { return true }
        for (instance, state) in zip(plan.instances, onAir) {
            do throws(SessionError) {
                try send(plan.data(instance, state.payload))
            } catch {
                guard case .management(.refused(_, _, .invalidParameters)) = error else { throw error }
                return false
            }
        }
        return true
    }

    public func stop(by deadline: HCIInstant) throws(SessionError) {
        host.latestAnswer = deadline
        try stop()
    }

    public var advertisements: [OnAirAdvertisement] {
        zip(plan.instances, onAir).enumerated().map { position, pair in
            let (instance, state) = pair
            let range = instance.interval
            return OnAirAdvertisement(
                advertisement: instance.advertisement, place: .instance(instance.number),
                sharers: plan.takesTurns ? plan.instances.count : 1, isItsTurn: true, setInterval: range,
                grantedMicroseconds: range.lowerBound.microseconds...range.upperBound.microseconds,
                meanPeriodMicroseconds: plan.meanPeriodMicroseconds(position), address: nil,
                isAddressRandom: instance.advertisement.pdu != .connectable, grant: state.grant,
                payload: state.payload, events: computedEvents(position))
        }
    }

    public var computedEvents: UInt64 { onAir.indices.reduce(0) { $0 + computedEvents($1) } }

    public var controller: OnAirController {
        let found = plan.capabilities
        return OnAirController(
            family: .managed, hasExtendedAdvertising: found.hasExtendedAdvertising, version: found.version,
            manufacturer: nil, address: found.address)
    }

    public var warnings: [String] { plan.warnings.map(\.description) }
}

extension ManagedPlan {
    /// The mean time between two events of one instance, in microseconds. An instance that takes turns has its share.
    func meanPeriodMicroseconds(_ position: Int) -> Int {
        let range = instances[position].interval
        let period = (range.lowerBound.meanPeriodMicroseconds + range.upperBound.meanPeriodMicroseconds) / 2
        return takesTurns ? period * max(1, instances.count) : period
    }
}

/// What the kernel says of the adapter and of our instances.
extension ManagedSession {
    /// Takes what the kernel has said by itself.
    ///
    /// - Throws: `ended` when it says that ours are off the air.
    public func handle(_ event: ManagementEvent) throws(SessionError) {
        guard event.index == plan.index else { return }
        switch event.content {
        case .indexRemoved:
            throw lost(.adapterGone, "the adapter was unplugged, or a program took its user channel")
        case .newSettings(let settings) where !settings.contains(.powered):
            throw lost(.poweredDown, "the adapter was powered down")
        case .newSettings(let settings) where !settings.contains(.lowEnergy):
            throw lost(.foreignDisabled, "LE was turned off")
        case .newSettings(let settings) where settings.contains(.advertising):
            throw lost(
                .foreignDisabled, "a program turned the adapter's own advertising on, which keeps ours off the air")
        case .advertisingRemoved(let instance) where added.contains { $0.number == instance }:
            added.removeAll { $0.number == instance }
            throw lost(
                .foreignDisabled,
                "advertising instance \(instance) was removed, by another program or with the adapter's power")
        case .advertisingAdded(let instance) where added.contains { $0.number == instance }:
            // It is theirs now, and must not be removed.
            added.removeAll { $0.number == instance }
            throw lost(.foreignChanged, "another program took advertising instance \(instance)")
        case .controllerError(let code):
            throw lost(
                .hardwareError, "the controller reports a hardware error (\(Hexadecimal.number(code, width: 2)))")
        default:
            return
        }
    }

    private func lost(_ cause: SupervisorCause, _ text: String) -> SessionError {
        .ended(cause, "hci\(plan.index):mgmt: \(text)")
    }
}
