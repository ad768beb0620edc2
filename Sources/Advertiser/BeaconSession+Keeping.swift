internal import BeaconFrames
internal import BluetoothTypes
public import HCI

extension BeaconSession: KeptSession {
    public func receive() throws(AdvertisingError) {
        for _ in 0..<eventsInATurn {
            guard let event = try advertising({ try host.nextEvent(until: host.now) }) else { return }
            try handle(event)
        }
    }

    /// Each set is asked by setting the parameters that it has: a controller refuses that while it advertises, and is
    /// left as it was in both cases (Core Specification 5.4, Vol 4 Part E 7.8.5 and 7.8.53).
    public func verify() throws(AdvertisingError) -> Bool {
        guard isOnAir else { return false }
        return try advertising {
            for set in sets where try !host.isAdvertising(set.currentPlan) { return false }
            return true
        }
    }

    public func rearm() throws(AdvertisingError) { try rearm(on: nil, plan: nil) }

    public func stop(by deadline: HCIInstant) throws(AdvertisingError) {
        host.latestAnswer = deadline
        try stop()
    }
}

extension HCIHost {
    fileprivate func isAdvertising(_ plan: AdvertisingPlan) throws -> Bool {
        do {
            switch plan.family {
            case .legacy: _ = try execute(plan.legacyParameters)
            case .extended(let handle): _ = try execute(plan.extendedParameters(handle))
            }
            return false
        } catch HCICommandError.refused(_, _, .commandDisallowed) {
            return true
        }
    }
}
