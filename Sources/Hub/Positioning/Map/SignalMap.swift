public import Airtime
public import Configuration
public import Sites

/// What is fitted from a survey: places, beacons, what was heard of which where.
///
/// Everything that an algorithm needs follows from it, so that a map is small, and the same survey gives the same map.
public struct SignalMap: Sendable {
    /// A beacon that the survey heard.
    public struct Beacon: Hashable, Sendable {
        public let key: BeaconKey
        /// Where it hangs; `nil` where nobody said.
        public let position: FloorPosition?
        /// Seconds in which it was heard, over all places.
        public let seconds: Int
    }

    /// A file that the map was made from.
    public struct Source: Hashable, Sendable {
        /// As it was named.
        public let name: String
        /// Of its octets, as lower-case hexadecimal digits.
        public let sha256: String

        /// - Parameters are as the properties of the same names.
        public init(name: String, sha256: String) {
            self.name = name
            self.sha256 = sha256
        }
    }

    /// One of the survey's vectors, with where and when it was taken.
    ///
    /// There are as many as vectors: in few octets.
    struct Print: Hashable, Sendable {
        private let vectorNumber: Int32
        private let placeNumber: Int32
        private let stayNumber: Int32
        private let visitNumber: Int32

        init(vector: Int, place: Int, stay: Int, visit: Int) {
            vectorNumber = Int32(clamping: vector)
            placeNumber = Int32(clamping: place)
            stayNumber = Int32(clamping: stay)
            visitNumber = Int32(clamping: visit)
        }

        /// Its place in the map's table, in rising order.
        var vector: Int { Int(vectorNumber) }
        /// Its place in the map.
        var place: Int { Int(placeNumber) }
        /// Stays in the order of the survey.
        var stay: Int { Int(stayNumber) }
        /// Stays of one place in one session.
        var visit: Int { Int(visitNumber) }
    }

    /// The site's name; `nil` where no recording has one.
    public internal(set) var site: String?
    /// When the newest recording began; `nil` where none says.
    public internal(set) var created: RFC3339Time?
    /// The files that it was made from.
    public var sources: [Source] = []
    /// In the order in which the survey has them first.
    public internal(set) var places: [Place]
    /// By key; a beacon's number is its place here.
    public internal(set) var beacons: [Beacon]
    /// What was heard at each place, by beacon.
    public internal(set) var statistics: [[PlaceStatistics]]
    /// The floor that the field is computed from, its beacons in the map's order; `nil` for a map of a survey.
    public internal(set) var plan: Site?
    /// What is used to find a place on it.
    public var settings = LocatorSettings()
    /// What leaving visits out has told; `nil` before that was tried.
    public var evaluation: Evaluation?
    /// What should be said about the survey, one sentence each.
    public internal(set) var notices: [String] = []

    var prints: [Print] = []
    /// The vectors of ``prints``, and perhaps others of the survey.
    var table = VectorTable()
    private(set) var numbers: [BeaconKey: Int] = [:]

    /// - Parameters:
    ///   - survey: Its stays without a place or position, and those that were dropped, count for nothing.
    ///   - positions: Where beacons hang.
    ///
    /// Refuses a survey that heard nothing at any place.
    public init(_ survey: Survey, positions: [BeaconKey: FloorPosition] = [:]) throws(PositioningError) {
        try self.init(survey, positions: positions, keepsVectors: true)
    }

