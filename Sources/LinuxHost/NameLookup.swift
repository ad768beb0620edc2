internal import Glibc
internal import Synchronization

/// The addresses of a host's name: getaddrinfo(3), which can be interrupted here.
///
/// A name server that never answers keeps the system's resolver waiting for many seconds, deaf to everything. So it
/// works on a thread of its own, which is left to itself where nobody wants its answer any more.
struct NameLookup: Sendable {
    /// A socket address of any family, as its octets.
    struct Address: Sendable {
        let family: Int32
        let octets: [UInt8]
    }

    let host: String
    let port: UInt16
    /// Whether the addresses are to be listened on.
    let isPassive: Bool

    /// - Throws: ENOENT for a name that leads nowhere; EINTR when `interruption` has a signal, which stays there.
    func addresses(interruption: SignalDescriptor? = nil) throws(SystemError) -> [Address] {
        // What is an address already needs no thread.
        if let found = ask(AI_NUMERICHOST) { return found }
        guard let interruption else { return try found(ask(0)) }
        return try found(Self.answer(unless: interruption) { ask(0) })
    }

    /// What `lookup` returns, on a thread of its own.
    ///
    /// - Throws: EINTR when `interruption` has a signal first.
    static func answer(
        unless interruption: SignalDescriptor, _ lookup: @escaping @Sendable () -> [Address]?
    ) throws(SystemError) -> [Address]? {
        final class Answer: Sendable {
            let addresses = Mutex<[Address]?>(nil)
        }
        let answer = Answer()
        let (end, theirs) = try StreamSocket.pair()
        try BackgroundThread.start {
            let found = lookup()
            answer.addresses.withLock { $0 = found }
            // One octet, also where nobody waits any more: this end is kept open, or the process would get SIGPIPE.
            withExtendedLifetime(end) { _ = try? theirs.write([0]) }
        }
        let ready = try Poller.wait([.init(end, .read), .init(interruption.descriptor, .read)], milliseconds: -1)
        guard ready[0] else { throw SystemError("getaddrinfo", errno: EINTR) }
        return answer.addresses.withLock { $0 }
    }

    private func found(_ addresses: [Address]?) throws(SystemError) -> [Address] {
        guard let addresses else { throw SystemError("getaddrinfo", "\(host):\(port)", errno: ENOENT) }
        return addresses
    }

    private func ask(_ flags: Int32) -> [Address]? {
        var hints = unsafe addrinfo()
        unsafe hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
        unsafe hints.ai_flags = flags | (isPassive ? AI_PASSIVE : 0)
        var list: UnsafeMutablePointer<addrinfo>?
        guard unsafe getaddrinfo(host, String(port), &hints, &list) == 0 else { return nil }
        defer { unsafe freeaddrinfo(list) }
        var result: [Address] = []
        var next = unsafe list
        while let entry = unsafe next {
            let raw = unsafe UnsafeRawBufferPointer(
                start: entry.pointee.ai_addr, count: Int(entry.pointee.ai_addrlen))
            result.append(Address(family: unsafe entry.pointee.ai_family, octets: unsafe Array(raw)))
            unsafe next = entry.pointee.ai_next
        }
        return result
    }
}
