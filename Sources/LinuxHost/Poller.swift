internal import Glibc

/// Waits for several descriptors at once: poll(2).
public enum Poller {
    /// A descriptor and what is awaited of it. Errors and hang-ups always count as ready.
    public struct Interest {
        let descriptor: Descriptor
        let events: Int16

        public init(_ descriptor: Descriptor, _ kind: Kind) {
            self.descriptor = descriptor
            events =
                switch kind {
                case .read: Int16(POLLIN)
                case .write: Int16(POLLOUT)
                case .readAndWrite: Int16(POLLIN) | Int16(POLLOUT)
                }
        }
    }

    public enum Kind: Sendable {
        case read
        case write
        case readAndWrite
    }

    /// Waits until one of `interests` is ready or `milliseconds` are over (negative: without limit), and tells for
    /// each of them whether it is ready.
    public static func wait(_ interests: [Interest], milliseconds: Int) throws(SystemError) -> [Bool] {
        var list = interests.map { pollfd(fd: $0.descriptor.number, events: $0.events, revents: 0) }
        let timeout = Int32(clamping: milliseconds)
        _ = try retryingInterrupts("poll") { unsafe poll(&list, nfds_t(list.count), timeout) }
        return list.map { $0.revents != 0 }
    }

    /// The same until a moment of ``MonotonicClock``; rounds up, so that it never returns too early.
    public static func wait(_ interests: [Interest], until deadline: UInt64) throws(SystemError) -> [Bool] {
        let now = MonotonicClock.nanoseconds()
        let left = deadline > now ? deadline - now : 0
        let milliseconds = left > UInt64(Int32.max) * 1_000_000 ? Int(Int32.max) : Int((left + 999_999) / 1_000_000)
        return try wait(interests, milliseconds: milliseconds)
    }
}

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
