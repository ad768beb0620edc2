public import Sightings

/// Decides from sightings and a clock when beacons enter zones, stay in them, and leave them.
///
/// Every call returns the events that it caused, in order. The same calls always return the same events, so a recording
/// gives the same events as the live sightings. All durations are measured in listened time (`ListeningClock` of
/// Sightings): while the receiver may have failed, no beacon leaves, and the zones become unknown.
public struct ZoneEngine: Sendable {
    /// The shortest automatic window, in microseconds: 3 s.
    static let shortestWindow = 3_000_000
    /// The length of the automatic window in advertising periods of the beacon. The window is never shorter than
    /// ``shortestWindow``.
    static let windowPeriods = 3.0
    /// A beacon replaces the beacon inside another zone of the exclusive group if its level is higher by this number of
    /// standard errors of the level difference.
    static let exclusiveErrors = 4.0
    /// The windows in which two beacons are compared double in length until the difference is certain. A window of at
    /// least this length, in microseconds, is not doubled: 24 s.
    static let longestComparison = 24_000_000

    /// The zones, in the order of the file.
    public let rules: [ZoneRule]
    private let beacons: [ZoneBeacon]
    private var occupants: ZoneOccupants
    private var trackers: [BeaconTracker] = []
    /// The silence of each track of the sighting table, in the order of the tracks.
    private var silences: [BeaconSilence]
    /// For each track of the sighting table, the indices of the trackers of its beacon.
    private let trackersOfTracks: [[Int]]
    private var timers = ZoneTimers()
    /// The timers of dwell times. They are separate because a dwell event does not need a report as proof that the
    /// receiver works.
    private var dwellTimers = ZoneTimers()
    private var clock = ListeningClock()
    /// The time of the last report before the zones became unknown, or the time at which the receiver stopped if there
    /// was no report; `nil` while the zones are known.
    public private(set) var unknownSince: HeardInstant?
    /// True if a report of any device has arrived. Before the first report, it is not known which beacons are inside.
    public private(set) var hasReceived = false
    /// The sequence number of the last event.
    private var sequence = 0
    /// The events that the current call will return.
    private var pending: [ZoneEvent] = []
    /// The number of events of each kind, for each zone.
    private var counts: [[ZoneEvent.Kind: Int]]

    /// Creates an engine in which all zones are empty.
    ///
    /// - Parameters:
    ///   - known: The known beacons of the sighting table, in the order of its tracks. Entries with the same name
    ///     belong to one beacon.
    ///   - described: The beacons with their tags and attachments. A beacon that is missing here has neither.
    public init(_ rules: [ZoneRule], known: [KnownBeacon], beacons described: [ZoneBeacon]) {
        let index = ZoneIndex(rules, known: known, beacons: described)
        self.rules = rules
        beacons = index.beacons
        occupants = index.occupants
        trackers = index.trackers
        trackersOfTracks = index.trackersOfTracks
        silences = known.map { BeaconSilence(interval: $0.intervalMicroseconds, isGroup: $0.isGroup) }
        counts = rules.map { _ in [:] }
    }

    // MARK: State

    /// True if it is known which beacons are inside the zones; false before the first report of any device, and while
    /// the receiver may have failed.
    public var isKnown: Bool { unknownSince == nil && hasReceived }
    /// Sets ``unknownSince`` and ``hasReceived`` to the values of an earlier engine.
    public mutating func continueUnknown(since: HeardInstant?, hasReceived: Bool) {
        unknownSince = since
        self.hasReceived = hasReceived
    }

    /// Returns the names of the beacons inside a zone, in the order in which the zone lists its beacons.
    public func inside(_ zone: Int) -> [String] {
        occupants.members.filter { $0.zone == zone && $0.isInside }.map { beacons[trackers[$0.tracker].beacon].name }
    }

    /// Returns the number of beacons inside a zone.
    public func insideCount(_ zone: Int) -> Int { occupants.members.count { $0.zone == zone && $0.isInside } }

    /// Returns all presences, to be saved for ``resume(_:unixMicroseconds:)``. A presence whose time of entering is
    /// unknown is left out.
    ///
    /// - Parameter unix: Converts a moment into microseconds since 1970.
    public func presences(_ unix: (ZoneMoment) -> Int64?) -> [Presence] {
        occupants.occupancies.compactMap { occupancy in
            guard let first = occupancy.inside.first, let since = unix(occupancy.since) else { return nil }
            return Presence(
                zone: rules[occupancy.zone].name, beacon: beacon(of: first).name, since: since,
                dwells: occupancy.dwells)
        }
    }

