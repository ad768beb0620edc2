public import HCI

extension Supervisor {
    /// The kind of session on the adapter. It changes the wording of messages.
    public enum SessionKind: Hashable, Sendable {
        case advertising
        case listening

        var verb: String {
            switch self {
            case .advertising: "advertising"
            case .listening: "listening"
            }
        }
    }

    /// The condition under which the supervisor gives up.
    public enum Persistence: Hashable, Sendable {
        /// It never gives up once the session has been on the air, but waits and tries again.
        case unlimited
        /// It gives up at the first fault. There is one exception: if another program changes the controller's
        /// settings, they are set again.
        case untilFault
    }

    /// An event, or the result of an action.
    public enum Input: Hashable, Sendable {
        /// The result of ``Action/open``: the adapter is open.
        case opened
        /// The result of ``Action/start``: the beacon is on the air. The value is a summary for the log.
        case started(String)
        /// The result of ``Action/verify``: advertising is on.
        case verified
        /// The result of ``Action/rearm``: advertising is on again with the right settings.
        case rearmed
        /// An action has failed, or a fault has occurred. The values are the cause and a sentence for the user. The
        /// beacon is off the air, or is treated as if it were.
        case failed(SupervisorCause, String)
        /// A failure of ``Action/open`` or ``Action/start`` that waiting does not resolve. It ends a beacon that has
        /// never been on the air. A beacon that has been on the air tries again.
        case impossible(String)
        /// An adapter was added.
        case adapterArrived
        /// rfkill has unblocked the radio.
        case rfkillUnblocked
        /// The machine has resumed after a sleep.
        case resumed
        /// Another program has ended its scan or its advertisement. A command that was refused before may succeed now.
        case radioFreed
        /// The operator requests a reload of the profile.
        case reloadRequested
        /// The result of ``Action/readProfile``: the profile is valid, and contains this adapter's name.
        case reloadGood(adapter: String)
        /// ``Action/readProfile`` or ``Action/adopt`` has failed for this reason. The old profile stays in use.
        case reloadBad(String)
        /// The result of ``Action/adopt``: the new profile is on the air. The value is a summary for the log.
        case adopted(String)
        /// The operator ends the beacon.
        case stop
    }

    /// An action that the caller must carry out. A list of actions contains at most one action that has a result.
    public enum Action: Hashable, Sendable {
        /// Find the adapter, power it on if it is down, and open it.
        case open
        /// Read the controller's capabilities, set it up, and advertise.
        case start
        /// Check that advertising is on, without disturbing it.
        case verify
        /// Send all settings again on the open adapter, and advertise.
        case rearm
        /// Close the adapter.
        case close
        /// Read and check the profile.
        case readProfile
        /// Replace the advertisements with those of the profile that was read.
        case adopt
        /// At the next start, use the profile that was read.
        case adoptForNextStart
        /// Turn advertising off, if the adapter is open.
        case turnOff
        case log(LogPriority, String)
        case notify(Notice)
        /// The supervisor has ended: `true` if the end was requested, `false` if a fault was the reason.
        case finish(asWanted: Bool)
    }

    /// The priorities of syslog.
    public enum LogPriority: Int, Hashable, Sendable {
        case error = 3
        case warning = 4
        case notice = 5
    }

    /// A message to the service manager.
    public enum Notice: Hashable, Sendable {
        case ready
        case reloading
        case stopping
        case watchdog
        /// One line for `systemctl status`.
        case status(String)
    }

    /// The state of the beacon.
    public enum State: Hashable, Sendable {
        /// The beacon has not been on the air yet. The value is the cause of the last failed attempt; `nil` if none has
        /// failed.
        case starting(SupervisorCause?)
        case onAir
        /// The beacon is off the air after a fault. If the cause is `nil`, the reason is a change to another adapter.
        case recovering(SupervisorCause?, attempt: Int)
        case off
    }

    /// An outage that has ended.
    public struct Outage: Hashable, Sendable {
        public let cause: SupervisorCause
        public let from: HCIInstant
        public let until: HCIInstant

        public var microseconds: Int { until.microseconds(since: from) }
    }
}

