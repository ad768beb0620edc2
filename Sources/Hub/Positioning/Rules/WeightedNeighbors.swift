internal import Airtime

/// `wknn`: the weighted mean of the places of the k nearest vectors, with the weights 1/(distance + 0.5)².
struct WeightedNeighbors: Sendable {
    private let prints: [PlacePrint]
    private let places: [Place]
    private let neighbors: Int

    init(_ map: SignalMap) {
        prints = PlacePrint.vectors(of: map)
        places = map.places
        neighbors = max(1, map.settings.neighbors)
    }

    /// The smallest distance of each place. `nil` if it has no vector.
    func scores(_ sample: SampleWindow) -> [Double?] {
        prints.leastDistances(to: sample.means, placeCount: places.count)
    }

    /// The position of the sample and the place with the largest weight. `nil` if the map has no vectors.
    ///
    /// The floor is the one with the largest weight; only its vectors count for the position.
    func locate(_ sample: SampleWindow) -> (position: FloorPosition?, place: Int)? {
        let nearest = nearest(to: sample.means)
        guard let first = nearest.first?.place else { return nil }
        var byFloor: [String?: Double] = [:]
        var byPlace: [Int: Double] = [:]
        for near in nearest {
            byFloor[places[near.place].floor, default: 0] += near.weight
            byPlace[near.place, default: 0] += near.weight
        }
        let own = places[first].floor
        let floor = byFloor.max { ($0.value, $1.key == own ? 1 : 0) < ($1.value, 0) }?.key ?? own
        var (x, y, total) = (0.0, 0.0, 0.0)
        for near in nearest {
            guard places[near.place].floor == floor, let position = places[near.place].position else { continue }
            (x, y, total) = (x + near.weight * position.x, y + near.weight * position.y, total + near.weight)
        }
        let place = byPlace.filter { places[$0.key].floor == floor }.max { ($0.value, $1.key) < ($1.value, $0.key) }
        return (total > 0 ? FloorPosition(x: x / total, y: y / total) : nil, place?.key ?? first)
    }

    /// The places of the nearest vectors with their weights, nearest first; of equally near vectors, the first.
    private func nearest(to sample: [SignalVector.Reading]) -> [(place: Int, weight: Double)] {
        var nearest: [(square: Double, place: Int)] = []
        for print in prints {
            let square = print.squaredDistance(to: sample)
            if nearest.count == neighbors, let last = nearest.last, square >= last.square { continue }
            let index = nearest.firstIndex { square < $0.square } ?? nearest.count
            nearest.insert((square, print.place), at: index)
            if nearest.count > neighbors { nearest.removeLast() }
        }
        return nearest.map { square, place in
            let distance = square.squareRoot() + 0.5
            return (place, 1 / (distance * distance))
        }
    }
}
