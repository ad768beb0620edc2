/// Guides a person to one beacon, and reports a change only if the levels differ by more than chance.
///
/// It is a value without a clock of its own: the caller passes sightings and times.
public struct FindGuide: Sendable {
    /// The next step for the user.
    public enum Advice: String, Hashable, Sendable {
        /// Too few reports have been received.
        case wait
        case warmer
        case colder
        /// The difference may be chance: continue for a while.
        case same
        /// The beacon is not received any more.
        case silent
        /// The receiver misses reports, so the silence says nothing about the beacon.
        case deaf
        case arrived
    }

    /// The shortest length of the windows that are compared, in microseconds: 3 s.
    private static let shortestWindow = 3_000_000
    /// The shortest length of the windows that are compared, in periods of the beacon.
    private static let windowPeriods = 4
    /// The lowest level at which the beacon counts as reached, in dBm.
    public static let arrivalLevel = -45.0
    /// The standard deviation of the level that people, bags and hands around the two devices cause, in dB. With it,
    /// the 95 % interval contains the true distance in 92 % of 123,718 measurements between two people (Ng et al., MIT
    /// licence), and in 87 to 96 % for each way to carry the devices. With n = 2, the interval reaches from a fifth of
    /// the estimated distance to five times the distance.
    private static let shadowing = 7.0
    /// The number of standard deviations from the mean to each end of a 95 % interval.
    private static let deviationsOf95Percent = 1.96
    /// The number of standard errors that a change must exceed to be reported. The levels are compared every second, so
    /// for a beacon that does not move, a limit of two would report four changes in 90 s on average. A limit of three
    /// reports 0.3 changes.
    private static let standardErrors = 3.0

    /// The situation at a moment.
    public struct State: Equatable, Sendable {
        public let advice: Advice
        /// The trimmed mean in dBm of the last 3 s, or of the last four periods of the beacon if they are longer; `nil`
        /// without reports.
        public let level: Double?
        /// The change of the level since the last advice other than ``Advice/same``, in dB.
        public let change: Double?
        /// Three standard errors of the change, in dB. A smaller change may be chance.
        public let leastChange: Double?
        /// The distance in metres; `nil` if the beacon's level at 1 m is not known.
        public let distance: Double?
        /// The 95 % interval of the distance, in metres.
        public let interval: ClosedRange<Double>?
        /// The class of the distance; ``Proximity/unknown`` if a distance within a factor of two belongs to another
        /// class.
        public let proximity: Proximity
        /// The strongest mean level so far, in dBm.
        public let best: Double?
        /// The time for which the beacon has been silent while the receiver worked, in microseconds; `nil` if it is
        /// received.
        public let silentMicroseconds: Int?
        /// The number of steps to walk before the next comparison.
        public let steps: Int
    }

    /// The beacon's level at 1 m, in dBm; `nil` if it is not known.
    public var powerAtOneMeter: Int?
    /// The path-loss exponent n.
    public var exponent = 2.0
    /// The beacon's interval in microseconds; `nil` to learn it from the reports.
    public var intervalMicroseconds: Int?

    private var window = LevelWindow()
    private var lastHeard: HeardInstant?
    /// The interval as learned from the reports, used if ``intervalMicroseconds`` is `nil`.
    private var learned = IntervalEstimate()
    /// The levels with which the next levels are compared, and the end of the time in which they were received.
    private var reference: (tally: LevelTally, at: HeardInstant)?
    /// The strongest mean level so far, in dBm.
    private var best: Double?
    /// The last advice. It does not change until the levels justify another one.
    private var lastAdvice = Advice.wait
    /// The time at which the receiver began to miss reports; `nil` while it works.
    private var deafSince: HeardInstant?
    /// True if the next gap must not be used to learn the interval, because events may be missing in it.
    private var skipsNextGap = false

    /// Creates a guide without reports.
    public init() {}

    /// Marks the receiver as deaf from now on: it misses reports.
    public mutating func stopListening(at now: HeardInstant) { deafSince = deafSince ?? now }

    /// Marks the receiver as working again. The time in which the receiver was deaf does not count as silence of the
    /// beacon.
    public mutating func startListening(at now: HeardInstant) {
        guard let since = deafSince else { return }
        deafSince = nil
        skipsNextGap = true
        if let heard = lastHeard {
            lastHeard = heard.advanced(byMicroseconds: now.microseconds(since: max(since, heard)))
        }
    }

    /// Takes a report of the beacon.
    public mutating func receive(_ level: Int8?, at now: HeardInstant) {
        if let lastHeard {
            let gap = now.microseconds(since: lastHeard)
            if !skipsNextGap, gap >= IntervalEstimate.sameEventMicroseconds { learned.add(gapMicroseconds: gap) }
        }
        skipsNextGap = deafSince != nil
        lastHeard = now
        if let level { window.add(level, at: now) }
    }

