public import Advertiser
internal import BluetoothTypes
public import HCI

/// A scan on one controller: turned on, watched, and turned on again when others have turned it off.
///
/// For the thread that owns the host. Reports reach whoever set ``onPacket``, before they are looked at here.
public final class ScanSession: AdapterSession {
    /// How listening is.
    public enum State: String, Hashable, Sendable {
        /// Not started, or stopped.
        case off
        case listening
        /// Another program scans with parameters of its own: its reports are heard, perhaps without duplicates.
        case foreign
        /// Stopped for a moment by ourselves.
        case paused
        /// The scan is on, and nothing comes.
        case deaf
        /// The controller was reset, and is given a moment before it is set up again.
        case reset
    }

    /// How long another program that turned the scan on or off, or reset the controller, is left alone, in microseconds:
    /// 200 ms.
    static let restartDelay = 200_000
    /// How long scanning stops for a beacon on the same radio that needs a new address, in microseconds: 300 ms.
    static let yielding = 300_000
    /// How often is looked whether another program's scan goes on, in microseconds: 1 s.
    static let foreignProbe = 1_000_000

    public private(set) var state = State.off
    /// How often the scan was turned on again: because somebody had turned it off, or nobody knows why.
    public private(set) var restarts = 0
    /// Those of them after another program had turned the scan on or off.
    public private(set) var foreignRestarts = 0
    /// Is shown each packet in either direction at its passing.
    public var onPacket: HCIHost.Observer?
    /// Is told each change of ``state``.
    public var onState: ((State, HCIInstant) -> Void)?

    private let host: HCIHost
    private let settings: ScanSettings
    private let capabilities: ControllerCapabilities
    private let isExclusive: Bool
    private let isAmongListeners: Bool
    /// Whether a scan that is on may have been left by an earlier run of our own.
    private var hasLeftover: Bool
    /// Whether the scan that is on is another program's.
    private var isOthers = false
    private var isLost = false
    private var watch = ForeignScanWatch()
    private var deafness = DeafnessWatch()
    private var nextProbe: HCIInstant?
    private var foreignSeen: HCIInstant?
    /// How often the controller was reset since it was set up, and after how many of them it was set up again.
    private var resets = 0
    private var resetsOutlived = 0
    private var wasReset: Bool { resets > resetsOutlived }
    /// Whether somebody else has opened the event masks since the last one.
    private var isUnmasked = false
    /// Whether somebody needs the scan to stop for a moment.
    private var isHindrance = false

    /// - Parameters:
    ///   - capabilities: Decide the family of commands: a controller that has seen one of them refuses the other (Core
    ///     Specification 5.4, Vol 4 Part E 3.1.1).
    ///   - isExclusive: Nobody else uses the controller: a scan that is on is a leftover of our own.
    ///   - isAmongListeners: Another listener of this package shares the controller: its scan is as good as ours, because
    ///     it filters nothing.
    ///   - hasLeftover: Whether an earlier run of our own had no time to end its scan: one that is on is turned off and on
    ///     again, once.
    ///   - previous: The session before this one on the same radio: what it knows of silences goes on. The scan that it
    ///     could not end is a leftover.
    public init(
        host: HCIHost, _ capabilities: ControllerCapabilities, _ settings: ScanSettings = .standard, isExclusive: Bool,
        isAmongListeners: Bool = false, hasLeftover: Bool = false, after previous: ScanSession? = nil
    ) {
        self.host = host
        self.settings = settings
        self.isExclusive = isExclusive
        self.isAmongListeners = isAmongListeners
        self.hasLeftover = (hasLeftover || previous?.leavesScan ?? false) && !isAmongListeners
        self.capabilities = capabilities
        deafness = previous?.deafness ?? DeafnessWatch()
        if let previous, previous.wasReset, !previous.isLost { (resets, isUnmasked) = (1, previous.isUnmasked) }
        restarts = previous?.restarts ?? 0
        foreignRestarts = previous?.foreignRestarts ?? 0
        host.leavesReportsToObserver = true
        host.observer = { [weak self] packet, isFromController, time in
            self?.see(packet, isFromController, time)
        }
    }

    private var isExtended: Bool { capabilities.hasExtendedAdvertising }

