import BluetoothTypes
import Glibc
import HCI
import HCITransports
import LinuxHost
import Synchronization
import Testing

/// H4 over one end of a socket pair; the test acts as the controller at the other end.
@Suite struct H4ChannelTests {
    private let channel: H4Channel
    private let controller: Descriptor
    private static let complete: [UInt8] = [4, 0x0E, 4, 1, 0x03, 0x0C, 0]

    init() throws {
        SignalDescriptor.ignoreBrokenPipes()
        let (ours, theirs) = try StreamSocket.pair()
        channel = H4Channel(ours, name: "unix:/test")
        controller = theirs
    }

    private func soon(_ milliseconds: Int = 2000) -> HCIInstant {
        channel.now.advanced(byMicroseconds: milliseconds * 1000)
    }

    private func failure(_ body: () throws -> Void) -> HCIChannelError? {
        do {
            try body()
            return nil
        } catch {
            return error as? HCIChannelError
        }
    }

    @Test func packetsAreSentWithTheirTypeOctet() throws {
        try channel.send(HCIReset().packet)
        #expect(try Poller.wait([.init(controller, .read)], milliseconds: 1000) == [true])
        #expect(try controller.read(upTo: 100) == [1, 0x03, 0x0C, 0])
    }

    @Test func everySplitGivesTheSamePackets() throws {
        let octets = Self.complete + [4, 0x3E, 2, 0x7F, 9]
        let first = HCIPacket(.event, Array(Self.complete.dropFirst()))
        let second = HCIPacket(.event, [0x3E, 2, 0x7F, 9])
        for split in 0...octets.count {
            if split > 0 { try controller.writeAll(Array(octets[..<split])) }
            // The part that has arrived is read and kept.
            let early = try channel.receive(until: channel.now)
            #expect((early == nil) == (split < Self.complete.count))
            let middle = split == octets.count ? try channel.receive(until: channel.now) : nil
            if split < octets.count { try controller.writeAll(Array(octets[split...])) }
            var got = [early, middle].compactMap { $0 }
            while got.count < 2, let packet = try channel.receive(until: soon()) { got.append(packet) }
            #expect(got == [first, second], "split at \(split)")
        }
    }

    @Test func singleOctetsGiveThePacket() throws {
        for octet in Self.complete.dropLast() {
            try controller.writeAll([octet])
            #expect(try channel.receive(until: soon(2)) == nil)
        }
        try controller.writeAll([0])
        #expect(try channel.receive(until: soon())?.octets == Array(Self.complete.dropFirst()))
    }

    @Test func deadlineEndsTheWait() throws {
        let deadline = soon(30)
        #expect(try channel.receive(until: deadline) == nil)
        #expect(channel.now >= deadline)
        #expect(channel.now.microseconds(since: deadline) < 5_000_000)
        // A receive with a deadline in the past returns at once, with a packet if one is there.
        try controller.writeAll(Self.complete)
        #expect(try channel.receive(until: HCIInstant(nanoseconds: 0)) != nil)
    }

    @Test(arguments: [UInt8(0), 6, 0x42, 0xFF])
    func unknownTypeOctetIsAnError(_ octet: UInt8) throws {
        try controller.writeAll([octet, 1, 2, 3])
        guard case .framing(let what) = failure({ _ = try channel.receive(until: soon()) }) else {
            Issue.record("a type octet of \(octet) must be a framing error")
            return
        }
        #expect(what.hasPrefix("unix:/test: "))
        #expect("\(HCIChannelError.framing(what))".hasPrefix("the received bytes are not an HCI packet: unix:/test: "))
    }

    @Test func packetsBeforeInvalidOctetsAreReceived() throws {
        try controller.writeAll(Self.complete + [0xFF])
        #expect(try channel.receive(until: soon()) != nil)
        guard case .framing = failure({ _ = try channel.receive(until: soon()) }) else {
            Issue.record("invalid octets after a packet must be a framing error")
            return
        }
    }

