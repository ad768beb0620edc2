import Testing

@testable import Airtime

/// Properties of every latency distribution.
@Suite struct LatencyPropertyTests {
    private static func distribution(
        count: Int = 1, interval: Double, pattern: ScanPattern, airtime: Double = 376, until: Double = 0,
        horizon: Double = 3600
    ) throws -> LatencyDistribution {
        let group = try AdvertiserGroup(
            count: count, intervalMicroseconds: interval * 1000, airtimeMicroseconds: airtime)
        return try LatencyModel(group: group, pattern: pattern)
            .distribution(untilSeconds: until, horizonSeconds: horizon)
    }

    @Test(arguments: zip([1, 30, 30, 250, 1, 250, 1, 30, 1, 30, 1, 250], ScannerPreset.all))
    func sharesRiseToOne(count: Int, preset: ScannerPreset) throws {
        // Distributions usually end at 99.5 %. This curve is longer, and no share may be missing.
        let curve = try Self.distribution(count: count, interval: 211.25, pattern: preset.pattern, until: 90)
        #expect(curve.seconds.count == curve.receivedShare.count)
        #expect(curve.seconds.first == 0 && curve.receivedShare.first == 0)
        #expect(zip(curve.receivedShare, curve.receivedShare.dropFirst()).allSatisfy { $0 <= $1 })
        #expect(zip(curve.seconds, curve.seconds.dropFirst()).allSatisfy { $0 < $1 })
        let last = try #require(curve.receivedShare.last)
        #expect(last <= 1 && last > 0.995, "\(last)")
    }

