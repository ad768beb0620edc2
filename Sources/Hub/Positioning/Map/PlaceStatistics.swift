/// What a survey says about one beacon at one place: over the seconds in which it was heard, each counting once.
public struct PlaceStatistics: Hashable, Sendable {
    /// The beacon's number in the map.
    public let beacon: Int
    /// How often each level was heard, whole dBm (rounded half away from zero), ascending.
    public let histogram: [Bin]
    /// Seconds in which it was heard, at least 1.
    public let seconds: Int
    /// In dBm.
    public let mean: Double
    /// The middle level in dBm, or the mean of the two in the middle.
    public let median: Double
    /// In dBm.
    public let minimum: Double
    /// In dBm.
    public let maximum: Double
    /// The sum of the squared differences from the mean, in dB².
    let squares: Double

    /// One level of a histogram.
    public struct Bin: Hashable, Sendable {
        /// In dBm.
        public let level: Int
        /// How many seconds it was heard.
        public let seconds: Int
    }

    /// The standard deviation of the sample, in dB; `nil` for a single second.
    public var standardDeviation: Double? { seconds > 1 ? (squares / Double(seconds - 1)).squareRoot() : nil }

    /// `nil` without levels.
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

    /// As a map file has them.
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

    /// Whole levels of sorted ones.
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
