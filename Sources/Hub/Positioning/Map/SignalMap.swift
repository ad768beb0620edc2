public import Airtime
public import Configuration
public import Sites

/// The places and beacons of a survey, and the statistics of each beacon at each place.
///
/// The map contains all data that an algorithm needs. Equal surveys give equal maps.
public struct SignalMap: Sendable {
    /// A beacon that was received in the survey.
    public struct Beacon: Hashable, Sendable {
        public let key: BeaconKey
        /// The position in metres east and north; `nil` if it is not known.
        public let position: FloorPosition?
        /// The number of seconds in which the beacon was received, over all places.
        public let seconds: Int
    }

    /// A file from which the map was made.
    public struct Source: Hashable, Sendable {
        /// The file's name as it was given.
        public let name: String
        /// The SHA-256 of the file, as lower-case hexadecimal digits.
        public let sha256: String
    }

    /// A vector of the survey, with its place, stay and visit.
    struct Fingerprint: Hashable, Sendable {
        let vector: SignalVector
        /// The index of the vector's place in the map.
        let place: Int
        /// The index of the vector's stay in the survey.
        let stay: Int
        /// The index of the vector's visit. A visit consists of all stays at one place in one session.
        let visit: Int
    }

    /// The site's name; `nil` if no recording has one.
    public internal(set) var site: String?
    /// The time at which the newest recording began; `nil` if no recording has a time.
    public internal(set) var created: RFC3339Time?
    /// The files from which the map was made.
    public var sources: [Source] = []
    /// The places in the order in which they first appear in the survey.
    public internal(set) var places: [Place]
    /// The beacons sorted by key. A beacon's number is its index here.
    public let beacons: [Beacon]
    /// The statistics of each place, sorted by beacon number.
    public internal(set) var statistics: [[PlaceStatistics]]
    /// The site from which the field is computed, with its beacons in the map's order; `nil` for a map of a survey.
    public internal(set) var modelSite: Site?
    /// The settings of the locator.
    public var settings = LocatorSettings()
    /// The accuracy measured by leaving parts of the survey out; `nil` if it was not measured.
    public var evaluation: Evaluation?
    /// Warnings about the survey, one sentence each.
    public internal(set) var notices: [String] = []
    /// The survey's vectors in their order. Empty if the map does not keep them.
    var fingerprints: [Fingerprint] = []
    private let numberOfKey: [BeaconKey: Int]

    /// Makes the map of a survey. Cancelled stays, and stays with neither a place name nor a position, are ignored.
    ///
    /// - Parameters:
    ///   - positions: The known positions of beacons.
    ///   - keepsVectors: False to make a map without the survey's vectors. Only some algorithms need the vectors.
    /// - Throws: If the survey received nothing at any place.
    public init(
        _ survey: Survey, positions: [BeaconKey: FloorPosition] = [:], keepsVectors: Bool = true
    ) throws(PositioningError) {
        let surveyPlaces = SurveyPlaces(survey)
        var notices = surveyPlaces.notices
        var seconds = [Int](repeating: 0, count: survey.beacons.count)
        for (stay, place) in zip(survey.stays, surveyPlaces.placeOfStay) where place != nil {
            for vector in stay.vectors {
                for reading in survey.vector(vector).readings { seconds[reading.beacon] += 1 }
            }
        }
        for key in survey.sharedIdentities.sorted() {
            guard let number = survey.existingNumber(of: key), seconds[number] > 0 else { continue }
            notices.append(
                "several devices send \(key): \(seconds[number]) seconds with its levels are left out, because they were "
                    + "recorded without the devices' addresses")
            seconds[number] = 0
        }
        let receivedBeacons = seconds.indices.filter { seconds[$0] > 0 }.sorted {
            survey.beacons[$0] < survey.beacons[$1]
        }
        guard !receivedBeacons.isEmpty else { throw surveyPlaces.places.isEmpty ? .noPlaces : .nothingHeard }
        self.init(
            places: surveyPlaces.places,
            beacons: receivedBeacons.map {
                Beacon(key: survey.beacons[$0], position: positions[survey.beacons[$0]], seconds: seconds[$0])
            }, statistics: [])
        self.notices = notices
        site = survey.recordings.lazy.compactMap(\.site).first
        created = survey.recordings.lazy.compactMap(\.started).max()
        statistics = statistics(survey, surveyPlaces)
        if keepsVectors { keepVectors(survey) }
    }

    /// Creates a map from its parts.
    init(places: [Place], beacons: [Beacon], statistics: [[PlaceStatistics]]) {
        self.places = places
        self.beacons = beacons
        self.statistics = statistics
        numberOfKey = Dictionary(beacons.enumerated().map { ($0.element.key, $0.offset) }) { first, _ in first }
    }

    private func statistics(_ survey: Survey, _ surveyPlaces: SurveyPlaces) -> [[PlaceStatistics]] {
        let numbers = numbers(for: survey)
        let staysOfPlace = Dictionary(grouping: survey.stays.indices) { surveyPlaces.placeOfStay[$0] }
        return places.indices.map { place in
            var levels = [[Double]](repeating: [], count: beacons.count)
            for vector in staysOfPlace[place, default: []].lazy.flatMap({ survey.stays[$0].vectors }) {
                for reading in survey.vector(vector).readings {
                    if let beacon = numbers[reading.beacon] { levels[beacon].append(reading.level) }
                }
            }
            return levels.indices.compactMap { PlaceStatistics(beacon: $0, levels: levels[$0]) }
        }
    }

