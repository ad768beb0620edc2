/// Timers in listened time, earliest first. Timers that are due at the same time are ordered by kind and number, so
/// that the order of events does not depend on the order of insertion.
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
        /// The number of a member; for `dwell`, the number of an occupancy.
        let number: Int

        static func < (left: Timer, right: Timer) -> Bool {
            (left.due, left.kind.rawValue, left.number) < (right.due, right.kind.rawValue, right.number)
        }
    }

    /// A binary heap.
    private var heap: [Timer] = []

    var first: Timer? { heap.first }

    mutating func add(_ due: Int, _ kind: Kind, _ number: Int) {
        heap.append(Timer(due: due, kind: kind, number: number))
        var place = heap.count - 1
        while place > 0, case let parent = (place - 1) / 2, heap[place] < heap[parent] {
            heap.swapAt(place, parent)
            place = parent
        }
    }

    mutating func removeFirst() {
        guard let last = heap.popLast(), !heap.isEmpty else { return }
        heap[0] = last
        var place = 0
        while true {
            var least = place
            for child in 2 * place + 1...2 * place + 2 where child < heap.count && heap[child] < heap[least] {
                least = child
            }
            if least == place { return }
            heap.swapAt(place, least)
            place = least
        }
    }
}
