/// The phases of a scanner's cycle at which an advertising event must start so that one of its three copies is wholly
/// inside a scan window on its channel.
///
/// The cycle is one scan interval on each channel. Times are in µs from the start of the first window.
struct ScannerCycle: Sendable {
    let length: Double
    /// The covered phases: disjoint ranges in ascending order, within 0...length.
    let covered: [Range<Double>]
    /// The share of all phases that are covered, 0...1.
    let share: Double

    /// The event starts with the copy on the first channel. Copy number `c` starts `c` copy spacings later, and must be
    /// wholly inside the window on its channel. `gap` is the part of each window that the scanner loses at its start.
    init(pattern: ScanPattern, airtime: Double, copySpacing: Double, gap: Double) {
        let interval = Double(pattern.intervalMicroseconds)
        let channels = pattern.channelCount
        length = Double(channels) * interval
        if channels == 1, pattern.windowMicroseconds >= pattern.intervalMicroseconds, gap == 0 {
            covered = [0..<length]
            share = 1
            return
        }
        let width = Double(pattern.windowMicroseconds) - gap - airtime
        var parts: [Range<Double>] = []
        for channel in 0..<channels where width > 0 {
            let position = (Double(channel) * (interval - copySpacing) + gap).truncatingRemainder(dividingBy: length)
            let start = position < 0 ? position + length : position
            parts.append(start..<min(start + width, length))
            // The part beyond the end of the cycle continues at the beginning of the cycle.
            if start + width > length { parts.append(0..<start + width - length) }
        }
        var joined: [Range<Double>] = []
        for part in parts.sorted(by: { $0.lowerBound < $1.lowerBound }) {
            if let last = joined.last, part.lowerBound <= last.upperBound {
                joined[joined.count - 1] = last.lowerBound..<max(last.upperBound, part.upperBound)
            } else {
                joined.append(part)
            }
        }
        covered = joined
        share = joined.reduce(0) { $0 + $1.upperBound - $1.lowerBound } / length
    }

    /// Returns true if an event that starts at this time is covered; the time may be in any later cycle.
    func covers(_ time: Double) -> Bool {
        let phase = time - (time / length).rounded(.down) * length
        return covered.contains { $0.contains(phase) }
    }

    /// The covered share of each of `count` equal cells of the cycle.
    func shares(ofCells count: Int) -> [Double] {
        let cell = length / Double(count)
        var shares = Array(repeating: 0.0, count: count)
        for part in covered {
            let first = Int(part.lowerBound / cell)
            let last = min(count - 1, Int(part.upperBound / cell))
            for index in first...max(first, last) where index < count {
                let low = max(part.lowerBound, Double(index) * cell)
                let high = min(part.upperBound, Double(index + 1) * cell)
                shares[index] += max(0, high - low) / cell
            }
        }
        return shares
    }
}
