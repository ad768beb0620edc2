/// What becomes due on the clock of listened time, earliest first; of two at the same time the one of the lesser kind and
/// number, so that the order depends on nothing else.
struct ZoneTimers: Sendable {
    enum Kind: Int, Sendable {
        /// A beacon's silence is too long, perhaps.
        case silence
        /// A beacon was too far for long enough, perhaps.
        case level
        /// Somebody has been inside for long enough, perhaps.
        case dwell
    }

    struct Timer: Sendable {
        /// In microseconds of listened time.
        let due: Int
        let kind: Kind
        /// Of what: a pair or a unit.
        let number: Int

        static func < (left: Timer, right: Timer) -> Bool {
            if left.due != right.due { return left.due < right.due }
            return left.kind == right.kind ? left.number < right.number : left.kind.rawValue < right.kind.rawValue
        }
    }

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

    /// Takes the first one out.
    mutating func removeFirst() -> Timer? {
        guard let first = heap.first, let last = heap.popLast() else { return nil }
        guard !heap.isEmpty else { return first }
        heap[0] = last
        var place = 0
        while true {
            var least = place
            for child in 2 * place + 1...2 * place + 2 where child < heap.count && heap[child] < heap[least] {
                least = child
            }
            if least == place { return first }
            heap.swapAt(place, least)
            place = least
        }
    }
}
