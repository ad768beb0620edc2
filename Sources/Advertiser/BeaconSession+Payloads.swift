internal import BeaconFrames
internal import BluetoothTypes
internal import HCI

/// What the sets hold: made when they are set up, and made anew when it is due.
extension BeaconSession {
    /// Gives the set to whoever's turn it is, with octets that are true enough.
    func renew(_ index: Int, _ now: HCIInstant) throws(AdvertisingError) {
        let isAnother = sets[index].scheduler?.turn(at: now) ?? false
        let current = sets[index].current
        if isAnother { sets[index].tally.begin(sets[index].turn, at: now) }
        if isDue(current, now, isAnother: isAnother) { try make(current, sets[index], now) }
        try show(index)
    }

    /// Whoever comes on the air after a pause brings news along, if there may be any.
    private func isDue(_ frame: Int, _ now: HCIInstant, isAnother: Bool) -> Bool {
        guard let due = frames[frame].renewalDue else { return false }
        guard isAnother, let madeAt = frames[frame].madeAt else { return due <= now }
        return now.microseconds(since: madeAt) >= PayloadSource.shortestRenewalMicroseconds
    }

    /// Replaces the data in place, where it is another.
    func show(_ index: Int) throws(AdvertisingError) {
        let payload = frames[sets[index].current].payload
        guard sets[index].data != payload else { return }
        sets[index].data = nil
        try sets[index].commands.setData(payload, host)
        sets[index].data = payload
    }

    /// Makes the octets of an advertisement that is sent from `set`.
    func make(_ frame: Int, _ set: ActiveSet, _ now: HCIInstant) throws(AdvertisingError) {
        let source = frames[frame].source
        let isFirst = frames[frame].madeAt == nil
        var moment = PayloadSource.Moment(radioPower: set.grant.power, eidTime: eidTime(of: frame, now))
        if case .eddystoneTLM(let wanted, let encryption) = source.advertisement.content {
            moment.counters = counters(at: now)
            if case .sensor(let name) = wanted.battery {
                moment.batteryMillivolts = telemetry?.batteryMillivolts(name)
            }
            if case .sensor(let name) = wanted.temperature { moment.temperature = telemetry?.temperature(name) }
            if let encryption {
                let salt = salts.salt(
                    for: encryption, at: moment.eidTime, first: isFirst ? source.firstSalt : nil, &randomness)
                // Without one what was told before goes on until the window ends.
                guard let salt else { return planRenewal(frame, set, now) }
                moment.salt = salt
            }
        }
        frames[frame].payload = try source.payload(moment)
        frames[frame].madeAt = now
        planRenewal(frame, set, now)
    }

    private func planRenewal(_ frame: Int, _ set: ActiveSet, _ now: HCIInstant) {
        let source = frames[frame].source
        guard let step = source.renewalMicroseconds else { return }
        // From one due time to the next, so that being late does not add up.
        let due = frames[frame].renewalDue ?? now
        let lateness = set.allocation.isShared ? 0 : max(0, now.microseconds(since: due))
        frames[frame].renewalDue = now.advanced(byMicroseconds: step - lateness % step)
    }

    /// The counter that ids and nonces are made from: for an ephemeral id and its telemetry that of the window which is
    /// on the air.
    private func eidTime(of frame: Int, _ now: HCIInstant) -> UInt32 {
        let key = frames[frame].source.advertisement.content.rotatingKey
        return turns.first { $0.key == key }?.window ?? clock.counter(at: now)
    }

    /// An id and its address turn over together, in all sets that carry them. Neither family lets the address of an
    /// enabled advertiser change in every state, so this costs an event.
    func turnOver(_ turn: EphemeralTurn) throws(AdvertisingError) {
        let affected = sets.indices.filter { sets[$0].allocation.rotatingKey == turn.key }
        // All at once: the old address must not be heard beside the new one.
        if affected.count > 1 {
            for index in affected { try disable(index) }
        }
        for index in affected { try setUp(index) }
    }

    /// The ids whose addresses turn over, each with its telemetry.
    func makeTurns() {
        let now = clock.microseconds(at: host.now)
        let old = turns
        turns = []
        for key in plan.allocation.sets.compactMap(\.rotatingKey) where !turns.contains(where: { $0.key == key }) {
            if let turn = old.first(where: { $0.key == key }) {
                turns.append(turn)
            } else {
                let memory = memoryAtStart?.turns.first { $0.key == key }
                turns.append(EphemeralTurn(key, counter: now, memory: memory, &randomness))
            }
        }
    }

    /// What must survive a restart.
    public var memory: BeaconMemory {
        BeaconMemory(
            eidCounter: clock.counter(at: host.now),
            turns: turns.map { .init(key: $0.key, window: $0.window, address: $0.address) }, salts: salts)
    }
}
