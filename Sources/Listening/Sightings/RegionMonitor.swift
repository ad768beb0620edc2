/// Reports when the first beacon of a region arrives and when the last one has left, but not which beacon it was.
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

    /// A region was entered or left.
    public struct Event: Hashable, Sendable {
        /// The position of the region in ``RegionMonitor/regions``.
        public let region: Int
        /// Whether the region was entered. Otherwise it was left.
        public let isEnter: Bool
        /// The time of the first report; for an exit, the time at which the silence became too long.
        public let instant: HeardInstant
        /// The time of the last report from the region.
        public let lastHeard: HeardInstant
    }

    public let regions: [Region]
    private var inside: [Presence?]

    private struct Presence: Sendable {
        var lastHeard: HeardInstant
        var deadline: HeardInstant
    }

    /// A monitor with empty regions.
    public init(_ regions: [Region]) {
        self.regions = regions
        inside = regions.map { _ in nil }
    }

    /// Returns whether a beacon is in the region.
    public func isInside(_ region: Int) -> Bool { inside[region] != nil }

    /// Takes a report of the beacon with this track. Call ``nextExit(until:)`` first for earlier exits.
    public mutating func hear(_ track: BeaconTrack, at now: HeardInstant, enter: (Event) -> Void) {
        for index in regions.indices where belongs(track, regions[index]) {
            let deadline = now.advanced(byMicroseconds: ExitRule.silenceMicroseconds(track, at: now))
            if let presence = inside[index] {
                inside[index] = Presence(lastHeard: now, deadline: max(presence.deadline, deadline))
            } else {
                inside[index] = Presence(lastHeard: now, deadline: deadline)
                enter(Event(region: index, isEnter: true, instant: now, lastHeard: now))
            }
        }
    }

    private func belongs(_ track: BeaconTrack, _ region: Region) -> Bool {
        guard let pattern = region.pattern else { return track.known?.name == region.name }
        return track.identity.map(pattern.contains) ?? false
    }

    /// The time of the next exit if no report arrives; `nil` for never.
    public var nextDeadline: HeardInstant? { inside.lazy.compactMap { $0?.deadline }.min() }

    /// Returns the next exit up to `now`, earliest first. Call it until it returns `nil`.
    public mutating func nextExit(until now: HeardInstant) -> Event? {
        guard let deadline = nextDeadline, deadline <= now,
            let index = inside.firstIndex(where: { $0?.deadline == deadline }), let presence = inside[index]
        else { return nil }
        inside[index] = nil
        return Event(region: index, isEnter: false, instant: deadline, lastHeard: presence.lastHeard)
    }

    /// Extends all presences by a time in which the receiver was deaf.
    public mutating func breakOff(forMicroseconds duration: Int) {
        for index in inside.indices {
            guard let presence = inside[index] else { continue }
            inside[index]?.deadline = presence.deadline.advanced(byMicroseconds: duration)
        }
    }
}
