/// The levels of the last seconds: RSSI over a window that slides. Of a fixed size: of more than ``capacity`` levels the
/// newest are kept.
public struct LevelWindow: Sendable {
    /// Levels that are kept.
    public static let capacity = 64

    private var times = InlineArray<64, UInt32>(repeating: 0)
    private var levels = InlineArray<64, Int8>(repeating: 0)
    private var next = 0
    private var filled = 0

    /// Nothing heard.
    public init() {}

    /// Takes a level, in dBm, unless it lies outside ``LevelTally/range``.
    public mutating func add(_ level: Int8, at instant: HeardInstant) {
        guard LevelTally.range.contains(level) else { return }
        times[next] = Self.milliseconds(instant)
        levels[next] = level
        next = (next + 1) % Self.capacity
        filled = min(filled + 1, Self.capacity)
    }

    /// The levels of the last `microseconds` before `now`, at most 49 days, those at its start included.
    public func tally(over microseconds: Int, until now: HeardInstant) -> LevelTally {
        var tally = LevelTally()
        let end = Self.milliseconds(now)
        let (times, levels) = (times.span, levels.span)
        for place in 0..<filled where Int(end &- times[place]) * 1000 <= microseconds { tally.add(levels[place]) }
        return tally
    }

    /// Of a clock that starts anew every 49 days: only differences are of interest.
    private static func milliseconds(_ instant: HeardInstant) -> UInt32 {
        UInt32(truncatingIfNeeded: instant.nanoseconds / 1_000_000)
    }
}

/// The strongest level of each of the last 30 seconds, for a small picture.
public struct LevelTrace: Sendable {
    /// Seconds that are kept.
    public static let seconds = 30

    private var levels = InlineArray<30, Int8>(repeating: .min)
    private var last: UInt64 = 0

    /// Nothing heard.
    public init() {}

    /// Takes a level, in dBm, unless it lies outside ``LevelTally/range``.
    public mutating func add(_ level: Int8, at instant: HeardInstant) {
        guard LevelTally.range.contains(level) else { return }
        let second = instant.nanoseconds / 1_000_000_000
        // The second itself is counted from 1, so that 0 is before all.
        let gap = second + 1 > last ? second + 1 - last : 0
        for step in 0..<min(gap, UInt64(Self.seconds)) { levels[Int((second - step) % UInt64(Self.seconds))] = .min }
        last = max(last, second + 1)
        let place = Int(second % UInt64(Self.seconds))
        if levels.span[place] < level { levels[place] = level }
    }

    /// The strongest level in dBm of each second up to that of `now`, oldest first; `nil` where nothing was heard.
    public func levels(until now: HeardInstant) -> [Int8?] {
        let second = now.nanoseconds / 1_000_000_000
        return (0..<UInt64(Self.seconds)).reversed().map { age in
            guard second >= age, second - age < last, last - (second - age) <= UInt64(Self.seconds) else { return nil }
            let level = levels.span[Int((second - age) % UInt64(Self.seconds))]
            return level == .min ? nil : level
        }
    }
}
