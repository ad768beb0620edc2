internal import Airtime

/// The received signals, as log-likelihoods of the states of a ``CellFilter``. The filter first uses an upper bound of
/// each log-likelihood, which takes little time to compute. It then computes the exact value only for states that may
/// be relevant.
public protocol CellEvidence {
    /// The largest log-likelihood that a state can have.
    var most: Double { get }
    /// A limit that is so low that ``candidates(plane:from:)`` returns all states of a plane.
    var least: Double { get }
    /// The share of the probability that the filter may leave out or spread evenly over the cells of a plane.
    var tolerance: Double { get }

    /// Returns an upper bound of the log-likelihood of each state. The states are in ascending order.
    func bounds(of states: [Int32]) -> [Double]

    /// Replaces the bounds by the exact log-likelihoods.
    mutating func refine(_ bounds: inout [Double], of states: [Int32])

    /// Returns the states of a plane whose bound is at least a limit, in ascending order.
    func candidates(plane: Int, from limit: Double) -> [Int32]

    /// Returns the mean likelihood of a plane's cells; `nil` if it is not known. The filter uses this mean for all
    /// cells without a weight of their own.
    mutating func mean(plane: Int) -> Double?
}

/// Working memory for filters that keep only likely cells. All filters of a thread can share it.
public struct CellScratch: Sendable {
    /// The weight that was added to each state. All weights are 0 while no filter uses the scratch.
    fileprivate var sums: [Double] = []
    /// One bit for each state. The bit is set if weight was added to the state, or if the state was marked. All bits
    /// are 0 while no filter uses the scratch.
    fileprivate var marks: [UInt64] = []

    /// Creates an empty scratch. It grows as needed.
    public init() {}

    fileprivate mutating func prepare(_ states: Int) {
        guard sums.count < states else { return }
        sums = [Double](repeating: 0, count: states)
        marks = [UInt64](repeating: 0, count: (states + 63) / 64)
    }

    mutating func add(_ weight: Double, to state: Int) {
        sums[state] += weight
        marks[state >> 6] |= 1 << UInt64(state & 63)
    }

    /// Marks a state. Returns true if the state was not marked before.
    fileprivate mutating func markIfNew(_ state: Int32) -> Bool {
        let (word, bit) = (Int(state) >> 6, UInt64(1) << UInt64(state & 63))
        defer { marks[word] |= bit }
        return marks[word] & bit == 0
    }

    fileprivate mutating func unmark(_ states: [Int32]) {
        for state in states { marks[Int(state) >> 6] = 0 }
    }
}

/// The operations of a filter that keeps only likely cells. In each plane, the probability of the other cells is spread
/// evenly.
extension CellFilter {
    /// After a step, states with a weight up to this value are dropped.
    private static let leastWeight = 1e-12
    /// The smallest probability of a plane. Planes with a smaller probability are dropped.
    private static let leastPlaneProbability = 1e-9
    /// The largest number of states that the filter keeps.
    static let limit = 4096
    /// The filter first searches candidates whose log-likelihood is at most this much below the largest log-likelihood.
    private static let firstReach = 12.0

    // MARK: Time

    /// Spreads the states by a step of one second.
    mutating func spread(_ scratch: inout CellScratch) {
        scratch.prepare(planes * cellCount)
        var totals = uniformProbabilities
        for (index, state) in states.enumerated() { totals[Int(state) / cellCount] += weights[index] }
        for plane in uniformProbabilities.indices {
            uniformProbabilities[plane] = uniformProbabilities[plane] * (1 - Self.leak) + totals[plane] * Self.leak
        }
        step.propagate(states, weights, &scratch, share: 1 - Self.leak)
        states.removeAll(keepingCapacity: true)
        weights.removeAll(keepingCapacity: true)
        for word in 0..<(planes * cellCount + 63) / 64 where scratch.marks[word] != 0 {
            var bits = scratch.marks[word]
            while bits != 0 {
                let state = word << 6 | bits.trailingZeroBitCount
                bits &= bits - 1
                let weight = scratch.sums[state]
                scratch.sums[state] = 0
                guard weight > Self.leastWeight else {
                    uniformProbabilities[state / cellCount] += weight
                    continue
                }
                states.append(Int32(state))
                weights.append(weight)
            }
            scratch.marks[word] = 0
        }
    }

    // MARK: Evidence

    /// Multiplies the probability of each state by a likelihood. If all likelihoods are 0, changes nothing.
    public mutating func update(_ evidence: inout some CellEvidence, _ scratch: inout CellScratch) {
        guard cellCount > 0 else { return }
        scratch.prepare(planes * cellCount)
        var weighted = WeightedStates(least: log(evidence.tolerance / 10 / Double(planes * cellCount)))
        let means = uniformProbabilities.indices.compactMap { evidence.mean(plane: $0) }
        if means.count == uniformProbabilities.count {
            weighted.add(states, &evidence) { log(weights[$0]) }
            let evenWeights = uniformProbabilities.indices.map { uniformProbabilities[$0] * means[$0] }
            let evenSum = evenWeights.reduce(0, +)
            if evenSum <= evidence.tolerance * (exp(weighted.logSum) + evenSum), weighted.logSum > -.infinity {
                keep(weighted, evenWeights: evenWeights, tolerance: evidence.tolerance)
                return
            }
            weighted = WeightedStates(least: weighted.least)
        }
        let logEvenProbabilities = uniformProbabilities.map { log($0 / Double(cellCount)) }
        for state in states { _ = scratch.markIfNew(state) }
        weighted.add(states, &evidence) { index in
            let plane = Int(states[index]) / cellCount
            return log(weights[index] + uniformProbabilities[plane] / Double(cellCount))
        }
        var markedStates = states
        var reach = Self.firstReach
        while true {
            var isDone = true
            for plane in uniformProbabilities.indices where uniformProbabilities[plane] > 0 {
                // Cells with a lower log-likelihood are negligible, even if all cells of the plane have it.
                let needed =
                    weighted.logSum + log(evidence.tolerance / Double(uniformProbabilities.count))
                    - log(uniformProbabilities[plane])
                let limit = max(needed, evidence.most - reach)
                if needed < limit { isDone = false }
                guard limit <= evidence.most else { continue }
                let newStates = evidence.candidates(plane: plane, from: limit).filter { scratch.markIfNew($0) }
                markedStates += newStates
                weighted.add(newStates, &evidence) { _ in logEvenProbabilities[plane] }
            }
            if isDone || evidence.most - reach <= evidence.least { break }
            reach *= 2
        }
        scratch.unmark(markedStates)
        guard weighted.logSum > -.infinity else { return }
        keep(weighted, evenWeights: uniformProbabilities.map { _ in 0 }, tolerance: evidence.tolerance)
    }

