internal import Sightings

/// The period that explains gaps: each is a whole number of periods, one more for each event that was lost.
///
/// Unlike `Sightings/IntervalEstimate`, which a live table affords for every beacon, it takes all gaps there are.
struct PeriodFold: Sendable {
    /// Gaps without which nothing is said.
    static let needed = 30
    /// The standard deviation of the delay that is added to each interval: 10 ms, evenly.
    static let delayDeviation = 2_887.0

    /// The mean time between two events that were sent, in microseconds.
    let period: Double
    /// How many periods the fitting gaps span.
    let periods: Double
    /// The share of gaps that are a whole number of periods, 0...1.
    let fittingShare: Double

    /// `nil` with fewer than ``needed`` gaps.
    init?(_ gaps: [Int]) {
        let sorted = gaps.filter { $0 >= IntervalEstimate.sameEventMicroseconds }.sorted()
        guard sorted.count >= Self.needed else { return nil }
        var period = Self.smallestCluster(sorted)
        var total = 0.0
        var periods = 0.0
        var fitting = 0
        for gap in sorted.lazy.map(Double.init) {
            let count = (gap / period).rounded()
            // Three standard deviations of the sum of so many delays, and a little for the clocks.
            guard count >= 1, abs(gap - count * period) <= 8_700 * count.squareRoot() + 1_000 + count * 200 else {
                continue
            }
            fitting += 1
            total += gap
            periods += count
            period = total / periods
        }
        self.period = period
        self.periods = periods
        fittingShare = Double(fitting) / Double(sorted.count)
    }

    /// The mean of the smallest gaps that lie within the width of the delay, if there are enough of them.
    private static func smallestCluster(_ sorted: [Int]) -> Double {
        let enough = max(2, sorted.count / 50)
        var end = 0
        var sum = 0
        for start in sorted.indices {
            while end < sorted.count, sorted[end] - sorted[start] <= 10_500 {
                sum += sorted[end]
                end += 1
            }
            if end - start >= enough { return Double(sum) / Double(end - start) }
            sum -= sorted[start]
        }
        return Double(sorted[0])
    }

    /// Whether this is one sender's rhythm, and not several mixed.
    var isRhythm: Bool { fittingShare >= 0.75 }

    /// By how much the mean of as many delays may be off: 1 % and 1 ms of the interval, or four and a half standard
    /// deviations where that is more.
    func tolerance(of interval: Double) -> Double {
        max(0.01 * interval + 1_000, 4.5 * Self.delayDeviation / periods.squareRoot() + 200)
    }

    /// Whether the gaps speak for `interval`, in microseconds, without the mean delay.
    func fits(interval: Double) -> Bool {
        isRhythm && abs(period - Double(IntervalEstimate.meanDelayMicroseconds) - interval) <= tolerance(of: interval)
    }
}

/// How often each advertisement of one radio is sent: each in a rhythm of its own, or all in turn in one.
///
/// A controller with one advertising set sends one advertisement after the other. Gaps between two of the same are then
/// whole numbers of the common period, and it is the share in the events that tells how often each is sent.
struct RadioRhythm: Sendable {
    /// What is known of an advertisement's interval.
    struct Judgement: Sendable {
        /// In microseconds, without the mean delay; `nil` where too little was heard.
        var interval: Double?
        var isWrong = false
        /// In turn with the others of its radio: a silence may be longer by one period of them all.
        var turnMicroseconds = 0.0
        /// What was heard has no rhythm at all: more than one sends it.
        var isMixed = false
    }

    private struct Member {
        var expected: Double
        var events: HeardEvents
        var fold: PeriodFold?
    }

    private static let delay = Double(IntervalEstimate.meanDelayMicroseconds)
    /// No set is faster than 20 ms.
    private static let leastPeriod = 24_000.0

