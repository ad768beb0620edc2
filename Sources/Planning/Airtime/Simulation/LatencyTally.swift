/// The latencies until beacons were first received: counts in bins, so that memory stays bounded. Above 33 ms, the
/// width of a bin is at most 0.2 % of its latency. The batches are distributed over twenty groups, and the scatter
/// between the groups gives the standard error. The scatter within one batch would give a wrong standard error, because
/// its latencies are correlated: all beacons wait for the same scan window. The horizon is the duration of a batch.
/// Longer latencies are counted, but their values are unknown.
public struct LatencyTally: SimulationTally, Hashable {
    static let groupCount = 20
    /// The number of latencies of all groups in each bin, without the empty bins at the end.
    private var pooled: [Int] = []
    /// By group: the number of latencies in each bin, without the empty bins at the end.
    private var bins: [[Int]]
    /// By group: the number of latencies, including those beyond the horizon.
    private var totals: [Int]
    /// By group: the number of latencies beyond the horizon.
    private var beyondHorizon: [Int]

    public init() {
        bins = Array(repeating: [], count: Self.groupCount)
        totals = Array(repeating: 0, count: Self.groupCount)
        beyondHorizon = totals
    }

    public mutating func merge(_ next: LatencyTally) {
        pooled.add(next.pooled)
        for group in bins.indices {
            bins[group].add(next.bins[group])
            totals[group] += next.totals[group]
            beyondHorizon[group] += next.beyondHorizon[group]
        }
    }

    /// Counts one latency in µs, at least 0; nil for a beacon that was not received within the horizon.
    mutating func count(_ latency: Double?, batch: Int) {
        let group = batch % Self.groupCount
        totals[group] += 1
        guard let latency else { return beyondHorizon[group] += 1 }
        let bin = Self.bin(latency)
        pooled.extend(to: bin + 1)
        pooled[bin] += 1
        bins[group].extend(to: bin + 1)
        bins[group][bin] += 1
    }

    /// The counts of one batch: the number of all latencies, the number beyond the horizon, and for each bin that is
    /// not empty its index and its count.
    var numbers: [Int] {
        [samples, undiscovered] + pooled.enumerated().flatMap { $0.element > 0 ? [$0.offset, $0.element] : [] }
    }

    /// Creates the counts of one batch from its ``numbers``; nil if the numbers are not valid counts.
    init?(numbers: ArraySlice<Int>, batch: Int) {
        self.init()
        var rest = numbers
        guard batch >= 0, let total = rest.popFirst(), let beyondCount = rest.popFirst(), (0...1 << 48).contains(total),
            (0...total).contains(beyondCount)
        else { return nil }
        let group = batch % Self.groupCount
        (totals[group], beyondHorizon[group]) = (total, beyondCount)
        var (counted, lastBin) = (beyondCount, -1)
        while let bin = rest.popFirst() {
            guard let count = rest.popFirst(), bin > lastBin, bin <= Self.bin(.greatestFiniteMagnitude),
                (1...total).contains(count)
            else { return nil }
            pooled.extend(to: bin + 1)
            pooled[bin] = count
            (counted, lastBin) = (counted + count, bin)
        }
        guard counted == total else { return nil }
        bins[group] = pooled
    }

    /// The number of latencies, including those beyond the horizon.
    public var samples: Int { totals.reduce(0, +) }
    /// The number of latencies beyond the horizon.
    public var undiscovered: Int { beyondHorizon.reduce(0, +) }

    /// The share of latencies above `time` µs; for a time beyond the horizon, the share at the horizon.
    public func undiscoveredShare(afterMicroseconds time: Double) -> Estimate? {
        guard time >= 0 else { return nil }
        var shares = ShareTally()
        for group in bins.indices where totals[group] > 0 {
            shares.merge(ShareTally(hits: totals[group] - receivedCount(group, within: time), trials: totals[group]))
        }
        return shares.estimate
    }

    private func receivedCount(_ group: Int, within time: Double) -> Int {
        var count = 0.0
        for (bin, binCount) in bins[group].enumerated() where binCount > 0 {
            let range = Self.range(bin)
            guard range.lowerBound < time else { break }
            let share = min(1, (time - range.lowerBound) / (range.upperBound - range.lowerBound))
            count += share * Double(binCount)
        }
        return Int(count.rounded())
    }

    /// The latency in µs that is not exceeded by the share `share` of all latencies; nil if it is beyond the horizon.
    public func percentile(_ share: Double) -> Double? {
        guard share > 0, share < 1, samples > 0 else { return nil }
        let wantedCount = share * Double(samples)
        var lowerCount = 0
        for (bin, binCount) in pooled.enumerated() where binCount > 0 {
            if Double(lowerCount + binCount) >= wantedCount {
                let range = Self.range(bin)
                let shareOfBin = (wantedCount - Double(lowerCount)) / Double(binCount)
                return range.lowerBound + (range.upperBound - range.lowerBound) * shareOfBin
            }
            lowerCount += binCount
        }
        return nil
    }

    /// The 95 % confidence interval of a percentile in µs (Woodruff's interval): the latencies at both ends of the
    /// confidence interval of the share. Nil if one end lies beyond the horizon.
    public func percentileConfidence95(_ share: Double) -> ClosedRange<Double>? {
        guard let middle = percentile(share), let estimate = undiscoveredShare(afterMicroseconds: middle) else {
            return nil
        }
        let width = estimate.halfWidth95
        guard let upper = percentile(share + width) else { return nil }
        let lower = percentile(share - width) ?? 0
        return lower <= upper ? lower...upper : nil
    }

    // Below 1024 units of 64 µs, each bin is one unit wide. Above, each doubling of the latency has 512 bins.

    private static let unit = 64.0

    private static func bin(_ latency: Double) -> Int {
        let units = UInt64(min(max(latency, 0) / unit, 0x1p52))
        guard units >= 1024 else { return Int(units) }
        let shift = 63 - 9 - units.leadingZeroBitCount
        return (shift << 9) + Int(units >> UInt64(shift))
    }

    private static func range(_ bin: Int) -> Range<Double> {
        let shift = max(0, (bin >> 9) - 1)
        let width = Double(UInt64(1) << UInt64(shift)) * unit
        let low = Double(bin - shift << 9) * width
        return low..<low + width
    }
}

extension [Int] {
    /// Appends zeros until there are `count` numbers.
    fileprivate mutating func extend(to count: Int) {
        if self.count < count { self += repeatElement(0, count: count - self.count) }
    }

    /// Adds the lists element by element. Elements that are missing in the shorter list count as 0.
    fileprivate mutating func add(_ next: [Int]) {
        extend(to: next.count)
        for (index, number) in next.enumerated() where number > 0 { self[index] += number }
    }
}
