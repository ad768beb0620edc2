internal import Airtime

/// `wknn`: between the places of the k nearest vectors, each with the weight 1/(distance + 0.5)².
struct WeightedNeighbors: Sendable {
    let table: NearestVectors
    let positions: [FloorPosition?]
    let floors: [String?]
    let neighbors: Int

    /// The smallest distance of each place; `nil` where it has no vector.
    func scores(_ sample: Sample) -> [Double?] {
        table.least(sample.means).map { $0.isFinite ? $0.squareRoot() : nil }
    }

    /// Where the sample is; `nil` where there are no vectors.
    ///
    /// The floor is that of most of the weight, and only its vectors count for the position.
    func locate(_ sample: Sample) -> (position: FloorPosition?, place: Int)? {
        let nearest = table.nearest(neighbors, to: sample.means).map {
            (weight: Self.weight($0.square.squareRoot()), place: Int(table.prints.places[$0.vector]))
        }
        guard !nearest.isEmpty else { return nil }
        var weights: [String?: Double] = [:]
        var byPlace: [Int: Double] = [:]
        for near in nearest {
            weights[floors[near.place], default: 0] += near.weight
            byPlace[near.place, default: 0] += near.weight
        }
        let first = nearest[0].place
        let floor = weights.max { ($0.value, $1.key == floors[first] ? 1 : 0) < ($1.value, 0) }?.key ?? floors[first]
        var (x, y, total) = (0.0, 0.0, 0.0)
        for near in nearest {
            guard floors[near.place] == floor, let position = positions[near.place] else { continue }
            (x, y, total) = (x + near.weight * position.x, y + near.weight * position.y, total + near.weight)
        }
        let place = byPlace.filter { floors[$0.key] == floor }.max { ($0.value, $1.key) < ($1.value, $0.key) }
        return (total > 0 ? FloorPosition(x: x / total, y: y / total) : nil, place?.key ?? first)
    }

    private static func weight(_ distance: Double) -> Double { 1 / ((distance + 0.5) * (distance + 0.5)) }
}
