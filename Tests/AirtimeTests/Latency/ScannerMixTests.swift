import Airtime
import BluetoothTypes
import Testing

@Suite("Mixes of scanners")
struct ScannerMixTests {
    private func preset(_ name: String) throws -> ScannerPreset { try #require(ScannerPreset(named: name)) }

    private func latency(
        _ mix: ScannerMix, beacons: Int = 1, interval: Double = 300_000, untilSeconds: Double = 0
    ) throws -> MixLatency {
        let group = try AdvertiserGroup(count: beacons, intervalMicroseconds: interval, airtimeMicroseconds: 376)
        return try MixLatency(mix, untilSeconds: untilSeconds) { preset throws(AirtimeError) in
            try LatencyModel(group: group, preset: preset)
        }
    }

    @Test("only the ratio of weights matters, even for very large weights")
    func sharesAreProportional() throws {
        let (slow, fast) = (try preset("android-low-power"), try preset("linux"))
        #expect(try ScannerMix([(slow, 6), (fast, 4)]).parts.map(\.share) == [0.6, 0.4])
        #expect(try ScannerMix([(slow, 0.006), (fast, 0.004)]).parts.map(\.share) == [0.6, 0.4])
        #expect(try ScannerMix([(slow, 1e308), (fast, 1e308)]).parts.map(\.share) == [0.5, 0.5])
        #expect(ScannerMix(slow).name == "android-low-power" && ScannerMix(slow).only == slow)
        #expect(try ScannerMix([(slow, 6), (fast, 4)]).phrase == "a mix of android-low-power 60 % and linux 40 %")
    }

    @Test("weights that are not positive numbers, or tiny, are refused", arguments: [0, -1, .infinity, .nan, 1e-12])
    func wrongWeightsAreRefused(_ weight: Double) throws {
        let linux = try preset("linux")
        #expect(throws: AirtimeError.self) { try ScannerMix([(.continuous, 1), (linux, weight)]) }
    }

    @Test("an empty mix and a repeated scanner are refused")
    func scannersOccurOnce() throws {
        #expect(throws: AirtimeError.self) { try ScannerMix([]) }
        #expect(throws: AirtimeError.mix("continuous occurs twice: add up its weights")) {
            try ScannerMix([(.continuous, 1), (.continuous, 2)])
        }
    }

    @Test(
        "a percentile is the time by which that share of all visitors has received a beacon",
        arguments: [(1, 300_000.0), (1, 1_022_500), (50, 152_500)])
    func percentilesAreThoseOfAllVisitors(beacons: Int, interval: Double) throws {
        let mix = try ScannerMix([
            (try preset("android-low-power"), 6), (try preset("android-balanced"), 3), (.continuous, 1),
        ])
        let result = try latency(mix, beacons: beacons, interval: interval)
        for share in [0.1, 0.5, 0.9, 0.95, 0.99] {
            let time = try #require(result.whole.percentile(share))
            let received = result.parts.reduce(0) { $0 + $1.share * ($1.latency.received(within: time) ?? 1) }
            #expect(abs(received - share) < 1e-6, "\(share)")
        }
    }

    @Test("the received share never exceeds 1, although 0.6 + 0.3 + 0.1 exceeds 1 in floating point")
    func sharesDoNotExceedOne() throws {
        let mix = try ScannerMix([
            (try preset("android-low-power"), 0.6), (try preset("android-balanced"), 0.3),
            (try preset("android-low-latency"), 0.1),
        ])
        for beacons in 1...3 {
            let whole = try latency(mix, beacons: beacons, interval: 100_000).whole
            #expect(whole.receivedShare.allSatisfy { $0 <= 1 })
        }
    }

