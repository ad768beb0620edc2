public import HCI

/// Keeps a beacon on the air: decides what to do about everything that can happen to it, and when.
///
/// A pure state machine. ``handle(_:at:)`` and ``wake(at:)`` return what is to be done; whoever does it tells the
/// outcome as the next input. It never gives up a beacon that has been on the air.
public struct Supervisor: Sendable {
    public let pacing: SupervisorPacing
    /// How the adapter is called in sentences, and told from another one that a new profile names.
    public internal(set) var adapter: String
    /// How often the beacon was brought back, by what had taken it off the air.
    public internal(set) var rearms: [SupervisorCause: Int] = [:]
    /// When advertising was last known to be on.
    public internal(set) var lastVerified: HCIInstant?
    /// The last outage that is over.
    public internal(set) var lastOutage: Outage?
    /// What went wrong last, in words.
    public internal(set) var lastError: String?
    /// Since when the beacon is on the air without a break; `nil` while it is not.
    public internal(set) var onAirSince: HCIInstant?
    /// Whether the beacon has ever been on the air.
    public internal(set) var hasBeenOnAir = false

    var phase = Phase.closed
    var episode: Episode?
    /// Attempts since the beacon was last on the air for long.
    var attempt = 0
    var nextAttempt: HCIInstant?
    var nextTick: HCIInstant
    var lastPowerUp: HCIInstant?
    var summary = ""
    var reload: Reload?
    /// The machine has slept, and it is not known yet what that did to the beacon.
    var hasSlept = false
    /// Why the last reload was refused.
    var refusal: String?

    enum Phase: Hashable, Sendable {
        /// The adapter is not open, and nothing is under way.
        case closed
        case opening(HCIInstant)
        case starting(HCIInstant)
        case onAir
        case verifying(HCIInstant)
        /// The adapter is open, and re-arming has to wait.
        case held
        case rearming(HCIInstant)
        case off
    }

    /// A time off the air that lasts.
    struct Episode {
        /// What is waited for now; `nil` for a change of the adapter.
        var cause: SupervisorCause?
        /// What explains it best.
        var weightiest: SupervisorCause?
        let since: HCIInstant
    }

    /// How far a reload has come.
    enum Reload: Hashable, Sendable {
        case reading
        /// The profile is good, and waits until nothing else is under way.
        case ready
        case adopting
    }

    /// - Parameter now: the start; the first action comes from ``wake(at:)``.
    public init(adapter: String, pacing: SupervisorPacing = SupervisorPacing(), at now: HCIInstant) {
        self.adapter = adapter
        self.pacing = pacing
        nextAttempt = now
        nextTick = now.advanced(byMicroseconds: pacing.verification)
    }

    public var state: State {
        switch phase {
        case .off: .off
        case .onAir, .verifying: .onAir
        default: hasBeenOnAir ? .recovering(episode?.cause, attempt: attempt) : .starting(episode?.cause)
        }
    }

    /// One line that says how the beacon is, and what it waits for.
    public var statusLine: String {
        let line =
            switch phase {
            case .off: "off"
            case .onAir, .verifying: summary
            default: "not on the air: " + (episode?.cause?.waitingText(adapter) ?? "starting on \(adapter)")
            }
        return refusal.map { "\(line); reload refused: \($0)" } ?? line
    }

    /// Whether the adapter is open: what comes from it is of interest.
    public var isOpen: Bool { phase != .closed && phase != .off }

    /// When ``wake(at:)`` wants to be called at the latest; `nil` when there is nothing to wait for.
    public var nextWakeUp: HCIInstant? {
        phase == .off ? nil : nextAttempt.map { min($0, nextTick) } ?? nextTick
    }

    /// Time has come.
    public mutating func wake(at now: HCIInstant) -> [Action] {
        guard phase != .off else { return [] }
        return attemptIfDue(now) + (nextTick <= now ? tick(now) : [])
    }

    /// Something happened.
    public mutating func handle(_ input: Input, at now: HCIInstant) -> [Action] {
        guard phase != .off else { return [] }
        switch input {
        case .opened:
            guard case .opening = phase else { return [] }
            phase = .starting(now)
            return [.start]
        case .started(let text):
            guard case .starting = phase else { return [] }
            return enterAir(text, now) + continueReload(now)
        case .rearmed:
            guard case .rearming = phase else { return [] }
            return enterAir(summary, now) + continueReload(now)
        case .verified:
            guard case .verifying = phase else { return [] }
            phase = .onAir
            lastVerified = now
            hasSlept = false
            return [.notify(.watchdog)] + continueReload(now)
        case .failed(let cause, let text):
            return fail(cause, text, now)
        case .impossible(let text):
            return hasBeenOnAir ? fail(.refused, text, now) : giveUp(text)
        case .adapterArrived, .rfkillUnblocked, .resumed:
            return hurry(input, now)
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
        lastError = text
        return [.notify(.status("refused: \(text)")), .close, .finish(asWanted: false)]
    }
}
