internal import HCI

/// Packets that a host has not yet taken, first in, first out.
///
/// A host that reads nothing loses advertising reports instead of eating memory. Answers to commands are kept: it
/// cannot send more commands than it has credits, and one that does so all the same is given up.
struct PacketBacklog {
    private var packets: [[UInt8]] = []
    private var start = 0
    private var octets = 0

    static let reportLimit = 1 << 20
    static let answerLimit = 2 << 20

    var isEmpty: Bool { start == packets.count }
    var first: [UInt8]? { isEmpty ? nil : packets[start] }

    /// Returns whether the host still keeps to the rules.
    mutating func append(_ packet: HCIPacket) -> Bool {
        let isReport = packet.kind == .event && packet.octets.first == HCIEventCode.leMeta
        guard octets < (isReport ? Self.reportLimit : Self.answerLimit) else { return isReport }
        let h4 = packet.h4
        packets.append(h4)
        octets += h4.count
        return true
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
