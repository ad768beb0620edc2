internal import Airtime
public import Sites

/// A forward filter over the cells of a floor. Each step spreads the probability over the cells that can be reached,
/// and multiplies it by the likelihood of the received signals.
///
/// The filter locates a receiver among beacons, or a beacon among receivers. For both purposes, it needs only
/// log-likelihoods. It may have several planes. A plane is a set of all cells for one value of an unknown constant,
/// such as the receiver offset. By default the filter keeps every cell. ``sparse(prior:)`` returns a filter for large
/// floors, which keeps only likely cells.
///
/// A state is a cell of a plane. Its number is the index of the plane times the number of cells, plus the index of the
/// cell.
public struct CellFilter: Sendable {
    /// The probability of each kept state. Together with ``uniformProbabilities``, the probabilities add up to 1.
    public internal(set) var weights: [Double] = []
    /// The numbers of the kept states, in the order of ``weights`` and ascending. Empty if the filter keeps every cell.
    public internal(set) var states: [Int32] = []
    /// For each plane, the probability that is spread evenly over all of its cells; 0 if the filter keeps every cell.
    public internal(set) var uniformProbabilities: [Double] = []
    /// The number of cells of a plane.
    public let cellCount: Int
    private(set) var planes: Int
    /// True if the filter keeps every cell.
    private var keepsAll = true
    let step: CellStep

    /// The default walking speed of a step, in m/s.
    public static let fastest = 1.5
    /// The standard deviation of the distance walked in one second, as a share of the distance at the walking speed.
    static let stepShare = 0.7
    /// The share of the probability that each step spreads over all cells, so that the filter can find a lost receiver
    /// again.
    static let leak = 0.001
    /// The largest number of seconds by which one prediction spreads the probability, even if more time has passed.
    static let longestStep = 10.0

    /// Creates a filter that keeps every cell.
    ///
    /// - Parameters:
    ///   - planes: The number of planes, at least 1.
    ///   - fastest: The walking speed, in m/s.
    ///   - walls: Walls that steps do not cross.
    public init(_ grid: CellGrid, planes: Int = 1, fastest: Double = CellFilter.fastest, walls: [Wall] = []) {
        cellCount = grid.cells.count
        self.planes = max(1, planes)
        step = CellStep(grid, deviation: max(Self.stepShare * fastest, grid.step / 2), walls: walls)
        begin()
    }

    /// Resets the filter.
    ///
    /// - Parameter prior: The probability of each plane, with the sum 1; equal probabilities if `nil`.
    public mutating func begin(prior: [Double]? = nil) {
        let shares = prior ?? [Double](repeating: 1 / Double(planes), count: planes)
        states = []
        guard keepsAll else {
            (weights, uniformProbabilities) = ([], shares)
            return
        }
        uniformProbabilities = shares.map { _ in 0 }
        weights = shares.flatMap { [Double](repeating: $0 / Double(max(1, cellCount)), count: cellCount) }
    }

    /// Returns a new filter with the same cells and walls that keeps only likely cells.
    ///
    /// - Parameter prior: The probability of each plane. The sum must be 1, and the number of elements is the number of
    ///   planes, at least 1.
    public func sparse(prior: [Double]) -> CellFilter {
        var filter = self
        filter.planes = max(1, prior.count)
        filter.keepsAll = false
        filter.begin(prior: prior)
        return filter
    }

    /// Spreads the probability as far as a person walks in the given time. If the time is shorter than 0.25 s, does
    /// nothing.
    public mutating func predict(seconds: Double) {
        var scratch = CellScratch()
        predict(seconds: seconds, &scratch)
    }

    /// Spreads the probability as far as a person walks in the given time.
    ///
    /// - Parameter scratch: Working memory. Several filters can share it.
    public mutating func predict(seconds: Double, _ scratch: inout CellScratch) {
        guard seconds.isFinite, seconds >= 0.25 else { return }
        for _ in 0..<max(1, Int(min(seconds, Self.longestStep).rounded())) {
            if keepsAll {
                weights = step.propagate(weights, planes: planes, leak: Self.leak)
            } else {
                spread(&scratch)
            }
        }
    }

    /// Multiplies the probability of each state by a likelihood. The filter must keep every cell.
    ///
    /// - Parameters:
    ///   - logLikelihoods: The log-likelihoods by plane, then by cell. If all are -∞, nothing changes.
    ///   - divisor: The divisor of the log-likelihoods, above 0.
    public mutating func update(_ logLikelihoods: [Double], dividedBy divisor: Double = 1) {
        guard logLikelihoods.count == weights.count, let largest = logLikelihoods.max(), largest.isFinite else {
            return
        }
        for index in weights.indices { weights[index] *= exp((logLikelihoods[index] - largest) / divisor) }
        let sum = weights.reduce(0, +)
        guard sum > 0, sum.isFinite else {
            begin()
            return
        }
        for index in weights.indices { weights[index] /= sum }
    }

    /// The probability of each cell, over all planes.
    public var probabilities: [Double] {
        let evenShare = uniformProbabilities.reduce(0, +) / Double(max(1, cellCount))
        var result = [Double](repeating: evenShare, count: cellCount)
        forEachState { state, weight in result[state % cellCount] += weight }
        return result
    }

    /// The probability of each plane, over all cells.
    public var planeProbabilities: [Double] {
        var result = uniformProbabilities
        forEachState { state, weight in result[state / cellCount] += weight }
        return result
    }

    private func forEachState(_ body: (_ state: Int, _ weight: Double) -> Void) {
        for (index, weight) in weights.enumerated() { body(keepsAll ? index : Int(states[index]), weight) }
    }

    /// Returns true if a step crosses a wall or touches the end of a wall. Despite rounding errors, the result is the
    /// same for both directions of the step.
    static func isCut(_ from: FloorPosition, _ to: FloorPosition, by wall: Wall) -> Bool {
        func side(_ a: FloorPosition, _ b: FloorPosition, _ c: FloorPosition) -> Double {
            (b.x - a.x) * (c.y - a.y) - (b.y - a.y) * (c.x - a.x)
        }
        return side(wall.from, wall.to, from) * side(wall.from, wall.to, to) < 0
            && side(wall.from, from, to) * side(wall.to, from, to) <= 0
    }
}
