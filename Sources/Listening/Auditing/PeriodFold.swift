internal import Sightings

/// The period of an advertisement, measured from the gaps between its events. Each gap is one period, plus one period
/// for each lost event.
///
/// The measurement uses all gaps. `Sightings/IntervalEstimate` uses only the last 32 gaps, to be fast enough for live
/// tables.
struct PeriodFold: Sendable {
    /// The number of gaps that a measurement needs.
    static let needed = 30
    /// The standard deviation of the random delay in microseconds, which is uniform over 10 ms.
    static let delayDeviation = 2_887.0

    /// The mean time between two transmitted events, in microseconds.
    let period: Double
    /// The total number of periods in the fitting gaps.
    let periods: Double
    /// The share of gaps that are a whole number of periods, 0...1.
    let fittingShare: Double
    /// The number of gaps that would fit by chance if the events had no period.
    private let fittingByChance: Double
    /// The number of all gaps.
    private let gapCount: Double

    /// Measures the period. Returns `nil` with fewer than ``needed`` gaps.
    init?(_ gaps: [Int]) {
        let sorted = gaps.filter { $0 >= IntervalEstimate.sameEventMicroseconds }.sorted()
        guard sorted.count >= Self.needed else { return nil }
        var period = Self.smallestCluster(sorted)
        var total = 0.0
        var periods = 0.0
        var fitting = 0
        var fittingByChance = 0.0
        for gap in sorted.lazy.map(Double.init) {
            let count = (gap / period).rounded()
            // Three standard deviations of the sum of `count` delays, and an allowance for clock errors.
            let allowed = 8_700 * count.squareRoot() + 1_000 + count * 200
            fittingByChance += min(1, 2 * allowed / period)
            guard count >= 1, abs(gap - count * period) <= allowed else { continue }
            fitting += 1
            total += gap
            periods += count
            period = total / periods
        }
        self.period = period
        self.periods = periods
        fittingShare = Double(fitting) / Double(sorted.count)
        self.fittingByChance = fittingByChance
        gapCount = Double(sorted.count)
    }

    /// True if more gaps fit than chance explains, by three standard deviations. If a period is short compared with the
    /// gaps, all gaps fit by chance.
    var isEvident: Bool {
        let spread = (fittingByChance * (1 - fittingByChance / gapCount)).squareRoot()
        return fittingShare * gapCount > fittingByChance + 3 * spread
    }

    /// Returns the mean of the smallest gaps that differ by at most the largest random delay. Clusters with too few
    /// gaps are skipped. If every cluster has too few gaps, returns the smallest gap.
    private static func smallestCluster(_ sorted: [Int]) -> Double {
        let neededCount = max(2, sorted.count / 50)
        var end = 0
        var sum = 0
        for start in sorted.indices {
            while end < sorted.count, sorted[end] - sorted[start] <= 10_500 {
                sum += sorted[end]
                end += 1
            }
            if end - start >= neededCount { return Double(sum) / Double(end - start) }
            sum -= sorted[start]
        }
        return Double(sorted[0])
    }

    /// True if the gaps are those of a single sender.
    var isRhythm: Bool { fittingShare >= 0.75 }

    /// Returns the permitted error of the period: 1 % plus 1 ms of the interval, or 4.5 standard deviations of the
    /// mean delay if that is more.
    func tolerance(of interval: Double) -> Double {
        max(0.01 * interval + 1_000, 4.5 * Self.delayDeviation / periods.squareRoot() + 200)
    }

    /// Returns whether the period fits a configured interval in microseconds, without the mean delay.
    func fits(interval: Double) -> Bool {
        isRhythm && abs(period - Double(IntervalEstimate.meanDelayMicroseconds) - interval) <= tolerance(of: interval)
    }
}

/// Measures how often each advertisement of one radio is sent: independently, or in turn with the others.
///
/// A controller with a single advertising set sends its advertisements in turn. Then the gaps of one advertisement are
/// whole numbers of the common period, and its share of all events shows how often it is sent.
struct RadioRhythm: Sendable {
    /// The measured interval of an advertisement.
    struct Judgement: Sendable {
        /// The interval in microseconds, without the mean delay; `nil` with too few events.
        var interval: Double?
        var isWrong = false
        /// The common period in microseconds, if the advertisements are sent in turn; otherwise 0. The limit of a
        /// silence is increased by twice this time.
        var turnMicroseconds = 0.0
        /// True if the events have no rhythm, because several devices send them.
        var isMixed = false
    }

    private struct Member {
        var expected: Double
        var events: EventTimes
        var fold: PeriodFold?
    }

    private static let delay = Double(IntervalEstimate.meanDelayMicroseconds)
    /// The shortest period of an advertising set, in microseconds: 20 ms and a delay.
    private static let leastPeriod = 24_000.0
    /// The share of gaps that must fit for a clear period. A frame that is sent in turn with others can fit by chance.
    private static let clearShare = 0.9

