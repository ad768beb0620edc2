internal import Airtime

/// The variance of levels from second to second. A variance from few seconds is shrunk towards that of all beacons.
struct LevelSpread: Sendable {
    /// The variance of the levels at one place, pooled over all beacons and places, in dB².
    let pooled: Double
    /// The variance of each beacon's levels at one place, pooled over all places, in dB².
    let byBeacon: [Double]

    /// The weight of the pooled variance in the variance of a beacon, in degrees of freedom.
    private static let shrinkage = 4.0
    /// The additional variance between days and between receivers, which a survey does not show, in dB².
    static let unknown = 4.0
    /// The pooled variance that is assumed if no beacon was received twice at any place, in dB².
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
        byBeacon = zip(squares, freedom).map { ($0 + Self.shrinkage * pooled) / ($1 + Self.shrinkage) }
    }

    /// The variance of a beacon's level at one place, in dB².
    func variance(_ found: PlaceStatistics) -> Double {
        (found.squares + Self.shrinkage * pooled) / (Double(found.seconds - 1) + Self.shrinkage)
    }

    /// The variance of a beacon's mean level at one place, in dB².
    func varianceOfMean(_ found: PlaceStatistics) -> Double {
        variance(found) / Double(found.seconds) + Self.unknown
    }
}

/// The model of `gauss`, whose cells are the surveyed places.
struct GaussModel {
    let cells: [Cell]
    private(set) var table: EmissionTable

    /// The additional variance in dB² of the level ``ReceivedLevel/notReceived``, which is assumed at a place where a
    /// beacon was never received.
    private static let absentVariance = 25.0

    /// Makes a cell of each place of a map. The cell of a place without a position is at the origin.
    init(_ map: SignalMap) {
        let spread = LevelSpread(map, places: Array(map.places.indices))
        let spacing = map.spacing ?? FieldModel.unknownSpacing
        cells = map.places.map {
            Cell(position: $0.position ?? .init(x: 0, y: 0), floor: $0.floor, area: spacing * spacing)
        }
        table = EmissionTable(cells: map.places.count, beacons: map.beacons.count)
        for place in map.places.indices {
            let listened = Double(max(1, map.places[place].seconds))
            let found = Dictionary(uniqueKeysWithValues: map.statistics[place].map { ($0.beacon, $0) })
            for beacon in map.beacons.indices {
                if let received = found[beacon] {
                    table.set(
                        beacon: beacon, cell: place, mean: received.mean,
                        variance: spread.variance(received) + LevelSpread.unknown,
                        probability: Double(received.seconds) / listened)
                } else {
                    table.set(
                        beacon: beacon, cell: place, mean: ReceivedLevel.notReceived,
                        variance: spread.byBeacon[beacon] + LevelSpread.unknown + Self.absentVariance, probability: 0)
                }
            }
        }
    }
}
