internal import BluetoothTypes
internal import Glibc
internal import Synchronization
internal import SystemPackage

/// Connects and listens with TCP and unix stream sockets.
public enum StreamSocket {
    /// Connects to `host` and `port` with TCP_NODELAY, and waits at most 5 s for each address of the host.
    ///
    /// - Throws: EINTR if `interruption` receives a signal. The signal remains in `interruption`.
    public static func connect(
        host: String, port: UInt16, interruption: SignalDescriptor? = nil
    ) throws(SystemError) -> Descriptor {
        let subject = "\(host):\(port)"
        var lastError = SystemError("connect", subject, errno: .noSuchFileOrDirectory)
        for address in try NameLookup(host: host, port: port, isPassive: false).addresses(interruption: interruption) {
            do throws(SystemError) {
                let socket = try open(address.family)
                try connect(socket, address, subject, 5000, interruption)
                setNoDelay(socket)
                return socket
            } catch {
                if error.errno == .interrupted { throw error }
                lastError = error
            }
        }
        throw lastError
    }

    /// Connects to the unix socket at `path`.
    ///
    /// - Throws: EINTR if `interruption` receives a signal. The signal remains in `interruption`.
    public static func connect(
        path: String, timeoutMilliseconds: Int = 5000, interruption: SignalDescriptor? = nil
    ) throws(SystemError) -> Descriptor {
        let socket = try open(AF_UNIX)
        try connect(socket, try unixAddress(path), path, timeoutMilliseconds, interruption)
        return socket
    }

    /// Listens on `host` and `port`, and returns the socket and its port. Port 0 chooses a free port.
    public static func listen(host: String, port: UInt16) throws(SystemError) -> (Descriptor, UInt16) {
        let subject = "\(host):\(port)"
        guard let address = try NameLookup(host: host, port: port, isPassive: true).addresses().first else {
            throw SystemError("getaddrinfo", subject, errno: .noSuchFileOrDirectory)
        }
        let socket = try open(address.family)
        var one: Int32 = 1
        _ = unsafe setsockopt(socket.number, SOL_SOCKET, SO_REUSEADDR, &one, socklen_t(MemoryLayout<Int32>.size))
        try bindAndListen(socket, address, subject)
        return (socket, try boundPort(socket))
    }

    /// Listens on a unix socket at `path`. An existing socket file is replaced if no process listens on it.
    public static func listen(path: String) throws(SystemError) -> Descriptor {
        let address = try unixAddress(path)
        do throws(SystemError) {
            let socket = try open(AF_UNIX)
            try bindAndListen(socket, address, path)
            return socket
        } catch {
            guard error.errno == .addressInUse, SocketFile(path) != nil, isAbandoned(path) else { throw error }
            _ = unsafe unlink(path)
            let socket = try open(AF_UNIX)
            try bindAndListen(socket, address, path)
            return socket
        }
    }

    /// Accepts the next connection of a listening socket.
    public static func accept(_ listener: Descriptor) throws(SystemError) -> Descriptor {
        let socket = Descriptor(owning: try retryingInterrupts("accept") { Glibc.accept(listener.number, nil, nil) })
        try socket.setNonblocking()
        try socket.setCloseOnExec()
        setNoDelay(socket)
        return socket
    }

    /// Returns two connected sockets.
    public static func pair() throws(SystemError) -> (Descriptor, Descriptor) {
        var numbers: [Int32] = [0, 0]
        let type = Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue | SOCK_NONBLOCK.rawValue)
        try retryingInterrupts("socketpair") { unsafe socketpair(AF_UNIX, type, 0, &numbers) }
        return (Descriptor(owning: numbers[0]), Descriptor(owning: numbers[1]))
    }

    /// Removes the socket file at `path` if there is one.
    public static func removeSocketFile(_ path: String) {
        SocketFile(path)?.remove()
    }
}

/// A socket file with its path and its inode. A later file at the same path is a different socket file.
public struct SocketFile: Hashable, Sendable {
    public let path: String
    private let identity: Stat.Identity

    /// Finds the socket file at `path`; `nil` if there is no file or a file of another kind.
    public init?(_ path: String) {
        guard let status = try? Stat(FilePath(path), followTargetSymlink: false), status.type == .socket else {
            return nil
        }
        self.path = path
        identity = status.identity
    }

