import Glibc
import LinuxHost
import TestSupport
import Testing

/// The notifications to the service manager, as in sd_notify(3).
@Suite struct RunNotificationTests {
    /// A service manager that receives notifications.
    private final class Manager {
        private let socket: Descriptor
        private var told: [String] = []
        private let path: String

        init(_ path: String) throws {
            self.path = path
            socket = try RunNotificationTests.socket(path)
        }

        /// All received messages except those that ``hears(_:)`` has removed.
        var heard: [String] {
            while let octets = try? socket.read(upTo: 4096), !octets.isEmpty {
                told.append(String(decoding: octets, as: UTF8.self))
            }
            return told
        }

        /// Waits for a message that begins with `text`, and removes it and the messages before it.
        func hears(_ text: String) -> Bool {
            eventually {
                guard let place = heard.firstIndex(where: { $0.hasPrefix(text) }) else { return false }
                told.removeFirst(place + 1)
                return true
            }
        }

        /// Fills the queue, so that no further message fits.
        func fillQueue() throws {
            let sender = Descriptor(owning: Glibc.socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue), 0))
            try sender.setNonblocking()
            while (try? RunNotificationTests.send("X", to: path, on: sender)) != nil {}
        }

        /// The shell script that starts a service for this manager.
        var script: String { "NOTIFY_SOCKET=\(path) WATCHDOG_USEC=600000 exec \"$0\" \"$@\"" }
    }

    @Test func notifiesFromStartToStop() throws {
        let box = try ServiceTestBox()
        let manager = try Manager(box.folder.place("notify"))
        try box.start(shell: manager.script)
        #expect(manager.hears("READY=1"))
        #expect(manager.hears("STATUS=on the air: ibeacon every 100 ms from "))
        #expect(manager.hears("WATCHDOG=1"))
        #expect(manager.hears("WATCHDOG=1"))
        try box.reload(ServiceTestBox.profile(minor: 3))
        #expect(manager.hears("RELOADING=1\nMONOTONIC_USEC="))
        #expect(manager.hears("READY=1"))
        box.service?.signal(SIGTERM)
        #expect(manager.hears("STOPPING=1"))
        #expect(box.service?.end().code == 0)
    }

    @Test func aReloadThatIsRefusedStaysInTheStatus() throws {
        let box = try ServiceTestBox()
        let manager = try Manager(box.folder.place("notify"))
        try box.start(shell: manager.script)
        #expect(manager.hears("READY=1"))
        #expect(manager.hears("STATUS=on the air: "))
        try box.reload("{}")
        #expect(manager.hears("RELOADING=1\nMONOTONIC_USEC="))
        #expect(manager.hears("READY=1"))
        #expect(
            eventually {
                manager.heard.contains {
                    $0.hasPrefix("STATUS=on the air: ibeacon every 100 ms from ")
                        && $0.contains("; reload refused: \(box.folder.place("profile")):1:1")
                }
            }, "\(manager.heard)")
        try box.reload(ServiceTestBox.profile(minor: 3))
        #expect(manager.hears("RELOADING=1"))
        #expect(eventually { manager.heard.contains { $0.hasPrefix("STATUS=") && !$0.contains("refused") } })
        #expect(box.stop()?.code == 0)
    }

    /// READY is sent only after the controller has arrived. Until then, the service keeps notifying the watchdog.
    @Test func notifiesWhileWaitingForAController() throws {
        let box = try ServiceTestBox()
        let manager = try Manager(box.folder.place("notify"))
        try box.start(shell: manager.script, adapter: "unix:\(box.socket)")
        #expect(manager.hears("STATUS=not on the air: waiting for "))
        #expect(manager.hears("WATCHDOG=1"))
        #expect(manager.hears("WATCHDOG=1"))
        #expect(!manager.heard.contains { $0.hasPrefix("READY") })
        try box.plug()
        #expect(manager.hears("READY=1"))
        box.unplug()
        #expect(manager.hears("STATUS=not on the air: waiting for the controller behind unix:"))
        #expect(manager.hears("WATCHDOG=1"))
        #expect(box.stop()?.code == 0)
        #expect(manager.hears("STOPPING=1"))
    }

    /// A service manager that does not read delays neither the start nor the end of the service.
    @Test func aBusyServiceManagerDoesNotDelayTheService() throws {
        let box = try ServiceTestBox()
        let manager = try Manager(box.folder.place("notify"))
        try manager.fillQueue()
        try box.start(shell: manager.script)
        #expect(box.says("on the air"))
        let begin = MonotonicClock.nanoseconds()
        #expect(box.stop()?.code == 0)
        #expect(MonotonicClock.nanoseconds() - begin < 1_000_000_000)
    }

    /// The text that `systemctl status` shows if a profile is refused at the start.
    @Test(arguments: [0, 4, 5, 7, 9])
    func notifiesOfARefusalAtTheStart(_ number: Int) throws {
        let refusal = RunRefusalTests.refusals[number]
        let box = try ServiceTestBox(refusal.profile)
        try refusal.prepare(box)
        let manager = try Manager(box.folder.place("notify"))
        #expect(try box.start(shell: manager.script).end().code == refusal.code)
        let status = manager.heard.last { $0.contains("STATUS=") } ?? ""
        for part in refusal.reasons { #expect(status.contains(part), "\(manager.heard)") }
        #expect(!manager.heard.contains { $0.hasPrefix("READY") })
    }

    private static func send(_ text: String, to path: String, on socket: Descriptor) throws {
        let octets = Array(text.utf8)
        let result = unsafe withAddress(path) { unsafe sendto(socket.number, octets, octets.count, 0, $0, $1) }
        guard result >= 0 else { throw SystemError("sendto", path, errno: errno) }
    }

    private static func socket(_ path: String) throws -> Descriptor {
        let socket = Descriptor(owning: Glibc.socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue), 0))
        let result = unsafe withAddress(path) { unsafe Int(bind(socket.number, $0, $1)) }
        guard result == 0 else { throw SystemError("bind", path, errno: errno) }
        try socket.setNonblocking()
        return socket
    }

    private static func withAddress(_ path: String, _ body: (UnsafePointer<sockaddr>, socklen_t) -> Int) -> Int {
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        unsafe withUnsafeMutableBytes(of: &address.sun_path) { place in
            for (index, octet) in path.utf8.prefix(place.count - 1).enumerated() { unsafe place[index] = octet }
        }
        return unsafe withUnsafePointer(to: &address) { pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                unsafe body($0, socklen_t(MemoryLayout<sockaddr_un>.size))
            }
        }
    }
}
