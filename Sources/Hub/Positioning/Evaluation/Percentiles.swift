internal import BluetoothTypes

/// Sorted numbers and their percentiles.
public struct Percentiles: Sendable {
    private let sorted: [Double]

    /// Sorts some numbers. Numbers that are not finite are left out.
    public init(_ values: some Sequence<Double>) {
        sorted = values.filter(\.isFinite).sorted()
    }

    /// The percentile, by linear interpolation between order statistics: 0 is the smallest number, 100 the largest.
    /// `nil` without numbers.
    public func value(at percent: Double) -> Double? {
        guard !sorted.isEmpty else { return nil }
        let position = min(max(percent / 100, 0), 1) * Double(sorted.count - 1)
        let low = Int(position.rounded(.down))
        let high = min(low + 1, sorted.count - 1)
        return sorted[low] + (sorted[high] - sorted[low]) * (position - Double(low))
    }

    /// The arithmetic mean. `nil` without numbers.
    public var mean: Double? { sorted.isEmpty ? nil : sorted.reduce(0, +) / Double(sorted.count) }

    /// The root of the mean square. `nil` without numbers.
    public var rootMeanSquare: Double? {
        sorted.isEmpty ? nil : (sorted.reduce(0) { $0 + $1 * $1 } / Double(sorted.count)).squareRoot()
    }
}

/// The 95 % confidence interval of a mean, computed from random samples of the stays with replacement (a bootstrap).
/// Instants of one stay are nearly identical, so samples of instants would give an interval that is too narrow.
public struct StayBootstrap: Sendable {
    /// The lower end of the 95 % interval.
    public let low: Double
    /// The upper end of the 95 % interval.
    public let high: Double

    /// The number of samples.
    private static let samples = 1000

    /// The interval of some values, each with its stay. `nil` with fewer than two stays.
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
