internal import BeaconFrames
internal import BluetoothTypes
public import HCI

/// What a ``BeaconKeeper`` needs of the world: adapters, clocks, profiles, somebody to tell. A service is one, and a
/// test under a hand-moved clock.
public protocol BeaconSurroundings: AnyObject {
    /// What is kept on the air here.
    associatedtype Session: KeptSession

    /// Now, on the clock of the adapters.
    var now: HCIInstant { get }

    /// Whether somebody wants the beacon off for good. Once it is true it stays so.
    var isStopWanted: Bool { get }

    /// Finds the adapter, raises it where it is down, and opens it.
    func open() throws(BeaconFault)

    /// Lets go of the adapter.
    func close()

    /// Asks the controller what it can do, and puts what the profile wants on the air.
    ///
    /// - Parameter session: what was on the air before, whose counts and ids go on.
    /// - Throws: `impossible` where this controller cannot do it.
    func start(_ session: Session?) throws(AdvertisingError) -> Session

    /// Reads the profile anew and keeps it aside: its adapter's name, or why it is refused, as an input.
    func readProfile() -> Supervisor.Input

    /// Sends what the profile wants that was read last, in the place of `session`, which stays on the air where this
    /// cannot be done.
    func changeOver(_ session: Session) throws(AdvertisingError) -> Session

    /// The profile that was read last is the one from now on.
    func adoptProfile()

    /// What lies behind the end of a channel, as far as it can be seen.
    func explain(_ error: HCIChannelError) -> BeaconFault

    func log(_ priority: Supervisor.LogPriority, _ text: String)

    func notify(_ notice: Supervisor.Notice)
}

/// Why an adapter is of no use.
public struct BeaconFault: Error, Hashable, Sendable {
    public let cause: SupervisorCause
    public let text: String
    /// It will never work like this.
    public let isPermanent: Bool

    /// - Parameter text: What was seen, in one sentence.
    public init(_ cause: SupervisorCause, _ text: String, isPermanent: Bool = false) {
        self.cause = cause
        self.text = text
        self.isPermanent = isPermanent
    }

    /// What it is for a supervisor.
    public var input: Supervisor.Input { isPermanent ? .impossible(text) : .failed(cause, text) }
}

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
    /// Whether ``memory`` holds something: ids that turn over, or numbers that encryption has used.
    var hasMemory: Bool { get }
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

/// Takes the events that are there, at most 256 of them in one go.
func takeEvents<Event>(
    _ next: () throws -> Event?, _ handle: (Event) throws(AdvertisingError) -> Void
) throws(AdvertisingError) {
    for _ in 0..<256 {
        guard let event = try advertising(next) else { return }
        try handle(event)
    }
}
