import HCI

/// What will happen on the air, soonest first; what falls on the same instant keeps the order in which it was planned.
struct OccurrenceHeap {
    private struct Entry {
        let instant: HCIInstant
        /// Breaks ties, so that one seed gives one history.
        let order: UInt64
        let occurrence: Occurrence

        func comes(before other: Entry) -> Bool {
            instant == other.instant ? order < other.order : instant < other.instant
        }
    }

    private var entries: [Entry] = []
    private var planned: UInt64 = 0

    var count: Int { entries.count }
    var next: HCIInstant? { entries.first?.instant }

    mutating func insert(_ occurrence: Occurrence, at instant: HCIInstant) {
        entries.append(Entry(instant: instant, order: planned, occurrence: occurrence))
        planned &+= 1
        var child = entries.count - 1
        while child > 0 {
            let parent = (child - 1) / 2
            guard entries[child].comes(before: entries[parent]) else { return }
            entries.swapAt(child, parent)
            child = parent
        }
    }

    /// Takes out the soonest, unless it lies after `deadline`.
    mutating func removeFirst(until deadline: HCIInstant) -> (instant: HCIInstant, occurrence: Occurrence)? {
        guard let first = entries.first, first.instant <= deadline else { return nil }
        entries.swapAt(0, entries.count - 1)
        entries.removeLast()
        sink(from: 0)
        return (first.instant, first.occurrence)
    }

    /// Leaves out what has become pointless.
    mutating func keepOnly(where isWanted: (Occurrence) -> Bool) {
        entries.removeAll { !isWanted($0.occurrence) }
        for index in stride(from: entries.count / 2 - 1, through: 0, by: -1) { sink(from: index) }
    }

    private mutating func sink(from start: Int) {
        var parent = start
        while true {
            var least = parent
            for child in [2 * parent + 1, 2 * parent + 2] where child < entries.count {
                if entries[child].comes(before: entries[least]) { least = child }
            }
            if least == parent { return }
            entries.swapAt(parent, least)
            parent = least
        }
    }
}
