internal import Store

/// Reads the events of one database in their order, a thousand at a time, so that years of events need little memory.
struct HistoryCursor {
    /// The largest number of events that are in memory at a time.
    static let page = 1000

    private let fetch: () throws -> [EventStore.Event]
    private var events: ArraySlice<EventStore.Event> = []
    private var isOver = false

    /// - Parameter fetch: Returns the next events; an empty array after the last event.
    init(_ fetch: @escaping () throws -> [EventStore.Event]) { self.fetch = fetch }

    /// Creates a cursor over the events of a time span, in the order of their times.
    ///
    /// - Parameters:
    ///   - page: The largest number of events that are in memory at a time.
    ///   - fetch: Returns the first events of a time span. The second parameter is the largest number of events.
    init(
        _ range: ClosedRange<Int64>, page: Int = HistoryCursor.page,
        _ fetch: @escaping (ClosedRange<Int64>, Int) throws -> [EventStore.Event]
    ) {
        var rest = range
        // The ids of the events at the start of `rest` that were already returned, because the next page begins at the
        // time of the last event.
        var taken: Set<String> = []
        self.init {
            let events = try fetch(rest, page + taken.count).filter { !taken.contains($0.id) }
            guard let last = events.last?.time else { return [] }
            let same = Set(events.filter { $0.time == last }.map(\.id))
            taken = last == rest.lowerBound ? taken.union(same) : same
            rest = last...rest.upperBound
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
            var next: (place: Int, event: EventStore.Event)?
            for place in cursors.indices {
                guard let event = try cursors[place].peek() else { continue }
                if let other = next?.event, (other.time ?? 0, other.id) <= (event.time ?? 0, event.id) { continue }
                next = (place, event)
            }
            guard let next else { return }
            cursors[next.place].events.removeFirst()
            try each(next.event, next.place)
        }
    }
}
