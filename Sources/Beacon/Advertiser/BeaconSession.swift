internal import BeaconFrames
internal import BluetoothTypes
public import HCI

/// All advertisements of one box on one controller, from the first command to the last.
///
/// It waits for nothing but the answers to its commands: whoever drives it hands events to ``handle(_:)``, calls
/// ``wake(_:)`` at ``nextWakeUp``, and decides what to do about errors. ``run(until:)`` is all of that for a program in
/// the foreground. Where nothing rotates and nothing has to be renewed there is no next wake-up.
///
/// Counters (ADV_CNT, SEC_CNT) begin at ``start()`` and go on through ``rearm(on:plan:)`` and ``replace(with:)``.
public final class BeaconSession {
    public private(set) var plan: SendingPlan
    /// When all advertisements were on the air for the first time; `nil` before.
    public private(set) var onAirSince: HCIInstant?
    private(set) var host: HCIHost
    private(set) var sets: [ActiveSet]
    private(set) var frames: [ActiveFrame]
    /// Events of advertisements that a reload has taken out.
    private(set) var eventsOfOthers: UInt64 = 0
    /// When the session was stopped; counters stand still from then on.
    private(set) var stoppedAt: HCIInstant?
    let countersAtStart: TelemetryCounters
    private var live: LiveContent

    /// - Parameters:
    ///   - clock: for ephemeral ids; one that starts at 65280 now where it is left out.
    ///   - memory: what was on the air before a restart.
    ///   - countersAtStart: what telemetry starts to count from.
    ///   - telemetry: the sensors; without them what they say is sent as unknown.
    ///   - randomness: for salts, turned-over addresses and the moments of turning over.
    public init(
        host: HCIHost, plan: SendingPlan, clock: EIDClock? = nil, memory: BeaconMemory? = nil,
        countersAtStart: TelemetryCounters = TelemetryCounters(), telemetry: (any TelemetrySource)? = nil,
        randomness: any RandomNumberGenerator = SystemRandomNumberGenerator()
    ) {
        self.host = host
        self.plan = plan
        self.countersAtStart = countersAtStart
        live = LiveContent(
            clock ?? EIDClock(at: host.now), memory: memory, telemetry: telemetry, randomness: randomness)
        frames = plan.sources.map { ActiveFrame($0) }
        sets = plan.allocation.sets.map { ActiveSet($0, plan.sources) }
    }

    /// Configures the controller, sets the data, and enables advertising, in this order, one set after the other. All
    /// counters begin anew.
    ///
    /// When it fails half-way, what was set is taken back before the error is thrown.
    public func start() throws(SessionError) {
        onAirSince = nil
        stoppedAt = nil
        eventsOfOthers = 0
        frames = plan.sources.map { ActiveFrame($0) }
        sets = plan.allocation.sets.map { ActiveSet($0, plan.sources) }
        keepTurns()
        try arm()
        onAirSince = host.now
    }

    /// Turns advertising off and gives back what was taken. All that can be tried has been tried when this returns.
    ///
    /// - Throws: when the controller did not confirm that advertising is off: it may still be on the air.
    public func stop() throws(SessionError) {
        let failure = turnOff()
        stoppedAt = host.now
        if let failure { throw failure }
    }

    /// When ``wake(_:)`` has something to do; `nil` for never.
    public var nextWakeUp: HCIInstant? {
        guard isOnAir else { return nil }
        // This is asked at each wake-up: nothing large is copied, as the sets would be that an array returns.
        var earliest = live.turns.isEmpty ? .distantFuture : live.nextTurn ?? .distantFuture
        let sets = sets
        for index in sets.indices {
            if let next = sets.span[index].scheduler?.nextTurn { earliest = min(earliest, next) }
            if let renewal = frames[sets.span[index].current].renewalDue { earliest = min(earliest, renewal) }
        }
        return earliest == .distantFuture ? nil : earliest
    }

    /// Whether all sets are enabled, as far as the controller has said.
    public var isOnAir: Bool {
        guard stoppedAt == nil, onAirSince != nil else { return false }
        for index in sets.indices where !sets[index].isEnabled { return false }
        return true
    }