    /// Returns the number of events of a kind in a zone so far.
    public func count(_ kind: ZoneEvent.Kind, of zone: Int) -> Int { counts[zone][kind] ?? 0 }

    /// Returns the estimated silence after which a beacon counts as gone, in microseconds of listened time; `nil` if
    /// the beacon is unknown or was never received.
    public func silenceMicroseconds(of beacon: String) -> Int? {
        let tracks = trackersOfTracks.indices.filter { track in
            trackersOfTracks[track].contains { beacons[trackers[$0].beacon].name == beacon }
                && silences[track].lastReceived != nil
        }
        return tracks.map { silences[$0].limit }.max()
    }

    /// The time at which ``advance(to:)`` will return an event if no report arrives until then; `nil` if there is no
    /// such time.
    public var nextWakeUp: HeardInstant? {
        unknownSince == nil ? [unknownDue, dwellDue].compactMap(\.self).min() : nil
    }

    /// The time at which the zones become unknown if no report arrives; `nil` for never. Before the first report, the
    /// zones become unknown only if the receiver has stopped, an earlier run saved beacons that are inside, or an
    /// earlier engine has received reports.
    private var unknownDue: HeardInstant? {
        guard
            hasReceived || clock.lastReport != nil || clock.stoppedAt != nil
                || occupants.members.contains(where: \.isInside)
        else { return nil }
        return clock.doubtfulAt
    }

    // MARK: Inputs

    /// The longest time inside a zone that is restored from an earlier run, in microseconds: 100 years.
    private static let longestTimeInside: Int64 = 3_155_760_000_000_000

    /// Restores the presences that an earlier run saved. Must be called before the first sighting.
    ///
    /// - Parameter now: The wall-clock time in microseconds since 1970; `nil` if it is not known.
    public mutating func resume(_ presences: [Presence], unixMicroseconds now: Int64?) {
        for presence in presences {
            let index = occupants.members.indices.first {
                rules[occupants.members[$0].zone].name == presence.zone && beacon(of: $0).name == presence.beacon
            }
            guard let index, !occupants[index].isInside, occupants.rivals(of: index).isEmpty else { continue }
            _ = occupants.enter(index, at: clock.listened, .unix(presence.since))
            // Keep the time inside within limits: the wall clock may have been set back, or the file may be damaged.
            let elapsed = (now ?? presence.since).subtractingReportingOverflow(presence.since)
            occupants[index].earlierDuration =
                elapsed.overflow ? 0 : Int(min(max(0, elapsed.partialValue), Self.longestTimeInside))
            occupants[index].dwells = max(0, presence.dwells)
            occupants[index].isUnconfirmed = true
            let tracker = occupants.members[index].tracker
            for track in trackers[tracker].tracks { silences[track].resume(at: clock.listened) }
            if let track = trackers[tracker].tracks.last { trackers[tracker].lastProof = (track, clock.listened) }
            scheduleSilence(index)
        }
    }

    /// Processes a report of any device, and decides whether its beacon enters or leaves zones. The report must already
    /// be in the table.
    ///
    /// - Parameter track: The index of the beacon's track in the table. If it is `nil` or belongs to no known beacon,
    ///   the report only proves that the receiver works.
    public mutating func receive(_ track: Int?, in table: SightingTable, _ sighting: Sighting) -> [ZoneEvent] {
        fireDwellTimers(until: sighting.instant)
        becomeUnknown(at: sighting.instant)
        let (lastReport, period) = (clock.lastReport, clock.period)
        clock.receive(at: sighting.instant)
        hasReceived = hasReceived || clock.lastReport != nil
        if let lastReport, clock.period != period,
            sighting.instant.microseconds(since: lastReport) >= ListeningClock.graceMicroseconds
        {
            // No report arrived for so long that the levels from before this pause are outdated.
            for tracker in trackers.indices { trackers[tracker].forgetLevels() }
        }
        fireTimers()
        becomeKnown(at: sighting.instant)
        if let track, silences.indices.contains(track) {
            judge(track, in: table, sighting)
            fireTimers()
        }
        for group in table.groupsOfReport where silences.indices.contains(group) {
            judge(group, in: table, sighting)
            fireTimers()
        }
        return takePending()
    }

    /// Returns the events up to `now` that need no report: dwell times end, and the zones become unknown if no reports
    /// arrive. An exit is not among them, because it needs a report as proof that the receiver works.
    public mutating func advance(to now: HeardInstant) -> [ZoneEvent] {
        fireDwellTimers(until: now)
        becomeUnknown(at: now)
        return takePending()
    }

    /// Marks the receiver as not working from `now` on.
    public mutating func stopListening(at now: HeardInstant) { clock.stopListening(at: now) }