    /// The same without its vectors, which few algorithms compare with, and which are as large as the survey.
    init(_ survey: Survey, positions: [BeaconKey: FloorPosition], keepsVectors: Bool) throws(PositioningError) {
        let found = SurveyPlaces(survey)
        notices = found.notices.map(\.text)
        places = found.places
        site = survey.recordings.lazy.compactMap(\.site).first
        created = survey.recordings.lazy.compactMap(\.started).max()
        var heard = [Int](repeating: 0, count: survey.beacons.count)
        for (index, stay) in survey.stays.enumerated() where found.placeOfStay[index] != nil {
            for vector in stay.vectors {
                for entry in survey.table.range(vector) { heard[survey.table.beacon(entry)] += 1 }
            }
        }
        let shared = survey.sharedIdentities
        for key in shared.sorted() {
            guard let number = survey.existingNumber(of: key), heard[number] > 0 else { continue }
            notices.append(
                "\(key) is the identity of several devices: \(heard[number]) seconds of it without an address are left "
                    + "out")
            heard[number] = 0
        }
        let kept = heard.indices.filter { heard[$0] > 0 }.sorted { survey.beacons[$0] < survey.beacons[$1] }
        guard !kept.isEmpty else { throw places.isEmpty ? .noPlaces : .nothingHeard }
        beacons = kept.map {
            Beacon(key: survey.beacons[$0], position: positions[survey.beacons[$0]], seconds: heard[$0])
        }
        statistics = []
        number()
        fill(survey, found)
        if keepsVectors { keepVectors(survey, found) }
    }

    /// A map as its file has it; ``number()`` has to follow.
    init(places: [Place], beacons: [Beacon], statistics: [[PlaceStatistics]]) {
        self.places = places
        self.beacons = beacons
        self.statistics = statistics
        number()
    }

    private mutating func number() {
        numbers = Dictionary(beacons.enumerated().map { ($0.element.key, $0.offset) }) { first, _ in first }
    }

    private mutating func fill(_ survey: Survey, _ found: SurveyPlaces) {
        let numbers = numbers(for: survey)
        var staysOfPlace = [[Int]](repeating: [], count: places.count)
        for (stay, place) in found.placeOfStay.enumerated() { if let place { staysOfPlace[place].append(stay) } }
        var levels = [[Double]](repeating: [], count: beacons.count)
        statistics = staysOfPlace.map { stays in
            for vector in stays.lazy.flatMap({ survey.stays[$0].vectors }) {
                for entry in survey.table.range(vector) {
                    guard let beacon = numbers[survey.table.beacon(entry)] else { continue }
                    levels[beacon].append(survey.table.level(entry))
                }
            }
            return levels.indices.compactMap { beacon in
                guard let found = PlaceStatistics(beacon: beacon, levels: levels[beacon]) else { return nil }
                levels[beacon].removeAll(keepingCapacity: true)
                return found
            }
        }
    }

    /// Whether its file holds the vectors: those that an algorithm compares with, and those of a map of few readings, so
    /// that every algorithm can be tried on it.
    var wantsVectors: Bool {
        settings.algorithm.needsPrints || beacons.reduce(0) { $0 + $1.seconds } <= Self.vectorLimit
    }

    /// Takes the vectors of the survey that it was made of.
    ///
    /// - Parameter found: The places of ``survey``.
    mutating func keepVectors(_ survey: Survey, _ found: SurveyPlaces) {
        struct Visit: Hashable {
            var place: Int
            var session: String?
        }
        let numbers = numbers(for: survey)
        var visits: [Visit: Int] = [:]
        let kept = survey.stays.indices.filter { found.placeOfStay[$0] != nil }.map { survey.stays[$0].vectors }
        let count = kept.reduce(0) { $0 + $1.count }
        // Numbered alike, the survey's own table serves the map too: both are one in memory.
        let isShared = numbers.enumerated().allSatisfy { $1 == $0 }
        if isShared {
            table = survey.table
        } else {
            table.reserve(vectors: count, readings: beacons.reduce(0) { $0 + $1.seconds })
        }
        prints.reserveCapacity(count)
        for (index, stay) in survey.stays.enumerated() {
            guard let place = found.placeOfStay[index] else { continue }
            let key = Visit(place: place, session: survey.session(of: stay))
            let visit = visits[key] ?? visits.count
            visits[key] = visit
            for vector in stay.vectors {
                if !isShared { table.append(vector, of: survey.table, numbers: numbers) }
                prints.append(
                    Print(vector: isShared ? vector : table.count - 1, place: place, stay: index, visit: visit))
            }
        }
    }

    /// A beacon's number; `nil` for one that the survey never heard.
    public func number(of key: BeaconKey) -> Int? { numbers[key] }

    /// Identities that the survey heard from several devices at once: the map knows them with their addresses only.
    public var sharedIdentities: Set<BeaconKey> { Set(beacons.compactMap(\.key.identityOfSeveral)) }

