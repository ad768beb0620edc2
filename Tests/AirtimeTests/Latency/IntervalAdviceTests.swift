import Airtime
import BluetoothTypes
import Testing

@Suite struct IntervalAdviceTests {
    private func advice(
        _ goal: IntervalGoal, beacons: Int, scanner: String
    ) throws -> IntervalAdvice {
        let preset = try #require(ScannerPreset(named: scanner))
        return try IntervalAdvice(goal: goal, count: beacons, airtimeMicroseconds: 376, scanners: ScannerMix(preset))
    }

    @Test func bestPeriodForThroughputIsTwiceTheTotalAirtime() throws {
        let advice = try advice(.maximumThroughput, beacons: 250, scanner: "continuous")
        #expect(advice.interval.microseconds == 183_125)
        #expect(advice.outcome == .met)
        #expect(abs(advice.collisionFreeProbability - 0.36886) < 0.00005)
    }

    @Test func clampsTheIntervalToTheRangeOfControllers() throws {
        let advice = try advice(.maximumThroughput, beacons: 10, scanner: "continuous")
        #expect(advice.interval.microseconds == 20_000)
        #expect(advice.outcome == .clampedToShortest)
        let large = try self.advice(.maximumThroughput, beacons: 20_000, scanner: "continuous")
        #expect(large.outcome == .clampedToLongest)
    }