    /// If a map has at most this number of readings, its file contains all vectors, so that every algorithm can be
    /// tried.
    private static let vectorLimit = 200_000

    /// True if the map's file contains the vectors, because the algorithm needs them or because there are few readings.
    var wantsVectors: Bool {
        settings.algorithm.needsFingerprints || beacons.reduce(0) { $0 + $1.seconds } <= Self.vectorLimit
    }

    /// Stores the vectors of the survey from which the map was made.
    mutating func keepVectors(_ survey: Survey) {
        struct Visit: Hashable {
            var place: Int
            var session: String?
        }
        let numbers = numbers(for: survey)
        var visits: [Visit: Int] = [:]
        fingerprints = []
        for (index, place) in SurveyPlaces(survey).placeOfStay.enumerated() {
            guard let place else { continue }
            let stay = survey.stays[index]
            let key = Visit(place: place, session: survey.session(of: stay))
            let visit = visits[key] ?? visits.count
            visits[key] = visit
            for vector in stay.vectors {
                fingerprints.append(
                    Fingerprint(
                        vector: survey.vector(vector).renumbered(numbers), place: place, stay: index, visit: visit))
            }
        }
    }

    /// Returns a beacon's number; `nil` if the map does not have the beacon.
    public func number(of key: BeaconKey) -> Int? { numberOfKey[key] }

    /// Returns the number in the map of each beacon of a survey; `nil` for beacons that the map does not have.
    public func numbers(for survey: Survey) -> [Int?] { survey.beacons.map { numberOfKey[$0] } }

    /// Returns a vector of a survey with the map's beacon numbers. Beacons that the map does not have are left out.
    ///
    /// - Parameter numbers: The result of ``numbers(for:)``.
    public func vector(_ index: Int, of survey: Survey, numbers: [Int?]) -> SignalVector {
        survey.vector(index).renumbered(numbers)
    }

    /// The identities that several devices of the survey sent. In the map, the key of each of these devices is the
    /// identity followed by the device's address.
    public var sharedIdentities: Set<BeaconKey> { Set(beacons.compactMap(\.key.identityOfSeveral)) }

    /// The known positions of beacons.
    public var beaconPositions: [BeaconKey: FloorPosition] {
        Dictionary(beacons.compactMap { beacon in beacon.position.map { (beacon.key, $0) } }) { first, _ in first }
    }

    /// The median over the places of the distance to the nearest other place on the same floor, in metres; `nil` if no
    /// two places have positions.
    public var spacing: Double? {
        let withPosition = places.filter { $0.position != nil }
        let nearest = withPosition.compactMap { place in
            withPosition.compactMap { other in
                guard other.floor == place.floor, let from = place.position, let to = other.position, from != to else {
                    return Double?.none
                }
                return from.distance(to: to)
            }.min()
        }
        return Percentiles(nearest).value(at: 50)
    }
}

/// The reason why a map cannot be made or used.
public enum PositioningError: Error, Hashable, Sendable {
    /// No stay has a place or a position.
    case noPlaces
    /// No beacon was received at any place.
    case nothingHeard
    /// The algorithm needs places with positions.
    case noPositions(PositioningAlgorithm)
    /// If a part of the survey is left out, no data remains to make a map from.
    case nothingLeft
    /// The map file does not contain the vectors that the algorithm needs.
    case noFingerprints(PositioningAlgorithm)
    /// The map file does not contain the survey's vectors.
    case noVectors
    /// The survey received none of the map's beacons.
    case otherSite
    /// The site has no beacons.
    case noBeacons
    /// The positions of too few beacons are known.
    case fewBeaconPositions(PositioningAlgorithm)
    /// The site from which the map was made has too few beacons.
    case fewSiteBeacons(PositioningAlgorithm)
    /// The map was made from a site file, but the algorithm needs a survey.
    case noSurvey(PositioningAlgorithm)
}

extension PositioningError: CustomStringConvertible {
    public var description: String {
        switch self {
        case .noPlaces: "no stay of the survey has a place or a position: record stays with one of them"
        case .nothingHeard: "no beacon was received at any place: check that the beacons are on, and record again"
        case .noPositions(let algorithm):
            "\(algorithm.rawValue) needs the positions of the places: add them to the survey, or use nn or gauss"
        case .nothingLeft: "if one visit is left out, no survey data remains for a map: record more visits"
        case .noFingerprints(let algorithm):
            "the map was not made for \(algorithm.rawValue): fit it again from the survey with this algorithm"
        case .noVectors: "the map does not contain the seconds of its survey: fit it again from all surveys"
        case .otherSite: "the survey has no beacon of the map: is it from another site?"
        case .noBeacons: "the site has no beacons with a position: add \"beacons\" to its file"
        case .fewBeaconPositions(let algorithm):
            "\(algorithm.rawValue) needs the positions of "
                + (algorithm == .simpleDistance ? "four beacons, at the corners" : "the beacons")
                + ": fit the map with --beacon-positions"
        case .fewSiteBeacons(let algorithm):
            "\(algorithm.rawValue) needs four beacons, at the corners, and the site has fewer: add them to its file, or "
                + "use field or hmm"
        case .noSurvey(let algorithm):
            "\(algorithm.rawValue) needs a survey, and this map was made from a site file: use field or hmm"
        }
    }
}
