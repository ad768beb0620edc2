public import Sightings

/// Tells who enters, leaves and stays in zones, from sightings and a clock.
///
/// First ``nextEvent(until:)`` gives what was due before, to be called until it returns `nil`; then
/// ``hear(_:in:_:)`` takes the sighting. All durations run on listened time: while nothing can be heard nobody leaves, and
/// after 5 s all zones are unknown. The same calls give the same events, at any speed.
public struct ZoneEngine: Sendable {
    /// How long nothing can be heard before nobody knows anything any more: 5 s, in microseconds.
    public static let graceMicroseconds = PresenceWatch.graceMicroseconds
    /// A window is no shorter than this by itself, in microseconds: 3 s.
    static let shortestWindow = 3_000_000
    /// Of a beacon that sends rarely, so many periods.
    static let windowPeriods = 3.0
    /// How much nearer another zone of the same group must be, in dB.
    static let exclusiveDecibels = 3.0

    public let rules: [ZoneRule]
    private let beacons: [ZoneBeacon]
    private var pairs: [ZonePair] = []
    private var units: [ZoneUnit] = []
    private var ears: [ZoneEar] = []
    /// By place in the table: how it sends, and its beacon's ears.
    private var paces: [BeaconPace]
    private let earsOfPlaces: [[Int]]
    /// By exclusive group: the unit that is inside.
    private var holders: [Int?]
    private var timers = ZoneTimers()
    private var clock = ListenedClock()
    private var isUnknown = false
    private var sequence = 0
    private var pending: [ZoneEvent] = []
    private var told = 0
    /// By zone: who is inside, and how often each kind of event was told.
    private var counts: [[ZoneEvent.Kind: Int]]

    /// - Parameters:
    ///   - known: The known beacons of a table, in its order: several of one name are one beacon.
    ///   - beacons: What is written down about them; of others there are no tags and attachments.
    public init(_ rules: [ZoneRule], known: [KnownBeacon], beacons written: [ZoneBeacon]) {
        let plan = ZonePlan(rules, names: known.map(\.name), beacons: written)
        self.rules = rules
        beacons = plan.beacons
        pairs = plan.pairs
        units = plan.units
        ears = plan.ears
        earsOfPlaces = plan.earsOfPlaces
        holders = plan.groups.map { _ in nil }
        paces = known.map { BeaconPace(interval: $0.intervalMicroseconds) }
        counts = rules.map { _ in [:] }
    }

    // MARK: What is asked

    /// Whether somebody knows who is inside.
    public var isKnown: Bool { !isUnknown }

    /// The names of those inside, in the order of the zone's beacons.
    public func inside(_ zone: Int) -> [String] {
        pairs.filter { $0.zone == zone && $0.isInside }.map { beacons[ears[$0.ear].beacon].name }
    }

    /// How many are inside.
    public func insideCount(_ zone: Int) -> Int { pairs.count { $0.zone == zone && $0.isInside } }

    /// Who is inside, for ``resume(_:unixMicroseconds:)``; of a place whose time nobody can tell nothing.
    ///
    /// - Parameter unix: When a moment was, in microseconds since 1970.
    public func presences(_ unix: (ZoneMoment) -> Int64?) -> [Presence] {
        units.compactMap { unit in
            guard let first = unit.inside.first, let since = unix(unit.since) else { return nil }
            return Presence(
                zone: rules[unit.zone].name, beacon: beacons[ears[pairs[first].ear].beacon].name, since: since,
                dwells: unit.dwells)
        }
    }

    /// How many events of a kind a zone has had.
    public func count(_ kind: ZoneEvent.Kind, of zone: Int) -> Int { counts[zone][kind] ?? 0 }

    /// The silence after which a beacon has left, in microseconds, by what is known of it now; `nil` for one that was
    /// never heard, and for none.
    public func silenceMicroseconds(of beacon: String) -> Int? {
        let own = earsOfPlaces.indices.filter { place in
            earsOfPlaces[place].contains { beacons[ears[$0].beacon].name == beacon } && paces[place].lastHeard != nil
        }
        return own.map { paces[$0].silence }.max()
    }

    // MARK: What is told

