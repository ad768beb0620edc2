public import HCI

/// Decides what to do, and when, to keep a beacon on the air or a scan running.
///
/// It is a state machine without input and output. ``handle(_:at:)`` and ``wake(at:)`` return actions; the caller
/// carries them out and passes each result to ``handle(_:at:)``. With ``Persistence/unlimited``, it tries again without
/// end once the beacon has been on the air.
public struct Supervisor: Sendable {
    public let pacing: SupervisorPacing
    let sessionKind: SessionKind
    let persistence: Persistence
    /// The adapter's name in messages. A new profile that names another adapter changes it.
    public private(set) var adapter: String
    /// The number of recoveries, by the cause of the outage.
    public private(set) var rearms: [SupervisorCause: Int] = [:]
    /// The time at which advertising was last confirmed to be on.
    public private(set) var lastVerified: HCIInstant?
    /// The last outage that has ended.
    public private(set) var lastOutage: Outage?
    /// The last problem, in one sentence.
    public private(set) var lastError: String?
    /// The time at which the beacon last went on the air; `nil` while it is off the air.
    public private(set) var onAirSince: HCIInstant?
    /// `true` if the beacon has ever been on the air.
    public private(set) var hasBeenOnAir = false
    /// `true` if the supervisor has given up because of a fault.
    private(set) var hasGivenUp = false

    private var phase = Phase.closed
    /// The current outage; `nil` if there is none.
    private var ongoingOutage: OngoingOutage?
    /// The number of attempts since the beacon last stayed on the air for ``SupervisorPacing/stability``.
    private var attempt = 0
    /// The time of the next attempt; `nil` if none is planned.
    private var nextAttempt: HCIInstant?
    /// The time of the next verification or watchdog message.
    private var nextTick: HCIInstant
    /// The time at which the adapter was last powered on.
    private var lastPowerUp: HCIInstant?
    /// A description of the advertisements on the air, for the log.
    private var summary = ""
    private var reload: Reload?
    /// `true` if the machine has slept since advertising was last confirmed.
    private var hasSlept = false
    /// The reason why the last reload was refused; `nil` if it was not refused.
    private var reloadRefusal: String?

    private enum Phase: Hashable, Sendable {
        /// The adapter is closed.
        case closed
        case opening(HCIInstant)
        case starting(HCIInstant)
        case onAir
        case verifying(HCIInstant)
        /// The adapter is open, and the supervisor waits for the time of the next attempt.
        case held
        case rearming(HCIInstant)
        case off
    }

    /// The current outage.
    private struct OngoingOutage {
        /// The last cause; `nil` if the outage is a change to another adapter.
        var cause: SupervisorCause?
        /// The cause with the largest weight.
        var weightiestCause: SupervisorCause?
        let since: HCIInstant
    }

    /// The state of a reload.
    private enum Reload: Hashable, Sendable {
        case reading
        /// The profile is valid. It is adopted when the current action has ended.
        case ready
        case adopting
    }

    /// Creates a supervisor. Its first action comes from ``wake(at:)``.
    public init(
        adapter: String, sessionKind: SessionKind = .advertising, persistence: Persistence = .unlimited,
        pacing: SupervisorPacing = SupervisorPacing(), at now: HCIInstant
    ) {
        self.adapter = adapter
        self.sessionKind = sessionKind
        self.persistence = persistence
        self.pacing = pacing
        nextAttempt = now
        nextTick = now.advanced(byMicroseconds: pacing.verification)
    }

    public var state: State {
        switch phase {
        case .off: .off
        case .onAir, .verifying: .onAir
        default: hasBeenOnAir ? .recovering(ongoingOutage?.cause, attempt: attempt) : .starting(ongoingOutage?.cause)
        }
    }

    /// `true` if the beacon is on the air, according to the inputs so far.
    var isOnAir: Bool {
        switch phase {
        case .onAir, .verifying: true
        default: false
        }
    }

    /// One line for `systemctl status`: the advertisements on the air, or the reason why the beacon is off the air.
    public var statusLine: String {
        let line =
            switch phase {
            case .off: "off"
            case .onAir, .verifying: summary
            default: "not on the air: " + (ongoingOutage?.cause?.waitingText(adapter) ?? "starting on \(adapter)")
            }
        return reloadRefusal.map { "\(line); reload refused: \($0)" } ?? line
    }

    /// `true` if the adapter is open, so that its events must be read.
    public var isOpen: Bool { phase != .closed && phase != .off }

    /// The time by which ``wake(at:)`` must be called next; `nil` after the end.
    public var nextWakeUp: HCIInstant? {
        guard phase != .off else { return nil }
        guard let nextAttempt else { return nextTick }
        return min(nextAttempt, nextTick)
    }

    /// Returns the actions that are due.
    public mutating func wake(at now: HCIInstant) -> [Action] {
        guard let due = nextWakeUp, due <= now else { return [] }
        return attemptIfDue(now) + (nextTick <= now ? tick(now) : [])
    }

