/// How long it took until a beacon was first received: counts in bins, so that memory stays bounded.
///
/// A bin is at most 0.2 % of its latency wide. Batches are dealt into twenty groups, whose scatter tells how sure a
/// share is, whatever is correlated within a batch: all beacons wait for the same window of one scanner.
public struct LatencyTally: SimulationTally, Hashable {
    private static let groupCount = 20
    /// By group, how often a latency fell into each bin; without the empty bins at the end.
    private var bins: [[Int]]
    /// By group, what was not received within the horizon.
    private var unreached: [Int]

    public init() {
        bins = Array(repeating: [], count: Self.groupCount)
        unreached = Array(repeating: 0, count: Self.groupCount)
    }

    public mutating func merge(_ next: LatencyTally) {
        for group in bins.indices {
            extend(group, to: next.bins[group].count)
            for (bin, count) in next.bins[group].enumerated() where count > 0 { bins[group][bin] += count }
            unreached[group] += next.unreached[group]
        }
    }

    /// One latency in µs, of at least 0; nil for what was not received within the horizon.
    mutating func count(_ latency: Double?, batch: Int) {
        let group = batch % Self.groupCount
        guard let latency else { return unreached[group] += 1 }
        let bin = Self.bin(latency)
        extend(group, to: bin + 1)
        bins[group][bin] += 1
    }

    private mutating func extend(_ group: Int, to count: Int) {
        let missing = count - bins[group].count
        if missing > 0 { bins[group] += repeatElement(0, count: missing) }
    }

    /// Latencies counted, those beyond the horizon among them.
    public var samples: Int { bins.reduce(0) { $0 + $1.reduce(0, +) } + undiscovered }
    /// How many of them were beyond the horizon.
    public var undiscovered: Int { unreached.reduce(0, +) }

    /// The share that was not received within so many µs. Beyond the horizon it stays what it is there.
    public func undiscoveredShare(afterMicroseconds time: Double) -> Estimate? {
        guard time >= 0 else { return nil }
        var shares = ShareTally()
        for group in bins.indices {
            let total = bins[group].reduce(0, +) + unreached[group]
            guard total > 0 else { continue }
            shares.merge(ShareTally(hits: total - reached(group, within: time), trials: total))
        }
        return shares.estimate
    }

    private func reached(_ group: Int, within time: Double) -> Int {
        var count = 0.0
        for (bin, inside) in bins[group].enumerated() where inside > 0 {
            let range = Self.range(bin)
            guard range.lowerBound < time else { break }
            let share = min(1, (time - range.lowerBound) / (range.upperBound - range.lowerBound))
            count += share * Double(inside)
        }
        return Int(count.rounded())
    }

    /// The latency in µs that `share` of all stay within; nil where fewer were received at all.
    public func percentile(_ share: Double) -> Double? {
        guard share > 0, share < 1, samples > 0 else { return nil }
        let wanted = share * Double(samples)
        var count = 0.0
        for bin in 0..<(bins.map(\.count).max() ?? 0) {
            let inside = Double(bins.reduce(0) { $0 + (bin < $1.count ? $1[bin] : 0) })
            if inside > 0, count + inside >= wanted {
                let range = Self.range(bin)
                return range.lowerBound + (range.upperBound - range.lowerBound) * (wanted - count) / inside
            }
            count += inside
        }
        return nil
    }

    /// The 95 % confidence interval of a percentile: the latencies whose own shares are as far away as the share at the
    /// percentile is unsure (Woodruff's interval). nil where one end lies beyond the horizon.
    public func percentileConfidence95(_ share: Double) -> ClosedRange<Double>? {
        guard let middle = percentile(share), let estimate = undiscoveredShare(afterMicroseconds: middle) else {
            return nil
        }
        let width = estimate.halfWidth95
        guard let upper = percentile(share + width) else { return nil }
        let lower = percentile(share - width) ?? 0
        return lower <= upper ? lower...upper : nil
    }

    // Bins are one unit wide below 1024 units; above, each doubling has 512.

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
