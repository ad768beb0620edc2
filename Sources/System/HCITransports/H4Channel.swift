public import HCI
public import LinuxHost
internal import SystemPackage

/// HCI with H4 framing over a stream: a UART, TCP, a unix socket, or one end of a socket pair.
public final class H4Channel: HCIChannel {
    let stream: Descriptor
    private let waiter: ChannelWaiter
    private let name: String
    private var framer = H4Framer()
    private var buffer = [UInt8](repeating: 0, count: 4096)

    /// Takes over a connected, nonblocking `stream`. Error messages contain `name`.
    public init(_ stream: Descriptor, name: String, interruption: SignalDescriptor? = nil) {
        self.stream = stream
        self.name = name
        waiter = ChannelWaiter(stream, interruption: interruption)
    }

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

    /// Returns the next packet.
    ///
    /// - Throws: `HCIChannelError.framing` if the bytes are not H4. All later calls throw it too.
    public func receive(until deadline: HCIInstant) throws(HCIChannelError) -> HCIPacket? {
        while true {
            do throws(H4Error) {
                if let packet = try framer.next() { return packet }
            } catch {
                throw .framing("\(name): \(error)")
            }
            guard try waiter.wait(until: deadline) else { return nil }
            let count: Int
            do throws(SystemError) {
                count = try stream.read(into: &buffer)
            } catch {
                if error.errno == .wouldBlock { continue }
                throw failure(error)
            }
            if count == 0 { throw .gone("\(name): the controller closed the connection") }
            framer.push(Array(buffer[..<count]))
        }
    }

    /// Discards all received bytes. A UART may still have bytes of an earlier connection.
    public func flushInput() {
        while let octets = try? stream.read(upTo: 4096), !octets.isEmpty {}
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
    private let count: Int
    private let interruption: SignalDescriptor?

    init(_ descriptors: Descriptor..., interruption: SignalDescriptor?) {
        list = PollList(reading: descriptors + [interruption?.descriptor].compactMap { $0 })
        count = descriptors.count
        self.interruption = interruption
    }

    var now: HCIInstant { HCIInstant(nanoseconds: MonotonicClock.nanoseconds()) }

    /// The longest time to wait after the first signal, 0.8 s in nanoseconds. The program should end within a second, even if
    /// the controller does not answer.
    private static let shutdownTimeout: UInt64 = 800_000_000

    /// Waits as ``first(until:)`` does; returns whether a descriptor is readable.
    func wait(until deadline: HCIInstant) throws(HCIChannelError) -> Bool { try first(until: deadline) != nil }

    /// Returns the index of the first descriptor that is readable before `deadline`, or before the end of ``shutdownTimeout``
    /// after a signal; `nil` if there is none.
    ///
    /// - Throws: `interrupted` once for each signal. Afterwards the caller can still use the channel, for example to turn the
    ///   beacon off.
    func first(until deadline: HCIInstant) throws(HCIChannelError) -> Int? {
        let end = interruption?.takenAt.map { HCIInstant(nanoseconds: $0 + Self.shutdownTimeout) }
        let deadline = end.map { min(deadline, $0) } ?? deadline
        do throws(SystemError) {
            try list.wait(until: deadline.nanoseconds)
        } catch {
            throw HCIChannelError(error)
        }
        if let interruption, list.isReady(count), interruption.take() != nil { throw .interrupted }
        return (0..<count).first { list.isReady($0) }
    }
}

extension HCIChannelError {
    /// Whether the kernel refused an operation because this process lacks a capability (EPERM).
    public var isNotPermitted: Bool {
        guard case .system(_, let number, _) = self else { return false }
        return Errno(rawValue: number) == .notPermitted
    }

    init(_ error: SystemError) {
        self = .system(call: error.call, errno: error.errno.rawValue, text: error.text)
    }
}
