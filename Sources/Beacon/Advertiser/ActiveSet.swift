internal import BeaconFrames
internal import BluetoothTypes
internal import HCI

/// An advertising set as it is now: what was granted, whose data it holds, and what it has sent.
struct ActiveSet {
    let allocation: SetAllocation.AdvertisingSet
    /// `nil` where the set belongs to one advertisement alone.
    var scheduler: FrameScheduler?
    var tally: EventTally
    var grant = RadioPowerGrant.unknown
    /// The address that listeners see.
    var address: DeviceAddress
    /// What the controller sends.
    var data: AdvertisingData?
    /// As far as anybody knows.
    var isEnabled = false

    init(_ allocation: SetAllocation.AdvertisingSet, _ sources: [PayloadSource]) {
        self.allocation = allocation
        if allocation.isShared {
            scheduler = FrameScheduler(allocation.members.map { sources[$0].advertisement.interval })
        }
        tally = EventTally(
            members: allocation.members.count, periodMicroseconds: allocation.plan.interval.meanPeriodMicroseconds)
        address = allocation.plan.address
    }

    var plan: AdvertisingPlan { allocation.plan }

    /// Not kept: an existential in it would make a copy of the whole set of each look at one of its members.
    var commands: any AdvertisingCommands {
        switch allocation.plan.family {
        case .legacy: LegacyAdvertising()
        case .extended(let handle): ExtendedAdvertising(handle: handle)
        }
    }

    /// The plan with the address of the moment.
    var currentPlan: AdvertisingPlan {
        allocation.rotatingKey == nil ? plan : plan.replacingAddress(address)
    }

    /// Position among the members of whoever is on the air.
    var turn: Int { scheduler?.current ?? 0 }

    /// Position among all advertisements of whoever is on the air.
    var current: Int { allocation.members[turn] }

    /// Gives the set to whoever's turn it is by now.
    ///
    /// - Returns: their position among all advertisements, and whether that is somebody else than before.
    mutating func turn(at now: HCIInstant) -> (current: Int, isAnother: Bool) {
        let isAnother = scheduler?.turn(at: now) ?? false
        if isAnother { tally.begin(turn, at: now) }
        return (current, isAnother)
    }

    /// Whether nothing but the data has to change to make it `new`.
    func canStay(as new: ActiveSet) -> Bool {
        isEnabled && plan == new.plan && allocation.rotatingKey == new.allocation.rotatingKey
    }

    /// The set has been enabled.
    mutating func begin(at now: HCIInstant) {
        isEnabled = true
        scheduler?.start(at: now)
        tally.begin(turn, at: now, isEnabled: true)
    }

    /// The set has been off since `instant`.
    mutating func end(at instant: HCIInstant) {
        isEnabled = false
        tally.end(at: instant)
    }
}

/// An advertisement as it is now.
struct ActiveFrame {
    var source: PayloadSource
    var payload = AdvertisingData(octets: [])
    /// When the octets were made.
    var madeAt: HCIInstant?
    /// When they should be made anew.
    var renewalDue: HCIInstant?
    /// Events of earlier times on the air.
    var eventsBefore: UInt64 = 0

    init(_ source: PayloadSource) {
        self.source = source
    }

    /// Whether the octets are to be made anew.
    ///
    /// - Parameter afterPause: Whoever comes on the air after a pause brings news along, if there may be any.
    func isDue(at now: HCIInstant, afterPause: Bool) -> Bool {
        guard let renewalDue else { return false }
        guard afterPause, let madeAt else { return renewalDue <= now }
        return now.microseconds(since: madeAt) >= PayloadSource.shortestRenewalMicroseconds
    }

    /// The octets have been made, or kept for another while.
    mutating func planRenewal(at now: HCIInstant, isShared: Bool) {
        guard let step = source.renewalMicroseconds else { return }
        // From one due time to the next, so that being late does not add up.
        let lateness = isShared ? 0 : max(0, now.microseconds(since: renewalDue ?? now))
        renewalDue = now.advanced(byMicroseconds: step - lateness % step)
    }
}

/// How many advertising events a set has sent since it was enabled, and for whom: computed from the time on the air and
/// the mean period, because a legacy controller does not count them, and an extended one tells only at the end of a set.
struct EventTally: Hashable, Sendable {
    private let periodMicroseconds: Int
    /// Time on the air of each member up to ``since``.
    private var airtime: [Int]
    private var member = 0
    private var since: HCIInstant?

    init(members: Int, periodMicroseconds: Int) {
        self.periodMicroseconds = max(1, periodMicroseconds)
        airtime = [Int](repeating: 0, count: members)
    }

    /// `member` is on the air from now on, whoever was before.
    ///
    /// - Parameter isEnabled: the set has just been enabled, so that its first event comes at once.
    mutating func begin(_ member: Int, at now: HCIInstant, isEnabled: Bool = false) {
        end(at: now)
        guard airtime.indices.contains(member) else { return }
        self.member = member
        since = now
        // The event is in the middle of its time, of which the first half lies before the start.
        if isEnabled { airtime[member] += periodMicroseconds / 2 }
    }

    /// Nothing is on the air from now on, or since `instant`, which may lie in the past.
    mutating func end(at instant: HCIInstant) {
        if let since { airtime[member] += max(0, instant.microseconds(since: since)) }
        since = nil
    }

    func events(of member: Int, at now: HCIInstant) -> UInt64 {
        guard airtime.indices.contains(member) else { return 0 }
        return UInt64((airtime(of: member, at: now) + (periodMicroseconds + 1) / 2) / periodMicroseconds)
    }

    private func airtime(of member: Int, at now: HCIInstant) -> Int {
        guard let since, member == self.member else { return airtime[member] }
        return airtime[member] + max(0, now.microseconds(since: since))
    }
}
