internal import Airtime

/// The changes that a new survey makes to a map: matching data is kept, changed data is replaced.
///
/// The new map is fitted from ``survey``, which contains the kept data of the map and the new survey.
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
        /// The mean difference over places or beacons, in dB. `nil` if there is nothing to compare.
        public let difference: Double?
    }

    /// The changes of beacons in the order of the map, then the changes of places in the order of the new survey.
    public private(set) var changes: [Change] = []
    /// The stays of the new map.
    public private(set) var survey = Survey()

    /// A beacon counts as moved if the mean difference of its levels is above this value, in dB, and also above
    /// `unusual` times the median difference of all beacons.
    public static let movedBeacon = 5.0
    /// A difference is unusual if it is larger than the median difference by this factor.
    static let unusual = 2.5
    /// The mean difference of a place's levels, in dB, above which the place is replaced.
    public static let changedPlace = 8.0
    /// A beacon counts at a place if it is received in at least this share of the seconds.
    static let share = 0.3

    /// The changes that a survey of the same site makes to a map.
    ///
    /// - Throws: If the map does not contain its vectors, or the survey received none of the map's beacons.
    public init(_ map: SignalMap, with new: Survey) throws(PositioningError) {
        guard map.modelSite == nil, map.fingerprints.count == map.places.reduce(0, { $0 + $1.seconds }),
            !map.fingerprints.isEmpty
        else {
            throw .noVectors
        }
        let other = try SignalMap(new, keepsVectors: false)
        guard !Set(map.beacons.map(\.key)).isDisjoint(with: new.beacons) else { throw .otherSite }
        let pairs = other.places.indices.map { index in
            map.places.firstIndex { Self.isSame($0, other.places[index]) }
        }
        let (before, after) = (Self.levels(map), Self.levels(other))
        let left = beacons(map, other, pairs, before, after)
        let replaced = places(map, other, pairs, before, after, left)
        var names: [Int: (place: String?, position: FloorPosition?)] = [:]
        let found = SurveyPlaces(new)
        for (stay, place) in zip(new.stays, found.placeOfStay) {
            if let place, let old = pairs[place], names[old] == nil { names[old] = (stay.place, stay.position) }
        }
        rebuild(map, without: left, replaced, names)
        survey.append(new)
    }

    private static func isSame(_ left: Place, _ right: Place) -> Bool {
        guard left.floor == right.floor else { return false }
        guard let here = left.position, let there = right.position else { return left.name == right.name }
        return here.distance(to: there) <= SurveyPlaces.tolerance
    }

    /// The mean level at each place of each beacon that is received there often enough.
    private static func levels(_ map: SignalMap) -> [[BeaconKey: Double]] {
        map.statistics.enumerated().map { place, found in
            var levels: [BeaconKey: Double] = [:]
            for entry in found where Double(entry.seconds) >= share * Double(map.places[place].seconds) {
                levels[map.beacons[entry.beacon].key] = entry.mean
            }
            return levels
        }
    }

    /// The beacons whose old readings are left out.
    private mutating func beacons(
        _ map: SignalMap, _ other: SignalMap, _ pairs: [Int?], _ before: [[BeaconKey: Double]],
        _ after: [[BeaconKey: Double]]
    ) -> Set<BeaconKey> {
        var differences: [BeaconKey: [Double]] = [:]
        var lost: [BeaconKey: Int] = [:]
        for (new, old) in pairs.enumerated() {
            guard let old else { continue }
            for (key, level) in before[old] {
                if let now = after[new][key] {
                    differences[key, default: []].append(abs(now - level))
                } else if !other.statistics[new].contains(where: { other.beacons[$0.beacon].key == key }) {
                    lost[key, default: 0] += 1
                }
            }
        }
        let means = differences.compactMapValues { $0.count >= 2 ? Percentiles($0).mean : nil }
        let usual = Percentiles(Array(means.values)).value(at: 50) ?? 0
        var left: Set<BeaconKey> = []
        for key in map.beacons.map(\.key) {
            if let mean = means[key], mean > max(Self.movedBeacon, Self.unusual * usual) {
                left.insert(key)
                changes.append(Change(kind: .beaconMoved, subject: key.text, difference: mean))
            } else if lost[key, default: 0] >= 2, differences[key] == nil {
                left.insert(key)
                changes.append(Change(kind: .beaconGone, subject: key.text, difference: nil))
            }
        }
        for beacon in other.beacons where map.number(of: beacon.key) == nil {
            changes.append(Change(kind: .beaconNew, subject: beacon.key.text, difference: nil))
        }
        return left
    }

    /// The places whose old stays are left out.
    private mutating func places(
        _ map: SignalMap, _ other: SignalMap, _ pairs: [Int?], _ before: [[BeaconKey: Double]],
        _ after: [[BeaconKey: Double]], _ left: Set<BeaconKey>
    ) -> Set<Int> {
        var replaced: Set<Int> = []
        for (new, old) in pairs.enumerated() {
            let name = other.places[new].name
            guard let old else {
                changes.append(Change(kind: .placeNew, subject: name, difference: nil))
                continue
            }
            let differences = before[old].filter { !left.contains($0.key) }.compactMap { key, level in
                after[new][key].map { abs($0 - level) }
            }
            let mean = Percentiles(differences).mean
            let isReplaced = mean.map { $0 > Self.changedPlace } ?? !before[old].isEmpty
            if isReplaced { replaced.insert(old) }
            changes.append(
                Change(kind: isReplaced ? .placeReplaced : .placeKept, subject: name, difference: mean))
        }
        return replaced
    }

    /// Adds the kept vectors of the map to the survey as stays, with the place names of the new survey.
    private mutating func rebuild(
        _ map: SignalMap, without left: Set<BeaconKey>, _ replaced: Set<Int>,
        _ names: [Int: (place: String?, position: FloorPosition?)]
    ) {
        survey.begin(Survey.Recording(site: map.site, started: map.created))
        let numbers = map.beacons.map { left.contains($0.key) ? nil : survey.number(of: $0.key) }
        var visits: [Int: [Int]] = [:]
        var stays: [Int: Int] = [:]
        var current: Int?
        for fingerprint in map.fingerprints where !replaced.contains(fingerprint.place) {
            if current != fingerprint.stay {
                current = fingerprint.stay
                let place = map.places[fingerprint.place]
                let isUnnamed = place.position != nil && place.name == SurveyPlaces.name(of: place.position)
                let name = names[fingerprint.place] ?? (isUnnamed ? nil : place.name, place.position)
                if !(visits[fingerprint.place, default: []].contains(fingerprint.visit)) {
                    visits[fingerprint.place, default: []].append(fingerprint.visit)
                }
                let visit = visits[fingerprint.place]?.firstIndex(of: fingerprint.visit) ?? 0
                let count = stays[fingerprint.place, default: 0]
                stays[fingerprint.place] = count + 1
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