    @Test("the mean of a mix is the weighted mean of its parts; percentiles are not")
    func meansAverageOverScannersAndPercentilesDoNot() throws {
        let mix = try ScannerMix([(try preset("android-low-power"), 1), (.continuous, 1)])
        let result = try latency(mix)
        let medians = result.parts.compactMap { $0.latency.percentile(0.5) }
        // The mean of the medians is 1.25 s. But half of the visitors have a continuous scanner and receive the beacon
        // within about 0.3 s, so the median of all visitors is at most that.
        let between = (medians[0] + medians[1]) / 2
        #expect(try abs(#require(result.whole.percentile(0.5)) - between) > 0.8)
        let mean = try result.parts.reduce(0) { try $0 + $1.share * #require($1.latency.meanSeconds) }
        #expect(try abs(#require(result.whole.meanSeconds) - mean) < 0.001 * mean)
    }

    @Test("the mean is half a period for one beacon, and does not depend on the end of the curve")
    func meanIncludesTheTailOfTheCurve() throws {
        let single = try latency(ScannerMix(.continuous))
        #expect(try abs(#require(single.whole.meanSeconds) - 0.1525) < 1e-4)
        // A curve that ends later has the same mean.
        let fleet = try latency(ScannerMix(.continuous), beacons: 250, interval: 100_000)
        let longer = try latency(ScannerMix(.continuous), beacons: 250, interval: 100_000, untilSeconds: 20)
        let means = try [fleet, longer].map { try #require($0.whole.meanSeconds) }
        #expect(abs(means[0] - means[1]) < 0.003 * means[1], "\(means)")
    }

    @Test("a mix of one scanner equals that scanner")
    func aMixOfOneScannerEqualsTheScanner() throws {
        let slow = try preset("android-low-power")
        let group = try AdvertiserGroup(count: 20, intervalMicroseconds: 417_500, airtimeMicroseconds: 376)
        let alone = try LatencyModel(group: group, preset: slow).distribution()
        #expect(try latency(ScannerMix(slow), beacons: 20, interval: 417_500).whole == alone)
    }

    @Test("the advised interval for a mix lies between those for its scanners")
    func adviceForAMixLiesBetweenItsScanners() throws {
        let goal = IntervalGoal.detect(withinSeconds: 10, probability: 0.9)
        func interval(_ mix: ScannerMix) throws -> Int {
            try IntervalAdvice(goal: goal, count: 20, airtimeMicroseconds: 376, scanners: mix).interval.microseconds
        }
        let (slow, fast) = (try preset("android-low-power"), ScannerPreset.continuous)
        let mixed = try interval(ScannerMix([(slow, 1), (fast, 1)]))
        let (low, high) = (try interval(ScannerMix(slow)), try interval(ScannerMix(fast)))
        #expect((low...high).contains(mixed), "\(low) \(mixed) \(high)")
        let fleet = try LargestFleet(
            within: 10, probability: 0.9, intervalMicroseconds: 500_000, airtimeMicroseconds: 376,
            scanners: ScannerMix([(slow, 1), (fast, 1)]))
        #expect(try #require(fleet.latency.whole.received(within: 10)) >= 0.9)
    }

    @Test("each simulation batch draws one scanner of the mix according to its share")
    func simulationDrawsScannersByTheirShare() throws {
        let mix = try ScannerMix([(try preset("ios-background"), 3), (.continuous, 1)])
        var conditions = AirConditions()
        conditions.simulatesAllChannels = false
        conditions.durationMicroseconds = 20e6
        let group = try AdvertiserGroup(count: 1, intervalMicroseconds: 300_000, airtimeMicroseconds: 376)
        let scene = try AirSimulation(
            advertisers: AirAdvertiser.fleet(group), scanners: mix, conditions: conditions, seed: 1)
        var tally = AirTally()
        for index in 0..<300 { tally.merge(scene.batch(index)) }
        let model = try latency(mix)
        for time in [0.2, 0.305, 2] {
            let simulated = try #require(tally.latency.undiscoveredShare(afterMicroseconds: time * 1e6)).value
            #expect(try abs(simulated - #require(model.whole.undiscovered(after: time))) < 0.08, "\(time)")
        }
    }
}
