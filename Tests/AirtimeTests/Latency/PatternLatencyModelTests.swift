import BluetoothTypes
import Testing

@testable import Airtime

@Suite struct PatternLatencyModelTests {
    private static func pattern(_ parts: [(milliseconds: Double, seconds: Double)]) throws -> AdvertisingPattern {
        let parts = try parts.map { part in
            let interval = try #require(AdvertisingInterval(microseconds: Int(part.milliseconds * 1000)))
            return AdvertisingPattern.Part(
                interval: RequestedInterval(interval), durationMicroseconds: Int(part.seconds * 1_000_000))
        }
        return try #require(AdvertisingPattern(parts))
    }

    private static func model(
        _ pattern: AdvertisingPattern, _ scanner: String, count: Int = 1
    ) throws -> PatternLatencyModel {
        try PatternLatencyModel(
            pattern: pattern, count: count, airtimeMicroseconds: 376,
            scanner: try #require(ScannerPreset(named: scanner)))
    }

    /// A scanner that never pauses receives the next event. So with 100 ms for 2 s and 1000 ms for 8 s, the latency
    /// follows from the gaps between events.
    @Test func aContinuousScannerReceivesTheNextEvent() throws {
        let latency = try Self.model(Self.pattern([(100, 2), (1000, 8)]), "continuous").distribution()
        // 20 % of the time in gaps of about 105 ms, 70.35 % in gaps of 1005 ms, and 9.65 % in the last gap.
        let mean = (2 * 0.0525 + 7.035 * 0.5025 + 0.965 * 0.4825) / 10
        #expect(abs(try #require(latency.meanSeconds) - mean) < 0.01 * mean)
        #expect(abs(try #require(latency.percentile(0.5)) - 0.375) < 0.004)
    }

    /// With two nearly equal intervals, the latency is nearly that of the constant interval between them. The only
    /// difference is that each part begins with an event.
    @Test(arguments: ["android-low-power", "android-balanced"])
    func nearlyEqualIntervalsActLikeAConstantInterval(_ scanner: String) throws {
        let pattern = try Self.pattern([(760, 600), (760.625, 600)])
        let latency = try Self.model(pattern, scanner).curve(starts: 512, horizonSeconds: 60)
        let preset = try #require(ScannerPreset(named: scanner))
        let group = try AdvertiserGroup(count: 1, intervalMicroseconds: 760_312.5, airtimeMicroseconds: 376)
        let constant = try LatencyModel(group: group, preset: preset).distribution()
        for share in [0.5, 0.9, 0.95] {
            let (own, other) = (try #require(latency.time(ofShare: share)), try #require(constant.percentile(share)))
            #expect(abs(own - other) < 0.02 * other, "p\(share): \(own), \(other)")
        }
    }

    /// The independent simulation draws 2000 discoveries event by event. Tests/Oracles/test_pattern.py has longer
    /// simulations.
    @Test(arguments: [("android-balanced", 1), ("android-balanced", 50)])
    func agreesWithASimulation(_ scanner: String, _ count: Int) throws {
        let pattern = try Self.pattern([(100, 2), (1000, 3)])
        let model = try Self.model(pattern, scanner, count: count)
        let latency = model.curve(starts: 512, horizonSeconds: 30)
        var generator = SplitMix64(seed: 9)
        let scan = try #require(ScannerPreset(named: scanner)).pattern
        let (window, interval) = (Double(scan.windowMicroseconds), Double(scan.intervalMicroseconds))
        var times: [Double] = []
        let rounds = 2000
        for number in 0..<rounds {
            // The start is stratified, so that fewer rounds are needed.
            let start = (Double(number) + Double.random(in: 0..<1, using: &generator)) / Double(rounds) * 5_000_000
            let phase = Double.random(in: 0..<3 * interval, using: &generator)
            var found: Double?
            var begin = 0.0
            while found == nil {
                for part in pattern.parts where found == nil {
                    var time = begin
                    let end = begin + Double(part.durationMicroseconds)
                    while time < end, found == nil {
                        if time > start, Double.random(in: 0..<1, using: &generator) < model.collisionFreeProbability {
                            for channel in 0..<3 {
                                let place = time + Double(channel) * 1000 + phase
                                let number = (place / interval).rounded(.down)
                                let offset = place - number * interval
                                let isOnChannel = Int(number) % 3 == channel
                                if isOnChannel, offset + 376 <= window { found = found ?? (time - start) / 1_000_000 }
                            }
                        }
                        time += Double(part.interval.microseconds) + Double.random(in: 0..<10_000, using: &generator)
                    }
                    begin = end
                }
            }
            times.append(found ?? 0)
        }
        times.sort()
        let mean = times.reduce(0, +) / Double(rounds)
        #expect(abs(latency.meanSeconds - mean) < 0.04 * mean, "\(latency.meanSeconds) \(mean)")
        for share in [0.5, 0.9] {
            let simulated = times[Int(share * Double(rounds))]
            let computed = try #require(latency.time(ofShare: share))
            #expect(abs(computed - simulated) < 0.08 * simulated, "p\(share): \(computed), \(simulated)")
        }
    }

    @Test func meanOfAMixIsTheWeightedMeanOfItsScanners() throws {
        let pattern = try Self.pattern([(100, 2), (1000, 8)])
        let mix = try ScannerMix([
            (try #require(ScannerPreset(named: "android-balanced")), 3), (.continuous, 1),
        ])
        let latency = try MixLatency(
            mix,
            pattern: { scanner throws(AirtimeError) in
                try PatternLatencyModel(pattern: pattern, airtimeMicroseconds: 376, scanner: scanner)
            })
        let means = latency.parts.compactMap(\.latency.meanSeconds)
        let whole = try #require(latency.whole.meanSeconds)
        #expect(means.count == 2 && abs(whole - (0.75 * means[0] + 0.25 * means[1])) < 0.01 * whole)
    }

    @Test func valuesOutOfRangeAreRefused() throws {
        let pattern = try Self.pattern([(100, 2), (20_000, 30)])
        #expect(throws: AirtimeError.self) { try Self.model(pattern, "continuous") }
        #expect(throws: AirtimeError.self) {
            try Self.model(Self.pattern([(100, 2), (200, 2)]), "continuous", count: 0)
        }
        let model = try Self.model(Self.pattern([(100, 2), (200, 2)]), "continuous")
        #expect(throws: AirtimeError.self) { try model.distribution(horizonSeconds: 0) }
        #expect(throws: AirtimeError.self) { try model.distribution(untilSeconds: 5, horizonSeconds: 1) }
    }
}
