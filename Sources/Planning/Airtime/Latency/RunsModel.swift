internal import BluetoothTypes

/// The probability that several packets of an advertiser in a row are lost to collisions.
///
/// Losses come in runs: two advertisers that collide are likely to collide again, because both keep the same interval
/// and only advDelay moves them apart.
///
/// Valid for advertisers of one interval and one airtime that start independently of each other. The probability of K
/// losses in a row is Q_K = Σ_{S ⊆ [K]} (-1)^|S| P(one interferer hits no event of S)^(N-1), averaged over samples of
/// the advertiser's own delays. Longer runs are extrapolated from the exact values.
///
/// An event of extended PDUs is hit on the primary channel or by an auxiliary packet. Auxiliary packets have a new
/// channel in each event, but they are so long that two chains that overlap in time overlap again in the next events,
/// so their losses come in runs as well.
public struct RunsModel: Sendable {
    /// The fleet, including the advertiser in question.
    public let group: AdvertiserGroup
    /// Q_0, Q_1, … up to the last value that is large enough to be computed.
    private let runs: [Double]
    /// By the number k of losses in a row: 1 - Q_{k+1}/Q_k, computed from the samples whose next observed event follows
    /// right after the last lost event. Nil if such samples, or those of ``laterClear``, are missing.
    private var nextClear: [Double?] = []
    /// By the number k of losses in a row: 1 - Q_{k+1}/Q_k, computed from the samples in which events that the scanner
    /// did not observe are between the last lost event and the next observed event. Nil if such samples, or those of
    /// ``nextClear``, are missing.
    private var laterClear: [Double?] = []

    /// The number of losses in a row that are computed exactly.
    private static let exactLength = 10
    /// The number of samples of the advertiser's own delays.
    private static let sampleCount = 128
    /// The number of losses in a row that are computed exactly for the latency model.
    static let shortLength = 8
    /// The number of samples of the advertiser's own delays for the latency model.
    static let fewSamples = 64
    /// The longest run that is extrapolated. For longer runs, the probability of one more loss stays constant.
    private static let longestExtrapolated = 64

    /// `otherClearProbability` is the probability that nothing outside the fleet, such as another device or a busy
    /// scanner, prevents the reception of a packet. It is independent from packet to packet. Throws for an empty fleet,
    /// an airtime above 5 ms (half of advDelay), an interval that is not longer than two packets, and a probability
    /// outside 0...1.
    public init(group: AdvertiserGroup, otherClearProbability: Double = 1) throws(AirtimeError) {
        try self.init(
            group: group, otherClearProbability: otherClearProbability,
            samples: ObservedEvents.consecutive(Self.exactLength, samples: Self.sampleCount))
    }

    /// Creates the model for the events that a scanner observes.
    init(
        group: AdvertiserGroup, otherClearProbability: Double, samples: @autoclosure () -> [ObservedEvents]
    ) throws(AirtimeError) {
        guard group.count >= 1 else { throw .count(group.count) }
        guard group.airtimeMicroseconds <= AdvertisingDelay.meanMicroseconds else {
            throw .airtime(group.airtimeMicroseconds)
        }
        guard group.intervalMicroseconds > 2 * group.airtimeMicroseconds else {
            throw .interval(group.intervalMicroseconds)
        }
        guard otherClearProbability >= 0, otherClearProbability <= 1 else { throw .share(otherClearProbability) }
        self.group = group
        if group.count == 1 {
            runs = [1, 1 - otherClearProbability]
        } else {
            let losses = Self.lossRuns(group, clear: otherClearProbability, samples: samples())
            let all = losses.runs
            // Smaller values are rounding errors of the alternating sum.
            let exact = Array(all.prefix(2) + all.dropFirst(2).prefix { $0 > 1e-11 * all[1] })
            nextClear = Array(losses.nextClear.prefix(exact.count - 1))
            laterClear = Array(losses.laterClear.prefix(exact.count - 1))
            runs = exact.count < all.count ? exact : Self.extended(exact, meanPeriod: group.meanPeriodMicroseconds)
        }
    }

