public import Advertiser
internal import BluetoothTypes
public import HCI

/// A scan on one controller. The session checks the scan regularly, and turns it on again when another program has
/// turned it off.
///
/// Use it only on the thread that owns the host. Packets and changes of ``state`` are stored until they are taken with
/// ``takeEvents(_:)``.
public final class ScanSession: AdapterSession {
    /// The state of the scan.
    public enum State: String, Hashable, Sendable {
        /// Not started, or stopped.
        case off
        case listening
        /// Another program scans with its own parameters. The reports of that scan are received, but repeated reports
        /// may be missing.
        case foreign
        /// This session has stopped the scan for a moment.
        case paused
        /// The scan is on, but no reports arrive.
        case deaf
        /// The controller was reset. The session waits before it sets the controller up again.
        case reset
    }

    /// A packet between host and controller, or a change of state.
    public enum Event {
        case packet(HCIPacket, isFromController: Bool, at: HCIInstant)
        case state(State, at: HCIInstant)
    }

    /// The waiting time after another program turned the scan on or off, or reset the controller, in microseconds: 200
    /// ms.
    static let restartDelay = 200_000
    /// The length of a pause for a beacon on the same radio that needs a new address, in microseconds: 300 ms.
    static let beaconPause = 300_000
    /// The time between checks whether another program still scans, in microseconds: 1 s.
    static let foreignProbe = 1_000_000

    public private(set) var state = State.off
    /// The number of times that the scan was turned on again.
    public private(set) var restarts = 0
    /// The number of restarts that another program caused.
    public private(set) var foreignRestarts = 0
    /// The events that were not taken yet.
    private var events: [Event] = []
    /// The storage of the events that are being taken, kept for reuse.
    private var takenEvents: [Event] = []

    private let host: HCIHost
    private let settings: ScanSettings
    private let capabilities: ControllerCapabilities
    private let isExclusive: Bool
    private let isAmongListeners: Bool
    /// True if the current scan may be a leftover of an earlier run.
    private var hasLeftover: Bool
    /// True if the current scan belongs to another program.
    private var isForeignScan = false
    /// True if the controller was unreachable, and has therefore lost its settings.
    private var isLost = false
    private var watch = ForeignScanWatch()
    private var deafness = DeafnessWatch()
    /// The time of the next check whether the scan is on.
    private var nextProbe: HCIInstant?
    /// The time at which another program last changed the scan; `nil` if the scan was checked since.
    private var foreignChangeTime: HCIInstant?
    /// The number of resets so far.
    private var resets = 0
    /// The value of `resets` when the controller was last set up.
    private var resetsAtSetUp = 0
    private var wasReset: Bool { resets > resetsAtSetUp }
    /// True if another program has opened the event masks since the last reset.
    private var isUnmasked = false
    /// True if another program needs a pause of the scan.
    private var needsPause = false

    /// - Parameters:
    ///   - capabilities: The capabilities of the controller. They decide between legacy and extended commands, which
    ///     must not be mixed on one controller (Core Specification 5.4, Vol 4 Part E 3.1.1).
    ///   - isExclusive: Whether no other program uses the controller. Then a scan that is on is a leftover of an
    ///     earlier run.
    ///   - isAmongListeners: Whether another listener of this package shares the controller. The scan of that listener
    ///     can be used, because it filters no reports.
    ///   - hasLeftover: Whether an earlier run could not end its scan. A scan that is on is then restarted once.
    ///   - previous: The previous session on the same radio. Its measurement of silences continues, and a scan that it
    ///     could not end is a leftover.
    public init(
        host: HCIHost, _ capabilities: ControllerCapabilities, _ settings: ScanSettings = .standard, isExclusive: Bool,
        isAmongListeners: Bool = false, hasLeftover: Bool = false, after previous: ScanSession? = nil
    ) {
        self.host = host
        self.settings = settings
        self.isExclusive = isExclusive
        self.isAmongListeners = isAmongListeners
        self.hasLeftover = (hasLeftover || previous?.keepsScanOn ?? false) && !isAmongListeners
        self.capabilities = capabilities
        deafness = previous?.deafness ?? DeafnessWatch()
        if let previous, previous.wasReset, !previous.isLost { (resets, isUnmasked) = (1, previous.isUnmasked) }
        restarts = previous?.restarts ?? 0
        foreignRestarts = previous?.foreignRestarts ?? 0
        host.leavesReportsToObserver = true
        host.observer = { [weak self] packet, isFromController, time in
            self?.observe(packet, isFromController, time)
        }
    }

    private var isExtended: Bool { capabilities.hasExtendedAdvertising }

    /// Turns scanning on, or finds that another program has done so.
    public func start() throws(SessionError) {
        try prepareForCoded()
        foreignChangeTime = nil
        nextProbe = nil
        deafness.breakOff(at: host.now)
        watch.forget()
        let reset = resets
        // A reset also closes the event masks, so that no report arrives until they are opened. The masks cannot be
        // read. If the kernel sets the controller up again, as after a power cycle, the kernel's masks must not be
        // replaced.
        if wasReset, !isUnmasked { try openEventMasks() }
        resetsAtSetUp = reset
        let mayReplace = isExclusive || hasLeftover
        hasLeftover = false
        if try setParameters() {
            try enable(true)
            change(.listening)
        } else if mayReplace {
            try enable(false)
            guard try setParameters() else { throw .impossible("the controller does not stop its present scan") }
            try enable(true)
            change(.listening)
        } else {
            enterForeignState()
        }
        expectSetUpIfReset()
    }