    /// Some states, and the logarithms of their weights after the evidence.
    private struct WeightedStates {
        var states: [Int32] = []
        var logs: [Double] = []
        private var best = -Double.infinity
        /// The sum of `exp(log - best)`.
        private var scaled = 0.0
        /// The logarithm of the share of the whole weight below which a state is negligible.
        let least: Double

        init(least: Double) { self.least = least }

        var logSum: Double { scaled > 0 ? best + log(scaled) : -.infinity }

        /// - Parameters:
        ///   - newStates: The states to add, in ascending order.
        ///   - prior: The logarithm of the previous weight of the state at an index.
        mutating func add(_ newStates: [Int32], _ evidence: inout some CellEvidence, prior: (Int) -> Double) {
            guard !newStates.isEmpty else { return }
            let bounds = evidence.bounds(of: newStates)
            let priors = newStates.indices.map(prior)
            let top = newStates.indices.max { priors[$0] + bounds[$0] < priors[$1] + bounds[$1] }
            guard let top else { return }
            var topLikelihood = [bounds[top]]
            evidence.refine(&topLikelihood, of: [newStates[top]])
            let limit = max(logSum, priors[top] + topLikelihood[0]) + least
            let kept = newStates.indices.filter { priors[$0] + bounds[$0] >= limit }
            let keptStates = kept.map { newStates[$0] }
            var values = kept.map { bounds[$0] }
            evidence.refine(&values, of: keptStates)
            for (index, state) in keptStates.enumerated() {
                let value = priors[kept[index]] + values[index]
                guard value > -.infinity else { continue }
                if value > best {
                    scaled *= exp(best - value)
                    best = value
                }
                scaled += exp(value - best)
                states.append(state)
                logs.append(value)
            }
        }
    }

    /// Keeps the states with the largest weights.
    ///
    /// - Parameter evenWeights: The weight that is spread evenly over each plane, on the same scale as the weights in
    ///   `weighted`.
    private mutating func keep(_ weighted: WeightedStates, evenWeights: [Double], tolerance: Double) {
        let logSum = weighted.logSum
        let evenWeights = evenWeights.map { $0 > 0 ? exp(log($0) - logSum) : 0 }
        let totalWeight = 1 + evenWeights.reduce(0, +)
        uniformProbabilities = evenWeights.map { $0 / totalWeight }
        var totals = uniformProbabilities
        var shares: [Double] = []
        shares.reserveCapacity(weighted.states.count)
        // The sum of the weights in each bin, by plane, then by bin. A bin covers a factor of √e. The first bin begins
        // at the whole weight, and the next bins contain smaller weights.
        var bins = [Double](repeating: 0, count: totals.count * Self.bins)
        var counts = [Int](repeating: 0, count: bins.count)
        for (index, state) in weighted.states.enumerated() {
            let share = exp(weighted.logs[index] - logSum) / totalWeight
            let plane = Int(state) / cellCount
            shares.append(share)
            totals[plane] += share
            let bin = plane * Self.bins + Self.bin(weighted.logs[index] - logSum)
            bins[bin] += share
            counts[bin] += 1
        }
        let statesPerPlane = Self.limit / totals.count
        let cuts = totals.indices.map { plane in
            var (cut, dropped) = (Self.bins, 0.0)
            var keptCount = counts[plane * Self.bins..<(plane + 1) * Self.bins].reduce(0, +)
            while cut > 1 {
                let bin = plane * Self.bins + cut - 1
                guard keptCount > statesPerPlane || dropped + bins[bin] <= tolerance * totals[plane] else { break }
                dropped += bins[bin]
                keptCount -= counts[bin]
                cut -= 1
            }
            return cut
        }
        states.removeAll(keepingCapacity: true)
        weights.removeAll(keepingCapacity: true)
        for (index, state) in weighted.states.enumerated() {
            let plane = Int(state) / cellCount
            guard totals[plane] >= Self.leastPlaneProbability else { continue }
            guard Self.bin(weighted.logs[index] - logSum) < cuts[plane] else {
                uniformProbabilities[plane] += shares[index]
                continue
            }
            states.append(state)
            weights.append(shares[index])
        }
        for plane in uniformProbabilities.indices where totals[plane] < Self.leastPlaneProbability {
            uniformProbabilities[plane] = 0
        }
    }

    /// The number of bins into which the weights of a plane are sorted. Each bin covers a factor of √e.
    private static let bins = 96

    private static func bin(_ log: Double) -> Int { min(bins - 1, max(0, Int(-log * 2))) }
}