    /// Somebody was inside when an earlier run ended. To be called before anything is heard.
    ///
    /// - Parameter now: By the wall clock, in microseconds since 1970; `nil` where nobody knows.
    public mutating func resume(_ presences: [Presence], unixMicroseconds now: Int64?) {
        for presence in presences {
            let index = pairs.firstIndex {
                rules[$0.zone].name == presence.zone && beacons[ears[$0.ear].beacon].name == presence.beacon
            }
            guard let index, !units[pairs[index].unit].isInside else { continue }
            let unit = pairs[index].unit
            let group = units[unit].group
            if let group, holders[group] != nil { continue }
            if let group { holders[group] = unit }
            pairs[index].isInside = true
            units[unit].enter(at: clock.listened, .unix(presence.since), index)
            units[unit].dwells = max(0, presence.dwells)
            let ear = pairs[index].ear
            for place in ears[ear].places { paces[place].resume(at: clock.listened) }
            if let place = ears[ear].places.last { ears[ear].proven = (place, clock.listened) }
            scheduleSilence(index)
            // What has passed meanwhile has passed; a clock that was set back has let nothing pass.
            let elapsed = Int(clamping: max(0, (now ?? presence.since) &- presence.since))
            units[unit].enteredBefore = elapsed
            units[unit].isAwaited = true
        }
    }

    /// Takes a sighting of the known beacon at `place` of `table`, which has heard it already; strangers are passed over.
    public mutating func hear(_ place: Int, in table: SightingTable, _ sighting: Sighting) {
        guard paces.indices.contains(place) else { return }
        clock.begin(at: sighting.instant)
        let now = clock.listened(at: sighting.instant)
        clock.advance(to: now)
        let events = table.tracks[place].events
        guard events != paces[place].events else { return paces[place].join(at: now) }
        paces[place].hear(at: now, events: events, stretch: clock.stretch) {
            table.tracks[place].interval.periodMicroseconds
        }
        var level = sighting.rssi
        if let heard = level, !LevelTally.range.contains(heard) { level = nil }
        for ear in earsOfPlaces[place] {
            if ears[ear].needsProof {
                let proof = ears[ear].witness.proves(table.tracks[place].identity, from: sighting.sender, at: now)
                guard proof else { continue }
                ears[ear].proven = (place, now)
            }
            if let level { ears[ear].window.add(level, power: table.tracks[place].powerAtOneMeter, at: now) }
            judge(ear, at: now, sighting.instant)
        }
    }

    /// The next thing that happened, up to `now`; to be called until it returns `nil`.
    public mutating func nextEvent(until now: HeardInstant) -> ZoneEvent? {
        if let event = nextPending() { return event }
        if let since = clock.deafSince {
            let due = since.advanced(byMicroseconds: Self.graceMicroseconds)
            guard !isUnknown, due <= now else { return nil }
            isUnknown = true
            tellAll(.unknown, at: due, since: since)
        } else {
            while told == pending.count, let timer = timers.first, timer.due <= clock.listened(at: now) {
                _ = timers.removeFirst()
                fire(timer)
            }
        }
        return nextPending()
    }

    /// When ``nextEvent(until:)`` has something to tell although nothing is heard; `nil` for never.
    public var nextWakeUp: HeardInstant? {
        if let since = clock.deafSince {
            return isUnknown ? nil : since.advanced(byMicroseconds: Self.graceMicroseconds)
        }
        return clock.hasBegun ? timers.first.map { clock.instant(of: $0.due) } : nil
    }

    /// From now on nothing can be heard.
    public mutating func becomeDeaf(at now: HeardInstant) {
        guard clock.deafSince == nil, clock.hasBegun else { return }
        while let timer = timers.first, timer.due <= clock.listened(at: now) {
            _ = timers.removeFirst()
            fire(timer)
        }
        clock.stop(at: now)
    }

    /// It can be heard from now on, or again.
    public mutating func becomeHearing(at now: HeardInstant) {
        guard clock.hasBegun else { return clock.begin(at: now) }
        guard let since = clock.deafSince else { return }
        if !isUnknown, now.microseconds(since: since) >= Self.graceMicroseconds {
            isUnknown = true
            tellAll(.unknown, at: since.advanced(byMicroseconds: Self.graceMicroseconds), since: since)
        }
        clock.go(at: now)
        guard isUnknown else { return }
        isUnknown = false
        for ear in ears.indices { ears[ear].window.removeAll() }
        tellAll(.known, at: now, since: since)
    }

