internal import BluetoothTypes
internal import HCI
public import LinuxHost
internal import Synchronization
public import VirtualController

/// What all controllers of one virtual air have in common.
public struct VirtualAirConfiguration: Hashable, Sendable {
    public var model: VirtualControllerModel
    public var air: VirtualAir.Parameters

    /// Controllers like `model`, on an air of these parameters.
    public init(model: VirtualControllerModel, air: VirtualAir.Parameters = VirtualAir.Parameters()) {
        self.model = model
        self.air = air
    }
}

/// Serves virtual controllers in real time: each connection is a new one on the same air.
///
/// One thread owns the air, all streams, and the waiting for both.
public final class VirtualControllerServer {
    private let configuration: VirtualAirConfiguration
    private let air: VirtualAir
    private var listeners: [Descriptor] = []
    private var clients: [VirtualControllerClient] = []
    private var born = 0
    private var acceptsAgainAt: UInt64 = 0
    /// 0.1 s.
    private static let pauseAfterFailure: UInt64 = 100_000_000
    /// In microseconds: 50 ms.
    private static let airInATurn = 50_000
    var mailbox: VirtualAirServer.Mailbox?

    /// A server without hosts, whose air starts now.
    public init(_ configuration: VirtualAirConfiguration) {
        self.configuration = configuration
        air = VirtualAir(configuration.air, now: HCIInstant(nanoseconds: MonotonicClock.nanoseconds()))
    }

    /// Takes connections from a listening socket.
    public func serve(listener: Descriptor) {
        listeners.append(listener)
    }

    /// Serves one host over a stream of H4 packets.
    public func serve(stream: Descriptor) {
        admit(stream, isPacketOriented: false)
    }

    /// Serves the kernel: /dev/vhci becomes an hciN whose controller is ours (drivers/bluetooth/hci_vhci.c).
    public func serveKernel(device: String = "/dev/vhci") throws(SystemError) {
        let vhci = try Descriptor.open(device, .device)
        // Vendor packet with opcode 0: make a primary controller now.
        _ = try vhci.write([0xFF, 0x00])
        admit(vhci, isPacketOriented: true)
    }

    /// How many hosts are connected.
    public var clientCount: Int { clients.count }

    /// Serves until a signal comes, or the mailbox is closed.
    public func run(until stop: SignalDescriptor? = nil) throws(SystemError) {
        while true {
            advanceAir()
            for client in clients { client.flush() }
            removeFinished()
            let now = MonotonicClock.nanoseconds()
            let open = now < acceptsAgainAt ? [] : listeners
            let wake = min(air.nextEvent?.nanoseconds ?? UInt64.max, now < acceptsAgainAt ? acceptsAgainAt : .max)
            let interests =
                (stop.map { [Poller.Interest($0.descriptor, .read)] } ?? [])
                + (mailbox.map { [Poller.Interest($0.wakeUp, .read)] } ?? [])
                + open.map { Poller.Interest($0, .read) }
                + clients.map(\.interest)
            var ready = try Poller.wait(interests, until: wake)[...]
            advanceAir()
            if let stop, ready.removeFirst(), stop.take() != nil { return }
            if let mailbox, ready.removeFirst() {
                guard let streams = mailbox.empty() else { return }
                for stream in streams { serve(stream: stream) }
            }
            for listener in open where ready.removeFirst() { accept(listener) }
            for (client, isReady) in zip(clients, ready) where isReady { client.readAvailable() }
        }
    }

    /// Brings the air up to the present, or nearer to it: on a machine that is too slow for all that happens on the air,
    /// the hosts' commands must have their turn all the same. What is left over is due at once, so nobody waits for it.
    private func advanceAir() {
        let present = HCIInstant(nanoseconds: MonotonicClock.nanoseconds())
        // Until the next event there is nothing to do, however long that takes.
        let limit = air.nextEvent.map { max($0, air.now).advanced(byMicroseconds: Self.airInATurn) }
        air.advance(to: min(present, limit ?? present))
    }

    /// A connection that is gone again before it was taken is nobody's loss; one for which there is no descriptor left
    /// would be announced again at once, so the listeners are left alone for a while.
    private func accept(_ listener: Descriptor) {
        do throws(SystemError) {
            serve(stream: try StreamSocket.accept(listener))
        } catch {
            acceptsAgainAt = MonotonicClock.nanoseconds() + Self.pauseAfterFailure
        }
    }

    private func admit(_ stream: Descriptor, isPacketOriented: Bool) {
        born += 1
        let client = VirtualControllerClient(stream, isPacketOriented: isPacketOriented)
        client.controller = air.attach(configuration.model, address: Self.address(of: born)) { [weak client] packet in
            client?.queue(packet)
        }
        clients.append(client)
    }

