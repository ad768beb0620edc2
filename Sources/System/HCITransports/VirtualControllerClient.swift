internal import HCI
internal import LinuxHost
internal import VirtualController

/// One host of a virtual controller: its stream, and what it has not yet taken.
final class VirtualControllerClient {
    let stream: Descriptor
    var controller: VirtualController?
    /// The host has gone, or speaks no H4.
    private(set) var isFinished = false
    private let isPacketOriented: Bool
    private var framer = H4Framer()
    private var outgoing = PacketBacklog()
    private static let readsInATurn = 16

    /// - Parameter isPacketOriented: each read and each write is one whole packet, as /dev/vhci wants it.
    init(_ stream: Descriptor, isPacketOriented: Bool) {
        self.stream = stream
        self.isPacketOriented = isPacketOriented
    }

    /// What is worth waiting for. A host that takes no answers is asked for no commands.
    var interest: Poller.Interest {
        Poller.Interest(stream, outgoing.isFull ? .write : outgoing.isEmpty ? .read : .readAndWrite)
    }

    /// Takes what the host has written, but only so much that the others have their turn soon.
    func readAvailable() {
        for _ in 0..<Self.readsInATurn where !isFinished && !outgoing.isFull {
            let octets: [UInt8]
            do throws(SystemError) {
                octets = try stream.read(upTo: 4096)
            } catch {
                if error.errno != SystemError.wouldBlock { isFinished = true }
                return
            }
            guard !octets.isEmpty else {
                isFinished = true
                return
            }
            take(octets)
        }
    }

    private func take(_ octets: [UInt8]) {
        if isPacketOriented {
            // The kernel's answer to the creation of the controller is a packet of type FF.
            guard let kind = octets.first.flatMap(HCIPacket.Kind.init) else { return }
            controller?.receive(HCIPacket(kind, Array(octets.dropFirst())))
            return
        }
        framer.push(octets)
        answerPackets()
    }

    /// Hands over the packets that have been read, for as long as there is room for their answers.
    private func answerPackets() {
        do throws(H4Error) {
            while !outgoing.isFull, let packet = try framer.next() { controller?.receive(packet) }
        } catch {
            // H4 has no way back into step.
            isFinished = true
        }
    }

    func queue(_ packet: HCIPacket) {
        outgoing.append(packet)
    }

    /// Writes what the host takes without making us wait.
    func flush() {
        while !outgoing.isEmpty, !isFinished {
            let wasFull = outgoing.isFull
            let octets = outgoing.head(isPacketOriented: isPacketOriented)
            do throws(SystemError) {
                outgoing.removeFirst(try stream.write(octets))
                // Packets that had to wait for this are not announced by the stream any more.
                if wasFull && !outgoing.isFull { answerPackets() }
            } catch {
                switch error.errno {
                case SystemError.wouldBlock: return
                // The kernel has the adapter down, and wants to hear nothing of it until it is up again.
                case SystemError.noDeviceOrAddress where isPacketOriented: outgoing.removeFirst(octets.count)
                default: isFinished = true
                }
            }
        }
    }
}

/// Packets that a host has not yet taken, first in, first out.
///
/// A host that reads nothing does not eat memory. Advertising reports come without its doing: those that find the
/// backlog long are dropped, as a controller drops them. Answers are never dropped, for each command has one; instead
/// no more commands are taken from a host while the backlog is full, until it has read some of what there is.
///
/// The packets lie one behind the other in a ring of bytes, each behind four bytes with its length: a list of
/// separate arrays would take eight times as much for short packets.
struct PacketBacklog {
    /// As long as a power of two; its bytes from ``start`` on, round the end, are the packets.
    private var ring: [UInt8] = []
    private var start = 0
    private var count = 0
    /// Bytes of the first packet that the host has taken already.
    private var taken = 0

    /// The most that the ring ever takes, in bytes.
    static let capacity = 2 << 20
    static let reportLimit = 1 << 20
    /// Above the limit of reports, so that reports alone never keep a host from giving commands; what one command is
    /// answered with has room above it.
    static let limit = capacity - (1 << 16)
    private static let prefixLength = 4

    var isEmpty: Bool { count == 0 }
    /// Whether nothing that is answered may be taken from the host for now.
    var isFull: Bool { count >= Self.limit }

    mutating func append(_ packet: HCIPacket) {
        let isReport = packet.kind == .event && packet.octets.first == HCIEventCode.leMeta
        guard !isReport || count < Self.reportLimit else { return }
        let length = packet.octets.count + 1
        makeRoom(for: Self.prefixLength + length)
        for shift in [0, 8, 16, 24] { put(UInt8(truncatingIfNeeded: length >> shift)) }
        put(packet.kind.rawValue)
        for octet in packet.octets { put(octet) }
    }

    /// What is left of the first packet and, unless `isPacketOriented`, of those behind it, up to about `limit` bytes;
    /// empty when there is none.
    func head(isPacketOriented: Bool, limit: Int = 1024) -> [UInt8] {
        var result: [UInt8] = []
        var offset = 0
        var skipped = taken
        while offset < count, result.isEmpty || !isPacketOriented && result.count < limit {
            let length = self.length(at: offset)
            offset += Self.prefixLength
            for index in skipped..<length { result.append(octet(at: offset + index)) }
            offset += length
            skipped = 0
        }
        return result
    }

    /// Forgets the first `octets` of what ``head(isPacketOriented:limit:)`` gave.
    mutating func removeFirst(_ octets: Int) {
        taken += octets
        while !isEmpty {
            let length = self.length(at: 0)
            guard taken >= length else { return }
            taken -= length
            start = (start + Self.prefixLength + length) & (ring.count - 1)
            count -= Self.prefixLength + length
        }
        taken = 0
        start = 0
        // A backlog that was long once is short from now on.
        if ring.count > 1 << 16 { ring = [] }
    }

    private func octet(at offset: Int) -> UInt8 { ring[(start + offset) & (ring.count - 1)] }

    private func length(at offset: Int) -> Int {
        (0..<Self.prefixLength).reduce(0) { $0 | Int(octet(at: offset + $1)) << (8 * $1) }
    }

    private mutating func put(_ octet: UInt8) {
        ring[(start + count) & (ring.count - 1)] = octet
        count += 1
    }

    private mutating func makeRoom(for octets: Int) {
        guard count + octets > ring.count else { return }
        var size = max(ring.count, 1024)
        while size < count + octets { size *= 2 }
        let straight = min(count, ring.count - start)
        var larger: [UInt8] = []
        larger.reserveCapacity(size)
        larger += ring[start..<start + straight]
        larger += ring[..<(count - straight)]
        larger += [UInt8](repeating: 0, count: size - count)
        ring = larger
        start = 0
    }
}