    /// Marks the receiver as working from `now` on, for the first time or again.
    public mutating func startListening(at now: HeardInstant) -> [ZoneEvent] {
        becomeUnknown(at: now)
        clock.startListening(at: now)
        becomeKnown(at: now)
        return takePending()
    }

    private mutating func becomeUnknown(at now: HeardInstant) {
        guard unknownSince == nil, let due = unknownDue, due <= now else { return }
        let since = clock.lastReport ?? clock.stoppedAt ?? clock.begunAt ?? due
        unknownSince = since
        addForAllZones(.unknown, at: due, since: since)
    }

    private mutating func becomeKnown(at now: HeardInstant) {
        guard let since = unknownSince, clock.stoppedAt == nil, !clock.isDoubtful(at: now) else { return }
        unknownSince = nil
        addForAllZones(.known, at: now, since: since)
    }

    /// Returns the broken invariants, one sentence each. Tests call this function after every step.
    public func check() -> [String] {
        var faults = occupants.check()
        if !pending.isEmpty { faults.append("\(pending.count) events were not returned") }
        if let first = timers.first, first.due <= clock.listened { faults.append("a timer is late") }
        if counts.reduce(0, { $0 + $1.values.reduce(0, +) }) != sequence { faults.append("events were not counted") }
        return faults
    }

    private mutating func takePending() -> [ZoneEvent] {
        defer { pending = [] }
        return pending
    }

    // MARK: Levels

    private mutating func judge(_ track: Int, in table: SightingTable, _ sighting: Sighting) {
        let now = clock.listened
        let events = table.tracks[track].events
        guard events != silences[track].events else { return silences[track].receiveOther(at: now) }
        silences[track].receive(at: now, events: events, period: clock.period) {
            table.tracks[track].interval.periodMicroseconds(from: BeaconSilence.firstGaps)
        }
        var level = sighting.rssi
        if let received = level, !LevelTally.range.contains(received) { level = nil }
        for tracker in trackersOfTracks[track] {
            trackers[tracker].restarts = clock.restarts
            trackers[tracker].note(isCloned: table.tracks[track].clones.finding != nil, of: track)
            if trackers[tracker].needsProof {
                let isProven = trackers[tracker].proof.accepts(
                    table.tracks[track].identity, from: sighting.sender, level: level, at: now)
                guard isProven else { continue }
                trackers[tracker].lastProof = (track, now)
            }
            if let level {
                let power = table.tracks[track].plausiblePower
                trackers[tracker].add(level, power: power, from: sighting.sender, at: now)
            }
            judgeZones(of: tracker, at: now, sighting.instant)
        }
    }

    private mutating func judgeZones(of tracker: Int, at now: Int, _ instant: HeardInstant) {
        // Most zones of a beacon have windows of the same length, so the median of the last window is kept.
        var last: (window: Int, median: MedianWindow.Median?)?
        let automatic = automaticWindow(tracker)
        for index in trackers[tracker].members {
            let rule = rules[occupants.members[index].zone]
            let length = rule.window ?? automatic
            if last?.window != length || trackers[tracker].isGroup {
                last = (length, trackers[tracker].levels.median(since: now - length, reports: rule.reports))
            }
            guard let median = last?.median else { continue }
            judge(index, median, at: now, instant)
            if occupants.members[index].isInside, occupants[index].isUnconfirmed {
                scheduleDwell(occupants.members[index].occupancy)
            }
        }
    }

    private func automaticWindow(_ tracker: Int) -> Int {
        let period = trackers[tracker].tracks.lazy.compactMap { silences[$0].likelyPeriod }.min() ?? 0
        return max(Self.shortestWindow, Int(min(3.6e9, Self.windowPeriods * period)))
    }

    private mutating func judge(_ index: Int, _ median: MedianWindow.Median, at now: Int, _ instant: HeardInstant) {
        let member = occupants.members[index]
        let rule = rules[member.zone]
        guard let measure = rule.bound.isDistance ? median.gain : median.level else { return }
        trackers[member.tracker].lastMedian = (median.level, median.gain)
        if member.isInside {
            guard measure < member.stayMeasure else { return occupants.members[index].outsideSince = nil }
            guard member.outsideSince == nil else { return }
            occupants.members[index].outsideSince = now
            timers.add(now + rule.leaveAfter, .level, index)
        } else if median.count >= rule.reports, measure >= member.enterMeasure {
            let rivals = occupants.rivals(of: index)
            guard rivals.allSatisfy({ isNearer(index, than: $0, at: now) }) else { return }
            for rival in rivals { leave(rival, .exclusive, at: instant) }
            enter(index, at: now, instant)
        }
    }

