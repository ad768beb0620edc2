/// The time between the starts of one box's copies on channels 37, 38 and 39: c, the same twice in an
/// event, and uniform over a range from one box to the next.
///
/// Chips differ: from tau + 150 µs up to 10 ms. Core Specification 5.4, Vol 6 Part B 4.4.2.3.
public struct CopySpacing: Hashable, Sendable {
    /// The smallest c in µs.
    public let lowMicroseconds: Double
    /// The largest c in µs; equal to the smallest for identical firmware.
    public let highMicroseconds: Double

    /// The longest time between the starts of two copies, in µs.
    public static let maximumMicroseconds = 10_000.0

    /// Throws for spacings outside 0...10 ms, and a range whose end lies before its start.
    public init(lowMicroseconds: Double, highMicroseconds: Double) throws(AirtimeError) {
        for value in [lowMicroseconds, highMicroseconds] where !(value >= 0 && value <= Self.maximumMicroseconds) {
            throw .quantity(name: "a spacing of the three copies (0...10 000 µs)", value: value)
        }
        guard lowMicroseconds <= highMicroseconds else {
            throw .quantity(name: "a spacing's upper end below its lower end", value: highMicroseconds)
        }
        self.lowMicroseconds = lowMicroseconds
        self.highMicroseconds = highMicroseconds
    }

    /// Identical firmware: every box has the same c, in µs.
    public init(identicalMicroseconds: Double) throws(AirtimeError) {
        try self.init(lowMicroseconds: identicalMicroseconds, highMicroseconds: identicalMicroseconds)
    }

    /// The mean over all boxes of min(k·|c - own|, `limit`), k = `multiple`: how far a box's windows lie apart,
    /// as long as they overlap.
    func meanSeparation(from own: Double, multiple: Double, limit: Double) -> Double {
        let width = highMicroseconds - lowMicroseconds
        guard width > 0 else { return min(multiple * abs(own - lowMicroseconds), limit) }
        /// ∫ min(t, limit) dt over 0...`end`.
        func integral(_ end: Double) -> Double {
            end <= limit ? end * end / 2 : limit * end - limit * limit / 2
        }
        let below = integral(multiple * (own - lowMicroseconds))
        let above = integral(multiple * (highMicroseconds - own))
        return (below + above) / (multiple * width)
    }
}

/// The times at which one box's copies on channels 37, 38 and 39 start, in µs after the start of its event: measured
/// values in place of the range of spacings of ``AnyOfThreeModel``.
public struct CopyOffsets: Hashable, Sendable {
    /// Channel 37, 38, 39.
    public let microseconds: [Double]

    /// Throws for offsets outside 0...20 ms.
    public init(_ first: Double, _ second: Double, _ third: Double) throws(AirtimeError) {
        for value in [first, second, third] where !(value >= 0 && value <= 2 * CopySpacing.maximumMicroseconds) {
            throw .quantity(name: "an offset of a copy (0...20 000 µs)", value: value)
        }
        microseconds = [first, second, third]
    }

    /// Equal boxes that disturb the target box: their group, the target box not counted, and their offsets.
    public struct Interferers: Hashable, Sendable {
        public let group: AdvertiserGroup
        public let offsets: CopyOffsets

        public init(_ group: AdvertiserGroup, offsets: CopyOffsets) {
            self.group = group
            self.offsets = offsets
        }
    }

    /// The probability that at least one of this box's copies, of `airtime` µs, is clear among `others`. Exact.
    ///
    /// Throws for an airtime that is no positive number, and interferers whose windows together outlast their interval.
    public func atLeastOneProbability(
        airtimeMicroseconds airtime: Double, among others: [Interferers], background: BackgroundLoad = .none
    ) throws(AirtimeError) -> Double {
        guard airtime > 0, airtime.isFinite else { throw .airtime(airtime) }
        let strangers = background.logClearProbability(forPacketOf: airtime)
        var total = 0.0
        for set in 1..<8 {
            let channels = (0..<3).filter { set >> $0 & 1 == 1 }
            var sum = Double(channels.count) * strangers
            for other in others where other.group.count > 0 {
                let windows = channels.map { channel in
                    let shift = microseconds[channel] - other.offsets.microseconds[channel]
                    return (from: shift - other.group.airtimeMicroseconds, to: shift + airtime)
                }
                let (length, span) = Self.union(windows)
                guard other.group.intervalMicroseconds >= span else {
                    throw .saturated(
                        intervalMicroseconds: other.group.intervalMicroseconds, windowMicroseconds: span)
                }
                sum += Double(other.group.count) * log1p(-length / other.group.meanPeriodMicroseconds)
            }
            total += (channels.count == 2 ? -1 : 1) * exp(sum)
        }
        return min(1, max(0, total))
    }

    /// Length of the union of intervals, and from the first start to the last end.
    private static func union(_ windows: [(from: Double, to: Double)]) -> (length: Double, span: Double) {
        var length = 0.0
        var reached = -Double.infinity
        var start = Double.infinity
        for window in windows.sorted(by: { $0.from < $1.from }) {
            start = min(start, window.from)
            length += max(0, window.to - max(window.from, reached))
            reached = max(reached, window.to)
        }
        return (length, reached - start)
    }
}