    /// - Parameters:
    ///   - intervals: As configured, in microseconds.
    ///   - events: Of each advertisement, heard by one receiver.
    ///   - spans: When that receiver listened.
    static func judge(
        _ intervals: [Double], _ events: [HeardEvents], within spans: [ClosedRange<Int>]
    ) -> [Judgement] {
        let members = zip(intervals, events).map {
            Member(expected: $0, events: $1, fold: PeriodFold($1.gaps(within: spans)))
        }
        let alone = members.map(judgeAlone)
        guard members.count > 1, zip(members, alone).contains(where: { $1.isWrong || $0.fold == nil || $1.isMixed }),
            let common = commonFold(members, within: spans)
        else { return alone }
        let all = Double(members.reduce(0) { $0 + $1.events.times.count })
        let loss = 1 - all * common.period / Double(max(1, ListenedTime.length(spans)))
        let inTurn = judgeInTurn(members, common, loss: min(1, max(0.05, loss)))
        // Either explanation will do where all of it holds.
        return alone.allSatisfy { !$0.isWrong && !$0.isMixed } && inTurn.contains(where: \.isWrong) ? alone : inTurn
    }

    private static func judgeAlone(_ member: Member) -> Judgement {
        guard let fold = member.fold else { return Judgement() }
        guard fold.isRhythm else { return Judgement(isMixed: true) }
        return Judgement(interval: fold.period - delay, isWrong: !fold.fits(interval: member.expected))
    }

    /// The rhythm of all together, if there is one.
    private static func commonFold(_ members: [Member], within spans: [ClosedRange<Int>]) -> PeriodFold? {
        let gaps = HeardEvents(members.flatMap(\.events.times).sorted()).gaps(within: spans)
        guard let fold = PeriodFold(gaps), fold.fittingShare >= 0.9, fold.period >= leastPeriod else { return nil }
        // Sets of their own come arbitrarily near to each other.
        let early = gaps.count { Double($0) < fold.period - 9_000 }
        return early * 50 <= gaps.count ? fold : nil
    }

    private static func judgeInTurn(
        _ members: [Member], _ common: PeriodFold, loss: Double
    ) -> [Judgement] {
        let counts = members.map { Double($0.events.times.count) }
        let all = counts.reduce(0, +)
        // What is not sent at all takes no part.
        let wanted = members.indices.map { counts[$0] > 0 ? 1 / (members[$0].expected + delay) : 0 }
        let wantedPeriod = 1 / wanted.reduce(0, +)
        // A set's interval is a whole number of 0.625 ms, rounded down.
        let tolerance = common.tolerance(of: wantedPeriod - delay) + 625
        let isPaceRight = abs(common.period - wantedPeriod) <= tolerance
        /// How far each one's share in all events lies from the one that gives it its interval at this pace.
        let deviations = members.indices.map { index -> Deviation in
            let share = min(1, wanted[index] * (isPaceRight ? wantedPeriod : common.period))
            let spread = (all * share * max(0, 1 - share) * loss).squareRoot()
            let difference = abs(counts[index] - all * share)
            return Deviation(
                isWrong: counts[index] > 0 && difference > 4.5 * spread + 2 + 0.01 * all * share,
                score: difference / (spread + 1))
        }
        let mostWrong = deviations.map(\.score).max() ?? 0
        let isFound = deviations.contains(where: \.isWrong)
        return members.indices.map { index in
            guard counts[index] > 0 else { return Judgement(turnMicroseconds: common.period) }
            // At a wrong pace somebody is to blame, and be it whose share is off most.
            let isWrong = isPaceRight || isFound ? deviations[index].isWrong : deviations[index].score == mostWrong
            let interval =
                isWrong || !isPaceRight
                ? common.period * all / counts[index] - delay
                : (members[index].expected + delay) * common.period / wantedPeriod - delay
            return Judgement(interval: interval, isWrong: isWrong, turnMicroseconds: common.period)
        }
    }

    private struct Deviation {
        let isWrong: Bool
        let score: Double
    }
}
