internal import BeaconFrames
internal import BluetoothTypes
internal import HCI

/// The state of an advertising set: its transmit power, its current data, and the number of events that it has sent.
struct ActiveSet {
    /// The advertisements and the parameters that the allocation assigns to this set.
    let assignment: SetAllocation.AdvertisingSet
    /// The schedule of a shared set; `nil` if the set sends only one advertisement.
    var scheduler: FrameScheduler?
    var tally: EventTally
    var grant = RadioPowerGrant.unknown
    /// The set's own address.
    var address: DeviceAddress
    /// `true` while the set is sent from an address that is not its own. Either the controller has refused the set's
    /// own address, as controllers do while they scan or connect, or another program has changed the address.
    var isAddressRefused = false
    /// The data that the controller sends; `nil` if unknown.
    var data: AdvertisingData?
    /// `true` if the set is enabled, according to the last report of the controller.
    var isEnabled = false

    init(_ assignment: SetAllocation.AdvertisingSet, _ sources: [PayloadSource]) {
        self.assignment = assignment
        if assignment.isShared {
            scheduler = FrameScheduler(assignment.members.map { sources[$0].advertisement.interval })
        }
        tally = EventTally(
            members: assignment.members.count,
            periodMicroseconds: assignment.parameters.interval.meanPeriodMicroseconds)
        address = assignment.parameters.address
    }

    var parameters: SetParameters { assignment.parameters }

    /// This property is computed for speed: with a stored value of a protocol type, every access to the set would copy
    /// the whole set.
    var commands: any AdvertisingCommands { parameters.commands }

    /// The parameters with the current address, and with the interval of the current part of a pattern.
    ///
    /// - Parameter interval: The interval of the pattern's current part; `nil` for a constant interval.
    func currentParameters(_ interval: AdvertisingInterval?) -> SetParameters {
        let addressed = assignment.rotatingKey == nil ? parameters : parameters.replacingAddress(address)
        return interval.map(addressed.replacingInterval) ?? addressed
    }

    /// The position of the current advertisement among the set's members.
    var currentMember: Int { scheduler?.current ?? 0 }

    /// The position of the current advertisement among all advertisements.
    var currentFrame: Int { assignment.members[currentMember] }

    /// Advances the schedule to `now`.
    ///
    /// - Returns: The position of the current advertisement among all advertisements, and whether it has changed.
    mutating func advance(to now: HCIInstant) -> (currentFrame: Int, hasChanged: Bool) {
        let hasChanged = scheduler?.advance(to: now) ?? false
        if hasChanged { tally.begin(currentMember, at: now) }
        return (currentFrame, hasChanged)
    }

    /// Returns true if this set can stay enabled and become `new` by a change of its data only.
    func canContinue(as new: ActiveSet) -> Bool {
        isEnabled && parameters == new.parameters && assignment.rotatingKey == new.assignment.rotatingKey
            && assignment.pattern == new.assignment.pattern
    }

    /// Records that the set has been enabled.
    mutating func begin(at now: HCIInstant) {
        isEnabled = true
        scheduler?.start(at: now)
        tally.begin(currentMember, at: now, isEnabled: true)
    }

    /// Records that the set has been off since `instant`.
    mutating func end(at instant: HCIInstant) {
        isEnabled = false
        tally.end(at: instant)
    }
}

/// The state of an advertisement.
struct ActiveFrame {
    var source: PayloadSource
    /// The clock of the advertisement's pattern, which gives the current interval; `nil` for a constant interval.
    var patternClock: PatternClock?
    var payload = AdvertisingData(octets: [])
    /// The time at which the payload was built.
    var madeAt: HCIInstant?
    /// The time at which the payload must be built again; `nil` if it never changes.
    var renewalDue: HCIInstant?
    /// The number of events that this advertisement had already sent when its current set was created.
    var eventsBefore: UInt64 = 0

    init(_ source: PayloadSource) {
        self.source = source
        patternClock = source.advertisement.pattern.map { PatternClock($0) }
    }

