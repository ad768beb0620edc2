import Glibc
import LinuxHost
import TestSupport
import Testing

@Suite struct ServiceNotifierTests {
    /// The service manager's side: a datagram socket with a path, or with an abstract name after `@`.
    private final class Manager {
        let socket: Descriptor

        init(_ name: String) throws {
            socket = Descriptor(owning: Glibc.socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue | SOCK_CLOEXEC.rawValue), 0))
            var octets = unsafe withUnsafeBytes(of: sa_family_t(AF_UNIX)) { unsafe Array($0) }
            octets += name.hasPrefix("@") ? [0] + Array(name.utf8.dropFirst()) : Array(name.utf8) + [0]
            let result = unsafe octets.withUnsafeBytes { raw -> Int32 in
                guard let base = raw.baseAddress else { return -1 }
                return unsafe bind(socket.number, base.assumingMemoryBound(to: sockaddr.self), socklen_t(raw.count))
            }
            guard result == 0 else { throw SystemError("bind", name, errno: errno) }
        }

        /// Returns the next message.
        func message() throws -> String? {
            guard try Poller.wait([.init(socket, .read)], milliseconds: 1000) == [true] else { return nil }
            return String(decoding: try socket.read(upTo: 4096), as: UTF8.self)
        }
    }

    private func notifier(_ environment: [String: String]) throws -> ServiceNotifier {
        try ServiceNotifier(environment: { environment[$0] })
    }

    static let messages: [([ServiceNotifier.State], String)] = [
        ([.ready], "READY=1"), ([.watchdog], "WATCHDOG=1"), ([.stopping], "STOPPING=1"),
        ([.status("waits for hci0")], "STATUS=waits for hci0"),
        ([.status("two\nlines\r\nREADY=1")], "STATUS=two lines READY=1"),
        ([.ready, .status("on the air: 4 frames")], "READY=1\nSTATUS=on the air: 4 frames"),
        ([.reloading(since: 5_000_999)], "RELOADING=1\nMONOTONIC_USEC=5000"),
    ]

    @Test(arguments: messages) func messagesArrive(_ states: [ServiceNotifier.State], _ text: String) throws {
        let folder = try TemporaryFolder()
        for name in [folder.place("notify"), "@pharos-test-\(folder.path)"] {
            let manager = try Manager(name)
            try notifier(["NOTIFY_SOCKET": name]).send(states)
            #expect(try manager.message() == text)
        }
    }

    @Test func sendsNothingWithoutAServiceManager() throws {
        let silent = try notifier([:])
        #expect(!silent.isActive && silent.watchdogMicroseconds == nil)
        try silent.send(.ready, .status("unheard"))
        #expect(try !notifier(["NOTIFY_SOCKET": "", "WATCHDOG_USEC": "1000"]).isActive)
    }

    @Test(arguments: ["relative", "@", "vsock:2:1", String(repeating: "/long", count: 30)])
    func refusesInvalidSocketNames(_ name: String) throws {
        #expect(throws: SystemError.self) { try self.notifier(["NOTIFY_SOCKET": name]) }
    }

    @Test func reportsAMissingServiceManager() throws {
        let folder = try TemporaryFolder()
        let name = folder.place("notify")
        let notifier = try notifier(["NOTIFY_SOCKET": name])
        #expect(throws: SystemError("sendto", name, errno: ENOENT)) { try notifier.send(.ready) }
        do { _ = try Manager(name) }
        #expect(errorNumber { try notifier.send(.ready) } == ECONNREFUSED)
    }

    /// A full queue delays nothing. Messages that did not fit arrive later, in order.
    @Test func doesNotWaitForABusyManager() throws {
        let name = "@pharos-test-busy-\(getpid())"
        let manager = try Manager(name)
        let notifier = try notifier(["NOTIFY_SOCKET": name])
        while !notifier.hasBacklog { try notifier.send(.watchdog) }
        let begin = MonotonicClock.nanoseconds()
        try notifier.send(.ready)
        for number in 0..<100 { try notifier.send(.status("\(number)")) }
        try notifier.send(.stopping)
        #expect(MonotonicClock.nanoseconds() - begin < 500_000_000)
        var heard: [String?] = []
        while notifier.hasBacklog {
            heard.append(try manager.message())
            try notifier.flush()
        }
        while heard.last != "STOPPING=1" { heard.append(try manager.message()) }
        #expect(heard.filter { $0 != "WATCHDOG=1" } == ["READY=1", "STATUS=99", "STOPPING=1"])
    }

    static let watchdogs: [([String: String], UInt64?)] = [
        (["WATCHDOG_USEC": "30000000"], 30_000_000),
        (["WATCHDOG_USEC": "30000000", "WATCHDOG_PID": "\(getpid())"], 30_000_000),
        (["WATCHDOG_USEC": "30000000", "WATCHDOG_PID": "1"], nil),
        (["WATCHDOG_USEC": "30000000", "WATCHDOG_PID": "nonsense"], nil),
        (["WATCHDOG_USEC": "0"], nil), (["WATCHDOG_USEC": "-5"], nil), (["WATCHDOG_USEC": ""], nil),
        (["WATCHDOG_USEC": "18446744073709551615"], nil), ([:], nil),
    ]

    @Test(arguments: watchdogs) func usesOnlyTheWatchdogOfThisProcess(
        _ environment: [String: String], _ period: UInt64?
    ) throws {
        let all = environment.merging(["NOTIFY_SOCKET": "@nobody"]) { $1 }
        #expect(try notifier(all).watchdogMicroseconds == period)
    }
}
