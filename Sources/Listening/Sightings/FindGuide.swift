/// Leads to one beacon, and claims no more than levels can tell.
///
/// A value: sightings and the time are handed in.
public struct FindGuide: Sendable {
    /// What to do next.
    public enum Advice: String, Hashable, Sendable {
        /// Too little was heard yet.
        case wait
        case warmer
        case colder
        /// The difference may be chance: go on for a while.
        case same
        /// Nothing is heard any more.
        case silent
        /// The receiver does not get everything just now: that nothing is heard says nothing of the beacon.
        case deaf
        case arrived
    }

    /// Levels that are compared: those of so many microseconds.
    public static let windowMicroseconds = 3_000_000
    /// So strong is a beacon within reach, in dBm.
    public static let arrivalLevel = -45.0
    /// The standard deviation of what places do to a level, in dB: with 95 % it is a factor of two at n = 2.
    private static let shadowing = 3.0
    private static let deviationsOf95Percent = 1.96

    /// What is known at a moment.
    public struct State: Hashable, Sendable {
        public let advice: Advice
        /// The trimmed mean of the last three seconds in dBm; `nil` where nothing was heard.
        public let level: Double?
        /// By how much it differs from before the last step, in dB.
        public let change: Double?
        /// Twice the standard error of the difference, in dB: what is less may be chance.
        public let leastChange: Double?
        /// In metres; `nil` where the beacon's power at 1 m is not known.
        public let distance: Double?
        /// In which it lies with 95 %, in metres.
        public let interval: ClosedRange<Double>?
        /// ``Proximity/unknown`` where the interval spans two of them.
        public let proximity: Proximity
        /// The strongest level so far, in dBm.
        public let best: Double?
        /// For how long nothing is heard although it is listened, in microseconds; `nil` while something is.
        public let silentMicroseconds: Int?
        /// How many steps to walk before the next comparison means something.
        public let steps: Int
    }

    /// In dBm at 1 m; `nil` for what the beacon says of itself.
    public var powerAtOneMeter: Int?
    /// n.
    public var exponent = 2.0
    /// The beacon's interval, in microseconds; `nil` to learn it.
    public var intervalMicroseconds: Int?

    private var window = LevelWindow()
    private var lastHeard: HeardInstant?
    private var learned = IntervalEstimate()
    private var reference: (tally: LevelTally, at: HeardInstant)?
    private var best: Double?
    private var last = Advice.wait
    private var deafSince: HeardInstant?
    /// Whether the next gap says nothing of the interval: something may have been missed in it.
    private var isBroken = false

    /// Nothing heard yet.
    public init() {}

    /// From now on less than everything can be heard.
    public mutating func becomeDeaf(at now: HeardInstant) { deafSince = deafSince ?? now }

    /// Everything can be heard again: a silence goes on where it stood.
    public mutating func becomeHearing(at now: HeardInstant) {
        guard let since = deafSince else { return }
        deafSince = nil
        isBroken = true
        if let heard = lastHeard {
            lastHeard = heard.advanced(byMicroseconds: now.microseconds(since: max(since, heard)))
        }
    }

    /// Takes a report of the beacon.
    public mutating func hear(_ level: Int8?, at now: HeardInstant) {
        if let lastHeard {
            let gap = now.microseconds(since: lastHeard)
            if !isBroken, gap >= IntervalEstimate.sameEventMicroseconds { learned.add(gapMicroseconds: gap) }
        }
        isBroken = deafSince != nil
        lastHeard = now
        if let level { window.add(level, at: now) }
    }

    /// What can be said now; to be asked about once a second. What was said last is kept until the levels say more.
    public mutating func state(at now: HeardInstant) -> State {
        let tally = window.tally(over: Self.windowMicroseconds, until: now)
        let silence = (lastHeard ?? deafSince).map { now.microseconds(since: $0) }
        let isSilent = (silence ?? 0) > silenceLimit
        if !isSilent, let level = tally.trimmedMean, tally.count >= 3 { best = max(best ?? level, level) }
        let distance = isSilent ? nil : estimate(tally)
        let comparison = compare(tally)
        var advice = last
        if isSilent {
            advice = deafSince == nil ? .silent : .deaf
        } else if isArrived(tally, distance) {
            advice = .arrived
        } else if let reference, let comparison,
            now.microseconds(since: reference.at) >= Self.windowMicroseconds
        {
            advice = abs(comparison.change) <= comparison.least ? .same : comparison.change > 0 ? .warmer : .colder
            // A step was told: what follows is compared with where it led.
            if advice != .same { self.reference = (tally, now) }
        } else if last == .silent || last == .deaf || last == .wait, tally.count >= 3 {
            advice = .wait
        }
        if reference == nil || last == .silent || last == .deaf, !isSilent, tally.count >= 3, isFull(now) {
            reference = (tally, now)
        }
        last = advice
        let told = advice == .silent ? silence : nil
        return State(
            advice: advice, level: isSilent ? nil : tally.trimmedMean, change: comparison?.change,
            leastChange: comparison?.least, distance: distance?.meters, interval: distance?.interval,
            proximity: Self.proximity(distance?.interval), best: best, silentMicroseconds: told,
            steps: (distance?.meters ?? 0) > 5 ? 10 : 5)
    }

