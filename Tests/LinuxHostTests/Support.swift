import Glibc
import LinuxHost

/// Octets from `stream` until there are `count` of them or the time is over.
func read(_ count: Int, from stream: Descriptor, milliseconds: Int = 2000) throws -> [UInt8] {
    let deadline = MonotonicClock.nanoseconds() + UInt64(milliseconds) * 1_000_000
    var octets: [UInt8] = []
    while octets.count < count, try Poller.wait([.init(stream, .read)], until: deadline) == [true] {
        let part = try stream.read(upTo: count - octets.count)
        if part.isEmpty { break }
        octets += part
    }
    return octets
}

/// The errno of `body`'s error; `nil` where there is none.
func errorNumber(_ body: () throws -> Void) -> Int32? {
    do {
        try body()
        return nil
    } catch {
        return (error as? SystemError)?.errno
    }
}

/// How many descriptors this process has open.
func openDescriptors() -> Int { Files.names(in: "/proc/self/fd").count }

/// Waits until `condition` holds, at most so long, looking every 5 ms.
func eventually(milliseconds: Int = 3000, _ condition: () throws -> Bool) rethrows -> Bool {
    let deadline = MonotonicClock.nanoseconds() + UInt64(milliseconds) * 1_000_000
    while try !condition() {
        if MonotonicClock.nanoseconds() >= deadline { return false }
        usleep(5000)
    }
    return true
}
