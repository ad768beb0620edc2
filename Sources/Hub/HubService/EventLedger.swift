internal import LinuxHost
internal import Store
internal import Zones

/// Keeps what happens, and what was not handed on yet, in a file; in memory while the disk takes nothing.
///
/// An event that could not be kept is kept as soon as that is possible again, in its turn: who is inside by the file is who
/// was inside then.
final class EventLedger {
    /// Programs that are started.
    static let hooks = "hooks"
    /// Lines on standard output.
    static let lines = "lines"
    /// More than so many do not wait in memory: the oldest are given up.
    static let backlogLimit = 10_000

    private struct Record {
        let event: EventStore.Event
        let change: EventStore.Change
        let channels: [String]
    }

    /// Events that will never be kept.
    private(set) var dropped = 0
    /// Is told what went wrong and what is right again, in sentences; the second says whether it is a warning.
    var onSentence: (String, Bool) -> Void = { _, _ in }

    private let path: String
    private var store: EventStore?
    private var isUseless = false
    private var backlog: [Record] = []
    private var isFailing = false

    /// Nothing is opened yet.
    init(path: String) { self.path = path }

    /// How many events wait in memory to be kept.
    var backlogCount: Int { backlog.count }

    /// Opens the file, and makes it where it is missing.
    func open() {
        do throws(StoreError) {
            store = try EventStore(path: path)
            succeed()
        } catch {
            // Waiting helps against a full disk, and against nothing else.
            isUseless = error.kind == .corrupt || error.kind == .foreign
            fail(error, isUseless ? "repair the file or move it away, and start again" : "it is tried again")
        }
    }

    /// Keeps an event with what it makes of who is inside.
    ///
    /// - Parameter channels: Who has to be handed it.
    /// - Returns: its number; `nil` where it could not be kept yet, and will be for no channel of this run.
    func record(_ event: EventStore.Event, _ change: EventStore.Change, for channels: [String]) -> Int64? {
        guard let store, backlog.isEmpty else {
            wait(Record(event: event, change: change, channels: channels))
            return nil
        }
        do throws(StoreError) {
            let number = try store.record(event, change, for: channels)
            succeed()
            return number
        } catch {
            fail(error, "what happens is told, and kept as soon as that is possible")
            wait(Record(event: event, change: change, channels: channels))
            return nil
        }
    }

    private func wait(_ record: Record) {
        guard !isUseless else { return dropped += 1 }
        // What this run does with the event it does now.
        backlog.append(Record(event: record.event, change: record.change, channels: []))
        guard backlog.count > Self.backlogLimit else { return }
        backlog.removeFirst()
        dropped += 1
    }

    /// Keeps what waits, as far as that is possible. To be called now and then.
    func retry() {
        guard !isUseless, store == nil || !backlog.isEmpty else { return }
        if store == nil { open() }
        guard let store else { return }
        var kept = 0
        do throws(StoreError) {
            for record in backlog {
                _ = try store.record(record.event, record.change, for: record.channels)
                kept += 1
            }
            succeed()
        } catch {
            fail(error, "it is tried again")
        }
        backlog.removeFirst(kept)
    }

    /// A channel has been handed this one.
    func settle(_ number: Int64, for channel: String) {
        attempt { store throws(StoreError) in try store.settle(number, for: channel) }
    }

    /// A channel has been handed all up to this one.
    func settle(through number: Int64, for channel: String) {
        attempt { store throws(StoreError) in try store.settle(through: number, for: channel) }
    }

    /// Forgets events before `time`, in microseconds since 1970, that nobody waits for.
    func prune(before time: Int64) { attempt { store throws(StoreError) in _ = try store.prune(before: time) } }

    /// Forgets who is inside of places that there are no more.
    func forget(_ presence: EventStore.Presence) {
        attempt { store throws(StoreError) in try store.forget(presence) }
    }

    /// What a channel was not handed yet, oldest first.
    func waiting(for channel: String, limit: Int, after number: Int64 = 0) -> [EventStore.Waiting] {
        var found: [EventStore.Waiting] = []
        attempt { store throws(StoreError) in
            found = try store.waiting(for: channel, limit: limit, after: number)
        }
        return found
    }

    /// How many events a channel was not handed yet.
    func waitingCount(for channel: String) -> Int {
        var count = 0
        attempt { store throws(StoreError) in count = try store.waitingCount(for: channel) }
        return count
    }

    /// Who is inside, by what was kept.
    var presences: [EventStore.Presence] {
        var found: [EventStore.Presence] = []
        attempt { store throws(StoreError) in found = try store.presences() }
        return found
    }

    private func attempt(_ body: (EventStore) throws(StoreError) -> Void) {
        guard let store else { return }
        do throws(StoreError) {
            try body(store)
        } catch {
            fail(error, "it is tried again")
        }
    }

    // MARK: What is said, once

    private func fail(_ error: StoreError, _ next: String) {
        guard !isFailing else { return }
        isFailing = true
        onSentence("\(error): \(next)", true)
    }

    private func succeed() {
        if isFailing { onSentence("\(path): what happens is kept again", false) }
        isFailing = false
    }
}
