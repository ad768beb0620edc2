import HCI

/// An action of the simulation, which is planned for a certain instant.
enum Occurrence {
    /// An advertising set starts its next advertising event.
    case advertisingEvent(AdvertisingRun)
    /// An advertising event sends its PDU on the channel at `index` in ``AdvertisingEvent/channels``.
    case transmission(AdvertisingEvent, index: Int)
    /// The transmission of a packet has ended. Scanners that listened during the whole transmission have received the
    /// packet.
    case transmitted(AirPDU, AdvertisingEvent, transmission: UInt64)
    /// A scannable advertiser answers a scan request of the controller `to`.
    case scanResponse(AdvertisingEvent, channel: Int, to: VirtualController.ID)
    /// The scan response has arrived at the controller `by`.
    case scanResponseReceived(AirPDU, by: VirtualController.ID)
    /// The duration of an advertising set is over.
    case durationOver(AdvertisingRun)
    /// An advertising set has sent its maximum number of events.
    case eventsOver(AdvertisingRun)
    /// The duration of a scan or the pause between two scan periods is over.
    case scanPhaseOver(VirtualController.ID, run: UInt64)
    /// A delayed packet of the host arrives.
    case toController(VirtualController.ID, HCIPacket)
    /// A delayed packet of the controller arrives.
    case toHost(VirtualController.ID, HCIPacket)

    var controller: VirtualController.ID? {
        switch self {
        case .advertisingEvent(let run), .durationOver(let run), .eventsOver(let run): run.controller
        case .transmission(let event, _): event.run.controller
        case .transmitted: nil
        case .scanResponse(_, _, let scanner), .scanResponseReceived(_, let scanner): scanner
        case .scanPhaseOver(let controller, _), .toController(let controller, _), .toHost(let controller, _): controller
        }
    }
}

/// A period of uninterrupted advertising by one set. Occurrences that were planned for an earlier period are ignored.
struct AdvertisingRun: Hashable {
    let controller: VirtualController.ID
    let set: AdvertisingSetID
    /// The number of the run: see `VirtualController.newRun()`.
    let number: UInt64
}

/// One advertising event: the same PDU is sent on each enabled channel. Its values are the values of the set when the
/// event began.
struct AdvertisingEvent {
    let run: AdvertisingRun
    let channels: [Int]
    /// The PDU. Its start and its channel are set again for each channel.
    let pdu: AirPDU
    /// The scan response of a scannable advertisement.
    let scanResponse: AirPDU?
    let filterPolicy: AdvertisingFilterPolicy
    /// `true` if no further event follows.
    let isLast: Bool
}

/// The planned occurrences, in the order of time. Occurrences at the same instant are in the order in which they were
/// planned.
struct OccurrenceHeap {
    private struct Entry {
        let instant: HCIInstant
        /// The number of the occurrence in the order of planning. It determines the order of occurrences at the same
        /// instant, so that the same seed always gives the same simulation.
        let order: UInt64
        let occurrence: Occurrence

        func comes(before other: Entry) -> Bool {
            instant == other.instant ? order < other.order : instant < other.instant
        }
    }

    /// The occurrences as a binary heap: each entry comes before its two children.
    private var entries: [Entry] = []
    /// The number of occurrences that were ever planned.
    private var plannedCount: UInt64 = 0

    var count: Int { entries.count }
    /// The instant of the earliest occurrence; `nil` if there is none.
    var nextInstant: HCIInstant? { entries.first?.instant }

    mutating func insert(_ occurrence: Occurrence, at instant: HCIInstant) {
        entries.append(Entry(instant: instant, order: plannedCount, occurrence: occurrence))
        plannedCount &+= 1
        var child = entries.count - 1
        while child > 0 {
            let parent = (child - 1) / 2
            guard entries[child].comes(before: entries[parent]) else { return }
            entries.swapAt(child, parent)
            child = parent
        }
    }

    /// Removes and returns the earliest occurrence; `nil` if it is after `deadline`, or if there is none.
    mutating func removeFirst(until deadline: HCIInstant) -> (instant: HCIInstant, occurrence: Occurrence)? {
        guard let earliest = entries.first, earliest.instant <= deadline else { return nil }
        entries.swapAt(0, entries.count - 1)
        entries.removeLast()
        siftDown(from: 0)
        return (earliest.instant, earliest.occurrence)
    }

    /// Removes all occurrences for which `hasEffect` returns `false`.
    mutating func keepOnly(where hasEffect: (Occurrence) -> Bool) {
        entries.removeAll { !hasEffect($0.occurrence) }
        for index in stride(from: entries.count / 2 - 1, through: 0, by: -1) { siftDown(from: index) }
    }

    /// Moves the entry at `start` down the heap until it comes before both of its children.
    private mutating func siftDown(from start: Int) {
        var parent = start
        while true {
            var earliest = parent
            for child in [2 * parent + 1, 2 * parent + 2] where child < entries.count {
                if entries[child].comes(before: entries[earliest]) { earliest = child }
            }
            if earliest == parent { return }
            entries.swapAt(parent, earliest)
            parent = earliest
        }
    }
}

/// Finds packets that overlap with another packet on the same channel.
struct CollisionRecord {
    private struct Transmission {
        let number: UInt64
        let sender: VirtualController.ID
        let end: HCIInstant
    }

    /// The most recent packets on each channel. Packets that have ended are removed when the next packet begins.
    private var onAir: [Int: [Transmission]] = [:]
    /// The numbers of the packets that have collided and have not ended yet.
    private var collided: Set<UInt64> = []
    /// The number of the last packet.
    private var lastNumber: UInt64 = 0

    /// Adds a packet that starts now, and returns its number.
    mutating func begin(_ pdu: AirPDU) -> UInt64 {
        lastNumber += 1
        var transmissions = onAir[pdu.channel] ?? []
        // Packets that follow each other without a gap do not overlap.
        transmissions.removeAll { $0.end <= pdu.start }
        for other in transmissions where other.sender != pdu.sender {
            collided.insert(other.number)
            collided.insert(lastNumber)
        }
        transmissions.append(Transmission(number: lastNumber, sender: pdu.sender, end: pdu.end))
        onAir[pdu.channel] = transmissions
        return lastNumber
    }

    /// Removes a packet that has just ended. Returns true if it did not collide.
    mutating func end(_ number: UInt64) -> Bool {
        collided.remove(number) == nil
    }
}
