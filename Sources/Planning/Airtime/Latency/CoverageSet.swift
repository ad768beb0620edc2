/// The starts of advertising events from which a copy lies wholly inside a window on its channel, as intervals that
/// repeat with the scanner's cycle. Lengths are in steps of the recursion's grid.
struct CoverageSet: Sendable {
    /// Disjoint and in order, each begins within the first cycle; the last one may reach into the next.
    let intervals: [Range<Double>]
    /// The scanner's cycle: channels times the scan interval.
    let period: Double
    /// Whether all intervals are alike, and follow each other evenly, but for 1/2000 of their length.
    let isRegular: Bool

    /// Where paths begin, with their weights; they sum to one.
    ///
    /// Three windows that differ by the spacing of the copies only are as good as one, where that is nothing beside
    /// their length and every window meets an event, at least one in `longestPeriod` steps: no resonance then.
    func starts(longestPeriod: Double) -> [(interval: Range<Double>, weight: Double)] {
        let total = intervals.reduce(0) { $0 + ($1.upperBound - $1.lowerBound) }
        if isRegular, let first = intervals.first, longestPeriod <= first.upperBound - first.lowerBound {
            return [(first, 1)]
        }
        return intervals.map { ($0, ($0.upperBound - $0.lowerBound) / total) }
    }

    /// After how many steps the scanner does the same again, but perhaps on another channel.
    func cycle(longestPeriod: Double) -> Double {
        starts(longestPeriod: longestPeriod).count == 1 ? period / Double(intervals.count) : period
    }

    /// The share of all starts that is covered.
    var share: Double {
        intervals.reduce(0) { $0 + ($1.upperBound - $1.lowerBound) } / period
    }

    init(pattern: ScanPattern, airtime: Double, copySpacing: Double, gap: Double, step: Double) {
        let interval = Double(pattern.intervalMicroseconds)
        let channels = pattern.channelCount
        period = Double(channels) * interval / step
        guard channels > 1 || pattern.windowMicroseconds < pattern.intervalMicroseconds || gap > 0 else {
            intervals = [0..<period]
            isRegular = true
            return
        }
        // Copy number `channel` starts that many spacings after its event, hence the shift to the left.
        let length = min(interval, Double(pattern.windowMicroseconds)) - gap - airtime
        guard length > 0 else {
            intervals = []
            isRegular = false
            return
        }
        let starts = (0..<channels).map { channel -> Double in
            let start = Double(channel) * (interval - copySpacing) + gap
            let cycle = Double(channels) * interval
            return start - (start / cycle).rounded(.down) * cycle
        }.sorted()
        isRegular = channels == 1 || (4000 * copySpacing <= length && length + 3 * copySpacing < interval)
        intervals = Self.union(of: starts.map { $0 / step..<($0 + length) / step }, period: period)
    }

    /// Joins what overlaps, also across the end of the cycle.
    private static func union(of sorted: [Range<Double>], period: Double) -> [Range<Double>] {
        var joined: [Range<Double>] = []
        for range in sorted {
            if let last = joined.last, range.lowerBound <= last.upperBound {
                joined[joined.count - 1] = last.lowerBound..<max(last.upperBound, range.upperBound)
            } else {
                joined.append(range)
            }
        }
        while let first = joined.first, let last = joined.last, last.upperBound >= first.lowerBound + period {
            guard joined.count > 1 else { return [0..<period] }
            joined[joined.count - 1] = last.lowerBound..<max(last.upperBound, first.upperBound + period)
            joined.removeFirst()
        }
        return joined
    }

    /// Writes the covered share of each step of `steps` into `shares`, and returns which of its indices are not zero;
    /// what lies outside of these is left as it was.
    func fill(_ shares: inout [Double], steps: Range<Int>) -> Range<Int> {
        let count = steps.count
        if shares.count < count { shares = Array(repeating: 0, count: count) }
        let from = Double(steps.lowerBound)
        let to = Double(steps.upperBound)
        var first = count
        var end = 0
        visit(from: from, to: to) { low, high in
            first = min(first, Int(low))
            end = max(end, min(count - 1, Int(high)) + 1)
        }
        guard first < end else { return 0..<0 }
        for index in first..<end { shares[index] = 0 }
        visit(from: from, to: to) { low, high in
            let lowStep = Int(low)
            let highStep = min(count - 1, Int(high))
            if lowStep == highStep {
                shares[lowStep] += high - low
            } else {
                shares[lowStep] += Double(lowStep + 1) - low
                for index in lowStep + 1..<highStep { shares[index] += 1 }
                shares[highStep] += high - Double(highStep)
            }
        }
        return first..<end
    }

    /// The covered stretches between two times, counted from the first one.
    private func visit(from: Double, to: Double, _ visit: (Double, Double) -> Void) {
        for interval in intervals {
            // The first repetition that ends after `from`.
            var shift = ((from - interval.upperBound) / period).rounded(.down) * period + period
            while interval.lowerBound + shift < to {
                let low = max(0, interval.lowerBound + shift - from)
                let high = min(interval.upperBound + shift, to) - from
                shift += period
                if high > low { visit(low, high) }
            }
        }
    }
}
