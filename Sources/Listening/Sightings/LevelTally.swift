/// Counts how often each level was received. The statistics are exact for any number of reports, and a tally has a
/// fixed size.
public struct LevelTally: Sendable {
    /// The levels that a report can contain, in dBm (Core Specification 5.4, Vol 4 Part E 7.7.65.2). Other levels are
    /// ignored.
    public static let range: ClosedRange<Int8> = -127...20

    /// The number of levels.
    public private(set) var count = 0
    /// How often each level was counted. Read elements through `span`, because a subscript of an inline array copies
    /// the whole array.
    private var counts = InlineArray<148, UInt32>(repeating: 0)

    /// Creates a tally without levels.
    public init() {}

    /// Counts a level in dBm, if it is in ``range``.
    public mutating func add(_ level: Int8) {
        guard Self.range.contains(level), counts.span[Self.index(level)] < .max else { return }
        counts[Self.index(level)] += 1
        count += 1
    }

    /// Returns how often `level` was counted.
    func count(of level: Int8) -> Int { Self.range.contains(level) ? Int(counts.span[Self.index(level)]) : 0 }

    /// Adds all levels of another tally.
    public mutating func merge(_ other: LevelTally) {
        let otherCounts = other.counts.span
        for index in 0..<otherCounts.count where otherCounts[index] > 0 {
            let (sum, overflow) = counts.span[index].addingReportingOverflow(otherCounts[index])
            counts[index] = overflow ? .max : sum
        }
        count += other.count
    }

    private static func index(_ level: Int8) -> Int { Int(level) - Int(range.lowerBound) }
    private static func level(_ index: Int) -> Double { Double(index + Int(range.lowerBound)) }

    /// The weakest level in dBm; `nil` without levels.
    public var minimum: Int? {
        let span = counts.span
        var index = 0
        while index < span.count, span[index] == 0 { index += 1 }
        return index < span.count ? index + Int(Self.range.lowerBound) : nil
    }

    /// The strongest level in dBm; `nil` without levels.
    public var maximum: Int? {
        let span = counts.span
        var index = span.count - 1
        while index >= 0, span[index] == 0 { index -= 1 }
        return index >= 0 ? index + Int(Self.range.lowerBound) : nil
    }

    /// The arithmetic mean in dBm; `nil` without levels.
    public var mean: Double? { mean(without: 0) }

    /// The mean in dBm without the weakest and the strongest tenth. With three or more levels, at least one is removed
    /// at each end. `nil` without levels.
    public var trimmedMean: Double? { mean(without: count < 3 ? 0 : max(1, count / 10)) }

    /// Returns the mean in dBm without `share` of the levels at each end, 0..<0.5; `nil` without levels.
    public func trimmedMean(_ share: Double) -> Double? { mean(without: Int(Double(count) * max(0, min(0.49, share)))) }

    /// Returns the mean without `trimmed` levels at each end.
    private func mean(without trimmed: Int) -> Double? {
        guard count > 2 * trimmed else { return nil }
        var sum = 0.0
        var passed = 0
        let span = counts.span
        for index in 0..<span.count where span[index] > 0 {
            let from = max(passed, trimmed)
            passed += Int(span[index])
            let taken = min(passed, count - trimmed) - from
            if taken > 0 { sum += Double(taken) * Self.level(index) }
        }
        return sum / Double(count - 2 * trimmed)
    }

    /// The standard deviation of the sample in dB; `nil` with fewer than two levels.
    public var standardDeviation: Double? {
        guard count >= 2, let mean else { return nil }
        var sum = 0.0
        let span = counts.span
        for index in 0..<span.count where span[index] > 0 {
            let difference = Self.level(index) - mean
            sum += Double(span[index]) * difference * difference
        }
        return (sum / Double(count - 1)).squareRoot()
    }

    /// The assumed standard deviation of single levels, in dB. A deviation measured from a few levels is not reliable,
    /// so the usual fading of 6 dB is included with the weight of three levels. For a single level the result is 6 dB;
    /// for forty levels it is nearly the measured deviation.
    public var packetDeviation: Double {
        let measured = standardDeviation ?? 0
        let degreesOfFreedom = Double(max(0, count - 1))
        return
            ((Self.usualWeight * Self.usualDeviation * Self.usualDeviation + degreesOfFreedom * measured * measured)
            / (Self.usualWeight + degreesOfFreedom)).squareRoot()
    }

    /// The usual standard deviation of levels because of fading, in dB.
    private static let usualDeviation = 6.0
    /// The weight of ``usualDeviation``, as a number of levels.
    private static let usualWeight = 3.0
}