    /// Removes the file if the path still leads to this file.
    public func remove() {
        if SocketFile(path) == self { _ = unsafe unlink(path) }
    }
}

extension StreamSocket {
    private typealias Address = NameLookup.Address

    private static func open(_ family: Int32) throws(SystemError) -> Descriptor {
        let type = Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue | SOCK_NONBLOCK.rawValue)
        return Descriptor(owning: try retryingInterrupts("socket") { socket(family, type, 0) })
    }

    private static func connect(
        _ socket: Descriptor, _ address: Address, _ subject: String, _ milliseconds: Int,
        _ interruption: SignalDescriptor?
    ) throws(SystemError) {
        do throws(SystemError) {
            try connectOnce(socket, address, subject, milliseconds, interruption)
        } catch {
            guard error.errno == .nowInProgress else { throw error }
            let ready = try Poller.wait([.init(socket, .write)] + interests(interruption), milliseconds: milliseconds)
            if ready.dropFirst().contains(true) { throw SystemError("connect", subject, errno: .interrupted) }
            guard ready.first == true else { throw SystemError("connect", subject, errno: .timedOut) }
            let result = socketError(socket)
            if result != 0 { throw SystemError("connect", subject, errno: result) }
        }
    }

    /// Tries to connect. If the queue of a unix socket's listener is full (EAGAIN), it tries again for at most
    /// `milliseconds`.
    private static func connectOnce(
        _ socket: Descriptor, _ address: Address, _ subject: String, _ milliseconds: Int,
        _ interruption: SignalDescriptor?
    ) throws(SystemError) {
        let timeout = UInt64(min(max(0, milliseconds), 1 << 32)) * 1_000_000
        let deadline = MonotonicClock.nanoseconds() + timeout
        while true {
            do throws(SystemError) {
                return try unsafe withSocketAddress(address, "connect", subject) {
                    unsafe Glibc.connect(socket.number, $0, $1)
                }
            } catch {
                guard error.errno == .wouldBlock else { throw error }
                guard MonotonicClock.nanoseconds() < deadline else {
                    throw SystemError("connect", subject, errno: .timedOut)
                }
                let ready = try Poller.wait(interests(interruption), milliseconds: 5)
                if ready.contains(true) { throw SystemError("connect", subject, errno: .interrupted) }
            }
        }
    }

    private static func interests(_ interruption: SignalDescriptor?) -> [Poller.Interest] {
        interruption.map { [.init($0.descriptor, .read)] } ?? []
    }

    private static func bindAndListen(
        _ socket: Descriptor, _ address: Address, _ subject: String
    ) throws(SystemError) {
        try unsafe withSocketAddress(address, "bind", subject) { unsafe Glibc.bind(socket.number, $0, $1) }
        try retryingInterrupts("listen", subject) { Glibc.listen(socket.number, 16) }
    }

    private static func withSocketAddress(
        _ address: Address, _ call: String, _ subject: String,
        _ body: (UnsafePointer<sockaddr>, socklen_t) -> Int32
    ) throws(SystemError) {
        try retryingInterrupts(call, subject) {
            unsafe address.octets.withUnsafeBytes { raw -> Int32 in
                guard let base = raw.baseAddress else { return -1 }
                return unsafe body(base.assumingMemoryBound(to: sockaddr.self), socklen_t(raw.count))
            }
        }
    }

    private static func unixAddress(_ path: String) throws(SystemError) -> Address {
        let name = Array(path.utf8)
        // sun_path has 108 bytes, including a zero byte at the end.
        guard !name.isEmpty, name.count < 108 else { throw SystemError("bind", path, errno: .fileNameTooLong) }
        var octets: [UInt8] = []
        octets.append(littleEndian: UInt16(AF_UNIX))
        return Address(family: AF_UNIX, octets: octets + name + [0])
    }

    private static func boundPort(_ socket: Descriptor) throws(SystemError) -> UInt16 {
        var storage = sockaddr_storage()
        var length = socklen_t(MemoryLayout<sockaddr_storage>.size)
        try retryingInterrupts("getsockname") {
            unsafe withUnsafeMutablePointer(to: &storage) { pointer in
                unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                    unsafe getsockname(socket.number, $0, &length)
                }
            }
        }
        // The port follows the family in both sockaddr_in and sockaddr_in6, most significant byte first.
        return unsafe withUnsafeBytes(of: &storage) { unsafe UInt16($0[2]) << 8 | UInt16($0[3]) }
    }

    private static func socketError(_ socket: Descriptor) -> Int32 {
        var value: Int32 = 0
        var length = socklen_t(MemoryLayout<Int32>.size)
        _ = unsafe getsockopt(socket.number, SOL_SOCKET, SO_ERROR, &value, &length)
        return value
    }

    private static func setNoDelay(_ socket: Descriptor) {
        var one: Int32 = 1
        // This fails on unix sockets, which need no such option, so errors are ignored.
        _ = unsafe setsockopt(
            socket.number, Int32(IPPROTO_TCP), TCP_NODELAY, &one, socklen_t(MemoryLayout<Int32>.size))
    }

    /// Returns true if no process listens on the socket file at `path`. The file is in use even if its listener is busy
    /// or belongs to another user.
    private static func isAbandoned(_ path: String) -> Bool {
        do throws(SystemError) {
            _ = try connect(path: path, timeoutMilliseconds: 200)
            return false
        } catch {
            return error.errno == .connectionRefused
        }
    }
}

