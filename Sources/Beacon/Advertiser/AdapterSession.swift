internal import BeaconFrames
internal import BluetoothTypes
public import HCI

/// Gives an ``AdapterRunner`` access to the adapter, the clock, the profile and the log.
///
/// The environment owns the session. A service implements this protocol with a real adapter, a test with a virtual one.
public protocol AdapterEnvironment: AnyObject {
    /// The current time of the adapters' clock.
    var now: HCIInstant { get }

    /// `true` after a stop was requested. It never changes back to `false`.
    var isStopWanted: Bool { get }

    /// The session that was started last; `nil` before the first start.
    var session: (any AdapterSession)? { get }

    /// Finds the adapter, powers it on if it is down, and opens it.
    func open() throws(AdapterFault)

    /// Closes the adapter.
    func close()

    /// Reads the controller's capabilities and starts a session on it. The counts of events and the ephemeral ids of
    /// the previous session continue.
    ///
    /// - Throws: `impossible` if this controller cannot send what is requested.
    func startSession() throws(SessionError) -> any AdapterSession

    /// Checks that the radio really sends what the session has started or set up again. It may wait for a short time.
    ///
    /// - Throws: `ended` if something keeps the session off the air.
    func confirmOnAir() throws(SessionError)

    /// Reads the profile again and stores it for ``changeOver()`` and ``adoptProfile()``.
    ///
    /// - Returns: `reloadGood` with the adapter's name, or `reloadBad` with the reason.
    func readProfile() -> Supervisor.Input

    /// Replaces the session's advertisements with the advertisements of the profile that was read last. If this fails,
    /// the old profile stays on the air.
    func changeOver() throws(SessionError) -> any AdapterSession

    /// Makes the profile that was read last the current profile.
    func adoptProfile()

    /// Returns the reason why the connection to the controller ended. If the reason cannot be found, the result
    /// describes only the error.
    func explain(_ error: HCIChannelError) -> AdapterFault

    func log(_ priority: Supervisor.LogPriority, _ text: String)

    func notify(_ notice: Supervisor.Notice)
}

/// Default implementations for environments without a profile, such as the environment of a scan.
extension AdapterEnvironment {
    public func confirmOnAir() throws(SessionError) {}
    public func readProfile() -> Supervisor.Input { .reloadBad("there is no profile to read") }
    public func changeOver() throws(SessionError) -> any AdapterSession {
        throw .impossible("there is no profile to change to")
    }
    public func adoptProfile() {}
}

/// The reason why an adapter cannot be used.
public struct AdapterFault: Error, Hashable, Sendable {
    public let cause: SupervisorCause
    public let text: String
    /// `true` if later attempts would fail too.
    public let isPermanent: Bool

    /// - Parameter text: The problem in one sentence.
    public init(_ cause: SupervisorCause, _ text: String, isPermanent: Bool = false) {
        self.cause = cause
        self.text = text
        self.isPermanent = isPermanent
    }

    /// The fault as an input of a supervisor.
    public var input: Supervisor.Input { isPermanent ? .impossible(text) : .failed(cause, text) }
}

/// A session that an ``AdapterRunner`` keeps running on an adapter: the advertisements of a profile, or a scan.
public protocol AdapterSession: AnyObject {
    /// `true` if the session is sending or scanning, according to the last report of the controller.
    var isOnAir: Bool { get }
    /// `true` while the session itself is setting the controller up again after a reset.
    var isRestarting: Bool { get }
    /// A description of the session for the log.
    var summary: String { get }
    /// The time by which ``wake(_:)`` must be called next; `nil` if nothing is due in the future.
    var nextWakeUp: HCIInstant? { get }
    /// Does the work that is due.
    func wake(_ now: HCIInstant) throws(SessionError)
    /// Handles the events that have arrived. If none has, waits for the first one until `deadline`.
    func receive(until deadline: HCIInstant) throws(SessionError)
    /// Returns true if the session is on the air. The check does not interrupt it.
    func verify() throws(SessionError) -> Bool
    /// Sets up the controller again, and starts advertising or scanning again.
    func rearm() throws(SessionError)
    /// Records that nothing has been on the air since `instant`.
    func silence(since instant: HCIInstant)
    /// Records that the controller cannot be reached and has lost its settings.
    func markLost()
    /// Turns everything off and restores the controller, by `deadline`.
    func stop(by deadline: HCIInstant) throws(SessionError)
}

