/// A beacon that belongs to a zone.
struct ZoneMember: Sendable {
    let zone: Int
    let tracker: Int
    let occupancy: Int
    /// The smallest measure with which the beacon enters: a level in dBm, or relative to 1 m in dB.
    let enterMeasure: Double
    /// The smallest measure with which it stays.
    let stayMeasure: Double
    var isInside = false
    /// When it went beyond the leaving bound, in listened time; `nil` while it is within.
    var outsideSince: Int?
    /// Whether a timer for its silence runs.
    var hasSilenceTimer = false
}

/// What is entered and left: one beacon's place in a zone, or a zone that all its beacons share.
struct ZoneOccupancy: Sendable {
    let zone: Int
    /// The number of the zone's exclusive group.
    let group: Int?
    let isOfOneBeacon: Bool
    /// The members inside, in the order in which they entered.
    var inside: [Int] = []
    /// When it was entered, in listened time.
    var entered = 0
    /// How long it had been occupied when this run began, in microseconds.
    var enteredBefore = 0
    var since = ZoneMoment.unix(0)
    /// How many of the zone's dwell times have been reported.
    var dwells = 0
    /// When the next dwell time ends, in listened time.
    var dwellDue: Int?
    /// Whether it was restored from an earlier run and no report has confirmed it yet.
    var isUnconfirmed = false

    var isInside: Bool { !inside.isEmpty }

    mutating func enter(at now: Int, _ moment: ZoneMoment, _ member: Int) {
        inside = [member]
        entered = now
        enteredBefore = 0
        since = moment
        dwells = 0
        isUnconfirmed = false
    }
}

/// Which beacons belong to which zones: the tables that an engine starts with.
struct ZoneIndex {
    var beacons: [ZoneBeacon] = []
    var members: [ZoneMember] = []
    var occupancies: [ZoneOccupancy] = []
    var trackers: [BeaconTracker] = []
    /// For each track of the sighting table, the trackers that follow its beacon.
    var trackersOfTracks: [[Int]] = []
    /// The names of the exclusive groups.
    var groups: [String] = []

    private struct TrackerKey: Hashable {
        let beacon: Int
        let needsProof: Bool
    }

    private var beaconNumbers: [String: Int] = [:]
    private var tracksOfBeacons: [[Int]] = []
    private var trackerNumbers: [TrackerKey: Int] = [:]
    private var beaconsWithTag: [String: [Int]] = [:]

    init(_ rules: [ZoneRule], names: [String], beacons described: [ZoneBeacon]) {
        let descriptions = Dictionary(described.map { ($0.name, $0) }, uniquingKeysWith: { first, _ in first })
        for (track, name) in names.enumerated() {
            if let number = beaconNumbers[name] {
                tracksOfBeacons[number].append(track)
                continue
            }
            beaconNumbers[name] = beacons.count
            for tag in descriptions[name]?.tags ?? [] { beaconsWithTag[tag, default: []].append(beacons.count) }
            beacons.append(descriptions[name] ?? ZoneBeacon(name: name))
            tracksOfBeacons.append([track])
        }
        for (zone, rule) in rules.enumerated() { add(zone, rule) }
        trackersOfTracks = names.map { _ in [] }
        for (number, tracker) in trackers.enumerated() {
            for track in tracker.tracks { trackersOfTracks[track].append(number) }
        }
    }

    private mutating func add(_ zone: Int, _ rule: ZoneRule) {
        let own: [Int]
        switch rule.members {
        case .tag(let tag): own = beaconsWithTag[tag] ?? []
        case .beacons(let names): own = names.compactMap { beaconNumbers[$0] }
        }
        let group = rule.exclusive.map { groupNumber($0) }
        for (position, beacon) in own.enumerated() {
            if position == 0 || rule.per == .beacon {
                occupancies.append(ZoneOccupancy(zone: zone, group: group, isOfOneBeacon: rule.per == .beacon))
            }
            let tracker = trackerNumber(beacon, needsProof: rule.proof == .eid)
            trackers[tracker].members.append(members.count)
            members.append(
                ZoneMember(
                    zone: zone, tracker: tracker, occupancy: occupancies.count - 1,
                    enterMeasure: rule.bound.enterMeasure, stayMeasure: rule.bound.stayMeasure))
        }
    }

    private mutating func groupNumber(_ name: String) -> Int {
        if let number = groups.firstIndex(of: name) { return number }
        groups.append(name)
        return groups.count - 1
    }

    private mutating func trackerNumber(_ beacon: Int, needsProof: Bool) -> Int {
        let key = TrackerKey(beacon: beacon, needsProof: needsProof)
        if let number = trackerNumbers[key] { return number }
        trackerNumbers[key] = trackers.count
        trackers.append(BeaconTracker(beacon: beacon, needsProof: needsProof, tracks: tracksOfBeacons[beacon]))
        return trackers.count - 1
    }
}
