internal import BeaconFrames
internal import BluetoothTypes
public import HCI

/// Everything that an ``AdapterRunner`` needs from its surroundings: the adapter, the clock, the profile and the log.
///
/// The environment owns the session. A service implements it with a real adapter, a test with a virtual one.
public protocol AdapterEnvironment: AnyObject {
    /// The current time of the adapters' clock.
    var now: HCIInstant { get }

    /// `true` if the session should end for good. It never changes back to `false`.
    var isStopWanted: Bool { get }

    /// The session that was started last; `nil` before the first one.
    var session: (any AdapterSession)? { get }

    /// Finds the adapter, powers it on if it is down, and opens it.
    func open() throws(AdapterFault)

    /// Closes the adapter.
    func close()

    /// Reads the controller's capabilities and starts a session on it. Counts and ids of the previous session continue.
    ///
    /// - Throws: `impossible` if this controller cannot fulfil the request.
    func startSession() throws(SessionError) -> any AdapterSession

    /// Waits for a sign that the radio really sends what the session has started or set up again.
    ///
    /// - Throws: `ended` if it does not.
    func confirmOnAir() throws(SessionError)

    /// Reads the profile again and keeps the result for ``changeOver()`` and ``adoptProfile()``.
    ///
    /// - Returns: `reloadGood` with the adapter's name, or `reloadBad` with the reason.
    func readProfile() -> Supervisor.Input

    /// Replaces the session's advertisements with those of the profile that was read last. If it fails, the old profile
    /// stays on the air.
    func changeOver() throws(SessionError) -> any AdapterSession

    /// Makes the profile that was read last the current one.
    func adoptProfile()

    /// The reason why a channel ended, as far as it can be found out.
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
    /// `true` if a later attempt cannot succeed either.
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
    /// `true` if the session sends or scans, as far as the controller has reported.
    var isOnAir: Bool { get }
    /// `true` if the session sets the controller up again after a reset, without help of the supervisor.
    var isRestarting: Bool { get }
    /// The session in a few words, for the log.
    var summary: String { get }
    /// The latest moment for the next call of ``wake(_:)``; `nil` if nothing ever becomes due.
    var nextWakeUp: HCIInstant? { get }
    /// Does the work that is due.
    func wake(_ now: HCIInstant) throws(SessionError)
    /// Handles the events that have arrived. If none has, waits for the first one until `deadline`.
    func receive(until deadline: HCIInstant) throws(SessionError)
    /// Returns whether the session is on the air, without disturbing it.
    func verify() throws(SessionError) -> Bool
    /// Sets up the controller again, and advertises or scans again.
    func rearm() throws(SessionError)
    /// Notes that nothing has been on the air since `instant`.
    func silence(since instant: HCIInstant)
    /// Notes that the controller is out of reach and has lost its settings.
    func markLost()
    /// Turns everything off and restores the controller, by `deadline`.
    func stop(by deadline: HCIInstant) throws(SessionError)
}

/// The advertisements of one profile on one controller, sent by HCI or through the kernel.
public protocol AdvertisingSession: AdapterSession {
    /// The current time of the clock of the session's host.
    var now: HCIInstant { get }
    /// The state that payloads depend on.
    var live: LiveContent { get }
    /// The advertisements on the air, in the order of the profile.
    var advertisements: [OnAirAdvertisement] { get }
    /// Advertising events of all advertisements since the start, including those that a reload has removed.
    var computedEvents: UInt64 { get }
    var controller: OnAirController { get }
    /// One sentence for each request that the controller cannot fulfil.
    var warnings: [String] { get }
    /// The advertising sets or instances of the session, which other programs must not change.
    var watched: ForeignActivity.Watched { get }
}

extension AdvertisingSession {
    /// Always `false`: after a reset the supervisor starts the session again.
    public var isRestarting: Bool { false }

    /// Does nothing: a new start sets everything up anyway.
    public func markLost() {}

    /// The time at which all advertisements were first on the air together; `nil` before that.
    public var onAirSince: HCIInstant? { live.onAirSince }

    /// The time since ``onAirSince``, in whole seconds.
    public var secondsOnAir: Int { live.elapsed(at: live.countedUntil(now)) / 1_000_000 }

    /// The beacon's own clock, from which ephemeral ids are computed.
    public var clock: EIDClock { live.clock }

    /// `true` if ``memory`` contains ephemeral ids, or packet numbers that an encryption has used.
    public var hasMemory: Bool { live.hasMemory }

    /// The values that must survive a restart.
    public var memory: BeaconMemory { live.memory(at: now) }

    /// Compares the beacon's own clock with the wall clock and corrects it.
    ///
    /// Ids change at once if the beacon's own clock was behind, or far ahead.
    ///
    /// - Parameters:
    ///   - unixMicroseconds: The wall clock, in microseconds since 1970.
    ///   - isTrusted: `true` if the wall clock is known to be synchronised.
    @discardableResult
    public func synchronize(unixMicroseconds: Int, isTrusted: Bool) -> EIDClock.Correction {
        live.synchronize(unixMicroseconds: unixMicroseconds, isTrusted: isTrusted, at: now)
    }

    /// Keeps the advertisements on the air until `deadline`, for a program without an ``AdapterRunner``.
    ///
    /// - Throws: `ended` if the advertisements are off the air, `command` or `management` with `interrupted` inside if
    ///   a signal arrived.
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

    /// The advertisements with their intervals, addresses and contents.
    public var summary: String {
        let list = advertisements.map { status in
            "\(status.advertisement.content.typeName) every "
                + (status.pattern?.pattern.description ?? "\(status.grantedMilliseconds) ms")
                + (status.isAddressRefused
                    ? " from another address until the controller accepts its own"
                    : status.address.map { " from \($0)" } ?? "") + " (\(status.contentText))"
        }
        return (controller.family == .managed ? "on the air through the kernel: " : "on the air: ")
            + list.joined(separator: ", ")
    }
}

/// Handles at most 256 events: waits for the first one until `deadline`, then handles those that have already arrived.
///
/// - Parameter next: Returns the next event that arrives until an instant.
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