    /// Does what is due: turns ids over, gives shared sets to whoever's turn it is, and renews telemetry.
    ///
    /// - Throws: when a command failed; what is on the air is then what it was, or less, until ``rearm(on:plan:)``.
    public func wake(_ now: HCIInstant) throws(SessionError) {
        guard isOnAir else { return }
        for index in live.turns.indices {
            if let turn = live.turnIfDue(index, at: now) { try turnOver(turn) }
        }
        for index in sets.indices { try renew(index, now) }
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
    public var hasMemory: Bool {
        // Asked at each wake-up: a property of `live` would be computed from a copy of all of it.
        !live.turns.isEmpty || live.hasSealedPackets
    }

    /// What must survive a restart.
    public var memory: BeaconMemory { live.memory(at: host.now) }

    /// Keeps the beacon on the air until `deadline`.
    ///
    /// - Throws: `ended` when the controller stopped, `command` with `interrupted` inside when a signal came.
    public func run(until deadline: HCIInstant) throws(SessionError) {
        while true {
            let wakeUp = nextWakeUp
            let event = try advertising { try host.nextEvent(until: min(wakeUp ?? deadline, deadline)) }
            if let event { try handle(event) }
            if let wakeUp, wakeUp <= host.now { try wake(host.now) }
            if host.now >= deadline { return }
        }
    }
}

/// On the air, off it, and back.
extension BeaconSession {
    /// Sets everything up again, after a reset or on a controller that has come back. Counters, ids, addresses and the
    /// order of rotation go on.
    ///
    /// - Parameters:
    ///   - newHost: where the controller is reached by another way now. Its clock must be that of the old one.
    ///   - newPlan: where the controller is another, or can do something else than it could.
    /// - Throws: what failed. Nothing is on the air then that could be turned off, and counters stand still.
    public func rearm(on newHost: HCIHost? = nil, plan newPlan: SendingPlan? = nil) throws(SessionError) {
        silence(since: (newHost ?? host).now)
        if let newHost { host = newHost }
        if let newPlan { adopt(newPlan) }
        for index in sets.indices { sets[index].data = nil }
        try arm()
        stoppedAt = nil
        onAirSince = onAirSince ?? host.now
    }

    /// Somebody has found that nothing has been on the air since `instant`: events are not counted from then on, and
    /// nothing is due, until ``rearm(on:plan:)``.
    public func silence(since instant: HCIInstant) {
        for index in sets.indices { sets[index].end(at: instant) }
    }

    /// Sends something else from now on. What the two plans have in common stays on the air; the data of a set whose
    /// parameters stay the same is replaced in place, any other set is off for no longer than its commands take.
    ///
    /// - Throws: what failed. The old plan is on the air again then, unless ``isOnAir`` says that it is not.
    public func replace(with newPlan: SendingPlan) throws(SessionError) {
        let old = (plan, sets, frames, eventsOfOthers)
        let turns = live.turns
        do throws(SessionError) {
            try takeOver(newPlan)
        } catch {
            let begun = sets
            if error.isInterruption {
                // Nothing goes back on the air: the caller turns off whatever either plan has put there.
                sets += old.1.filter { set in !begun.contains { $0.plan.family == set.plan.family } }
                throw error
            }
            (plan, sets, frames, eventsOfOthers) = old
            live.goBack(to: turns)
            release(begun.filter { set in !sets.contains { $0.plan.family == set.plan.family } })
            try? rearm()
            throw error
        }
    }

    private func takeOver(_ newPlan: SendingPlan) throws(SessionError) {
        let before = sets
        let now = host.now
        for index in sets.indices { sets[index].tally.end(at: now) }
        adopt(newPlan)
        release(before.filter { old in !sets.contains { $0.plan.family == old.plan.family } })
        for index in sets.indices {
            if let old = before.first(where: { $0.canStay(as: sets[index]) }) {
                try continueSet(index, from: old)
            } else {
                try setUp(index)
            }
        }
    }

    private func continueSet(_ index: Int, from old: ActiveSet) throws(SessionError) {
        let now = host.now
        sets[index].grant = old.grant
        sets[index].address = old.address
        sets[index].data = old.data
        sets[index].isEnabled = true
        for member in sets[index].allocation.members { try make(member, sets[index], now) }
        try show(index, sets[index].current)
        sets[index].scheduler?.start(at: now)
        sets[index].tally.begin(sets[index].turn, at: now)
    }

    /// Makes `newPlan` the one that is followed from the next command on; counts go on for what stays the same.
    private func adopt(_ newPlan: SendingPlan) {
        countCompleted()
        var old = frames
        frames = newPlan.sources.map { source in
            let content = source.advertisement.content
            guard let index = old.firstIndex(where: { $0.source.advertisement.content == content }) else {
                return ActiveFrame(source)
            }
            var frame = old.remove(at: index)
            frame.source = source
            return frame
        }
        eventsOfOthers += old.reduce(0) { $0 + $1.eventsBefore }
        plan = newPlan
        sets = newPlan.allocation.sets.map { ActiveSet($0, newPlan.sources) }
        keepTurns()
    }

    /// Counts the events of the sets' time on the air to what was there before, so that the sets may begin anew.
    private func countCompleted() {
        let now = host.now
        for set in sets {
            for (member, frame) in set.allocation.members.enumerated() where frames.indices.contains(frame) {
                frames[frame].eventsBefore += set.tally.events(of: member, at: now)
            }
        }
    }

    /// The ids whose addresses turn over, each with its telemetry.
    private func keepTurns() { live.keep(plan.allocation.sets.compactMap(\.rotatingKey), at: host.now) }

    /// Puts all sets up and on the air; when it fails, what was set is taken back.
    private func arm() throws(SessionError) {
        do throws(SessionError) {
            var ready = 0
            while ready < sets.count {
                do throws(SessionError) {
                    try setUp(ready)
                    ready += 1
                } catch {
                    // Somebody else holds the sets that the controller says it has: we make do with what we got.
                    guard ready > 0, case .command(let refusal, _) = error, refusal.status == .memoryCapacityExceeded
                    else { throw error }
                    release(Array(sets.prefix(ready)))
                    adopt(try plan.limited(toSets: ready))
                    ready = 0
                }
            }
        } catch {
            turnOff(after: error)
            throw error
        }
    }

