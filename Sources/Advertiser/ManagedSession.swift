internal import BeaconFrames
public import BluetoothTypes
public import HCI

/// Advertisements in instances of the kernel's advertising manager, from the first command to the last.
///
/// Runs on the caller's thread, as ``AdvertisingSession`` does. Other programs' instances are never touched. When ours
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

    /// The beacon's own clock, for ephemeral ids.
    public private(set) var clock: EIDClock

    /// The way to the kernel.
    public var managementHost: ManagementHost { host }
    let host: ManagementHost
    private let sources: [PayloadSource]
    private let telemetry: (any TelemetrySource)?
    private var countersAtStart: TelemetryCounters
    private var randomness: any RandomNumberGenerator
    private var stoppedAt: HCIInstant?
    private var added: [ManagedPlan.Instance] = []

    /// - Parameters:
    ///   - sources: one for each of the plan's instances, in their order.
    ///   - clock: for ephemeral ids; one that starts at 65280 now where it is left out.
    ///   - countersAtStart: what telemetry starts to count from.
    ///   - telemetry: the sensors; without them what they say is sent as unknown.
    ///   - randomness: for salts.
    public init(
        host: ManagementHost, plan: ManagedPlan, sources: [PayloadSource], clock: EIDClock? = nil,
        countersAtStart: TelemetryCounters = TelemetryCounters(), telemetry: (any TelemetrySource)? = nil,
        randomness: any RandomNumberGenerator = SystemRandomNumberGenerator()
    ) {
        self.clock = clock ?? EIDClock(at: host.now)
        self.countersAtStart = countersAtStart
        self.telemetry = telemetry
        self.host = host
        self.plan = plan
        self.sources = sources
        self.randomness = randomness
    }

    /// Adds the instances, one after the other. When one fails those before it are removed, and the error is thrown.
    public func start() throws(AdvertisingError) {
        stoppedAt = nil
        onAirSince = nil
        onAir = []
        do throws(AdvertisingError) {
            for (instance, source) in zip(plan.instances, sources) {
                let grant = try prepare(instance)
                let payload = try makePayload(source, grant)
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
    public func restart() throws(AdvertisingError) {
        let soFar = counters
        _ = removeAll()
        let adapter = try ManagedAdapter(host, index: plan.index)
        plan = try ManagedPlan(sources.map(\.advertisement), on: adapter.capabilities)
        countersAtStart = soFar
        try start()
    }

    /// Puts every instance on the air again in its place, after somebody turned advertising off behind the kernel's
    /// back. Counters and time go on.
    public func rearm() throws(AdvertisingError) {
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
    public func run(until deadline: HCIInstant) throws(AdvertisingError) {
        while true {
            let event = try advertising { try host.nextEvent(until: min(nextWakeUp ?? deadline, deadline)) }
            if let event { try handle(event) }
            try wake(host.now)
            if host.now >= deadline { return }
        }
    }

    /// When the octets of an instance are out of date; `nil` for never.
    public var nextWakeUp: HCIInstant? {
        guard stoppedAt == nil else { return nil }
        return onAir.compactMap(\.nextChange).min().flatMap { onAirSince?.advanced(byMicroseconds: $0) }
    }

    /// Renews what is out of date.
    public func wake(_ now: HCIInstant) throws(AdvertisingError) {
        if let due = nextWakeUp, due <= now { try renew() }
    }

    /// The wall clock is right and shows this.
    public func synchronize(unixMicroseconds: Int) {
        clock.synchronize(unixMicroseconds: unixMicroseconds, at: host.now)
    }

    /// What telemetry tells now.
    public var counters: TelemetryCounters {
        let events = onAir.indices.reduce(UInt64(0)) { $0 + computedEvents($1) }
        // Time goes by while nothing is on the air.
        let microseconds = onAirSince.map { max(0, host.now.microseconds(since: $0)) } ?? 0
        return countersAtStart.advanced(byEvents: events, microseconds: microseconds)
    }

    /// Nothing has been on the air since `instant`: events are not counted from then on.
    public func silence(since instant: HCIInstant) {
        stoppedAt = stoppedAt ?? instant
    }

    /// Removes our instances. All that can be tried has been tried when this returns.
    ///
    /// - Throws: when the kernel did not confirm it: something may still be on the air.
    public func stop() throws(AdvertisingError) {
        let failure = removeAll()
        stoppedAt = host.now
        if let failure { throw failure }
    }

    /// Advertising events of one instance so far, computed from the time on the air and the mean period. An instance
    /// that takes turns has its share of them.
    public func computedEvents(_ position: Int) -> UInt64 {
        guard onAirSince != nil, plan.instances.indices.contains(position) else { return 0 }
        let range = plan.instances[position].interval
        let period = (range.lowerBound.meanPeriodMicroseconds + range.upperBound.meanPeriodMicroseconds) / 2
        let share = plan.takesTurns ? max(1, plan.instances.count) : 1
        return UInt64(elapsed / period / share) + 1
    }

    /// Now, on the session's clock.
    public var now: HCIInstant { host.now }

    /// Whole seconds since the last instance was added.
    public var secondsOnAir: Int { elapsed / 1_000_000 }

    var isSilent: Bool { stoppedAt != nil }

    private var elapsed: Int { onAirSince.map { max(0, (stoppedAt ?? host.now).microseconds(since: $0)) } ?? 0 }
}

extension ManagedSession {
    /// Sends the parameters, where they have a message of their own. A new instance, and a new random address.
    private func prepare(_ instance: ManagedPlan.Instance) throws(AdvertisingError) -> RadioPowerGrant {
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

    private func note(_ instance: ManagedPlan.Instance) {
        if !added.contains(instance) { added.append(instance) }
    }

    /// `packet` is Add Advertising or Add Extended Advertising Data.
    func send(_ packet: ManagementPacket) throws(AdvertisingError) {
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

    private func renew() throws(AdvertisingError) {
        let elapsed = elapsed
        for (position, source) in sources.enumerated() where onAir.indices.contains(position) {
            guard let change = onAir[position].nextChange, change <= elapsed else { continue }
            let instance = plan.instances[position]
            // The parameters draw a new address, which the data alone does not on a controller with sets.
            if case .eddystoneEID = source.advertisement.content { onAir[position].grant = try prepare(instance) }
            onAir[position].payload = try makePayload(source, onAir[position].grant)
            try send(plan.data(instance, onAir[position].payload))
            onAir[position].nextChange = nextChange(source, after: elapsed)
        }
    }

    private func makePayload(
        _ source: PayloadSource, _ grant: RadioPowerGrant
    ) throws(AdvertisingError) -> AdvertisingData {
        var moment = PayloadSource.Moment(
            radioPower: grant.power, counters: counters, eidTime: clock.counter(at: host.now))
        if case .eddystoneTLM(let wanted, let encryption) = source.advertisement.content {
            if case .sensor(let name) = wanted.battery {
                moment.batteryMillivolts = telemetry?.batteryMillivolts(name)
            }
            if case .sensor(let name) = wanted.temperature { moment.temperature = telemetry?.temperature(name) }
            if encryption != nil {
                let salt = UInt16.random(in: 0...UInt16.max, using: &randomness)
                moment.salt = onAirSince == nil ? source.firstSalt ?? salt : salt
            }
        }
        return try source.payload(moment)
    }

    /// When, in microseconds after the start, the octets of `elapsed` are out of date; `nil` for never.
    private func nextChange(_ source: PayloadSource, after elapsed: Int) -> Int? {
        if let step = source.renewalMicroseconds { return (elapsed / step + 1) * step }
        guard case .eddystoneEID(let rotation) = source.advertisement.content else { return nil }
        let window = 1_000_000 << Int(min(rotation.rotationExponent, 15))
        return elapsed + window - clock.microseconds(at: host.now) % window
    }

    /// Takes what the kernel has said by itself.
    ///
    /// - Throws: `ended` when it says that ours are off the air.
    public func handle(_ event: ManagementEvent) throws(AdvertisingError) {
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

    private func lost(_ cause: SupervisorCause, _ text: String) -> AdvertisingError {
        .ended(cause, "hci\(plan.index):mgmt: \(text)")
    }

    /// Returns why something may still be on the air, if it may.
    private func removeAll() -> AdvertisingError? {
        var failure: AdvertisingError?
        for instance in added {
            do throws(AdvertisingError) {
                try removeDespiteSignals(instance)
            } catch {
                failure = failure ?? error
            }
        }
        added = []
        return failure
    }

    /// A second Ctrl-C while the first one is obeyed must not leave the beacon on.
    private func removeDespiteSignals(_ instance: ManagedPlan.Instance) throws(AdvertisingError) {
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
