import BluetoothTypes
import Testing

@testable import Airtime

@Suite struct PatternSearchTests {
    private static func search(
        _ scanner: String, goal: PatternGoal = .mean, eventsPerSecond: Double = 1
    ) throws -> PatternSearch {
        try PatternSearch(
            scanners: ScannerMix(try #require(ScannerPreset(named: scanner))), airtimeMicroseconds: 376, goal: goal,
            eventsPerSecond: eventsPerSecond)
    }

    /// The best interval and the best patterns keep the limit of events per second.
    @Test func patternsKeepTheLimit() throws {
        let search = try Self.search("android-balanced", goal: .found(withinSeconds: 0.5))
        let interval = try search.bestInterval()
        #expect(IntervalSchedule.constant(interval).eventsPerSecond <= 1.000_001)
        let cost = search.cost(of: try search.latency(of: .constant(interval)))
        let (two, three) = try search.bestAdvertisingPatterns(constantCost: cost)
        for (pattern, parts) in [(two, 2), (three, 3)] {
            let pattern = try #require(pattern)
            #expect(pattern.parts.count == parts)
            #expect(IntervalSchedule.pattern(pattern).eventsPerSecond <= 1.000_001)
            #expect(
                pattern.parts.allSatisfy {
                    $0.durationMicroseconds >= $0.interval.interval.microseconds
                        && AdvertisingPattern.durationRange.contains($0.durationMicroseconds)
                })
        }
    }

    /// A scanner that never pauses finds the most beacons in time if the gaps are equal, so no pattern is better.
    @Test func aContinuousScannerNeedsNoPattern() throws {
        let search = try Self.search("continuous", goal: .found(withinSeconds: 0.3))
        let interval = try search.bestInterval()
        #expect(interval.microseconds <= 1_000_000)
        let cost = search.cost(of: try search.latency(of: .constant(interval)))
        let two = try #require(try search.bestAdvertisingPatterns(constantCost: cost).two)
        #expect(search.cost(of: try search.latency(of: .pattern(two))) > 0.98 * cost)
    }

    @Test func costIsThePercentileOrTheMissedShare() throws {
        let interval = try #require(AdvertisingInterval(microseconds: 760_000))
        let low = try Self.search("android-low-power", goal: .percentile(0.95), eventsPerSecond: 2)
        let latency = try low.latency(of: .constant(interval))
        #expect(low.cost(of: latency) == latency.whole.percentile(0.95))
        let found = try Self.search("android-low-power", goal: .found(withinSeconds: 5), eventsPerSecond: 2)
        let share = try #require(latency.whole.received(within: 5))
        #expect(abs(found.cost(of: latency) - (1 - share)) < 1e-9)
    }

    @Test(arguments: [0.01, 41, -1, .nan, .infinity]) func limitsOutOfRangeAreRefused(_ events: Double) {
        #expect(throws: AirtimeError.self) { try Self.search("continuous", eventsPerSecond: events) }
    }
}