    /// Turns scanning on, or finds that another program has done so.
    public func start() throws(SessionError) {
        foreignSeen = nil
        nextProbe = nil
        deafness.breakOff(at: host.now)
        watch.forget()
        let reset = resets
        // A reset forgets the event masks too, which nobody can ask for. Where the kernel sets the controller up again, as
        // after a power cycle, its masks are left alone; otherwise reports would be masked for good.
        if wasReset, !isUnmasked { try openEventMasks() }
        resetsOutlived = reset
        let mayReplace = isExclusive || hasLeftover
        hasLeftover = false
        if try setParameters() {
            try enable(true)
            change(.listening)
        } else if mayReplace {
            try enable(false)
            guard try setParameters() else { throw .impossible("the controller scans, and does not stop doing so") }
            try enable(true)
            change(.listening)
        } else {
            enterForeignState()
        }
        expectSetUpIfReset()
    }

    /// A reset in the middle of that may have come before the scan was turned on: then it is on, with whatever parameters.
    private func expectSetUpIfReset() {
        guard wasReset else { return }
        hasLeftover = !isAmongListeners
        expectSetUp(host.now)
    }

    private func openEventMasks() throws(SessionError) {
        do throws(HCICommandError) {
            try capabilities.openEventMasks(host)
        } catch {
            throw .command(error, remedy: nil)
        }
    }

    private func expectSetUp(_ now: HCIInstant) {
        nextProbe = now.advanced(byMicroseconds: isAmongListeners ? 2 * Self.restartDelay : Self.restartDelay)
        change(.reset)
    }

    public var isOnAir: Bool { state != .off }

    public var isRestarting: Bool { state == .reset }

    public var summary: String { "listening" }

    /// Does nothing: reports are not counted here.
    public func silence(since instant: HCIInstant) {}

    /// Turns scanning on again.
    public func rearm() throws(SessionError) { try start() }

    /// The controller was out of reach and has lost its settings: if it scans when it is back, the scan is not ours.
    public func markLost() { isLost = true }

    /// Whether a scan of ours stays on where nobody stops it.
    private var leavesScan: Bool { !isLost && !isOthers && (state == .listening || state == .deaf) }

    /// Turns scanning off, unless it is another program's.
    public func stop(by deadline: HCIInstant = .distantFuture) throws(SessionError) {
        let wasOurs = leavesScan
        host.latestAnswer = deadline
        change(.off)
        if wasOurs { try enable(false) }
    }

    /// Whether scanning is on, by its parameters: a controller refuses them while it scans. Where it was off it is
    /// turned on again.
    public func verify() throws(SessionError) -> Bool {
        guard state != .off else { return false }
        // Both end by themselves.
        if state == .paused || state == .reset { return true }
        try look()
        expectSetUpIfReset()
        return true
    }

    private func look() throws(SessionError) {
        guard try setParameters() else {
            if foreignSeen != nil { enterForeignState() }
            foreignSeen = nil
            return
        }
        restarts += 1
        if foreignSeen != nil { foreignRestarts += 1 }
        foreignSeen = nil
        try enable(true)
        deafness.breakOff(at: host.now)
        nextProbe = nil
        change(.listening)
    }

    /// Stops scanning while `body` runs, on a controller that takes what `body` sends only then: a legacy one refuses a
    /// new random address while it scans (Core Specification 5.4, Vol 4 Part E 7.8.4). Others are not stopped.
    public func paused(_ body: () throws -> Void) throws {
        guard !isExtended, !isOthers, state == .listening else { return try body() }
        try enable(false)
        change(.paused)
        defer { nextProbe = state == .paused ? host.now : nextProbe }
        try body()
        if try setParameters() { try enable(true) }
        deafness.breakOff(at: host.now)
        change(.listening)
        expectSetUpIfReset()
    }

    /// When ``wake(_:)`` wants to be called at the latest; `nil` for never.
    public var nextWakeUp: HCIInstant? {
        guard state != .off else { return nil }
        guard state != .paused, state != .reset, let check = deafness.nextCheck else { return nextProbe }
        return min(nextProbe ?? check, check)
    }

