/// Processes sightings in their order: updates the table of beacons, divides time into rounds, and watches regions.
///
/// For each sighting, call ``nextEvent(until:)`` until it has returned all events up to the sighting's time, then
/// ``receive(_:_:_:)`` with the sighting. The same sightings always give the same events, live or from a recording.
public struct SightingProcessor: Sendable {
    /// An event for the caller.
    public enum Event: Hashable, Sendable {
        /// A round has ended. ``SightingProcessor/table`` has the levels of this round until the next call of a method.
        case round(from: HeardInstant, to: HeardInstant)
        case region(RegionMonitor.Event)
    }

    public private(set) var table: SightingTable
    public private(set) var monitor: RegionMonitor
    /// The length of a round; `nil` for no rounds.
    private let roundMicroseconds: Int?
    private var roundStart: HeardInstant?
    /// True if the last round was returned and the next round has not begun.
    private var isRoundOver = false
    /// The events of regions that were not returned yet.
    private var waitingEvents: [RegionMonitor.Event] = []
    /// The index of the first event in ``waitingEvents`` that was not returned.
    private var nextWaiting = 0

    /// - Parameter roundMicroseconds: The length of a round; `nil` for no rounds.
    public init(table: SightingTable, regions: [RegionMonitor.Region] = [], roundMicroseconds: Int? = nil) {
        self.table = table
        monitor = RegionMonitor(regions)
        self.roundMicroseconds = roundMicroseconds.map { max(1, $0) }
    }

    /// Begins the first round. Without this call, it begins with the first sighting.
    public mutating func begin(at now: HeardInstant) {
        if roundStart == nil { roundStart = now }
    }

    /// Returns the next event up to `now`. Call it until it returns `nil`.
    public mutating func nextEvent(until now: HeardInstant) -> Event? {
        closeRound()
        monitor.becomeUnknown(at: roundEnd.map { min($0, now) } ?? now, table.clock) { waitingEvents.append($0) }
        if nextWaiting < waitingEvents.count {
            nextWaiting += 1
            return .region(waitingEvents[nextWaiting - 1])
        }
        if nextWaiting > 0 {
            waitingEvents.removeAll(keepingCapacity: true)
            nextWaiting = 0
        }
        guard let start = roundStart, let end = roundEnd, end <= now else { return nil }
        roundStart = end
        isRoundOver = true
        return .round(from: start, to: end)
    }

    /// The time at which ``nextEvent(until:)`` returns an event even if no report arrives; `nil` for never.
    public var nextWakeUp: HeardInstant? {
        [roundEnd, monitor.nextWakeUp(table.clock)].compactMap { $0 }.min()
    }

    /// Ends the last round early, because no more sightings follow.
    public mutating func finish(at now: HeardInstant) -> Event? {
        closeRound()
        guard roundMicroseconds != nil, let start = roundStart, start < now else { return nil }
        roundStart = now
        isRoundOver = true
        return .round(from: start, to: now)
    }

    /// Takes an advertisement with the data in `range` of `octets`.
    ///
    /// - Returns: The position of the beacon in the table; `nil` if the table does not contain it.
    @discardableResult
    public mutating func receive(_ sighting: Sighting, _ octets: Span<UInt8>, _ range: Range<Int>) -> Int? {
        closeRound()
        begin(at: sighting.instant)
        guard !monitor.regions.isEmpty else { return table.receive(sighting, octets, range) }
        monitor.becomeUnknown(at: sighting.instant, table.clock) { waitingEvents.append($0) }
        let position = table.receive(sighting, octets, range)
        monitor.advance(to: sighting.instant, table.clock) { waitingEvents.append($0) }
        if let position {
            monitor.receive(table.tracks[position], at: sighting.instant, table.clock) { waitingEvents.append($0) }
        }
        for position in table.groupsOfReport {
            monitor.receive(named: table.tracks[position], at: sighting.instant, table.clock) {
                waitingEvents.append($0)
            }
        }
        return position
    }

    /// Marks the receiver as not working from now on. Beacons do not leave regions until reports arrive again.
    public mutating func stopListening(at now: HeardInstant) { table.stopListening(at: now) }

    /// Marks the receiver as working, for the first time or again.
    public mutating func startListening(at now: HeardInstant) {
        table.startListening(at: now)
        monitor.becomeKnown(at: now, table.clock) { waitingEvents.append($0) }
    }

    private var roundEnd: HeardInstant? {
        guard let roundMicroseconds, let roundStart else { return nil }
        return roundStart.advanced(byMicroseconds: roundMicroseconds)
    }

    private mutating func closeRound() {
        guard isRoundOver else { return }
        isRoundOver = false
        table.beginRound()
    }
}
