internal import Configuration
public import LinuxHost
public import Store

/// Processes the lines of receivers: finds the changes, writes them to the databases, and returns them.
///
/// Each step has this order. The ``SightingCollector`` finds the changes and returns them as events. The `EventLedger`
/// writes each event together with the channels that must receive it. The caller prints the events and calls
/// ``markPrinted()``. ``publish(to:shouldContinue:)`` publishes the new states of the beacons, and ``writePending()``
/// writes the state file. The uploader sends the events from the ledger to PostgreSQL. So each event in the ledger is
/// either delivered or waits for delivery. ``takeUnprinted()`` returns the events that an earlier run did not print.
public final class CollectorService {
    /// The current state.
    public private(set) var collector: SightingCollector
    /// Takes the site's lock, and writes to PostgreSQL; `nil` without PostgreSQL.
    public let uploader: PostgreSQLUploader?
    private let rooms: RoomPlan
    /// The path of the state file.
    private let statePath: String
    /// The permissions of the state file.
    private let stateMode: UInt32
    private let ledger: EventLedger?
    private var notices: [Notice] = []
    /// True if the beacons that were present at the end of an earlier run have been restored.
    private var hasResumed = false
    /// The number of lines that were processed since the last write of sightings.
    private var linesSinceWrite = 0
    /// True if there have been events since the states were last published.
    private var hasChanged = false
    /// The earliest time of the next write of the state file, in nanoseconds of `MonotonicClock`.
    private var nextStateWrite: UInt64 = 0
    /// The duration of the last write of the state file, in nanoseconds.
    private var stateWriteDuration: UInt64 = 0
    /// True if the last write of the state file failed.
    private var hasStateWriteFailed = false
    private var clock: WallClockSteps
    /// The state of the connection to the broker. `isUsed` is true if lines come from a broker. `disconnectedSince` is
    /// the time at which the connection was lost, in milliseconds since 1970; `nil` while there is a connection.
    private var broker: (isUsed: Bool, disconnectedSince: Int?) = (false, nil)
    /// True if events have been returned to the caller but are not recorded as printed yet.
    private var hasUnprinted = false
    /// True if at least one line was live: it arrived when it was written, and was not read from a recording.
    private var isLive = false

    /// The largest number of lines between two writes of sightings. ``writePending()`` writes them earlier.
    private static let linesBetweenWrites = 1000
    /// The pause between two writes of the state file: the larger of `least` nanoseconds and `factor` times the
    /// duration of the last write.
    private static let statePause: (least: UInt64, factor: UInt64) = (1_000_000_000, 5)
    /// If a signal ends the program, the state file is written only if its last write took at most this time, in
    /// nanoseconds.
    private static let quickStateWrite: UInt64 = 200_000_000

    /// Creates a service whose collector has received nothing.
    ///
    /// - Parameters:
    ///   - rooms: The room plan of the same collector file.
    ///   - state: The path of the state file. A file that exists there and is not a state file is not replaced.
    ///   - isShared: True if the group of the state file may read the file.
    ///   - ledger: The database on this machine; `nil` for none. An `uploader` must have the same ledger.
    ///   - reading: The present time of the clocks.
    public init(
        _ file: CollectorFile, _ rooms: RoomPlan, state: String, isShared: Bool = false, ledger: EventLedger? = nil,
        uploader: PostgreSQLUploader? = nil, at reading: WallClockSteps.Reading = .now()
    ) {
        clock = WallClockSteps(reading)
        collector = SightingCollector(file, rooms)
        collector.keepsSightings = ledger != nil || uploader != nil
        self.rooms = rooms
        statePath = state
        stateMode = isShared ? 0o640 : 0o600
        self.ledger = ledger
        self.uploader = uploader
    }

    /// Returns new notices for the operator. Each notice is returned once.
    public func takeNotices() -> [Notice] {
        defer { notices = [] }
        return notices + (ledger?.takeNotices() ?? []) + (uploader?.takeNotices() ?? [])
    }

    // MARK: Lines and time