/// Finds the addresses of a host name with getaddrinfo(3). A signal can interrupt the search.
///
/// If the name server does not answer, getaddrinfo(3) waits for many seconds. Therefore this function runs on its own
/// thread. Its result is ignored after an interruption.
struct NameLookup: Sendable {
    /// The bytes of a socket address, and its address family.
    struct Address: Sendable {
        let family: Int32
        let octets: [UInt8]
    }

    let host: String
    let port: UInt16
    /// True if the addresses are for listening.
    let isPassive: Bool

    /// Returns the addresses of the host.
    ///
    /// - Throws: ENOENT if the name has no address; EINTR if `interruption` receives a signal. The signal remains in
    ///   `interruption`.
    func addresses(interruption: SignalDescriptor? = nil) throws(SystemError) -> [Address] {
        // A host that is a numeric address needs no name server, so no thread is started.
        if let addresses = lookUp(AI_NUMERICHOST) { return addresses }
        guard let interruption else { return try orNotFound(lookUp(0)) }
        return try orNotFound(Self.answer(unless: interruption) { lookUp(0) })
    }

    /// Runs `lookup` on its own thread, and returns its result.
    ///
    /// - Throws: EINTR if `interruption` receives a signal first.
    static func answer(
        unless interruption: SignalDescriptor, _ lookup: @escaping @Sendable () -> [Address]?
    ) throws(SystemError) -> [Address]? {
        final class Answer: Sendable {
            let addresses = Mutex<[Address]?>(nil)
        }
        let answer = Answer()
        let (readEnd, writeEnd) = try StreamSocket.pair()
        try BackgroundThread.start {
            let addresses = lookup()
            answer.addresses.withLock { $0 = addresses }
            // The read end is kept open until the byte is written; otherwise the process would get SIGPIPE.
            withExtendedLifetime(readEnd) { _ = try? writeEnd.write([0]) }
        }
        let ready = try Poller.wait([.init(readEnd, .read), .init(interruption.descriptor, .read)], milliseconds: -1)
        guard ready[0] else { throw SystemError("getaddrinfo", errno: .interrupted) }
        return answer.addresses.withLock { $0 }
    }

    /// Returns the addresses, or throws ENOENT if there are none.
    private func orNotFound(_ addresses: [Address]?) throws(SystemError) -> [Address] {
        guard let addresses else { throw SystemError("getaddrinfo", "\(host):\(port)", errno: .noSuchFileOrDirectory) }
        return addresses
    }

    private func lookUp(_ flags: Int32) -> [Address]? {
        var hints = unsafe addrinfo()
        unsafe hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
        unsafe hints.ai_flags = flags | (isPassive ? AI_PASSIVE : 0)
        var list: UnsafeMutablePointer<addrinfo>?
        guard unsafe getaddrinfo(host, String(port), &hints, &list) == 0 else { return nil }
        defer { unsafe freeaddrinfo(list) }
        var result: [Address] = []
        var nextEntry = unsafe list
        while let entry = unsafe nextEntry {
            let raw = unsafe UnsafeRawBufferPointer(
                start: entry.pointee.ai_addr, count: Int(entry.pointee.ai_addrlen))
            result.append(Address(family: unsafe entry.pointee.ai_family, octets: unsafe Array(raw)))
            unsafe nextEntry = entry.pointee.ai_next
        }
        return result
    }
}
