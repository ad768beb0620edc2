import BluetoothTypes
import Testing

@Suite struct AdvertisingPatternTests {
    private static func pattern(_ parts: [(Double, Double)]) throws -> AdvertisingPattern {
        let parts = try parts.map { milliseconds, seconds in
            let interval = try #require(AdvertisingInterval(microseconds: Int(milliseconds * 1000)))
            return AdvertisingPattern.Part(
                interval: RequestedInterval(interval), durationMicroseconds: Int(seconds * 1_000_000))
        }
        return try #require(AdvertisingPattern(parts))
    }

    @Test func positionFollowsTheElapsedTime() throws {
        let pattern = try Self.pattern([(100, 2), (1000, 8)])
        #expect(pattern.cycleMicroseconds == 10_000_000)
        for (elapsed, part, rest) in [
            (0, 0, 2_000_000), (1_999_999, 0, 1), (2_000_000, 1, 8_000_000), (9_999_999, 1, 1),
            (10_000_000, 0, 2_000_000), (1_000_005_000_000, 1, 5_000_000), (-5, 0, 2_000_000),
        ] {
            let position = pattern.position(after: elapsed)
            #expect(position.part == part)
            #expect(position.rest == rest)
        }
    }

    @Test func patternIsPrintedPartByPart() throws {
        #expect("\(try Self.pattern([(152.5, 0.5), (1000, 8)]))" == "152.5 ms for 0.5 s, 1000 ms for 8 s")
        #expect(AdvertisingPattern([]) == nil)
    }

    /// Event number k of a part begins k intervals and k random delays after the first one.
    @Test(arguments: [
        (100.0, 2.0), (1000, 8), (760, 30), (20, 0.5), (1000, 1), (1000, 1.005), (500, 1.01), (300, 0.92),
    ])
    func meanNumberOfEventsAgreesWithASimulation(_ milliseconds: Double, _ seconds: Double) throws {
        let pattern = try Self.pattern([(milliseconds, seconds), (100, 1)])
        var generator = SplitMix64(seed: 5)
        let interval = Double(pattern.parts[0].interval.interval.microseconds)
        let rounds = 20_000
        var count = 0
        for _ in 0..<rounds {
            var time = 0.0
            while time < seconds * 1_000_000 {
                count += 1
                time += interval + Double.random(in: 0..<10_000, using: &generator)
            }
        }
        let mean = Double(count) / Double(rounds)
        #expect(abs(pattern.events(inPart: 0) - mean) < 0.02, "\(pattern.events(inPart: 0)) \(mean)")
    }

    @Test func meanIntervalGivesTheSameNumberOfEvents() throws {
        let pattern = try Self.pattern([(100, 2), (1000, 8)])
        #expect(abs(pattern.eventsPerCycle - 27.6) < 0.2)
        let period = Double(pattern.meanInterval.meanPeriodMicroseconds)
        #expect(abs(period - 10_000_000 / pattern.eventsPerCycle) <= 313)
        #expect(pattern.shortestInterval.microseconds == 100_000 && pattern.longestInterval.microseconds == 1_000_000)
    }
}
