internal import HCI

/// Why a beacon is off the air, or was.
public enum SupervisorCause: String, Hashable, Sendable, CaseIterable {
    /// There is no such adapter.
    case adapterMissing = "adapter-missing"
    /// The adapter was there, and has been unplugged.
    case adapterGone = "adapter-gone"
    /// Somebody has taken the adapter's power away.
    case poweredDown = "powered-down"
    /// The controller was reset by somebody else: all that was set is forgotten.
    case controllerReset = "controller-reset"
    /// The controller reported a Hardware Error (Core Specification 5.4, Vol 4 Part E 7.7.16).
    case hardwareError = "hardware-error"
    /// The radio is switched off by rfkill.
    case rfkill
    /// The machine sleeps.
    case suspended
    /// Another program has turned advertising off.
    case foreignDisabled = "foreign-disabled"
    /// Another program has replaced what is sent.
    case foreignChanged = "foreign-changed"
    /// Verification found advertising off, and nobody was seen turning it off.
    case silent
    /// The controller does not answer.
    case noAnswer = "no-answer"
    /// The other end of a serial line, a TCP connection or a unix socket has gone, or is not there yet.
    case peerGone = "peer-gone"
    /// Another program, or another instance, holds the adapter.
    case adapterBusy = "adapter-busy"
    /// The controller refused a command.
    case refused
    /// A system call failed.
    case system

    /// Of several causes of one outage the one with the largest weight explains the others: rfkill powers an adapter
    /// down, an unplugged one does not answer.
    var weight: Int {
        switch self {
        case .silent: 0
        case .noAnswer, .refused, .system: 1
        case .peerGone, .adapterMissing, .adapterBusy: 2
        case .controllerReset: 3
        case .hardwareError, .foreignDisabled, .foreignChanged: 4
        case .poweredDown: 5
        case .adapterGone: 6
        case .suspended: 7
        case .rfkill: 8
        }
    }

    /// Whether the adapter stays open: only what was set in the controller has to be set again.
    var leavesAdapterOpen: Bool {
        switch self {
        case .foreignDisabled, .foreignChanged, .silent, .suspended: true
        default: false
        }
    }

    /// What is waited for, as the end of "not on the air: ".
    func waitingText(_ adapter: String) -> String {
        switch self {
        case .adapterMissing: "waiting for \(adapter), which is not there"
        case .adapterGone: "waiting for \(adapter), which was unplugged"
        case .poweredDown: "\(adapter) was powered down and is being raised again"
        case .controllerReset: "\(adapter) was reset and is being set up again"
        case .hardwareError: "\(adapter) reported a hardware error and is being set up again"
        case .rfkill: "waiting for rfkill, which switches the radio off (rfkill unblock bluetooth)"
        case .suspended: "the machine sleeps"
        case .foreignDisabled: "another program turned advertising off on \(adapter); turning it on again"
        case .foreignChanged: "another program changed what \(adapter) sends; changing it back"
        case .silent: "advertising was found off on \(adapter); turning it on again"
        case .noAnswer: "\(adapter) does not answer; trying again"
        case .peerGone: "waiting for the controller behind \(adapter)"
        case .adapterBusy: "waiting for \(adapter), which is in use"
        case .refused: "\(adapter) refused a command; trying again"
        case .system: "\(adapter) could not be used; trying again"
        }
    }
}

/// How long the supervisor waits for what. All times in microseconds.
public struct SupervisorPacing: Hashable, Sendable {
    /// How often advertising is verified, and the watchdog fed.
    public var verification = 15_000_000
    /// An adapter that others power down is raised at most this often.
    public var powerUp = 2_000_000
    /// A stream's other end is looked for this often.
    public var peer = 1_000_000
    /// The first step of what doubles with every attempt.
    public var firstRetry = 100_000
    /// The longest step where a controller is there and keeps failing.
    public var longestRetry = 30_000_000
    /// The longest step against another program, and for an adapter in use: there is a reason to hurry.
    public var longestContest = 2_000_000
    /// What was on the air for so long has recovered: the next outage begins with the first attempt.
    public var stability = 10_000_000
    /// An event that should have come is not waited for longer than this.
    public var lostEvent = 30_000_000
    /// An action that takes longer than this hangs: the watchdog is not fed any more.
    public var longestAction = 30_000_000

    /// What of the world outside is heard at once instead of being asked for.
    public var hearsArrivals = true
    public var hearsRFKill = true

    /// What a service uses where nobody says otherwise.
    public init() {}

    /// How long to wait after so many attempts; `nil` waits for an event alone.
    ///
    /// - Parameter sincePowerUp: the time since the adapter was last raised, if it was.
    func delay(_ cause: SupervisorCause, attempt: Int, sincePowerUp: Int?) -> Int? {
        switch cause {
        case .rfkill:
            hearsRFKill ? nil : longestContest
        case .adapterMissing:
            hearsArrivals ? lostEvent : peer
        case .adapterGone:
            // It may be back already, perhaps under another number.
            attempt == 0 ? 0 : doubling(attempt, longestContest)
        case .peerGone:
            attempt == 0 ? 0 : peer
        case .poweredDown:
            sincePowerUp.map { max(0, powerUp - $0) } ?? 0
        case .suspended:
            lostEvent
        case .foreignDisabled, .foreignChanged, .silent:
            attempt == 0 ? 0 : doubling(attempt, longestContest)
        case .adapterBusy:
            doubling(attempt, longestContest)
        case .hardwareError, .controllerReset:
            // The kernel, or the board, needs a moment for its own part.
            doubling(attempt, longestRetry)
        case .noAnswer, .refused, .system:
            attempt == 0 ? 0 : doubling(attempt, longestRetry)
        }
    }

    private func doubling(_ step: Int, _ limit: Int) -> Int {
        min(limit, firstRetry << min(max(0, step), 20))
    }
}
