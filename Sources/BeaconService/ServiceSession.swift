internal import Advertiser
internal import HCI

/// A service's session, by either of the two ways to its controller.
enum ServiceSession: KeptSession {
    /// By HCI commands.
    case hci(BeaconSession)
    /// Through the kernel's advertising manager.
    case managed(ManagedSession)

    private var session: any KeptSession {
        switch self {
        case .hci(let session): session
        case .managed(let session): session
        }
    }

    var isOnAir: Bool { session.isOnAir }
    var onAirSince: HCIInstant? { session.onAirSince }
    var nextWakeUp: HCIInstant? { session.nextWakeUp }
    func wake(_ now: HCIInstant) throws(AdvertisingError) { try session.wake(now) }
    func receive() throws(AdvertisingError) { try session.receive() }
    func verify() throws(AdvertisingError) -> Bool { try session.verify() }
    func rearm() throws(AdvertisingError) { try session.rearm() }
    func silence(since instant: HCIInstant) { session.silence(since: instant) }
    func stop(by deadline: HCIInstant) throws(AdvertisingError) { try session.stop(by: deadline) }
    var advertisements: [OnAirAdvertisement] { session.advertisements }
    var computedEvents: UInt64 { session.computedEvents }
    var secondsOnAir: Int { session.secondsOnAir }
    var controller: OnAirController { session.controller }
    var warnings: [String] { session.warnings }
    var clock: EIDClock { session.clock }
    var memory: BeaconMemory { session.memory }
    func synchronize(unixMicroseconds: Int, isTrusted: Bool) -> EIDClock.Correction {
        session.synchronize(unixMicroseconds: unixMicroseconds, isTrusted: isTrusted)
    }
}
