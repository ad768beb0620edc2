public import HCI

/// All advertisements of one box on one controller, from the first command to the last.
///
/// It waits for nothing but the answers to its commands: whoever drives it hands events to ``handle(_:)``, calls
/// ``wake(_:)`` at ``nextWakeUp``, and decides what to do about errors. ``run(until:)`` is all of that for a program in
/// the foreground. Where nothing rotates and nothing has to be renewed there is no next wake-up.
///
/// Counters (ADV_CNT, SEC_CNT) begin at ``start()`` and go on through ``rearm(on:plan:)`` and ``replace(with:)``.
public final class BeaconSession {
    public internal(set) var plan: BeaconPlan
    /// When all advertisements were on the air for the first time; `nil` before.
    public internal(set) var onAirSince: HCIInstant?
    /// The beacon's own clock, for ephemeral ids.
    public internal(set) var clock: EIDClock

    var host: HCIHost
    var sets: [ActiveSet]
    var frames: [ActiveFrame]
    var turns: [EphemeralTurn] = []
    /// Events of advertisements that a reload has taken out.
    var eventsOfOthers: UInt64 = 0
    /// When the session was stopped; counters stand still from then on.
    var stoppedAt: HCIInstant?
    let countersAtStart: TelemetryCounters
    let telemetry: (any TelemetrySource)?
    let memoryAtStart: BeaconMemory?
    var randomness: any RandomNumberGenerator
    /// For encrypted telemetry.
    var salts: TelemetrySalts

    /// - Parameters:
    ///   - clock: for ephemeral ids; one that starts at 65280 now where it is left out.
    ///   - memory: what was on the air before a restart.
    ///   - countersAtStart: what telemetry starts to count from.
    ///   - telemetry: the sensors; without them what they say is sent as unknown.
    ///   - randomness: for salts, turned-over addresses and the moments of turning over.
    public init(
        host: HCIHost, plan: BeaconPlan, clock: EIDClock? = nil, memory: BeaconMemory? = nil,
        countersAtStart: TelemetryCounters = TelemetryCounters(), telemetry: (any TelemetrySource)? = nil,
        randomness: any RandomNumberGenerator = SystemRandomNumberGenerator()
    ) {
        self.host = host
        self.plan = plan
        self.clock = clock ?? EIDClock(at: host.now)
        memoryAtStart = memory
        self.countersAtStart = countersAtStart
        self.telemetry = telemetry
        self.randomness = randomness
        salts = memory?.salts ?? TelemetrySalts()
        frames = plan.sources.map { ActiveFrame($0) }
        sets = plan.allocation.sets.map { ActiveSet($0, plan.sources) }
    }

    /// Configures the controller, sets the data, and enables advertising, in this order, one set after the other. All
    /// counters begin anew.
    ///
    /// When it fails half-way, what was set is taken back before the error is thrown.
    public func start() throws(AdvertisingError) {
        onAirSince = nil
        stoppedAt = nil
        eventsOfOthers = 0
        frames = plan.sources.map { ActiveFrame($0) }
        sets = plan.allocation.sets.map { ActiveSet($0, plan.sources) }
        makeTurns()
        try arm()
        onAirSince = host.now
    }

    /// Turns advertising off and gives back what was taken. All that can be tried has been tried when this returns.
    ///
    /// - Throws: when the controller did not confirm that advertising is off: it may still be on the air.
    public func stop() throws(AdvertisingError) {
        let failure = turnOff()
        stoppedAt = host.now
        if let failure { throw failure }
    }

    /// When ``wake(_:)`` has something to do; `nil` for never.
    public var nextWakeUp: HCIInstant? {
        guard isOnAir else { return nil }
        var earliest: HCIInstant?
        func consider(_ instant: HCIInstant?) {
            guard let instant else { return }
            earliest = min(earliest ?? instant, instant)
        }
        for turn in turns { consider(clock.instant(ofMicroseconds: turn.dueMicroseconds)) }
        for set in sets {
            consider(set.scheduler?.nextTurn)
            consider(frames[set.current].renewalDue)
        }
        return earliest
    }

    /// Whether all sets are enabled, as far as the controller has said.
    public var isOnAir: Bool { stoppedAt == nil && onAirSince != nil && sets.allSatisfy(\.isEnabled) }

    /// Does what is due: turns ids over, gives shared sets to whoever's turn it is, and renews telemetry.
    ///
    /// - Throws: when a command failed; what is on the air is then what it was, or less, until ``rearm(on:plan:)``.
    public func wake(_ now: HCIInstant) throws(AdvertisingError) {
        guard isOnAir else { return }
        for index in turns.indices where clock.instant(ofMicroseconds: turns[index].dueMicroseconds) <= now {
            turns[index].turn(counter: clock.microseconds(at: now), &randomness)
            try turnOver(turns[index])
        }
        for index in sets.indices { try renew(index, now) }
    }

    /// The wall clock is right and shows this: ids turn over earlier if the beacon's own clock was late.
    public func synchronize(unixMicroseconds: Int) {
        clock.synchronize(unixMicroseconds: unixMicroseconds, at: host.now)
    }

    /// Keeps the beacon on the air until `deadline`.
    ///
    /// - Throws: `ended` when the controller stopped, `command` with `interrupted` inside when a signal came.
    public func run(until deadline: HCIInstant) throws(AdvertisingError) {
        while true {
            let wakeUp = nextWakeUp
            let event = try advertising { try host.nextEvent(until: min(wakeUp ?? deadline, deadline)) }
            if let event { try handle(event) }
            if let wakeUp, wakeUp <= host.now { try wake(host.now) }
            if host.now >= deadline { return }
        }
    }
}
