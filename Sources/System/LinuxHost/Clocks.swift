internal import CLinux
public import Configuration
internal import Glibc
internal import SystemPackage

/// CLOCK_MONOTONIC: a clock that is never set back, and stops while the machine sleeps.
public enum MonotonicClock {
    /// Returns nanoseconds since an arbitrary moment.
    public static func nanoseconds() -> UInt64 {
        var time = timespec()
        _ = unsafe clock_gettime(CLOCK_MONOTONIC, &time)
        return UInt64(time.tv_sec) * 1_000_000_000 + UInt64(time.tv_nsec)
    }
}

/// CLOCK_REALTIME: the time of day, which can be set back.
public enum WallClock {
    /// Returns microseconds since 1970-01-01T00:00:00Z.
    public static func microseconds() -> Int64 {
        var time = timespec()
        _ = unsafe clock_gettime(CLOCK_REALTIME, &time)
        return Int64(time.tv_sec) * 1_000_000 + Int64(time.tv_nsec) / 1000
    }
}

extension RFC3339Time {
    /// The time of the wall clock, in whole seconds.
    public static var now: RFC3339Time { RFC3339Time(secondsSince1970: Int(WallClock.microseconds() / 1_000_000)) }
}

/// CLOCK_BOOTTIME: a clock that is never set back, and continues while the machine sleeps.
public enum BootClock {
    /// Returns nanoseconds since the machine started.
    public static func nanoseconds() -> UInt64 {
        var time = timespec()
        _ = unsafe clock_gettime(CLOCK_BOOTTIME, &time)
        return UInt64(time.tv_sec) * 1_000_000_000 + UInt64(time.tv_nsec)
    }
}

extension WallClock {
    /// The synchronisation of the wall clock with a source of the correct time.
    public enum Synchronization: Sendable {
        /// NTP or another program keeps the clock correct.
        case synchronized
        /// The clock may be wrong by years, for example after a start without a battery-backed clock.
        case unsynchronized
        /// The system call is forbidden, for example in a service with `ProtectClock=yes`.
        case unknown
    }

    /// Returns the synchronisation of the clock according to the kernel (adjtimex(2)) and to the file that
    /// systemd-timesyncd touches.
    ///
    /// - Parameter root: The path of the root directory, empty for `/`. Tests use another directory.
    public static func synchronization(root: String = "") -> Synchronization {
        synchronization(kernel: pharos_clock_is_unsynchronised(), root: root)
    }

    /// Returns the synchronisation of the clock for a given answer of the kernel.
    ///
    /// - Parameter kernel: The answer of the kernel: 0 if the clock is synchronised, 1 if it is not, -1 if the system
    ///   call is forbidden.
    static func synchronization(kernel: Int32, root: String) -> Synchronization {
        if kernel == 0 || isSynchronizedByTimesyncd(root) { return .synchronized }
        return kernel < 0 ? .unknown : .unsynchronized
    }

    /// True if systemd-timesyncd has synchronised the clock. It touches a file after each answer of a time server, at
    /// least once in 35 minutes. If the file's time differs from the present time by a day or more, another program has
    /// set the clock since then.
    private static func isSynchronizedByTimesyncd(_ root: String) -> Bool {
        guard let touchedAt = Files.modificationTime(root + "/run/systemd/timesync/synchronized") else { return false }
        return abs(Int(microseconds() / 1_000_000) - touchedAt) < 86_400
    }
}

/// Measures how long the machine has slept, by comparing ``BootClock`` with ``MonotonicClock``.
public struct SuspendDetector: Hashable, Sendable {
    /// The times of both clocks at one moment.
    public struct Reading: Hashable, Sendable {
        /// The time of ``MonotonicClock`` in nanoseconds.
        public let monotonic: UInt64
        /// The time of ``BootClock`` in nanoseconds.
        public let boot: UInt64

