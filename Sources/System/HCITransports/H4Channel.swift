public import HCI
public import LinuxHost
internal import SystemPackage

/// A channel for HCI packets with H4 framing over a stream: a UART, TCP, a unix socket, or one end of a socket pair.
public final class H4Channel: HCIChannel {
    let stream: Descriptor
    /// The reader of ``stream`` on a separate thread, for a channel that listens; otherwise `nil`.
    private let stampedStream: StampedStream?
    /// The time at which the last bytes of the most recent packet arrived.
    public private(set) var receivedAt = HCIInstant.distantPast
    private let waiter: ChannelWaiter
    private let name: String
    private var framer = H4Framer()
    private var buffer = [UInt8](repeating: 0, count: 4096)

    /// Creates a channel over a connected, nonblocking `stream`. Error messages contain `name`.
    public init(_ stream: Descriptor, name: String, interruption: SignalDescriptor? = nil) {
        self.stream = stream
        self.name = name
        stampedStream = nil
        waiter = ChannelWaiter(stream, interruption: interruption)
    }

    /// Creates a channel for advertising reports over a connected, nonblocking `stream`. ``receivedAt`` is then the
    /// time at which a packet arrived, even if ``receive(until:)`` returns the packet much later.
    public init(
        listeningTo stream: Descriptor, name: String, interruption: SignalDescriptor? = nil
    ) throws(SystemError) {
        self.stream = stream
        self.name = name
        let stampedStream = try StampedStream(stream)
        self.stampedStream = stampedStream
        waiter = ChannelWaiter(stampedStream.ready, interruption: interruption)
    }

    /// The descriptor to poll for reading.
    var descriptor: Descriptor { stampedStream?.ready ?? stream }

    public var now: HCIInstant { waiter.now }

    /// Writes the type byte and the packet.
    ///
    /// - Throws: ETIMEDOUT, among others, if the other end accepts nothing for 2 s.
    public func send(_ packet: HCIPacket) throws(HCIChannelError) {
        do throws(SystemError) {
            try stream.writeAll(packet.h4)
        } catch {
            throw failure(error)
        }
    }

    /// Waits for the next packet until `deadline`, and returns `nil` at the deadline.
    ///
    /// - Throws: `HCIChannelError.framing` if the bytes are not H4. All later calls throw this error as well.
    public func receive(until deadline: HCIInstant) throws(HCIChannelError) -> HCIPacket? {
        while true {
            do throws(H4Error) {
                if let packet = try framer.next() { return packet }
            } catch {
                throw .framing("\(name): \(error)")
            }
            guard try waiter.wait(until: deadline) else { return nil }
            let octets: [UInt8]
            do throws(SystemError) {
                guard let piece = try read() else { continue }
                octets = piece
            } catch {
                if error.errno == .wouldBlock { continue }
                throw failure(error)
            }
            if octets.isEmpty { throw .gone("\(name): the controller closed the connection") }
            framer.push(octets)
        }
    }

    /// Returns the next bytes; an empty array at the end of the stream, `nil` if no bytes have arrived yet.
    private func read() throws(SystemError) -> [UInt8]? {
        if let stampedStream {
            guard let piece = try stampedStream.take() else { return nil }
            receivedAt = piece.receivedAt
            return piece.octets
        }
        let count = try stream.read(into: &buffer)
        receivedAt = now
        return Array(buffer[..<count])
    }

    /// Discards all received bytes. A UART may still contain bytes of an earlier connection.
    public func flushInput() {
        while let octets = try? read(), !octets.isEmpty {}
        framer = H4Framer()
    }

    private func failure(_ error: SystemError) -> HCIChannelError {
        switch error.errno {
        case .brokenPipe, .connectionReset, .ioError, .operationNotSupportedByDevice:
            .gone("\(name): the controller is gone")
        default:
            HCIChannelError(error)
        }
    }
}

/// Waits for the descriptors of a channel, a deadline and a signal. The channel must keep its descriptors open.
final class ChannelWaiter {
    private var list: PollList
    /// The number of descriptors of the channel in the list.
    private let descriptorCount: Int
    private let interruption: SignalDescriptor?

    init(_ descriptors: Descriptor..., interruption: SignalDescriptor?) {
        list = PollList(reading: descriptors + [interruption?.descriptor].compactMap { $0 })
        descriptorCount = descriptors.count
        self.interruption = interruption
    }

    var now: HCIInstant { HCIInstant(nanoseconds: MonotonicClock.nanoseconds()) }

    /// The longest time to wait after the first signal: 0.8 s, in nanoseconds. A program should end within a second
    /// after the signal, even if the controller does not answer.
    private static let shutdownTimeout: UInt64 = 800_000_000

    /// Waits as ``firstReadable(until:)`` does. Returns true if a descriptor is readable.
    func wait(until deadline: HCIInstant) throws(HCIChannelError) -> Bool { try firstReadable(until: deadline) != nil }

    /// Waits for the descriptors until `deadline`, but after a signal at most for ``shutdownTimeout``. Returns the
    /// index of the first descriptor that is readable; `nil` if none is.
    ///
    /// - Throws: `interrupted` once for each signal. Afterwards the caller can still use the channel, for example to
    ///   turn the beacon off.
    func firstReadable(until deadline: HCIInstant) throws(HCIChannelError) -> Int? {
        let shutdownDeadline = interruption?.takenAt.map { HCIInstant(nanoseconds: $0 + Self.shutdownTimeout) }
        let deadline = shutdownDeadline.map { min(deadline, $0) } ?? deadline
        do throws(SystemError) {
            try list.wait(until: deadline.nanoseconds)
        } catch {
            throw HCIChannelError(error)
        }
        if let interruption, list.isReady(descriptorCount), interruption.take() != nil { throw .interrupted }
        return (0..<descriptorCount).first { list.isReady($0) }
    }
}

extension HCIChannelError {
    /// True if the kernel refused an operation because this process lacks a capability (EPERM).
    public var isNotPermitted: Bool {
        guard case .system(_, let number, _) = self else { return false }
        return Errno(rawValue: number) == .notPermitted
    }

    init(_ error: SystemError) {
        self = .system(call: error.call, errno: error.errno.rawValue, text: error.text)
    }
}
