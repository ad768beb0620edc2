internal import Airtime

/// The statistics of the levels of one beacon at one place. Each second in which the beacon was received has one level.
public struct PlaceStatistics: Hashable, Sendable {
    /// The beacon's number in the map.
    public let beacon: Int
    /// The number of seconds with each level, in ascending order of levels. Levels are rounded to whole dBm, halves
    /// away from zero.
    public let histogram: [Bin]
    /// The number of seconds in which the beacon was received, at least 1.
    public let seconds: Int
    /// The mean level in dBm.
    public let mean: Double
    /// The median level in dBm.
    public let median: Double
    /// The lowest level in dBm.
    public let minimum: Double
    /// The highest level in dBm.
    public let maximum: Double
    /// The sum of the squared differences from the mean, in dB².
    let squares: Double

    /// One level of a histogram.
    public struct Bin: Hashable, Sendable {
        /// The level in dBm.
        public let level: Int
        /// The number of seconds with this level.
        public let seconds: Int
    }

    /// The standard deviation of the sample, in dB; `nil` for a single second.
    public var standardDeviation: Double? { seconds > 1 ? (squares / Double(seconds - 1)).squareRoot() : nil }
}

extension PlaceStatistics {
    /// Computes the statistics of some levels; `nil` if there are none.
    init?(beacon: Int, levels: [Double]) {
        guard !levels.isEmpty else { return nil }
        let sorted = levels.sorted()
        self.beacon = beacon
        seconds = levels.count
        let mean = levels.reduce(0, +) / Double(levels.count)
        self.mean = mean
        median = (sorted[(sorted.count - 1) / 2] + sorted[sorted.count / 2]) / 2
        minimum = sorted[0]
        maximum = sorted[sorted.count - 1]
        squares = levels.reduce(0) { $0 + ($1 - mean) * ($1 - mean) }
        histogram = Self.histogram(sorted)
    }

    /// Returns the histogram of sorted levels.
    static func histogram(_ sorted: [Double]) -> [Bin] {
        var bins: [Bin] = []
        for level in sorted {
            let whole = Int(level.rounded(.toNearestOrAwayFromZero))
            if let last = bins.last, last.level == whole {
                bins[bins.count - 1] = Bin(level: whole, seconds: last.seconds + 1)
            } else {
                bins.append(Bin(level: whole, seconds: 1))
            }
        }
        return bins
    }
}

/// Measures how similar two places of a map look in a single second.
public struct PlaceOverlap: Sendable {
    private let map: SignalMap
    private let spread: LevelSpread
    /// The statistics of each place, by beacon.
    private let byBeacon: [[Int: PlaceStatistics]]

    /// The overlap above which a single second does not distinguish two places.
    public static let limit = 0.5

    /// Compares the places of a map.
    public init(_ map: SignalMap) {
        self.map = map
        spread = LevelSpread(map, places: Array(map.places.indices))
        byBeacon = map.statistics.map { Dictionary(uniqueKeysWithValues: $0.map { ($0.beacon, $0) }) }
    }

    /// Returns the overlap of two places, 0...1. It is the product of the Bhattacharyya coefficients of all beacons.
    /// Each coefficient compares the levels of a beacon, which are assumed to be normally distributed, and its
    /// probabilities of reception.
    public func share(_ left: Int, _ right: Int) -> Double {
        let (leftStatistics, rightStatistics) = (byBeacon[left], byBeacon[right])
        let seconds = [left, right].map { Double(max(1, map.places[$0].seconds)) }
        var logarithm = 0.0
        for beacon in Set(leftStatistics.keys).union(rightStatistics.keys).sorted() {
            let (atLeft, atRight) = (leftStatistics[beacon], rightStatistics[beacon])
            let probabilities = [probability(atLeft, seconds[0]), probability(atRight, seconds[1])]
            var overlap = ((1 - probabilities[0]) * (1 - probabilities[1])).squareRoot()
            if let atLeft, let atRight {
                overlap += (probabilities[0] * probabilities[1]).squareRoot() * levelOverlap(atLeft, atRight)
            }
            logarithm += log(max(overlap, 1e-12))
        }
        return exp(logarithm)
    }

    private func probability(_ statistics: PlaceStatistics?, _ seconds: Double) -> Double {
        let range = ReceptionTable.probabilityRange
        return min(max(Double(statistics?.seconds ?? 0) / seconds, range.lowerBound), range.upperBound)
    }

    private func levelOverlap(_ left: PlaceStatistics, _ right: PlaceStatistics) -> Double {
        let (leftVariance, rightVariance) = (spread.variance(left) + 1, spread.variance(right) + 1)
        let sum = leftVariance + rightVariance
        let difference = left.mean - right.mean
        return (2 * (leftVariance * rightVariance).squareRoot() / sum).squareRoot()
            * exp(-difference * difference / (4 * sum))
    }

    /// Returns the most similar place on the same floor, and the overlap with it; `nil` if the floor has no other
    /// place.
    public func nearest(to place: Int) -> (place: Int, share: Double)? {
        let others = map.places.indices.filter { $0 != place && map.places[$0].floor == map.places[place].floor }
        return others.map { (place: $0, share: share(place, $0)) }.max { ($0.share, $1.place) < ($1.share, $0.place) }
    }
}
