import Airtime
import Testing

/// A fleet of equal beacons and a scanner, with the expected percentiles of the latency.
struct LatencyCase: Sendable, CustomTestStringConvertible {
    var count = 1
    /// The advertising interval T in ms.
    var interval: Double
    /// The scan window W and the scan interval I in µs.
    var window: Int
    var scanInterval: Int
    var channels = 3
    /// The copy spacing c in µs.
    var copySpacing = 1000.0
    var losses = LatencyModel.Losses.inRuns
    /// The expected latency in seconds, by the share of cases.
    var percentiles: [Double: Double]
    var tolerance = 0.01

    var testDescription: String { "N=\(count) T=\(interval) \(window)/\(scanInterval) ×\(channels) c=\(copySpacing)" }

    var model: LatencyModel {
        get throws {
            let group = try AdvertiserGroup(
                count: count, intervalMicroseconds: interval * 1000, airtimeMicroseconds: 376)
            let pattern = try ScanPattern(
                windowMicroseconds: window, intervalMicroseconds: scanInterval, channelCount: channels)
            return try LatencyModel(
                group: group, pattern: pattern, copySpacingMicroseconds: copySpacing, losses: losses)
        }
    }
}

@Suite struct LatencyModelTests {
    private static let lowPower = (512_000, 5_120_000)

    @Test(arguments: [
        // One channel: the values of Blender and of an independent simulation.
        LatencyCase(
            interval: 1860, window: 512_000, scanInterval: 5_120_000, channels: 1,
            percentiles: [0.5: 9.620, 0.9: 18.148, 0.95: 19.331, 0.99: 20.278]),
        LatencyCase(
            interval: 1000, window: 512_000, scanInterval: 5_120_000, channels: 1,
            percentiles: [0.5: 5.044, 0.9: 26.715, 0.95: 29.445, 0.99: 33.502]),
        // The value of ElastiCast.
        LatencyCase(interval: 1980, window: 60_000, scanInterval: 600_000, percentiles: [0.85: 20.8]),
        // Three channels.
        LatencyCase(
            interval: 100, window: 512_000, scanInterval: 5_120_000,
            percentiles: [0.5: 2.153, 0.9: 4.201, 0.99: 4.666]),
        LatencyCase(interval: 1285, window: 512_000, scanInterval: 5_120_000, percentiles: [0.5: 21.7]),
        LatencyCase(interval: 760, window: 512_000, scanInterval: 5_120_000, percentiles: [0.5: 3.83, 0.95: 9.53]),
        LatencyCase(interval: 152.5, window: 512_000, scanInterval: 5_120_000, percentiles: [0.5: 2.21]),
        // At a resonance, the latency depends on the spacing of the copies.
        LatencyCase(
            interval: 1022.5, window: 30_000, scanInterval: 300_000, copySpacing: 530, percentiles: [0.95: 21.6]),
        LatencyCase(
            interval: 1022.5, window: 30_000, scanInterval: 300_000, copySpacing: 10_000, percentiles: [0.95: 35.6]),
        // Fleets.
        LatencyCase(
            count: 100, interval: 100, window: 4_096_000, scanInterval: 4_096_000,
            percentiles: [0.5: 0.1091, 0.9: 0.3904, 0.99: 0.815]),
        LatencyCase(
            count: 100, interval: 100, window: 4_096_000, scanInterval: 4_096_000, losses: .independent,
            percentiles: [0.5: 0.109, 0.9: 0.367, 0.99: 0.721]),
        LatencyCase(
            count: 250, interval: 100, window: 10_240_000, scanInterval: 10_240_000, channels: 1,
            percentiles: [0.99: 2.963], tolerance: 0.02),
        LatencyCase(
            count: 250, interval: 183, window: 10_240_000, scanInterval: 10_240_000, channels: 1,
            percentiles: [0.99: 2.154]),
        LatencyCase(
            count: 250, interval: 266, window: 10_240_000, scanInterval: 10_240_000, channels: 1,
            percentiles: [0.99: 2.074]),
        LatencyCase(
            count: 250, interval: 183, window: 10_240_000, scanInterval: 10_240_000, channels: 1,
            losses: .independent, percentiles: [0.99: 1.885]),
        // Few events in each window. The values were simulated with a standard error of 0.02 to 0.1 s.
        LatencyCase(
            count: 250, interval: 546.25, window: 60_000, scanInterval: 600_000,
            percentiles: [0.5: 4.406, 0.9: 12.06, 0.95: 15.30, 0.99: 23.82]),
        LatencyCase(
            count: 250, interval: 585, window: 512_000, scanInterval: 5_120_000,
            percentiles: [0.5: 4.051, 0.9: 11.99, 0.95: 15.01, 0.99: 24.31]),
        LatencyCase(
            count: 400, interval: 760, window: 1_024_000, scanInterval: 4_096_000,
            percentiles: [0.5: 2.584, 0.9: 7.18, 0.95: 9.19, 0.99: 14.25]),
        // Many events in each window.
        LatencyCase(
            count: 250, interval: 100, window: 512_000, scanInterval: 5_120_000,
            percentiles: [0.5: 4.380, 0.9: 14.23, 0.95: 18.54, 0.99: 28.27]),
    ])
    func percentilesMatchKnownValues(item: LatencyCase) throws {
        let distribution = try item.model.distribution()
        for (share, seconds) in item.percentiles {
            let found = try #require(distribution.percentile(share))
            #expect(abs(found - seconds) < item.tolerance * seconds, "\(share): \(found), not \(seconds)")
        }
    }

