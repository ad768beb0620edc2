/// Tells when the first beacon of a region comes, and when the last one has left: not which one.
public struct RegionMonitor: Sendable {
    /// What is watched.
    public struct Region: Hashable, Sendable {
        /// How it is called in events.
        public let name: String
        /// The identities that belong to it; `nil` for that of the known beacon called ``name``.
        public let pattern: RegionPattern?

        /// A region by its identities, or by the name of a known beacon.
        public init(name: String, pattern: RegionPattern?) {
            self.name = name
            self.pattern = pattern
        }
    }

    /// That a region was entered or left.
    public struct Event: Hashable, Sendable {
        /// Place in ``RegionMonitor/regions``.
        public let region: Int
        /// `true`: entered.
        public let isEnter: Bool
        /// When the first report was heard; when the silence had become long enough.
        public let instant: HeardInstant
        /// When the region was heard last; of an exit.
        public let lastHeard: HeardInstant
    }

    public let regions: [Region]
    private var inside: [Presence?]

    private struct Presence: Sendable {
        var lastHeard: HeardInstant
        var deadline: HeardInstant
    }

    /// Nothing is inside yet.
    public init(_ regions: [Region]) {
        self.regions = regions
        inside = regions.map { _ in nil }
    }

    /// Whether anything of a region is there.
    public func isInside(_ region: Int) -> Bool { inside[region] != nil }

    /// Takes a report of the beacon at `track`. Call ``nextExit(until:)`` first, for what was over before.
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

    /// When the next region is left if nothing of it is heard; `nil` for never.
    public var nextDeadline: HeardInstant? { inside.lazy.compactMap { $0?.deadline }.min() }

    /// The next exit up to `now`, earliest first; to be called until it returns `nil`.
    public mutating func nextExit(until now: HeardInstant) -> Event? {
        guard let deadline = nextDeadline, deadline <= now,
            let index = inside.firstIndex(where: { $0?.deadline == deadline }), let presence = inside[index]
        else { return nil }
        inside[index] = nil
        return Event(region: index, isEnter: false, instant: deadline, lastHeard: presence.lastHeard)
    }

    /// Nothing could be heard for so long: silence counts only while somebody listens.
    public mutating func breakOff(forMicroseconds duration: Int) {
        for index in inside.indices {
            guard let presence = inside[index] else { continue }
            inside[index]?.deadline = presence.deadline.advanced(byMicroseconds: duration)
        }
    }
}
