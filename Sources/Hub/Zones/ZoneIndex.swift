internal import Sightings

/// The tables with which a zone engine starts: which beacons belong to which zones.
struct ZoneIndex {
    var beacons: [ZoneBeacon] = []
    private(set) var occupants = ZoneOccupants()
    var trackers: [BeaconTracker] = []
    /// For each track of the sighting table, the numbers of the trackers of its beacon.
    var trackersOfTracks: [[Int]] = []
    /// The names of the exclusive groups.
    private var groups: [String] = []

    private struct TrackerKey: Hashable {
        let beacon: Int
        let needsProof: Bool
    }

    /// The number of each beacon, by name.
    private var beaconNumbers: [String: Int] = [:]
    /// For each beacon, its tracks in the sighting table.
    private var tracksOfBeacons: [[Int]] = []
    private var trackerNumbers: [TrackerKey: Int] = [:]
    private var beaconsWithTag: [String: [Int]] = [:]

    /// The beacons that are groups of devices.
    private var groupBeacons: Set<Int> = []

    init(_ rules: [ZoneRule], known: [KnownBeacon], beacons described: [ZoneBeacon]) {
        let names = known.map(\.name)
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
        for beacon in known where beacon.isGroup {
            if let number = beaconNumbers[beacon.name] { groupBeacons.insert(number) }
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
            if position == 0 || rule.scope == .beacon {
                occupants.occupancies.append(
                    ZoneOccupancy(zone: zone, group: group, isOfOneBeacon: rule.scope == .beacon))
            }
            let tracker = trackerNumber(beacon, needsProof: rule.proof == .eid)
            trackers[tracker].members.append(occupants.members.count)
            occupants.members.append(
                ZoneMember(
                    zone: zone, tracker: tracker, occupancy: occupants.occupancies.count - 1,
                    enterMeasure: rule.bound.enterMeasure, stayMeasure: rule.bound.stayMeasure))
        }
    }

    private mutating func groupNumber(_ name: String) -> Int {
        if let number = groups.firstIndex(of: name) { return number }
        groups.append(name)
        occupants.holders.append(nil)
        return groups.count - 1
    }

    private mutating func trackerNumber(_ beacon: Int, needsProof: Bool) -> Int {
        let key = TrackerKey(beacon: beacon, needsProof: needsProof)
        if let number = trackerNumbers[key] { return number }
        trackerNumbers[key] = trackers.count
        trackers.append(
            BeaconTracker(
                beacon: beacon, needsProof: needsProof, tracks: tracksOfBeacons[beacon],
                isGroup: groupBeacons.contains(beacon)))
        return trackers.count - 1
    }
}
