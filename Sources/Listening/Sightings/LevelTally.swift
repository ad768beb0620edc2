/// How often each level was heard: RSSI over a round or any other window that ends all at once. Exact however many
/// reports there are, and of a fixed size.
public struct LevelTally: Sendable {
    /// What reports may say, in dBm (Core Specification 5.4, Vol 4 Part E 7.7.65.2); all else is refused.
    public static let range: ClosedRange<Int8> = -127...20

    /// Levels counted.
    public private(set) var count = 0
    /// Read by its span only: whoever reads an element of an inline array by its subscript copies the whole.
    private var counts = InlineArray<148, UInt32>(repeating: 0)

    /// Nothing counted.
    public init() {}

    /// Counts one level, in dBm, unless it lies outside ``range``.
    public mutating func add(_ level: Int8) {
        guard Self.range.contains(level), counts.span[Self.index(level)] < .max else { return }
        counts[Self.index(level)] += 1
        count += 1
    }

    /// How often this level was counted.
    func count(of level: Int8) -> Int { Self.range.contains(level) ? Int(counts.span[Self.index(level)]) : 0 }

    /// Counts all that another one has counted.
    public mutating func merge(_ other: LevelTally) {
        let others = other.counts.span
        for index in 0..<others.count where others[index] > 0 {
            let (sum, overflow) = counts.span[index].addingReportingOverflow(others[index])
            counts[index] = overflow ? .max : sum
        }
        count += other.count
    }

    private static func index(_ level: Int8) -> Int { Int(level) - Int(range.lowerBound) }
    private static func level(_ index: Int) -> Double { Double(index + Int(range.lowerBound)) }

    /// The weakest level in dBm; `nil` without any.
    public var minimum: Int? {
        let span = counts.span
        var index = 0
        while index < span.count, span[index] == 0 { index += 1 }
        return index < span.count ? index + Int(Self.range.lowerBound) : nil
    }

    /// The strongest level in dBm; `nil` without any.
    public var maximum: Int? {
        let span = counts.span
        var index = span.count - 1
        while index >= 0, span[index] == 0 { index -= 1 }
        return index >= 0 ? index + Int(Self.range.lowerBound) : nil
    }

    /// The arithmetic mean in dBm; `nil` without any level.
    public var mean: Double? { mean(without: 0) }

    /// The mean in dBm of what is left without the weakest and the strongest tenth: at least one of each where there are
    /// three or more. `nil` without any level.
    public var trimmedMean: Double? { mean(without: count < 3 ? 0 : max(1, count / 10)) }

    /// The mean in dBm without this share of the weakest and of the strongest, 0..<0.5; `nil` without any level.
    public func trimmedMean(_ share: Double) -> Double? { mean(without: Int(Double(count) * max(0, min(0.49, share)))) }

    /// The mean without so many at either end.
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

    /// The middle level in dBm, or the mean of the two in the middle; `nil` without any.
    public var median: Double? {
        guard count > 0 else { return nil }
        return (level(at: (count - 1) / 2) + level(at: count / 2)) / 2
    }

    /// The level at a place of the sorted row.
    private func level(at place: Int) -> Double {
        var passed = 0
        let span = counts.span
        for index in 0..<span.count {
            passed += Int(span[index])
            if passed > place { return Self.level(index) }
        }
        return Self.level(span.count - 1)
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
}
