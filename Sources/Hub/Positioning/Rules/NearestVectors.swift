internal import Airtime

/// Squared distances from a sample to the vectors of a map, absence as ``ReceivedLevel/floor``, over all beacons of the
/// map.
///
/// Whoever wants the nearest ones only need not look at most: each place knows between which levels its vectors lie, and
/// so how near they can be at most.
struct NearestVectors: Sendable {
    /// Whose vectors they are.
    let prints: PrintTable
    private let placeCount: Int
    private let beaconCount: Int
    /// The vectors of place p stand from `starts[p]` to before `starts[p + 1]`, in their order.
    private var starts: [Int] = [0]
    private var vectors: [Int32] = []
    /// The beacons that were ever heard at place p stand from `boxStarts[p]` to before `boxStarts[p + 1]`.
    private var boxStarts: [Int] = [0]
    private var boxBeacons: [Int32] = []
    private var lows: [Double] = []
    private var highs: [Double] = []

    /// Sums of other orders differ by less than this share of them.
    private static let slack = 1e-9

    /// Each vector of a map.
    init(_ map: SignalMap) {
        self.init(PrintTable(map), placeCount: map.places.count, beaconCount: map.beacons.count)
    }

    init(_ prints: PrintTable, placeCount: Int, beaconCount: Int) {
        self.prints = prints
        self.placeCount = placeCount
        self.beaconCount = beaconCount
        var counts = [Int](repeating: 0, count: placeCount)
        for place in prints.places where place >= 0 { counts[Int(place)] += 1 }
        for count in counts { starts.append(starts[starts.count - 1] + count) }
        var next = starts
        vectors = [Int32](repeating: 0, count: starts[placeCount])
        for (vector, place) in prints.places.enumerated() where place >= 0 {
            vectors[next[Int(place)]] = Int32(truncatingIfNeeded: vector)
            next[Int(place)] += 1
        }
        enclose()
    }

    private mutating func enclose() {
        let table = prints.table
        var low = [Double](repeating: .infinity, count: beaconCount)
        var high = [Double](repeating: -.infinity, count: beaconCount)
        var heard = [Int](repeating: 0, count: beaconCount)
        for place in 0..<placeCount {
            var beacons: [Int] = []
            let own = vectors[starts[place]..<starts[place + 1]]
            for vector in own {
                for entry in table.range(Int(vector)) {
                    let (beacon, level) = (table.beacon(entry), table.level(entry))
                    if heard[beacon] == 0 { beacons.append(beacon) }
                    heard[beacon] += 1
                    low[beacon] = min(low[beacon], level)
                    high[beacon] = max(high[beacon], level)
                }
            }
            for beacon in beacons {
                let isAlwaysHeard = heard[beacon] == own.count
                boxBeacons.append(Int32(truncatingIfNeeded: beacon))
                lows.append(isAlwaysHeard ? low[beacon] : min(low[beacon], ReceivedLevel.floor))
                highs.append(isAlwaysHeard ? high[beacon] : max(high[beacon], ReceivedLevel.floor))
                (low[beacon], high[beacon], heard[beacon]) = (.infinity, -.infinity, 0)
            }
            boxStarts.append(boxBeacons.count)
        }
    }

    /// A sample as the sums want it.
    private struct Levels {
        /// By beacon: ``ReceivedLevel/floor`` for those that were not heard.
        var all: [Double]
        /// By beacon: what it costs where a vector has not heard it.
        var missing: [Double]
        var heard: [Int] = []
        /// The last vector that each beacon was found in.
        var found: [Int32]

        init(_ sample: [SignalVector.Reading], beacons: Int) {
            all = [Double](repeating: ReceivedLevel.floor, count: beacons)
            missing = [Double](repeating: 0, count: beacons)
            found = [Int32](repeating: -1, count: beacons)
            for reading in sample {
                let difference = reading.level - ReceivedLevel.floor
                all[reading.beacon] = reading.level
                missing[reading.beacon] = difference * difference
                heard.append(reading.beacon)
            }
        }