    /// Returns Q_0, Q_1, … by inclusion and exclusion, and 1 - Q_{k+1}/Q_k for ``nextClear`` and ``laterClear``.
    private static func lossRuns(
        _ group: AdvertiserGroup, clear: Double, samples: [ObservedEvents]
    ) -> (runs: [Double], nextClear: [Double?], laterClear: [Double?]) {
        let length = samples[0].eventIndices.count
        let recollision = Recollision(group.collisionWindow, meanPeriod: group.meanPeriodMicroseconds)
        let interferers = Double(group.count - 1)
        var sums = Array(repeating: 0.0, count: length)
        // Σ Q_k and Σ Q_{k+1} over the samples.
        var next = Array(repeating: (before: 0.0, after: 0.0), count: length)
        var later = next
        for sample in samples {
            let hitRatios = recollision.hitRatios(sample)
            var runProbability = 0.0
            for event in 0..<length {
                let before = event == 0 ? 1 : max(0, runProbability)
                var change = 0.0
                // All sets of events in which `event` is the last one.
                for set in 1 << event..<2 << event {
                    let size = set.nonzeroBitCount
                    let setHitProbability = recollision.hitProbability * hitRatios[set]
                    let logarithm =
                        setHitProbability < 1
                        ? interferers * log1p(-setHitProbability) + Double(size) * naturalLogarithm(clear) : -.infinity
                    // Each term is reduced by 1. In the sum over all sets, these reductions cancel. They keep the
                    // digits of the probabilities of rare losses.
                    change += size % 2 == 0 ? expm1(logarithm) : -expm1(logarithm)
                }
                sums[event] += change
                runProbability += change
                guard event > 0 else { continue }
                if sample.eventIndices[event] == sample.eventIndices[event - 1] + 1 {
                    next[event] = (next[event].before + before, next[event].after + max(0, runProbability))
                } else {
                    later[event] = (later[event].before + before, later[event].after + max(0, runProbability))
                }
            }
        }
        var runs = [1.0]
        var run = 0.0
        for sum in sums {
            run += sum / Double(samples.count)
            runs.append(min(runs[runs.count - 1], max(0, run)))
        }
        // Smaller sums are rounding errors of the alternating sum.
        let smallestSum = 1e-9 * runs[1] * Double(samples.count)
        func clearShare(
            _ one: (before: Double, after: Double), _ other: (before: Double, after: Double)
        ) -> Double? {
            guard one.before > smallestSum, other.before > smallestSum else { return nil }
            return min(1, max(0, 1 - one.after / one.before))
        }
        return (
            runs, zip(next, later).map { clearShare($0, $1) }, zip(later, next).map { clearShare($0, $1) }
        )
    }

    /// Extrapolates to longer runs. The probability that the next packet is clear continues to fall with the logarithm
    /// of the run's length, until advDelay has moved a pair apart by about half a period; then it remains constant.
    private static func extended(_ exact: [Double], meanPeriod: Double) -> [Double] {
        let length = exact.count - 1
        let clear: [Double] = (0..<length).map { (run: Int) -> Double in 1 - exact[run + 1] / exact[run] }
        let lastClear = clear[length - 1]
        let middle = length / 2
        let slope = max(0, clear[middle] - lastClear) / naturalLogarithm(Double(length - 1) / Double(middle))
        // The square root of the number of events after which a pair has moved apart by half a period. The difference
        // of two delays has a standard deviation of J/√6.
        let separatingRoot = meanPeriod / 2 / (AdvertisingDelay.maximumMicroseconds / 6.0.squareRoot())
        var runs = exact
        for run in length..<longestExtrapolated {
            let effectiveRun = min(Double(run), max(Double(length), separatingRoot * separatingRoot))
            let nextClear = max(lastClear / 2, lastClear - slope * naturalLogarithm(effectiveRun / Double(length - 1)))
            runs.append(runs[run] * (1 - nextClear))
        }
        return runs
    }

    /// 1 - Q_1: the probability that a packet is clear.
    public var collisionFreeProbability: Double { 1 - runs[1] }

    /// The probability of a loss right after a loss; nil for a single advertiser, which cannot collide.
    public var lossAfterLossProbability: Double? {
        group.count > 1 ? 1 - clearAfterLosses(1) : nil
    }

