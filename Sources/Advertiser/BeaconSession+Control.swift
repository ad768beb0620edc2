internal import BeaconFrames
internal import BluetoothTypes
public import HCI

/// On the air, off it, and back.
extension BeaconSession {
    /// Sets everything up again, after a reset or on a controller that has come back. Counters, ids, addresses and the
    /// order of rotation go on.
    ///
    /// - Parameters:
    ///   - newHost: where the controller is reached by another way now. Its clock must be that of the old one.
    ///   - newPlan: where the controller is another, or can do something else than it could.
    /// - Throws: what failed. Nothing is on the air then that could be turned off, and counters stand still.
    public func rearm(on newHost: HCIHost? = nil, plan newPlan: BeaconPlan? = nil) throws(AdvertisingError) {
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
    public func replace(with newPlan: BeaconPlan) throws(AdvertisingError) {
        let old = (plan, sets, frames, turns, eventsOfOthers)
        do throws(AdvertisingError) {
            try takeOver(newPlan)
        } catch {
            let begun = sets
            if error.isInterruption {
                // Nothing goes back on the air: the caller turns off whatever either plan has put there.
                sets += old.1.filter { set in !begun.contains { $0.plan.family == set.plan.family } }
                throw error
            }
            (plan, sets, frames, turns, eventsOfOthers) = old
            release(begun.filter { set in !sets.contains { $0.plan.family == set.plan.family } })
            try? rearm()
            throw error
        }
    }

    private func takeOver(_ newPlan: BeaconPlan) throws(AdvertisingError) {
        let before = sets
        let now = host.now
        for index in sets.indices { sets[index].tally.end(at: now) }
        adopt(newPlan)
        release(before.filter { old in !sets.contains { $0.plan.family == old.plan.family } })
        for index in sets.indices {
            if let old = before.first(where: { canStay($0, as: sets[index]) }) {
                try continueSet(index, from: old)
            } else {
                try setUp(index)
            }
        }
    }

    /// Whether nothing but the data has to change.
    private func canStay(_ old: ActiveSet, as new: ActiveSet) -> Bool {
        old.isEnabled && old.plan == new.plan && old.allocation.rotatingKey == new.allocation.rotatingKey
    }

    private func continueSet(_ index: Int, from old: ActiveSet) throws(AdvertisingError) {
        let now = host.now
        sets[index].grant = old.grant
        sets[index].address = old.address
        sets[index].data = old.data
        sets[index].isEnabled = true
        for member in sets[index].allocation.members { try make(member, sets[index], now) }
        try show(index)
        sets[index].scheduler?.start(at: now)
        sets[index].tally.begin(sets[index].turn, at: now)
    }

    /// Makes `newPlan` the one that is followed from the next command on; counts go on for what stays the same.
    func adopt(_ newPlan: BeaconPlan) {
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
        makeTurns()
    }

    /// Puts all sets up and on the air; when it fails, what was set is taken back.
    func arm() throws(AdvertisingError) {
        do throws(AdvertisingError) {
            var ready = 0
            while ready < sets.count {
                do throws(AdvertisingError) {
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
            _ = turnOff()
            throw error
        }
    }

    /// Puts a set up and on the air, whatever state it was in.
    func setUp(_ index: Int) throws(AdvertisingError) {
        sets[index].end(at: host.now)
        if let turn = turns.first(where: { $0.key == sets[index].allocation.rotatingKey }) {
            sets[index].address = turn.address
        }
        let commands = sets[index].commands
        let plan = sets[index].currentPlan
        sets[index].grant = try commands.configure(plan, host)
        // Of all members: what cannot be made must not turn up an hour later.
        for member in sets[index].allocation.members { try make(member, sets[index], host.now) }
        sets[index].data = nil
        try show(index)
        if plan.pdu != .nonconnectable { try commands.setScanResponse(plan.scanResponse, host) }
        try commands.enable(host)
        sets[index].begin(at: host.now)
    }

    func disable(_ index: Int) throws(AdvertisingError) {
        sets[index].end(at: host.now)
        try sets[index].commands.disable(host)
    }
}
