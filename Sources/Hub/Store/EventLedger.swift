internal import LinuxHost

/// Writes events and sightings to an ``EventStore``, and keeps them in memory while the file of the store cannot be
/// written.
///
/// As soon as the file can be written again, the events, sightings and deliveries in memory are written in their order.
/// So the presences in the file always belong to a single moment, which may be in the past. Each event is stored, in
/// the file or in memory, together with the channels that have not received it yet. A channel is a destination of
/// events outside this program, such as a broker or a hook.
///
/// If another process has locked the file, or the disk is full, calls are delayed by at most 50 ms in each second. Only
/// ``open()`` and ``finish()`` may wait longer.
public final class EventLedger {
    /// The largest number of events that wait in memory. If there are more, the oldest are dropped.
    public static let eventLimit = 10_000
    /// The largest number of sightings that wait in memory. If there are more, the oldest are dropped.
    private static let sightingLimit = 100_000
    /// Sightings are written each second, or earlier if this number of them waits.
    private static let sightingBatch = 10_000
    /// One second in nanoseconds.
    private static let second: UInt64 = 1_000_000_000
    /// The time between two deletions of old events, in nanoseconds.
    private static let pruningInterval: UInt64 = 3600 * second
    /// The longest wait while another process has locked the file, in milliseconds. `startOrEnd` is the wait at the
    /// start and the end of the service, `running` the wait at all other times.
    private static let lockMilliseconds = (running: 50, startOrEnd: 500)

    /// The number of events that were dropped before they could be written.
    public private(set) var dropped = 0
    private let path: String
    private var store: EventStore?
    /// True if the file is damaged or belongs to another program, so that retrying does not help.
    private var isUnusable = false
    private var events: [EventStore.Record] = []
    private var sightings: [SightingRow] = []
    private var droppedSightings = 0
    /// The deliveries that are not recorded in the file yet.
    private var deliveries: [EventStore.Delivery] = []
    private var run = ServiceRunWriter()
    private var failure = FailureReport()
    /// After a failure, the earliest time of the next attempt to use the file, in nanoseconds.
    private var nextTry: UInt64 = 0
    /// The time at which sightings are next written, in nanoseconds.
    private var nextSightings: UInt64 = 0
    /// The time at which old events are next deleted, in nanoseconds.
    private var nextPruning: UInt64 = 0

    /// Creates a ledger. ``open()`` opens its file.
    public init(path: String) { self.path = path }

    /// The number of events that wait in memory.
    public var backlogCount: Int { events.count }

    /// Returns new notices for the operator, for example that the file cannot be written, or can be written again.
    public func takeNotices() -> [Notice] { failure.takeNotices() }

    /// Opens the file, and creates it if it is missing.
    public func open() {
        do throws(StoreError) {
            // Wait longer at the start, because the service cannot start correctly without the presences.
            let opened = try EventStore(
                path: path,
                waiting: nextTry == 0 ? Self.lockMilliseconds.startOrEnd : Self.lockMilliseconds.running)
            opened.wait(forOthers: Self.lockMilliseconds.running)
            store = opened
            succeed()
        } catch {
            fail(error)
        }
    }

    // MARK: Writing

    /// Writes an event together with its effect on presences.
    ///
    /// - Parameter channels: The channels that must receive the event.
    /// - Returns: The event's sequence number; `nil` if the event waits in memory or was already in the file. If the
    ///   result is `nil`, the caller must pass the event to the channels at once, and mark it as delivered by its id.
    ///   A channel for which the event is not marked as delivered receives it later from the file.
    public func record(_ event: EventStore.Event, _ change: EventStore.Change, for channels: [String]) -> Int64? {
        if let store, events.isEmpty, MonotonicClock.nanoseconds() >= nextTry {
            do throws(StoreError) {
                let number = try store.record(event, change, for: channels)
                succeed()
                return number
            } catch {
                fail(error)
            }
        }
        wait([EventStore.Record(event, change, for: channels)])
        return nil
    }

    /// Adds events and sightings. Events are written at once. Sightings and deliveries are written once a second.
    public func record(_ newRecords: [EventStore.Record], _ rows: [SightingRow]) {
        wait(newRecords)
        sightings += rows
        if sightings.count > Self.sightingLimit {
            droppedSightings += sightings.count - Self.sightingLimit
            sightings.removeFirst(sightings.count - Self.sightingLimit)
        }
        let now = MonotonicClock.nanoseconds()
        let areSightingsDue = sightings.count >= Self.sightingBatch || now >= nextSightings
        guard !events.isEmpty || areSightingsDue && !(sightings.isEmpty && deliveries.isEmpty), now >= nextTry else {
            return
        }
        nextSightings = now + Self.second
        retry()
    }

    /// Keeps records in memory until they are written.
    private func wait(_ newRecords: [EventStore.Record]) {
        guard !isUnusable else { return dropped += newRecords.count }
        events += newRecords
        guard events.count > Self.eventLimit else { return }
        dropped += events.count - Self.eventLimit
        events.removeFirst(events.count - Self.eventLimit)
    }

    /// Writes the events, sightings and deliveries in memory to the file. Must be called about once a second.
    public func retry() {
        guard !isUnusable, MonotonicClock.nanoseconds() >= nextTry else { return }
        write()
    }

    /// Records that the service runs, so that the history shows when it did not run. Must be called about once a
    /// second.
    ///
    /// - Parameter time: The present wall-clock time, in microseconds since 1970.
    public func markRunning(at time: Int64) {
        guard run.extend(to: time, at: MonotonicClock.nanoseconds()) else { return }
        writeRun(isOver: false)
    }

    private func writeRun(isOver: Bool) {
        guard let run = run.run(isOver: isOver) else { return }
        use { store throws(StoreError) in try store.record(run) }
    }

