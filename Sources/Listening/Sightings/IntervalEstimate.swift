/// Learns how often a beacon sends, and how much of it is heard, from the gaps between its advertising events.
///
/// A gap is a whole number of periods, and a period is the interval and a delay of 0...10 ms, 5 ms in the mean (Core
/// Specification 5.4, Vol 6 Part B 4.4.2.2). The smallest cluster of gaps is one period; all others are folded onto it.
public struct IntervalEstimate: Sendable {
    /// Gaps that are kept, and of which an estimate is made.
    public static let capacity = 32
    /// Gaps without which nothing is said.
    public static let needed = 16
    /// Reports of one beacon that are nearer than this, in microseconds, are one event on two channels.
    public static let sameEventMicroseconds = 10_000
    /// The mean delay that is added to each interval, in microseconds.
    public static let meanDelayMicroseconds = 5_000

    private var gaps = InlineArray<32, UInt32>(repeating: 0)
    private var next = 0
    private var filled = 0
    private var sum = 0

    /// Nothing learned.
    public init() {}

    /// Takes the time between two events, in microseconds.
    public mutating func add(gapMicroseconds gap: Int) {
        guard gap >= Self.sameEventMicroseconds, let gap = UInt32(exactly: gap) else { return }
        sum += Int(gap) - (filled == Self.capacity ? Int(gaps.span[next]) : 0)
        gaps[next] = gap
        next = (next + 1) % Self.capacity
        filled = min(filled + 1, Self.capacity)
    }

    /// The mean time between two events that were sent, in microseconds: the interval and 5 ms. `nil` with fewer than
    /// ``needed`` gaps, and where they are no multiples of one period.
    public var periodMicroseconds: Double? {
        guard filled >= Self.needed else { return nil }
        var sorted = InlineArray<32, UInt32>(repeating: 0)
        for place in 0..<filled {
            let gap = gaps.span[place]
            var free = place
            while free > 0, case let before = sorted.span[free - 1], before > gap {
                sorted[free] = before
                free -= 1
            }
            sorted[free] = gap
        }
        guard let smallest = smallestCluster(sorted.span) else { return nil }
        return fold(sorted.span, onto: smallest)
    }

    /// The mean of the smallest gaps that lie within the width of the delay, if two or more of them do; otherwise the
    /// smallest one.
    private func smallestCluster(_ sorted: Span<UInt32>) -> Double? {
        for start in 0..<filled {
            var end = start
            var sum = 0
            while end < filled, sorted[end] - sorted[start] <= 10_500 {
                sum += Int(sorted[end])
                end += 1
            }
            // A gap of its own at the lower end is a disturbance, unless so much is lost that all stand alone.
            if end - start >= 2 { return Double(sum) / Double(end - start) }
        }
        return filled > 0 ? Double(sorted[0]) : nil
    }

    /// From the shortest gaps on, each tells its number of periods by those before it; the estimate gets better with
    /// each, so that long gaps are counted well.
    private func fold(_ sorted: Span<UInt32>, onto smallest: Double) -> Double? {
        var period = smallest
        var total = 0.0
        var periods = 0.0
        var fitting = 0
        for place in 0..<filled {
            let gap = Double(sorted[place])
            let count = (gap / period).rounded()
            guard count >= 1 else { continue }
            // Three standard deviations of the sum of so many delays, and a little for the clocks.
            guard abs(gap - count * period) <= 8_700 * count.squareRoot() + 1_000 + count * 200 else { continue }
            fitting += 1
            total += gap
            periods += count
            period = total / periods
        }
        return fitting * 4 >= filled * 3 ? period : nil
    }

    /// The interval in microseconds, without the mean delay: see ``periodMicroseconds``.
    public var intervalMicroseconds: Int? {
        periodMicroseconds.map { max(0, Int(($0 - Double(Self.meanDelayMicroseconds)).rounded())) }
    }

    /// The share of events that were heard of those that were owed, over the gaps that are kept, 0...1.
    ///
    /// - Parameters:
    ///   - period: The mean time between two events that were sent, in microseconds: ``periodMicroseconds``, or what is
    ///     known better.
    ///   - silence: Microseconds since the last event.
    /// - Returns: `nil` with fewer than ``needed`` gaps.
    public func share(periodMicroseconds period: Double, silenceMicroseconds silence: Int) -> Double? {
        guard filled >= Self.needed, period > 0, sum > 0 else { return nil }
        // A silence shorter than a period owes nothing yet.
        let owing = max(0, Double(silence) - period)
        return min(1, Double(filled) * period / (Double(sum) + owing))
    }
}
