internal import CLinux
internal import Glibc

/// CLOCK_MONOTONIC: never set back, stands still while the machine sleeps.
public enum MonotonicClock {
    /// Nanoseconds since some start.
    public static func nanoseconds() -> UInt64 {
        var time = timespec()
        _ = unsafe clock_gettime(CLOCK_MONOTONIC, &time)
        return UInt64(time.tv_sec) * 1_000_000_000 + UInt64(time.tv_nsec)
    }
}

/// CLOCK_REALTIME: what the wall shows.
public enum WallClock {
    /// Microseconds since 1970-01-01T00:00:00Z.
    public static func microseconds() -> Int64 {
        var time = timespec()
        _ = unsafe clock_gettime(CLOCK_REALTIME, &time)
        return Int64(time.tv_sec) * 1_000_000 + Int64(time.tv_nsec) / 1000
    }
}

/// CLOCK_BOOTTIME: never set back, and runs on while the machine sleeps.
public enum BootClock {
    /// Nanoseconds since the machine started.
    public static func nanoseconds() -> UInt64 {
        var time = timespec()
        _ = unsafe clock_gettime(CLOCK_BOOTTIME, &time)
        return UInt64(time.tv_sec) * 1_000_000_000 + UInt64(time.tv_nsec)
    }
}

extension WallClock {
    /// The quality of the wall clock.
    public enum Synchronization: Sendable {
        /// NTP or another program keeps the clock right.
        case synchronized
        /// The clock may be years off, for example after a start without a battery-backed clock.
        case unsynchronized
        /// The system call is forbidden, for example in a service with `ProtectClock=yes`.
        case unknown
    }

    /// Asks the kernel (adjtimex(2)), and looks at the file that systemd-timesyncd touches.
    ///
    /// - Parameter root: The root of the file system. Tests use another one.
    public static func synchronization(root: String = "") -> Synchronization {
        synchronization(kernel: pharos_clock_is_unsynchronised(), root: root)
    }

    /// - Parameter kernel: 0 for a synchronised clock, 1 for another one, -1 if the system call is forbidden.
    static func synchronization(kernel: Int32, root: String) -> Synchronization {
        if kernel == 0 || timesyncdIsDone(root) { return .synchronized }
        return kernel < 0 ? .unknown : .unsynchronized
    }

    /// timesyncd touches its file after each answer of its server, at least every 35 minutes. If that time lies more than
    /// a day from now, in the past or in the future, the clock was set by something else since.
    private static func timesyncdIsDone(_ root: String) -> Bool {
        guard let touched = Files.modificationTime(root + "/run/systemd/timesync/synchronized") else { return false }
        return abs(Int(microseconds() / 1_000_000) - touched) < 86_400
    }
}

/// Finds out, whenever it is asked, how long the machine has slept: only ``BootClock`` goes on meanwhile.
public struct SuspendDetector: Hashable, Sendable {
    /// What the two clocks say at one moment, in nanoseconds.
    public struct Reading: Hashable, Sendable {
        /// ``MonotonicClock``, which stands still during sleep.
        public let monotonic: UInt64
        /// ``BootClock``, which goes on.
        public let boot: UInt64

        /// Two readings of one moment, in nanoseconds.
        public init(monotonic: UInt64, boot: UInt64) {
            self.monotonic = monotonic
            self.boot = boot
        }

        /// Reads both clocks.
        public static func now() -> Reading {
            // In this order a delay between the two looks like a sleep; the threshold is well above it.
            let monotonic = MonotonicClock.nanoseconds()
            return Reading(monotonic: monotonic, boot: BootClock.nanoseconds())
        }
    }

    /// Less than this is a delay between the two readings, in nanoseconds.
    public static let threshold: UInt64 = 100_000_000

    private var last: Reading

    /// Counts sleep from `reading` on.
    public init(_ reading: Reading) {
        last = reading
    }

    /// How long the machine has slept since the reading before, in nanoseconds; `nil` when it has not.
    public mutating func sleep(until reading: Reading) -> UInt64? {
        let (before, after) = (Self.offset(last), Self.offset(reading))
        last = reading
        guard after > before, after - before >= Self.threshold else { return nil }
        return after - before
    }

    private static func offset(_ reading: Reading) -> UInt64 {
        reading.boot > reading.monotonic ? reading.boot - reading.monotonic : 0
    }
}

/// Something to poll for that becomes readable when the wall clock is set, and when the machine wakes from sleep. Costs
/// nothing meanwhile.
public final class ClockChangeDescriptor: Sendable {
    /// To poll for reading; then ask ``take()``.
    public let descriptor: Descriptor

    /// Watches from now on (timerfd_create(2) with TFD_TIMER_CANCEL_ON_SET).
    public init() throws(SystemError) {
        descriptor = Descriptor(owning: try retryingInterrupts("timerfd_create") { pharos_clock_watch_open() })
        try arm()
    }

    /// Whether the clock was set or the machine woke since it was last asked.
    public func take() throws(SystemError) -> Bool {
        do throws(SystemError) {
            _ = try descriptor.read(upTo: 8)
        } catch {
            guard error.errno == ECANCELED else {
                if error.errno == EAGAIN { return false }
                throw error
            }
        }
        try arm()
        return true
    }

    private func arm() throws(SystemError) {
        _ = try retryingInterrupts("timerfd_settime") { pharos_clock_watch_arm(descriptor.number) }
    }
}
