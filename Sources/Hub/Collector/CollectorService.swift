internal import Configuration
public import LinuxHost
public import Store

/// Takes the lines of receivers, writes the changes to the databases, and returns them.
///
/// Each step has this order: the ``SightingCollector`` finds the changes, the `EventLedger` writes them together with the
/// channels that must receive them, the caller prints them and calls ``settlePrinted()``, ``publish(to:goesOn:)`` publishes them,
/// and ``rest()`` writes the state file. PostgreSQL gets them from the ledger. So an event that is in the history is
/// delivered, or waits for delivery: ``takeUnprinted()`` returns the events that an earlier run has not printed.
public final class CollectorService {
    /// The current state.
    public private(set) var collector: SightingCollector
    /// Takes the site's lock, and writes to PostgreSQL; `nil` without PostgreSQL.
    public let uploader: SiteUploader?
    private let rooms: RoomPlan
    /// The path of the state file.
    private let state: String
    /// The permissions of the state file.
    private let stateMode: UInt32
    private let ledger: EventLedger?
    private var notices: [Notice] = []
    /// True if the presence of an earlier run has been taken.
    private var hasResumed = false
    /// The number of lines since sightings were last written.
    private var linesSinceKept = 0
    /// True if there were events since the states were last published.
    private var hasChanged = false
    /// The earliest time of the next write of the state file, in nanoseconds.
    private var nextState: UInt64 = 0
    /// The duration of the last write of the state file, in nanoseconds.
    private var stateTime: UInt64 = 0
    /// True if the last write of the state file failed.
    private var stateFails = false
    private var clock: WallClockSteps
    /// `isUsed` is true if lines come from a broker. `disconnectedSince` is the time at which the connection was lost, in
    /// milliseconds since 1970; `nil` with a connection.
    private var broker: (isUsed: Bool, disconnectedSince: Int?) = (false, nil)
    /// True if events were returned that are not recorded as printed.
    private var hasUnprinted = false
    /// True after a line that was received when it was written, not read from a recording.
    private var isLive = false

    /// Sightings are written after this number of lines, and by ``rest()``.
    private static let linesBetween = 1000
    /// The pause between two writes of the state file: at least `least` nanoseconds, and at least `factor` times the
    /// duration of the last write.
    private static let statePause: (least: UInt64, factor: UInt64) = (1_000_000_000, 5)
    /// The longest duration of a write of the state file, in nanoseconds, with which it is written after a signal.
    private static let quickWrite: UInt64 = 200_000_000

