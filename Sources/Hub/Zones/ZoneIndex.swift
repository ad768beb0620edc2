internal import Sightings

/// The tables that a zone engine builds at its start: which beacons belong to which zones.
struct ZoneIndex {
    var beacons: [ZoneBeacon] = []
    private(set) var occupants = ZoneOccupants()
    var trackers: [BeaconTracker] = []
    /// For each track of the sighting table, the indices of the trackers of its beacon.
    var trackersOfTracks: [[Int]] = []
    /// The names of the exclusive groups.
    private var groups: [String] = []

    private struct TrackerKey: Hashable {
        let beacon: Int
        let needsProof: Bool
    }

    /// The index of each beacon, by name.
    private var beaconIndices: [String: Int] = [:]
    /// For each beacon, its tracks in the sighting table.
    private var tracksOfBeacons: [[Int]] = []
    private var trackerIndices: [TrackerKey: Int] = [:]
    /// For each tag, the indices of the beacons with this tag.
    private var beaconsWithTag: [String: [Int]] = [:]

    /// The indices of the beacons that are groups of devices.
    private var groupBeacons: Set<Int> = []

    init(_ rules: [ZoneRule], known: [KnownBeacon], beacons described: [ZoneBeacon]) {
        let names = known.map(\.name)
        let descriptions = Dictionary(described.map { ($0.name, $0) }, uniquingKeysWith: { first, _ in first })
        for (track, name) in names.enumerated() {
            if let index = beaconIndices[name] {
                tracksOfBeacons[index].append(track)
                continue
            }
            beaconIndices[name] = beacons.count
            for tag in descriptions[name]?.tags ?? [] { beaconsWithTag[tag, default: []].append(beacons.count) }
            beacons.append(descriptions[name] ?? ZoneBeacon(name: name))
            tracksOfBeacons.append([track])
        }
        for beacon in known where beacon.isGroup {
            if let index = beaconIndices[beacon.name] { groupBeacons.insert(index) }
        }
        for (zone, rule) in rules.enumerated() { add(zone, rule) }
        trackersOfTracks = names.map { _ in [] }
        for (index, tracker) in trackers.enumerated() {
            for track in tracker.tracks { trackersOfTracks[track].append(index) }
        }
    }

    private mutating func add(_ zone: Int, _ rule: ZoneRule) {
        let memberBeacons: [Int]
        switch rule.members {
        case .tag(let tag): memberBeacons = beaconsWithTag[tag] ?? []
        case .beacons(let names): memberBeacons = names.compactMap { beaconIndices[$0] }
        }
        let group = rule.exclusive.map { groupIndex($0) }
        for (position, beacon) in memberBeacons.enumerated() {
            if position == 0 || rule.scope == .beacon {
                occupants.occupancies.append(
                    ZoneOccupancy(zone: zone, group: group, isOfOneBeacon: rule.scope == .beacon))
            }
            let tracker = trackerIndex(beacon, needsProof: rule.proof == .eid)
            trackers[tracker].members.append(occupants.members.count)
            occupants.members.append(
                ZoneMember(
                    zone: zone, tracker: tracker, occupancy: occupants.occupancies.count - 1,
                    enterMeasure: rule.bound.enterMeasure, stayMeasure: rule.bound.stayMeasure))
        }
    }

    private mutating func groupIndex(_ name: String) -> Int {
        if let index = groups.firstIndex(of: name) { return index }
        groups.append(name)
        occupants.occupancyOfGroup.append(nil)
        return groups.count - 1
    }

    private mutating func trackerIndex(_ beacon: Int, needsProof: Bool) -> Int {
        let key = TrackerKey(beacon: beacon, needsProof: needsProof)
        if let index = trackerIndices[key] { return index }
        trackerIndices[key] = trackers.count
        trackers.append(
            BeaconTracker(
                beacon: beacon, needsProof: needsProof, tracks: tracksOfBeacons[beacon],
                isGroup: groupBeacons.contains(beacon)))
        return trackers.count - 1
    }
}
