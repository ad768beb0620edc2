internal import Sightings

/// Collects the levels of a beacon's reports. If the zone needs a proof, only reports that prove the beacon's presence
/// count.
struct BeaconTracker: Sendable {
    let beacon: Int
    let needsProof: Bool
    /// The beacon's positions in the sighting table, one for each identity.
    let tracks: [Int]
    /// True if several devices count as the beacon.
    let isGroup: Bool
    /// The indices of the beacon's zone members (``ZoneMember``), one for each zone to which the beacon belongs.
    var members: [Int] = []
    private(set) var levels = DeviceLevels()
    /// The track of an identity that two devices send; `nil` if there is no such track.
    private var clonedTrack: Int?
    var proof = EphemeralIDProof()
    /// The track of the last report that proved the beacon's presence, and the listened time of that report.
    var lastProof: (track: Int, received: Int)?
    /// The value of `ListeningClock/restarts` at the beacon's last report; `nil` before the beacon's first report in
    /// this run.
    var restarts: Int?
    /// The last median that was compared with a zone's bound: the level in dBm, and the level relative to 1 m in dB.
    var lastMedian: (level: Double, gain: Double?)?
}

extension BeaconTracker {
    init(beacon: Int, needsProof: Bool, tracks: [Int], isGroup: Bool) {
        self.beacon = beacon
        self.needsProof = needsProof
        self.tracks = tracks
        self.isGroup = isGroup
    }

    /// Adds a level in dBm. The levels of the devices of a group are stored separately.
    ///
    /// - Parameter power: The level at 1 m, in dBm; `nil` if it is not known or not plausible.
    mutating func add(_ level: Int8, power: Int?, from sender: Sender?, at now: Int) {
        levels.add(level, power: power, from: isGroup ? sender : nil, at: now)
    }

    /// Records whether two devices send the identity of a track.
    mutating func note(isCloned: Bool, of track: Int) {
        if isCloned { clonedTrack = track } else if clonedTrack == track { clonedTrack = nil }
    }

    /// True if two devices send one of the beacon's identities.
    var isCloned: Bool { clonedTrack != nil }

    mutating func forgetLevels() { levels = DeviceLevels() }
}

/// The levels of a beacon, or of each device of a group of devices. Only the device with the highest level counts: if
/// it is inside a zone, the group is inside.
struct DeviceLevels: Sendable {
    /// The number of devices whose levels are kept. A further device replaces the device that was received least
    /// recently.
    static let capacity = 16

    /// For each device, its address, the time at which it was last received, and its levels.
    private var windows: [(sender: Sender?, lastReceived: Int, levels: MedianWindow)] = [(nil, .min, MedianWindow())]

    mutating func add(_ level: Int8, power: Int?, from sender: Sender?, at now: Int) {
        var index = windows.indices.first { windows[$0].sender == sender || windows[$0].lastReceived == .min }
        if index == nil {
            if windows.count < Self.capacity {
                index = windows.count
                windows.append((sender, now, MedianWindow()))
            } else {
                index = windows.indices.min { windows[$0].lastReceived < windows[$1].lastReceived }
                if let index { windows[index].levels.removeAll() }
            }
        }
        guard let index else { return }
        (windows[index].sender, windows[index].lastReceived) = (sender, now)
        windows[index].levels.add(level, power: power, at: now)
    }

    /// Returns the medians of the device with the highest level, computed from its levels since `start`; `nil` if there
    /// are none.
    ///
    /// - Parameter reports: Only devices with at least this number of reports are compared. If there are none, all
    ///   devices are compared.
    func median(since start: Int, reports: Int = 1) -> MedianWindow.Median? {
        windows.count == 1
            ? windows[0].levels.median(since: start) : strongest(since: start, reports: reports)?.median
    }

    /// Returns all kept levels of the device that has the highest level since `start`.
    func window(since start: Int) -> MedianWindow {
        windows[strongest(since: start, reports: 1)?.index ?? 0].levels
    }

    private func strongest(since start: Int, reports: Int) -> (index: Int, median: MedianWindow.Median)? {
        var best: (index: Int, median: MedianWindow.Median)?
        for index in windows.indices {
            guard let median = windows[index].levels.median(since: start) else { continue }
            if let other = best?.median {
                let (hasEnough, otherHasEnough) = (median.count >= reports, other.count >= reports)
                guard hasEnough == otherHasEnough ? median.isStronger(than: other) : hasEnough else { continue }
            }
            best = (index, median)
        }
        return best
    }
}