    /// If the settings ask for LE Coded, checks that the controller can receive it. If no other program uses the
    /// controller, also makes reports name the coding.
    private func prepareForCoded() throws(SessionError) {
        guard settings.isCoded else { return }
        guard isExtended, capabilities.leFeatures.contains(.leCodedPHY) else {
            throw .impossible(
                "this controller cannot receive LE Coded (no Raspberry Pi's own radio can): scan without it, or use an "
                    + "adapter with extended advertising and LE Coded")
        }
        // If the controller refuses this, the reports do not name the coding, but arrive all the same.
        if isExclusive, capabilities.selectsCoding { _ = try? host.execute(LESetHostFeature.codingInReports) }
    }

    /// Waits for a new set-up if the controller was reset meanwhile. The scan may then be on with unknown parameters.
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

    /// Does nothing, because ``wake(_:)`` checks silences.
    public func silence(since instant: HCIInstant) {}

    /// Turns scanning on again.
    public func rearm() throws(SessionError) { try start() }

    /// Notes that the controller was unreachable and has lost its settings. A scan that is on afterwards belongs to
    /// another program.
    public func markLost() { isLost = true }

    /// True if the controller keeps scanning for this session until the session turns the scan off.
    private var keepsScanOn: Bool { !isLost && !isForeignScan && (state == .listening || state == .deaf) }

    /// Turns scanning off, unless the scan belongs to another program.
    public func stop(by deadline: HCIInstant = .distantFuture) throws(SessionError) {
        let wasOurs = keepsScanOn
        host.answerDeadline = deadline
        change(.off)
        if wasOurs { try enable(false) }
    }

    /// Checks whether the scan is on, and turns it on again if it is off. A controller refuses scan parameters while
    /// it scans.
    ///
    /// - Returns: `false` if the session was not started.
    public func verify() throws(SessionError) -> Bool {
        guard state != .off else { return false }
        // The states `paused` and `reset` end by themselves.
        if state == .paused || state == .reset { return true }
        try checkScan()
        expectSetUpIfReset()
        return true
    }

    private func checkScan() throws(SessionError) {
        guard try setParameters() else {
            if foreignChangeTime != nil { enterForeignState() }
            foreignChangeTime = nil
            return
        }
        restarts += 1
        if foreignChangeTime != nil { foreignRestarts += 1 }
        foreignChangeTime = nil
        try enable(true)
        deafness.breakOff(at: host.now)
        nextProbe = nil
        change(.listening)
    }

    /// The time at which ``wake(_:)`` must be called; `nil` for never.
    public var nextWakeUp: HCIInstant? {
        guard state != .off else { return nil }
        guard state != .paused, state != .reset, let check = deafness.nextCheck else { return nextProbe }
        return min(nextProbe ?? check, check)
    }

    /// Takes the events that have arrived, or waits until `deadline` for the first one.
    public func receive(until deadline: HCIInstant = .distantPast) throws(SessionError) {
        guard var event = try next(until: max(deadline, host.now)) else { return }
        for _ in 0..<maximumEvents {
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

    /// Does everything that is due: checks the scan after commands of other programs, and probes a silent radio.
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
        if needsPause {
            needsPause = false
            guard !isForeignScan, state == .listening || state == .deaf else { return }
            try enable(false)
            change(.paused)
            nextProbe = host.now.advanced(byMicroseconds: Self.beaconPause)
            return
        }
        if let due = nextProbe, due <= now {
            nextProbe = isForeignScan ? now.advanced(byMicroseconds: Self.foreignProbe) : nil
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

    /// Passes the events since the last call to `body`, in order.
    public func takeEvents(_ body: (Event) -> Void) {
        swap(&events, &takenEvents)
        for event in takenEvents { body(event) }
        takenEvents.removeAll(keepingCapacity: true)
    }

    private func observe(_ packet: HCIPacket, _ isFromController: Bool, _ now: HCIInstant) {
        events.append(.packet(packet, isFromController: isFromController, at: now))
        guard isFromController else { return watch.takeSent(packet) }
        if packet.isAdvertisingReport {
            deafness.receive(at: now)
            if state == .deaf { change(.listening) }
        } else if let effect = watch.takeReceived(packet) {
            switch effect {
            case .reset:
                resets += 1
                isUnmasked = false
                if state != .off, state != .paused { expectSetUp(now) }
            case .setEventMask: isUnmasked = true
            case .changedScan where state == .off || state == .reset: break
            case .changedScan:
                foreignChangeTime = now
                nextProbe = now.advanced(byMicroseconds: Self.restartDelay)
            case .needsPause where !isExtended && (state == .listening || state == .deaf):
                needsPause = true
                nextProbe = now
            case .needsPause: break
            }
        }
    }

    private func enterForeignState() {
        isForeignScan = true
        nextProbe = host.now.advanced(byMicroseconds: Self.foreignProbe)
        change(isAmongListeners ? .listening : .foreign)
    }

    private func change(_ requestedState: State) {
        // A deaf radio works again when a report arrives, not when the scan is turned on.
        let newState = requestedState == .listening && deafness.isDeaf ? .deaf : requestedState
        guard state != newState else { return }
        state = newState
        events.append(.state(newState, at: host.now))
    }

    /// Sets the scan parameters. Returns whether the controller accepted them, because it does not scan.
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
        isForeignScan = false
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

/// The maximum number of events that are taken at once.
private let maximumEvents = 256

extension ScanSettings: CustomStringConvertible {
    /// A text such as `passive, 60 ms of every 60 ms`.
    public var description: String {
        "\(isActive ? "active" : "passive"), \(window) of every \(interval)"
            + (isCoded ? ", on LE 1M and LE Coded in turn" : "")
    }
}
