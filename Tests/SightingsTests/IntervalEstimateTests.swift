import BluetoothTypes
import Testing

@testable import Sightings

@Suite struct IntervalEstimateTests {
    struct Case: Sendable, CustomTestStringConvertible {
        let milliseconds: Int
        let loss: Double
        var testDescription: String { "\(milliseconds) ms, \(loss) lost" }
    }

    static let cases = [20, 100, 152, 250, 1000, 1285, 2000, 10_240].flatMap { interval in
        [0, 0.1, 0.3, 0.5, 0.65].map { Case(milliseconds: interval, loss: $0) }
    }

    /// The mean over many beacons must be right, and each estimate must be close.
    @Test(arguments: cases) func learnsTheIntervalAndTheReceivedShare(learned: Case) throws {
        var random = SplitMix64(seed: 7)
        var found: [Double] = []
        var shares: [Double] = []
        for _ in 0..<100 {
            var estimate = IntervalEstimate()
            var time = 0
            var last: Int?
            for _ in 0..<400 {
                time += learned.milliseconds * 1000 + random.next(upTo: 10_000)
                if Double(random.next(upTo: 999)) < learned.loss * 1000 { continue }
                if let last { estimate.add(gapMicroseconds: time - last) }
                last = time
            }
            guard let period = estimate.periodMicroseconds else { continue }
            found.append(period - 5000)
            shares.append(try #require(estimate.share(periodMicroseconds: period, silenceMicroseconds: 0)))
        }
        let interval = Double(learned.milliseconds * 1000)
        // At 20 ms the delay is half the interval, so two and three events cannot be distinguished.
        let right = found.filter { abs($0 - interval) <= max(0.02 * interval, 3000) }
        #expect(right.count >= (learned.milliseconds < 100 ? 60 : 97), "\(found)")
        if learned.milliseconds >= 100 {
            let share = shares.reduce(0, +) / Double(shares.count)
            #expect(abs(share - (1 - learned.loss)) < 0.05, "\(share)")
        }
    }

    @Test func needsAtLeast16Gaps() {
        var estimate = IntervalEstimate()
        for _ in 0..<15 { estimate.add(gapMicroseconds: 105_000) }
        #expect(estimate.periodMicroseconds == nil)
        estimate.add(gapMicroseconds: 105_000)
        #expect(estimate.intervalMicroseconds == 100_000)
    }

    @Test func findsNoLongPeriodInIrregularGaps() {
        var random = SplitMix64(seed: 1)
        var estimate = IntervalEstimate()
        for _ in 0..<32 { estimate.add(gapMicroseconds: 10_000 + random.next(upTo: 100_000) * random.next(upTo: 9)) }
        let period = estimate.periodMicroseconds
        #expect(period == nil || period! < 30_000, "\(period ?? 0)")
    }

    @Test func impossibleGapsAreLeftOut() {
        var estimate = IntervalEstimate()
        for gap in [-1, 0, 9_999, Int.max, Int(UInt32.max) + 1] {
            for _ in 0..<20 { estimate.add(gapMicroseconds: gap) }
        }
        #expect(estimate.periodMicroseconds == nil)
    }

    /// The silences by which the rule was chosen, in seconds, without the limits of the rule.
    @Test(arguments: [
        (0.1, 0.1, 0.8), (0.1, 0.3, 1.5), (0.1, 0.5, 2.5), (0.1, 0.65, 4.0), (0.1, 0.9, 15), (1, 0.1, 7),
        (1, 0.3, 12), (1, 0.5, 21), (1, 0.65, 32), (1, 0.9, 120), (2, 0.3, 24), (2, 0.5, 40), (5, 0.3, 55),
        (5, 0.65, 145),
    ])
    func theExitSilenceFollowsIntervalAndLoss(interval: Double, loss: Double, seconds: Double) {
        let found = ExitRule.unlimited(period: interval * 1_000_000 + 5000, loss: loss) / 1_000_000
        #expect(abs(found - seconds) <= 0.06 * seconds + 0.05, "\(found)")
    }

    @Test func theExitSilenceHasLimits() {
        #expect(ExitRule.silenceMicroseconds(period: 105_000, loss: 0) == 10_000_000)
        #expect(ExitRule.silenceMicroseconds(period: 10_000_000, loss: 1) == 300_000_000)
        #expect(ExitRule.silenceMicroseconds(period: 0, loss: 0.5) == 30_000_000)
    }
}