    /// Returns the situation. Should be called about once per second. The advice does not change until the levels
    /// justify another one.
    public mutating func state(at now: HeardInstant) -> State {
        let length = max(Self.shortestWindow, Self.windowPeriods * (period ?? 0))
        let tally = window.tally(over: length, until: now)
        let silence = (lastHeard ?? deafSince).map { now.microseconds(since: $0) }
        let isSilent = (silence ?? 0) > silenceLimit
        if !isSilent, let level = tally.trimmedMean, tally.count >= 3 { best = max(best ?? level, level) }
        let distance = isSilent ? nil : estimate(tally)
        let comparison = compare(tally)
        var advice = lastAdvice
        if isSilent {
            advice = deafSince == nil ? .silent : .deaf
            // When the beacon returns, its first levels become the new reference.
            reference = nil
        } else if isArrived(tally, distance) {
            advice = .arrived
        } else if let reference, let comparison,
            now.microseconds(since: reference.at) >= length
        {
            advice = abs(comparison.change) <= comparison.least ? .same : comparison.change > 0 ? .warmer : .colder
            // The next levels are compared with these levels.
            if advice != .same { self.reference = (tally, now) }
        } else if lastAdvice == .silent || lastAdvice == .deaf {
            advice = .wait
        }
        if reference == nil, !isSilent, tally.count >= 3, now.nanoseconds >= 1000 * UInt64(length) {
            reference = (tally, now)
        }
        lastAdvice = advice
        let reportedSilence = advice == .silent ? silence : nil
        return State(
            advice: advice, level: isSilent ? nil : tally.trimmedMean, change: comparison?.change,
            leastChange: comparison?.least, distance: distance?.meters, interval: distance?.interval,
            proximity: Self.proximity(distance?.meters), best: best, silentMicroseconds: reportedSilence,
            steps: (distance?.meters ?? 0) > 5 ? 10 : 5)
    }

    /// The mean time between two events of the beacon in microseconds; `nil` if it is not known yet.
    private var period: Int? {
        intervalMicroseconds.map { $0 + IntervalEstimate.meanDelayMicroseconds }
            ?? learned.periodMicroseconds.map { Int($0) }
    }

    /// The silence in microseconds after which the beacon counts as not received: three periods, but at least 1.5 s,
    /// because radios change channels.
    private var silenceLimit: Int { max(1_500_000, 3 * (period ?? 1_000_000)) }

    private func compare(_ tally: LevelTally) -> (change: Double, least: Double)? {
        guard let former = reference?.tally, let formerLevel = former.trimmedMean, let level = tally.trimmedMean,
            former.count >= 3, tally.count >= 3
        else { return nil }
        func variance(_ tally: LevelTally) -> Double {
            tally.packetDeviation * tally.packetDeviation / Double(tally.count)
        }
        return (level - formerLevel, Self.standardErrors * (variance(former) + variance(tally)).squareRoot())
    }

    private func estimate(_ tally: LevelTally) -> (meters: Double, interval: ClosedRange<Double>)? {
        guard let level = tally.trimmedMean, let power = powerAtOneMeter,
            DistanceEstimate.plausiblePowers.contains(power)
        else { return nil }
        let deviation = tally.packetDeviation
        let spread =
            Self.deviationsOf95Percent
            * (Self.shadowing * Self.shadowing + deviation * deviation / Double(max(1, tally.count))).squareRoot()
        let meters = PowerFunction.ten((Double(power) - level) / (10 * exponent))
        let factor = PowerFunction.ten(spread / (10 * exponent))
        return (meters, meters / factor...meters * factor)
    }

    private func isArrived(_ tally: LevelTally, _ distance: (meters: Double, interval: ClosedRange<Double>)?) -> Bool {
        guard tally.count >= 3, let level = tally.trimmedMean else { return false }
        return level >= Self.arrivalLevel || (distance?.meters ?? .infinity) < 0.5
    }

    /// Returns the class to which a distance belongs, if all distances within a factor of two belong to the same class;
    /// otherwise ``Proximity/unknown``.
    static func proximity(_ meters: Double?) -> Proximity {
        guard let meters else { return .unknown }
        if meters * 2 < 0.5 { return .immediate }
        if meters / 2 >= 0.5, meters * 2 <= 4 { return .near }
        return meters / 2 > 4 ? .far : .unknown
    }
}

/// Finds the direction of a beacon while the user turns: the user's body weakens signals from behind by 6 to 15 dB.
public struct FindTurn: Sendable {
    /// The number of directions: quarter turns.
    public static let directions = 4
    private var tallies = [LevelTally](repeating: LevelTally(), count: Self.directions)

    /// Creates a turn without reports.
    public init() {}

    /// Takes a level received in a direction, 0..<4. Each direction is a quarter turn to the right of the one before.
    public mutating func receive(_ level: Int8?, direction: Int) {
        guard tallies.indices.contains(direction), let level else { return }
        tallies[direction].add(level)
    }

    /// The mean level of each direction in dBm; `nil` without reports.
    public var levels: [Double?] { tallies.map(\.trimmedMean) }

    /// The direction of the beacon, 0..<4 as in ``receive(_:direction:)``, and the confidence, 0.5...1; `nil` if the
    /// two strongest directions differ by less than twice the standard error of their difference.
    public var beaconDirection: (direction: Int, confidence: Double)? {
        let order = tallies.indices.filter { tallies[$0].count >= 3 }.sorted {
            (tallies[$0].trimmedMean ?? -200) > (tallies[$1].trimmedMean ?? -200)
        }
        guard order.count == Self.directions, let strongest = tallies[order[0]].trimmedMean,
            let secondStrongest = tallies[order[1]].trimmedMean
        else { return nil }
        let variance = order.prefix(2).reduce(0.0) { sum, direction in
            let deviation = max(2, tallies[direction].standardDeviation ?? 5)
            return sum + deviation * deviation / Double(tallies[direction].count)
        }
        let score = (strongest - secondStrongest) / variance.squareRoot()
        return score > 2 ? (order[0], normalShare(below: score)) : nil
    }
}
