internal import BeaconFrames
internal import BluetoothTypes
public import HCI

/// What a ``BeaconKeeper`` keeps on the air: the advertisements of one profile on one controller.
public protocol KeptSession: AnyObject {
    /// Whether it is on the air, as far as anybody knows.
    var isOnAir: Bool { get }
    /// When ``wake(_:)`` wants to be called at the latest; `nil` when the octets on the air never change.
    var nextWakeUp: HCIInstant? { get }
    /// Does what is due.
    func wake(_ now: HCIInstant) throws(AdvertisingError)
    /// Takes what the controller has said by itself.
    func receive() throws(AdvertisingError)
    /// Whether advertising is on. What is on the air is not disturbed.
    func verify() throws(AdvertisingError) -> Bool
    /// Sets everything anew, and advertises.
    func rearm() throws(AdvertisingError)
    /// It has been off the air since `instant`.
    func silence(since instant: HCIInstant)
    /// Turns advertising off, and gives back what was taken, by `deadline`.
    func stop(by deadline: HCIInstant) throws(AdvertisingError)
    /// What is on the air, and from which address, in a few words.
    var summary: String { get }
}

extension AdvertisingSession: KeptSession {
    public var isOnAir: Bool { onAirSince != nil }

    public func wake(_ now: HCIInstant) throws(AdvertisingError) { try wake() }

    public func receive() throws(AdvertisingError) {
        try host.handleEvents { event throws(AdvertisingError) in try handle(event) }
    }

    public func verify() throws(AdvertisingError) -> Bool {
        try advertising { try host.isAdvertising(sentPlan) }
    }

    public func rearm() throws(AdvertisingError) { try start() }

    public func silence(since instant: HCIInstant) {}

    public func stop(by deadline: HCIInstant) throws(AdvertisingError) {
        host.latestAnswer = deadline
        try stop()
    }

    public var summary: String {
        "on the air: \(source.advertisement.content.typeName) every \(plan.interval) from \(address)"
    }
}

extension HCIHost {
    /// Events that are taken in one go.
    private static let eventsInATurn = 256

    /// Hands over the events that are there, without waiting for more.
    func handleEvents(_ handle: (HCIEvent) throws(AdvertisingError) -> Void) throws(AdvertisingError) {
        for _ in 0..<Self.eventsInATurn {
            guard let event = try advertising({ try nextEvent(until: now) }) else { return }
            try handle(event)
        }
    }

    /// Whether the advertiser of `plan` is on. It is asked by setting the parameters that it has: a controller refuses
    /// that while it advertises, and is left as it was in both cases (Core Specification 5.4, Vol 4 Part E 7.8.5 and
    /// 7.8.53).
    func isAdvertising(_ plan: AdvertisingPlan) throws -> Bool {
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
