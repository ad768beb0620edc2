public import BluetoothTypes

/// The advertising interval to set, and why.
///
/// The rule: the longest interval whose goal still holds, because energy goes with 1/E; never below the mean period
/// E = 2·tau·N/ln 2, from where on shorter intervals lose more to collisions than they gain; never outside what
/// controllers take. Latency is not monotonic in the interval, because of resonance: an interval counts only when
/// its neighbors at 1 % on both sides hold as well.
public struct IntervalAdvice: Sendable {
    /// What was asked for.
    public let goal: IntervalGoal
    /// The interval to set.
    public let interval: AdvertisingInterval
    public let outcome: IntervalOutcome
    /// The model at that interval.
    public let model: LatencyModel
    /// What that interval gives.
    public let distribution: LatencyDistribution
    /// The interval below which no advice goes: E = 2·tau·N/ln 2, within the controllers' range.
    public let shortestSensible: AdvertisingInterval
    let search: IntervalSearch

    /// E in µs at the interval.
    public var meanPeriodMicroseconds: Double { model.meanPeriodMicroseconds }
    public var collisionFreeProbability: Double { model.collisionFreeProbability * model.otherClearProbability }

    /// For `count` beacons of that airtime (µs) and a scanner.
    ///
    /// - Parameter logSparingOther: ln of the probability that what one beacon sends beside the advertisement in question
    ///   spares a packet (``BoxSurroundings/logSparingOther``); 0 for beacons that send nothing else.
    ///
    /// Refuses an empty fleet, times that are not above 0 or above an hour, a probability outside 0..<1 (no time is
    /// long enough for all), a logarithm above 0, and what `LatencyModel` refuses.
    public init(
        goal: IntervalGoal, count: Int, airtimeMicroseconds: Double, preset: ScannerPreset, logSparingOther: Double = 0
    ) throws(AirtimeError) {
        self.goal = goal
        search = try IntervalSearch(
            count: count, airtime: airtimeMicroseconds, preset: preset, logSparingOther: logSparingOther)
        let chosen: (interval: AdvertisingInterval, outcome: IntervalOutcome)
        switch goal {
        case .detect(let seconds, let probability):
            guard seconds > 0, seconds <= 3600 else { throw .quantity(name: "a time in s", value: seconds) }
            guard probability > 0, probability < 1 else { throw .share(probability) }
            chosen = try search.longest(within: seconds, probability: probability)
        case .maximumThroughput:
            chosen = search.greatestThroughput
        }
        interval = chosen.interval
        outcome = chosen.outcome
        shortestSensible = search.shortestSensible.interval
        model = try search.model(chosen.interval)
        distribution = try search.distribution(chosen.interval, horizonSeconds: IntervalSearch.horizonSeconds)
    }
}

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
