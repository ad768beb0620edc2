/// What was heard of somebody, as log-likelihoods of states: a state is a plane times the number of cells, plus a cell.
public protocol CellEvidence {
    /// No state has a larger log-likelihood.
    var most: Double { get }
    /// Below this limit all states are candidates.
    var least: Double { get }
    /// So much of the weight, in sum, may be left out, or be told of all cells of a plane alike.
    var tolerance: Double { get }

    /// At least the log-likelihood of each of some states, in rising order, from what is quickly said.
    func bounds(of states: [Int32]) -> [Double]

    /// Makes bounds the log-likelihoods themselves.
    mutating func refine(_ bounds: inout [Double], of states: [Int32])

    /// The states of a plane, in rising order, whose bound is not below a limit.
    func candidates(plane: Int, from limit: Double) -> [Int32]

    /// The mean likelihood of a plane's cells, where that tells enough of those that nothing else is known of.
    mutating func mean(plane: Int) -> Double?
}

/// What filters need for a moment; one serves all of a thread.
public struct CellScratch: Sendable {
    /// By state; 0 between uses.
    var sums: [Double] = []
    /// A bit for each state; 0 between uses.
    var marks: [UInt64] = []

    /// Grows as filters need it.
    public init() {}

    /// Of the filter that uses it.
    private(set) var planes = 0

    mutating func prepare(_ cells: Int, planes: Int) {
        self.planes = planes
        guard sums.count < cells * planes else { return }
        sums = [Double](repeating: 0, count: cells * planes)
        marks = [UInt64](repeating: 0, count: (cells * planes + 63) / 64)
    }

    @inline(__always)
    mutating func add(_ weight: Double, to state: Int) {
        sums[state] += weight
        marks[state >> 6] |= 1 << UInt64(state & 63)
    }

    /// Whether a state was not marked before.
    mutating func mark(_ state: Int32) -> Bool {
        let (word, bit) = (Int(state) >> 6, UInt64(1) << UInt64(state & 63))
        defer { marks[word] |= bit }
        return marks[word] & bit == 0
    }

    mutating func unmark(_ states: [Int32]) {
        for state in states { marks[Int(state) >> 6] = 0 }
    }
}
