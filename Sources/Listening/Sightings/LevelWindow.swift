/// The most recent levels, at most ``capacity`` of them.
public struct LevelWindow: Sendable {
    /// The maximum number of levels.
    public static let capacity = 64

    /// The times of the levels, as ``milliseconds(_:)`` returns them. This is a ring buffer, like ``levels``.
    private var times = InlineArray<64, UInt32>(repeating: 0)
    private var levels = InlineArray<64, Int8>(repeating: 0)
    /// The index of the next level.
    private var nextIndex = 0
    /// The number of levels.
    private var filled = 0

    /// Creates a window without levels.
    public init() {}

    /// Adds a level in dBm, if it is in ``LevelTally/range``.
    public mutating func add(_ level: Int8, at instant: HeardInstant) {
        guard LevelTally.range.contains(level) else { return }
        times[nextIndex] = Self.milliseconds(instant)
        levels[nextIndex] = level
        nextIndex = (nextIndex + 1) % Self.capacity
        filled = min(filled + 1, Self.capacity)
    }

    /// Returns the levels of the last `microseconds` before `now`.
    ///
    /// - Parameter microseconds: The length of time, at most 49 days.
    public func tally(over microseconds: Int, until now: HeardInstant) -> LevelTally {
        var tally = LevelTally()
        let end = Self.milliseconds(now)
        let (times, levels) = (times.span, levels.span)
        for index in 0..<filled where Int(end &- times[index]) * 1000 <= microseconds { tally.add(levels[index]) }
        return tally
    }

    /// Returns a time that starts again every 49 days. Only differences are used.
    private static func milliseconds(_ instant: HeardInstant) -> UInt32 {
        UInt32(truncatingIfNeeded: instant.nanoseconds / 1_000_000)
    }
}

/// The strongest level of each of the last 30 s, for a small chart.
public struct LevelTrace: Sendable {
    /// The number of seconds.
    public static let seconds = 30

    /// The strongest level of each second. The index of a second is the second modulo 30.
    private var levels = InlineArray<30, Int8>(repeating: .min)
    /// 1 + the last second with a level; 0 if there is none.
    private var lastSecondPlusOne: UInt64 = 0

    /// Creates a trace without levels.
    public init() {}

    /// Adds a level in dBm, if it is in ``LevelTally/range``.
    public mutating func add(_ level: Int8, at instant: HeardInstant) {
        guard LevelTally.range.contains(level) else { return }
        let second = instant.nanoseconds / 1_000_000_000
        let gap = second + 1 > lastSecondPlusOne ? second + 1 - lastSecondPlusOne : 0
        for step in 0..<min(gap, UInt64(Self.seconds)) { levels[Int((second - step) % UInt64(Self.seconds))] = .min }
        lastSecondPlusOne = max(lastSecondPlusOne, second + 1)
        let index = Int(second % UInt64(Self.seconds))
        if levels.span[index] < level { levels[index] = level }
    }

    /// Returns the strongest level of each second up to `now` in dBm, oldest first; `nil` for a second without levels.
    public func levels(until now: HeardInstant) -> [Int8?] {
        let second = now.nanoseconds / 1_000_000_000
        return (0..<UInt64(Self.seconds)).reversed().map { age in
            guard second >= age, second - age < lastSecondPlusOne,
                lastSecondPlusOne - (second - age) <= UInt64(Self.seconds)
            else { return nil }
            let level = levels.span[Int((second - age) % UInt64(Self.seconds))]
            return level == .min ? nil : level
        }
    }
}
