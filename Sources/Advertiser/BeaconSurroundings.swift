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