    /// Creates a collector that has received nothing.
    ///
    /// - Parameters:
    ///   - rooms: The rooms of the same file.
    ///   - state: The path of the state file. A file that is something else is not replaced.
    ///   - isShared: Whether the group of the file's directory may read it.
    ///   - ledger: The database on this machine; `nil` for none. If `uploader` exists, it must have the same one.
    ///   - reading: The time now.
    public init(
        _ file: CollectorFile, _ rooms: RoomPlan, state: String, isShared: Bool = false, ledger: EventLedger? = nil,
        uploader: SiteUploader? = nil, at reading: WallClockSteps.Reading = .now()
    ) {
        clock = WallClockSteps(reading)
        collector = SightingCollector(file, rooms)
        collector.keepsSightings = ledger != nil || uploader != nil
        self.rooms = rooms
        self.state = state
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

    /// Takes a line, and writes the changes before it.
    ///
    /// - Parameters:
    ///   - receiver: The receiver, for lines that do not name it.
    ///   - arrival: The time of arrival, in milliseconds since 1970.
    ///   - isLive: As for ``SightingCollector/take(_:from:arrival:isLive:goesOn:)``.
    ///   - goesOn: As for ``SightingCollector/advance(to:goesOn:)``.
    /// - Returns: the changes.
    public func take(
        _ line: ReceiverLine, from receiver: String?, arrival: Int, isLive: Bool = false,
        goesOn: () -> Bool = { true }
    ) -> [SightingCollector.Event] {
        resume(at: line.unixMilliseconds ?? arrival, isLive: isLive)
        let events = collector.take(line, from: receiver, arrival: arrival, isLive: isLive, goesOn: goesOn)
        self.isLive = self.isLive || isLive
        linesSinceKept += 1
        if !events.isEmpty || linesSinceKept >= Self.linesBetween { keep(events) }
        return events
    }

    /// Lets time pass without a line, and writes the changes.
    ///
    /// - Parameter time: Now, in milliseconds since 1970.
    public func advance(to time: Int, goesOn: () -> Bool = { true }) -> [SightingCollector.Event] {
        let events = collector.advance(to: time, goesOn: goesOn)
        keep(events)
        return events
    }

    /// Changes all times if this machine's wall clock was set. Durations do not change, because they are measured with
    /// the clock that counts from the start of the machine.
    ///
    /// - Parameter reading: The time now.
    /// - Returns: whether the clock was set.
    public func follow(_ reading: WallClockSteps.Reading) -> Bool {
        guard let step = clock.step(until: reading) else { return false }
        keep([])
        // Lines of another machine have the times of its clock, which was not set.
        if collector.follows(Int((reading.wall - step) / 1000)) { collector.shift(by: Int(step / 1000)) }
        let seconds = Double(abs(step) / 100_000) / 10
        notices.append(
            Notice("the clock was set \(step > 0 ? "forward" : "back") by \(seconds) s", isWarning: false))
        return true
    }

    /// Ends the current second, and writes the changes.
    public func finish(goesOn: () -> Bool = { true }) -> [SightingCollector.Event] {
        let events = collector.finish(goesOn: goesOn)
        keep(events)
        return events
    }

    /// Writes all data that waits, and clears the state, because another collector works for the site from now on.
    public func standBy() {
        keep([])
        let keepsSightings = collector.keepsSightings
        collector = SightingCollector(collector.file, rooms)
        collector.keepsSightings = keepsSightings
        hasResumed = false
    }

    /// Continues with the presence that the last collector of the site has written: in PostgreSQL or on this machine,
    /// whichever is newer.
    ///
    /// - Parameter isLive: True if stays that seem to begin later began before a clock was set back. Otherwise they belong to
    ///   a later part of the lines.
    private func resume(at time: Int, isLive: Bool) {
        guard !hasResumed else { return }
        hasResumed = true
        var presences = ledger?.presences ?? []
        if let site = uploader?.takePresence(), site.newest > ledger?.newestTime ?? .min {
            presences = site.presences
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

    private func keep(_ events: [SightingCollector.Event]) {
        linesSinceKept = 0
        hasChanged = hasChanged || !events.isEmpty
        guard ledger != nil || uploader != nil else { return }
        let sightings = collector.takeSightings()
        let channels = [EventLedger.lines] + (uploader == nil ? [] : [EventLedger.site])
        let records = events.filter { $0.beacon != nil }.map { $0.record(for: channels) }
        hasUnprinted = hasUnprinted || !records.isEmpty
        ledger?.record(records, sightings)
        uploader?.add(ledger == nil ? records.map(\.event) : [], sightings)
    }

    /// Records that the events that were returned so far are printed.
    public func settlePrinted() {
        guard hasUnprinted else { return }
        hasUnprinted = false
        ledger?.settleAll(for: EventLedger.lines)
    }

    /// Returns the events of an earlier run that it has not printed, the oldest first, as JSON.
    public func takeUnprinted() -> [String] {
        let events = ledger?.waiting(for: EventLedger.lines, limit: .max) ?? []
        hasUnprinted = hasUnprinted || !events.isEmpty
        return events.map(\.event.json)
    }

    /// Publishes the state of each beacon, within 1 s if something has changed.
    ///
    /// - Parameter goesOn: As for ``SightingCollector/advance(to:goesOn:)``.
    public func publish(to broker: CollectorBroker, goesOn: () -> Bool = { true }) {
        self.broker = (true, broker.disconnectedSince)
        if broker.publish(collector, hasChanged: hasChanged, goesOn: goesOn) { hasChanged = false }
    }

    /// Writes sightings that wait, deletes old events, and writes the state file, each when it is time.
    public func rest() {
        keep([])
        if isLive {
            let now = WallClock.microseconds()
            ledger?.markRunning(at: now)
            uploader?.markRunning(at: now)
        }
        if let days = collector.file.history?.days { ledger?.pruneHourly(days: days) }
        writeState(isLast: false)
    }

    /// Writes everything that waits, and the state file for the last time.
    ///
    /// - Parameter isHurried: As for `SiteUploader.finish(isHurried:)`.
    public func close(isHurried: Bool) {
        let left = ledger?.finish() ?? []
        uploader?.add(left.filter { $0.channels.contains(EventLedger.site) }.map(\.event), [])
        uploader?.finish(isHurried: isHurried)
        if !isHurried || stateTime <= Self.quickWrite { writeState(isLast: true) }
    }

    private func writeState(isLast: Bool) {
        let now = MonotonicClock.nanoseconds()
        // Files without a line of a receiver change nothing that is known.
        guard collector.time != nil || broker.isUsed else { return }
        guard isLast || now >= nextState else { return }
        defer {
            stateTime = MonotonicClock.nanoseconds() - now
            nextState = now + stateTime + max(Self.statePause.least, Self.statePause.factor * stateTime)
        }
        let value = collector.state(written: .now, disconnectedSince: broker.disconnectedSince)
        do throws(SystemError) {
            try Files.replace(
                state, with: Array((value.line + "\n").utf8), mode: stateMode, isDurable: false
            ) { $0.hasPrefix("{\"version\":") && $0.contains("\"collector\":") }
            stateFails = false
        } catch {
            // A full disk may have room later: each write is tried, but only the first failure is reported.
            if !stateFails {
                notices.append(
                    Notice(
                        "\(state): it cannot be written: \(error.text); name another file with --state-file",
                        isWarning: true)
                )
            }
            stateFails = true
        }
    }
}

/// The channels of a collector's ledger.
extension EventLedger {
    /// Lines on standard output.
    static let lines = "lines"
}

extension SightingCollector.Event {
    /// The event for the databases, with its effect on where the beacon is.
    fileprivate func record(for channels: [String]) -> EventStore.Record {
        let name = beacon ?? ""
        let time = Int64(unixMilliseconds) * 1000
        let stay = EventStore.Presence(
            zone: place, beacon: name, since: since.map { Int64($0) * 1000 } ?? time, dwells: room == nil ? 0 : 1)
        return EventStore.Record(
            EventStore.Event(
                id: id, time: time, kind: kind.rawValue, zone: place, beacon: name, json: json.line),
            kind == .exit ? .nowhere(beacon: name) : .only(stay), for: channels)
    }
}
