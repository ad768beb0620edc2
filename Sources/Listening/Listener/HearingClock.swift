public import Configuration
internal import LinuxHost
public import Sightings
internal import Synchronization

/// What the wall clock shows at a moment of a ``SightingSource``: the machine's own, or that of a recording.
public final class HearingClock: Sendable {
    private let recording = Mutex<RecordingClock?>(nil)
    /// What the wall clock was ahead of this machine's own, in microseconds, as far as that has not moved.
    private let offset = Mutex<Int64?>(nil)
    private let written = Mutex((second: Int.min, prefix: ""))

    /// The machine's own.
    public init() {}

    /// From now on the moments are those of a recording.
    public func follow(_ clock: RecordingClock) { recording.withLock { $0 = clock } }

    /// Microseconds since 1970, by the wall clock as it stands now; `nil` where a recording has not told.
    public func unixMicroseconds(at instant: HeardInstant) -> Int64? {
        recording.withLock { clock in
            if let clock { return clock.unixMicroseconds(at: instant) }
            let now = Int64(Self.machine.nanoseconds / 1000)
            return Int64(instant.nanoseconds / 1000) + offset(Int64(WallClock.microseconds()) - now)
        }
    }

    /// The same moment is always told by the same time: the two clocks cannot be read at once.
    private func offset(_ found: Int64) -> Int64 {
        offset.withLock { offset in
            if let known = offset, abs(known - found) < Self.tolerance { return known }
            offset = found
            return found
        }
    }

    /// By less the two clocks are not set apart, in microseconds.
    private static let tolerance: Int64 = 1000

    /// RFC 3339 with microseconds; `nil` where a recording does not tell.
    public func text(_ instant: HeardInstant) -> String? {
        unixMicroseconds(at: instant).map { time in
            let (quotient, remainder) = Int(time).quotientAndRemainder(dividingBy: 1_000_000)
            let second = remainder < 0 ? quotient - 1 : quotient
            let fraction = String(1_000_000 + (remainder < 0 ? remainder + 1_000_000 : remainder)).utf8.dropFirst()
            return prefix(second) + String(decoding: fraction, as: UTF8.self) + "Z"
        }
    }

    /// Up to the decimal point of the seconds. Of what is told together most is of the same second.
    private func prefix(_ second: Int) -> String {
        written.withLock { written in
            if written.second != second {
                let whole = RFC3339Time(secondsSince1970: second).description.utf8.dropLast()
                written = (second, String(decoding: whole, as: UTF8.self) + ".")
            }
            return written.prefix
        }
    }

    /// The same as a JSON string, or null.
    public func json(_ instant: HeardInstant?) -> JSONValue { .optional(instant.flatMap(text), JSONValue.string) }

    /// This moment, live: time since boot, without the time that the machine has slept.
    static var machine: HeardInstant { HeardInstant(nanoseconds: MonotonicClock.nanoseconds()) }
}
