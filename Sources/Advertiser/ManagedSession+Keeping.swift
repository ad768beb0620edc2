internal import BeaconFrames
internal import BluetoothTypes
public import HCI

extension ManagedSession: KeptSession {
    public var isOnAir: Bool { onAirSince != nil && !isSilent }

    public func receive() throws(AdvertisingError) {
        for _ in 0..<eventsInATurn {
            guard let event = try advertising({ try host.nextEvent(until: host.now) }) else { return }
            try handle(event)
        }
    }

    /// Asks the kernel as far as that disturbs nothing.
    ///
    /// Its list of instances leaves some out. Where the controller has sets, the same data is sent again: the kernel
    /// refuses that for an instance that is gone, and enables one that somebody turned off behind its back. On a legacy
    /// controller that would draw a new address, so there the adapter's settings have to do.
    public func verify() throws(AdvertisingError) -> Bool {
        guard isOnAir else { return false }
        let settings = try advertising {
            try host.execute(ReadControllerInformation(), index: plan.index).current
        }
        guard settings.isSuperset(of: [.powered, .lowEnergy]), !settings.contains(.advertising) else { return false }
        guard plan.form == .extended, plan.capabilities.hasExtendedAdvertising else { return true }
        for (instance, state) in zip(plan.instances, onAir) {
            do throws(AdvertisingError) {
                try send(plan.data(instance, state.payload))
            } catch {
                guard case .management(.refused(_, _, .invalidParameters)) = error else { throw error }
                return false
            }
        }
        return true
    }

    public func stop(by deadline: HCIInstant) throws(AdvertisingError) {
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