    /// Processes a line, and writes the changes of the seconds before it.
    ///
    /// - Parameters:
    ///   - receiver: The name of the receiver, for lines that do not contain it.
    ///   - arrival: The time of arrival, in milliseconds since 1970.
    ///   - isLive: True if `arrival` was read from this machine's clock (see
    ///     ``SightingCollector/process(_:from:arrival:isLive:shouldContinue:)``).
    ///   - shouldContinue: Called often. If it returns false, this function returns without doing the remaining work.
    /// - Returns: The changes.
    public func process(
        _ line: ReceiverLine, from receiver: String?, arrival: Int, isLive: Bool = false,
        shouldContinue: () -> Bool = { true }
    ) -> [SightingCollector.Event] {
        resume(at: line.unixMilliseconds ?? arrival, isLive: isLive)
        let events = collector.process(
            line, from: receiver, arrival: arrival, isLive: isLive, shouldContinue: shouldContinue)
        self.isLive = self.isLive || isLive
        linesSinceWrite += 1
        if !events.isEmpty || linesSinceWrite >= Self.linesBetweenWrites { record(events) }
        return events
    }

    /// Advances the collector's time without a line, and writes the changes.
    ///
    /// - Parameter time: The present time, in milliseconds since 1970.
    public func advance(to time: Int, shouldContinue: () -> Bool = { true }) -> [SightingCollector.Event] {
        let events = collector.advance(to: time, shouldContinue: shouldContinue)
        record(events)
        return events
    }

    /// Adds the step of this machine's wall clock to all times if the clock was set. So durations do not change.
    ///
    /// - Parameter reading: The present time of the clocks.
    /// - Returns: True if the clock was set.
    public func follow(_ reading: WallClockSteps.Reading) -> Bool {
        guard let step = clock.step(until: reading) else { return false }
        record([])
        // If the lines are from another machine, the collector uses the clock of that machine, which was not set. So
        // the collector's time does not change.
        if collector.follows(Int((reading.wall - step) / 1000)) { collector.shift(by: Int(step / 1000)) }
        let seconds = Double(abs(step) / 100_000) / 10
        notices.append(
            Notice("the clock was set \(step > 0 ? "forward" : "back") by \(seconds) s", isWarning: false))
        return true
    }

    /// Uses the waiting lines, ends the current second, and writes the changes. Call it after the last line.
    public func finish(shouldContinue: () -> Bool = { true }) -> [SightingCollector.Event] {
        let events = collector.finish(shouldContinue: shouldContinue)
        record(events)
        return events
    }

    /// Writes all waiting data, and clears the state. Call it when another collector becomes active for the site.
    public func standBy() {
        record([])
        let keepsSightings = collector.keepsSightings
        collector = SightingCollector(collector.file, rooms)
        collector.keepsSightings = keepsSightings
        hasResumed = false
    }

    /// Restores the presences that the last active collector of the site has written. Uses PostgreSQL or the ledger on
    /// this machine, whichever is newer.
    ///
    /// - Parameter isLive: True if `time` is the present. A presence that begins after `time` is then restored, because
    ///   the clock must have been set back. If `isLive` is false, such a presence is ignored, because it belongs to a
    ///   later part of the recording.
    private func resume(at time: Int, isLive: Bool) {
        guard !hasResumed else { return }
        hasResumed = true
        var presences = ledger?.presences ?? []
        if let stored = uploader?.takePresence(), stored.newest > ledger?.newestTime ?? .min {
            presences = stored.presences
            ledger?.replacePresences(with: presences)
        }
        collector.resume(
            presences.map { presence in
                let since = Int(presence.since / 1000)
                return SightingCollector.Stay(
                    beacon: presence.beacon, room: presence.zone.isEmpty ? nil : presence.zone,
                    since: isLive ? min(since, time) : since, isKnown: presence.dwells > 0)
            }, at: time)
    }

    // MARK: Writing

    private func record(_ events: [SightingCollector.Event]) {
        linesSinceWrite = 0
        hasChanged = hasChanged || !events.isEmpty
        guard ledger != nil || uploader != nil else { return }
        let sightings = collector.takeSightings()
        let channels = [EventLedger.lines] + (uploader == nil ? [] : [EventLedger.postgreSQL])
        let records = events.filter { $0.beacon != nil }.map { $0.record(for: channels) }
        hasUnprinted = hasUnprinted || !records.isEmpty
        ledger?.record(records, sightings)
        uploader?.add(ledger == nil ? records.map(\.event) : [], sightings)
    }