/// A session that sends the advertisements of one profile on one controller, with HCI commands or through the kernel.
public protocol AdvertisingSession: AdapterSession {
    /// The current time of the clock of the session's host.
    var now: HCIInstant { get }
    /// The values from which payloads are built, such as the clock for ephemeral ids.
    var live: LiveContent { get }
    /// The advertisements on the air, in the order of the profile.
    var advertisements: [OnAirAdvertisement] { get }
    /// The number of advertising events since the start. Events of advertisements that a reload has removed are
    /// included.
    var computedEvents: UInt64 { get }
    var controller: OnAirController { get }
    /// One sentence for each setting of the profile that the controller cannot apply.
    var warnings: [String] { get }
    /// The advertising sets or instances of the session, which other programs must not change.
    var watched: ForeignActivity.Watched { get }
}

extension AdvertisingSession {
    /// Always `false`: after a reset, the supervisor starts the session again, not the session itself.
    public var isRestarting: Bool { false }

    /// Does nothing: the next start sets everything up again.
    public func markLost() {}

    /// The first time at which all advertisements were on the air together; `nil` before that time.
    public var onAirSince: HCIInstant? { live.onAirSince }

    /// The time since ``onAirSince``, in whole seconds.
    public var secondsOnAir: Int { live.elapsed(at: live.countedUntil(now)) / 1_000_000 }

    /// The beacon's own clock, from which ephemeral ids are computed.
    public var clock: EIDClock { live.clock }

    /// `true` if ``memory`` must be saved, because it contains the clock of ephemeral ids or the packet numbers of an
    /// encryption.
    public var hasMemory: Bool { live.hasMemory }

    /// The values that must survive a restart.
    public var memory: BeaconMemory { live.memory(at: now) }

    /// Compares the beacon's own clock with the wall clock and corrects it.
    ///
    /// Ephemeral ids change at once if the beacon's own clock was behind, or far ahead.
    ///
    /// - Parameters:
    ///   - unixMicroseconds: The wall clock, in microseconds since 1970.
    ///   - isTrusted: `true` if the wall clock is known to be synchronised.
    @discardableResult
    public func synchronize(unixMicroseconds: Int, isTrusted: Bool) -> EIDClock.Correction {
        live.synchronize(unixMicroseconds: unixMicroseconds, isTrusted: isTrusted, at: now)
    }

    /// Keeps the advertisements on the air until `deadline`. Use it in a program that has no ``AdapterRunner``.
    ///
    /// - Throws: `ended` if the advertisements are off the air; `command` or `management` with the channel error
    ///   `interrupted` if a signal arrived.
    public func run(until deadline: HCIInstant) throws(SessionError) {
        while true {
            let wakeUp = nextWakeUp
            try receive(until: min(wakeUp ?? deadline, deadline))
            if let wakeUp, wakeUp <= now { try wake(now) }
            if now >= deadline { return }
        }
    }

    /// One sentence for each TX Power field of a payload or scan response that differs from the radio power in use.
    public var transmitPowerWarnings: [String] {
        advertisements.flatMap { status in
            let radioPower = status.grant.power.map { Int($0.dBm) }
            let fields = status.payload.transmitPowers + status.advertisement.scanResponse.transmitPowers
            return fields.filter { $0 != radioPower }.map { field in
                "\(status.advertisement.content.typeName): the TX Power field is \(field) dBm, and the radio power is "
                    + (radioPower.map { "\($0) dBm" } ?? "unknown")
            }
        }
    }

    /// A description for the log: the advertisements with their intervals, addresses and contents.
    public var summary: String {
        let list = advertisements.map { status in
            "\(status.advertisement.content.typeName) every "
                + (status.pattern?.pattern.description ?? "\(status.grantedMilliseconds) ms")
                + (status.isAddressRefused
                    ? " from another address until the controller accepts the requested address"
                    : status.address.map { " from \($0)" } ?? "") + " (\(status.contentText))"
        }
        return (controller.family == .managed ? "on the air through the kernel: " : "on the air: ")
            + list.joined(separator: ", ")
    }
}

/// Waits for the first event until `deadline`, then handles all events that have already arrived, at most 256.
///
/// - Parameter next: Returns the next event; `nil` if none arrives by the given instant.
func takeEvents<Event>(
    until deadline: HCIInstant, _ next: (HCIInstant) throws -> Event?, _ handle: (Event) throws(SessionError) -> Void
) throws(SessionError) {
    var limit = deadline
    for _ in 0..<256 {
        guard let event = try advertising({ try next(limit) }) else { return }
        try handle(event)
        limit = .distantPast
    }
}
