internal import Glibc
internal import LinuxHost

/// Returns the number of open descriptors of this process.
public func openDescriptors() -> Int { Files.names(in: "/proc/self/fd").count }

/// Waits until `condition` holds, at most `milliseconds`. Checks it every 5 ms.
public func eventually(milliseconds: Int = 60_000, _ condition: () throws -> Bool) rethrows -> Bool {
    let deadline = MonotonicClock.nanoseconds() + UInt64(milliseconds) * 1_000_000
    while try !condition() {
        if MonotonicClock.nanoseconds() >= deadline { return false }
        usleep(5000)
    }
    return true
}
