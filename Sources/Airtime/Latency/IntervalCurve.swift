public import BluetoothTypes
internal import Glibc

/// What one interval gives: a point of the curve around the advice.
public struct IntervalPoint: Hashable, Sendable {
    public let interval: AdvertisingInterval
    public let collisionFreeProbability: Double
    /// Percentiles of the latency in seconds; nil where they lie beyond the horizon.
    public let p50: Double?
    public let p90: Double?
    public let p99: Double?
}

extension IntervalAdvice {
    /// The latency of the same fleet at another interval before another scanner, within `horizonSeconds`.
    public func distribution(
        intervalMicroseconds: Double, preset: ScannerPreset, horizonSeconds: Double = 3600
    ) throws(AirtimeError) -> LatencyDistribution {
        try search.distribution(intervalMicroseconds, preset: preset, horizonSeconds: horizonSeconds)
    }

    /// What other intervals would give: `count` of them (at least two), evenly spread over `range` on a logarithmic
    /// scale, without repetition.
    ///
    /// Percentiles are sought within `horizonSeconds`. Refuses what `LatencyModel` refuses.
    public func curve(
        over range: ClosedRange<AdvertisingInterval>, points count: Int = 13, horizonSeconds: Double = 3600
    ) throws(AirtimeError) -> [IntervalPoint] {
        let low = Double(max(range.lowerBound.rawValue, AdvertisingInterval.legacyRange.lowerBound.rawValue))
        let high = Double(min(range.upperBound.rawValue, AdvertisingInterval.legacyRange.upperBound.rawValue))
        guard low <= high else { throw .interval(Double(range.lowerBound.microseconds)) }
        guard count >= 2, count <= 1000 else { throw .quantity(name: "a number of points", value: Double(count)) }
        var points: [IntervalPoint] = []
        for index in 0..<count {
            let unit = UInt32((low * pow(high / low, Double(index) / Double(count - 1))).rounded())
            let interval = AdvertisingInterval(rawValue: unit)
            guard interval != points.last?.interval else { continue }
            let distribution = try search.distribution(interval, horizonSeconds: horizonSeconds)
            let model = try search.model(interval)
            points.append(
                IntervalPoint(
                    interval: interval,
                    collisionFreeProbability: model.collisionFreeProbability * model.otherClearProbability,
                    p50: distribution.percentile(0.5), p90: distribution.percentile(0.9),
                    p99: distribution.percentile(0.99)))
        }
        return points
    }
}
