internal import Sightings

/// What is received from a beacon: with all its identities, or only with those that prove it.
struct BeaconTracker: Sendable {
    let beacon: Int
    let needsProof: Bool
    /// The beacon's positions in the sighting table, one for each identity.
    let tracks: [Int]
    /// The beacon's memberships of zones.
    var members: [Int] = []
    var window = MedianWindow()
    var proof = EphemeralIDProof()
    /// The track that was last proven, and when, in listened time.
    var proven: (track: Int, received: Int)?
    /// The number of restarts of the receiver when a report last arrived; `nil` before the first one of this run.
    var restarts: Int?
    /// The last median that was judged: in dBm, and relative to 1 m in dB.
    var last: (level: Double, gain: Double?)?
}

/// The levels of a beacon's last events, at most 64 of them.
struct MedianWindow: Sendable {
    static let capacity = 64
    /// Stands for a level relative to 1 m if the beacon's power is not known.
    private static let noGain = Int8.min

    // A ring of fixed size, because it is written and sorted for each report of each beacon.
    private var times = InlineArray<64, Int>(repeating: 0)
    private var levels = InlineArray<64, Int8>(repeating: 0)
    private var gains = InlineArray<64, Int8>(repeating: 0)
    private var next = 0
    private var filled = 0

    /// The medians of a window.
    struct Median: Sendable {
        let count: Int
        /// In dBm.
        let level: Double
        /// Relative to 1 m, in dB; `nil` if less than half of the reports had a known power.
        let gain: Double?
    }

    /// Adds a level in dBm.
    ///
    /// - Parameter power: The level at 1 m, in dBm.
    mutating func add(_ level: Int8, power: Int?, at now: Int) {
        times[next] = now
        levels[next] = level
        gains[next] = power.map { Int8(clamping: max(-127, Int(level) - $0)) } ?? Self.noGain
        next = (next + 1) % Self.capacity
        filled = min(filled + 1, Self.capacity)
    }

    mutating func removeAll() { filled = 0 }

    /// The medians of the levels from `start` on; `nil` if there are none.
    func median(since start: Int) -> Median? {
        var sortedLevels = InlineArray<64, Int8>(repeating: 0)
        var sortedGains = InlineArray<64, Int8>(repeating: 0)
        var count = 0
        var gainCount = 0
        let (times, levels, gains) = (times.span, levels.span, gains.span)
        var position = next
        while count < filled {
            position = position == 0 ? Self.capacity - 1 : position - 1
            guard times[position] >= start else { break }
            Self.insert(levels[position], into: &sortedLevels, count)
            count += 1
            if gains[position] != Self.noGain {
                Self.insert(gains[position], into: &sortedGains, gainCount)
                gainCount += 1
            }
        }
        guard count > 0 else { return nil }
        return Median(
            count: count, level: Self.middle(sortedLevels.span, count),
            gain: gainCount * 2 > count ? Self.middle(sortedGains.span, gainCount) : nil)
    }

    /// The number of levels from which the deviation is estimated.
    private static let needed = 8
    /// The deviation that is assumed before, and the least one, because levels are whole numbers; in dB.
    private static let (usualDeviation, leastDeviation) = (4.0, 1.0)

    /// The variance of a median of this window, in dB².
    func variance(of median: Median) -> Double {
        let deviation = deviation
        // The median of normal values varies by π/2 more than their mean.
        return 1.57 * deviation * deviation / Double(median.count)
    }

    /// The standard deviation of the levels at one place, in dB. It is estimated from the differences between successive
    /// levels, so a beacon that moves does not enlarge it.
    private var deviation: Double {
        guard filled >= Self.needed else { return Self.usualDeviation }
        let levels = levels.span
        var sum = 0
        var position = (next + Self.capacity - filled) % Self.capacity
        for _ in 1..<filled {
            let following = (position + 1) % Self.capacity
            sum += abs(Int(levels[following]) - Int(levels[position]))
            position = following
        }
        // The mean difference of two normal values is 2/√π deviations.
        return max(Self.leastDeviation, 0.886 * Double(sum) / Double(filled - 1))
    }

    private static func insert(_ value: Int8, into sorted: inout InlineArray<64, Int8>, _ count: Int) {
        var free = count
        while free > 0, case let before = sorted.span[free - 1], before > value {
            sorted[free] = before
            free -= 1
        }
        sorted[free] = value
    }

    private static func middle(_ sorted: Span<Int8>, _ count: Int) -> Double {
        (Double(sorted[(count - 1) / 2]) + Double(sorted[count / 2])) / 2
    }
}
