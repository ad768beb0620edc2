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

    /// The kernel says of our instances what it believes, and its list leaves some out: whether the adapter is powered
    /// is what can be asked. That others remove or disable them is told by events.
    public func verify() throws(AdvertisingError) -> Bool {
        guard isOnAir else { return false }
        let settings = try advertising {
            try host.execute(ReadControllerInformation(), index: plan.index).current
        }
        return settings.contains([.powered, .lowEnergy]) && !settings.contains(.advertising)
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