    private func write() {
        if store == nil { open() }
        guard let store, !events.isEmpty || !sightings.isEmpty || !deliveries.isEmpty else { return }
        do throws(StoreError) {
            try store.write(events, sightings, deliveries)
            (events, sightings, deliveries) = ([], [], [])
            succeed()
        } catch {
            fail(error)
        }
    }

    /// Writes all data in memory for the last time, and reports how many events and sightings could not be written.
    ///
    /// - Returns: The events that could not be written, with the channels that have not received them.
    @discardableResult
    public func finish() -> [EventStore.Record] {
        if !isUnusable {
            store?.wait(forOthers: Self.lockMilliseconds.startOrEnd)
            write()
            run.finish(at: WallClock.microseconds())
            writeRun(isOver: true)
        }
        let lostEvents = dropped + events.count
        if lostEvents > 0 {
            failure.report(
                "\(path): \(lostEvents) \(lostEvents == 1 ? "event was" : "events were") not written, and "
                    + "\(lostEvents == 1 ? "is" : "are") missing from the history")
        }
        let lostSightings = droppedSightings + sightings.count
        if lostSightings > 0 {
            failure.report(
                "\(path): \(lostSightings) \(lostSightings == 1 ? "sighting was" : "sightings were") not written, and "
                    + "\(lostSightings == 1 ? "is" : "are") missing from the history")
        }
        defer { events = [] }
        return events
    }

    /// Deletes events before `time`, in microseconds since 1970, that every channel has received.
    public func prune(before time: Int64) {
        use { store throws(StoreError) in try store.prune(before: time) }
    }

    /// Deletes events that are older than `days`, at most once an hour, and only while the wall clock is synchronized.
    public func pruneHourly(days: Int) {
        let now = MonotonicClock.nanoseconds()
        guard now >= nextPruning else { return }
        nextPruning = now + Self.pruningInterval
        guard WallClock.synchronization() == .synchronized else { return }
        prune(before: WallClock.microseconds() - Int64(days) * 86_400_000_000)
    }

    // MARK: Channels

    /// Records that a channel has received the event with this sequence number.
    public func markDelivered(_ number: Int64, for channel: String) { markDelivered(.number(number, channel: channel)) }

    /// Records that a channel has received all events up to a sequence number.
    public func markDelivered(through number: Int64, for channel: String) {
        markDelivered(.through(number, channel: channel))
    }

    /// Records that a channel has received the event with this id, which may still be in memory.
    public func markDelivered(id: String, for channel: String) {
        guard let index = events.lastIndex(where: { $0.event.id == id }) else {
            return markDelivered(.id(id, channel: channel))
        }
        events[index].channels.removeAll { $0 == channel }
    }

    /// Records that a channel has received all events so far. The record is written with the next data, within about a
    /// second.
    public func markAllDelivered(for channel: String) {
        for index in events.indices { events[index].channels.removeAll { $0 == channel } }
        let delivery = EventStore.Delivery.through(.max, channel: channel)
        if !deliveries.contains(delivery) { deliveries.append(delivery) }
    }

    private func markDelivered(_ delivery: EventStore.Delivery) {
        guard deliveries.isEmpty, use({ store throws(StoreError) in try store.markDelivered(delivery) }) != nil else {
            if !isUnusable { deliveries.append(delivery) }
            return
        }
    }

    /// Returns the oldest events that a channel has not received yet and whose sequence number is above `number`, at
    /// most `limit` of them; `nil` if the file cannot be read now.
    public func waiting(for channel: String, limit: Int, after number: Int64 = 0) -> [EventStore.Waiting]? {
        use { store throws(StoreError) in try store.waiting(for: channel, limit: limit, after: number) }
    }

    /// Returns the number of events in the file that a channel has not received yet.
    public func waitingCount(for channel: String) -> Int {
        use { store throws(StoreError) in try store.waitingCount(for: channel) } ?? 0
    }

    // MARK: Presences

    /// The beacons that are inside, according to the file.
    public var presences: [EventStore.Presence] {
        use { store throws(StoreError) in try store.presences() } ?? []
    }

    /// The time of the newest event in the file, in microseconds since 1970; `nil` if there is none.
    public var newestTime: Int64? {
        use { store throws(StoreError) in try store.newestTime() } ?? nil
    }

    /// Removes a presence whose beacon or zone is no longer in the configuration.
    public func forget(_ presence: EventStore.Presence) {
        use { store throws(StoreError) in try store.forget(presence) }
    }

    /// Replaces the presences. Call this if another process recorded the events so far.
    public func replacePresences(with presences: [EventStore.Presence]) {
        use { store throws(StoreError) in try store.replacePresences(with: presences) }
    }

    // MARK: Failures

    /// Returns the result of `body`; `nil` if `body` fails. Also returns `nil` without calling `body` if the file is
    /// not open, or if its last use failed less than a second ago.
    @discardableResult
    private func use<Value>(_ body: (EventStore) throws(StoreError) -> Value) -> Value? {
        guard let store, MonotonicClock.nanoseconds() >= nextTry else { return nil }
        do throws(StoreError) {
            return try body(store)
        } catch {
            fail(error)
            return nil
        }
    }

    private func fail(_ error: StoreError) {
        nextTry = MonotonicClock.nanoseconds() + Self.second
        // Retrying helps if the disk is full, but not if the file is damaged or belongs to another program.
        isUnusable = error.kind == .corrupt || error.kind == .foreign
        failure.begin(
            "\(error); "
                + (isUnusable
                    ? "repair the file or move it away, and start again"
                    : "events wait in memory until the file can be written"))
    }

    private func succeed() { failure.end("\(path): events are written to this file again") }
}
