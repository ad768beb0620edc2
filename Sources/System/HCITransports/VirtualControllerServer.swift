internal import BluetoothTypes
public import HCI
public import LinuxHost
internal import Synchronization
internal import SystemPackage
public import VirtualController

/// The configuration of a simulated air. Virtual controllers on one air receive each other's packets.
public struct VirtualAirConfiguration: Hashable, Sendable {
    /// The model of all controllers on the air.
    public var model: VirtualControllerModel
    public var air: VirtualAir.Parameters

    /// Creates a configuration with controllers of this model.
    public init(model: VirtualControllerModel, air: VirtualAir.Parameters = VirtualAir.Parameters()) {
        self.model = model
        self.air = air
    }
}

/// Serves virtual controllers in real time. Each connection gets a new controller, and all controllers are on the same
/// simulated air.
///
/// Use it only on one thread, which then owns the air and all streams.
public final class VirtualControllerServer {
    private let configuration: VirtualAirConfiguration
    private let air: VirtualAir
    private var listeners: [Descriptor] = []
    private var clients: [VirtualControllerClient] = []
    /// The number of controllers that were created so far. It determines the address of the next controller.
    private var createdCount = 0
    /// The time of ``MonotonicClock`` before which no connection is accepted, in nanoseconds.
    private var nextAcceptTime: UInt64 = 0
    /// The pause after a failed accept, 0.1 s in nanoseconds.
    private static let pauseAfterFailure: UInt64 = 100_000_000
    /// The longest step of the air's clock, counted from the next event: 50 ms, in microseconds.
    private static let longestAdvance = 50_000
    var mailbox: VirtualAirServer.Mailbox?
    private var resident: (any AirResident)?

    /// Creates a server without hosts. The time of its air starts now.
    public init(_ configuration: VirtualAirConfiguration) {
        self.configuration = configuration
        air = VirtualAir(configuration.air, now: HCIInstant(nanoseconds: MonotonicClock.nanoseconds()))
    }

    /// Adds beacons to the air. These beacons run in this process and need no stream.
    ///
    /// - Parameter make: Attaches the controllers of the beacons to the air. It is called on this thread.
    func admitResident(_ make: (VirtualAir) throws -> any AirResident) throws { resident = try make(air) }

    /// Accepts connections from a listening socket.
    public func serve(listener: Descriptor) {
        listeners.append(listener)
    }

    /// Serves a host over a stream of H4 packets.
    public func serve(stream: Descriptor) {
        admit(stream, isPacketOriented: false)
    }

    /// Serves the kernel through /dev/vhci: the kernel gets an adapter hciN with a virtual controller
    /// (drivers/bluetooth/hci_vhci.c).
    public func serveKernel() throws(SystemError) {
        let vhci = try Descriptor.open("/dev/vhci", .device)
        // A vendor packet (type 0xFF) with opcode 0 makes the kernel create a primary controller.
        _ = try vhci.write([0xFF, 0x00])
        admit(vhci, isPacketOriented: true)
    }

    /// Serves until a signal is received or the mailbox is closed.
    public func run(until stop: SignalDescriptor? = nil) throws(SystemError) {
        while true {
            advanceAir()
            for client in clients { client.flush() }
            removeFinished()
            let now = MonotonicClock.nanoseconds()
            let acceptingListeners = now < nextAcceptTime ? [] : listeners
            let events = [air.nextEvent, resident?.nextWakeUp].compactMap { $0?.nanoseconds }
            let wakeTime = min(events.min() ?? .max, now < nextAcceptTime ? nextAcceptTime : .max)
            let interests =
                (stop.map { [Poller.Interest($0.descriptor, .read)] } ?? [])
                + (mailbox.map { [Poller.Interest($0.wakeUp, .read)] } ?? [])
                + acceptingListeners.map { Poller.Interest($0, .read) }
                + clients.map(\.interest)
            var ready = try Poller.wait(interests, until: wakeTime)[...]
            advanceAir()
            if let stop, ready.removeFirst(), stop.take() != nil { return }
            if let mailbox, ready.removeFirst() {
                guard let streams = mailbox.takeStreams() else { return }
                for stream in streams { serve(stream: stream) }
            }
            for listener in acceptingListeners where ready.removeFirst() { accept(listener) }
            for (client, isReady) in zip(clients, ready) where isReady {
                client.readAvailable(advanceAir: advanceAir)
            }
        }
    }

    /// Advances the air to the present time, but at most by ``longestAdvance`` after its next event. If the machine is
    /// too slow to simulate all events in real time, commands of the hosts are handled between such steps. The next
    /// step follows at once.
    private func advanceAir() {
        let present = HCIInstant(nanoseconds: MonotonicClock.nanoseconds())
        // Time without events needs no computation, so the limit counts from the next event.
        let limit = air.nextEvent.map { max($0, air.now).advanced(byMicroseconds: Self.longestAdvance) }
        air.advance(to: min(present, limit ?? present))
        if let resident, let due = resident.nextWakeUp, due <= air.now { resident.wake(at: air.now) }
    }

    /// Accepts a connection. After a failure, no connection is accepted for a short time: if no descriptor is free, the
    /// listener would be readable again at once.
    private func accept(_ listener: Descriptor) {
        do throws(SystemError) {
            serve(stream: try StreamSocket.accept(listener))
        } catch {
            nextAcceptTime = MonotonicClock.nanoseconds() + Self.pauseAfterFailure
        }
    }

