/// Reports when the first beacon of a region arrives and when the last one has left, but not which beacon it was.
///
/// All durations are listened time: see ``ListeningClock``.
public struct RegionMonitor: Sendable {
    /// A region to watch.
    public struct Region: Hashable, Sendable {
        /// The name of the region in events.
        public let name: String
        /// The identities in the region; `nil` for the known beacon with the name ``name``.
        public let pattern: RegionPattern?

        /// A region defined by identities, or by the name of a known beacon.
        public init(name: String, pattern: RegionPattern?) {
            self.name = name
            self.pattern = pattern
        }
    }

    /// A change of a region.
    public struct Event: Hashable, Sendable {
        /// The kind of change.
        public enum Kind: String, Hashable, Sendable {
            case enter, exit
            /// The receiver may have failed, so it is not known whether a beacon is in the region.
            case unknown
            /// The receiver works again.
            case known
        }

        /// The position of the region in ``RegionMonitor/regions``.
        public let region: Int
        public let kind: Kind
        /// The time of the change: for an exit, the time at which the silence became too long.
        public let instant: HeardInstant
        /// The time of the last report from the region; `nil` if no beacon is in it.
        public let lastHeard: HeardInstant?
        /// For an exit, the reason why it is certain that the receiver worked during the silence; `nil` for other
        /// events.
        public let proof: ListeningClock.Proof?

        /// Creates an event.
        public init(
            region: Int, kind: Kind, instant: HeardInstant, lastHeard: HeardInstant?,
            proof: ListeningClock.Proof? = nil
        ) {
            self.region = region
            self.kind = kind
            self.instant = instant
            self.lastHeard = lastHeard
            self.proof = proof
        }
    }

    public let regions: [Region]
    /// For each region, when a beacon was last received in it; `nil` if no beacon is in it.
    private var presences: [Presence?]
    private var isUnknown = false

    private struct Presence: Sendable {
        var lastHeard: HeardInstant
        /// The listened time at which the silence becomes too long.
        var deadline: Int
        /// The value of ``ListeningClock/restarts`` at the last report.
        var restarts: Int
    }

    /// Creates a monitor in which no beacon is in a region.
    public init(_ regions: [Region]) {
        self.regions = regions
        presences = regions.map { _ in nil }
    }

    /// Returns whether a beacon is in the region.
    public func isInside(_ region: Int) -> Bool { presences[region] != nil }

    /// Takes a report of the beacon with this track. Call ``advance(to:_:_:)`` first for earlier events.
    ///
    /// - Parameter clock: The clock of the table, which has taken the report.
    mutating func receive(
        _ track: BeaconTrack, at now: HeardInstant, _ clock: ListeningClock, enter: (Event) -> Void
    ) {
        for index in regions.indices where belongs(track, regions[index]) {
            enterOrStay(index, track, at: now, clock, enter)
        }
    }

    /// Takes a report of a device that belongs to a known group. The device enters the regions that are defined by the
    /// name of the group, or stays in them.
    mutating func receive(
        named group: BeaconTrack, at now: HeardInstant, _ clock: ListeningClock, enter: (Event) -> Void
    ) {
        for index in regions.indices where regions[index].pattern == nil && belongs(group, regions[index]) {
            enterOrStay(index, group, at: now, clock, enter)
        }
    }

    private mutating func enterOrStay(
        _ index: Int, _ track: BeaconTrack, at now: HeardInstant, _ clock: ListeningClock, _ enter: (Event) -> Void
    ) {
        let deadline = clock.listened + ExitRule.silenceMicroseconds(track, at: now)
        let former = presences[index]
        presences[index] = Presence(
            lastHeard: now, deadline: max(former?.deadline ?? deadline, deadline), restarts: clock.restarts)
        if former == nil { enter(Event(region: index, kind: .enter, instant: now, lastHeard: now)) }
    }

    private func belongs(_ track: BeaconTrack, _ region: Region) -> Bool {
        guard let pattern = region.pattern else { return track.known?.name == region.name }
        return track.identity.map(pattern.contains) ?? false
    }

    /// The time at which the regions become unknown if no report arrives; `nil` for never.
    func nextWakeUp(_ clock: ListeningClock) -> HeardInstant? {
        isUnknown || regions.isEmpty ? nil : clock.doubtfulAt
    }

    /// If the receiver may have failed by `now`, passes an event to `body` for each region: the region is unknown.
    mutating func becomeUnknown(at now: HeardInstant, _ clock: ListeningClock, _ body: (Event) -> Void) {
        guard let due = nextWakeUp(clock), due <= now else { return }
        isUnknown = true
        for index in regions.indices { body(event(.unknown, index, at: due)) }
    }

    /// Passes to `body` the exits that are certain because a report arrived at `now`. Then calls
    /// ``becomeKnown(at:_:_:)``. The clock must have taken the report.
    mutating func advance(to now: HeardInstant, _ clock: ListeningClock, _ body: (Event) -> Void) {
        while let deadline = presences.lazy.compactMap({ $0?.deadline }).min(), deadline <= clock.listened,
            let index = presences.firstIndex(where: { $0?.deadline == deadline }), let presence = presences[index]
        {
            presences[index] = nil
            body(
                Event(
                    region: index, kind: .exit, instant: clock.instant(of: deadline), lastHeard: presence.lastHeard,
                    proof: clock.proof(since: presence.restarts)))
        }
        becomeKnown(at: now, clock, body)
    }

    /// If the regions were unknown and the receiver works at `now`, passes an event to `body` for each region: the
    /// region is known again.
    mutating func becomeKnown(at now: HeardInstant, _ clock: ListeningClock, _ body: (Event) -> Void) {
        guard isUnknown, clock.stoppedAt == nil, !clock.isDoubtful(at: now) else { return }
        isUnknown = false
        for index in regions.indices { body(event(.known, index, at: now)) }
    }

    private func event(_ kind: Event.Kind, _ index: Int, at instant: HeardInstant) -> Event {
        Event(region: index, kind: kind, instant: instant, lastHeard: presences[index]?.lastHeard)
    }
}
