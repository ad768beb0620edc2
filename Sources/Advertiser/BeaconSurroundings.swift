public import HCI

/// What a ``BeaconKeeper`` needs of the world: adapters, clocks, somebody to tell. A test is one, and a service.
public protocol BeaconSurroundings: AnyObject {
    /// Now, on the clock of the channels that ``open()`` gives.
    var now: HCIInstant { get }

    /// Finds the adapter, raises it where it is down, and opens it.
    func open() throws(BeaconFault) -> OpenedController

    /// Lets go of the adapter.
    func close()

    /// A session with what the profile wants, for a controller that can do it.
    ///
    /// - Throws: `impossible` where it cannot.
    func makeSession(
        _ controller: OpenedController, _ capabilities: ControllerCapabilities
    ) throws(AdvertisingError) -> any KeptSession

    /// Reads the profile anew and keeps it aside: its adapter's name, or why it is refused, as an input.
    func readProfile() -> Supervisor.Input

    /// A session with what the profile wants that was read last.
    func makeNextSession(
        _ controller: OpenedController, _ capabilities: ControllerCapabilities
    ) throws(AdvertisingError) -> any KeptSession

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

    public init(_ cause: SupervisorCause, _ text: String, isPermanent: Bool = false) {
        self.cause = cause
        self.text = text
        self.isPermanent = isPermanent
    }

    var input: Supervisor.Input { isPermanent ? .impossible(text) : .failed(cause, text) }
}

/// A controller that can be talked to.
public struct OpenedController {
    public let host: HCIHost
    /// Nobody else uses it.
    public let isExclusive: Bool

    public init(host: HCIHost, isExclusive: Bool) {
        self.host = host
        self.isExclusive = isExclusive
    }
}
