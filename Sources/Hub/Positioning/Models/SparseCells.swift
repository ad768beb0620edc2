internal import Airtime

/// A filter that keeps only the cells that matter.
///
/// What a step leaks, and the tails that weigh no more than the evidence tolerates, lie anywhere.
extension CellFilter {
    /// Of a state that weighs less, as a part of all, a step says nothing.
    private static let least = 1e-12
    /// A plane that has become so unlikely is given up.
    private static let leastPlane = 1e-9
    /// More states than this are not kept; the weight of the others goes anywhere.
    static let limit = 4096
    /// Cells are first looked for that are so much less likely than the best, as logarithms of likelihoods.
    private static let firstReach = 12.0

    // MARK: Time

    /// A second passes.
    mutating func spread(_ scratch: inout CellScratch) {
        scratch.prepare(cellCount, planes: planes)
        var totals = anywhere
        for (index, state) in states.enumerated() { totals[Int(state) / cellCount] += weights[index] }
        for plane in anywhere.indices {
            anywhere[plane] = anywhere[plane] * (1 - Self.leak) + totals[plane] * Self.leak
        }
        step.pass(states, weights, &scratch, share: 1 - Self.leak)
        states.removeAll(keepingCapacity: true)
        weights.removeAll(keepingCapacity: true)
        for word in 0..<(planes * cellCount + 63) / 64 where scratch.marks[word] != 0 {
            var bits = scratch.marks[word]
            while bits != 0 {
                let state = word << 6 | bits.trailingZeroBitCount
                bits &= bits - 1
                let weight = scratch.sums[state]
                scratch.sums[state] = 0
                guard weight > Self.least else {
                    anywhere[state / cellCount] += weight
                    continue
                }
                states.append(Int32(state))
                weights.append(weight)
            }
            scratch.marks[word] = 0
        }
    }

    // MARK: News

    /// Something was heard. Where it is impossible everywhere, nothing changes.
    public mutating func hear(_ evidence: inout some CellEvidence, _ scratch: inout CellScratch) {
        guard cellCount > 0 else { return }
        scratch.prepare(cellCount, planes: planes)
        var found = Found(least: log(evidence.tolerance / 10 / Double(planes * cellCount)))
        let means = anywhere.indices.compactMap { evidence.mean(plane: $0) }
        if means.count == anywhere.count {
            found.add(states, &evidence) { log(weights[$0]) }
            let rest = anywhere.indices.map { anywhere[$0] * means[$0] }
            let outside = rest.reduce(0, +)
            if outside <= evidence.tolerance * (exp(found.logSum) + outside), found.logSum > -.infinity {
                keep(found, rest: rest, tolerance: evidence.tolerance)
                return
            }
            found = Found(least: found.least)
        }
        let even = anywhere.map { log($0 / Double(cellCount)) }
        for state in states { _ = scratch.mark(state) }
        found.add(states, &evidence) { index in
            let plane = Int(states[index]) / cellCount
            return log(weights[index] + anywhere[plane] / Double(cellCount))
        }
        var looked = states
        var reach = Self.firstReach
        while true {
            var isDone = true
            for plane in anywhere.indices where anywhere[plane] > 0 {
                // What is less likely than this weighs nothing, even if all of the plane's cells are so.
                let needed = found.logSum + log(evidence.tolerance / Double(anywhere.count)) - log(anywhere[plane])
                let limit = max(needed, evidence.most - reach)
                if needed < limit { isDone = false }
                guard limit <= evidence.most else { continue }
                let new = evidence.candidates(plane: plane, from: limit).filter { scratch.mark($0) }
                looked += new
                found.add(new, &evidence) { _ in even[plane] }
            }
            if isDone || evidence.most - reach <= evidence.least { break }
            reach *= 2
        }
        scratch.unmark(looked)
        guard found.logSum > -.infinity else { return }
        keep(found, rest: anywhere.map { _ in 0 }, tolerance: evidence.tolerance)
    }

    /// States with the logarithms of what they weigh now.
    private struct Found {
        var states: [Int32] = []
        var logs: [Double] = []
        private var best = -Double.infinity
        /// Of `exp(log - best)`.
        private var scaled = 0.0
        /// A state that weighs so much less than all, as a logarithm, does not matter.
        let least: Double

        init(least: Double) { self.least = least }

        var logSum: Double { scaled > 0 ? best + log(scaled) : -.infinity }

        /// - Parameters:
        ///   - new: In rising order.
        ///   - prior: The logarithm of what the state with an index weighed before.
        mutating func add(_ new: [Int32], _ evidence: inout some CellEvidence, prior: (Int) -> Double) {
            guard !new.isEmpty else { return }
            let bounds = evidence.bounds(of: new)
            let priors = new.indices.map(prior)
            guard let top = new.indices.max(by: { priors[$0] + bounds[$0] < priors[$1] + bounds[$1] }) else { return }
            var first = [bounds[top]]
            evidence.refine(&first, of: [new[top]])
            let limit = max(logSum, priors[top] + first[0]) + least
            let kept = new.indices.filter { priors[$0] + bounds[$0] >= limit }
            let keptStates = kept.map { new[$0] }
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

    /// Keeps what weighs most.
    ///
    /// - Parameter rest: By plane, what weighs anywhere, in the measure of what was found.
    private mutating func keep(_ found: Found, rest: [Double], tolerance: Double) {
        let top = found.logSum
        let rest = rest.map { $0 > 0 ? exp(log($0) - top) : 0 }
        let whole = 1 + rest.reduce(0, +)
        anywhere = rest.map { $0 / whole }
        var totals = anywhere
        var shares: [Double] = []
        shares.reserveCapacity(found.states.count)
        // By plane, then by half a power of e below all.
        var bins = [Double](repeating: 0, count: totals.count * Self.bins)
        var counts = [Int](repeating: 0, count: bins.count)
        for (index, state) in found.states.enumerated() {
            let share = exp(found.logs[index] - top) / whole
            let plane = Int(state) / cellCount
            shares.append(share)
            totals[plane] += share
            let bin = plane * Self.bins + Self.bin(found.logs[index] - top)
            bins[bin] += share
            counts[bin] += 1
        }
        let room = Self.limit / totals.count
        let cuts = totals.indices.map { plane in
            var (cut, dropped) = (Self.bins, 0.0)
            var left = counts[plane * Self.bins..<(plane + 1) * Self.bins].reduce(0, +)
            while cut > 1 {
                let bin = plane * Self.bins + cut - 1
                guard left > room || dropped + bins[bin] <= tolerance * totals[plane] else { break }
                dropped += bins[bin]
                left -= counts[bin]
                cut -= 1
            }
            return cut
        }
        states.removeAll(keepingCapacity: true)
        weights.removeAll(keepingCapacity: true)
        for (index, state) in found.states.enumerated() {
            let plane = Int(state) / cellCount
            guard totals[plane] >= Self.leastPlane else { continue }
            guard Self.bin(found.logs[index] - top) < cuts[plane] else {
                anywhere[plane] += shares[index]
                continue
            }
            states.append(state)
            weights.append(shares[index])
        }
        for plane in anywhere.indices where totals[plane] < Self.leastPlane { anywhere[plane] = 0 }
    }

    private static let bins = 96

    private static func bin(_ log: Double) -> Int { min(bins - 1, max(0, Int(-log * 2))) }
}