    private func isFull(_ now: HeardInstant) -> Bool { now.nanoseconds >= 1000 * UInt64(Self.windowMicroseconds) }

    /// Three intervals, and never less than a second and a half: radios change channels.
    private var silenceLimit: Int {
        let period = intervalMicroseconds.map { $0 + IntervalEstimate.meanDelayMicroseconds }
        return max(1_500_000, 3 * (period ?? learned.periodMicroseconds.map { Int($0) } ?? 1_000_000))
    }

    private func compare(_ tally: LevelTally) -> (change: Double, least: Double)? {
        guard let before = reference?.tally, let old = before.trimmedMean, let new = tally.trimmedMean,
            before.count >= 3, tally.count >= 3
        else { return nil }
        // Single packets vary by no less than 2 dB, whatever a few equal ones say.
        func variance(_ tally: LevelTally) -> Double {
            let deviation = max(2, tally.standardDeviation ?? 5)
            return deviation * deviation / Double(tally.count)
        }
        return (new - old, 2 * (variance(before) + variance(tally)).squareRoot())
    }

    private func estimate(_ tally: LevelTally) -> (meters: Double, interval: ClosedRange<Double>)? {
        guard let level = tally.trimmedMean, let power = powerAtOneMeter,
            DistanceEstimate.plausiblePowers.contains(power)
        else { return nil }
        let deviation = tally.standardDeviation ?? 5
        let spread =
            Self.deviationsOf95Percent
            * (Self.shadowing * Self.shadowing + deviation * deviation / Double(max(1, tally.count))).squareRoot()
        let meters = Power.ten((Double(power) - level) / (10 * exponent))
        let factor = Power.ten(spread / (10 * exponent))
        return (meters, meters / factor...meters * factor)
    }

    private func isArrived(_ tally: LevelTally, _ distance: (meters: Double, interval: ClosedRange<Double>)?) -> Bool {
        guard tally.count >= 3, let level = tally.trimmedMean else { return false }
        return level >= Self.arrivalLevel || (distance?.interval.upperBound ?? .infinity) < 1
    }

    /// By the whole interval.
    static func proximity(_ interval: ClosedRange<Double>?) -> Proximity {
        guard let interval else { return .unknown }
        if interval.upperBound < 0.5 { return .immediate }
        if interval.lowerBound >= 0.5, interval.upperBound <= 4 { return .near }
        return interval.lowerBound > 4 ? .far : .unknown
    }
}

/// The body as an antenna: it shields what is behind it by 6 to 15 dB.
public struct FindTurn: Sendable {
    /// Quarter turns.
    public static let directions = 4
    private var tallies = [LevelTally](repeating: LevelTally(), count: Self.directions)

    /// Nothing heard yet.
    public init() {}

    /// Takes a level heard while facing a direction, 0..<4, each a quarter turn to the right of the one before.
    public mutating func hear(_ level: Int8?, direction: Int) {
        guard tallies.indices.contains(direction), let level else { return }
        tallies[direction].add(level)
    }

    /// The mean of each direction in dBm, `nil` where nothing was heard.
    public var levels: [Double?] { tallies.map(\.trimmedMean) }

    /// Which direction the beacon is in, and how sure that is, 0.5...1; `nil` where it cannot be told: the two strongest
    /// differ by less than twice the standard error of their difference.
    public var answer: (direction: Int, confidence: Double)? {
        let order = tallies.indices.filter { tallies[$0].count >= 3 }.sorted {
            (tallies[$0].trimmedMean ?? -200) > (tallies[$1].trimmedMean ?? -200)
        }
        guard order.count == Self.directions, let first = tallies[order[0]].trimmedMean,
            let second = tallies[order[1]].trimmedMean
        else { return nil }
        let variance = order.prefix(2).reduce(0.0) { sum, direction in
            let deviation = max(2, tallies[direction].standardDeviation ?? 5)
            return sum + deviation * deviation / Double(tallies[direction].count)
        }
        let score = (first - second) / variance.squareRoot()
        return score > 2 ? (order[0], normalShare(below: score)) : nil
    }
}
