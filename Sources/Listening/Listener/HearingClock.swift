public import Configuration
internal import HCI
internal import LinuxHost
public import Sightings
internal import Synchronization

/// Converts the moments of a ``SightingSource`` into wall clock times, with the clock of this machine or of a
/// recording.
public final class HearingClock: Sendable {
    private let recording = Mutex<RecordingClock?>(nil)
    /// The wall clock minus the boot clock. It is kept while it changes by less than ``tolerance``.
    private let wallMinusBootMicroseconds = Mutex<Int64?>(nil)
    /// The last text of ``prefix(_:)``, with its second since 1970.
    private let lastPrefix = Mutex((second: Int.min, prefix: ""))

    /// Creates the clock of this machine.
    public init() {}

    /// Uses the clock of a recording from now on.
    public func follow(_ clock: RecordingClock) { recording.withLock { $0 = clock } }

    /// Returns the time in microseconds since 1970, by the current setting of the wall clock; `nil` if a recording has
    /// no times.
    public func unixMicroseconds(at instant: HeardInstant) -> Int64? {
        recording.withLock { clock in
            if let clock { return clock.unixMicroseconds(at: instant) }
            let now = Int64(Self.machineNow.nanoseconds / 1000)
            let measured = Int64(WallClock.microseconds()) - now
            return Int64(instant.nanoseconds / 1000) + steadyWallMinusBoot(measured)
        }
    }

    /// Returns the difference that was measured before, unless `measured` differs from it by ``tolerance`` or more. So
    /// the same moment always has the same time, although the two clocks cannot be read at the same instant.
    private func steadyWallMinusBoot(_ measured: Int64) -> Int64 {
        wallMinusBootMicroseconds.withLock { difference in
            if let former = difference, abs(former - measured) < Self.tolerance { return former }
            difference = measured
            return measured
        }
    }

    /// The smallest change of ``wallMinusBootMicroseconds`` that counts, in microseconds. A smaller change occurs
    /// because the two clocks are read one after the other.
    private static let tolerance: Int64 = 1000

    /// Returns the time as RFC 3339 text with microseconds; `nil` if a recording has no times.
    public func text(_ instant: HeardInstant) -> String? {
        unixMicroseconds(at: instant).map { time in
            let (quotient, remainder) = Int(time).quotientAndRemainder(dividingBy: 1_000_000)
            let second = remainder < 0 ? quotient - 1 : quotient
            let fraction = String(1_000_000 + (remainder < 0 ? remainder + 1_000_000 : remainder)).utf8.dropFirst()
            return prefix(second) + String(decoding: fraction, as: UTF8.self) + "Z"
        }
    }

    /// Returns the text of a second, up to the decimal point. The last text is stored, because successive events often
    /// have the same second.
    private func prefix(_ second: Int) -> String {
        lastPrefix.withLock { last in
            if last.second != second {
                let whole = RFC3339Time(secondsSince1970: second).description.utf8.dropLast()
                last = (second, String(decoding: whole, as: UTF8.self) + ".")
            }
            return last.prefix
        }
    }

    /// Returns the time as a JSON string, or null.
    public func json(_ instant: HeardInstant?) -> JSONValue { .optional(instant.flatMap(text), JSONValue.string) }

    /// The current moment of a live source: the time since the machine started, including the time that the machine was
    /// suspended. So a live source and a recording, which has only wall clock times, show the same pauses.
    public static var machineNow: HeardInstant { HeardInstant(nanoseconds: BootClock.nanoseconds()) }
}

/// Converts between the clock of HCI sessions, which stops while the machine is suspended, and
/// ``HearingClock/machineNow``.
struct SessionClock {
    private var suspends: SuspendDetector
    /// The boot clock minus the monotonic clock.
    private var bootMinusMonotonicNanoseconds: UInt64

    init(_ reading: SuspendDetector.Reading = .now()) {
        suspends = SuspendDetector(reading)
        bootMinusMonotonicNanoseconds = reading.boot > reading.monotonic ? reading.boot - reading.monotonic : 0
    }

    /// Adds the time that the machine was suspended since the last call.
    mutating func update(_ reading: SuspendDetector.Reading = .now()) {
        bootMinusMonotonicNanoseconds += suspends.sleep(until: reading) ?? 0
    }

    /// Converts a time of the session to a moment of ``HearingClock/machineNow``.
    func heard(_ instant: HCIInstant) -> HeardInstant {
        HeardInstant(nanoseconds: instant.nanoseconds + bootMinusMonotonicNanoseconds)
    }

    /// Converts a moment of ``HearingClock/machineNow`` to a time of the session.
    func session(_ instant: HeardInstant) -> HCIInstant {
        let difference = bootMinusMonotonicNanoseconds
        return HCIInstant(nanoseconds: instant.nanoseconds > difference ? instant.nanoseconds - difference : 0)
    }
}
