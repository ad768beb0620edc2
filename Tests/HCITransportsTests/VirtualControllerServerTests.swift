import BluetoothTypes
import Glibc
import HCI
import HCITransports
import LinuxHost
import Synchronization
import TestSupport
import Testing
import VirtualController

/// The virtual air in real time, over real sockets.
@Suite(.serialized) struct VirtualControllerServerTests {
    /// A client that exchanges H4 packets over a stream, octet by octet.
    final class Client {
        let stream: Descriptor
        private var framer = H4Framer()

        init(_ stream: Descriptor) {
            self.stream = stream
        }

        func send(_ command: some HCICommand) throws { try stream.writeAll(command.packet.h4) }

        /// Returns the next packet for which `isWanted` is true; earlier ones are dropped.
        func next(milliseconds: Int = 2000, where isWanted: (HCIPacket) -> Bool = { _ in true }) throws -> HCIPacket? {
            let deadline = MonotonicClock.nanoseconds() + UInt64(milliseconds) * 1_000_000
            while true {
                while let packet = try framer.next() {
                    if isWanted(packet) { return packet }
                }
                guard try Poller.wait([.init(stream, .read)], until: deadline) == [true] else { return nil }
                let octets = try stream.read(upTo: 65_536)
                guard !octets.isEmpty else { return nil }
                framer.push(octets)
            }
        }

        /// Sends a command and expects success.
        func order(_ command: some HCICommand) throws {
            try send(command)
            // Ten seconds, because programs with sanitizers are slow.
            let answer = try #require(
                try next(milliseconds: 10_000) { $0.octets.first == 0x0E || $0.octets.first == 0x0F })
            #expect(answer.octets.first == 0x0E && answer.octets.count > 5 && answer.octets[5] == 0)
        }

        func advertise(_ data: [UInt8]) throws {
            let interval = AdvertisingInterval(rawValue: 0x20)
            try order(
                LESetAdvertisingParameters(
                    intervalMinimum: interval, intervalMaximum: interval, type: .nonconnectable,
                    ownAddressType: .publicDevice))
            try order(LESetAdvertisingData(data))
            try order(LESetAdvertisingEnable(true))
        }

        func scan() throws {
            try order(SetEventMask(.standardAndLE))
            try order(
                LESetScanParameters(
                    type: .passive, interval: ScanInterval(rawValue: 96), window: ScanInterval(rawValue: 96)))
            try order(LESetScanEnable(true))
        }

