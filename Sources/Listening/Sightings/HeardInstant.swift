/// A moment on the clock of a receiver, in nanoseconds. The clock never goes back. For a live receiver, it counts the
/// time since the machine started; for a recording, the time since the first packet.
///
/// Durations are whole numbers of microseconds.
public struct HeardInstant: Hashable, Comparable, Sendable {
    /// Nanoseconds since the start of the clock.
    public let nanoseconds: UInt64

    /// Creates the moment `nanoseconds` after the start of the clock.
    public init(nanoseconds: UInt64) {
        self.nanoseconds = nanoseconds
    }

    /// Returns the moment `microseconds` later. Negative values count as 0; the result is at most 2^63 - 1 ns.
    public func advanced(byMicroseconds microseconds: Int) -> HeardInstant {
        let (step, overflow) = UInt64(max(0, microseconds)).multipliedReportingOverflow(by: 1000)
        let (sum, overrun) = nanoseconds.addingReportingOverflow(step)
        guard !overflow, !overrun, sum <= UInt64(Int64.max) else {
            return max(self, HeardInstant(nanoseconds: UInt64(Int64.max)))
        }
        return HeardInstant(nanoseconds: sum)
    }

    /// Returns the whole microseconds since `earlier`; 0 if `earlier` is later.
    public func microseconds(since earlier: HeardInstant) -> Int {
        nanoseconds > earlier.nanoseconds ? Int(clamping: (nanoseconds - earlier.nanoseconds) / 1000) : 0
    }

    /// Returns whether `left` is before `right`.
    public static func < (left: Self, right: Self) -> Bool { left.nanoseconds < right.nanoseconds }
}

/// The clock of a recording: converts the wall clock times of packets into moments that never go back.
///
/// If the wall clock was set back during the recording, no time passes. If it jumped ahead, at most
/// ``longestStepMicroseconds`` pass, so that one packet of a broken file cannot cause a silence of centuries.
public struct RecordingClock: Sendable {
    /// The longest step, in microseconds: one hour.
    public static let longestStepMicroseconds = 3_600_000_000
    /// The longest time by which packets can be out of order, in microseconds: 100 ms. Several receivers write into one
    /// recording.
    public static let longestDisorderMicroseconds = 100_000

    /// The number of steps of the wall clock: packets whose time is more than ``longestDisorderMicroseconds`` before
    /// that of the previous packet, or more than ``longestStepMicroseconds`` after it.
    public private(set) var steps = 0
    /// The moment of the last packet.
    public private(set) var now = HeardInstant(nanoseconds: 0)
    /// The wall clock time of the last packet that has one, in microseconds since 1970.
    private var unixMicroseconds: Int64?

    /// Creates a clock that starts with the first packet that has a time.
    public init() {}

    /// Returns the moment of the next packet.
    ///
    /// - Parameter time: The wall clock time of the packet, in microseconds since 1970; `nil` if it is not recorded. No
    ///   time passes then.
    public mutating func instant(unixMicroseconds time: Int64?) -> HeardInstant {
        guard let time else { return now }
        if let last = unixMicroseconds {
            let (step, overflow) = time.subtractingReportingOverflow(last)
            let elapsed = overflow ? (time < last ? Int64.min : Int64.max) : step
            if elapsed < 0, elapsed >= -Int64(Self.longestDisorderMicroseconds) { return now }
            if elapsed < 0 || elapsed > Int64(Self.longestStepMicroseconds) { steps += 1 }
            now = now.advanced(byMicroseconds: min(Int(clamping: elapsed), Self.longestStepMicroseconds))
        }
        unixMicroseconds = time
        return now
    }

    /// Returns the wall clock time at `instant` in microseconds since 1970, derived from the last packet; `nil` before
    /// the first packet that has a time.
    public func unixMicroseconds(at instant: HeardInstant) -> Int64? {
        guard let unixMicroseconds else { return nil }
        return instant <= now
            ? unixMicroseconds &- Int64(now.microseconds(since: instant))
            : unixMicroseconds &+ Int64(instant.microseconds(since: now))
    }
}