    /// Replaces the source. If the pattern stays the same, its cycle continues.
    mutating func replaceSource(_ new: PayloadSource) {
        source = new
        guard patternClock?.pattern != new.advertisement.pattern else { return }
        patternClock = new.advertisement.pattern.map { PatternClock($0) }
    }

    /// Returns true if the payload must be built again.
    ///
    /// - Parameter afterPause: `true` if the set has just changed to this advertisement from another one. Then a
    ///   payload that changes over time is renewed if it is at least one second old.
    func isDue(at now: HCIInstant, afterPause: Bool) -> Bool {
        guard let renewalDue else { return false }
        guard afterPause, let madeAt else { return renewalDue <= now }
        return now.microseconds(since: madeAt) >= PayloadSource.shortestRenewalMicroseconds
    }

    /// Sets the time of the next renewal. Call this after the payload was built, or was found to need no renewal.
    mutating func planRenewal(at now: HCIInstant, isShared: Bool) {
        guard let period = source.renewalMicroseconds else { return }
        // If the set is not shared, the renewal period starts at the last due time and not at `now`. Otherwise the
        // delays of all renewals would add up.
        let lateness = isShared ? 0 : max(0, now.microseconds(since: renewalDue ?? now))
        renewalDue = now.advanced(byMicroseconds: period - lateness % period)
    }
}

/// Counts the advertising events of each member of a set, that is, of each advertisement that the set sends.
///
/// The events are computed from the time on the air and the mean period. Legacy controllers do not count events, and
/// controllers with extended advertising report the number only when a set ends.
struct EventTally: Hashable, Sendable {
    private var periodMicroseconds: Int
    /// The number of events of each member before the period was last changed.
    private var earlierEvents: [UInt64]
    /// The time for which each member was on the air with the current period, in microseconds. The time since
    /// ``uncountedSince`` is not included.
    private var airtime: [Int]
    /// The position of the member that is on the air, or was last on the air.
    private var member = 0
    /// The instant since which ``member`` is on the air. The time from then on is not in ``airtime`` yet. `nil` while
    /// nothing is on the air.
    private var uncountedSince: HCIInstant?

    init(members: Int, periodMicroseconds: Int) {
        self.periodMicroseconds = max(1, periodMicroseconds)
        airtime = [Int](repeating: 0, count: members)
        earlierEvents = [UInt64](repeating: 0, count: members)
    }

    /// Changes the mean period for all later events, and stops counting until the next ``begin(_:at:isEnabled:)``.
    mutating func change(periodMicroseconds new: Int, at now: HCIInstant) {
        end(at: now)
        earlierEvents = airtime.indices.map { events(of: $0, at: now) }
        airtime = [Int](repeating: 0, count: airtime.count)
        periodMicroseconds = max(1, new)
    }

    /// Records that `member` is on the air from `now` on.
    ///
    /// - Parameter isEnabled: `true` if the set has just been enabled. The controller then sends the first event at
    ///   once.
    mutating func begin(_ member: Int, at now: HCIInstant, isEnabled: Bool = false) {
        end(at: now)
        guard airtime.indices.contains(member) else { return }
        self.member = member
        uncountedSince = now
        // Half a period is added, so that the rounding in `events(of:at:)` counts the first event at once.
        if isEnabled { airtime[member] += periodMicroseconds / 2 }
    }

    /// Records that nothing has been on the air since `instant`, which may be in the past.
    mutating func end(at instant: HCIInstant) {
        if let uncountedSince { airtime[member] += max(0, instant.microseconds(since: uncountedSince)) }
        uncountedSince = nil
    }

    /// Returns the number of events of a member up to `now`.
    func events(of member: Int, at now: HCIInstant) -> UInt64 {
        guard airtime.indices.contains(member) else { return 0 }
        return earlierEvents[member]
            + UInt64((airtime(of: member, at: now) + (periodMicroseconds + 1) / 2) / periodMicroseconds)
    }

    private func airtime(of member: Int, at now: HCIInstant) -> Int {
        guard let uncountedSince, member == self.member else { return airtime[member] }
        return airtime[member] + max(0, now.microseconds(since: uncountedSince))
    }
}