    /// Returns true if the beacon of member `index` is certainly nearer than the beacon of `rival`. The window is
    /// doubled until the difference is certain, because a small difference needs many reports. The beacon must also be
    /// nearer in all shorter windows, because one of the beacons may have moved.
    private func isNearer(_ index: Int, than rival: Int, at now: Int) -> Bool {
        let levels = (
            trackers[occupants.members[index].tracker].levels, trackers[occupants.members[rival].tracker].levels
        )
        let margin = Double(rules[occupants.members[index].zone].exclusiveDecibels)
        var (length, rivalLength) = (windowLength(index), windowLength(rival))
        let (window, rivalWindow) = (levels.0.window(since: now - length), levels.1.window(since: now - rivalLength))
        while let median = window.median(since: now - length) {
            guard let rivalMedian = rivalWindow.median(since: now - rivalLength) else { return true }
            let difference =
                if let gain = median.gain, let rivalGain = rivalMedian.gain { gain - rivalGain } else {
                    median.level - rivalMedian.level
                }
            guard difference > 0 else { return false }
            let variance = window.variance(of: median) + rivalWindow.variance(of: rivalMedian)
            if difference >= max(margin, Self.exclusiveErrors * variance.squareRoot()) { return true }
            guard max(length, rivalLength) < Self.longestComparison else { return false }
            (length, rivalLength) = (2 * length, 2 * rivalLength)
        }
        return false
    }

    private func windowLength(_ index: Int) -> Int {
        rules[occupants.members[index].zone].window ?? automaticWindow(occupants.members[index].tracker)
    }

    private mutating func enter(_ index: Int, at now: Int, _ instant: HeardInstant) {
        let isFirst = occupants.enter(index, at: now, .heard(instant))
        if isFirst { scheduleDwell(occupants.members[index].occupancy) }
        scheduleSilence(index)
        if isFirst { add(.enter, index, at: instant, rules[occupants.members[index].zone].onEnter) }
    }

    private mutating func leave(_ index: Int, _ cause: ZoneEvent.Cause, at instant: HeardInstant) {
        guard occupants.leave(index) else { return }
        add(.exit, index, at: instant, rules[occupants.members[index].zone].onExit, cause)
    }

    // MARK: Time

    private mutating func scheduleSilence(_ index: Int) {
        guard !occupants.members[index].hasSilenceTimer else { return }
        occupants.members[index].hasSilenceTimer = true
        timers.add(clock.listened + shortestSilence(index), .silence, index)
    }

    private func shortestSilence(_ index: Int) -> Int {
        rules[occupants.members[index].zone].silentAfter ?? ExitRule.rangeMicroseconds.lowerBound
    }

    private mutating func scheduleDwell(_ occupancy: Int) {
        occupants.occupancies[occupancy].isUnconfirmed = false
        let seconds = rules[occupants.occupancies[occupancy].zone].dwellSeconds
        let dwells = occupants.occupancies[occupancy].dwells
        guard dwells < seconds.count else { return }
        let start = occupants.occupancies[occupancy].enteredAt - occupants.occupancies[occupancy].earlierDuration
        let due = max(start + seconds[dwells] * 1_000_000, clock.listened)
        occupants.occupancies[occupancy].dwellDue = due
        dwellTimers.add(due, .dwell, occupancy)
    }

    /// Returns the listened time at which a beacon's silence reaches its limit; `nil` if the beacon was never received.
    private func silenceDeadline(_ index: Int) -> Int? {
        let fixedLimit = rules[occupants.members[index].zone].silentAfter
        let tracker = trackers[occupants.members[index].tracker]
        if tracker.needsProof {
            return tracker.lastProof.map { $0.received + (fixedLimit ?? silences[$0.track].limit) }
        }
        return tracker.tracks.compactMap { track in
            silences[track].lastReceived.map { $0 + (fixedLimit ?? silences[track].limit) }
        }.max()
    }

    private mutating func fireTimers() {
        while true {
            let isDwell = isDwellNext
            guard let timer = isDwell ? dwellTimers.first : timers.first, timer.due <= clock.listened else { return }
            if isDwell { dwellTimers.removeFirst() } else { timers.removeFirst() }
            fire(timer)
        }
    }

    /// True if the next timer that is due is the timer of a dwell time.
    private var isDwellNext: Bool {
        guard let dwell = dwellTimers.first else { return false }
        return timers.first.map { dwell < $0 } ?? true
    }