    /// Handles an input and returns the actions that follow from it.
    public mutating func handle(_ input: Input, at now: HCIInstant) -> [Action] {
        guard phase != .off else { return [] }
        switch input {
        case .opened:
            guard case .opening = phase else { return [] }
            phase = .starting(now)
            return [.start]
        case .started(let text):
            guard case .starting = phase else { return [] }
            return enterAir(text, now) + continueReload()
        case .rearmed:
            guard case .rearming = phase else { return [] }
            return enterAir(summary, now) + continueReload()
        case .verified:
            guard case .verifying = phase else { return [] }
            phase = .onAir
            lastVerified = now
            hasSlept = false
            return [.notify(.watchdog)] + continueReload()
        case .failed(let cause, let text):
            return fail(cause, text, now)
        case .impossible(let text):
            return hasBeenOnAir && persistence == .unlimited ? fail(.refused, text, now) : giveUp(text)
        case .adapterArrived, .rfkillUnblocked, .resumed, .radioFreed:
            return retryNow(after: input, now)
        case .reloadRequested, .reloadGood, .reloadBad, .adopted:
            return handleReload(input, now)
        case .stop:
            phase = .off
            onAirSince = nil
            return [.notify(.stopping), .turnOff, .close, .finish(asWanted: true)]
        }
    }

    private mutating func giveUp(_ text: String) -> [Action] {
        phase = .off
        onAirSince = nil
        lastError = text
        hasGivenUp = true
        return [.notify(.status("refused: \(text)"))] + (hasBeenOnAir ? [.turnOff] : [])
            + [.close, .finish(asWanted: false)]
    }

    /// Returns true if the adapter stays open after this fault, because only the settings of the controller must be
    /// sent again.
    private func leavesAdapterOpen(_ cause: SupervisorCause) -> Bool {
        cause.leavesAdapterOpen || persistence == .untilFault && cause == .controllerReset
    }
}

extension Supervisor {
    /// Starts the next attempt if it is due.
    private mutating func attemptIfDue(_ now: HCIInstant) -> [Action] {
        guard let due = nextAttempt, due <= now else { return [] }
        nextAttempt = nil
        attempt += 1
        switch phase {
        case .closed:
            phase = .opening(now)
            lastPowerUp = now
            return [.open]
        case .held:
            phase = .rearming(now)
            return [.rearm]
        default:
            return []
        }
    }

    /// Verifies advertising if the beacon is on the air. Otherwise, informs the service manager's watchdog that the
    /// program is running. If an action takes longer than ``SupervisorPacing/longestAction``, the watchdog is not
    /// informed, so that it restarts the program. While there is no fault, the supervisor wakes up only for this check.
    private mutating func tick(_ now: HCIInstant) -> [Action] {
        nextTick = now.advanced(byMicroseconds: pacing.verification)
        switch phase {
        case .onAir:
            phase = .verifying(now)
            return [.verify]
        case .closed, .held:
            return [.notify(.watchdog)]
        case .opening(let since), .starting(let since), .rearming(let since), .verifying(let since):
            return now.microseconds(since: since) < pacing.longestAction ? [.notify(.watchdog)] : []
        case .off:
            return []
        }
    }

    private mutating func enterAir(_ text: String, _ now: HCIInstant) -> [Action] {
        phase = .onAir
        summary = text
        lastVerified = now
        onAirSince = now
        nextAttempt = nil
        var message = sessionKind == .listening ? "listening \(hasBeenOnAir ? "again " : "")on \(adapter)" : text
        if hasBeenOnAir, let ongoingOutage, let cause = ongoingOutage.weightiestCause {
            let outage = Outage(cause: cause, from: ongoingOutage.since, until: now)
            lastOutage = outage
            rearms[cause, default: 0] += 1
            if sessionKind == .advertising {
                message = "back on the air after \(Self.seconds(outage.microseconds)) s: \(text)"
            }
        }
        var actions = [Action.log(.notice, message)]
        if !hasBeenOnAir {
            attempt = 0
            actions.append(.notify(.ready))
        }
        hasBeenOnAir = true
        hasSlept = false
        ongoingOutage = nil
        return actions + [.notify(.status(statusLine)), .notify(.watchdog)]
    }

    /// Handles a fault, or the failure of an attempt.
    private mutating func fail(_ cause: SupervisorCause, _ text: String, _ now: HCIInstant) -> [Action] {
        guard mustHandle(cause) else { return [] }
        if persistence == .untilFault, !leavesAdapterOpen(cause) { return giveUp(text) }
        var actions: [Action] = phase == .closed || leavesAdapterOpen(cause) ? [] : [.close]
        // The watchdog is informed, because a verification with a result proves that the program is running.
        if case .verifying = phase { actions.append(.notify(.watchdog)) }
        if let since = onAirSince, now.microseconds(since: since) >= pacing.stability { attempt = 0 }
        onAirSince = nil
        let isNews = ongoingOutage?.cause != cause || lastError != text
        note(cause, text, now)
        phase = leavesAdapterOpen(cause) ? .held : .closed
        let sincePowerUp = lastPowerUp.map { now.microseconds(since: $0) }
        nextAttempt = pacing.delay(cause, attempt: attempt, sincePowerUp: sincePowerUp)
            .map { now.advanced(byMicroseconds: $0) }
        // A repeated problem is logged after 1, 2, 4, 8 and so on attempts.
        if isNews || attempt & (attempt - 1) == 0 { actions.append(.log(.warning, text)) }
        actions.append(.notify(.status(statusLine)))
        if reload == .adopting { reload = .ready }
        return actions + continueReload() + wake(at: now)
    }