    /// Takes what has arrived, or what arrives first until `deadline`.
    public func receive(until deadline: HCIInstant = .distantPast) throws(SessionError) {
        guard var event = try next(until: max(deadline, host.now)) else { return }
        for _ in 0..<eventsInATurn {
            if case .hardwareError(let code) = event { throw .hardwareError(code) }
            guard let another = try next(until: host.now) else { return }
            event = another
        }
    }

    private func next(until deadline: HCIInstant) throws(SessionError) -> HCIEvent? {
        do throws(HCICommandError) {
            return try host.nextEvent(until: deadline)
        } catch {
            throw .command(error, remedy: nil)
        }
    }

    /// Does what is due: looks after a scan that others have touched, and at a silence.
    public func wake(_ now: HCIInstant) throws(SessionError) {
        if state == .paused || state == .reset {
            guard let due = nextProbe, due <= now else { return }
            if wasReset {
                restarts += 1
                if !isExclusive { foreignRestarts += 1 }
            }
            return try start()
        }
        guard state != .off else { return }
        if isHindrance {
            isHindrance = false
            guard !isOthers, state == .listening || state == .deaf else { return }
            try enable(false)
            change(.paused)
            nextProbe = host.now.advanced(byMicroseconds: Self.yielding)
            return
        }
        if let due = nextProbe, due <= now {
            nextProbe = isOthers ? now.advanced(byMicroseconds: Self.foreignProbe) : nil
            _ = try verify()
        }
        switch deafness.check(at: now) {
        case .nothing: break
        case .probe: _ = try verify()
        case .deaf(let since):
            change(.deaf)
            let seconds = now.microseconds(since: since) / 1_000_000
            throw .ended(.noAnswer, "the radio is deaf: the scan is on, but nothing was received for \(seconds) s")
        }
    }

    private func see(_ packet: HCIPacket, _ isFromController: Bool, _ now: HCIInstant) {
        onPacket?(packet, isFromController, now)
        guard isFromController else { return watch.sent(packet) }
        if packet.isAdvertisingReport {
            deafness.heard(at: now)
            if state == .deaf { change(.listening) }
        } else if let sign = watch.received(packet) {
            switch sign {
            case .reset:
                resets += 1
                isUnmasked = false
                if state != .off, state != .paused { expectSetUp(now) }
            case .masked: isUnmasked = true
            case .changed where state == .off || state == .reset: break
            case .changed:
                foreignSeen = now
                nextProbe = now.advanced(byMicroseconds: Self.restartDelay)
            case .hindered where !isExtended && (state == .listening || state == .deaf):
                isHindrance = true
                nextProbe = now
            case .hindered: break
            }
        }
    }

    private func enterForeignState() {
        isOthers = true
        nextProbe = host.now.advanced(byMicroseconds: Self.foreignProbe)
        change(isAmongListeners ? .listening : .foreign)
    }

    private func change(_ wanted: State) {
        // What was deaf hears again when it hears something, not when it is turned on.
        let new = wanted == .listening && deafness.isDeaf ? .deaf : wanted
        guard state != new else { return }
        state = new
        onState?(new, host.now)
    }

    /// Whether the controller took the parameters, because it does not scan.
    private func setParameters() throws(SessionError) -> Bool {
        do {
            if isExtended {
                try host.execute(settings.extendedParameters())
            } else {
                try host.execute(settings.legacyParameters())
            }
            return true
        } catch HCICommandError.refused(_, _, .commandDisallowed) {
            return false
        } catch {
            throw Self.sessionError(error)
        }
    }

    private func enable(_ isOn: Bool) throws(SessionError) {
        isOthers = false
        do {
            if isExtended {
                try host.execute(
                    LESetExtendedScanEnable(isOn, filterDuplicates: isOn && settings.filtersDuplicates ? .on : .off))
            } else {
                try host.execute(LESetScanEnable(isOn, filterDuplicates: isOn && settings.filtersDuplicates))
            }
        } catch {
            throw Self.sessionError(error)
        }
    }

    private static func sessionError(_ error: any Error) -> SessionError {
        guard let error = error as? HCICommandError else { return .impossible("\(error)") }
        switch error {
        case .refused(_, _, .unsupportedFeatureOrParameterValue), .refused(_, _, .invalidParameters):
            return .impossible("\(error)")
        default: return .command(error, remedy: nil)
        }
    }
}

/// Events that are taken in one go.
private let eventsInATurn = 256
