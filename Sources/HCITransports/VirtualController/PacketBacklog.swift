internal import HCI

/// Packets that a host has not yet taken, first in, first out.
///
/// A host that reads nothing does not eat memory. Advertising reports come without its doing: those that find the
/// backlog long are dropped, as a controller drops them. Answers are never dropped, for each command has one; instead
/// no more commands are taken from a host while the backlog is full, until it has read some of what there is.
struct PacketBacklog {
    private var packets: [[UInt8]] = []
    private var start = 0
    private var octets = 0

    static let reportLimit = 1 << 20
    /// Above the limit of reports, so that reports alone never keep a host from giving commands.
    static let limit = 2 << 20

    var isEmpty: Bool { start == packets.count }
    /// Whether nothing that is answered may be taken from the host for now.
    var isFull: Bool { octets >= Self.limit }
    var first: [UInt8]? { isEmpty ? nil : packets[start] }

    mutating func append(_ packet: HCIPacket) {
        let isReport = packet.kind == .event && packet.octets.first == HCIEventCode.leMeta
        guard !isReport || octets < Self.reportLimit else { return }
        let h4 = packet.h4
        packets.append(h4)
        octets += h4.count
    }

    /// Takes `count` octets of the first packet away.
    mutating func removeFirst(_ count: Int) {
        guard let packet = first else { return }
        octets -= count
        guard count == packet.count else {
            packets[start] = Array(packet[count...])
            return
        }
        start += 1
        // Moving the rest up costs as much as there is left of it; done rarely, it costs nothing.
        guard start == packets.count || start > 1024 else { return }
        packets.removeFirst(start)
        start = 0
    }
}
