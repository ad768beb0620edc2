internal import Airtime

/// How similar two places of a map are in one second.
public struct PlaceOverlap: Sendable {
    private let map: SignalMap
    private let spread: LevelSpread
    /// What was received at each place, by beacon.
    private let byBeacon: [[Int: PlaceStatistics]]

    /// Above this overlap, single seconds do not distinguish two places.
    public static let limit = 0.5

    /// Compares the places of a map.
    public init(_ map: SignalMap) {
        self.map = map
        spread = LevelSpread(map, places: Array(map.places.indices))
        byBeacon = map.statistics.map { Dictionary(uniqueKeysWithValues: $0.map { ($0.beacon, $0) }) }
    }

    /// The overlap of two places, 0...1: the product over all beacons of the Bhattacharyya coefficients of their levels,
    /// assumed normal, and of their probabilities of reception.
    public func share(_ left: Int, _ right: Int) -> Double {
        let (first, second) = (byBeacon[left], byBeacon[right])
        let seconds = [left, right].map { Double(max(1, map.places[$0].seconds)) }
        var logarithm = 0.0
        for beacon in Set(first.keys).union(second.keys).sorted() {
            let (one, other) = (first[beacon], second[beacon])
            let chances = [chance(one, seconds[0]), chance(other, seconds[1])]
            var common = ((1 - chances[0]) * (1 - chances[1])).squareRoot()
            if let one, let other { common += (chances[0] * chances[1]).squareRoot() * levels(one, other) }
            logarithm += log(max(common, 1e-12))
        }
        return exp(logarithm)
    }

    private func chance(_ found: PlaceStatistics?, _ seconds: Double) -> Double {
        let range = EmissionTable.chances
        return min(max(Double(found?.seconds ?? 0) / seconds, range.lowerBound), range.upperBound)
    }

    private func levels(_ one: PlaceStatistics, _ other: PlaceStatistics) -> Double {
        let (first, second) = (spread.variance(one) + 1, spread.variance(other) + 1)
        let difference = one.mean - other.mean
        return (2 * (first * second).squareRoot() / (first + second)).squareRoot()
            * exp(-difference * difference / (4 * (first + second)))
    }

    /// The place most similar to another one on the same floor, and their overlap. `nil` if there is no other place.
    public func nearest(to place: Int) -> (place: Int, share: Double)? {
        let others = map.places.indices.filter { $0 != place && map.places[$0].floor == map.places[place].floor }
        return others.map { (place: $0, share: share(place, $0)) }.max { ($0.share, $1.place) < ($1.share, $0.place) }
    }
}
