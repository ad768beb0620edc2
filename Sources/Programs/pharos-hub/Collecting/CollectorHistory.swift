internal import Collector
internal import Configuration
internal import LinuxHost
internal import Store

/// What a collector keeps on this machine: which beacon came, went and changed rooms, and who heard it when.
///
/// While the disk takes nothing it waits in memory, as far as it has room there.
final class CollectorHistory {
    private let path: String
    private let days: Int
    private var store: EventStore?
    private var records: [EventStore.Record] = []
    private var rows: [SightingRow] = []
    /// What was given up.
    private var dropped = 0
    private var isUseless = false
    private var isFailing = false
    private var nextTry: UInt64 = 0
    private var nextPruning: UInt64 = 0
    private var nextSightings: UInt64 = 0

    /// How many wait in memory at most.
    private static let recordLimit = 10_000
    private static let rowLimit = 100_000
    private static let rowBatch = 10_000
    /// In nanoseconds.
    private static let second: UInt64 = 1_000_000_000
    private static let pruning: UInt64 = 3600 * second

    /// - Parameter directory: The state directory; `nil` for the service's, or /var/lib/pharos.
    init(_ rule: CollectorFile.History, of name: String, in directory: String?) {
        path = Self.path(rule, of: name, in: directory)
        days = rule.days
        open()
    }

    /// Where a collector of this name keeps what happens.
    static func path(_ rule: CollectorFile.History, of name: String, in directory: String?) -> String {
        let file = rule.file ?? "\(name).collect.db"
        guard !file.hasPrefix("/") else { return file }
        return "\(Self.directory(directory))/\(file)"
    }

    /// The state directory, where an option names one or not.
    static func directory(_ given: String?) -> String {
        given ?? Terminal.environment("STATE_DIRECTORY") ?? "/var/lib/pharos"
    }

    private func open() {
        if let end = path.lastIndex(of: "/"), end > path.startIndex { try? Files.makeDirectory(String(path[..<end])) }
        attempt { () throws(StoreError) in store = try EventStore(path: path) }
    }

    /// Who was there when an earlier run ended.
    var stays: [SightingCollector.Stay] {
        var found: [SightingCollector.Stay] = []
        attempt { () throws(StoreError) in
            found =
                try store?.presences().map { presence in
                    SightingCollector.Stay(
                        beacon: presence.beacon, room: presence.zone.isEmpty ? nil : presence.zone,
                        since: Int(presence.since / 1000), isKnown: presence.dwells > 0)
                } ?? []
        }
        return found
    }

    /// Notes who is there, and who is gone, of shards of which another collector told until now.
    func adopt(_ stays: [SightingCollector.Stay], gone: [String]) {
        guard !stays.isEmpty || !gone.isEmpty else { return }
        attempt { () throws(StoreError) in
            try store?.adopt(
                stays.map {
                    EventStore.Presence(
                        zone: $0.room ?? "", beacon: $0.beacon, since: Int64($0.since) * 1000,
                        dwells: $0.isKnown ? 1 : 0)
                }, gone: gone)
        }
    }

    /// Keeps what has happened at once, and what was heard each second.
    func keep(_ events: [SightingCollector.Event], _ sightings: [SightingCollector.Sighting]) {
        records += events.map(Self.record)
        rows += sightings.map(Self.row)
        let now = MonotonicClock.nanoseconds()
        let isTime = rows.count >= Self.rowBatch || !rows.isEmpty && now >= nextSightings
        if !records.isEmpty || isTime, now >= nextTry { write(at: now) }
        limit()
    }

    /// Keeps all that is left.
    func finish() {
        if !records.isEmpty || !rows.isEmpty { write(at: MonotonicClock.nanoseconds()) }
        let lost = dropped + records.count
        if lost > 0 { Terminal.writeError("pharos: \(path): \(lost) events could not be kept\n") }
    }

    private func write(at now: UInt64) {
        guard !isUseless else { return }
        if store == nil { open() }
        guard let store else { return }
        nextSightings = now + Self.second
        attempt { () throws(StoreError) in
            try store.keep(records, rows)
            (records, rows) = ([], [])
            if isFailing { Terminal.writeError("pharos: \(path): what happens is kept again\n") }
            isFailing = false
        }
    }

    private func limit() {
        if records.count > Self.recordLimit {
            dropped += records.count - Self.recordLimit
            records.removeFirst(records.count - Self.recordLimit)
        }
        if rows.count > Self.rowLimit { rows.removeFirst(rows.count - Self.rowLimit) }
    }

    /// Forgets what is too old, now and then. A clock that nobody vouches for forgets nothing.
    func prune() {
        let now = MonotonicClock.nanoseconds()
        guard now >= nextPruning, let store else { return }
        nextPruning = now + Self.pruning
        guard WallClock.synchronization() == .synchronized else { return }
        let oldest = WallClock.microseconds() - Int64(days) * 86_400_000_000
        attempt { () throws(StoreError) in try store.prune(before: oldest) }
    }

    private func attempt(_ body: () throws(StoreError) -> Void) {
        do throws(StoreError) {
            try body()
        } catch {
            nextTry = MonotonicClock.nanoseconds() + Self.second
            // Waiting helps against a full disk, and against nothing else.
            isUseless = error.kind == .corrupt || error.kind == .foreign
            guard !isFailing else { return }
            isFailing = true
            let next = isUseless ? "repair the file or move it away, and start again" : "what happens is kept later"
            Terminal.writeError("pharos: warning: \(error): \(next)\n")
        }
    }

    // MARK: What is kept

    private static func record(_ event: SightingCollector.Event) -> EventStore.Record {
        let name = event.beacon ?? ""
        let stay = EventStore.Presence(
            zone: event.place, beacon: name, since: Int64(event.since ?? event.unixMilliseconds) * 1000,
            dwells: event.room == nil ? 0 : 1)
        return EventStore.Record(
            .init(
                id: event.id, time: Int64(event.unixMilliseconds) * 1000, kind: event.kind.rawValue, zone: event.place,
                beacon: name, json: event.json.line), event.kind == .exit ? .nowhere(beacon: name) : .only(stay))
    }

    private static func row(_ sighting: SightingCollector.Sighting) -> SightingRow {
        SightingRow(
            receiver: sighting.receiver, beacon: sighting.beacon, milliseconds: Int64(sighting.unixMilliseconds),
            reports: sighting.reports, level: sighting.level,
            batch: .init(boot: sighting.boot, sequence: Int64(sighting.sequence)), isLate: sighting.isLate)
    }
}