    /// Where beacons hang, as far as somebody has said.
    public var beaconPositions: [BeaconKey: FloorPosition] {
        Dictionary(beacons.compactMap { beacon in beacon.position.map { (beacon.key, $0) } }) { first, _ in first }
    }

    /// The map's numbers of a survey's beacons, `nil` for those that the map does not know.
    public func numbers(for survey: Survey) -> [Int?] { survey.beacons.map { numbers[$0] } }

    /// A vector of a survey with the map's beacon numbers; beacons that the map does not know are left out.
    public func vector(_ index: Int, of survey: Survey, numbers: [Int?]) -> SignalVector {
        let vector = survey.vector(index)
        return SignalVector(
            seconds: vector.seconds,
            readings: vector.readings.compactMap { reading in
                numbers[reading.beacon].map { .init(beacon: $0, level: reading.level) }
            })
    }

    /// The median distance from a place to the next one on its floor, in metres; `nil` where there are no two places
    /// with positions.
    public var spacing: Double? {
        let placed = places.filter { $0.position != nil }
        var nearest: [Double] = []
        for (index, place) in placed.enumerated() {
            var best = Double.infinity
            for (other, neighbor) in placed.enumerated() where other != index && neighbor.floor == place.floor {
                guard let from = place.position, let to = neighbor.position else { continue }
                let distance = from.distance(to: to)
                if distance > 0 { best = min(best, distance) }
            }
            if best.isFinite { nearest.append(best) }
        }
        return nearest.isEmpty ? nil : Percentiles(nearest).value(50)
    }
}

/// Why there is no map, or no place on it.
public enum PositioningError: Error, Hashable, Sendable {
    /// No stay has a place or a position.
    case noPlaces
    /// No beacon was heard at any place.
    case nothingHeard
    /// The algorithm needs places with positions.
    case noPositions(PositioningAlgorithm)
    /// There is nothing to leave out that something else would remain of.
    case nothingLeft
    /// The map file does not hold the vectors that the algorithm compares with.
    case noPrints(PositioningAlgorithm)
    /// The map file does not hold the survey's seconds.
    case noVectors
    /// The survey heard none of the map's beacons.
    case otherSite
    /// The site has no beacons to make a map of.
    case noBeacons
    /// Nobody has said where so many beacons hang as the baseline needs.
    case fewBeaconPositions(PositioningAlgorithm)
    /// The same of a map that was made from a site file.
    case fewSiteBeacons(PositioningAlgorithm)
    /// The map was made from a site file, and the algorithm compares with a survey.
    case noSurvey(PositioningAlgorithm)
}

extension PositioningError: CustomStringConvertible {
    public var description: String {
        switch self {
        case .noPlaces: "no stay of the survey has a place or a position: record some with either"
        case .nothingHeard: "the survey heard no beacon at any place: see that they are on, and record again"
        case .noPositions(let algorithm):
            "\(algorithm.rawValue) needs the positions of the places: add them to the survey, or take nn or gauss"
        case .nothingLeft: "leaving one out leaves nothing to compare with: record more visits"
        case .noPrints(let algorithm):
            "the map was not made for \(algorithm.rawValue): fit it again from the survey with that algorithm"
        case .noVectors: "the map does not hold the seconds of its survey: fit it again from all surveys"
        case .otherSite: "none of its beacons is on the map: is it of another site?"
        case .noBeacons: "the site has no beacons with a place: add \"beacons\" to its file"
        case .fewBeaconPositions(let algorithm):
            "\(algorithm.rawValue) needs to know where "
                + (algorithm == .simpleDistance ? "four beacons hang, at the corners" : "the beacons hang")
                + ": fit the map with --beacon-positions"
        case .fewSiteBeacons(let algorithm):
            "\(algorithm.rawValue) needs four beacons, at the corners, and the site has fewer: add them to its file, or "
                + "take field or hmm"
        case .noSurvey(let algorithm):
            "\(algorithm.rawValue) compares with a survey, and this map was made from a site file: take field or hmm"
        }
    }
}
