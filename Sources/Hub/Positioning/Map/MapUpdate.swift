internal import Airtime

/// The changes that a new survey makes to a map. Matching data is kept, and changed data is replaced.
///
/// The new map is made from ``survey``, which contains the kept data of the map and the new survey.
public struct MapUpdate: Sendable {
    /// The kind of a change.
    public enum Kind: String, Hashable, Sendable {
        /// A beacon's levels have changed: its old readings are left out.
        case beaconMoved = "beacon moved"
        /// A beacon is no longer received at the places where the map has it: its old readings are left out.
        case beaconGone = "beacon gone"
        case beaconNew = "beacon new"
        /// A place's levels have changed: its old stays are left out.
        case placeReplaced = "place replaced"
        case placeNew = "place new"
        /// The new stays at a place agree with the old stays: both are kept.
        case placeKept = "place kept"
    }

    /// One change.
    public struct Change: Hashable, Sendable {
        public let kind: Kind
        /// The beacon's key or the place's name.
        public let subject: String
        /// The mean difference in dB, over the places of a beacon or the beacons of a place; `nil` if there is nothing
        /// to compare.
        public let difference: Double?
    }

    /// The changes of beacons in the order of the map, then the changes of places in the order of the new survey.
    public private(set) var changes: [Change] = []
    /// The survey from which the new map is made.
    public private(set) var survey = Survey()

    /// The mean difference of a beacon's levels in dB above which the beacon may have moved. The difference must also
    /// be above 2.5 times the median difference of all beacons.
    public static let movedBeacon = 5.0
    /// The factor by which a difference must exceed the median difference to be unusual.
    static let unusualFactor = 2.5
    /// The mean difference of a place's levels in dB above which the place is replaced.
    public static let changedPlace = 8.0
    /// A beacon counts at a place if it was received in at least this share of the seconds recorded there.
    static let share = 0.3

    /// Computes the changes that a survey of the same site makes to a map.
    ///
    /// - Throws: If the map does not contain the vectors of its survey, or if the new survey received none of the map's
    ///   beacons.
    public init(_ map: SignalMap, with new: Survey) throws(PositioningError) {
        guard map.modelSite == nil, map.fingerprints.count == map.places.reduce(0, { $0 + $1.seconds }),
            !map.fingerprints.isEmpty
        else {
            throw .noVectors
        }
        let newMap = try SignalMap(new, keepsVectors: false)
        guard !Set(map.beacons.map(\.key)).isDisjoint(with: new.beacons) else { throw .otherSite }
        let oldPlaces = newMap.places.indices.map { index in
            map.places.firstIndex { Self.isSame($0, newMap.places[index]) }
        }
        let (oldLevels, newLevels) = (Self.levels(map), Self.levels(newMap))
        let omittedBeacons = beacons(map, newMap, oldPlaces, oldLevels, newLevels)
        let replacedPlaces = places(map, newMap, oldPlaces, oldLevels, newLevels, omittedBeacons)
        var newNames: [Int: (place: String?, position: FloorPosition?)] = [:]
        for (stay, place) in zip(new.stays, SurveyPlaces(new).placeOfStay) {
            if let place, let old = oldPlaces[place], newNames[old] == nil {
                newNames[old] = (stay.place, stay.position)
            }
        }
        rebuild(map, without: omittedBeacons, replacedPlaces, newNames)
        survey.append(new)
    }

    private static func isSame(_ left: Place, _ right: Place) -> Bool {
        guard left.floor == right.floor else { return false }
        guard let leftPosition = left.position, let rightPosition = right.position else {
            return left.name == right.name
        }
        return leftPosition.distance(to: rightPosition) <= SurveyPlaces.tolerance
    }

    /// Returns, for each place, the mean level of each beacon that is received there often enough.
    private static func levels(_ map: SignalMap) -> [[BeaconKey: Double]] {
        map.statistics.enumerated().map { place, statistics in
            var levels: [BeaconKey: Double] = [:]
            for entry in statistics where Double(entry.seconds) >= share * Double(map.places[place].seconds) {
                levels[map.beacons[entry.beacon].key] = entry.mean
            }
            return levels
        }
    }

