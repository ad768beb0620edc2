internal import Airtime

/// ``PositioningBaseline`` on a map whose beacons' places are known: what a survey must be better than.
struct BaselineRule: Sendable {
    private let algorithm: PositioningAlgorithm
    private let hung: [FloorPosition?]
    /// The floor where each beacon is heard strongest.
    private let floors: [String?]
    private let places: [(place: Int, position: FloorPosition, floor: String?)]
    /// Those of simple distance, in its order, and the rectangle that it divides.
    private let corners: [Int]
    private let low: FloorPosition
    private let high: FloorPosition

    /// Refuses a map that does not say where enough beacons hang.
    init(_ map: SignalMap) throws(PositioningError) {
        algorithm = map.settings.algorithm
        hung = map.beacons.map(\.position)
        let known = hung.enumerated().compactMap { number, position in position.map { (number, $0) } }
        guard let first = known.first?.1 else { throw .fewBeaconPositions(map.settings.algorithm) }
        var (low, high) = (first, first)
        for (_, position) in known {
            low = FloorPosition(x: min(low.x, position.x), y: min(low.y, position.y))
            high = FloorPosition(x: max(high.x, position.x), y: max(high.y, position.y))
        }
        (self.low, self.high) = (low, high)
        var corners: [Int] = []
        for corner in [low, FloorPosition(x: high.x, y: low.y), high, FloorPosition(x: low.x, y: high.y)] {
            let nearest = known.filter { !corners.contains($0.0) }.min {
                ($0.1.distance(to: corner), $0.0) < ($1.1.distance(to: corner), $1.0)
            }
            if let nearest { corners.append(nearest.0) }
        }
        self.corners = corners
        if algorithm == .simpleDistance, corners.count < 4 {
            throw map.plan == nil ? .fewBeaconPositions(algorithm) : .fewSiteBeacons(algorithm)
        }
        var strongest = [(mean: Double, floor: String?)?](repeating: nil, count: map.beacons.count)
        for (place, found) in map.statistics.enumerated() {
            for statistics in found where strongest[statistics.beacon].map({ statistics.mean > $0.mean }) ?? true {
                strongest[statistics.beacon] = (statistics.mean, map.places[place].floor)
            }
        }
        floors = strongest.map { $0?.floor }
        places = map.places.enumerated().compactMap { number, place in
            place.position.map { (number, $0, place.floor) }
        }
    }

    /// `nil` where none of the beacons whose places are known was heard.
    func locate(_ sample: Sample) -> (position: FloorPosition, place: Int?)? {
        let heard = sample.means.filter { hung[$0.beacon] != nil }
        guard let position = position(heard) else { return nil }
        let floor = heard.max { ($0.level, $1.beacon) < ($1.level, $0.beacon) }.flatMap { floors[$0.beacon] }
        let nearest = places.filter { floor == nil || $0.floor == floor }.min {
            ($0.position.distance(to: position), $0.place) < ($1.position.distance(to: position), $1.place)
        }
        return (position, nearest?.place)
    }

    private func position(_ heard: [SignalVector.Reading]) -> FloorPosition? {
        if algorithm == .weightedCentroid {
            return PositioningBaseline.weightedCentroid(
                heard.compactMap { reading in hung[reading.beacon].map { .init(position: $0, level: reading.level) } })
        }
        let levels = corners.map { corner in heard.first { $0.beacon == corner }?.level }
        guard levels.contains(where: { $0 != nil }) else { return nil }
        let shares = PositioningBaseline.simpleDistance(levels.map { $0 ?? ReceivedLevel.floor })
        return shares.map {
            FloorPosition(x: low.x + $0.x * (high.x - low.x), y: low.y + $0.y * (high.y - low.y))
        }
    }
}