        /// The sum of squares as it stands, nothing is subtracted: exact for whole levels. `nil` beyond the limit.
        mutating func squared(_ table: VectorTable, _ vector: Int, limit: Double) -> Double? {
            var sum = 0.0
            let mark = Int32(truncatingIfNeeded: vector)
            for entry in table.range(vector) {
                let beacon = table.beacon(entry)
                let difference = table.level(entry) - all[beacon]
                sum += difference * difference
                found[beacon] = mark
            }
            guard sum <= limit else { return nil }
            for beacon in heard where found[beacon] != mark { sum += missing[beacon] }
            return sum <= limit ? sum : nil
        }
    }

    /// By place: the smallest squared distance from the sample to any of its vectors; infinite where it has none.
    func least(_ sample: [SignalVector.Reading]) -> [Double] {
        var best = [Double](repeating: .infinity, count: placeCount)
        var levels = Levels(sample, beacons: beaconCount)
        for (vector, place) in prints.places.enumerated() where place >= 0 {
            let place = Int(place)
            if let square = levels.squared(prints.table, vector, limit: best[place]) { best[place] = square }
        }
        return best
    }

    /// The nearest vectors to a sample, nearest first, of equal ones the first; with their squared distances.
    ///
    /// - Parameter count: At least 1; as many as there are, where there are fewer.
    func nearest(_ count: Int, to sample: [SignalVector.Reading]) -> [(square: Double, vector: Int)] {
        var levels = Levels(sample, beacons: beaconCount)
        let bounds = bounds(levels)
        var nearest: [(square: Double, vector: Int)] = []
        nearest.reserveCapacity(count + 1)
        var limit = Double.infinity
        for place in bounds.indices.sorted(by: { (bounds[$0], $0) < (bounds[$1], $1) }) {
            if bounds[place] > limit { break }
            for vector in vectors[starts[place]..<starts[place + 1]] {
                let vector = Int(vector)
                guard let square = levels.squared(prints.table, vector, limit: limit) else { continue }
                let index = nearest.firstIndex { (square, vector) < $0 } ?? nearest.count
                if index == count { continue }
                nearest.insert((square, vector), at: index)
                if nearest.count > count { nearest.removeLast() }
                if nearest.count == count { limit = nearest[count - 1].square }
            }
        }
        return nearest
    }

    /// The place of the nearest vector, of equally near ones the first; `nil` where there are no vectors.
    func nearestPlace(_ sample: [SignalVector.Reading]) -> Int? {
        var levels = Levels(sample, beacons: beaconCount)
        let bounds = bounds(levels)
        var found: [(square: Double, place: Int)] = []
        var (best, limit) = (Double.infinity, Double.infinity)
        for place in bounds.indices.sorted(by: { (bounds[$0], $0) < (bounds[$1], $1) }) {
            if bounds[place] > limit { break }
            for vector in vectors[starts[place]..<starts[place + 1]] {
                guard let square = levels.squared(prints.table, Int(vector), limit: limit) else { continue }
                found.append((square, place))
                best = min(best, square)
                limit = best * (1 + Self.slack)
            }
        }
        let farthest = best.squareRoot() * (1 + Locator.tie)
        return found.lazy.filter { $0.square.squareRoot() <= farthest }.map(\.place).min()
    }

    /// By place: what no vector of it is nearer than, squared.
    private func bounds(_ levels: Levels) -> [Double] {
        let all = levels.missing.reduce(0, +)
        return (0..<placeCount).map { place in
            var sum = all
            for entry in boxStarts[place]..<boxStarts[place + 1] {
                let beacon = Int(boxBeacons[entry])
                let level = levels.all[beacon]
                let difference = max(0, max(lows[entry] - level, level - highs[entry]))
                sum += difference * difference - levels.missing[beacon]
            }
            return sum - Self.slack * (all + abs(sum))
        }
    }
}
