internal import Airtime

/// How much levels scatter from second to second, learnt from the whole survey where one place says little.
struct SpreadOfLevels: Sendable {
    /// The map's own variance within places, in dB².
    let pooled: Double
    /// By beacon, shrunk to the map's.
    let byBeacon: [Double]

    /// What the map's own value counts for, in degrees of freedom.
    static let shrinkage = 4.0
    /// What no survey knows: another day, another hand; in dB².
    static let unknown = 4.0
    /// Where no beacon was heard twice at any place, in dB².
    static let expected = 16.0

    init(_ map: SignalMap, places: [Int]) {
        var squares = [Double](repeating: 0, count: map.beacons.count)
        var freedom = [Double](repeating: 0, count: map.beacons.count)
        for place in places {
            for found in map.statistics[place] {
                squares[found.beacon] += found.squares
                freedom[found.beacon] += Double(found.seconds - 1)
            }
        }
        let total = freedom.reduce(0, +)
        let pooled = total > 0 ? squares.reduce(0, +) / total : Self.expected
        self.pooled = pooled
        byBeacon = squares.indices.map {
            (squares[$0] + Self.shrinkage * pooled) / (freedom[$0] + Self.shrinkage)
        }
    }

    /// The variance at one place, in dB².
    func variance(_ found: PlaceStatistics) -> Double {
        (found.squares + Self.shrinkage * pooled) / (Double(found.seconds - 1) + Self.shrinkage)
    }
}

/// `gauss`: the surveyed places themselves as cells.
struct GaussModel {
    let cells: [Cell]
    /// The map's place of each cell.
    let places: [Int]
    var table: EmissionTable

    /// Places without a position stand at the origin: they have a name to be told by.
    init(_ map: SignalMap) {
        let spread = SpreadOfLevels(map, places: Array(map.places.indices))
        let spacing = map.spacing ?? FieldModel.unknownSpacing
        places = Array(map.places.indices)
        cells = map.places.map {
            Cell(position: $0.position ?? .init(x: 0, y: 0), floor: $0.floor, area: spacing * spacing)
        }
        table = EmissionTable(cells: map.places.count, beacons: map.beacons.count)
        for (place, found) in map.statistics.enumerated() {
            let listened = Double(max(1, map.places[place].seconds))
            var next = 0
            for beacon in map.beacons.indices {
                if next < found.count, found[next].beacon == beacon {
                    let heard = found[next]
                    table.set(
                        beacon: beacon, cell: place, mean: heard.mean,
                        variance: spread.variance(heard) + SpreadOfLevels.unknown,
                        chance: Double(heard.seconds) / listened)
                    next += 1
                } else {
                    table.set(
                        beacon: beacon, cell: place, mean: ReceivedLevel.floor,
                        variance: spread.byBeacon[beacon] + SpreadOfLevels.unknown + Self.unheardVariance, chance: 0)
                }
            }
        }
    }

    /// A level at a place that never heard the beacon: about F, loosely, in dB².
    static let unheardVariance = 25.0
}
