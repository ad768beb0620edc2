internal import Airtime

/// A rule that gives each place a score; the smallest wins, of equal ones the place that the survey has first.
protocol PlaceRule: Sendable {
    /// By place: `nil` for one that is no candidate, infinite for one that is impossible.
    func scores(_ sample: Sample) -> [Double?]

    /// The place with the smallest score, where the rule knows it without every place's; `nil` else.
    func winner(_ sample: Sample) -> Int?
}

extension PlaceRule {
    func winner(_ sample: Sample) -> Int? { nil }
}

/// `nn`: the smallest distance from the sample to any vector of the place, over all beacons of the map.
struct NearestVectorRule: PlaceRule {
    let table: NearestVectors

    func scores(_ sample: Sample) -> [Double?] {
        table.least(sample.means).map { $0.isFinite ? $0.squareRoot() : nil }
    }

    func winner(_ sample: Sample) -> Int? {
        table.nearestPlace(sample.means)
    }
}

/// `nn-mean`, `nn-median`: the distance from the sample to the middle of each beacon at the place.
struct NearestMiddleRule: PlaceRule {
    private let middles: NearestVectors

    init(_ map: SignalMap, _ middle: (PlaceStatistics) -> Double) {
        var prints = PrintTable()
        for (place, found) in map.statistics.enumerated() {
            prints.append(
                SignalVector(seconds: 0, readings: found.map { .init(beacon: $0.beacon, level: middle($0)) }), place)
        }
        middles = NearestVectors(prints, placeCount: map.places.count, beaconCount: map.beacons.count)
    }

    func scores(_ sample: Sample) -> [Double?] {
        middles.least(sample.means).map { $0.squareRoot() }
    }
}

/// `bhattacharyya`: -ln of the mean overlap of the histograms of the place's strongest beacons with those of the last
/// levels heard. Places of which not all of those beacons are received are no candidates.
struct BhattacharyyaRule: PlaceRule {
    private struct Strongest {
        let beacon: Int
        let seconds: Int
        let histogram: [PlaceStatistics.Bin]
    }

    private let strongest: [[Strongest]]

    /// q: so many of a place's beacons are compared.
    static let compared = 5

    init(_ map: SignalMap) {
        strongest = map.statistics.map { place in
            place.sorted { ($0.mean, $1.beacon) > ($1.mean, $0.beacon) }.prefix(Self.compared)
                .map { Strongest(beacon: $0.beacon, seconds: $0.seconds, histogram: $0.histogram) }
        }
    }

    func scores(_ sample: Sample) -> [Double?] {
        let heard = sample.history.mapValues { PlaceStatistics.histogram($0.sorted()) }
        return strongest.map { beacons in
            guard !beacons.isEmpty else { return nil }
            var sum = 0.0
            for beacon in beacons {
                guard let bins = heard[beacon.beacon] else { return nil }
                sum += Self.overlap(beacon.histogram, beacon.seconds, bins)
            }
            return sum > 0 ? -log(sum / Double(beacons.count)) : .infinity
        }
    }

    /// B = Σ √(P·Q) over whole dBm, each normalised over the seconds in which the beacon was heard.
    static func overlap(
        _ survey: [PlaceStatistics.Bin], _ seconds: Int, _ sample: [PlaceStatistics.Bin]
    ) -> Double {
        let total = Double(seconds * sample.reduce(0) { $0 + $1.seconds })
        var sum = 0.0
        for bin in sample {
            guard let same = survey.first(where: { $0.level == bin.level }) else { continue }
            sum += (Double(same.seconds * bin.seconds) / total).squareRoot()
        }
        return sum
    }
}

/// `relative`: the sum of the differences of levels relative to the strongest, and a penalty for each beacon that only
/// one side has; infinite where none is shared.
struct RelativeRule: PlaceRule {
    private let prints: PrintTable
    private let placeCount: Int
    private let beaconCount: Int
    private let reading: RelativeReading
    private let penalty: Double
    /// The prints' relative levels, in the order of the table's readings.
    private let shares: [Double]

    init(_ map: SignalMap, _ settings: LocatorSettings) {
        let prints = settings.prints == .vectors ? PrintTable(map) : PrintTable(map, slices: 8)
        let reading = settings.reading
        var shares: [Double] = []
        for vector in 0..<prints.table.count {
            let range = prints.table.range(vector)
            let strongest = range.map { prints.table.level($0) }.max() ?? ReceivedLevel.floor
            for entry in range { shares.append(Self.share(prints.table.level(entry), of: strongest, reading)) }
        }
        self.prints = prints
        self.reading = reading
        self.shares = shares
        penalty = settings.penalty ?? reading.penalty
        placeCount = map.places.count
        beaconCount = map.beacons.count
    }

    /// `rel` of section 2, 0...1: how strong a level is beside the strongest one.
    static func share(_ level: Double, of strongest: Double, _ reading: RelativeReading) -> Double {
        switch reading {
        case .db:
            let whole = strongest - ReceivedLevel.floor
            return whole > 0 ? min(max((level - ReceivedLevel.floor) / whole, 0), 1) : 0
        case .amplitude: return pow(10, (level - strongest) / 20)
        case .power: return pow(10, (level - strongest) / 10)
        }
    }

    func scores(_ sample: Sample) -> [Double?] {
        let means = sample.means
        let strongest = means.map(\.level).max() ?? ReceivedLevel.floor
        var sampled = [Double](repeating: -1, count: beaconCount)
        for reading in means { sampled[reading.beacon] = Self.share(reading.level, of: strongest, self.reading) }
        var best = [Double?](repeating: nil, count: placeCount)
        for (index, place) in prints.places.enumerated() where place >= 0 {
            let place = Int(place)
            var (sum, shared) = (0.0, 0)
            let range = prints.table.range(index)
            for entry in range {
                let other = sampled[prints.table.beacon(entry)]
                guard other >= 0 else { continue }
                sum += abs(shares[entry] - other)
                shared += 1
            }
            // Those that only the print has, and those that only the sample has.
            sum += penalty * Double(range.count - shared + means.count - shared)
            let score = shared > 0 ? sum : .infinity
            if best[place].map({ score < $0 }) ?? true { best[place] = score }
        }
        return best
    }
}