    /// Q_K: the probability that K = `length` packets in a row are lost; 1 for a length of zero or less.
    public func lossRunProbability(length: Int) -> Double {
        guard length > 0 else { return 1 }
        guard length >= runs.count else { return runs[length] }
        return runs[runs.count - 1] * pow(1 - clearAfterLosses(length - 1), Double(length - runs.count + 1))
    }

    /// 1 - Q_{k+1}/Q_k: the probability that a packet is clear after k losses in a row.
    public func clearAfterLosses(_ losses: Int) -> Double {
        let lossCount = min(max(0, losses), runs.count - 2)
        return runs[lossCount] > 0 ? min(1, max(0, 1 - runs[lossCount + 1] / runs[lossCount])) : 1
    }

    /// 1 - Q_{k+1}/Q_k for the events that a scanner observes.
    ///
    /// - Parameter isNext: True if the next event follows right after the last lost event, false if events that the
    ///   scanner did not observe lie between them.
    func clearAfterLosses(_ losses: Int, isNext: Bool) -> Double {
        let clearByLosses = isNext ? nextClear : laterClear
        guard !clearByLosses.isEmpty, let clear = clearByLosses[min(losses, clearByLosses.count - 1)] else {
            return clearAfterLosses(losses)
        }
        return clear
    }
}

/// The first events of an advertiser that a scanner observes, in one sample of the advertiser's own delays.
struct ObservedEvents: Sendable {
    /// The indices of the events, ascending.
    private(set) var eventIndices: [Int] = []
    /// The sum of all delays before each event of ``eventIndices``, in µs.
    private(set) var delays: [Double] = []

    /// After this number of events in a row that the scanner does not observe, the next event is treated as independent
    /// of the earlier events.
    private static let longestSearch = 2000
    /// The number of events that is skipped before an independent event.
    private static let independentLag = 100_000_000

    /// Returns the first events for a scanner that never pauses and therefore observes every event.
    static func consecutive(_ length: Int, samples: Int) -> [ObservedEvents] {
        var random = MinimalGenerator()
        return (0..<samples).map { sample in
            var observed = ObservedEvents()
            // The first delay, which matters most, is spread evenly over the samples.
            let firstDelay = (Double(sample) + 0.5) / Double(samples) * AdvertisingDelay.maximumMicroseconds
            var delay = 0.0
            for index in 0..<length {
                observed.eventIndices.append(index)
                observed.delays.append(delay)
                delay += index == 0 ? firstDelay : random.nextDelay()
            }
            return observed
        }
    }

    /// Returns the first events within the windows of a scanner. The phase of the scanner is spread evenly over the
    /// samples.
    static func samples(
        _ length: Int, samples: Int, of cycle: ScannerCycle, intervalMicroseconds interval: Double
    ) -> [ObservedEvents] {
        var random = MinimalGenerator()
        return (0..<samples).map { sample in
            let phase = (Double(sample) + 0.5) / Double(samples) * cycle.length
            var (index, delay) = (0, 0.0)
            var observed = ObservedEvents()
            while observed.eventIndices.count < length {
                if index - (observed.eventIndices.last ?? 0) > longestSearch { index += independentLag }
                let time = Double(index) * interval + delay
                if index > independentLag || cycle.covers(phase + time) {
                    observed.eventIndices.append(index)
                    observed.delays.append(delay)
                }
                index += 1
                delay += random.nextDelay()
            }
            return observed
        }
    }
}

/// Park and Miller's random generator. The script of the planner's page contains the same generator.
private struct MinimalGenerator {
    private var state = 1

    /// advDelay in µs: uniform over 0...J.
    mutating func nextDelay() -> Double {
        state = state * 48271 % 2_147_483_647
        return Double(state) / 2_147_483_647 * AdvertisingDelay.maximumMicroseconds
    }
}

/// The probability that an interferer that hit an event of the advertiser hits a later event as well, given the
/// advertiser's own delays.
private struct Recollision {
    /// The integral of the collision window in µs: 2·tau for legacy packets.
    private let window: Double
    /// E, the mean period between advertising events in µs.
    private let meanPeriod: Double
    /// The bends of the window's autocorrelation: the time of each bend as a share of J, and the change of the slope
    /// there.
    private let bends: [(time: Double, slopeChange: Double)]
    /// The mean square of the distance between two hits whose delays are equal, in µs².
    private let meanSquare: Double

