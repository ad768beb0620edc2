import Glibc
import LinuxHost
import TestSupport
import Testing

@Suite struct StreamSocketTests {
    private func exchange(_ client: Descriptor, _ listener: Descriptor) throws {
        #expect(try Poller.wait([.init(listener, .read)], milliseconds: 2000) == [true])
        let server = try StreamSocket.accept(listener)
        try client.writeAll([1, 2, 3])
        #expect(try read(3, from: server) == [1, 2, 3])
        try server.writeAll([4, 5])
        #expect(try read(2, from: client) == [4, 5])
        for descriptor in [client, server, listener] {
            #expect(fcntl(descriptor.number, F_GETFD) == FD_CLOEXEC)
            #expect(fcntl(descriptor.number, F_GETFL) & O_NONBLOCK != 0)
        }
    }

    @Test(arguments: ["127.0.0.1", "localhost"])
    func tcpPort0SelectsAFreePort(_ host: String) throws {
        let (listener, port) = try StreamSocket.listen(host: host, port: 0)
        #expect(port != 0)
        try exchange(try StreamSocket.connect(host: host, port: port), listener)
    }

    @Test func tcpHasNoDelay() throws {
        let (listener, port) = try StreamSocket.listen(host: "127.0.0.1", port: 0)
        let client = try StreamSocket.connect(host: "127.0.0.1", port: port)
        #expect(try Poller.wait([.init(listener, .read)], milliseconds: 2000) == [true])
        for end in [client, try StreamSocket.accept(listener)] {
            var value: Int32 = 0
            var length = socklen_t(4)
            #expect(unsafe getsockopt(end.number, Int32(IPPROTO_TCP), TCP_NODELAY, &value, &length) == 0)
            #expect(value != 0)
        }
    }

    @Test func takenTCPPortIsRefused() throws {
        let (listener, port) = try StreamSocket.listen(host: "127.0.0.1", port: 0)
        #expect(
            throws: SystemError("bind", "127.0.0.1:\(port)", errno: EADDRINUSE)
        ) { try StreamSocket.listen(host: "127.0.0.1", port: port) }
        withExtendedLifetime(listener) {}
    }

    @Test func refusesAConnectionWithoutAListener() throws {
        let port: UInt16
        do { (_, port) = try StreamSocket.listen(host: "127.0.0.1", port: 0) }
        #expect(
            throws: SystemError("connect", "127.0.0.1:\(port)", errno: ECONNREFUSED)
        ) { try StreamSocket.connect(host: "127.0.0.1", port: port) }
        #expect(errorNumber { _ = try StreamSocket.connect(host: "no host", port: 1) } == ENOENT)
        let folder = try TemporaryFolder()
        let path = folder.place("none.sock")
        #expect(throws: SystemError("connect", path, errno: ENOENT)) { try StreamSocket.connect(path: path) }
    }

    @Test func unixSocketsCarryOctets() throws {
        let folder = try TemporaryFolder()
        let path = folder.place("a.sock")
        let listener = try StreamSocket.listen(path: path)
        try exchange(try StreamSocket.connect(path: path), listener)
        StreamSocket.removeSocketFile(path)
        #expect(!Files.exists(path))
    }

    @Test func staleSocketFileIsReplaced() throws {
        let folder = try TemporaryFolder()
        let path = folder.place("a.sock")
        do { _ = try StreamSocket.listen(path: path) }
        #expect(Files.exists(path))
        let listener = try StreamSocket.listen(path: path)
        try exchange(try StreamSocket.connect(path: path), listener)
    }

    @Test func socketFileInUseIsKept() throws {
        let folder = try TemporaryFolder()
        let path = folder.place("a.sock")
        let listener = try StreamSocket.listen(path: path)
        #expect(errorNumber { _ = try StreamSocket.listen(path: path) } == EADDRINUSE)
        // The check for a listening process was also a connection.
        _ = try StreamSocket.accept(listener)
        try exchange(try StreamSocket.connect(path: path), listener)
    }

    @Test func otherFilesAreNeverReplaced() throws {
        let folder = try TemporaryFolder()
        let path = try folder.file("precious", [1, 2, 3])
        #expect(errorNumber { _ = try StreamSocket.listen(path: path) } == EADDRINUSE)
        StreamSocket.removeSocketFile(path)
        #expect(try Files.read(path) == [1, 2, 3])
    }

    @Test func busyUnixListenerIsWaitedFor() throws {
        // The last client may have disconnected before it is served. Writing to it would end the test process.
        SignalDescriptor.ignoreBrokenPipes()
        let folder = try TemporaryFolder()
        let path = folder.place("a.sock")
        let listener = try StreamSocket.listen(path: path)
        var waiting: [Descriptor] = []
        var failure: Int32?
        while failure == nil, waiting.count < 100 {
            failure = errorNumber { waiting.append(try StreamSocket.connect(path: path, timeoutMilliseconds: 30)) }
        }
        // The queue is full, so the connection fails with a timeout.
        #expect(failure == ETIMEDOUT && waiting.count >= 16)
        #expect(errorNumber { _ = try StreamSocket.listen(path: path) } == EADDRINUSE)
        try BackgroundThread.start {
            usleep(50_000)
            while let stream = try? StreamSocket.accept(listener) { try? stream.writeAll([9]) }
        }
        let late = try StreamSocket.connect(path: path, timeoutMilliseconds: 5000)
        for client in waiting { #expect(try read(1, from: client) == [9]) }
        withExtendedLifetime(late) {}
    }

    @Test(arguments: ["", String(repeating: "x", count: 108)])
    func unixPathsThatDoNotFitAreRefused(_ path: String) {
        #expect(errorNumber { _ = try StreamSocket.listen(path: path) } == ENAMETOOLONG)
        #expect(errorNumber { _ = try StreamSocket.connect(path: path) } == ENAMETOOLONG)
    }

    @Test func longestUnixPathFits() throws {
        let folder = try TemporaryFolder()
        let path = folder.place(String(repeating: "x", count: 106 - folder.path.utf8.count))
        #expect(path.utf8.count == 107)
        let listener = try StreamSocket.listen(path: path)
        try exchange(try StreamSocket.connect(path: path), listener)
    }
}
