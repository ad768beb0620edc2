internal import Airtime

/// A grid over the ground around the surveyed places. The log-likelihood of a cell is a weighted mean of the
/// log-likelihoods of the nearest places. The weights decrease with the distance as a Gaussian.
///
/// `gauss` compares a receiver only with the places. The receiver may be between places, so `gauss` computes the region
/// from this grid.
struct PlacePlane: Sendable {
    let grid: CellGrid
    /// For each cell, the index in ``places`` of its first place. The last element is the number of elements of
    /// ``places``.
    private var starts: [Int] = [0]
    /// The nearest places of each cell. The places of cell `c` are `places[starts[c]..<starts[c + 1]]`.
    private var places: [Int32] = []
    /// The weight of each element of ``places``. The weights of one cell add up to 1.
    private var shares: [Double] = []

    /// The standard deviation of the Gaussian weights, as a multiple of the distance between places.
    private static let width = 0.5
    /// The smallest weight of a place, as a share of the weight of the nearest place. Places with a smaller weight are
    /// left out.
    private static let smallestWeight = 0.01

    /// Creates the plane of a map; `nil` if a place has no position.
    ///
    /// - Parameter gridMetres: The side of a cell in metres; `nil` to choose it by the size of the site.
    init?(_ map: SignalMap, gridMetres: Double?) {
        let positions = map.places.compactMap(\.position)
        guard positions.count == map.places.count, !positions.isEmpty,
            let grid = try? FieldModel.grid(map, step: gridMetres ?? map.regionCellSide).grid
        else { return nil }
        self.grid = grid
        let deviation = Self.width * max(map.spacing ?? FieldModel.unknownSpacing, grid.step)
        let placesByFloor = Dictionary(grouping: map.places.indices) { map.places[$0].floor }
        for cell in grid.cells {
            let distances = placesByFloor[cell.floor, default: []].map { place in
                (place: place, distance: positions[place].distance(to: cell.position))
            }
            let nearest = distances.map(\.distance).min() ?? 0
            let weightedPlaces = distances.map { place, distance in
                let squares = (distance * distance - nearest * nearest) / (deviation * deviation)
                return (place: place, weight: exp(-squares / 2))
            }.filter { $0.weight >= Self.smallestWeight }
            let sum = weightedPlaces.reduce(0) { $0 + $1.weight }
            for (place, weight) in weightedPlaces {
                places.append(Int32(place))
                shares.append(weight / sum)
            }
            starts.append(places.count)
        }
    }

    /// Returns the log-likelihoods of the cells, by offset, then by cell.
    ///
    /// - Parameters:
    ///   - logLikelihoods: The log-likelihoods of the places, by offset, then by place.
    ///   - placeCount: The number of places of the map.
    func interpolated(_ logLikelihoods: [Double], placeCount: Int) -> [Double] {
        let count = grid.cells.count
        var result = [Double](repeating: 0, count: logLikelihoods.count / max(1, placeCount) * count)
        for start in stride(from: 0, to: result.count, by: max(1, count)) {
            let placeStart = start / count * placeCount
            for cell in 0..<count {
                var sum = 0.0
                for index in starts[cell]..<starts[cell + 1] {
                    sum += shares[index] * logLikelihoods[placeStart + Int(places[index])]
                }
                result[start + cell] = sum
            }
        }
        return result
    }
}
