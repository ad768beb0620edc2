internal import BeaconFrames
internal import BluetoothTypes
internal import HCI

/// What is sent to the kernel for each instance.
extension ManagedSession {
    /// Sends the parameters, where they have a message of their own. A new instance, and a new random address.
    func prepare(_ instance: ManagedPlan.Instance) throws(AdvertisingError) -> RadioPowerGrant {
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

    /// Turns ids over, and renews telemetry.
    func renew() throws(AdvertisingError) {
        let now = host.now
        for index in turns.indices where clock.instant(ofMicroseconds: turns[index].dueMicroseconds) <= now {
            turns[index].turn(counter: clock.microseconds(at: now), &randomness)
            let key = turns[index].key
            for position in onAir.indices where sources[position].advertisement.content.rotatingKey == key {
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

    private func renew(_ position: Int) throws(AdvertisingError) {
        // Out of salts, what was told before goes on until the window ends.
        let payload = try makePayload(sources[position], onAir[position].grant) ?? onAir[position].payload
        onAir[position].payload = payload
        try send(plan.data(plan.instances[position], onAir[position].payload))
        onAir[position].nextChange = nextChange(sources[position], after: elapsed)
    }

    /// `nil` for encrypted telemetry where no salt is left.
    func makePayload(
        _ source: PayloadSource, _ grant: RadioPowerGrant
    ) throws(AdvertisingError) -> AdvertisingData? {
        let turn = turns.first { $0.key == source.advertisement.content.rotatingKey }
        var moment = PayloadSource.Moment(
            radioPower: grant.power, counters: counters, eidTime: turn?.window ?? clock.counter(at: host.now))
        if case .eddystoneTLM(let wanted, let encryption) = source.advertisement.content {
            if case .sensor(let name) = wanted.battery {
                moment.batteryMillivolts = telemetry?.batteryMillivolts(name)
            }
            if case .sensor(let name) = wanted.temperature { moment.temperature = telemetry?.temperature(name) }
            if let encryption {
                let salt = salts.salt(
                    for: encryption, at: moment.eidTime, first: onAirSince == nil ? source.firstSalt : nil, &randomness)
                guard let salt else { return nil }
                moment.salt = salt
            }
        }
        return try source.payload(moment)
    }

    /// When, in microseconds after the start, the octets of `elapsed` are out of date; `nil` for never.
    func nextChange(_ source: PayloadSource, after elapsed: Int) -> Int? {
        source.renewalMicroseconds.map { (elapsed / $0 + 1) * $0 }
    }

    /// Returns why something may still be on the air, if it may.
    func removeAll() -> AdvertisingError? {
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