    @Test func closedConnectionIsReportedAsGone() throws {
        let (ours, theirs) = try StreamSocket.pair()
        let channel = H4Channel(ours, name: "tcp:127.0.0.1:9001")
        try theirs.writeAll(Self.complete + [4, 0x0E])
        shutdown(theirs.number, Int32(SHUT_RDWR))
        // The packets before the end are received; half a packet is lost.
        #expect(try channel.receive(until: soon()) != nil)
        let error = failure { _ = try channel.receive(until: soon()) }
        #expect(error == .gone("tcp:127.0.0.1:9001: the controller closed the connection"))
        #expect(
            error.map { "\($0)" } == "the controller is gone: tcp:127.0.0.1:9001: the controller closed the connection")
        #expect(
            failure { try channel.send(HCIReset().packet) } == .gone("tcp:127.0.0.1:9001: the controller is gone"))
    }

    @Test func sendFailsIfTheControllerReadsNothing() throws {
        let begin = channel.now
        var error: HCIChannelError?
        while error == nil, channel.now.microseconds(since: begin) < 20_000_000 {
            error = failure { try channel.send(HCIPacket(.acl, [UInt8](repeating: 0, count: 60_000))) }
        }
        guard case .system("write", ETIMEDOUT, _) = error else {
            Issue.record("\(String(describing: error))")
            return
        }
    }

    @Test func flushDiscardsReceivedOctets() throws {
        try controller.writeAll([4, 0x0E, 4, 1])
        #expect(try channel.receive(until: soon(1)) == nil)
        try controller.writeAll([9, 9, 9, 9])
        channel.flushInput()
        try controller.writeAll(Self.complete)
        #expect(try channel.receive(until: soon())?.octets == Array(Self.complete.dropFirst()))
    }

    /// In a separate thread, because threads of the test library must not keep blocked signals.
    @Test func signalEndsOneWaitAndLosesNothing() throws {
        let (ours, theirs) = try StreamSocket.pair()
        let log = Log()
        try BackgroundThread.start {
            guard let signals = try? SignalDescriptor([SIGUSR1]) else { return log.add("no signals") }
            let channel = H4Channel(ours, name: "test", interruption: signals)
            raise(SIGUSR1)
            for _ in 0..<3 {
                do throws(HCIChannelError) {
                    let packet = try channel.receive(until: channel.now.advanced(byMicroseconds: 2_000_000))
                    log.add(packet.map { Hexadecimal.text($0.octets) } ?? "nothing")
                } catch {
                    log.add("\(error)")
                    try? theirs.writeAll(Self.complete)
                }
                if log.entries.count == 2 { break }
            }
        }
        let deadline = MonotonicClock.nanoseconds() + 5_000_000_000
        while log.entries.count < 2, MonotonicClock.nanoseconds() < deadline { usleep(2000) }
        #expect(log.entries == ["interrupted by a signal", "0e0401030c00"])
    }

    /// After a signal, waits are shorter than before, because the signal asks for the end.
    @Test func waitsAreShorterAfterASignal() throws {
        let (ours, theirs) = try StreamSocket.pair()
        let log = Log()
        let begin = MonotonicClock.nanoseconds()
        try BackgroundThread.start {
            guard let signals = try? SignalDescriptor([SIGUSR1]) else { return log.add("no signals") }
            // Another channel may have read the signal.
            let first = H4Channel(ours, name: "test", interruption: signals)
            raise(SIGUSR1)
            _ = try? first.receive(until: first.now.advanced(byMicroseconds: 5_000_000))
            for _ in 0..<3 {
                let packet = try? first.receive(until: first.now.advanced(byMicroseconds: 5_000_000))
                log.add(packet == nil ? "nothing" : "something")
            }
        }
        let deadline = MonotonicClock.nanoseconds() + 20_000_000_000
        while log.entries.count < 3, MonotonicClock.nanoseconds() < deadline { usleep(2000) }
        let took = MonotonicClock.nanoseconds() - begin
        #expect(log.entries == ["nothing", "nothing", "nothing"])
        #expect(took > 500_000_000 && took < 3_000_000_000)
        withExtendedLifetime(theirs) {}
    }

    private final class Log: Sendable {
        private let lines = Mutex<[String]>([])
        var entries: [String] { lines.withLock { $0 } }
        func add(_ line: String) { lines.withLock { $0.append(line) } }
    }

    @Test func hostExecutesACommandOverTheChannel() throws {
        let controller = controller
        try BackgroundThread.start {
            guard (try? Poller.wait([.init(controller, .read)], milliseconds: 2000)) == [true],
                (try? controller.read(upTo: 100)) == [1, 0x09, 0x10, 0]
            else { return }
            try? controller.writeAll([4, 0x0E, 10, 1, 0x09, 0x10, 0, 1, 2, 3, 4, 5, 6])
        }
        let address = try HCIHost(channel: channel).execute(ReadBDADDR()).address
        #expect(address == DeviceAddress("06:05:04:03:02:01"))
    }

    /// If a program was busy, packets that arrived meanwhile do not get one common time.
    @Test func packetsReadLateHaveTheTimesOfTheirArrival() throws {
        let (ours, theirs) = try StreamSocket.pair()
        let listening = try H4Channel(listeningTo: ours, name: "unix:/test")
        try theirs.writeAll(Self.complete)
        usleep(105_000)
        try theirs.writeAll(Self.complete)
        usleep(300_000)
        var times: [HCIInstant] = []
        for _ in 0..<2 {
            let packet = try #require(try listening.receive(until: soon(60_000)))
            #expect(packet.h4 == Self.complete)
            times.append(listening.receivedAt)
        }
        #expect(times[1].microseconds(since: times[0]) >= 100_000)
        #expect(try listening.receive(until: soon(10)) == nil)
        try theirs.writeAll(Self.complete)
        #expect(try listening.receive(until: soon(60_000))?.h4 == Self.complete)
    }

    @Test func listenerReceivesAllPacketsBeforeTheEnd() throws {
        let listening: H4Channel
        do {
            let (ours, theirs) = try StreamSocket.pair()
            listening = try H4Channel(listeningTo: ours, name: "unix:/test")
            for _ in 0..<1000 { try theirs.writeAll(Self.complete) }
        }
        for _ in 0..<1000 { #expect(try listening.receive(until: soon(60_000))?.h4 == Self.complete) }
        let end = failure { _ = try listening.receive(until: soon(60_000)) }
        #expect(end == .gone("unix:/test: the controller closed the connection"))
    }
}