    private mutating func nextPending() -> ZoneEvent? {
        guard told < pending.count else {
            if pending.isEmpty { return nil }
            pending.removeAll(keepingCapacity: true)
            told = 0
            return nil
        }
        told += 1
        return pending[told - 1]
    }

    // MARK: Judging

    /// Judges all zones of a beacon after a report.
    private mutating func judge(_ ear: Int, at now: Int, _ instant: HeardInstant) {
        var last: (window: Int, median: ZoneWindow.Median?)?
        let own = ears[ear].pairs
        var automatic: Int?
        for index in own {
            let rule = rules[pairs[index].zone]
            let length: Int
            if let window = rule.window {
                length = window
            } else {
                automatic = automatic ?? automaticWindow(ear)
                length = automatic ?? Self.shortestWindow
            }
            if last?.window != length { last = (length, ears[ear].window.median(since: now - length)) }
            guard let median = last?.median else { continue }
            judge(index, median, at: now, instant)
            if pairs[index].isInside, units[pairs[index].unit].isAwaited { scheduleDwell(pairs[index].unit) }
        }
    }

    private func automaticWindow(_ ear: Int) -> Int {
        let period = ears[ear].places.compactMap { paces[$0].likelyPeriod }.min() ?? 0
        return max(Self.shortestWindow, Int(min(3.6e9, Self.windowPeriods * period)))
    }

    private mutating func judge(_ index: Int, _ median: ZoneWindow.Median, at now: Int, _ instant: HeardInstant) {
        let zone = pairs[index].zone
        let isDistance = rules[zone].bound.isDistance
        guard let measure = isDistance ? median.gain : median.level else { return }
        ears[pairs[index].ear].last = (median.level, median.gain)
        if pairs[index].isInside {
            guard measure < pairs[index].stayMeasure else { return pairs[index].outsideSince = nil }
            guard pairs[index].outsideSince == nil else { return }
            pairs[index].outsideSince = now
            timers.add(now + rules[zone].leaveAfter, .level, index)
            return
        }
        guard median.count >= rules[zone].reports, measure >= pairs[index].enterMeasure else { return }
        let unit = pairs[index].unit
        if let group = units[unit].group {
            if let holder = holders[group], holder != unit {
                guard isNearer(median, than: holder, at: now) else { return }
                for other in units[holder].inside { leave(other, .exclusive, at: instant) }
            }
            holders[group] = unit
        }
        enter(index, at: now, instant)
    }

    /// Whether it is nearer than all that are inside of a unit, by more than chance.
    private func isNearer(_ median: ZoneWindow.Median, than holder: Int, at now: Int) -> Bool {
        for index in units[holder].inside {
            let ear = pairs[index].ear
            let length = rules[pairs[index].zone].window ?? automaticWindow(ear)
            guard let other = ears[ear].window.median(since: now - length) else { continue }
            let difference: Double
            if let own = median.gain, let others = other.gain {
                difference = own - others
            } else {
                difference = median.level - other.level
            }
            if difference < Self.exclusiveDecibels { return false }
        }
        return true
    }

    private mutating func enter(_ index: Int, at now: Int, _ instant: HeardInstant) {
        let unit = pairs[index].unit
        let isFirst = !units[unit].isInside
        pairs[index].isInside = true
        pairs[index].outsideSince = nil
        if isFirst {
            units[unit].enter(at: now, .heard(instant), index)
            scheduleDwell(unit)
        } else {
            units[unit].inside.append(index)
        }
        scheduleSilence(index)
        if isFirst { tell(.enter, index, at: instant, rules[pairs[index].zone].onEnter) }
    }

    private mutating func leave(_ index: Int, _ cause: ZoneEvent.Cause, at instant: HeardInstant) {
        let unit = pairs[index].unit
        pairs[index].isInside = false
        pairs[index].outsideSince = nil
        units[unit].inside.removeAll { $0 == index }
        guard !units[unit].isInside else { return }
        if let group = units[unit].group, holders[group] == unit { holders[group] = nil }
        tell(.exit, index, at: instant, rules[pairs[index].zone].onExit, cause)
    }

    // MARK: Time

