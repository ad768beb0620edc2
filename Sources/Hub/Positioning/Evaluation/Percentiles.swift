internal import BluetoothTypes

/// Sorted numbers and their percentiles.
public struct Percentiles: Sendable {
    private let sorted: [Double]

    /// Sorts some numbers. Numbers that are not finite are left out.
    public init(_ values: some Sequence<Double>) {
        sorted = values.filter(\.isFinite).sorted()
    }

    /// Returns a percentile: 0 is the smallest number, 100 the largest. Values between the sorted numbers are
    /// interpolated linearly. `nil` if there are no numbers.
    public func value(at percent: Double) -> Double? {
        guard !sorted.isEmpty else { return nil }
        let position = min(max(percent / 100, 0), 1) * Double(sorted.count - 1)
        let low = Int(position.rounded(.down))
        let high = min(low + 1, sorted.count - 1)
        return sorted[low] + (sorted[high] - sorted[low]) * (position - Double(low))
    }

    /// The arithmetic mean; `nil` if there are no numbers.
    public var mean: Double? { sorted.isEmpty ? nil : sorted.reduce(0, +) / Double(sorted.count) }

    /// The root of the mean square; `nil` if there are no numbers.
    public var rootMeanSquare: Double? {
        sorted.isEmpty ? nil : (sorted.reduce(0) { $0 + $1 * $1 } / Double(sorted.count)).squareRoot()
    }
}

/// The 95 % confidence interval of a mean, computed by a bootstrap: from random samples of the stays, with replacement.
/// Samples of single instants would give an interval that is too narrow, because instants of one stay are nearly
/// identical.
public struct StayBootstrap: Sendable {
    /// The lower end of the 95 % interval.
    public let low: Double
    /// The upper end of the 95 % interval.
    public let high: Double

    /// The number of samples.
    private static let samples = 1000

    /// Computes the interval of some values, each with the index of its stay. `nil` if there are fewer than two stays.
    public init?(_ values: [(stay: Int, value: Double)]) {
        let byStay = Dictionary(grouping: values, by: \.stay).sorted { $0.key < $1.key }
        let stays = byStay.map { _, values in
            (sum: values.reduce(0) { $0 + $1.value }, count: Double(values.count))
        }
        guard stays.count > 1 else { return nil }
        var random = SplitMix64(seed: 1)
        let means = (0..<Self.samples).map { _ in
            var (sum, count) = (0.0, 0.0)
            for _ in stays {
                let stay = stays[random.next(upTo: UInt32(stays.count - 1))]
                (sum, count) = (sum + stay.sum, count + stay.count)
            }
            return sum / count
        }
        let percentiles = Percentiles(means)
        low = percentiles.value(at: 2.5) ?? 0
        high = percentiles.value(at: 97.5) ?? 0
    }
}
