internal import BluetoothTypes

/// Numbers in order, and what lies below which share of them.
public struct Percentiles: Sendable {
    private let sorted: [Double]

    /// Values that are no numbers are left out.
    public init(_ values: [Double]) {
        sorted = values.filter(\.isFinite).sorted()
    }

    /// By linear interpolation between order statistics; 0 % is the smallest, 100 % the largest; `nil` of none.
    public func value(at percent: Double) -> Double? {
        guard !sorted.isEmpty else { return nil }
        let place = min(max(percent / 100, 0), 1) * Double(sorted.count - 1)
        let low = Int(place.rounded(.down))
        let high = min(low + 1, sorted.count - 1)
        return sorted[low] + (sorted[high] - sorted[low]) * (place - Double(low))
    }

    /// The same for what is known not to be empty; 0 of none.
    func value(_ percent: Double) -> Double { value(at: percent) ?? 0 }

    /// The arithmetic mean; `nil` of none.
    public var mean: Double? { sorted.isEmpty ? nil : sorted.reduce(0, +) / Double(sorted.count) }

    /// The root of the mean square; `nil` of none.
    public var rootMeanSquare: Double? {
        sorted.isEmpty ? nil : (sorted.reduce(0) { $0 + $1 * $1 } / Double(sorted.count)).squareRoot()
    }
}

/// How far a mean could be off, by drawing stays again and again: instants of one stay are twins, and drawing those would
/// promise too much.
public struct StayBootstrap: Sendable {
    /// The lower end of the 95 % interval.
    public let low: Double
    /// The upper end.
    public let high: Double

    /// - Parameters:
    ///   - values: With the stay that each belongs to.
    ///   - rounds: How often stays are drawn.
    ///
    /// `nil` with fewer than two stays: nothing can be said.
    public init?(_ values: [(stay: Int, value: Double)], rounds: Int = 1000, seed: UInt64 = 1) {
        var sums: [Int: (sum: Double, count: Double)] = [:]
        for (stay, value) in values {
            let known = sums[stay] ?? (0, 0)
            sums[stay] = (known.sum + value, known.count + 1)
        }
        let stays = sums.sorted { $0.key < $1.key }.map(\.value)
        guard stays.count > 1, rounds > 1 else { return nil }
        var random = SplitMix64(seed: seed)
        var means: [Double] = []
        for _ in 0..<rounds {
            var (sum, count) = (0.0, 0.0)
            for _ in stays {
                let stay = stays[random.next(upTo: UInt32(stays.count - 1))]
                (sum, count) = (sum + stay.sum, count + stay.count)
            }
            means.append(sum / count)
        }
        let percentiles = Percentiles(means)
        low = percentiles.value(2.5)
        high = percentiles.value(97.5)
    }
}