    init(_ window: CollisionWindow, meanPeriod: Double) {
        self.window = window.microseconds
        self.meanPeriod = meanPeriod
        bends = window.autocorrelationBends.map {
            ($0.time / AdvertisingDelay.maximumMicroseconds, $0.slopeChange)
        }
        meanSquare = 2 * window.meanSquare
    }

    /// The probability that an interferer hits any one event: 2·tau/E for legacy packets.
    var hitProbability: Double { window / meanPeriod }

    /// Returns, for each set of events (bit k is event k), the ratio of the probability that one interferer hits at
    /// least one event of the set to ``hitProbability``.
    ///
    /// Each event is hit with the probability ``hitProbability``. A hit is counted only if the interferer hits no
    /// earlier event of the set.
    func hitRatios(_ sample: ObservedEvents) -> [Double] {
        let length = sample.eventIndices.count
        var ratios = Array(repeating: 0.0, count: 1 << length)
        // For each set: the probability that no earlier event of the set is hit, given that its last event is hit.
        var clear = Array(repeating: 1.0, count: 1 << length)
        for event in 0..<length {
            let last = 1 << event
            ratios[last] = 1
            for earlier in 0..<event {
                let rehitProbability = probability(
                    lag: sample.eventIndices[event] - sample.eventIndices[earlier],
                    delay: sample.delays[event] - sample.delays[earlier])
                let bit = 1 << earlier
                for others in 0..<bit {
                    // P(no hit in the set) is P(no hit in `others`) minus P(a hit at `earlier`, but none in `others`).
                    // The latter is `rehitProbability` times the value of the set that ends with `earlier`.
                    clear[last | bit | others] = clear[last | others] - rehitProbability * clear[bit | others]
                    ratios[last | bit | others] = ratios[bit | others] + clear[last | bit | others]
                }
            }
        }
        return ratios
    }

    /// Returns the probability that the interferer hits again `lag` events later, when the advertiser's own delays add
    /// up to `delay` µs. The interferer's delays are `lag` draws of advDelay.
    ///
    /// The probability is the density of the sum of the interferer's delays, averaged over the window's autocorrelation
    /// (for legacy packets a triangle of half width 2·tau). Two integrations by parts reduce the average to a sum over
    /// the autocorrelation's bends.
    private func probability(lag: Int, delay: Double) -> Double {
        let maximumDelay = AdvertisingDelay.maximumMicroseconds
        guard lag > 4 else {
            let delayShare = delay / maximumDelay
            let sum = bends.reduce(0) { $0 + $1.slopeChange * Self.integral(lag, delayShare + $1.time) }
            return max(0, sum * maximumDelay / window)
        }
        let deviation = (Double(lag) * maximumDelay * maximumDelay / 12 + meanSquare).squareRoot()
        // If the delays scatter over more than half a period, every later event of the interferer is equally likely to
        // hit.
        guard deviation < meanPeriod / 2 else { return hitProbability }
        // The delays add up to a sum of uniform numbers. A normal distribution approximates it, with a correction that
        // gives it the fourth moment of such a sum. The interferer's previous and next event can hit too, so the
        // densities one period earlier and one period later are added.
        var density = 0.0
        for periods in [-1.0, 0, 1] {
            let x: Double = (delay - Double(lag) * maximumDelay / 2 + periods * meanPeriod) / deviation
            let square = x * x
            let correction: Double = (square * square - 6 * square + 3) / (20 * Double(lag))
            density += exp(-square / 2) * (1 - correction)
        }
        return window * density / (deviation * (2 * Double.pi).squareRoot())
    }

    /// The density of a sum of `count` uniform numbers of 0...1, integrated twice from 0 to x (Irwin and Hall).
    private static func integral(_ count: Int, _ x: Double) -> Double {
        guard x < Double(count) else { return x - Double(count) / 2 }
        var sum = 0.0
        var coefficient = 1.0
        for index in 0...count where x > Double(index) {
            sum += coefficient * pow(x - Double(index), Double(count + 1))
            coefficient *= -Double(count - index) / Double(index + 1)
        }
        let factorial = (1...count + 1).reduce(1) { $0 * Double($1) }
        return sum / factorial
    }
}