        /// Creates a reading from the times of both clocks in nanoseconds.
        public init(monotonic: UInt64, boot: UInt64) {
            self.monotonic = monotonic
            self.boot = boot
        }

        /// Reads both clocks.
        public static func now() -> Reading {
            // A delay between the two calls looks like sleep, but it is much shorter than `threshold`.
            let monotonic = MonotonicClock.nanoseconds()
            return Reading(monotonic: monotonic, boot: BootClock.nanoseconds())
        }
    }

    /// The shortest sleep that is detected, in nanoseconds.
    public static let threshold: UInt64 = 100_000_000

    private var lastReading: Reading

    /// Measures sleep from `reading` on.
    public init(_ reading: Reading) {
        lastReading = reading
    }

    /// Returns how long the machine has slept between the previous reading and this one, in nanoseconds; `nil` if it
    /// has not slept.
    public mutating func sleep(until reading: Reading) -> UInt64? {
        let (oldOffset, newOffset) = (Self.offset(lastReading), Self.offset(reading))
        lastReading = reading
        guard newOffset > oldOffset, newOffset - oldOffset >= Self.threshold else { return nil }
        return newOffset - oldOffset
    }

    /// The time that the machine has slept since its start, in nanoseconds.
    private static func offset(_ reading: Reading) -> UInt64 {
        reading.boot > reading.monotonic ? reading.boot - reading.monotonic : 0
    }
}

/// Detects that the wall clock was set, and measures by how much, by comparing it with ``BootClock``. Gradual
/// corrections of the clock (adjtime(3)) are not detected.
public struct WallClockSteps: Hashable, Sendable {
    /// The times of both clocks at one moment.
    public struct Reading: Hashable, Sendable {
        /// The time of ``WallClock`` in microseconds since 1970.
        public let wall: Int64
        /// The time of ``BootClock`` in nanoseconds.
        public let boot: UInt64

        /// Creates a reading from the times of both clocks.
        public init(wall: Int64, boot: UInt64) {
            self.wall = wall
            self.boot = boot
        }

        /// Reads both clocks.
        public static func now() -> Reading {
            Reading(wall: WallClock.microseconds(), boot: BootClock.nanoseconds())
        }

        /// The start time of the machine according to the wall clock, in microseconds since 1970.
        public var start: Int64 { wall - Int64(clamping: boot / 1000) }
    }

    /// The smallest step that is detected, in microseconds.
    public static let threshold: Int64 = 500_000

    /// The last reading.
    public private(set) var last: Reading

    /// Measures steps from `reading` on.
    public init(_ reading: Reading) { last = reading }

    /// Returns by how much the wall clock was set between the previous reading and this one, in microseconds, negative
    /// if it was set back; `nil` if it was not set.
    public mutating func step(until reading: Reading) -> Int64? {
        let step = reading.start - last.start
        last = reading
        return abs(step) >= Self.threshold ? step : nil
    }
}

/// A descriptor that becomes readable when the wall clock is set and when the machine wakes from sleep.
public final class ClockChangeDescriptor: Sendable {
    /// The descriptor to poll for reading. When it is readable, call ``take()``.
    public let descriptor: Descriptor

    /// Starts to watch the clock (timerfd_create(2) with TFD_TIMER_CANCEL_ON_SET).
    public init() throws(SystemError) {
        descriptor = Descriptor(owning: try retryingInterrupts("timerfd_create") { pharos_clock_watch_open() })
        try arm()
    }

    /// Returns true if the clock was set or the machine woke from sleep since the last call.
    public func take() throws(SystemError) -> Bool {
        do throws(SystemError) {
            _ = try descriptor.read(upTo: 8)
        } catch {
            guard error.errno == .canceled else {
                if error.errno == .wouldBlock { return false }
                throw error
            }
        }
        try arm()
        return true
    }

    private func arm() throws(SystemError) {
        try retryingInterrupts("timerfd_settime") { pharos_clock_watch_arm(descriptor.number) }
    }
}
