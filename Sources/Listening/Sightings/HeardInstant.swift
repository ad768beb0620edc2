/// A moment on the clock of whoever listens: nanoseconds that never go back. Live it is the machine's time since boot,
/// of a recording the time since its first packet.
///
/// Durations are microseconds, as whole numbers.
public struct HeardInstant: Hashable, Comparable, Sendable {
    /// From the clock's start; 0 or more.
    public let nanoseconds: UInt64

    /// A moment that many nanoseconds from the clock's start.
    public init(nanoseconds: UInt64) {
        self.nanoseconds = nanoseconds
    }

    /// Later by `microseconds`; never earlier, and at most the end of 63 bits.
    public func advanced(byMicroseconds microseconds: Int) -> HeardInstant {
        let (step, overflow) = UInt64(max(0, microseconds)).multipliedReportingOverflow(by: 1000)
        let (sum, overrun) = nanoseconds.addingReportingOverflow(step)
        guard !overflow, !overrun, sum <= UInt64(Int64.max) else {
            return max(self, HeardInstant(nanoseconds: UInt64(Int64.max)))
        }
        return HeardInstant(nanoseconds: sum)
    }

    /// Whole microseconds since `earlier`; 0 when that is later.
    public func microseconds(since earlier: HeardInstant) -> Int {
        nanoseconds > earlier.nanoseconds ? Int(clamping: (nanoseconds - earlier.nanoseconds) / 1000) : 0
    }

    /// Whether `left` comes before `right`.
    public static func < (left: Self, right: Self) -> Bool { left.nanoseconds < right.nanoseconds }
}

/// The clock of a recording: makes moments that never go back from the wall clock times of its packets.
///
/// A wall clock that is set back while recording lets no time pass, and one that jumps ahead lets at most
/// ``longestStepMicroseconds`` pass: otherwise a single packet of a broken file would stand for centuries of silence.
public struct RecordingClock: Sendable {
    /// One hour.
    public static let longestStepMicroseconds = 3_600_000_000

    /// Packets whose time was before that of the packet ahead of them, or too far behind it.
    public private(set) var steps = 0
    /// The moment of the last packet.
    public private(set) var now = HeardInstant(nanoseconds: 0)
    private var unixMicroseconds: Int64?

    /// A clock that starts with the first packet that has a time.
    public init() {}

    /// The moment of the next packet, which was recorded at `time`, in microseconds since 1970; where the recording
    /// does not tell, no time passes.
    public mutating func instant(unixMicroseconds time: Int64?) -> HeardInstant {
        guard let time else { return now }
        if let last = unixMicroseconds {
            let (step, overflow) = time.subtractingReportingOverflow(last)
            let elapsed = overflow ? (time < last ? -1 : Int64.max) : step
            if elapsed < 0 || elapsed > Int64(Self.longestStepMicroseconds) { steps += 1 }
            now = now.advanced(byMicroseconds: min(Int(clamping: elapsed), Self.longestStepMicroseconds))
        }
        unixMicroseconds = time
        return now
    }

    /// What the wall clock showed at `instant`, in microseconds since 1970, by the last packet; `nil` before the first
    /// one that has a time.
    public func unixMicroseconds(at instant: HeardInstant) -> Int64? {
        guard let unixMicroseconds else { return nil }
        return instant <= now
            ? unixMicroseconds &- Int64(now.microseconds(since: instant))
            : unixMicroseconds &+ Int64(instant.microseconds(since: now))
    }
}