    /// Records that all returned events have been printed.
    public func markPrinted() {
        guard hasUnprinted else { return }
        hasUnprinted = false
        ledger?.markAllDelivered(for: EventLedger.lines)
    }

    /// Returns the events that an earlier run recorded but did not print, as JSON, the oldest first.
    public func takeUnprinted() -> [String] {
        let events = ledger?.waiting(for: EventLedger.lines, limit: .max) ?? []
        hasUnprinted = hasUnprinted || !events.isEmpty
        return events.map(\.event.json)
    }

    /// Publishes the state of each beacon, within 1 s if something has changed.
    ///
    /// - Parameter shouldContinue: Called before each beacon. If it returns false, the remaining beacons are left out.
    public func publish(to broker: CollectorBroker, shouldContinue: () -> Bool = { true }) {
        self.broker = (true, broker.disconnectedSince)
        if broker.publish(collector, hasChanged: hasChanged, shouldContinue: shouldContinue) { hasChanged = false }
    }

    /// Writes the waiting sightings. If it is time, also deletes old events and writes the state file.
    public func writePending() {
        record([])
        if isLive {
            let now = WallClock.microseconds()
            ledger?.markRunning(at: now)
            uploader?.markRunning(at: now)
        }
        if let days = collector.file.history?.days { ledger?.pruneHourly(days: days) }
        writeState(isLast: false)
    }

    /// Writes all waiting data, and writes the state file for the last time.
    ///
    /// - Parameter isHurried: True if a signal asked the process to end, so that there is little time.
    public func close(isHurried: Bool) {
        let unwritten = ledger?.finish() ?? []
        uploader?.add(unwritten.filter { $0.channels.contains(EventLedger.postgreSQL) }.map(\.event), [])
        uploader?.finish(isHurried: isHurried)
        if !isHurried || stateWriteDuration <= Self.quickStateWrite { writeState(isLast: true) }
    }

    private func writeState(isLast: Bool) {
        let now = MonotonicClock.nanoseconds()
        // If the input files contained no line of a receiver, the state file of an earlier run is kept.
        guard collector.newestLineUnixMilliseconds != nil || broker.isUsed else { return }
        guard isLast || now >= nextStateWrite else { return }
        defer {
            stateWriteDuration = MonotonicClock.nanoseconds() - now
            nextStateWrite =
                now + stateWriteDuration
                + max(Self.statePause.least, Self.statePause.factor * stateWriteDuration)
        }
        let value = collector.state(
            written: .now, disconnectedSince: broker.disconnectedSince, process: broker.isUsed ? .current : nil)
        do throws(SystemError) {
            try Files.replace(
                statePath, with: Array((value.line + "\n").utf8), mode: stateMode, isDurable: false
            ) { $0.hasPrefix("{\"version\":") && $0.contains("\"collector\":") }
            hasStateWriteFailed = false
        } catch {
            // The disk may have space again later, so writing is tried again. Only the first of several failures in a
            // row is reported.
            if !hasStateWriteFailed {
                notices.append(
                    Notice(
                        "\(statePath): it cannot be written: \(error.text); name another file with --state-file",
                        isWarning: true)
                )
            }
            hasStateWriteFailed = true
        }
    }
}

/// The channel of a collector's ledger for printed events.
extension EventLedger {
    /// The name of the channel for lines on standard output.
    static let lines = "lines"
}

extension SightingCollector.Event {
    /// Returns the event as a database record, with its effect on the presence of the beacon.
    fileprivate func record(for channels: [String]) -> EventStore.Record {
        let name = beacon ?? ""
        let time = Int64(unixMilliseconds) * 1000
        let presence = EventStore.Presence(
            zone: place, beacon: name, since: since.map { Int64($0) * 1000 } ?? time, dwells: room == nil ? 0 : 1)
        return EventStore.Record(
            EventStore.Event(
                id: id, time: time, kind: kind.rawValue, zone: place, beacon: name, json: json.line),
            kind == .exit ? .nowhere(beacon: name) : .only(presence), for: channels)
    }
}
