internal import Store

/// Reads the events of one database in their order, a thousand at a time, so that years of events need little memory.
struct HistoryCursor {
    /// The largest number of events that are in memory at a time.
    static let pageSize = 1000

    private let fetch: () throws -> [EventStore.Event]
    private var events: ArraySlice<EventStore.Event> = []
    private var isOver = false

    /// - Parameter fetch: Returns the next events; an empty array after the last event.
    init(_ fetch: @escaping () throws -> [EventStore.Event]) { self.fetch = fetch }

    /// Creates a cursor over the events of a time span, in the order of their times.
    ///
    /// - Parameters:
    ///   - pageSize: The largest number of events that are in memory at a time.
    ///   - fetch: Returns the first events of a time span. The second parameter is the largest number of events.
    init(
        _ range: ClosedRange<Int64>, pageSize: Int = HistoryCursor.pageSize,
        _ fetch: @escaping (ClosedRange<Int64>, Int) throws -> [EventStore.Event]
    ) {
        var remainingRange = range
        // The ids of the events at the start of `remainingRange` that were already returned. The next page contains
        // them again, because it begins at the time of the last event.
        var returnedIDs: Set<String> = []
        self.init {
            let events = try fetch(remainingRange, pageSize + returnedIDs.count).filter {
                !returnedIDs.contains($0.id)
            }
            guard let lastTime = events.last?.time else { return [] }
            let idsAtLastTime = Set(events.filter { $0.time == lastTime }.map(\.id))
            returnedIDs = lastTime == remainingRange.lowerBound ? returnedIDs.union(idsAtLastTime) : idsAtLastTime
            remainingRange = lastTime...remainingRange.upperBound
            return events
        }
    }

    /// Returns the next event without removing it; `nil` after the last event.
    mutating func peek() throws -> EventStore.Event? {
        if events.isEmpty, !isOver {
            events = try fetch()[...]
            isOver = events.isEmpty
        }
        return events.first
    }

    /// Passes the events of several cursors to `each`, in the order of their times.
    ///
    /// - Parameter each: Receives an event and the index of its cursor.
    static func merge(_ cursors: [HistoryCursor], _ each: (EventStore.Event, Int) throws -> Void) throws {
        var cursors = cursors
        while true {
            var earliest: (cursorIndex: Int, event: EventStore.Event)?
            for index in cursors.indices {
                guard let event = try cursors[index].peek() else { continue }
                if let other = earliest?.event, (other.time ?? 0, other.id) <= (event.time ?? 0, event.id) { continue }
                earliest = (index, event)
            }
            guard let earliest else { return }
            cursors[earliest.cursorIndex].events.removeFirst()
            try each(earliest.event, earliest.cursorIndex)
        }
    }
}
