/// The levels of one beacon at one place, one per second in which it was received.
public struct PlaceStatistics: Hashable, Sendable {
    /// The beacon's number in the map.
    public let beacon: Int
    /// The number of seconds with each level in whole dBm (rounded half away from zero), ascending.
    public let histogram: [Bin]
    /// The number of seconds in which it was received, at least 1.
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
        /// In dBm.
        public let level: Int
        /// The number of seconds with this level.
        public let seconds: Int
    }

    /// The standard deviation of the sample, in dB; `nil` for a single second.
    public var standardDeviation: Double? { seconds > 1 ? (squares / Double(seconds - 1)).squareRoot() : nil }

    /// The statistics of some levels. `nil` without levels.
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

    /// Statistics with their parts.
    init(
        beacon: Int, histogram: [Bin], seconds: Int, mean: Double, median: Double, minimum: Double, maximum: Double,
        squares: Double
    ) {
        self.beacon = beacon
        self.histogram = histogram
        self.seconds = seconds
        self.mean = mean
        self.median = median
        self.minimum = minimum
        self.maximum = maximum
        self.squares = squares
    }

    /// The histogram of sorted levels.
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
