/// Everything that is made of sightings, in their order: the table of beacons, rounds, and events of regions.
///
/// Whether sightings come live, from a recording or from elsewhere, and how fast, makes no difference: first
/// ``nextEvent(until:)`` gives what was due before, then ``hear(_:_:_:)`` takes the sighting. The same sightings give
/// the same events.
public struct Hearing: Sendable {
    /// Something that is told.
    public enum Event: Hashable, Sendable {
        /// A round is over. Its levels stand in ``Hearing/table`` until anything else is asked for.
        case round(from: HeardInstant, to: HeardInstant)
        case region(RegionMonitor.Event)
    }

    public private(set) var table: SightingTable
    public private(set) var monitor: RegionMonitor
    private let roundMicroseconds: Int?
    private var roundStart: HeardInstant?
    private var isRoundOver = false
    private var entered: [RegionMonitor.Event] = []
    private var enteredPlace = 0
    private var deafSince: HeardInstant?

    /// - Parameter roundMicroseconds: `nil` without rounds.
    public init(table: SightingTable, regions: [RegionMonitor.Region] = [], roundMicroseconds: Int? = nil) {
        self.table = table
        monitor = RegionMonitor(regions)
        self.roundMicroseconds = roundMicroseconds.map { max(1, $0) }
    }

    /// The first round begins; without this call it does so with the first sighting.
    public mutating func begin(at now: HeardInstant) {
        if roundStart == nil { roundStart = now }
    }

    /// The next thing that is to be told, up to `now`; to be called until it returns `nil`.
    public mutating func nextEvent(until now: HeardInstant) -> Event? {
        closeRound()
        if enteredPlace < entered.count {
            enteredPlace += 1
            return .region(entered[enteredPlace - 1])
        }
        if enteredPlace > 0 {
            entered.removeAll(keepingCapacity: true)
            enteredPlace = 0
        }
        let due = roundEnd.map { min($0, now) } ?? now
        if deafSince == nil, let event = monitor.nextExit(until: due) { return .region(event) }
        guard let start = roundStart, let end = roundEnd, end <= now else { return nil }
        roundStart = end
        isRoundOver = true
        return .round(from: start, to: end)
    }

    /// When ``nextEvent(until:)`` has something to tell although nothing is heard; `nil` for never.
    public var nextWakeUp: HeardInstant? {
        let exit = deafSince == nil ? monitor.nextDeadline : nil
        return [roundEnd, exit].compactMap { $0 }.min()
    }

    /// Ends the last round before its time: nothing more will be heard.
    public mutating func finish(at now: HeardInstant) -> Event? {
        closeRound()
        guard roundMicroseconds != nil, let start = roundStart, start < now else { return nil }
        roundStart = now
        isRoundOver = true
        return .round(from: start, to: now)
    }

    /// Takes an advertisement, whose data is `range` of `octets`.
    ///
    /// - Returns: the place of its beacon in the table.
    @discardableResult
    public mutating func hear(_ sighting: Sighting, _ octets: Span<UInt8>, _ range: Range<Int>) -> Int? {
        closeRound()
        begin(at: sighting.instant)
        let place = table.hear(sighting, octets, range)
        if let place, !monitor.regions.isEmpty {
            monitor.hear(table.tracks[place], at: sighting.instant) { entered.append($0) }
        }
        return place
    }

    /// From now on nothing can be heard: nobody leaves a region meanwhile.
    public mutating func becomeDeaf(at now: HeardInstant) {
        guard deafSince == nil else { return }
        deafSince = now
        table.breakOff()
    }

    /// It can be heard again.
    public mutating func becomeHearing(at now: HeardInstant) {
        guard let since = deafSince else { return }
        deafSince = nil
        monitor.breakOff(forMicroseconds: now.microseconds(since: since))
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