    @Test(arguments: [
        (250, "continuous", 3.0, 0.99), (250, "android-low-latency", 5, 0.99), (250, "android-low-power", 30, 0.95),
        (1, "android-low-power", 10, 0.95), (50, "ios-find-my", 15, 0.9), (10, "android-balanced", 5, 0.95),
    ])
    func advisesAboutTheLongestIntervalThatMeetsTheTarget(
        beacons: Int, scanner: String, seconds: Double, probability: Double
    ) throws {
        let preset = try #require(ScannerPreset(named: scanner))
        let advice = try advice(
            .detect(withinSeconds: seconds, probability: probability), beacons: beacons, scanner: scanner)
        #expect(advice.outcome == .met)
        #expect(try #require(advice.distribution.received(within: seconds)) >= probability)
        #expect(advice.interval >= advice.shortestSensible)
        let unit = Double(advice.interval.rawValue)
        func share(_ factor: Double) throws -> Double {
            let group = try AdvertiserGroup(
                count: beacons, intervalMicroseconds: (unit * factor).rounded() * 625, airtimeMicroseconds: 376)
            let distribution = try LatencyModel(group: group, preset: preset).distribution(untilSeconds: seconds)
            return try #require(distribution.received(within: seconds))
        }
        for factor in [0.99, 1.01] { #expect(try share(factor) > probability - 0.11 * (1 - probability)) }
        // An interval that is 50 % longer misses the target.
        #expect(try share(1.5) < probability)
    }

    @Test func reportsTheShortfallOfATooLargeFleet() throws {
        // The shortest sensible mean period is E = 2·376 µs·250/ln 2 = 271.2 ms.
        let advice = try advice(.detect(withinSeconds: 1, probability: 0.99), beacons: 250, scanner: "continuous")
        #expect(advice.shortestSensible.microseconds == 266_250)
        guard case .impossible(let shortfall) = advice.outcome else {
            Issue.record("\(advice.outcome)")
            return
        }
        #expect(shortfall.share > 0.89 && shortfall.share < 0.92)
        #expect(abs(try #require(shortfall.seconds) - 2.08) < 0.05)
        #expect(try #require(shortfall.beacons) > 90 && #require(shortfall.beacons) < 130)
    }

    /// With a scanner that pauses, more events in a window may be worth more collisions.
    @Test func examinesShorterIntervalsIfTheSensibleOnesMissTheTarget() throws {
        let best = try advice(
            .detect(withinSeconds: 4, probability: 0.99), beacons: 300, scanner: "android-low-power")
        guard case .impossible(let shortfall) = best.outcome else {
            Issue.record("\(best.outcome)")
            return
        }
        // 320.625 ms, the shortest sensible interval, reaches only 50.7 %.
        #expect(shortfall.share > 0.512, "\(shortfall)")
        #expect(best.interval < best.shortestSensible)
        let met = try advice(
            .detect(withinSeconds: 4, probability: 0.51), beacons: 300, scanner: "android-low-power")
        #expect(met.outcome == .met)
        #expect(try #require(met.distribution.received(within: 4)) >= 0.51)
    }

    @Test func reportsATargetThatTheScannerCannotMeet() throws {
        let advice = try advice(.detect(withinSeconds: 1, probability: 0.99), beacons: 1, scanner: "android-low-power")
        guard case .impossible(let shortfall) = advice.outcome else {
            Issue.record("\(advice.outcome)")
            return
        }
        #expect(shortfall.beacons == nil)
        #expect(shortfall.continuousShare > 0.99)
        #expect(shortfall.share < 0.35)
    }

    @Test func advisesTheLongestIntervalIfItMeetsTheTarget() throws {
        let advice = try advice(.detect(withinSeconds: 3600, probability: 0.9), beacons: 1, scanner: "continuous")
        #expect(advice.interval.microseconds == 10_240_000)
        #expect(advice.outcome == .metAtLongest)
    }

    @Test func curveCoversTheWholeRange() throws {
        let advice = try advice(.maximumThroughput, beacons: 250, scanner: "continuous")
        let range = AdvertisingInterval(rawValue: 100)...AdvertisingInterval(rawValue: 1000)
        let curve = try advice.curve(over: range, points: 9)
        #expect(curve.count == 9)
        #expect(curve.first?.interval.rawValue == 100 && curve.last?.interval.rawValue == 1000)
        #expect(zip(curve, curve.dropFirst()).allSatisfy { $0.collisionFreeProbability < $1.collisionFreeProbability })
        // The best 99th percentile lies at about p = 1/2.
        let best = try #require(curve.min { $0.p99 ?? .infinity < $1.p99 ?? .infinity })
        #expect(best.collisionFreeProbability > 0.4 && best.collisionFreeProbability < 0.62)
    }

    /// 1022.5 ms resonates with Android's scan interval of 5.12 s. A few evenly spaced points miss the resonance.
    @Test func curveHasExtraPointsAtResonances() throws {
        let advice = try advice(
            .detect(withinSeconds: 15, probability: 0.95), beacons: 100, scanner: "android-low-power")
        let range = AdvertisingInterval(rawValue: 600)...AdvertisingInterval(rawValue: 3000)
        let even = try advice.curve(over: range, points: 5, horizonSeconds: 30)
        let curve = try advice.curve(over: range, points: 5, between: 2, resonances: 5, horizonSeconds: 30)
        let peak = 1_000_000...1_040_000
        #expect(!even.contains { peak.contains($0.interval.microseconds) })
        #expect(curve.contains { peak.contains($0.interval.microseconds) && $0.p99 ?? .infinity > 30 })
        #expect(curve.count > 12 && curve.count <= 19)
        #expect(curve.filter { !$0.isExtra } == even)
        #expect(zip(curve, curve.dropFirst()).allSatisfy { $0.interval < $1.interval })
        for point in curve {
            let (half, most, all) = (point.p50 ?? .infinity, point.p90 ?? .infinity, point.p99 ?? .infinity)
            #expect(half <= most && most <= all, "\(point)")
        }
    }

    @Test func whatMakesNoSenseIsRefused() throws {
        for (seconds, probability) in [(0.0, 0.9), (-1, 0.9), (.nan, 0.9), (4000, 0.9), (1, 0), (1, 1), (1, .nan)] {
            #expect(throws: AirtimeError.self) {
                try advice(.detect(withinSeconds: seconds, probability: probability), beacons: 1, scanner: "harmony")
            }
        }
        #expect(throws: AirtimeError.count(0)) { try advice(.maximumThroughput, beacons: 0, scanner: "harmony") }
        #expect(ScannerPreset(named: "pigeon") == nil)
    }
}
