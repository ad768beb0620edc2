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
    public internal(set) var onAir: [OnAir] = []
    /// When the last instance was added; `nil` before.
    public private(set) var onAirSince: HCIInstant?

    /// The beacon's own clock, for ephemeral ids.
    public private(set) var clock: EIDClock

    /// The way to the kernel.
    public var managementHost: ManagementHost { host }
    let host: ManagementHost
    let sources: [PayloadSource]
    let telemetry: (any TelemetrySource)?
    var randomness: any RandomNumberGenerator
    /// For encrypted telemetry.
    var salts: TelemetrySalts
    var added: [ManagedPlan.Instance] = []
    /// The ids that are on the air. Their addresses are the kernel's.
    var turns: [EphemeralTurn] = []
    private let memoryAtStart: BeaconMemory?
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
        self.clock = clock ?? EIDClock(at: host.now)
        memoryAtStart = memory
        salts = memory?.salts ?? TelemetrySalts()
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
        makeTurns()
        do throws(AdvertisingError) {
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
        guard stoppedAt == nil, let onAirSince else { return nil }
        let changes = onAir.compactMap(\.nextChange).map { onAirSince.advanced(byMicroseconds: $0) }
        return (changes + turns.map { clock.instant(ofMicroseconds: $0.dueMicroseconds) }).min()
    }

    /// Renews what is out of date.
    public func wake(_ now: HCIInstant) throws(AdvertisingError) {
        if let due = nextWakeUp, due <= now { try renew() }
    }

    /// The wall clock is right and shows this.
    public func synchronize(unixMicroseconds: Int) {
        clock.synchronize(unixMicroseconds: unixMicroseconds, at: host.now)
    }

    /// What must survive a restart.
    public var memory: BeaconMemory {
        BeaconMemory(
            eidCounter: clock.counter(at: host.now),
            turns: turns.map { .init(key: $0.key, window: $0.window, address: $0.address) }, salts: salts)
    }

    private func makeTurns() {
        let keys = sources.compactMap(\.advertisement.content.rotatingKey)
        let old = turns
        turns = []
        for key in keys where !turns.contains(where: { $0.key == key }) {
            let memory = memoryAtStart?.turns.first { $0.key == key }
            let turn = old.first { $0.key == key }
            turns.append(
                turn
                    ?? EphemeralTurn(
                        key, counter: clock.microseconds(at: host.now), memory: memory, &randomness))
        }
    }

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
    public func stop() throws(AdvertisingError) {
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

    var elapsed: Int { onAirSince.map { max(0, (stoppedAt ?? host.now).microseconds(since: $0)) } ?? 0 }
}