    /// The time at which the next dwell time ends if the receiver continues to work. `nil` if another timer is due
    /// first, or if only another report can prove that the receiver works until then.
    private var dwellDue: HeardInstant? {
        guard isDwellNext, let timer = dwellTimers.first, clock.lastReport != nil, clock.stoppedAt == nil else {
            return nil
        }
        let due = clock.instant(of: timer.due)
        return clock.isDoubtful(at: due) ? nil : due
    }

    private mutating func fireDwellTimers(until now: HeardInstant) {
        while let due = dwellDue, due <= now, let timer = dwellTimers.first {
            dwellTimers.removeFirst()
            fire(timer)
        }
    }

    private mutating func fire(_ timer: ZoneTimers.Timer) {
        let index = timer.index
        let instant = clock.instant(of: timer.due)
        switch timer.kind {
        case .silence:
            occupants.members[index].hasSilenceTimer = false
            guard occupants.members[index].isInside else { return }
            if let deadline = silenceDeadline(index), deadline > timer.due {
                // Further reports may shorten the permitted silence. So check again before the deadline, but only after
                // the shortest permitted silence.
                occupants.members[index].hasSilenceTimer = true
                timers.add(min(deadline, timer.due + shortestSilence(index)), .silence, index)
            } else {
                leave(index, .silence, at: instant)
            }
        case .level:
            guard let since = occupants.members[index].outsideSince, occupants.members[index].isInside else { return }
            // If the beacon has returned within the bound and gone beyond it again, a later timer decides.
            guard since + rules[occupants.members[index].zone].leaveAfter == timer.due else { return }
            leave(index, .level, at: instant)
        case .dwell:
            guard occupants.occupancies[index].dwellDue == timer.due,
                let first = occupants.occupancies[index].inside.first
            else { return }
            occupants.occupancies[index].dwells += 1
            occupants.occupancies[index].dwellDue = nil
            add(.dwell, first, at: instant, nil)
            scheduleDwell(index)
        }
    }

    // MARK: Events

    private func beacon(of member: Int) -> ZoneBeacon { beacons[trackers[occupants.members[member].tracker].beacon] }

    private mutating func add(
        _ kind: ZoneEvent.Kind, _ index: Int, at instant: HeardInstant, _ content: ZoneRule.Content?,
        _ cause: ZoneEvent.Cause? = nil
    ) {
        let tracker = trackers[occupants.members[index].tracker]
        let occupancy = occupants[index]
        let beacon = beacon(of: index)
        var event = makeEvent(kind, occupants.members[index].zone, at: instant, since: occupancy.since)
        event.beacon = beacon.name
        event.attachments = beacon.attachments
        event.dwells = occupancy.dwells
        event.hasOwnPresence = occupancy.isOfOneBeacon
        let occupancyIndex = occupants.members[index].occupancy
        let memberCount = occupants.members.count { $0.occupancy == occupancyIndex }
        event.isOfSharedZone = !occupancy.isOfOneBeacon && memberCount > 1
        event.isCloned = tracker.isCloned
        event.cause = cause
        if kind == .exit { event.receiverProof = clock.proof(since: tracker.restarts) }
        event.content = content?.filled(beacon.attachments)
        if cause != .silence, let median = tracker.lastMedian {
            event.level = median.level
            event.distance = median.gain.map(ZoneRule.Bound.meters)
        }
        pending.append(event)
    }

    private mutating func addForAllZones(_ kind: ZoneEvent.Kind, at instant: HeardInstant, since: HeardInstant) {
        for zone in rules.indices { pending.append(makeEvent(kind, zone, at: instant, since: .heard(since))) }
    }

    private mutating func makeEvent(
        _ kind: ZoneEvent.Kind, _ zone: Int, at instant: HeardInstant, since: ZoneMoment
    ) -> ZoneEvent {
        sequence += 1
        counts[zone][kind, default: 0] += 1
        return ZoneEvent(
            kind: kind, sequence: sequence, zoneIndex: zone, zone: rules[zone].name, instant: instant, since: since,
            proof: rules[zone].proof)
    }
}

extension ZoneEngine {
    /// A presence that survives a restart: which beacon is inside which zone.
    public struct Presence: Hashable, Sendable {
        public var zone: String
        /// The beacon that is inside. With `"per": "zone"`, the beacon that entered first of those inside.
        public var beacon: String
        /// The time at which the presence began, in microseconds since 1970.
        public var since: Int64
        /// The number of the zone's dwell times that have been reported.
        public var dwells: Int

        /// Creates a presence of `beacon` in `zone`.
        public init(zone: String, beacon: String, since: Int64, dwells: Int) {
            self.zone = zone
            self.beacon = beacon
            self.since = since
            self.dwells = dwells
        }
    }
}