    @Test(arguments: [(1022.5, 0.118), (1022, 0.173), (1023, 0.064)])
    func halfAMillisecondChangesTheLatencyAtAResonance(interval: Double, undiscovered: Double) throws {
        let (window, scan) = Self.lowPower
        let model = try LatencyCase(interval: interval, window: window, scanInterval: scan, percentiles: [:]).model
        let left = try #require(try model.distribution(untilSeconds: 120).undiscovered(after: 120))
        #expect(abs(left - undiscovered) < 0.001)
    }

    @Test func percentileWithoutAdvertisingDelayMatchesAKnownValue() throws {
        let group = try AdvertiserGroup(count: 1, intervalMicroseconds: 1_980_000, airtimeMicroseconds: 376)
        let pattern = try ScanPattern(windowMicroseconds: 60_000, intervalMicroseconds: 600_000, channelCount: 1)
        let model = try LatencyModel(group: group, pattern: pattern, withAdvertisingDelay: false)
        let found = try #require(try model.distribution().percentile(0.85))
        #expect(abs(found - 16.8) < 0.02 * 16.8)
    }

    @Test func reportsNoPercentileBeyondTheHorizon() throws {
        let (window, scan) = Self.lowPower
        let model = try LatencyCase(interval: 10_240, window: window, scanInterval: scan, percentiles: [:]).model
        let distribution = try model.distribution(untilSeconds: 300)
        #expect(abs(try #require(distribution.undiscovered(after: 300)) - 0.88) < 0.015)
        #expect(distribution.percentile(0.99) == nil)
        #expect(abs(distribution.horizonSeconds - 3600) < 1)
    }

    @Test func continuousScannerReceivesTheNextEventOfOneBeacon() throws {
        let group = try AdvertiserGroup(count: 1, intervalMicroseconds: 100_000, airtimeMicroseconds: 376)
        let distribution = try LatencyModel(group: group, pattern: .continuous).distribution()
        // The latency is the rest of a period of 100...110 ms, so its distribution is t/E up to T.
        #expect(abs(try #require(distribution.percentile(0.5)) - 0.0525) < 0.0001)
        #expect(abs(try #require(distribution.percentile(0.9)) - 0.0945) < 0.0001)
        #expect(try #require(distribution.percentile(0.9999)) <= 0.1107)
        #expect(abs(try #require(distribution.received(within: 0.0525)) - 0.5) < 0.001)
        #expect(distribution.received(within: 100) == 1)
    }
}
