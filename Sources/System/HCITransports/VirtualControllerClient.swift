internal import HCI
internal import LinuxHost
internal import SystemPackage
internal import VirtualController

/// A program (host) that is connected to a virtual controller. This object has its stream, and the packets that are
/// still to be written to the stream.
final class VirtualControllerClient {
    let stream: Descriptor
    var controller: VirtualController?
    /// True if the host has closed the stream or has sent bytes that are not H4.
    private(set) var isFinished = false
    private let isPacketOriented: Bool
    private var framer = H4Framer()
    private var outgoing = PacketBacklog()
    /// The largest number of reads in one call of ``readAvailable()``.
    private static let readLimit = 16

    /// Serves the host at the other end of `stream`.
    ///
    /// - Parameter isPacketOriented: True if each read and each write must be a whole packet, as for /dev/vhci.
    init(_ stream: Descriptor, isPacketOriented: Bool) {
        self.stream = stream
        self.isPacketOriented = isPacketOriented
    }

    /// The events of the stream to wait for. While the backlog is full, no commands are read from the host.
    var interest: Poller.Interest {
        Poller.Interest(stream, outgoing.isFull ? .write : outgoing.isEmpty ? .read : .readAndWrite)
    }

    /// Reads available commands of the host. The number of reads is limited, so that other hosts do not wait long.
    ///
    /// - Parameter advanceAir: Advances the air to the present time. It is called after each read and before the
    ///   commands take effect, so no command takes effect earlier than it was sent, even if this thread was paused.
    func readAvailable(advanceAir: () -> Void) {
        for _ in 0..<Self.readLimit where !isFinished && !outgoing.isFull {
            let octets: [UInt8]
            do throws(SystemError) {
                octets = try stream.read(upTo: 4096)
            } catch {
                if error.errno != .wouldBlock { isFinished = true }
                return
            }
            guard !octets.isEmpty else {
                isFinished = true
                return
            }
            advanceAir()
            handle(octets)
        }
    }

    private func handle(_ octets: [UInt8]) {
        if isPacketOriented {
            // The kernel answers the creation of the controller with a packet of type FF, which is ignored.
            guard let kind = octets.first.flatMap(HCIPacket.Kind.init) else { return }
            controller?.receive(HCIPacket(kind, Array(octets.dropFirst())))
            return
        }
        framer.push(octets)
        answerPackets()
    }

    /// Passes received packets to the controller while the backlog has room for the answers.
    private func answerPackets() {
        do throws(H4Error) {
            while !outgoing.isFull, let packet = try framer.next() { controller?.receive(packet) }
        } catch {
            // After a framing error the start of the next packet is unknown.
            isFinished = true
        }
    }

    func queue(_ packet: HCIPacket) {
        outgoing.append(packet)
    }

    /// Writes packets of the backlog while the host accepts them without waiting.
    func flush() {
        while !outgoing.isEmpty, !isFinished {
            let wasFull = outgoing.isFull
            let octets = outgoing.head(isPacketOriented: isPacketOriented)
            do throws(SystemError) {
                outgoing.removeFirst(try stream.write(octets))
                // Packets that were read while the backlog was full can be answered now.
                if wasFull && !outgoing.isFull { answerPackets() }
            } catch {
                switch error.errno {
                case .wouldBlock: return
                // The adapter is down, and the kernel accepts no packets until it is up.
                case .noSuchAddressOrDevice where isPacketOriented: outgoing.removeFirst(octets.count)
                default: isFinished = true
                }
            }
        }
    }
}

/// The queue of packets from a virtual controller to its host that are not written to the host's stream yet.
///
/// The memory of the queue is limited. While the queue is long, new advertising reports are dropped, as a real
/// controller does. Answers to commands are never dropped; instead, no commands are read from the host while the queue
/// is full.
struct PacketBacklog {
    /// The bytes of the packets; each packet begins with its H4 type byte. They are in one array, because separate
    /// arrays for answers of seven bytes would take eight times the memory.
    private var octets: [UInt8] = []
    /// The number of bytes at the start of `octets` that are already written to the stream.
    private var writtenCount = 0

    private var size: Int { octets.count - writtenCount }

    /// The size of the queue at which new reports are dropped, in bytes.
    static let reportLimit = 1 << 20
    /// The size of the queue at which no more commands are read, in bytes. It is above ``reportLimit``, so that reports
    /// alone never prevent the reading of commands.
    static let limit = (2 << 20) - (1 << 16)

    var isEmpty: Bool { size == 0 }
    /// True if no commands may be read from the host.
    var isFull: Bool { size >= Self.limit }

    mutating func append(_ packet: HCIPacket) {
        let isReport = packet.kind == .event && packet.octets.first == HCIEventCode.leMeta
        guard !isReport || size < Self.reportLimit else { return }
        octets += packet.h4
    }

    /// Returns the next bytes to write: the first packet if `isPacketOriented`, otherwise up to 1024 bytes; empty if
    /// the queue is empty.
    func head(isPacketOriented: Bool) -> [UInt8] {
        let unwritten = octets[writtenCount...]
        return Array(unwritten.prefix(isPacketOriented ? Self.lengthOfFirstPacket(unwritten) : 1024))
    }

    /// Removes the first `count` bytes, which were written to the stream.
    mutating func removeFirst(_ count: Int) {
        writtenCount += count
        if writtenCount == octets.count || writtenCount > octets.count / 2 {
            octets.removeFirst(writtenCount)
            writtenCount = 0
        }
    }

    /// Returns the length of the first packet with its type byte. A virtual controller sends only events, in which the
    /// byte after the type and the event code is the length of the parameters.
    private static func lengthOfFirstPacket(_ octets: ArraySlice<UInt8>) -> Int {
        octets.count > 2 ? 3 + Int(octets[octets.startIndex + 2]) : octets.count
    }
}
