internal import Airtime
public import Sites

/// Locates a receiver on a map, vector by vector.
///
/// ```swift
/// var locator = try Locator(map)
/// for vector in run { print(locator.locate(vector).position as Any) }
/// ```
///
/// A locator uses only the times of the vectors and no clock, so a recording gives the same answers at any speed.
public struct Locator: Sendable {
    /// The map, with the settings in use.
    public let map: SignalMap
    /// The rooms that answers refer to; empty if no rooms are known.
    public let rooms: [MapRoom]
    /// True if answers should contain the score of every place.
    public var wantsScores = false
    /// True if answers should contain ``LocatorAnswer/region50``.
    var wantsRegion50 = false

    /// The rule of the algorithm; `nil` for `gauss`, `field` and `hmm`.
    private let rule: (any PlaceRule)?
    /// The state of `gauss`, `field` and `hmm`; `nil` for other algorithms.
    private var cells: CellLocator?
    private var window: SampleWindow

    /// - Parameters:
    ///   - settings: The settings of the locator; `nil` for the map's settings.
    ///   - walls: Walls through which the receiver cannot move, for the algorithm `hmm`.
    ///   - rooms: The rooms that answers name; `nil` for the rooms of the site from which the map was made, if it has
    ///     any.
    /// - Throws: If the map lacks data that the algorithm needs.
    public init(
        _ map: SignalMap, settings: LocatorSettings? = nil, walls: [Wall] = [], rooms: [MapRoom]? = nil
    ) throws(PositioningError) {
        var map = map
        if let settings { map.settings = settings }
        let settings = map.settings
        let algorithm = settings.algorithm
        if map.modelSite != nil, !([.field, .hmm] + PositioningAlgorithm.baselines).contains(algorithm) {
            throw .noSurvey(algorithm)
        }
        if algorithm.needsFingerprints, map.fingerprints.isEmpty { throw .noFingerprints(algorithm) }
        self.map = map
        self.rooms = rooms ?? map.modelSite.map(MapRoom.rooms) ?? []
        window = SampleWindow(length: settings.effectiveWindow)
        switch algorithm {
        case .nn: rule = NearestFingerprintRule(map)
        case .nnMean: rule = NearestFingerprintRule(map, \.mean)
        case .nnMedian: rule = NearestFingerprintRule(map, \.median)
        case .bhattacharyya: rule = BhattacharyyaRule(map)
        case .relative: rule = RelativeRule(map, settings)
        case .wknn: rule = WeightedNeighbors(map)
        case .weightedCentroid, .simpleDistance: rule = try BaselineRule(map)
        case .gauss, .field, .hmm:
            rule = nil
            cells = try CellLocator(map, walls: walls, rooms: self.rooms)
        }
    }

    /// Discards the run so far.
    public mutating func begin() {
        window = SampleWindow(length: map.settings.effectiveWindow)
        cells?.begin()
    }

    /// Adds the next second of a run, and locates the receiver.
    ///
    /// - Parameters:
    ///   - vector: The vector with the map's beacon numbers. Readings with other numbers are ignored.
    ///   - unknownBeacons: The number of beacons received in this second that are not on the map.
    public mutating func locate(_ vector: SignalVector, unknownBeacons: Int = 0) -> LocatorAnswer {
        add(vector)
        return answer(unknownBeacons: unknownBeacons)
    }

    /// Returns the answer for the run so far.
    ///
    /// - Parameter unknownBeacons: The number of beacons received in the newest second that are not on the map.
    func answer(unknownBeacons: Int) -> LocatorAnswer {
        let used = window.beaconCount
        let heard = used + unknownBeacons
        guard used > 0 else {
            return .none(unknownBeacons > 0 ? .nothingInCommon : .nothingHeard, heard: unknownBeacons)
        }
        if let cells {
            var answer = cells.answer(
                heard: heard, used: used, placeCount: map.places.count, wantsScores: wantsScores,
                wantsRegion50: wantsRegion50)
            if let place = answer.place, map.places[place].position == nil { answer.position = nil }
            return answer
        }
        var answer = LocatorAnswer.none(.noCandidate, heard: heard, used: used)
        if let location = rule?.locate(window, among: map.places) {
            answer = LocatorAnswer(used < 3 ? .poor : .fix, heard: heard, used: used)
            (answer.position, answer.place) = location
            answer.floor = location.place.flatMap { map.places[$0].floor }
            let room = answer.position.flatMap { rooms.index(of: $0, floor: answer.floor) }
            answer.rooms = room.map { [.init(room: $0, probability: nil)] } ?? []
        }
        if wantsScores { answer.scores = rule?.scores(window) ?? [] }
        return answer
    }

    /// Adds the next second of a run without locating the receiver.
    mutating func add(_ vector: SignalVector) {
        let readings = vector.readings.filter { map.beacons.indices.contains($0.beacon) }
        let vector = SignalVector(seconds: vector.seconds, sorted: readings)
        window.append(vector)
        cells?.add(vector)
    }

    /// Returns the index of the smallest temperature with which the 95 % region of the window contains a position;
    /// `temperatures.count` if even the largest is too small. Returns `nil` if the algorithm has no regions, if no
    /// beacon of the map was received, if the answer is on another floor, or if the map does not cover the position.
    ///
    /// - Parameter temperatures: The temperatures to try, in ascending order, at least one.
    func leastTemperature(_ temperatures: [Double], at position: FloorPosition, floor: String?) -> Int? {
        window.beaconCount > 0 ? cells?.leastTemperature(temperatures, at: position, floor: floor) : nil
    }
}

/// The last vectors of a run, from which a position is computed. They contain the map's beacon numbers.
struct SampleWindow: Sendable {
    /// The last vectors, oldest first, including vectors without readings.
    private(set) var vectors: [SignalVector] = []
    /// The last levels of each beacon in the run, up to ``historyLength``. Used only if `length` is `nil`.
    private var runHistory: [Int: [Double]] = [:]
    private let length: Int?

    /// The largest number of levels of a beacon from which its histogram is made.
    static let historyLength = 5

    /// - Parameter length: The number of vectors to keep. `nil` to keep the newest vector, and the last levels of each
    ///   beacon in the whole run.
    init(length: Int?) {
        self.length = length
    }

    mutating func append(_ vector: SignalVector) {
        vectors.append(vector)
        if vectors.count > length ?? 1 { vectors.removeFirst() }
        if length == nil { Self.append(vector, to: &runHistory) }
    }

    /// The number of beacons that were received within the window.
    var beaconCount: Int { Set(vectors.flatMap { $0.readings.map(\.beacon) }).count }

    /// The mean level of each beacon over the vectors in which it was received, sorted by beacon number.
    var means: [SignalVector.Reading] { SignalVector(seconds: 0, readings: vectors.flatMap(\.readings)).readings }

    /// The last levels of each beacon within the window, oldest first, up to ``historyLength``. If `length` is `nil`,
    /// within the whole run.
    var history: [Int: [Double]] {
        guard length != nil else { return runHistory }
        var history: [Int: [Double]] = [:]
        for vector in vectors { Self.append(vector, to: &history) }
        return history
    }

    private static func append(_ vector: SignalVector, to history: inout [Int: [Double]]) {
        for reading in vector.readings {
            let levels = history[reading.beacon, default: []] + [reading.level]
            history[reading.beacon] = levels.suffix(historyLength)
        }
    }
}
