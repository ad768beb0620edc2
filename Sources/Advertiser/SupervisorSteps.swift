public import HCI

extension Supervisor {
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
