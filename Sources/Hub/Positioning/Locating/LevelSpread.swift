internal import Airtime

/// The variance of levels from second to second. The variance of one beacon is combined with the variance of all
/// beacons. The fewer seconds were measured, the larger is the weight of the variance of all beacons.
struct LevelSpread: Sendable {
    /// The variance of the levels at one place, pooled over all beacons and places, in dB².
    let pooled: Double
    /// The variance of each beacon's levels at one place, pooled over all places, in dB².
    let byBeacon: [Double]

    /// The weight of the pooled variance in the variance of a beacon, in degrees of freedom.
    private static let shrinkage = 4.0
    /// The additional variance between days and between receivers in dB². A survey does not show it.
    static let unseenVariance = 4.0
    /// The pooled variance that is assumed if no beacon was received twice at any place, in dB².
    static let defaultVariance = 16.0

    init(_ map: SignalMap, places: [Int]) {
        var squares = [Double](repeating: 0, count: map.beacons.count)
        var degreesOfFreedom = [Double](repeating: 0, count: map.beacons.count)
        for place in places {
            for entry in map.statistics[place] {
                squares[entry.beacon] += entry.squares
                degreesOfFreedom[entry.beacon] += Double(entry.seconds - 1)
            }
        }
        let total = degreesOfFreedom.reduce(0, +)
        let pooled = total > 0 ? squares.reduce(0, +) / total : Self.defaultVariance
        self.pooled = pooled
        byBeacon = zip(squares, degreesOfFreedom).map {
            ($0 + Self.shrinkage * pooled) / ($1 + Self.shrinkage)
        }
    }

    /// The variance of a beacon's level at one place, in dB².
    func variance(_ statistics: PlaceStatistics) -> Double {
        (statistics.squares + Self.shrinkage * pooled) / (Double(statistics.seconds - 1) + Self.shrinkage)
    }

    /// The variance of a beacon's mean level at one place, in dB².
    func varianceOfMean(_ statistics: PlaceStatistics) -> Double {
        variance(statistics) / Double(statistics.seconds) + Self.unseenVariance
    }
}

/// The model of `gauss`, whose cells are the surveyed places.
struct GaussModel {
    let cells: [Cell]
    private(set) var table: ReceptionTable

    /// The additional variance in dB² of the level ``ReceivedLevel/notReceived``. This level is assumed at a place
    /// where a beacon was never received.
    private static let absentVariance = 25.0

    /// Makes one cell for each place of a map. The cell of a place without a position is at the origin.
    init(_ map: SignalMap) {
        let spread = LevelSpread(map, places: Array(map.places.indices))
        let spacing = map.spacing ?? FieldModel.unknownSpacing
        cells = map.places.map {
            Cell(position: $0.position ?? .init(x: 0, y: 0), floor: $0.floor, area: spacing * spacing)
        }
        table = ReceptionTable(cells: map.places.count, beacons: map.beacons.count)
        for place in map.places.indices {
            let seconds = Double(max(1, map.places[place].seconds))
            let statistics = Dictionary(uniqueKeysWithValues: map.statistics[place].map { ($0.beacon, $0) })
            for beacon in map.beacons.indices {
                if let received = statistics[beacon] {
                    table.set(
                        beacon: beacon, cell: place, mean: received.mean,
                        variance: spread.variance(received) + LevelSpread.unseenVariance,
                        probability: Double(received.seconds) / seconds)
                } else {
                    table.set(
                        beacon: beacon, cell: place, mean: ReceivedLevel.notReceived,
                        variance: spread.byBeacon[beacon] + LevelSpread.unseenVariance + Self.absentVariance,
                        probability: 0)
                }
            }
        }
    }
}
