internal import HCI

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
