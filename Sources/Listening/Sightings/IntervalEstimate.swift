/// Learns the interval of a beacon, and the share of its events that are received, from the gaps between received
/// events.
///
/// A gap is a whole number of periods. A period is the interval plus a random delay of 0...10 ms, 5 ms on average
/// (Core Specification 5.4, Vol 6 Part B 4.4.2.2). The smallest cluster of gaps is one period; each other gap is
/// divided by its number of periods.
public struct IntervalEstimate: Sendable {
    /// The number of gaps that are kept.
    public static let capacity = 32
    /// The number of gaps that an estimate needs.
    public static let needed = 16
    /// Reports of one beacon within this time, in microseconds, belong to the same event on different channels.
    public static let sameEventMicroseconds = 10_000
    /// The mean of the random delay, in microseconds.
    public static let meanDelayMicroseconds = 5_000

    /// The last gaps between events in microseconds, as a ring buffer.
    private var gaps = InlineArray<32, UInt32>(repeating: 0)
    private var nextIndex = 0
    private var gapCount = 0
    /// The sum of the gaps, in microseconds.
    private var sum = 0

    /// Creates an estimate without gaps.
    public init() {}

    /// Takes the time between two events, in microseconds.
    public mutating func add(gapMicroseconds gap: Int) {
        guard gap >= Self.sameEventMicroseconds, let gap = UInt32(exactly: gap) else { return }
        sum += Int(gap) - (gapCount == Self.capacity ? Int(gaps.span[nextIndex]) : 0)
        gaps[nextIndex] = gap
        nextIndex = (nextIndex + 1) % Self.capacity
        gapCount = min(gapCount + 1, Self.capacity)
    }

    /// The mean time between two transmitted events, in microseconds: the interval plus 5 ms. `nil` with fewer than
    /// ``needed`` gaps, or if they are not multiples of one period.
    public var periodMicroseconds: Double? { periodMicroseconds(from: Self.needed) }

    /// Returns the mean time between two transmitted events like ``periodMicroseconds``, but from fewer gaps.
    ///
    /// - Parameter count: The minimum number of gaps.
    public func periodMicroseconds(from count: Int) -> Double? {
        guard gapCount >= max(1, count) else { return nil }
        var sorted = InlineArray<32, UInt32>(repeating: 0)
        for index in 0..<gapCount {
            let gap = gaps.span[index]
            var insertionIndex = index
            while insertionIndex > 0, case let before = sorted.span[insertionIndex - 1], before > gap {
                sorted[insertionIndex] = before
                insertionIndex -= 1
            }
            sorted[insertionIndex] = gap
        }
        guard let smallest = smallestCluster(sorted.span) else { return nil }
        return fold(sorted.span, onto: smallest)
    }

    /// Returns the mean of the smallest gaps that differ by at most the largest random delay, if there are at least two
    /// such gaps; otherwise the smallest gap.
    private func smallestCluster(_ sorted: Span<UInt32>) -> Double? {
        for start in 0..<gapCount {
            var end = start
            var sum = 0
            while end < gapCount, sorted[end] - sorted[start] <= 10_500 {
                sum += Int(sorted[end])
                end += 1
            }
            // A single small gap is a disturbance, unless so many events are lost that no two gaps are similar.
            if end - start >= 2 { return Double(sum) / Double(end - start) }
        }
        return gapCount > 0 ? Double(sorted[0]) : nil
    }

    /// Returns the period. The gaps are divided in ascending order: each gap improves the estimate, so the number of
    /// periods in long gaps is found reliably.
    private func fold(_ sorted: Span<UInt32>, onto smallest: Double) -> Double? {
        var period = smallest
        var sumOfFittingGaps = 0.0
        var periodsInFittingGaps = 0.0
        var fitting = 0
        for index in 0..<gapCount {
            let gap = Double(sorted[index])
            let count = (gap / period).rounded()
            guard count >= 1 else { continue }
            // Three standard deviations of the sum of `count` delays, and an allowance for clock errors.
            guard abs(gap - count * period) <= 8_700 * count.squareRoot() + 1_000 + count * 200 else { continue }
            fitting += 1
            sumOfFittingGaps += gap
            periodsInFittingGaps += count
            period = sumOfFittingGaps / periodsInFittingGaps
        }
        return fitting * 4 >= gapCount * 3 ? period : nil
    }

    /// The interval in microseconds, without the mean delay of ``periodMicroseconds``.
    public var intervalMicroseconds: Int? {
        periodMicroseconds.map { max(0, Int(($0 - Double(Self.meanDelayMicroseconds)).rounded())) }
    }

    /// Returns the share of events that were received, over the gaps that are kept, 0...1.
    ///
    /// - Parameters:
    ///   - period: The mean time between two transmitted events in microseconds: ``periodMicroseconds``, or a more
    ///     exact value.
    ///   - silence: The time since the last event, in microseconds.
    /// - Returns: `nil` with fewer than ``needed`` gaps.
    public func share(periodMicroseconds period: Double, silenceMicroseconds silence: Int) -> Double? {
        guard gapCount >= Self.needed, period > 0, sum > 0 else { return nil }
        // During the first period of a silence no event is missing.
        let missingMicroseconds = max(0, Double(silence) - period)
        return min(1, Double(gapCount) * period / (Double(sum) + missingMicroseconds))
    }
}
