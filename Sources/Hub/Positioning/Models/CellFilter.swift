internal import Airtime
public import Sites

/// A forward filter over the cells of a floor: where somebody can have gone since the last instant, times what was heard.
///
/// It knows nothing of beacons: who locates a receiver among beacons and who locates a beacon among receivers give it
/// their own log-likelihoods. It may have several planes of cells, one for each value of something unknown that does
/// not change, such as the receiver's offset. It keeps every cell, or, for thousands on large floors, those that matter:
/// the others of a plane then share evenly what is left.
///
/// A state is a plane times the number of cells, plus a cell.
public struct CellFilter: Sendable {
    /// How likely each state is; with ``anywhere`` their sum is 1.
    public internal(set) var weights: [Double] = []
    /// Those that ``weights`` are of, in rising order, where not all are kept.
    public internal(set) var states: [Int32] = []
    /// By plane: what all of its cells have in equal parts beside their weights; 0 where all are kept.
    public internal(set) var anywhere: [Double] = []
    public let cellCount: Int
    private(set) var planes: Int
    private var keepsAll = true
    let step: CellStep

    /// The fastest that somebody walks, in m/s.
    public static let fastest = 1.5
    /// A second's step spreads by so much of the fastest way.
    static let stepShare = 0.7
    /// So much of the weight goes anywhere: nobody is lost for ever.
    static let leak = 0.001
    /// More seconds than this between two instants spread no further.
    static let longestStep = 10.0

    /// One that keeps every cell.
    ///
    /// - Parameters:
    ///   - planes: At least 1.
    ///   - fastest: In m/s.
    ///   - walls: Nobody steps through them.
    public init(_ grid: CellGrid, planes: Int = 1, fastest: Double = CellFilter.fastest, walls: [Wall] = []) {
        cellCount = grid.cells.count
        self.planes = max(1, planes)
        let deviation = max(Self.stepShare * fastest, grid.step / 2)
        step = CellStep(grid, deviation: deviation, walls: walls)
        begin()
    }

    /// Forgets everything.
    ///
    /// - Parameter prior: How likely each plane is, their sum 1; equally likely without.
    public mutating func begin(prior: [Double]? = nil) {
        let shares = (0..<planes).map { (prior ?? [])[checked: $0] ?? 1 / Double(planes) }
        states = []
        guard keepsAll else {
            (weights, anywhere) = ([], shares)
            return
        }
        anywhere = shares.map { _ in 0 }
        weights = shares.flatMap { [Double](repeating: $0 / Double(max(1, cellCount)), count: cellCount) }
    }

    /// The same cells and walls for somebody else, of whom nothing is known; it keeps only the cells that matter.
    ///
    /// - Parameter prior: How likely each plane is, their sum 1; at least one.
    public func sparse(prior: [Double]) -> CellFilter {
        var filter = self
        filter.planes = max(1, prior.count)
        filter.keepsAll = false
        filter.begin(prior: prior)
        return filter
    }

    /// Time passes: every plane's weight spreads as far as somebody walks. Times that run backwards count as none.
    public mutating func pass(seconds: Double) {
        var scratch = CellScratch()
        pass(seconds: seconds, &scratch)
    }

    /// Time passes, as above, for one of many filters.
    public mutating func pass(seconds: Double, _ scratch: inout CellScratch) {
        guard seconds.isFinite, seconds >= 0.25 else { return }
        for _ in 0..<max(1, Int(min(seconds, Self.longestStep).rounded())) {
            if keepsAll {
                step.pass(&weights, planes: planes, leak: Self.leak)
            } else {
                spread(&scratch)
            }
        }
    }

    /// Something was heard, for a filter that keeps every cell.
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
        let even = anywhere.reduce(0, +) / Double(max(1, cellCount))
        var result = [Double](repeating: even, count: cellCount)
        guard keepsAll else {
            for (index, state) in states.enumerated() { result[Int(state) % cellCount] += weights[index] }
            return result
        }
        for plane in 0..<planes {
            for cell in 0..<cellCount { result[cell] += weights[plane * cellCount + cell] }
        }
        return result
    }

    /// How likely each plane is, over all cells.
    public var planeProbabilities: [Double] {
        var result = anywhere
        guard keepsAll else {
            for (index, state) in states.enumerated() { result[Int(state) / cellCount] += weights[index] }
            return result
        }
        for plane in 0..<planes {
            result[plane] = weights[plane * cellCount..<(plane + 1) * cellCount].reduce(result[plane], +)
        }
        return result
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
