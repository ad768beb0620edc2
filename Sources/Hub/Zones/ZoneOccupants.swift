/// A beacon that belongs to a zone.
struct ZoneMember: Sendable {
    let zone: Int
    let tracker: Int
    let occupancy: Int
    /// The lowest median level with which the beacon enters: in dBm, or in dB relative to 1 m.
    let enterMeasure: Double
    /// The lowest median level with which the beacon stays inside, in the unit of ``enterMeasure``.
    let stayMeasure: Double
    var isInside = false
    /// The listened time at which the beacon went beyond the leaving bound; `nil` while it is within the bound.
    var outsideSince: Int?
    /// True if a timer for the beacon's silence runs.
    var hasSilenceTimer = false
}

/// The presence of one beacon in a zone, or the common presence of all beacons of a zone with `"per": "zone"`.
struct ZoneOccupancy: Sendable {
    let zone: Int
    /// The index of the zone's exclusive group; `nil` if the zone is in no group.
    let group: Int?
    let isOfOneBeacon: Bool
    /// The indices of the members inside, in the order in which they entered.
    var inside: [Int] = []
    /// The time at which the occupancy began in this run, in listened time.
    var enteredAt = 0
    /// The duration of the occupancy before this run began, in microseconds.
    var earlierDuration = 0
    var since = ZoneMoment.unix(0)
    /// The number of the zone's dwell times that have been reported.
    var dwells = 0
    /// The time at which the next dwell time ends, in listened time; `nil` if there is none.
    var dwellDue: Int?
    /// True if the occupancy was restored from an earlier run and no report has confirmed it yet.
    var isUnconfirmed = false

    var isInside: Bool { !inside.isEmpty }

    /// Begins an occupancy at `now` in listened time.
    mutating func begin(at now: Int, _ moment: ZoneMoment) {
        enteredAt = now
        earlierDuration = 0
        since = moment
        dwells = 0
        isUnconfirmed = false
    }
}

/// The beacons that are inside zones.
struct ZoneOccupants: Sendable {
    var members: [ZoneMember] = []
    var occupancies: [ZoneOccupancy] = []
    /// For each exclusive group, the index of the occupancy that has members inside; `nil` if the group is free.
    var occupancyOfGroup: [Int?] = []

    /// The occupancy of a member.
    subscript(_ member: Int) -> ZoneOccupancy {
        get { occupancies[members[member].occupancy] }
        set { occupancies[members[member].occupancy] = newValue }
    }

    /// Returns the members that block `member` because they are inside another zone of its exclusive group; empty if
    /// the group is free, or if the member is in no group.
    func rivals(of member: Int) -> [Int] {
        guard let group = self[member].group, let occupancy = occupancyOfGroup[group],
            occupancy != members[member].occupancy
        else { return [] }
        return occupancies[occupancy].inside
    }

    /// Moves a member inside. Its exclusive group must be free.
    ///
    /// - Parameters:
    ///   - now: The time of entering in listened time.
    ///   - moment: The time of entering as it is reported in events.
    /// - Returns: True if the occupancy was empty before.
    mutating func enter(_ member: Int, at now: Int, _ moment: ZoneMoment) -> Bool {
        let isFirst = !self[member].isInside
        members[member].isInside = true
        members[member].outsideSince = nil
        if isFirst { self[member].begin(at: now, moment) }
        self[member].inside.append(member)
        if let group = self[member].group { occupancyOfGroup[group] = members[member].occupancy }
        return isFirst
    }

    /// Moves a member outside.
    ///
    /// - Returns: True if the occupancy is empty now.
    mutating func leave(_ member: Int) -> Bool {
        members[member].isInside = false
        members[member].outsideSince = nil
        self[member].inside.removeAll { $0 == member }
        guard !self[member].isInside else { return false }
        if let group = self[member].group { occupancyOfGroup[group] = nil }
        return true
    }

    /// Returns the broken invariants, one sentence each.
    func check() -> [String] {
        var faults: [String] = []
        for (index, member) in members.enumerated() {
            let isListed = occupancies[member.occupancy].inside.contains(index)
            if member.isInside != isListed { faults.append("member \(index) and its occupancy disagree") }
            if member.outsideSince != nil, !member.isInside {
                faults.append("member \(index) is about to leave, but it is not inside")
            }
            if member.isInside, !member.hasSilenceTimer {
                faults.append("member \(index) is inside without a timer for its silence")
            }
        }
        for (index, occupancy) in occupancies.enumerated() {
            let inside = occupancy.inside
            if Set(inside).count < inside.count || inside.contains(where: { members[$0].occupancy != index }) {
                faults.append("occupancy \(index) has wrong members: \(inside)")
            }
            if occupancy.isOfOneBeacon, inside.count > 1 { faults.append("two beacons share occupancy \(index)") }
        }
        for (group, holder) in occupancyOfGroup.enumerated() {
            let inside = occupancies.indices.filter { occupancies[$0].group == group && occupancies[$0].isInside }
            if inside != (holder.map { [$0] } ?? []) {
                faults.append("group \(group) is held by \(holder.map(String.init) ?? "none"), not \(inside)")
            }
        }
        return faults
    }
}