        func hears(_ data: [UInt8], milliseconds: Int = 2000) throws -> Bool {
            try next(milliseconds: milliseconds) { packet in
                packet.octets.first == 0x3E && packet.octets.dropLast().suffix(data.count) == data[...]
            } != nil
        }
    }

    private func air() throws -> VirtualAirServer {
        try VirtualAirServer(VirtualAirConfiguration(model: .raspberryPi))
    }

    @Test func twoClientsReceiveEachOther() throws {
        let air = try air()
        let left = Client(try air.connect())
        let right = Client(try air.connect())
        try left.scan()
        try right.scan()
        try left.advertise([2, 1, 6])
        try right.advertise([3, 0xFF, 1, 2])
        #expect(try left.hears([3, 0xFF, 1, 2]))
        #expect(try right.hears([2, 1, 6]))
    }

    @Test func advertisingEndsWhenTheClientDisconnects() throws {
        let air = try air()
        let listener = Client(try air.connect())
        try listener.scan()
        do {
            let beacon = Client(try air.connect())
            try beacon.advertise([2, 1, 6])
            #expect(try listener.hears([2, 1, 6]))
        }
        // Packets on their way may still arrive; after them none may.
        usleep(100_000)
        while try listener.next(milliseconds: 0) != nil {}
        #expect(try !listener.hears([2, 1, 6], milliseconds: 500))
    }

    @Test func streamsEndWithTheAir() throws {
        let client: Client
        do {
            let air = try air()
            client = Client(try air.connect())
            try client.order(HCIReset())
        }
        #expect(try Poller.wait([.init(client.stream, .read)], milliseconds: 2000) == [true])
        #expect(try client.stream.read(upTo: 1).isEmpty)
    }

    @Test func clientThatDoesNotSendH4IsDisconnected() throws {
        let air = try air()
        let client = Client(try air.connect())
        let other = Client(try air.connect())
        try client.stream.writeAll(Array("GET / HTTP/1.1\r\n\r\n".utf8))
        #expect(try Poller.wait([.init(client.stream, .read)], milliseconds: 2000) == [true])
        #expect((try? client.stream.read(upTo: 1)) ?? [] == [])
        try other.order(HCIReset())
    }

    /// Other tests open and close descriptors at the same time; a leak of one descriptor per connection is still
    /// visible.
    @Test func connectionsDoNotLeakDescriptors() throws {
        let air = try air()
        let folder = try TemporaryFolder()
        let path = folder.place("air.sock")
        let server = try Served(path)
        let before = openDescriptors()
        for _ in 0..<200 {
            try Client(try air.connect()).order(HCIReset())
            try Client(try StreamSocket.connect(path: path)).order(HCIReset())
        }
        #expect(eventually { openDescriptors() < before + 100 })
        // The same for connections without any data.
        for _ in 0..<200 { _ = try StreamSocket.connect(path: path) }
        #expect(eventually { openDescriptors() < before + 100 })
        try Client(try StreamSocket.connect(path: path)).order(HCIReset())
        server.stop()
    }

    /// A server in a separate thread, until the end of the test.
    private final class Served: Sendable {
        private let stopper: Descriptor

        init(_ path: String) throws {
            let listener = try StreamSocket.listen(path: path)
            let (ours, theirs) = try StreamSocket.pair()
            stopper = ours
            try BackgroundThread.start {
                let server = VirtualControllerServer(VirtualAirConfiguration(model: .intel))
                server.serve(listener: listener)
                server.serve(stream: theirs)
                try? server.run()
            }
        }

        /// Only signals the end: the thread ends with the test process.
        func stop() { _ = try? stopper.write([]) }
    }

    @Test func noTwoControllersHaveTheSameAddress() throws {
        let air = try air()
        var addresses: [[UInt8]] = []
        for _ in 0..<600 {
            let client = Client(try air.connect())
            try client.send(ReadBDADDR())
            addresses.append(Array(try #require(try client.next()).octets.suffix(6).reversed()))
        }
        #expect(addresses[0] == [0, 0, 0x5E, 0, 0x53, 1] && addresses[255] == [0, 0, 0x5E, 0, 0x53, 0])
        #expect(addresses[256] == [2, 0, 0x5E, 0, 1, 1])
        #expect(Set(addresses).count == 600)
    }

    @Test func clientThatNeverReadsDoesNotDisturbOthers() throws {
        let air = try air()
        let beacon = Client(try air.connect())
        let deaf = Client(try air.connect())
        let listener = Client(try air.connect())
        try deaf.scan()
        try listener.scan()
        try beacon.advertise([2, 1, 6])
        let batch = (0..<5000).flatMap { _ in ReadLocalSupportedCommands().packet.h4 }
        try deaf.stream.writeAll(batch, timeoutMilliseconds: 5000)
        try beacon.order(HCIReset())
        try beacon.advertise([3, 0xFF, 1, 2])
        #expect(try listener.hears([3, 0xFF, 1, 2]))
    }

    @Test func clientThatNeverPausesDoesNotBlockOthers() throws {
        SignalDescriptor.ignoreBrokenPipes()
        let air = try air()
        let eager = try air.connect()
        let other = Client(try air.connect())
        let ending = Ending()
        defer { ending.hasCome.store(true, ordering: .relaxed) }
        // Written and read in two threads, so that unread answers do not block the writer.
        try BackgroundThread.start {
            let batch = (0..<1000).flatMap { _ in HCIReset().packet.h4 }
            while !ending.hasCome.load(ordering: .relaxed), (try? eager.writeAll(batch)) != nil {}
        }
        try BackgroundThread.start {
            while !ending.hasCome.load(ordering: .relaxed) {
                _ = try? Poller.wait([.init(eager, .read)], milliseconds: 100)
                _ = try? eager.read(upTo: 65_536)
            }
        }
        // Both threads have started by then.
        usleep(200_000)
        for _ in 0..<10 { try other.order(HCIReset()) }
    }

    private final class Ending: Sendable {
        let hasCome = Atomic(false)
    }
}
