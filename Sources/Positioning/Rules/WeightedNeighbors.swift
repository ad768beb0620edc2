internal import Airtime

/// `wknn`: between the places of the k nearest vectors, each with the weight 1/(distance + 0.5)².
struct WeightedNeighbors: Sendable {
    let prints: PrintTable
    let positions: [FloorPosition?]
    let floors: [String?]
    let beaconCount: Int
    let neighbors: Int

    /// Where the sample is, and the smallest distance of each place; `nil` where no place has a position.
    ///
    /// The floor is that of most of the weight, and only its vectors count for the position.
    func locate(_ sample: Sample) -> (position: FloorPosition?, place: Int, scores: [Double?])? {
        let distances = DistanceTable(sample.means, beacons: beaconCount)
        var least = [Double](repeating: .infinity, count: positions.count)
        var nearest: [(distance: Double, vector: Int)] = []
        nearest.reserveCapacity(neighbors + 1)
        let squares = distances.squared(prints.table)
        // The largest square that still is one of the nearest.
        var limit = Double.infinity
        for (index, place) in prints.places.enumerated() {
            let square = squares[index]
            if square < least[place] { least[place] = square }
            guard square < limit else { continue }
            let distance = square.squareRoot()
            nearest.insert((distance, index), at: nearest.firstIndex { distance < $0.distance } ?? nearest.count)
            if nearest.count > neighbors { nearest.removeLast() }
            if nearest.count == neighbors { limit = squares[nearest[neighbors - 1].vector] }
        }
        let scores = least.map { $0.isFinite ? $0.squareRoot() : nil }
        guard !nearest.isEmpty else { return nil }
        var weights: [String?: Double] = [:]
        var byPlace: [Int: Double] = [:]
        for near in nearest {
            let place = prints.places[near.vector]
            weights[floors[place], default: 0] += Self.weight(near.distance)
            byPlace[place, default: 0] += Self.weight(near.distance)
        }
        let first = prints.places[nearest[0].vector]
        let floor = weights.max { ($0.value, $1.key == floors[first] ? 1 : 0) < ($1.value, 0) }?.key ?? floors[first]
        var (x, y, total) = (0.0, 0.0, 0.0)
        for near in nearest {
            let place = prints.places[near.vector]
            guard floors[place] == floor, let position = positions[place] else { continue }
            let weight = Self.weight(near.distance)
            (x, y, total) = (x + weight * position.x, y + weight * position.y, total + weight)
        }
        let place = byPlace.filter { floors[$0.key] == floor }.max { ($0.value, $1.key) < ($1.value, $0.key) }
        return (
            total > 0 ? FloorPosition(x: x / total, y: y / total) : nil, place?.key ?? first, scores
        )
    }

    private static func weight(_ distance: Double) -> Double { 1 / ((distance + 0.5) * (distance + 0.5)) }
}
