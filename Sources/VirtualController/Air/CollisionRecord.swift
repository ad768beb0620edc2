import HCI

/// Which packets on the air overlap another one on their channel.
struct CollisionRecord {
    private struct Transmission {
        let number: UInt64
        let sender: VirtualController.ID
        let end: HCIInstant
    }

    private var onAir: [Int: [Transmission]] = [:]
    private var destroyed: Set<UInt64> = []
    private var count: UInt64 = 0

    /// Enters a packet that starts now and gives it a number.
    mutating func begin(_ pdu: AirPDU) -> UInt64 {
        count += 1
        var others = onAir[pdu.channel] ?? []
        // Back to back is no overlap.
        others.removeAll { $0.end <= pdu.start }
        for other in others where other.sender != pdu.sender {
            destroyed.insert(other.number)
            destroyed.insert(count)
        }
        others.append(Transmission(number: count, sender: pdu.sender, end: pdu.end))
        onAir[pdu.channel] = others
        return count
    }

    /// Whether the packet, which has just ended, got through.
    mutating func end(_ number: UInt64) -> Bool {
        destroyed.remove(number) == nil
    }
}
