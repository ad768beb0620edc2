internal import BeaconFrames
internal import BluetoothTypes
public import HCI

/// What a ``BeaconKeeper`` keeps on the air: the advertisements of one profile on one controller.
public protocol KeptSession: AnyObject {
    /// Sets up the controller and advertises.
    func start() throws(AdvertisingError)
    /// When ``wake()`` wants to be called at the latest; `nil` when the octets on the air never change.
    var nextWakeUp: HCIInstant? { get }
    /// Renews what is due.
    func wake() throws(AdvertisingError)
    /// Takes an event of the controller that is no answer to a command.
    func handle(_ event: HCIEvent) throws(AdvertisingError)
    /// Whether advertising is on. What is on the air is not disturbed.
    func verify() throws(AdvertisingError) -> Bool
    /// Sets everything anew, and advertises.
    func rearm() throws(AdvertisingError)
    /// Turns advertising off, and gives back what was taken.
    func stop() throws(AdvertisingError)
    /// What is on the air, and from which address, in a few words.
    var summary: String { get }
}

extension AdvertisingSession: KeptSession {
    public func verify() throws(AdvertisingError) -> Bool {
        try advertising { try host.isAdvertising(sentPlan) }
    }

    public func rearm() throws(AdvertisingError) { try start() }

    public var summary: String {
        "on the air: \(source.advertisement.content.typeName) every \(plan.interval) from \(address)"
    }
}

extension HCIHost {
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
