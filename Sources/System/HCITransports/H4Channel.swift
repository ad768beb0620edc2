public import HCI
public import LinuxHost

/// H4 over any stream: a UART, TCP, a unix socket, or one end of a socket pair.
public final class H4Channel: HCIChannel {
    let stream: Descriptor
    private let waiter: ChannelWaiter
    private let name: String
    private var framer = H4Framer()
    private var buffer = [UInt8](repeating: 0, count: 4096)

    /// Takes over a connected, nonblocking `stream`; `name` stands in error messages.
    public init(_ stream: Descriptor, name: String, interruption: SignalDescriptor? = nil) {
        self.stream = stream
        self.name = name
        waiter = ChannelWaiter(stream, interruption: interruption)
    }

    public var now: HCIInstant { waiter.now }

    /// Writes the packet behind its type byte.
    ///
    /// - Throws: also when the other end takes nothing for 2 s.
    public func send(_ packet: HCIPacket) throws(HCIChannelError) {
        do throws(SystemError) {
            try stream.writeAll(packet.h4)
        } catch {
            throw failure(error)
        }
    }

    /// Reads and frames.
    ///
    /// - Throws: `HCIChannelError.framing` for what is no H4, now and ever after.
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
                if error.errno == SystemError.wouldBlock { continue }
                throw failure(error)
            }
            if count == 0 { throw .gone("\(name): the controller closed the connection") }
            framer.push(Array(buffer[..<count]))
        }
    }

    /// Throws away what has arrived so far: a UART may hold the tail of an earlier conversation.
    public func flushInput() {
        while let octets = try? stream.read(upTo: 4096), !octets.isEmpty {}
        framer = H4Framer()
    }

    private func failure(_ error: SystemError) -> HCIChannelError {
        switch error.errno {
        case SystemError.brokenPipe, SystemError.connectionReset, SystemError.ioError, SystemError.noDevice:
            .gone("\(name): the controller is gone")
        default:
            .system(call: error.call, errno: error.errno, text: error.text)
        }
    }
}

/// Waits for a channel's descriptors, for a deadline, and for a signal, whichever comes first. The channel keeps its
/// descriptors open.
final class ChannelWaiter {
    private var list: PollList
    /// How many of them are the channel's.
    private let count: Int
    private let interruption: SignalDescriptor?

    init(_ descriptors: Descriptor..., interruption: SignalDescriptor?) {
        list = PollList(reading: descriptors + [interruption?.descriptor].compactMap { $0 })
        count = descriptors.count
        self.interruption = interruption
    }

    var now: HCIInstant { HCIInstant(nanoseconds: MonotonicClock.nanoseconds()) }

    /// What may still be waited for, all in all, after the first signal: 0.8 s, in nanoseconds. Whoever sent it wants an
    /// end within a second, also where the controller does not answer.
    private static let farewell: UInt64 = 800_000_000

    /// Whether there is something to read before `deadline`; see ``first(until:)``.
    func wait(until deadline: HCIInstant) throws(HCIChannelError) -> Bool { try first(until: deadline) != nil }

    /// The place of the first descriptor that has something to read before `deadline`, or before the time that the first
    /// signal has left.
    ///
    /// - Throws: `interrupted` once for each signal, so that what the caller does next (turning the beacon off) can
    ///   use the channel again.
    func first(until deadline: HCIInstant) throws(HCIChannelError) -> Int? {
        let end = interruption?.takenAt.map { HCIInstant(nanoseconds: $0 + Self.farewell) }
        let deadline = end.map { min(deadline, $0) } ?? deadline
        do throws(SystemError) {
            try list.wait(until: deadline.nanoseconds)
        } catch {
            throw .system(call: error.call, errno: error.errno, text: error.text)
        }
        if let interruption, list.isReady(count), interruption.take() != nil { throw .interrupted }
        return (0..<count).first { list.isReady($0) }
    }
}
