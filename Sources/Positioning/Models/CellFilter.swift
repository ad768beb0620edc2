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
    private let step: CellStep

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
        let deviation = max(Self.stepShare * fastest, grid.step / 2)
        step = CellStep(grid, deviation: deviation, walls: walls)
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
        for _ in 0..<max(1, Int(min(seconds, Self.longestStep).rounded())) {
            step.pass(&weights, planes: planes, leak: Self.leak)
        }
    }

    /// Something was heard.
    ///
    /// - Parameters:
    ///   - logLikelihoods: By plane, then by cell; -∞ where it is impossible. Where it is impossible everywhere, nothing
    ///     changes.
    ///   - divisor: What they are divided by, above 0.
    public mutating func hear(_ logLikelihoods: [Double], dividedBy divisor: Double = 1) {
        guard logLikelihoods.count == weights.count, let most = logLikelihoods.max(), most.isFinite else { return }
        let best = most / divisor
        var sum = 0.0
        for index in weights.indices {
            let value = weights[index] * exp(logLikelihoods[index] / divisor - best)
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
        for plane in 0..<planes {
            let first = plane * cellCount
            for cell in 0..<cellCount { result[cell] += weights[first + cell] }
        }
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
