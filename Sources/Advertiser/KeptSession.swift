internal import BeaconFrames
internal import BluetoothTypes
public import HCI

/// The advertisements of one profile on one controller, by whatever way they are sent: what a ``BeaconKeeper`` keeps on
/// the air, and what is told of it.
public protocol KeptSession: AnyObject {
    /// Whether it is on the air, as far as anybody knows.
    var isOnAir: Bool { get }
    /// When all advertisements were on the air for the first time; `nil` before.
    var onAirSince: HCIInstant? { get }
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

    /// What is on the air, in the order of the profile.
    var advertisements: [OnAirAdvertisement] { get }
    /// Advertising events of all advertisements since the start, those included that a reload has taken out.
    var computedEvents: UInt64 { get }
    /// Whole seconds since the start.
    var secondsOnAir: Int { get }
    var controller: OnAirController { get }
    /// What will not be as it was asked for, one sentence each.
    var warnings: [String] { get }

    /// The beacon's own clock, for ephemeral ids.
    var clock: EIDClock { get }
    /// Whether there are ids that turn over, so that ``memory`` holds something.
    var turnsOver: Bool { get }
    /// What must survive a restart.
    var memory: BeaconMemory { get }
    /// The wall clock shows this.
    ///
    /// - Parameters:
    ///   - unixMicroseconds: Since 1970.
    ///   - isTrusted: Whether somebody says that it is right.
    func synchronize(unixMicroseconds: Int, isTrusted: Bool) -> EIDClock.Correction
}

extension KeptSession {
    /// What is on the air, and from which addresses, in a few words.
    public var summary: String {
        let list = advertisements.map { status in
            "\(status.advertisement.content.typeName) every \(status.grantedMilliseconds) ms"
                + (status.address.map { " from \($0)" } ?? "")
        }
        return (controller.family == .managed ? "on the air through the kernel: " : "on the air: ")
            + list.joined(separator: ", ")
    }
}

/// Events that are taken in one go.
let eventsInATurn = 256
