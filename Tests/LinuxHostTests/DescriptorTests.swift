import Glibc
import LinuxHost
import TestSupport
import Testing

@Suite(.serialized) struct DescriptorTests {
    @Test func pairsCarryOctetsBothWays() throws {
        let (left, right) = try StreamSocket.pair()
        #expect(try left.write([1, 2, 3]) == 3)
        #expect(try read(3, from: right) == [1, 2, 3])
        #expect(try right.write([4]) == 1)
        #expect(try read(1, from: left) == [4])
        #expect(errorNumber { _ = try left.read(upTo: 10) } == EAGAIN)
    }

    @Test func closedPeerIsTheEndOfTheStream() throws {
        SignalDescriptor.ignoreBrokenPipes()
        let left: Descriptor
        do {
            let (ours, theirs) = try StreamSocket.pair()
            _ = try theirs.write([7])
            left = ours
        }
        #expect(try left.read(upTo: 10) == [7])
        #expect(try left.read(upTo: 10).isEmpty)
        #expect(errorNumber { _ = try left.write([1]) } == EPIPE)
    }

    @Test func writeAllWaitsForASlowReader() throws {
        let (left, right) = try StreamSocket.pair()
        let octets = (0..<2_000_000).map { UInt8(truncatingIfNeeded: $0 &* 7) }
        let reader = Collector()
        try BackgroundThread.start { reader.collect(octets.count, from: right) }
        try left.writeAll(octets, timeoutMilliseconds: 10_000)
        #expect(eventually(milliseconds: 60_000) { reader.octets.count == octets.count })
        #expect(reader.octets == octets)
    }

    @Test func writeAllGivesUpOnAReaderThatNeverReads() throws {
        let (left, right) = try StreamSocket.pair()
        let begin = MonotonicClock.nanoseconds()
        #expect(
            errorNumber { try left.writeAll([UInt8](repeating: 0, count: 8_000_000), timeoutMilliseconds: 100) }
                == ETIMEDOUT)
        #expect(MonotonicClock.nanoseconds() - begin < 5_000_000_000)
        withExtendedLifetime(right) {}
    }

    @Test func pollerReportsWhichDescriptorsAreReady() throws {
        let (first, firstPeer) = try StreamSocket.pair()
        let (second, secondPeer) = try StreamSocket.pair()
        let interests = [Poller.Interest(first, .read), .init(second, .read), .init(second, .write)]
        #expect(try Poller.wait(interests, milliseconds: 0) == [false, false, true])
        _ = try secondPeer.write([1])
        #expect(try Poller.wait(interests, milliseconds: 1000) == [false, true, true])
        #expect(try Poller.wait([], milliseconds: 1).isEmpty)
        var list = PollList(reading: [first, second])
        try list.wait(until: 0)
        #expect(list.count == 2 && !list.isReady(0) && list.isReady(1))
        var buffer = [UInt8](repeating: 0, count: 4)
        #expect(try second.read(into: &buffer) == 1 && buffer == [1, 0, 0, 0])
        try list.wait(until: 0)
        #expect(!list.isReady(0) && !list.isReady(1))
        withExtendedLifetime((firstPeer, secondPeer)) {}
    }

    @Test func pollerCountsAHangUpAsReady() throws {
        let ours: Descriptor
        do { (ours, _) = try StreamSocket.pair() }
        #expect(try Poller.wait([.init(ours, .read)], milliseconds: 1000) == [true])
    }

    @Test func pollerNeverReturnsTooEarly() throws {
        let (left, right) = try StreamSocket.pair()
        for microseconds in [0, 1, 999, 1001, 7300] {
            let deadline = MonotonicClock.nanoseconds() + UInt64(microseconds) * 1000
            #expect(try Poller.wait([.init(left, .read)], until: deadline) == [false])
            #expect(MonotonicClock.nanoseconds() >= deadline)
        }
        // Deadlines in the past return at once and do not overflow.
        #expect(try Poller.wait([.init(left, .read)], until: 0) == [false])
        _ = try right.write([1])
        #expect(try Poller.wait([.init(left, .read)], until: .max) == [true])
    }

    @Test func openFailuresNameTheFile() {
        #expect(throws: SystemError("open", "/missing/file", errno: ENOENT)) {
            try Descriptor.open("/missing/file", .read)
        }
    }

    @Test func openedDescriptorsAreNotInherited() throws {
        for descriptor in [try Descriptor.open("/dev/null", .read), try Descriptor.open("/dev/null", .device)] {
            #expect(fcntl(descriptor.number, F_GETFD) == FD_CLOEXEC)
        }
        let descriptor = try Descriptor.open("/dev/null", .read)
        #expect(fcntl(descriptor.number, F_GETFL) & O_NONBLOCK == 0)
        try descriptor.setNonblocking()
        #expect(fcntl(descriptor.number, F_GETFL) & O_NONBLOCK != 0)
    }

    /// A child process inherits neither the descriptors that this program has inherited nor those that it has opened.
    @Test func programsInheritNoDescriptors() throws {
        let number = fcntl(STDIN_FILENO, F_DUPFD, 200)
        try #require(number >= 200)
        defer { close(number) }
        _ = Descriptor.standardInput.number
        let script =
            "for n in /proc/$$/fd/*; do n=${n##*/}; [ $n -gt 2 ] && [ -e /proc/$$/fd/$n ] && echo $n; done; echo end"
        let process = try ChildProcess(["sh", "-c", script])
        #expect(String(decoding: try read(4, from: process.output, milliseconds: 60_000), as: UTF8.self) == "end\n")
    }
}
