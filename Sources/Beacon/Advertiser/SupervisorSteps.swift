public import HCI

extension Supervisor {
    /// What is kept running on the adapter. It decides how messages name success.
    public enum Activity: Hashable, Sendable {
        case advertising
        case listening

        var verb: String {
            switch self {
            case .advertising: "advertising"
            case .listening: "listening"
            }
        }
    }

    /// When the supervisor gives up.
    public enum Persistence: Hashable, Sendable {
        /// Never, once the session has been on the air: it waits and tries again.
        case unlimited
        /// At the first fault, except where another program changed what was set in the controller: that is set again.
        case untilFault
    }

    /// What happened. Whoever runs a supervisor tells it each of these once.
    public enum Input: Hashable, Sendable {
        /// The answer to ``Action/open``: the adapter is open.
        case opened
        /// The answer to ``Action/start``: the beacon is on the air. In words what is sent, for the log.
        case started(String)
        /// The answer to ``Action/verify``: advertising is known to be on.
        case verified
        /// The answer to ``Action/rearm``: advertising was off, or wrong, and is right again.
        case rearmed
        /// The answer to any of them, or something that came by itself: the beacon is off the air, or must be taken for
        /// it. In words what was seen.
        case failed(SupervisorCause, String)
        /// The answer to ``Action/open`` or ``Action/start``: it will never work like this. Ends a beacon that has never
        /// been on the air; one that has been keeps trying.
        case impossible(String)
        /// An adapter has come that may be ours.
        case adapterArrived
        /// rfkill lets the radio go.
        case rfkillUnblocked
        /// The machine is awake again.
        case resumed
        /// The operator wants the profile to be read anew.
        case reloadRequested
        /// The answer to ``Action/readProfile``: a good one, for the adapter of this name.
        case reloadGood(adapter: String)
        /// The answer to ``Action/readProfile`` or ``Action/adopt``: the old one stays, and why.
        case reloadBad(String)
        /// The answer to ``Action/adopt``: the new profile is on the air. In words what is sent.
        case adopted(String)
        /// The operator wants the beacon off.
        case stop
    }

    /// What is to be done now, in this order. Those with an answer are asked for one at a time.
    public enum Action: Hashable, Sendable {
        /// Find the adapter, raise it where it is down, and open it.
        case open
        /// Ask the controller what it can do, set it up, and advertise.
        case start
        /// Find out whether advertising is on, without disturbing it.
        case verify
        /// Set what another program or an accident has changed, and advertise.
        case rearm
        /// Let go of the adapter, in whatever state it is.
        case close
        /// Read and check the profile.
        case readProfile
        /// Change over to the profile that was read, without a gap.
        case adopt
        /// Take the profile that was read for the next start.
        case adoptForNextStart
        /// Turn advertising off, if the adapter is open.
        case turnOff
        case log(LogPriority, String)
        case notify(Notice)
        /// The end. `true`: as wanted; `false`: nothing can be done.
        case finish(asWanted: Bool)
    }

    /// As syslog numbers them.
    public enum LogPriority: Int, Hashable, Sendable {
        case error = 3
        case warning = 4
        case notice = 5
        case info = 6
    }

    /// What the service manager is told.
    public enum Notice: Hashable, Sendable {
        case ready
        case reloading
        case stopping
        case watchdog
        /// One line for `systemctl status`.
        case status(String)
    }

    /// Where the beacon is.
    public enum State: Hashable, Sendable {
        /// It has not been on the air yet. What it waits for, if it waits.
        case starting(SupervisorCause?)
        case onAir
        /// `nil` while it moves to another adapter.
        case recovering(SupervisorCause?, attempt: Int)
        case off
    }

    /// A time off the air that is over.
    public struct Outage: Hashable, Sendable {
        public let cause: SupervisorCause
        public let from: HCIInstant
        public let until: HCIInstant

        public var microseconds: Int { until.microseconds(since: from) }
    }
}

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
    /// The longest step against another program, and for an adapter in use: retry soon.
    public var longestContest = 2_000_000
    /// What was on the air for so long has recovered: the next outage begins with the first attempt.
    public var stability = 10_000_000
    /// An event that should have come is not waited for longer than this.
    public var lostEvent = 30_000_000
    /// An action that takes longer than this hangs: the watchdog is not fed any more.
    public var longestAction = 30_000_000
    /// The longest time for turning advertising off at the end.
    public var shutdown = 800_000

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