    /// - Parameters:
    ///   - intervals: The configured intervals in microseconds.
    ///   - events: For each advertisement, the events of one receiver.
    ///   - spans: The periods in which that receiver listened.
    static func judge(
        _ intervals: [Double], _ events: [EventTimes], within spans: [ClosedRange<Int>]
    ) -> [Judgement] {
        let members = zip(intervals, events).map {
            Member(expected: $0, events: $1, fold: PeriodFold($1.gaps(within: spans)))
        }
        let judgedAlone = judgeAlone(members)
        guard members.count > 1,
            zip(members, judgedAlone).contains(where: { $1.isWrong || $0.fold == nil || $1.isMixed }),
            let common = commonFold(members, within: spans)
        else { return judgedAlone }
        let eventCount = Double(members.reduce(0) { $0 + $1.events.times.count })
        let loss = 1 - eventCount * common.period / Double(max(1, ListenedTime.length(spans)))
        let judgedInTurn = judgeInTurn(members, common, loss: min(1, max(0.05, loss)))
        // An advertisement that keeps its configured interval is not sent in turn with the others, unless it also has
        // its configured share of the common events. Telemetry that follows other frames after a fixed time also leads
        // to a common period, but a false one.
        let isApart = members.indices.contains { index in
            guard let fold = members[index].fold, fold.fittingShare >= clearShare else { return false }
            return !judgedAlone[index].isWrong && !judgedAlone[index].isMixed && judgedInTurn[index].isWrong
        }
        // The events of all advertisements may fit both explanations: sent independently, and sent in turn. Either can
        // then be used.
        let isGood = judgedAlone.allSatisfy { !$0.isWrong && !$0.isMixed }
        if isApart || isGood && judgedInTurn.contains(where: \.isWrong) { return judgedAlone }
        // A wrong interval cannot be proved with few events.
        return members.indices.map {
            members[$0].fold == nil && judgedInTurn[$0].isWrong ? judgedAlone[$0] : judgedInTurn[$0]
        }
    }

    private static func judgeAlone(_ members: [Member]) -> [Judgement] {
        var judgements = members.map(judgeAlone)
        for index in members.indices where judgements[index].isWrong {
            guard let fold = members[index].fold else { continue }
            // Some beacons send a frame after every n-th frame of another advertisement.
            let isCounted = members.indices.contains { other in
                guard other != index, !judgements[other].isWrong, let base = members[other].fold?.period else {
                    return false
                }
                let count = (members[index].expected / members[other].expected).rounded()
                return count >= 2 && abs(fold.period - count * base) <= fold.tolerance(of: count * base)
            }
            if isCounted { judgements[index].isWrong = false }
        }
        return judgements
    }

    private static func judgeAlone(_ member: Member) -> Judgement {
        guard let fold = member.fold else { return Judgement() }
        guard fold.isRhythm else { return Judgement(isMixed: true) }
        return Judgement(interval: fold.period - delay, isWrong: !fold.fits(interval: member.expected))
    }

    /// Returns the rhythm of all advertisements together, if there is one.
    private static func commonFold(_ members: [Member], within spans: [ClosedRange<Int>]) -> PeriodFold? {
        let gaps = EventTimes(members.flatMap(\.events.times).sorted()).gaps(within: spans)
        guard let fold = PeriodFold(gaps), fold.fittingShare >= clearShare, fold.isEvident,
            fold.period >= leastPeriod
        else {
            return nil
        }
        // Many short gaps show independent advertising sets, which sometimes send at nearly the same time.
        let shortGaps = gaps.count { Double($0) < fold.period - 9_000 }
        return shortGaps * 50 <= gaps.count ? fold : nil
    }

    private static func judgeInTurn(
        _ members: [Member], _ common: PeriodFold, loss: Double
    ) -> [Judgement] {
        let counts = members.map { Double($0.events.times.count) }
        let eventCount = counts.reduce(0, +)
        // Advertisements that are not sent take no turn.
        let expectedRates = members.indices.map { counts[$0] > 0 ? 1 / (members[$0].expected + delay) : 0 }
        let expectedPeriod = 1 / expectedRates.reduce(0, +)
        // Intervals are multiples of 0.625 ms, rounded down.
        let tolerance = common.tolerance(of: expectedPeriod - delay) + 625
        let isPeriodRight = abs(common.period - expectedPeriod) <= tolerance
        /// For each advertisement, the difference between its share of events and the share that its interval
        /// requires.
        let deviations = members.indices.map { index -> Deviation in
            let share = min(1, expectedRates[index] * (isPeriodRight ? expectedPeriod : common.period))
            let spread = (eventCount * share * max(0, 1 - share) * loss).squareRoot()
            let difference = abs(counts[index] - eventCount * share)
            return Deviation(
                isWrong: counts[index] > 0 && difference > 4.5 * spread + 2 + 0.01 * eventCount * share,
                score: difference / (spread + 1))
        }
        let mostWrong = deviations.map(\.score).max() ?? 0
        let isAnyWrong = deviations.contains(where: \.isWrong)
        return members.indices.map { index in
            guard counts[index] > 0 else { return Judgement(turnMicroseconds: common.period) }
            // If the common period is wrong, at least the advertisement with the largest deviation is wrong.
            let isWrong = isPeriodRight || isAnyWrong ? deviations[index].isWrong : deviations[index].score == mostWrong
            let interval =
                isWrong || !isPeriodRight
                ? common.period * eventCount / counts[index] - delay
                : (members[index].expected + delay) * common.period / expectedPeriod - delay
            return Judgement(interval: interval, isWrong: isWrong, turnMicroseconds: common.period)
        }
    }

    private struct Deviation {
        let isWrong: Bool
        let score: Double
    }
}
