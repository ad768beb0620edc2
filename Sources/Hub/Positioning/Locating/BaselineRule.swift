internal import Airtime

/// The algorithms `weighted-centroid` and `simple-distance`. They need the positions of the beacons but no survey, and
/// serve as a comparison for the other algorithms.
struct BaselineRule: PlaceRule {
    private let algorithm: PositioningAlgorithm
    private let positions: [FloorPosition?]
    /// The floor on which each beacon is received with the highest level.
    private let floors: [String?]
    private let places: [Place]
    /// For `simple-distance`: the numbers of four beacons, which are nearest to the corners of the rectangle around all
    /// beacons: south-west, south-east, north-east, north-west.
    private let corners: [Int]
    /// The south-west corner of the rectangle around all beacons.
    private let low: FloorPosition
    /// The north-east corner of the rectangle around all beacons.
    private let high: FloorPosition

    /// - Throws: If the map has the positions of too few beacons.
    init(_ map: SignalMap) throws(PositioningError) {
        algorithm = map.settings.algorithm
        positions = map.beacons.map(\.position)
        places = map.places
        let knownPositions = positions.enumerated().compactMap { number, position in position.map { (number, $0) } }
        guard let first = knownPositions.first?.1 else { throw .fewBeaconPositions(map.settings.algorithm) }
        let low = knownPositions.reduce(first) { FloorPosition(x: min($0.x, $1.1.x), y: min($0.y, $1.1.y)) }
        let high = knownPositions.reduce(first) { FloorPosition(x: max($0.x, $1.1.x), y: max($0.y, $1.1.y)) }
        (self.low, self.high) = (low, high)
        var corners: [Int] = []
        for corner in [low, FloorPosition(x: high.x, y: low.y), high, FloorPosition(x: low.x, y: high.y)] {
            let nearest = knownPositions.filter { !corners.contains($0.0) }.min {
                ($0.1.distance(to: corner), $0.0) < ($1.1.distance(to: corner), $1.0)
            }
            if let nearest { corners.append(nearest.0) }
        }
        self.corners = corners
        if algorithm == .simpleDistance, corners.count < 4 {
            throw map.modelSite == nil ? .fewBeaconPositions(algorithm) : .fewSiteBeacons(algorithm)
        }
        var strongest = [(mean: Double, floor: String?)?](repeating: nil, count: map.beacons.count)
        for (place, placeStatistics) in map.statistics.enumerated() {
            for statistics in placeStatistics
            where strongest[statistics.beacon].map({ statistics.mean > $0.mean }) ?? true {
                strongest[statistics.beacon] = (statistics.mean, map.places[place].floor)
            }
        }
        floors = strongest.map { $0?.floor }
    }

    /// Returns the position and the nearest place; `nil` if no beacon with a position was received.
    func locate(_ sample: SampleWindow, among places: [Place]) -> (position: FloorPosition?, place: Int?)? {
        let received = sample.means.filter { positions[$0.beacon] != nil }
        let estimate = algorithm == .weightedCentroid ? weightedCentroid(received) : simpleDistance(received)
        guard let position = estimate else { return nil }
        let strongest = received.max { ($0.level, $1.beacon) < ($1.level, $0.beacon) }
        let floor = strongest.flatMap { floors[$0.beacon] }
        return (position, places.nearest(to: position) { floor == nil || $0 == floor })
    }

    /// The distance of each place from the located position, in metres.
    func scores(_ sample: SampleWindow) -> [Double?] {
        let position = locate(sample, among: places)?.position
        return places.map { place in position.flatMap { place.position?.distance(to: $0) } }
    }

    /// The mean position of the six strongest beacons, weighted by their power, 10^(level/10).
    private func weightedCentroid(_ received: [SignalVector.Reading]) -> FloorPosition? {
        let sorted = received.sorted { ($0.level, $1.beacon) > ($1.level, $0.beacon) }
        guard let strongest = sorted.first?.level else { return nil }
        var (x, y, total) = (0.0, 0.0, 0.0)
        for reading in sorted.prefix(6) {
            guard let position = positions[reading.beacon] else { continue }
            let weight = pow(10, (reading.level - strongest) / 10)
            (x, y, total) = (x + weight * position.x, y + weight * position.y, total + weight)
        }
        return FloorPosition(x: x / total, y: y / total)
    }

    /// The method of a thesis of 2013, whose author found "no meaningful results" with it. The level of each corner's
    /// beacon is scaled from -96...-14 dBm to 0...1. The position between two opposite sides follows from the ratio of
    /// the sums of their scaled levels.
    private func simpleDistance(_ received: [SignalVector.Reading]) -> FloorPosition? {
        let levels = corners.map { corner in received.first { $0.beacon == corner }?.level }
        guard levels.contains(where: { $0 != nil }) else { return nil }
        let shares = levels.map { min(max((($0 ?? ReceivedLevel.notReceived) + 96) / 82, 0), 1) }
        func across(_ from: Double, _ to: Double) -> Double { from + to > 0 ? to / (from + to) : 0.5 }
        let x = across(shares[0] + shares[3], shares[1] + shares[2])
        let y = across(shares[0] + shares[1], shares[2] + shares[3])
        return FloorPosition(x: low.x + x * (high.x - low.x), y: low.y + y * (high.y - low.y))
    }
}