    /// The longest time for turning off a controller that did not answer, in microseconds. The error names the time of
    /// one command, so it should be reported soon after it.
    private static let turnOffTimeout = 500_000

    private func turnOff(after error: SessionError) {
        let latest = host.latestAnswer
        defer { host.latestAnswer = latest }
        if error.isHopeless { host.latestAnswer = min(latest, host.now.advanced(byMicroseconds: Self.turnOffTimeout)) }
        _ = turnOff()
    }

    /// Puts a set up and on the air, whatever state it was in.
    private func setUp(_ index: Int) throws(SessionError) {
        sets[index].end(at: host.now)
        if let turn = live.turn(of: sets[index].allocation.rotatingKey) { sets[index].address = turn.address }
        let commands = sets[index].commands
        let plan = sets[index].currentPlan
        sets[index].grant = try commands.configure(plan, host)
        // Of all members: what cannot be made must not turn up an hour later.
        for member in sets[index].allocation.members { try make(member, sets[index], host.now) }
        sets[index].data = nil
        try show(index, sets[index].current)
        if plan.pdu != .nonconnectable { try commands.setScanResponse(plan.scanResponse, host) }
        try commands.enable(host)
        sets[index].begin(at: host.now)
    }

    private func disable(_ index: Int) throws(SessionError) {
        end(index)
        try sets[index].commands.disable(host)
    }

    /// A set is off the air from now on.
    func end(_ index: Int) { sets[index].end(at: host.now) }
}

/// What the sets hold: made when they are set up, and made anew when it is due.
extension BeaconSession {
    /// Gives the set to whoever's turn it is, with octets that are true enough.
    private func renew(_ index: Int, _ now: HCIInstant) throws(SessionError) {
        let (current, isAnother) = sets[index].turn(at: now)
        if frames[current].renewalDue != nil, frames[current].isDue(at: now, afterPause: isAnother) {
            try make(current, sets[index], now)
        }
        try show(index, current)
    }

    /// Replaces the data in place, where it is another.
    private func show(_ index: Int, _ frame: Int) throws(SessionError) {
        let payload = frames[frame].payload
        guard sets[index].data != payload else { return }
        sets[index].data = nil
        try sets[index].commands.setData(payload, host)
        sets[index].data = payload
    }

    /// Makes the octets of an advertisement that is sent from `set`.
    private func make(_ frame: Int, _ set: ActiveSet, _ now: HCIInstant) throws(SessionError) {
        let payload = try live.payload(
            frames[frame].source, power: set.grant.power, counters: counters(at: now),
            isFirst: frames[frame].madeAt == nil, at: now)
        if let payload {
            frames[frame].payload = payload
            frames[frame].madeAt = now
        }
        frames[frame].planRenewal(at: now, isShared: set.allocation.isShared)
    }

    /// An id and its address turn over together, in all sets that carry them. Neither family lets the address of an
    /// enabled advertiser change in every state, so this costs an event.
    private func turnOver(_ turn: EphemeralTurn) throws(SessionError) {
        let affected = sets.indices.filter { sets[$0].allocation.rotatingKey == turn.key }
        // All at once: the old address must not be heard beside the new one.
        if affected.count > 1 {
            for index in affected { try disable(index) }
        }
        for index in affected { try setUp(index) }
    }
}

/// Turning off, under all circumstances.
extension BeaconSession {
    /// Returns why advertising may still be on, if it may.
    private func turnOff() -> SessionError? {
        var failure: SessionError?
        silence(since: host.now)
        for index in sets.indices {
            // A controller that is gone or does not answer is not asked about every set.
            if let failure, failure.isHopeless { break }
            failure = disableDespiteSignals(index) ?? failure
        }
        if plan.isExclusive {
            // A reset is the state in which we found it, and the only way back for what has no off switch.
            do throws(HCICommandError) {
                _ = try host.execute(HCIReset())
                return nil
            } catch {
                return failure
            }
        }
        for set in sets {
            do throws(SessionError) {
                try set.commands.release(set.plan, host)
            } catch {
                if error.isHopeless { break }
            }
        }
        return failure
    }

    /// Takes sets off the air that are not needed any more, as far as the controller lets us.
    private func release(_ sets: [ActiveSet]) {
        for set in sets {
            do throws(SessionError) {
                try set.commands.disable(host)
                try set.commands.release(set.plan, host)
            } catch {
                if error.isHopeless { return }
            }
        }
    }

    /// A second Ctrl-C while the first one is obeyed must not leave the beacon on.
    private func disableDespiteSignals(_ index: Int) -> SessionError? {
        for _ in 0..<2 {
            do throws(SessionError) {
                try disable(index)
                return nil
            } catch {
                guard case .command(.channel(.interrupted), _) = error else { return error }
            }
        }
        return .command(.channel(.interrupted), remedy: nil)
    }
}