    private mutating func scheduleSilence(_ index: Int) {
        guard !pairs[index].isTimed else { return }
        pairs[index].isTimed = true
        timers.add(clock.listened + shortestSilence(index), .silence, index)
    }

    private func shortestSilence(_ index: Int) -> Int {
        rules[pairs[index].zone].silentAfter ?? ExitRule.rangeMicroseconds.lowerBound
    }

    private mutating func scheduleDwell(_ unit: Int) {
        units[unit].isAwaited = false
        let seconds = rules[units[unit].zone].dwellSeconds
        guard units[unit].dwells < seconds.count else { return }
        let due = units[unit].entered - units[unit].enteredBefore + seconds[units[unit].dwells] * 1_000_000
        units[unit].dwellDue = max(due, clock.listened)
        timers.add(units[unit].dwellDue, .dwell, unit)
    }

    private func silenceDeadline(_ index: Int) -> Int? {
        let after = rules[pairs[index].zone].silentAfter
        let ear = pairs[index].ear
        if ears[ear].needsProof {
            return ears[ear].proven.map { $0.heard + (after ?? paces[$0.place].silence) }
        }
        var latest: Int?
        for place in ears[ear].places {
            guard let heard = paces[place].lastHeard else { continue }
            latest = max(latest ?? 0, heard + (after ?? paces[place].silence))
        }
        return latest
    }

    private mutating func fire(_ timer: ZoneTimers.Timer) {
        clock.advance(to: timer.due)
        let index = timer.number
        let instant = clock.instant(of: timer.due)
        switch timer.kind {
        case .silence:
            pairs[index].isTimed = false
            guard pairs[index].isInside else { return }
            if let deadline = silenceDeadline(index), deadline > timer.due {
                // What is heard from now on may make the silence shorter, but not end it before this.
                pairs[index].isTimed = true
                timers.add(min(deadline, timer.due + shortestSilence(index)), .silence, index)
            } else {
                leave(index, .silence, at: instant)
            }
        case .level:
            guard let since = pairs[index].outsideSince, pairs[index].isInside else { return }
            // It was inside meanwhile, and has a timer of its own now.
            guard since + rules[pairs[index].zone].leaveAfter == timer.due else { return }
            leave(index, .level, at: instant)
        case .dwell:
            guard units[index].dwellDue == timer.due, let first = units[index].inside.first else { return }
            units[index].dwells += 1
            units[index].dwellDue = -1
            tell(.dwell, first, at: instant, nil)
            scheduleDwell(index)
        }
    }

    // MARK: Events

    private mutating func tell(
        _ kind: ZoneEvent.Kind, _ index: Int, at instant: HeardInstant, _ content: ZoneRule.Content?,
        _ cause: ZoneEvent.Cause? = nil
    ) {
        let pair = pairs[index]
        let ear = ears[pair.ear]
        let measured = cause == .silence ? nil : ear.last
        add(
            kind, pair.zone, beacons[ear.beacon], at: instant, since: units[pair.unit].since,
            dwells: units[pair.unit].dwells, cause, measured, content?.filled(beacons[ear.beacon].attachments),
            isOfOne: units[pair.unit].isOfOne)
    }

    private mutating func tellAll(_ kind: ZoneEvent.Kind, at instant: HeardInstant, since: HeardInstant) {
        for zone in rules.indices {
            add(kind, zone, nil, at: instant, since: .heard(since), dwells: 0, nil, nil, nil, isOfOne: false)
        }
    }

    private mutating func add(
        _ kind: ZoneEvent.Kind, _ zone: Int, _ beacon: ZoneBeacon?, at instant: HeardInstant, since: ZoneMoment,
        dwells: Int, _ cause: ZoneEvent.Cause?, _ measured: (level: Double, gain: Double?)?,
        _ content: ZoneRule.Content?, isOfOne: Bool
    ) {
        sequence += 1
        counts[zone][kind, default: 0] += 1
        pending.append(
            ZoneEvent(
                kind: kind, sequence: sequence, zoneIndex: zone, zone: rules[zone].name, beacon: beacon?.name,
                instant: instant, since: since, dwells: dwells, cause: cause, level: measured?.level,
                distance: measured?.gain.map(ZoneRule.Bound.meters), proof: rules[zone].proof, content: content,
                attachments: beacon?.attachments ?? [], isOfOne: isOfOne))
    }
}
