internal import Airtime

/// How much of what is heard in one second at one place could as well be heard at another.
public struct PlaceOverlap: Sendable {
    private let map: SignalMap
    private let spread: SpreadOfLevels

    /// More than this and single seconds do not tell two places apart.
    public static let limit = 0.5

    /// Of the places of a map.
    public init(_ map: SignalMap) {
        self.map = map
        spread = SpreadOfLevels(map, places: Array(map.places.indices))
    }

    /// Bhattacharyya's coefficient, 0...1: over all beacons the product of what their levels, taken as normal, and their
    /// chances to be heard have in common. 1 for what is the same.
    public func share(_ left: Int, _ right: Int) -> Double {
        let (first, second) = (map.statistics[left], map.statistics[right])
        let seconds = [left, right].map { Double(max(1, map.places[$0].seconds)) }
        var (i, j) = (0, 0)
        var logarithm = 0.0
        while i < first.count || j < second.count {
            let one = i < first.count && (j >= second.count || first[i].beacon <= second[j].beacon) ? first[i] : nil
            let other = j < second.count && (i >= first.count || second[j].beacon <= first[i].beacon) ? second[j] : nil
            if one != nil { i += 1 }
            if other != nil { j += 1 }
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

    /// The place that is most like one, with how much; `nil` where there is no other on its floor.
    public func nearest(to place: Int) -> (place: Int, share: Double)? {
        let others = map.places.indices.filter { $0 != place && map.places[$0].floor == map.places[place].floor }
        return others.map { (place: $0, share: share(place, $0)) }.max { ($0.share, $1.place) < ($1.share, $0.place) }
    }
}
