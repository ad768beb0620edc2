internal import Glibc
internal import Sightings

/// How often a beacon sends, how much of it is lost and in which runs, and so how long its silence must be before it has
/// left. On the clock of listened time, in microseconds.
struct BeaconPace: Sendable {
    /// Gaps without which nothing is known of losses.
    static let needed = 16.0
    /// After so many events that were heard, all that was counted counts half: what was long ago says little.
    static let memory = 4000.0
    /// As many events are taken for counted before the first one, lost as `ExitRule` takes a loss at least.
    static let prior = 10.0
    static let leastLoss = 0.1
    /// Of a beacon of which nothing is known yet two of three events are lost.
    static let firstLoss = 0.65
    static let losses = 0.1...0.95
    /// The interval is learned anew after so many events: it costs as much as some dozen reports.
    static let learning = 16

    /// When anything was heard of it; `nil` before that.
    private(set) var lastHeard: Int?
    /// When an event of its own was heard.
    private(set) var lastEvent: Int?
    /// What the table had counted by then.
    private(set) var events = 0
    private(set) var period: Double?
    private let configuredPeriod: Double?
    private var smallestGap: Int?
    private var stretch = 0
    private var untilLearning = learning
    private var heard = 0.0
    private var lost = 0.0
    /// Runs of losses.
    private var runs = 0.0

    /// - Parameter interval: As configured, in microseconds; `nil` to learn it.
    init(interval: Int?) {
        configuredPeriod = interval.map { Double($0 + IntervalEstimate.meanDelayMicroseconds) }
        period = configuredPeriod
    }

    /// Something was heard that is no event of its own.
    mutating func join(at now: Int) { lastHeard = now }

    /// It is there, as somebody has written down, and the silence begins.
    mutating func resume(at now: Int) {
        lastHeard = lastHeard ?? now
        lastEvent = lastEvent ?? now
    }

    /// An event of its own was heard.
    ///
    /// - Parameters:
    ///   - stretch: Counts the times without listening: a gap across one says nothing.
    ///   - learn: The period as learned so far, in microseconds.
    mutating func hear(at now: Int, events: Int, stretch: Int, learn: () -> Double?) {
        if let lastEvent, self.stretch == stretch, self.events > 0 { count(gap: now - lastEvent) }
        self.events = events
        self.stretch = stretch
        lastHeard = now
        lastEvent = now
        guard configuredPeriod == nil else { return }
        untilLearning -= 1
        guard untilLearning <= 0 else { return }
        untilLearning = Self.learning
        let before = period
        period = learn() ?? period
        // What was counted by another period was counted wrong.
        if let before, let period, abs(period - before) > before / 4 { (heard, lost, runs) = (0, 0, 0) }
    }

    private mutating func count(gap: Int) {
        guard gap >= IntervalEstimate.sameEventMicroseconds else { return }
        smallestGap = min(smallestGap ?? gap, gap)
        guard let period else { return }
        let missing = max(0, (Double(gap) / period).rounded() - 1)
        heard += 1
        lost += missing
        if missing > 0 { runs += 1 }
        if heard > Self.memory {
            heard /= 2
            lost /= 2
            runs /= 2
        }
    }

    /// The time between two events, in microseconds, as far as anything is known of it.
    var likelyPeriod: Double? { period ?? smallestGap.map(Double.init) }

    /// The silence after which it has left, in microseconds.
    var silence: Int {
        guard let period, heard >= Self.needed else {
            guard let likely = likelyPeriod else { return ExitRule.unknownMicroseconds }
            return max(
                ExitRule.unknownMicroseconds,
                ExitRule.silenceMicroseconds(period: likely, loss: Self.firstLoss))
        }
        // What a few dozen events tell is taken for worse by one standard deviation.
        let total = heard + lost + Self.prior
        let loss = Self.upper((lost + Self.prior * Self.leastLoss) / total, total)
        let first = min(max((runs + Self.prior * loss) / (heard + Self.prior), 0.02), Self.losses.upperBound)
        let next = Self.upper((lost - runs + Self.prior * loss) / (lost + Self.prior), lost + Self.prior)
        let events = Self.lostInARow(
            period: period / 1_000_000, loss: loss, first: first, next: next, rate: ExitRule.falseExitsPerSecond)
        let range = ExitRule.rangeMicroseconds
        return Int(min(max(events * period, Double(range.lowerBound)), Double(range.upperBound)))
    }

