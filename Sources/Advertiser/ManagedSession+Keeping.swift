internal import BeaconFrames
internal import BluetoothTypes
public import HCI

extension ManagedSession: KeptSession {
    /// Events that are taken in one go.
    private static let eventsInATurn = 256

    public var isOnAir: Bool { onAirSince != nil && !isSilent }

    public func receive() throws(AdvertisingError) {
        for _ in 0..<Self.eventsInATurn {
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

    public var summary: String {
        let list = plan.instances.map { "\($0.advertisement.content.typeName) every \($0.interval.lowerBound)" }
        return "on the air through the kernel: " + list.joined(separator: ", ")
    }
}