/// The cause of an outage.
public enum SupervisorCause: String, Hashable, Sendable, CaseIterable {
    /// There is no such adapter.
    case adapterMissing = "adapter-missing"
    /// The adapter was unplugged.
    case adapterGone = "adapter-gone"
    /// Another program powered the adapter down.
    case poweredDown = "powered-down"
    /// Another program reset the controller, which deletes all settings.
    case controllerReset = "controller-reset"
    /// The controller reported a Hardware Error (Core Specification 5.4, Vol 4 Part E 7.7.16).
    case hardwareError = "hardware-error"
    /// The radio is switched off by rfkill.
    case rfkill
    /// The machine sleeps.
    case suspended
    /// Another program turned advertising off.
    case foreignDisabled = "foreign-disabled"
    /// Another program changed the advertisements.
    case foreignChanged = "foreign-changed"
    /// Verification found advertising off, without an event that explains it.
    case silent
    /// The controller does not answer.
    case noAnswer = "no-answer"
    /// The other end of a serial line, a TCP connection or a unix socket cannot be reached.
    case peerGone = "peer-gone"
    /// Another program or another instance uses the adapter.
    case adapterBusy = "adapter-busy"
    /// The controller refused a command.
    case refused
    /// A system call failed.
    case system

    /// An outage with several causes is counted under the cause with the largest weight, because this cause explains
    /// the others. For example, rfkill powers an adapter down, and an unplugged adapter does not answer.
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

    /// `true` if the adapter stays open: only the settings of the controller must be sent again.
    var leavesAdapterOpen: Bool {
        switch self {
        case .foreignDisabled, .foreignChanged, .silent, .suspended: true
        default: false
        }
    }

    /// Returns the text that follows "not on the air: " in the status line.
    func waitingText(_ adapter: String) -> String {
        switch self {
        case .adapterMissing: "waiting for \(adapter), which is missing"
        case .adapterGone: "waiting for \(adapter), which was unplugged"
        case .poweredDown: "\(adapter) was powered down and is being powered on again"
        case .controllerReset: "\(adapter) was reset and is being set up again"
        case .hardwareError: "\(adapter) reported a hardware error and is being set up again"
        case .rfkill: "rfkill has switched the radio off; `rfkill unblock bluetooth` switches it on"
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

/// The times of a supervisor, in microseconds.
public struct SupervisorPacing: Hashable, Sendable {
    /// The time between two verifications, and between two watchdog messages.
    public var verification = 15_000_000
    /// The shortest time between two attempts to power on an adapter that another program powers down again and again.
    public var powerUp = 2_000_000
    /// The time between two attempts to connect to the other end of a serial line, a TCP connection or a unix socket.
    public var peer = 1_000_000
    /// The delay before the first repeated attempt. It doubles with every further attempt.
    public var firstRetry = 100_000
    /// The longest delay for a controller that keeps failing.
    public var longestRetry = 30_000_000
    /// The longest delay if another program disturbs the beacon or uses the adapter.
    public var longestContest = 2_000_000
    /// The time on the air after which attempts are counted from 0 again.
    public var stability = 10_000_000
    /// The time after which an attempt is made even if the expected event has not arrived.
    public var lostEventTimeout = 30_000_000
    /// The longest time for one action. If an action takes longer, the watchdog is no longer informed, and restarts the
    /// program.
    public var longestAction = 30_000_000
    /// The longest time for turning advertising off at the end.
    public var shutdown = 800_000

    /// `true` if new adapters are reported by events.
    public var hasArrivalEvents = true
    /// `true` if changes of rfkill are reported by events.
    public var hasRFKillEvents = true

    /// Creates the standard times.
    public init() {}

    /// Returns the delay before the next attempt; `nil` if the supervisor must wait for an event.
    ///
    /// - Parameters:
    ///   - attempt: The number of attempts so far.
    ///   - sincePowerUp: The time since the adapter was last powered on; `nil` if it was not.
    func delay(_ cause: SupervisorCause, attempt: Int, sincePowerUp: Int?) -> Int? {
        switch cause {
        case .rfkill:
            hasRFKillEvents ? nil : longestContest
        case .adapterMissing:
            hasArrivalEvents ? lostEventTimeout : peer
        case .adapterGone:
            // The adapter may be back already, perhaps with another number.
            attempt == 0 ? 0 : doubling(attempt, longestContest)
        case .peerGone:
            attempt == 0 ? 0 : peer
        case .poweredDown:
            sincePowerUp.map { max(0, powerUp - $0) } ?? 0
        case .suspended:
            lostEventTimeout
        case .foreignDisabled, .foreignChanged, .silent:
            attempt == 0 ? 0 : doubling(attempt, longestContest)
        case .adapterBusy:
            doubling(attempt, longestContest)
        case .hardwareError:
            // The board needs a moment to set itself up.
            doubling(attempt, longestRetry)
        case .controllerReset:
            // The kernel needs a moment, but another program may reset the controller again and again.
            doubling(attempt, longestContest)
        case .noAnswer, .refused, .system:
            attempt == 0 ? 0 : doubling(attempt, longestRetry)
        }
    }

    private func doubling(_ step: Int, _ limit: Int) -> Int {
        min(limit, firstRetry << min(max(0, step), 20))
    }
}