/// The levels of a device's last events, at most 64 of them.
struct MedianWindow: Sendable {
    static let capacity = 64
    /// The value in `gains` for a report without a known power.
    private static let noGain = Int8.min

    // Buffers of fixed size, because they are written and sorted for each report, and an allocation for each report
    // would take too long.
    private var times = InlineArray<64, Int>(repeating: 0)
    private var levels = InlineArray<64, Int8>(repeating: 0)
    /// The levels relative to the level at 1 m, in dB; `noGain` if the power is not known.
    private var gains = InlineArray<64, Int8>(repeating: 0)
    private var nextIndex = 0
    private var levelCount = 0

    /// The median level of a window, in dBm and relative to 1 m.
    struct Median: Sendable {
        let count: Int
        /// The median level, in dBm.
        let level: Double
        /// The median level relative to 1 m, in dB; `nil` if at most half of the reports had a known power.
        let gain: Double?

        /// Returns true if this median is higher. The levels relative to 1 m are compared if both are known, otherwise
        /// the levels in dBm.
        func isStronger(than other: Median) -> Bool {
            if let gain, let otherGain = other.gain { return gain > otherGain }
            return level > other.level
        }
    }

    /// Adds a level in dBm.
    ///
    /// - Parameter power: The level at 1 m, in dBm.
    mutating func add(_ level: Int8, power: Int?, at now: Int) {
        times[nextIndex] = now
        levels[nextIndex] = level
        gains[nextIndex] = power.map { Int8(clamping: max(-127, Int(level) - $0)) } ?? Self.noGain
        nextIndex = (nextIndex + 1) % Self.capacity
        levelCount = min(levelCount + 1, Self.capacity)
    }

    mutating func removeAll() { levelCount = 0 }

    /// Returns the medians of the levels since `start`; `nil` if there are none.
    func median(since start: Int) -> Median? {
        var sortedLevels = InlineArray<64, Int8>(repeating: 0)
        var sortedGains = InlineArray<64, Int8>(repeating: 0)
        var count = 0
        var gainCount = 0
        let (times, levels, gains) = (times.span, levels.span, gains.span)
        var index = nextIndex
        while count < levelCount {
            index = index == 0 ? Self.capacity - 1 : index - 1
            guard times[index] >= start else { break }
            Self.insert(levels[index], into: &sortedLevels, count)
            count += 1
            if gains[index] != Self.noGain {
                Self.insert(gains[index], into: &sortedGains, gainCount)
                gainCount += 1
            }
        }
        guard count > 0 else { return nil }
        return Median(
            count: count, level: Self.middle(sortedLevels.span, count),
            gain: gainCount * 2 > count ? Self.middle(sortedGains.span, gainCount) : nil)
    }

    /// The smallest number of levels for an estimate of the standard deviation.
    private static let needed = 8
    /// The standard deviation assumed for fewer levels, and the lower limit of an estimated one, in dB. The lower limit
    /// is needed because levels are whole numbers: equal levels do not mean a deviation of 0.
    private static let (usualDeviation, leastDeviation) = (4.0, 1.0)

    /// Returns the variance of a median of this window, in dB².
    func variance(of median: Median) -> Double {
        let deviation = deviation
        // For normally distributed values, the variance of the median is π/2 times the variance of the mean.
        return 1.57 * deviation * deviation / Double(median.count)
    }

    /// The standard deviation in dB of the levels at one place. It is estimated from the differences between successive
    /// levels, so the movement of a beacon hardly changes it.
    private var deviation: Double {
        guard levelCount >= Self.needed else { return Self.usualDeviation }
        let levels = levels.span
        var sum = 0
        var index = (nextIndex + Self.capacity - levelCount) % Self.capacity
        for _ in 1..<levelCount {
            let following = (index + 1) % Self.capacity
            sum += abs(Int(levels[following]) - Int(levels[index]))
            index = following
        }
        // The mean difference of two normally distributed values is 2/√π standard deviations.
        return max(Self.leastDeviation, 0.886 * Double(sum) / Double(levelCount - 1))
    }

    private static func insert(_ value: Int8, into sorted: inout InlineArray<64, Int8>, _ count: Int) {
        var insertionIndex = count
        while insertionIndex > 0, case let before = sorted.span[insertionIndex - 1], before > value {
            sorted[insertionIndex] = before
            insertionIndex -= 1
        }
        sorted[insertionIndex] = value
    }

    private static func middle(_ sorted: Span<Int8>, _ count: Int) -> Double {
        (Double(sorted[(count - 1) / 2]) + Double(sorted[count / 2])) / 2
    }
}
