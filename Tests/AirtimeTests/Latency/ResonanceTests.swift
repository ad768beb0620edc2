import Airtime
import Testing

@Suite struct ResonanceTests {
    private func pattern(_ name: String) throws -> ScanPattern { try #require(ScannerPreset(named: name)).pattern }

    @Test(arguments: [(1022.5, 5, 1), (1285, 4, 1), (852.5, 6, 1), (10_240, 1, 2)])
    func findsResonancesOfRecommendedIntervals(interval: Double, events: Int, turns: Int) throws {
        let found = try #require(
            try Resonance.slowest(
                intervalMicroseconds: interval * 1000, pattern: pattern("android-low-power"), airtimeMicroseconds: 376))
        #expect(found.events == events && found.scanIntervals == turns)
        #expect(found.slowness > Resonance.avoidedSlowness)
        #expect(
            abs(found.driftMicroseconds - (Double(events) * (interval + 5) - Double(turns) * 5120) * 1000) < 0.001)
    }

    @Test(arguments: [152.5, 211.25, 318.75, 417.5, 546.25, 760])
    func otherRecommendedIntervalsDoNotResonate(interval: Double) throws {
        let found = try Resonance.slowest(
            intervalMicroseconds: interval * 1000, pattern: pattern("android-low-power"), airtimeMicroseconds: 376)
        #expect(found?.slowness ?? 0 < Resonance.avoidedSlowness)
    }

    @Test(arguments: [1022.5, 1285, 852.5, 1025, 1030, 1310])
    func sweepTimeApproximatesTheLatencyAtAResonance(interval: Double) throws {
        let low = try pattern("android-low-power")
        let group = try AdvertiserGroup(count: 1, intervalMicroseconds: interval * 1000, airtimeMicroseconds: 376)
        let p95 = try #require(try LatencyModel(group: group, pattern: low).distribution().percentile(0.95))
        let sweep = try #require(
            try Resonance.slowest(intervalMicroseconds: interval * 1000, pattern: low, airtimeMicroseconds: 376))
        #expect(sweep.sweepSeconds > 0.6 * p95 && sweep.sweepSeconds < 1.7 * p95, "\(sweep.sweepSeconds), \(p95)")
    }

    @Test func bandsContainOnlyResonantIntervals() throws {
        let low = try pattern("android-low-power")
        let bands = try Resonance.bands(within: 20_000...2_000_000, pattern: low, airtimeMicroseconds: 376)
        for interval in [1_022_500.0, 1_285_000, 852_500] {
            #expect(bands.contains { $0.intervalsMicroseconds.contains(interval) })
        }
        for interval in [152_500.0, 760_000] {
            #expect(!bands.contains { $0.intervalsMicroseconds.contains(interval) })
        }
        #expect(bands.allSatisfy { $0.worst.slowness >= Resonance.avoidedSlowness })
    }

    @Test func scannersWithoutAPauseHaveNoResonance() throws {
        for pattern in [ScanPattern.continuous, try pattern("android-low-latency")] {
            #expect(
                try Resonance.slowest(intervalMicroseconds: 1_022_500, pattern: pattern, airtimeMicroseconds: 376)
                    == nil)
        }
    }

    @Test func whatMakesNoSenseIsRefused() throws {
        let low = try pattern("android-low-power")
        #expect(throws: AirtimeError.self) {
            try Resonance.slowest(intervalMicroseconds: .nan, pattern: low, airtimeMicroseconds: 376)
        }
        #expect(throws: AirtimeError.airtime(-1)) {
            try Resonance.slowest(intervalMicroseconds: 100_000, pattern: low, airtimeMicroseconds: -1)
        }
        #expect(throws: AirtimeError.self) {
            try Resonance.bands(within: 0...Double.infinity, pattern: low, airtimeMicroseconds: 376)
        }
        let narrow = try ScanPattern(windowMicroseconds: 1, intervalMicroseconds: 1_000_000)
        #expect(
            try Resonance.slowest(intervalMicroseconds: 100_000, pattern: narrow, airtimeMicroseconds: 376) == nil)
    }
}
