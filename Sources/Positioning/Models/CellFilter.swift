internal import Airtime
public import Sites

/// A forward filter over the cells of a floor: where somebody can have gone since the last instant, times what was heard.
///
/// It knows nothing of beacons: who locates a receiver among beacons and who locates a beacon among receivers give it
/// their own log-likelihoods. It may have several planes of cells, one for each value of something unknown that does not
/// change, such as the receiver's offset.
public struct CellFilter: Sendable {
    /// By plane, then by cell; their sum is 1.
    public private(set) var weights: [Double]
    private let cellCount: Int
    private var planes: Int
    /// The neighbors of cell c stand from `starts[c]` to before `starts[c + 1]`.
    private var starts: [Int] = [0]
    private var neighbors: [Int32] = []
    private var shares: [Double] = []
    /// One over the sum of each cell's shares.
    private var scales: [Double] = []

    /// The fastest that somebody walks, in m/s.
    public static let fastest = 1.5
    /// A second's step spreads by so much of the fastest way.
    static let stepShare = 0.7
    /// So much of the weight goes anywhere: nobody is lost for ever.
    static let leak = 0.001
    /// More seconds than this between two instants spread no further.
    static let longestStep = 10.0

    /// - Parameters:
    ///   - planes: At least 1.
    ///   - fastest: In m/s.
    ///   - walls: Nobody steps through them.
    public init(_ grid: CellGrid, planes: Int = 1, fastest: Double = CellFilter.fastest, walls: [Wall] = []) {
        cellCount = grid.cells.count
        self.planes = max(1, planes)
        weights = []
        var byFloor: [Int: [CellGrid.Spot: Int32]] = [:]
        for (cell, spot) in grid.spots.enumerated() { byFloor[spot.floor, default: [:]][spot] = Int32(cell) }
        let deviation = max(Self.stepShare * fastest, grid.step / 2)
        let reach = Int((3 * deviation / grid.step).rounded(.down))
        for (cell, spot) in grid.spots.enumerated() {
            let cells = byFloor[spot.floor, default: [:]]
            var sum = 0.0
            for column in spot.column - reach...spot.column + reach {
                for row in spot.row - reach...spot.row + reach {
                    let other = CellGrid.Spot(floor: spot.floor, column: column, row: row)
                    guard let neighbor = cells[other] else { continue }
                    let (from, to) = (grid.cells[cell].position, grid.cells[Int(neighbor)].position)
                    let distance = from.distance(to: to)
                    guard distance <= 3 * deviation, !walls.contains(where: { Self.isCut(from, to, by: $0) }) else {
                        continue
                    }
                    let share = exp(-distance * distance / (2 * deviation * deviation))
                    neighbors.append(neighbor)
                    shares.append(share)
                    sum += share
                }
            }
            starts.append(neighbors.count)
            scales.append(1 / sum)
        }
        begin()
    }

    /// Forgets everything.
    ///
    /// - Parameter prior: How likely each plane is, their sum 1; equally likely without.
    public mutating func begin(prior: [Double]? = nil) {
        weights = []
        for plane in 0..<planes {
            let share = (prior ?? [])[checked: plane] ?? 1 / Double(planes)
            weights += [Double](repeating: share / Double(max(1, cellCount)), count: cellCount)
        }
    }

    /// The same cells and walls for somebody else, of whom nothing is known.
    ///
    /// - Parameter planes: At least 1.
    public func forgotten(planes: Int) -> CellFilter {
        var filter = self
        filter.planes = max(1, planes)
        filter.begin()
        return filter
    }

    /// Time passes: every plane's weight spreads as far as somebody walks. Times that run backwards count as none.
    public mutating func pass(seconds: Double) {
        guard seconds.isFinite, seconds >= 0.25 else { return }
        for _ in 0..<max(1, Int(min(seconds, Self.longestStep).rounded())) { spread() }
    }

    private mutating func spread() {
        var result = [Double](repeating: 0, count: weights.count)
        for plane in 0..<planes {
            let first = plane * cellCount
            var total = 0.0
            for cell in 0..<cellCount { total += weights[first + cell] }
            let anywhere = Self.leak * total / Double(max(1, cellCount))
            var scaled = [Double](repeating: 0, count: cellCount)
            for cell in 0..<cellCount { scaled[cell] = weights[first + cell] * scales[cell] * (1 - Self.leak) }
            // Shares are the same in both directions.
            for cell in 0..<cellCount {
                var sum = anywhere
                for place in starts[cell]..<starts[cell + 1] { sum += shares[place] * scaled[Int(neighbors[place])] }
                result[first + cell] = sum
            }
        }
        weights = result
    }

    /// Something was heard.
    ///
    /// - Parameter logLikelihoods: By plane, then by cell; -∞ where it is impossible. Where it is impossible everywhere,
    ///   nothing changes.
    public mutating func hear(_ logLikelihoods: [Double]) {
        guard logLikelihoods.count == weights.count, let best = logLikelihoods.max(), best.isFinite else { return }
        var sum = 0.0
        for index in weights.indices {
            let value = weights[index] * exp(logLikelihoods[index] - best)
            weights[index] = value
            sum += value
        }
        guard sum > 0, sum.isFinite else {
            begin()
            return
        }
        for index in weights.indices { weights[index] /= sum }
    }

    /// How likely each cell is, over all planes.
    public var probabilities: [Double] {
        var result = [Double](repeating: 0, count: cellCount)
        for (index, weight) in weights.enumerated() { result[index % max(1, cellCount)] += weight }
        return result
    }

    /// How likely each plane is, over all cells.
    public var planeProbabilities: [Double] {
        (0..<planes).map { plane in
            weights[plane * cellCount..<(plane + 1) * cellCount].reduce(0, +)
        }
    }

    /// Whether a step crosses a wall; a touch at an end counts.
    static func isCut(_ from: FloorPosition, _ to: FloorPosition, by wall: Wall) -> Bool {
        func side(_ a: FloorPosition, _ b: FloorPosition, _ c: FloorPosition) -> Double {
            (b.x - a.x) * (c.y - a.y) - (b.y - a.y) * (c.x - a.x)
        }
        return side(wall.from, wall.to, from) * side(wall.from, wall.to, to) < 0
            && side(from, to, wall.from) * side(from, to, wall.to) <= 0
    }
}

extension Array {
    subscript(checked index: Int) -> Element? { indices.contains(index) ? self[index] : nil }
}