    @Test(arguments: [20.0, 152.5, 760])
    func latencyGrowsWithTheNumberOfBeacons(interval: Double) throws {
        let pattern = try #require(ScannerPreset(named: "android-balanced")).pattern
        var last = 0.0
        for count in [1, 2, 100] {
            let p90 = try #require(
                try Self.distribution(count: count, interval: interval, pattern: pattern).percentile(0.9))
            #expect(p90 >= last * 0.999)
            last = p90
        }
    }

    @Test func earlyReceptionsAreTheEventsThatFallIntoWindows() throws {
        let pattern = try #require(ScannerPreset(named: "ios-find-my")).pattern
        let curve = try Self.distribution(interval: 500, pattern: pattern)
        let expected = 0.1 / 0.505 * (30_000 - 376) / 30_000
        #expect(abs(try #require(curve.received(within: 0.1)) - 0.1 * expected) < 0.0001)
    }

    @Test func gapsAndDeadTimesIncreaseTheLatency() throws {
        let pattern = try #require(ScannerPreset(named: "android-balanced")).pattern
        let group = try AdvertiserGroup(count: 50, intervalMicroseconds: 200_000, airtimeMicroseconds: 376)
        let plain = try LatencyModel(group: group, pattern: pattern)
        let gap = try LatencyModel(group: group, pattern: pattern, windowGapMicroseconds: 100_000)
        let deaf = try LatencyModel(group: group, pattern: pattern, deadTimeMicroseconds: 3000)
        #expect(abs(gap.windowShare - (924.0 - 0.376) / 4096) < 1e-6)
        let offered = 50 / 205_000.0 * plain.collisionFreeProbability
        #expect(abs(deaf.scannerReadyProbability - 1 / (1 + offered * 3000)) < 1e-12)
        let p90 = try #require(try plain.distribution().percentile(0.9))
        #expect(try #require(try gap.distribution().percentile(0.9)) > p90)
        #expect(try #require(try deaf.distribution().percentile(0.9)) > p90)
    }

    @Test func marksOnlyExtrapolatedDistributionsAsInexact() throws {
        let wide = try #require(ScannerPreset(named: "android-low-power")).pattern
        let crowd = try AdvertiserGroup(count: 250, intervalMicroseconds: 20_000, airtimeMicroseconds: 376)
        let slow = try LatencyModel(group: crowd, pattern: wide).distribution(workLimit: 2_000_000)
        #expect(slow.knownErrorExceeds2Percent)
        #expect(try !Self.distribution(count: 250, interval: 546.25, pattern: wide).knownErrorExceeds2Percent)
        #expect(try !Self.distribution(count: 250, interval: 100, pattern: .continuous).knownErrorExceeds2Percent)
    }

    @Test func aWindowShorterThanAPacketNeverReceives() throws {
        let pattern = try ScanPattern(windowMicroseconds: 300, intervalMicroseconds: 10_000)
        let curve = try Self.distribution(interval: 100, pattern: pattern, until: 10)
        #expect(curve.undiscovered(after: 10) == 1)
        #expect(curve.percentile(0.5) == nil)
        #expect(curve.received(within: 4000) == nil)
    }

    @Test(arguments: [
        (1, 10_240.0, 30_000, 300_000), (300, 10_240, 625, 300_000), (1, 10_240, 625, 40_959_375), (1, 20, 400, 400),
        (300, 20, 377, 378), (300, 1285, 20_000_000, 40_959_375), (300, 333.3333, 12_345, 54_321),
    ])
    func extremePatternsGiveValidShares(count: Int, interval: Double, window: Int, scan: Int) throws {
        let pattern = try ScanPattern(windowMicroseconds: window, intervalMicroseconds: scan)
        let curve = try Self.distribution(count: count, interval: interval, pattern: pattern, horizon: 30)
        #expect(curve.horizonSeconds <= 31)
        #expect(curve.receivedShare.allSatisfy { $0 >= 0 && $0 <= 1 })
    }

    /// The shortest window in the longest scan interval needs the most cells, and the shortest advertising interval the
    /// most events.
    @Test func extrapolatesAfterTheWorkLimit() throws {
        let pattern = try ScanPattern(windowMicroseconds: 625, intervalMicroseconds: 40_959_375)
        let group = try AdvertiserGroup(count: 300, intervalMicroseconds: 20_000, airtimeMicroseconds: 376)
        let curve = try LatencyModel(group: group, pattern: pattern)
            .distribution(horizonSeconds: 100, workLimit: 2_000_000)
        #expect(curve.knownErrorExceeds2Percent)
        #expect(curve.horizonSeconds > 99 && curve.receivedShare.allSatisfy { $0 >= 0 && $0 <= 1 })
    }

    @Test func whatMakesNoSenseIsRefused() throws {
        let pattern = try ScanPattern(windowMicroseconds: 30_000, intervalMicroseconds: 300_000)
        func model(
            count: Int = 1, interval: Double = 100, airtime: Double = 376, pattern: ScanPattern = pattern,
            spacing: Double = 1000, gap: Double = 0, dead: Double = 0, clear: Double = 1
        ) throws -> LatencyModel {
            let group = try AdvertiserGroup(
                count: count, intervalMicroseconds: interval * 1000, airtimeMicroseconds: airtime)
            return try LatencyModel(
                group: group, pattern: pattern, copySpacingMicroseconds: spacing, windowGapMicroseconds: gap,
                deadTimeMicroseconds: dead, otherClearProbability: clear)
        }
        #expect(throws: AirtimeError.count(0)) { try model(count: 0) }
        #expect(throws: AirtimeError.interval(19_000)) { try model(interval: 19) }
        #expect(throws: AirtimeError.interval(10_241_000)) { try model(interval: 10_241) }
        #expect(throws: AirtimeError.self) { try model(interval: .nan) }
        #expect(throws: AirtimeError.self) { try model(airtime: 9000) }
        #expect(throws: AirtimeError.self) { try model(spacing: 100) }
        #expect(throws: AirtimeError.self) { try model(spacing: .nan) }
        #expect(throws: AirtimeError.self) { try model(spacing: .infinity) }
        #expect(throws: AirtimeError.self) { try model(gap: -1) }
        #expect(throws: AirtimeError.self) { try model(gap: .infinity) }
        #expect(throws: AirtimeError.self) { try model(dead: .nan) }
        #expect(throws: AirtimeError.share(-0.1)) { try model(clear: -0.1) }
        let endless = try ScanPattern(windowMicroseconds: 1, intervalMicroseconds: .max)
        #expect(throws: AirtimeError.scan(windowMicroseconds: 1, intervalMicroseconds: .max)) {
            try model(pattern: endless)
        }
        let good = try model()
        for (until, horizon) in [(-1.0, 10.0), (11, 10), (.nan, 10), (0, 0), (0, .nan), (0, .infinity), (0, 1e9)] {
            #expect(throws: AirtimeError.self) {
                try good.distribution(untilSeconds: until, horizonSeconds: horizon)
            }
        }
        let curve = try good.distribution()
        #expect(curve.percentile(-0.1) == nil && curve.percentile(1) == nil && curve.percentile(.nan) == nil)
        #expect(curve.received(within: .nan) == nil && curve.received(within: -1) == 0)
    }
}
