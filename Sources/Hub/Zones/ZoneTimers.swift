/// Timers in listened time, earliest first. Timers for the same time are ordered by kind and index, so that the order
/// of events does not depend on the order in which the timers were added.
struct ZoneTimers: Sendable {
    enum Kind: Int, Sendable {
        /// A beacon may have been silent for too long when the timer is due.
        case silence
        /// A beacon may have been beyond the leaving bound for long enough to leave.
        case level
        /// A dwell time may have ended.
        case dwell
    }

    struct Timer: Sendable {
        /// The time at which the timer is due, in microseconds of listened time.
        let due: Int
        let kind: Kind
        /// The index of a member; for `dwell`, the index of an occupancy.
        let index: Int

        static func < (left: Timer, right: Timer) -> Bool {
            (left.due, left.kind.rawValue, left.index) < (right.due, right.kind.rawValue, right.index)
        }
    }

    /// A binary heap.
    private var heap: [Timer] = []

    var first: Timer? { heap.first }

    mutating func add(_ due: Int, _ kind: Kind, _ index: Int) {
        heap.append(Timer(due: due, kind: kind, index: index))
        var child = heap.count - 1
        while child > 0, case let parent = (child - 1) / 2, heap[child] < heap[parent] {
            heap.swapAt(child, parent)
            child = parent
        }
    }

    mutating func removeFirst() {
        guard let last = heap.popLast(), !heap.isEmpty else { return }
        heap[0] = last
        var parent = 0
        while true {
            var earliest = parent
            for child in 2 * parent + 1...2 * parent + 2 where child < heap.count && heap[child] < heap[earliest] {
                earliest = child
            }
            if earliest == parent { return }
            heap.swapAt(parent, earliest)
            parent = earliest
        }
    }
}
