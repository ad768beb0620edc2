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
        var times = DetectionTimes(scanners: ScannerMix(preset), horizonSeconds: 60)
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
}
