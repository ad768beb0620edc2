import Airtime
import BluetoothTypes
import Testing

@testable import Sites

/// Compares times that are interpolated between computed fleets with the times of the fleet itself.
@Suite struct DetectionTimesTests {
    private func beacon(interval: Double) throws -> SiteBeacon {
        try SiteBeacon(
            name: "box", position: FloorPosition(x: 0, y: 0), intervalMicroseconds: interval, airtimeMicroseconds: 368,
            radioPower: 0)
    }

    /// Percentiles jump from one window of the scanner to the next, here between 359 and 431 beacons.
    @Test(arguments: [(392, 318_750.0), (400, 318_750), (226, 318_750), (400, 417_500), (190, 100_000)])
    func betweenComputedFleets(count: Int, interval: Double) throws {
        let preset = try #require(ScannerPreset(named: "android-balanced"))
        var times = DetectionTimes(scanners: ScannerMix(preset), background: .none, horizonSeconds: 60)
        let clear = pow(1 - 2 * 368 / (interval + 5000), Double(count - 1))
        let own = try beacon(interval: interval)
        let group = try AdvertiserGroup(
            count: count, interval: try #require(AdvertisingInterval(microseconds: Int(interval))),
            airtimeMicroseconds: 368)
        let model = try LatencyModel(group: group, preset: preset).distribution(untilSeconds: 60)
        for share in [0.5, 0.9, 0.95] {
            let expected = try #require(model.percentile(share))
            let found = try #require(try times.time(own, clear: clear, share: share))
            #expect(abs(found - expected) < 0.01 * expected, "\(share): \(found), not \(expected)")
            #expect(abs(try times.received(own, clear: clear, within: expected) - share) < 0.005)
        }
        #expect(try times.time(own, clear: clear, share: 1) == nil)
        #expect(try times.time(own, clear: 0, share: 0.5) == nil)
        #expect(try times.received(own, clear: 0, within: 10) == 0)
    }

    /// Losses to the background are independent of each other, so they are no losses to further beacons.
    @Test(arguments: [(1, "continuous"), (60, "continuous"), (1, "android-balanced"), (60, "android-balanced")])
    func theBackgroundDestroysPacketsIndependently(count: Int, scanner: String) throws {
        let preset = try #require(ScannerPreset(named: scanner))
        let background = try BackgroundLoad(share: 0.2)
        var times = DetectionTimes(scanners: ScannerMix(preset), background: background, horizonSeconds: 60)
        let own = try beacon(interval: 318_750)
        let clear = background.clearProbability(forPacketOf: 368)
        let group = try AdvertiserGroup(
            count: count, interval: try #require(AdvertisingInterval(microseconds: 318_750)), airtimeMicroseconds: 368)
        let model = try LatencyModel(group: group, preset: preset, otherClearProbability: clear)
            .distribution(untilSeconds: 60)
        for share in [0.5, 0.9, 0.95] {
            let expected = try #require(model.percentile(share))
            let found = try #require(
                try times.time(own, clear: clear * pow(1 - 2 * 368 / 323_750, Double(count - 1)), share: share))
            #expect(abs(found - expected) < 0.01 * expected, "\(share): \(found), not \(expected)")
        }
    }

    /// A phone that receives each event with the probability c finds the beacon within k events with the probability
    /// 1 - (1 - c)^k. In 500 ms there are four or five events.
    @Test func aLoneBeaconIsFoundAsIndependentEventsAre() throws {
        let background = try BackgroundLoad(share: 0.5)
        let clear = 0.25
        let model = SiteModel(
            beacons: [try beacon(interval: 100_000)], walls: [], radio: try SiteModelTests.radio(shadowing: 0),
            background: background)
        var coverage = SiteCoverage(
            model: model, scanners: ScannerMix(try #require(ScannerPreset(named: "continuous"))),
            target: try .init(seconds: 0.5, probability: 0.9))
        let withFive = 500.0 / 105 - 4
        let expected = 1 - (1 - withFive) * pow(1 - clear, 4) - withFive * pow(1 - clear, 5)
        let point = try coverage.point(at: FloorPosition(x: 3, y: 0))
        #expect(abs(point.reception.collisionFreeProbability - clear) < 1e-12)
        #expect(abs(point.detectedShare - expected) < 0.002, "\(point.detectedShare), not \(expected)")
    }

    @Test func aPatternIsLostToTheBackgroundToo() throws {
        let preset = try #require(ScannerPreset(named: "android-balanced"))
        let background = try BackgroundLoad(share: 0.3)
        let parts = try [(100_000, 2_000_000), (1_000_000, 8_000_000)].map { interval, duration in
            AdvertisingPattern.Part(
                interval: RequestedInterval(try #require(AdvertisingInterval(microseconds: interval))),
                durationMicroseconds: duration)
        }
        let pattern = try #require(AdvertisingPattern(parts))
        let own = try SiteBeacon(
            name: "box", position: FloorPosition(x: 0, y: 0), intervalMicroseconds: 357_500, airtimeMicroseconds: 368,
            radioPower: 0, pattern: pattern)
        let clear = background.clearProbability(forPacketOf: 368)
        let model = try PatternLatencyModel(
            pattern: pattern, airtimeMicroseconds: 368, scanner: preset, otherClearProbability: clear
        ).distribution(untilSeconds: 60)
        var times = DetectionTimes(scanners: ScannerMix(preset), background: background, horizonSeconds: 60)
        let expected = try #require(model.percentile(0.95))
        let found = try #require(try times.time(own, clear: clear, share: 0.95))
        #expect(abs(found - expected) < 0.01 * expected, "\(found), not \(expected)")
    }
}
