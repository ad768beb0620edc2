import Airtime
import BluetoothTypes
import Testing

@Suite struct BestIntervalTests {
    @Test func findsTheBestPeriodsOf250Beacons() throws {
        let best = try BestInterval(beacons: 250, airtimeMicroseconds: 376)
        #expect(best.throughputMeanPeriodMicroseconds == 188_000)
        #expect(isWithin(0.0002, best.latencyMeanPeriodMicroseconds, of: 270_500))
    }

    /// The throughput is p/E. The time to a high percentile is proportional to -E/ln(1-p).
    @Test(arguments: [(2, 0.0), (10, 0), (250, 0), (5000, 0), (250, 0.25), (1000, 0.9)])
    func neighboringPeriodsAreWorseThanTheOptima(beacons: Int, busy: Double) throws {
        let background = try BackgroundLoad(share: busy)
        let best = try BestInterval(beacons: beacons, airtimeMicroseconds: 376, background: background)
        func probability(_ period: Double) -> Double {
            // Computed from the definition, because the optima of small fleets lie below the intervals of controllers.
            var product = (1 - busy) * (1 - busy)
            for _ in 1..<beacons { product *= 1 - 752 / period }
            return product
        }
        let throughput = best.throughputMeanPeriodMicroseconds
        for other in [0.98, 1.02] {
            #expect(probability(throughput) / throughput > probability(throughput * other) / (throughput * other))
        }
        guard beacons >= 250 else { return }
        let latency = best.latencyMeanPeriodMicroseconds
        func time(_ period: Double) -> Double { -period / Self.log(1 - probability(period)) }
        for other in [0.97, 1.03] { #expect(time(latency) < time(latency * other)) }
    }

    @Test func smallFleetsGetTheShortestSupportedInterval() throws {
        for beacons in [1, 2, 32] {
            let best = try BestInterval(beacons: beacons, airtimeMicroseconds: 376)
            let setting = try IntervalSetting(
                meanPeriodMicroseconds: best.throughputMeanPeriodMicroseconds, rounding: .up)
            #expect(setting.interval == AdvertisingInterval.legacyRange.lowerBound)
            #expect(setting.limit == .shortest)
        }
        let early = try IntervalSetting(
            meanPeriodMicroseconds: 50_000, rounding: .up,
            range: .nonconnectableMinimumBefore5...AdvertisingInterval.legacyRange.upperBound)
        #expect(early.interval.microseconds == 100_000)
    }

    @Test(arguments: [
        (187_500.0, FloatingPointRoundingRule.up, 182_500), (187_500, .down, 182_500), (187_501, .up, 183_125),
        (187_501, .down, 182_500), (188_000, .toNearestOrEven, 183_125), (25_000, .down, 20_000),
        (10_245_000, .up, 10_240_000),
    ])
    func roundsTheIntervalInTheGivenDirection(period: Double, rule: FloatingPointRoundingRule, expected: Int) throws {
        let setting = try IntervalSetting(meanPeriodMicroseconds: period, rounding: rule)
        #expect(setting.interval.microseconds == expected)
        #expect(setting.limit == nil)
    }

    @Test func clampsExtremePeriodsAndRefusesInvalidOnes() throws {
        #expect(try IntervalSetting(meanPeriodMicroseconds: 1e300, rounding: .up).limit == .longest)
        #expect(try IntervalSetting(meanPeriodMicroseconds: 0, rounding: .up).limit == .shortest)
        for period in [-1, Double.nan, .infinity, -.infinity] {
            #expect(throws: AirtimeError.self) { try IntervalSetting(meanPeriodMicroseconds: period, rounding: .up) }
        }
        #expect(throws: AirtimeError.count(0)) { try BestInterval(beacons: 0, airtimeMicroseconds: 376) }
        #expect(throws: AirtimeError.self) { try BestInterval(beacons: 1, airtimeMicroseconds: .nan) }
    }

    /// Returns the natural logarithm by the series of artanh, so that the test needs no C library.
    private static func log(_ value: Double) -> Double {
        var halvings = 0.0
        var rest = value
        while rest < 0.7 {
            rest *= 2
            halvings += 1
        }
        let ratio = (rest - 1) / (rest + 1)
        var sum = 0.0
        var power = ratio
        for odd in stride(from: 1.0, through: 61, by: 2) {
            sum += power / odd
            power *= ratio * ratio
        }
        return 2 * sum - halvings * 0.6931471805599453
    }
}
