internal import Sightings

/// A clock that stops while the receiver is deaf, in microseconds.
///
/// All timers of a zone engine use it, so no beacon leaves while the receiver is deaf. This is the only place that decides
/// which time counts.
struct ListeningClock: Sendable {
    /// When the receiver became deaf; `nil` while it works.
    private(set) var deafSince: HeardInstant?
    private(set) var hasBegun = false
    /// The number of the present period of listening, from 0.
    private(set) var period = 0
    /// The latest time that the clock has shown.
    private(set) var listened = 0
    /// When the present period of listening began, and what the clock showed then.
    private var start = HeardInstant(nanoseconds: 0)
    private var startListened = 0

    /// Starts the clock; later calls change nothing.
    mutating func begin(at now: HeardInstant) {
        guard !hasBegun else { return }
        hasBegun = true
        start = now
    }

    mutating func stop(at now: HeardInstant) {
        listened = listened(at: now)
        deafSince = now
    }

    mutating func start(at now: HeardInstant) {
        deafSince = nil
        period += 1
        start = now
        startListened = listened
    }

    mutating func advance(to time: Int) { listened = max(listened, time) }

    /// What the clock shows at a moment of the present period.
    func listened(at now: HeardInstant) -> Int {
        guard hasBegun, deafSince == nil else { return listened }
        return startListened + now.microseconds(since: start)
    }

    /// The moment at which the clock shows `time`, in the present period.
    func instant(of time: Int) -> HeardInstant {
        start.advanced(byMicroseconds: max(0, time - startListened))
    }
}

/// Timers in listened time, earliest first. Timers that are due at the same time are ordered by kind and number, so that
/// the order of events does not depend on the order of insertion.
struct ZoneTimers: Sendable {
    enum Kind: Int, Sendable {
        /// A beacon may have been silent for too long.
        case silence
        /// A beacon may have been beyond the leaving bound for long enough.
        case level
        /// A dwell time may have ended.
        case dwell
    }

    struct Timer: Sendable {
        /// In microseconds of listened time.
        let due: Int
        let kind: Kind
        /// The number of a member, or for `dwell` of an occupancy.
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