    private mutating func note(_ cause: SupervisorCause, _ text: String, _ now: HCIInstant) {
        lastError = text
        var outage = ongoingOutage ?? OngoingOutage(since: now)
        outage.cause = cause
        let causes = hasSlept ? [cause, .suspended] : [cause]
        for cause in causes where cause.weight > outage.weightiestCause?.weight ?? -1 {
            outage.weightiestCause = cause
        }
        ongoingOutage = outage
    }

    /// Returns true if a fault must be handled. While the adapter is closed, a fault is handled only if it changes the
    /// event for which the beacon waits.
    private func mustHandle(_ cause: SupervisorCause) -> Bool {
        switch phase {
        // While an action is in progress, only its own failure can arrive.
        case .onAir, .verifying, .opening, .starting, .rearming: true
        case .held: !leavesAdapterOpen(cause) || cause == .suspended
        case .closed: [.rfkill, .adapterGone, .adapterMissing].contains(cause) && ongoingOutage?.cause != cause
        case .off: false
        }
    }

    /// The causes of an outage that may end when an adapter is added.
    private static let removedByArrival: Set<SupervisorCause> = [.adapterMissing, .adapterGone, .peerGone, .rfkill]
    /// The causes of an outage that may end when another program ends its scan or advertisement.
    private static let removedByFreeRadio: Set<SupervisorCause> = [
        .foreignDisabled, .foreignChanged, .silent, .refused, .adapterBusy,
    ]

    /// Makes the next attempt at once if the input may have removed the cause of the outage.
    private mutating func retryNow(after input: Input, _ now: HCIInstant) -> [Action] {
        switch phase {
        case .onAir where input == .resumed || input == .radioFreed:
            // The adapter must be checked after a sleep, because no event reports what happened during it. When another
            // program's scan has ended, the verification also sets the device address again if the controller refused
            // it during the scan.
            if input == .resumed { hasSlept = true }
            phase = .verifying(now)
            return [.verify]
        case .closed, .held:
            // An adapter that was powered down has its own delay. A new adapter does not help if the cause is a fault
            // of an adapter that is present.
            if input != .resumed, ongoingOutage?.cause == .poweredDown { return [] }
            if let cause = ongoingOutage?.cause {
                if input == .adapterArrived, !Self.removedByArrival.contains(cause) { return [] }
                if input == .radioFreed, !Self.removedByFreeRadio.contains(cause) { return [] }
            }
            nextAttempt = now
            return wake(at: now)
        default:
            return []
        }
    }

    /// Returns a time in seconds with one decimal.
    private static func seconds(_ microseconds: Int) -> String {
        let tenths = (max(0, microseconds) + 50_000) / 100_000
        return "\(tenths / 10).\(tenths % 10)"
    }
}

extension Supervisor {
    private mutating func handleReload(_ input: Input, _ now: HCIInstant) -> [Action] {
        switch (input, reload) {
        case (.reloadRequested, .adopting):
            // A profile is just being adopted, so this request is ignored. The log shows which profile was adopted.
            return []
        case (.reloadRequested, _):
            reload = .reading
            return (hasBeenOnAir ? [.notify(.reloading)] : []) + [.readProfile]
        case (.reloadGood(let name), .reading):
            reloadRefusal = nil
            reload = .ready
            return name == adapter ? continueReload() : changeAdapter(name, now)
        case (.reloadBad(let reason), .some):
            reloadRefusal = reason
            lastError = "reload refused: \(reason)"
            return [.log(.error, "reload refused, the old profile stays in use: \(reason)")] + finishReload()
        case (.adopted(let text), .adopting):
            summary = text
            lastVerified = now
            return [.log(.notice, "reloaded: \(text)")] + finishReload()
        default:
            return []
        }
    }

    /// Adopts a valid new profile at once, or later if another action must end first.
    private mutating func continueReload() -> [Action] {
        guard reload == .ready else { return [] }
        switch phase {
        case .onAir:
            reload = .adopting
            return [.adopt]
        case .closed:
            return [.adoptForNextStart] + finishReload()
        default:
            return []
        }
    }

    private mutating func finishReload() -> [Action] {
        reload = nil
        return (hasBeenOnAir ? [.notify(.ready)] : []) + [.notify(.status(statusLine))]
    }

    /// Closes the current adapter, and starts on the adapter that the new profile names.
    private mutating func changeAdapter(_ name: String, _ now: HCIInstant) -> [Action] {
        let leaveActions: [Action] = phase == .closed ? [] : [.turnOff, .close]
        phase = .closed
        adapter = name
        attempt = 0
        lastPowerUp = nil
        ongoingOutage = OngoingOutage(since: now)
        onAirSince = nil
        nextAttempt = now
        return leaveActions + continueReload() + wake(at: now)
    }
}