    private func admit(_ stream: Descriptor, isPacketOriented: Bool) {
        createdCount += 1
        let client = VirtualControllerClient(stream, isPacketOriented: isPacketOriented)
        let address = Self.address(of: createdCount)
        client.controller = air.attach(configuration.model, address: address) { [weak client] packet in
            client?.queue(packet)
        }
        clients.append(client)
    }

    private func removeFinished() {
        for client in clients where client.isFinished { client.controller.map(air.detach) }
        clients.removeAll { $0.isFinished }
    }

    /// Returns the address of the controller with this number. Controllers are numbered from 1. The first 256 addresses
    /// are from the block 00-00-5E-00-53, which RFC 7042 reserves for examples; all other addresses are locally
    /// administered.
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

/// Hosts of virtual controllers that run on the thread of the air and need no stream, such as the beacons of a
/// rehearsal.
public protocol AirResident: AnyObject {
    /// The time at which ``wake(at:)`` must be called next; `nil` if it need not be called.
    var nextWakeUp: HCIInstant? { get }
    /// Does the work that is due.
    func wake(at now: HCIInstant)
}

/// A simulated air in real time, on its own thread, for virtual controllers within this program.
///
/// Each ``connect()`` creates a new controller on this air. Closing the returned descriptor removes the controller.
public final class VirtualAirServer: Sendable {
    private let mailbox: Mailbox

    /// Starts the thread of the air.
    ///
    /// - Throws: EMFILE or EAGAIN if the system has no more descriptors or threads, among others.
    public init(_ configuration: VirtualAirConfiguration) throws(SystemError) {
        let mailbox = try Mailbox()
        self.mailbox = mailbox
        try BackgroundThread.start {
            let server = VirtualControllerServer(configuration)
            server.mailbox = mailbox
            // If the server fails, it ends and the streams of the clients are closed.
            try? server.run()
        }
    }

    /// Starts the thread of the air, with beacons on the air.
    ///
    /// - Parameter resident: Attaches the beacons to the air. It is called on the thread of the air.
    /// - Throws: The errors of ``init(_:)`` and of `resident`.
    public init(
        _ configuration: VirtualAirConfiguration, resident: @escaping @Sendable (VirtualAir) throws -> any AirResident
    ) throws {
        let mailbox = try Mailbox()
        let startResult = Monitor<Result<Void, any Error>?>(nil)
        try BackgroundThread.start {
            let server = VirtualControllerServer(configuration)
            server.mailbox = mailbox
            let result = Result { try server.admitResident(resident) }
            startResult.change { $0 = result }
            // If the server fails, it ends and the streams of the clients are closed.
            if case .success = result { try? server.run() }
        }
        self.mailbox = mailbox
        try startResult.wait { $0 }?.get()
    }

    deinit { mailbox.close() }

    /// Returns a nonblocking H4 stream to a new controller.
    public func connect() throws(SystemError) -> Descriptor {
        let (hostEnd, controllerEnd) = try StreamSocket.pair()
        try mailbox.put(controllerEnd)
        return hostEnd
    }

    /// Passes new streams to the server's thread, and wakes the thread up.
    final class Mailbox: Sendable {
        private struct Contents {
            var streams: [Descriptor] = []
            var isClosed = false
        }

        private let contents = Mutex(Contents())
        /// A byte that is written here makes ``wakeUp`` readable.
        private let wakeUpEnd: Descriptor
        /// The descriptor for the server's thread. It is readable when the mailbox contains streams or was closed.
        let wakeUp: Descriptor

        init() throws(SystemError) {
            (wakeUpEnd, wakeUp) = try StreamSocket.pair()
        }

        func put(_ stream: Descriptor) throws(SystemError) {
            contents.withLock { $0.streams.append(stream) }
            do throws(SystemError) {
                _ = try wakeUpEnd.write([0])
            } catch {
                // The stream is full of unread bytes, which wake the thread as well.
                guard error.errno == .wouldBlock else { throw error }
            }
        }

        func close() {
            contents.withLock { $0.isClosed = true }
            _ = try? wakeUpEnd.write([0])
        }

        /// Returns the streams that were added since the last call; `nil` if the mailbox was closed.
        func takeStreams() -> [Descriptor]? {
            _ = try? wakeUp.read(upTo: 64)
            return contents.withLock { contents in
                defer { contents.streams = [] }
                return contents.isClosed ? nil : contents.streams
            }
        }
    }
}

/// The address at which virtual controllers are served: `unix:PATH`, `tcp:HOST:PORT` or `vhci`.
public enum ListenAddress: Hashable, Sendable {
    case unix(path: String)
    /// A host and a TCP port; port 0 chooses a free port.
    case tcp(host: String, port: UInt16)
    /// An adapter hciN of the kernel, through its module hci_vhci.
    case kernel

    /// Parses an address. An IPv6 address must be in brackets.
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

    /// Splits HOST:PORT; returns `nil` if the host or the port is missing or invalid.
    private static func hostAndPort(_ text: Substring) -> (String, UInt16)? {
        guard let colon = text.lastIndex(of: ":") else { return nil }
        let digits = text[text.index(after: colon)...]
        // UInt16.init would accept a plus sign as well.
        guard digits.utf8.allSatisfy({ (0x30...0x39).contains($0) }), let port = UInt16(digits) else { return nil }
        var host = text[..<colon]
        if host.hasPrefix("["), host.hasSuffix("]") { host = host.dropFirst().dropLast() }
        guard !host.isEmpty, !host.contains("["), !host.contains("]") else { return nil }
        return (String(host), port)
    }
}

/// The error for an invalid ``ListenAddress``.
public struct ListenAddressError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The valid forms.
    public var description: String { "use unix:PATH, tcp:HOST:PORT or vhci" }
}