    /// Adds the changes of beacons, and returns the beacons whose old readings are left out.
    ///
    /// - Parameter oldPlaces: For each place of the new map, the index of the same place in the old map.
    private mutating func beacons(
        _ map: SignalMap, _ newMap: SignalMap, _ oldPlaces: [Int?], _ oldLevels: [[BeaconKey: Double]],
        _ newLevels: [[BeaconKey: Double]]
    ) -> Set<BeaconKey> {
        var differences: [BeaconKey: [Double]] = [:]
        var lostPlaces: [BeaconKey: Int] = [:]
        for (new, old) in oldPlaces.enumerated() {
            guard let old else { continue }
            for (key, oldLevel) in oldLevels[old] {
                if let newLevel = newLevels[new][key] {
                    differences[key, default: []].append(abs(newLevel - oldLevel))
                } else if !newMap.statistics[new].contains(where: { newMap.beacons[$0.beacon].key == key }) {
                    lostPlaces[key, default: 0] += 1
                }
            }
        }
        let means = differences.compactMapValues { $0.count >= 2 ? Percentiles($0).mean : nil }
        let medianDifference = Percentiles(Array(means.values)).value(at: 50) ?? 0
        var omittedBeacons: Set<BeaconKey> = []
        for key in map.beacons.map(\.key) {
            if let mean = means[key], mean > max(Self.movedBeacon, Self.unusualFactor * medianDifference) {
                omittedBeacons.insert(key)
                changes.append(Change(kind: .beaconMoved, subject: key.text, difference: mean))
            } else if lostPlaces[key, default: 0] >= 2, differences[key] == nil {
                omittedBeacons.insert(key)
                changes.append(Change(kind: .beaconGone, subject: key.text, difference: nil))
            }
        }
        for beacon in newMap.beacons where map.number(of: beacon.key) == nil {
            changes.append(Change(kind: .beaconNew, subject: beacon.key.text, difference: nil))
        }
        return omittedBeacons
    }

    /// Adds the changes of places, and returns the places whose old stays are left out.
    private mutating func places(
        _ map: SignalMap, _ newMap: SignalMap, _ oldPlaces: [Int?], _ oldLevels: [[BeaconKey: Double]],
        _ newLevels: [[BeaconKey: Double]], _ omittedBeacons: Set<BeaconKey>
    ) -> Set<Int> {
        var replaced: Set<Int> = []
        for (new, old) in oldPlaces.enumerated() {
            let name = newMap.places[new].name
            guard let old else {
                changes.append(Change(kind: .placeNew, subject: name, difference: nil))
                continue
            }
            let differences = oldLevels[old].filter { !omittedBeacons.contains($0.key) }.compactMap { key, level in
                newLevels[new][key].map { abs($0 - level) }
            }
            let mean = Percentiles(differences).mean
            let isReplaced = mean.map { $0 > Self.changedPlace } ?? !oldLevels[old].isEmpty
            if isReplaced { replaced.insert(old) }
            changes.append(
                Change(kind: isReplaced ? .placeReplaced : .placeKept, subject: name, difference: mean))
        }
        return replaced
    }

    /// Adds the kept vectors of the map to the survey as stays, with the place names of the new survey.
    private mutating func rebuild(
        _ map: SignalMap, without omittedBeacons: Set<BeaconKey>, _ replacedPlaces: Set<Int>,
        _ newNames: [Int: (place: String?, position: FloorPosition?)]
    ) {
        survey.begin(Survey.Recording(site: map.site, started: map.created))
        let numbers = map.beacons.map { omittedBeacons.contains($0.key) ? nil : survey.number(of: $0.key) }
        var visits: [Int: [Int]] = [:]
        var stayCounts: [Int: Int] = [:]
        var currentStay: Int?
        for fingerprint in map.fingerprints where !replacedPlaces.contains(fingerprint.place) {
            if currentStay != fingerprint.stay {
                currentStay = fingerprint.stay
                let place = map.places[fingerprint.place]
                let isUnnamed = place.position != nil && place.name == SurveyPlaces.name(of: place.position)
                let name = newNames[fingerprint.place] ?? (isUnnamed ? nil : place.name, place.position)
                if !(visits[fingerprint.place, default: []].contains(fingerprint.visit)) {
                    visits[fingerprint.place, default: []].append(fingerprint.visit)
                }
                let visit = visits[fingerprint.place]?.firstIndex(of: fingerprint.visit) ?? 0
                let count = stayCounts[fingerprint.place, default: 0]
                stayCounts[fingerprint.place] = count + 1
                survey.begin(
                    Survey.Stay(
                        number: survey.stays.count + 1, place: name.place, position: name.position ?? place.position,
                        floor: place.floor,
                        heading: place.headings.isEmpty ? nil : place.headings[count % place.headings.count],
                        session: "before \(visit + 1)"))
            }
            survey.append(fingerprint.vector.renumbered(numbers))
        }
    }
}
