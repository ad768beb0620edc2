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
    /// What is on the air, and from which addresses, in a few words.
    var summary: String { get }
}
