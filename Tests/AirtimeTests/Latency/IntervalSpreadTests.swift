import Airtime
import BluetoothTypes
import Testing

@Suite struct IntervalSpreadTests {
    private func advice(_ beacons: Int, _ scanner: String, _ goal: IntervalGoal) throws -> IntervalAdvice {
        try IntervalAdvice(
            goal: goal, count: beacons, airtimeMicroseconds: 376,
            scanners: ScannerMix(#require(ScannerPreset(named: scanner))))
    }

    /// The advised interval is 951 ms. 1022 ms is within 10 % of it and resonates with the scanner.
    @Test func spreadExcludesResonantIntervals() throws {
        let advice = try advice(100, "android-low-power", .detect(withinSeconds: 15, probability: 0.95))
        let center = Double(advice.interval.microseconds)
        let around = try Resonance.bands(
            within: center * 0.9...center * 1.1, pattern: advice.model.pattern, airtimeMicroseconds: 376)
        #expect(!around.isEmpty, "the test needs a resonance near the advised interval")
        let spread = try #require(try advice.spread())
        #expect(spread.intervals.contains(advice.interval))
        let ends = spread.intervals
        let inside = try Resonance.bands(
            within: Double(ends.lowerBound.microseconds)...Double(ends.upperBound.microseconds),
            pattern: advice.model.pattern, airtimeMicroseconds: 376)
        #expect(inside.isEmpty)
        for end in [ends.lowerBound, ends.upperBound] {
            let latency = try advice.distribution(
                intervalMicroseconds: Double(end.microseconds),
                preset: #require(ScannerPreset(named: "android-low-power")), horizonSeconds: 300)
            #expect(try #require(latency.received(within: 15)) >= 0.95)
        }
    }

    @Test func spreadIsTenPercentPerSideForAContinuousScanner() throws {
        let advice = try advice(250, "continuous", .maximumThroughput)
        let spread = try #require(try advice.spread())
        let center = Double(advice.interval.microseconds)
        #expect(abs(Double(spread.intervals.lowerBound.microseconds) / center - 0.9) < 0.01)
        #expect(abs(Double(spread.intervals.upperBound.microseconds) / center - 1.1) < 0.01)
        #expect(abs(spread.extraEvents) < 0.01)
    }

    @Test func oneBeaconNeedsNoSpread() throws {
        #expect(try advice(1, "continuous", .maximumThroughput).spread() == nil)
    }

    @Test func spreadsIdentitiesEvenlyAndRepeatably() throws {
        let spread = try #require(try advice(250, "continuous", .maximumThroughput).spread())
        let own = (1...1000).map { spread.interval(of: "hall-\($0)") }
        #expect(own == (1...1000).map { spread.interval(of: "hall-\($0)") })
        #expect(own.allSatisfy { spread.intervals.contains($0) })
        let middle = Double(spread.intervals.lowerBound.rawValue + spread.intervals.upperBound.rawValue) / 2
        let mean = own.reduce(0) { $0 + Double($1.rawValue) } / 1000
        #expect(abs(mean / middle - 1) < 0.01)
        #expect(Set(own).count > 30)
    }
}
