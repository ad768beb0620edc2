import Glibc
import Synchronization
import TestSupport
import Testing

@testable import LinuxHost

/// What a message bus is asked, and what is made of its answers.
@Suite struct SystemBusTests {
    /// What a bus was sent.
    private final class Heard: Sendable {
        private let content = Mutex<[UInt8]>([])
        var octets: [UInt8] { content.withLock { $0 } }
        func add(_ octets: [UInt8]) { content.withLock { $0 += octets } }
        var text: String { String(decoding: octets, as: UTF8.self) }
    }

    /// A bus for one question: it takes what it is sent, and answers with these octets.
    private struct Bus {
        let folder: TemporaryFolder
        let heard = Heard()

        init(answering answer: [UInt8]) throws {
            folder = try TemporaryFolder()
            _ = try folder.file("run/dbus/x", [])
            let listener = try StreamSocket.listen(path: folder.place("run/dbus/system_bus_socket"))
            try BackgroundThread.start { [heard] in
                guard let ready = try? Poller.wait([.init(listener, .read)], milliseconds: 5000), ready == [true],
                    let client = try? StreamSocket.accept(listener)
                else { return }
                while !heard.text.contains("NTPSynchronized") {
                    guard (try? Poller.wait([.init(client, .read)], milliseconds: 5000)) == [true],
                        let octets = try? client.read(upTo: 4096), !octets.isEmpty
                    else { return }
                    heard.add(octets)
                }
                // In pieces: no reader may rely on whole messages.
                for octet in answer { try? client.writeAll([octet]) }
                // Until the other end has had enough.
                _ = try? Poller.wait([.init(client, .read)], milliseconds: 5000)
            }
        }

        func synchronization(kernel: Int32 = -1) -> WallClock.Synchronization {
            SignalDescriptor.ignoreBrokenPipes()
            return WallClock.synchronization(kernel: kernel, root: folder.path)
        }
    }

    /// A message from the bus: `type` 2 for an answer, 3 for an error, 4 for a signal.
    private static func message(_ type: UInt8, to serial: UInt8?, _ body: [UInt8] = []) -> [UInt8] {
        // A sender (7, a string), the type of the body (8), and whose answer it is (5).
        var fields: [UInt8] = [7, 1, 0x73, 0, 4, 0, 0, 0] + Array(":1.7".utf8) + [0, 0, 0, 0]
        fields += [8, 1, 0x67, 0, 1, 0x76, 0, 0]
        if let serial { fields += [5, 1, 0x75, 0, serial, 0, 0, 0] }
        return [0x6C, type, 1, 1, UInt8(body.count), 0, 0, 0, 9, 0, 0, 0, UInt8(fields.count), 0, 0, 0] + fields + body
    }

    private static let welcome =
        Array("OK 0123456789abcdef0123456789abcdef\r\n".utf8)
        + message(2, to: 1, [5, 0, 0, 0, 0x3A, 0x31, 0x2E, 0x31, 0])
        // Padding is counted from the message's start, which lies anywhere.
        + message(4, to: nil)

    private static func boolean(_ value: UInt8) -> [UInt8] { [1, 0x62, 0, 0, value, 0, 0, 0] }

    static let answers: [([UInt8], WallClock.Synchronization)] = [
        (welcome + message(2, to: 2, boolean(1)), .synchronized),
        (welcome + message(2, to: 2, boolean(0)), .unsynchronized),
        // Nobody has that name, and another type.
        (welcome + message(3, to: 2), .unknown), (welcome + message(2, to: 2, [1, 0x75, 0, 0, 1, 0, 0, 0]), .unknown),
        (Array("REJECTED EXTERNAL\r\n".utf8), .unknown), ([], .unknown), (welcome, .unknown),
        (Array("OK\r\n".utf8) + [UInt8](repeating: 0xFF, count: 300), .unknown),
        (Array("OK\r\n".utf8) + [0x6C] + [UInt8](repeating: 0xFF, count: 300), .unknown),
    ]

    @Test(arguments: answers) func timedatedIsAskedWhereTheKernelMayNotBe(
        _ octets: [UInt8], _ found: WallClock.Synchronization
    ) throws {
        let bus = try Bus(answering: octets)
        let begin = MonotonicClock.nanoseconds()
        #expect(bus.synchronization() == found)
        #expect(MonotonicClock.nanoseconds() - begin < 900_000_000)
    }

    /// As the specification's examples have it.
    @Test func theQuestionIsAMethodCall() throws {
        let bus = try Bus(answering: Self.welcome + Self.message(2, to: 2, Self.boolean(1)))
        #expect(bus.synchronization() == .synchronized)
        let user = "\(geteuid())".utf8.map { String($0, radix: 16) }.joined()
        #expect(bus.heard.text.hasPrefix("\0AUTH EXTERNAL \(user)\r\nBEGIN\r\nl"))
        let lines = "\0AUTH EXTERNAL \(user)\r\nBEGIN\r\n".utf8.count
        let hello = Array(bus.heard.octets[lines...])
        #expect(Array(hello.prefix(12)) == [0x6C, 1, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0])
        #expect(bus.heard.octets.count > 300 && bus.heard.octets.suffix(16) == Array("NTPSynchronized".utf8) + [0])
    }

    @Test func theKernelAndTimesyncdGoFirst() throws {
        let bus = try Bus(answering: Self.welcome + Self.message(2, to: 2, Self.boolean(0)))
        #expect(bus.synchronization(kernel: 0) == .synchronized)
        #expect(bus.synchronization(kernel: 1) == .unsynchronized)
        #expect(bus.heard.octets.isEmpty)
        let path = try bus.folder.file("run/systemd/timesync/synchronized", [])
        #expect(bus.synchronization() == .synchronized)
        // Ten years ago by a clock that somebody has set since.
        let times = [
            timespec(tv_sec: time(nil) - 315_360_000, tv_nsec: 0),
            timespec(tv_sec: time(nil) - 315_360_000, tv_nsec: 0),
        ]
        #expect(unsafe utimensat(AT_FDCWD, path, times, 0) == 0)
        #expect(bus.synchronization(kernel: 1) == .unsynchronized)
    }

    @Test func withoutABusNothingIsKnown() throws {
        let folder = try TemporaryFolder()
        #expect(WallClock.synchronization(kernel: -1, root: folder.path) == .unknown)
    }
}
