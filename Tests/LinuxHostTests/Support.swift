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
