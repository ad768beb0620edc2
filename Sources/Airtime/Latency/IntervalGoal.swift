/// What an advertising interval is chosen for.
public enum IntervalGoal: Hashable, Sendable {
    /// This share of all is received within that many seconds, with as little energy as possible.
    case detect(withinSeconds: Double, probability: Double)
    /// As many packets as possible arrive, of all beacons together.
    case maximumThroughput
}

/// Whether an interval does what it is chosen for.
public enum IntervalOutcome: Hashable, Sendable {
    /// The goal is met.
    case met
    /// The goal is met, and longer intervals would do as well: this is the longest that controllers take.
    case metAtLongest
    /// The best interval would be shorter than controllers take: this is the shortest of them.
    case clampedToShortest
    /// The best interval would be longer than controllers take: this is the longest of them.
    case clampedToLongest
    /// No interval meets the goal; the best there is, and what would have to change.
    case impossible(Shortfall)

    /// What is missing, and each change that would do alone where it is known.
    public struct Shortfall: Hashable, Sendable {
        /// The share received in time at the best interval.
        public let share: Double
        /// When the wanted share is received at that interval; nil where that takes more than ten times as
        /// long as wanted, and more than a minute.
        public let seconds: Double?
        /// How many beacons would meet the goal with this scanner, the most that was found; nil when not even one.
        public let beacons: Int?
        /// The share received in time at that interval by a scanner that listens to one channel without a pause.
        public let continuousShare: Double
    }
}
