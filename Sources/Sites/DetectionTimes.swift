public import Airtime

/// How long a scanner takes to receive a beacon whose packets are clear with a given probability.
///
/// A fleet of other mixtures with the same probability is taken as an equal one, of as many beacons as give it. The
/// latency of equal fleets is computed for a row of numbers of beacons, each number up to 8 and a fifth more from one
/// to the next then, and taken linearly between them.
public struct DetectionTimes: Sendable {
    private let scanner: ScannerPreset
    private var curves: [Key: LatencyDistribution] = [:]
    private let horizon: Double

    private struct Key: Hashable {
        let interval: Double
        let airtime: Double
        let beacons: Int
    }

    /// Larger fleets let next to nothing arrive.
    private static let most = 1_000_000.0

    /// - Parameter horizonSeconds: Later detections are of no interest.
    public init(scanner: ScannerPreset, horizonSeconds: Double) {
        self.scanner = scanner
        horizon = min(max(horizonSeconds, 1), LatencyModel.longestHorizonSeconds)
    }

    /// The probability that `beacon` is received within `seconds` by somebody who hears it.
    public mutating func received(
        _ beacon: SiteBeacon, clear: Double, within seconds: Double
    ) throws(AirtimeError) -> Double {
        try interpolated(beacon, clear) { $0.received(within: min(seconds, $0.horizonSeconds)) ?? 0 } ?? 0
    }

    /// The time by which `share` of those who hear the beacon have received it, in s; `nil` beyond the horizon.
    public mutating func time(
        _ beacon: SiteBeacon, clear: Double, share: Double
    ) throws(AirtimeError) -> Double? {
        guard share > 0, share < 1 else { return nil }
        let time = try interpolated(beacon, clear) { $0.percentile(share) }
        return time.flatMap { $0 <= horizon ? $0 : nil }
    }

    private mutating func interpolated(
        _ beacon: SiteBeacon, _ clear: Double, _ value: (LatencyDistribution) -> Double?
    ) throws(AirtimeError) -> Double? {
        guard clear > 0 else { return nil }
        let hit = 2 * beacon.airtimeMicroseconds / beacon.meanPeriodMicroseconds
        guard hit < 1 else { return nil }
        let beacons = 1 + log(min(1, clear)) / log1p(-hit)
        guard beacons < Self.most else { return nil }
        let (few, many) = Self.neighbors(of: beacons)
        guard let low = value(try curve(beacon, few)) else { return nil }
        guard many > few, beacons > Double(few) else { return low }
        guard let high = value(try curve(beacon, many)) else { return nil }
        return low + (high - low) * (beacons - Double(few)) / Double(many - few)
    }

    /// The numbers of the row around a number of beacons.
    private static func neighbors(of beacons: Double) -> (Int, Int) {
        var few = 1
        while true {
            let next = few < 8 ? few + 1 : few + few / 5 + 1
            if Double(next) > beacons { return (few, next) }
            few = next
        }
    }

    private mutating func curve(_ beacon: SiteBeacon, _ beacons: Int) throws(AirtimeError) -> LatencyDistribution {
        let key = Key(interval: beacon.intervalMicroseconds, airtime: beacon.airtimeMicroseconds, beacons: beacons)
        if let known = curves[key] { return known }
        let group = try AdvertiserGroup(
            count: beacons, intervalMicroseconds: beacon.intervalMicroseconds,
            airtimeMicroseconds: beacon.airtimeMicroseconds)
        let curve = try LatencyModel(group: group, preset: scanner)
            .distribution(untilSeconds: horizon, horizonSeconds: horizon)
        curves[key] = curve
        return curve
    }
}