    /// The shortest run of losses that a beacon which stays shows less often than `rate` times a second.
    ///
    /// A run begins with probability `first` after an event that was heard, and goes on with probability `next` after one
    /// that was lost: rate of runs of n or more = (1 - loss)/period·first·next^(n - 1).
    ///
    /// - Parameter period: In seconds.
    private static func lostInARow(
        period: Double, loss: Double, first: Double, next: Double, rate: Double
    ) -> Double {
        1 + max(1, (Glibc.log(rate * period / ((1 - loss) * first)) / Glibc.log(next)).rounded(.up))
    }

    private static func upper(_ share: Double, _ count: Double) -> Double {
        let share = min(max(share, losses.lowerBound), losses.upperBound)
        return min(share + (share * (1 - share) / count).squareRoot(), losses.upperBound)
    }
}

/// The levels of a beacon's last events: a ring of a fixed size, of which the newest are kept.
struct ZoneWindow: Sendable {
    static let capacity = 64
    /// Stands for a level relative to 1 m of which the power is not known.
    private static let noGain = Int8.min

    private var times = InlineArray<64, Int>(repeating: 0)
    private var levels = InlineArray<64, Int8>(repeating: 0)
    private var gains = InlineArray<64, Int8>(repeating: 0)
    private var next = 0
    private var filled = 0

    /// What the levels of a window say.
    struct Median: Sendable {
        let count: Int
        /// In dBm.
        let level: Double
        /// Relative to 1 m, in dB; `nil` where too few of the reports told their power.
        let gain: Double?
    }

    /// - Parameter power: What a receiver sees at 1 m, in dBm.
    mutating func add(_ level: Int8, power: Int?, at now: Int) {
        times[next] = now
        levels[next] = level
        gains[next] = power.map { Int8(clamping: max(-127, Int(level) - $0)) } ?? Self.noGain
        next = (next + 1) % Self.capacity
        filled = min(filled + 1, Self.capacity)
    }

    mutating func removeAll() { filled = 0 }

    /// Of the levels from `start` on; `nil` without any.
    func median(since start: Int) -> Median? {
        var sortedLevels = InlineArray<64, Int8>(repeating: 0)
        var sortedGains = InlineArray<64, Int8>(repeating: 0)
        var count = 0
        var gainCount = 0
        let (times, levels, gains) = (times.span, levels.span, gains.span)
        var place = next
        while count < filled {
            place = place == 0 ? Self.capacity - 1 : place - 1
            guard times[place] >= start else { break }
            Self.insert(levels[place], into: &sortedLevels, count)
            count += 1
            if gains[place] != Self.noGain {
                Self.insert(gains[place], into: &sortedGains, gainCount)
                gainCount += 1
            }
        }
        guard count > 0 else { return nil }
        return Median(
            count: count, level: Self.middle(sortedLevels.span, count),
            gain: gainCount * 2 > count ? Self.middle(sortedGains.span, gainCount) : nil)
    }

    private static func insert(_ value: Int8, into sorted: inout InlineArray<64, Int8>, _ count: Int) {
        var free = count
        while free > 0, case let before = sorted.span[free - 1], before > value {
            sorted[free] = before
            free -= 1
        }
        sorted[free] = value
    }

    private static func middle(_ sorted: Span<Int8>, _ count: Int) -> Double {
        (Double(sorted[(count - 1) / 2]) + Double(sorted[count / 2])) / 2
    }
}