    private func removeFinished() {
        for client in clients where client.isFinished { client.controller.map(air.detach) }
        clients.removeAll { $0.isFinished }
    }

    /// The first 256 from the block 00-00-5E-00-53, which RFC 7042 sets aside for examples; all others locally
    /// administered, so that no two controllers on the air have the same.
    private static func address(of number: Int) -> DeviceAddress {
        var octets = FixedOctets<6>()
        octets[2] = 0x5E
        octets[5] = UInt8(truncatingIfNeeded: number)
        if number <= 256 {
            octets[4] = 0x53
        } else {
            octets[0] = 0x02
            octets[3] = UInt8(truncatingIfNeeded: number >> 16)
            octets[4] = UInt8(truncatingIfNeeded: number >> 8)
        }
        return DeviceAddress(octets)
    }
}

/// A virtual air in real time, on a thread of its own, for programs that want controllers inside themselves.
///
/// Each ``connect()`` is a new controller on the same air; closing the descriptor takes it off again.
public final class VirtualAirServer: Sendable {
    private let mailbox: Mailbox

    /// - Throws: when the system gives no socket or no thread.
    public init(_ configuration: VirtualAirConfiguration) throws(SystemError) {
        let mailbox = try Mailbox()
        self.mailbox = mailbox
        try BackgroundThread.start {
            let server = VirtualControllerServer(configuration)
            server.mailbox = mailbox
            // Nobody is there to be told; the clients see their streams end.
            try? server.run()
        }
    }

    deinit { mailbox.close() }

    /// A nonblocking stream to a new controller that speaks H4.
    public func connect() throws(SystemError) -> Descriptor {
        let (ours, theirs) = try StreamSocket.pair()
        try mailbox.put(theirs)
        return ours
    }

    /// Hands streams over to the server's thread, and wakes it up for that.
    final class Mailbox: Sendable {
        private struct Contents {
            var streams: [Descriptor] = []
            var isClosed = false
        }

        private let contents = Mutex(Contents())
        private let bell: Descriptor
        /// Readable when there is something in the box, or it was closed.
        let wakeUp: Descriptor

        init() throws(SystemError) {
            (bell, wakeUp) = try StreamSocket.pair()
        }

        func put(_ stream: Descriptor) throws(SystemError) {
            contents.withLock { $0.streams.append(stream) }
            do throws(SystemError) {
                _ = try bell.write([0])
            } catch {
                // A bell that has no room for one more ring is ringing.
                guard error.errno == SystemError.wouldBlock else { throw error }
            }
        }

        func close() {
            contents.withLock { $0.isClosed = true }
            _ = try? bell.write([0])
        }

        /// What was put in since the last time; `nil` once it is closed.
        func empty() -> [Descriptor]? {
            _ = try? wakeUp.read(upTo: 64)
            return contents.withLock { contents in
                defer { contents.streams = [] }
                return contents.isClosed ? nil : contents.streams
            }
        }
    }
}

/// Where virtual controllers are served: `unix:PATH`, `tcp:HOST:PORT` or `vhci`.
public enum ListenAddress: Hashable, Sendable {
    case unix(path: String)
    /// Port 0 takes a free one.
    case tcp(host: String, port: UInt16)
    /// The kernel gets an hciN, by its module hci_vhci.
    case kernel

    /// Reads an address as people write it. An IPv6 address with a port stands in brackets.
    public init(_ text: String) throws(ListenAddressError) {
        if text == "vhci" {
            self = .kernel
        } else if text.hasPrefix("unix:"), text.count > 5 {
            self = .unix(path: String(text.dropFirst(5)))
        } else if text.hasPrefix("tcp:"), let (host, port) = Self.hostAndPort(text.dropFirst(4)) {
            self = .tcp(host: host, port: port)
        } else {
            throw ListenAddressError()
        }
    }

    /// Splits HOST:PORT; `nil` unless there are both. An IPv6 address stands in brackets, or its colons would be taken
    /// for the port's.
    private static func hostAndPort(_ text: Substring) -> (String, UInt16)? {
        guard let colon = text.lastIndex(of: ":") else { return nil }
        let digits = text[text.index(after: colon)...]
        // UInt16 would take a sign, too.
        guard digits.utf8.allSatisfy({ (0x30...0x39).contains($0) }), let port = UInt16(digits) else { return nil }
        var host = text[..<colon]
        if host.hasPrefix("["), host.hasSuffix("]") { host = host.dropFirst().dropLast() }
        guard !host.isEmpty, !host.contains("["), !host.contains("]") else { return nil }
        return (String(host), port)
    }
}

/// A text that names no place to listen at.
public struct ListenAddressError: Error, Hashable, Sendable, CustomStringConvertible {
    /// Names the forms that there are.
    public var description: String { "use unix:PATH, tcp:HOST:PORT or vhci" }
}
