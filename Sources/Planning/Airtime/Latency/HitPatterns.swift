/// For one airtime: in how many of the sets of our last K events an interferer hits, in the mean over our own delays.
///
/// For a set S of events, `reach(S)` times 2·tau/E is the probability that one interferer hits at least one event of
/// S, given our delays: each event is hit with 2·tau/E, and an event counts only when the interferer hits no later
/// one of S. Neither E nor N stands in it, so one table serves all intervals and fleet sizes. Our own delays are
/// drawn evenly from a fixed sequence; nothing depends on chance.
///
/// Sets are gathered by their size and by the earliest event in them, and their reaches in narrow bins that keep
/// count, mean and variance.
package struct HitPatterns: Sendable {
    /// K: runs up to this length are exact.
    let length: Int
    /// Reaches from 0 to `length`, by bin.
    private static let binsPerUnit = 24
    private let bins: Int
    /// Weights by (events K' that S lies in, size of S), flat.
    private var weights: [Double]
    /// By row, the bins that hold a weight.
    private var filled: [Range<Int>] = []

    /// `width`: tau/J.
    package init(width: Double, length: Int = RunsModel.exactLength, samples: Int = 128) {
        self.length = length
        bins = Self.binsPerUnit * (length + 1) + 3
        weights = Array(repeating: 0, count: length * (length + 1) * bins)
        let table = RecollisionTable(width: width, lags: length - 1)
        var delays = DelaySequence(dimensions: length - 1)
        var sets = SetReaches(length: length)
        let rows = (0..<1 << length).map { set in
            (max(0, Int.bitWidth - 1 - set.leadingZeroBitCount) * (length + 1) + set.nonzeroBitCount) * bins
        }
        for _ in 0..<samples {
            sets.compute(delays: delays.next(), table: table)
            gather(sets.reaches, rows, weight: 1 / Double(samples))
        }
        filled = stride(from: 0, to: weights.count, by: bins).map { row in
            let low = (row..<row + bins).first { weights[$0] != 0 } ?? row
            let high = (row..<row + bins).last { weights[$0] != 0 } ?? row
            return low..<max(low, high + 1)
        }
    }

    /// `rows`: where the weights of a set's size and earliest event begin.
    private mutating func gather(_ reaches: [Double], _ rows: [Int], weight: Double) {
        for set in 1..<reaches.count {
            let place = reaches[set] * Double(Self.binsPerUnit)
            let bin = Int(place + 0.5)
            let rest = place - Double(bin)
            let row = rows[set] + bin
            // Three points that keep mass, mean and variance.
            weights[row] += weight * rest * (rest - 1) / 2
            weights[row + 1] += weight * (1 - rest * rest)
            weights[row + 2] += weight * rest * (rest + 1) / 2
        }
    }

    /// Q_0...Q_K: the probability that as many events in a row are lost, among N - 1 interferers.
    ///
    /// `hit`: 2·tau/E. `clear`: the probability that nothing else spoils an event, independent from event to event.
    func lossRuns(interferers: Int, hit: Double, clear: Double) -> [Double] {
        // The signs cancel whatever is taken away from every term, the empty set's 1 included: where losses are rare,
        // what is left keeps its digits so.
        let isRare = Double(interferers) * hit - log(clear) < 0.5
        let spared = (0..<bins).map { bin in
            let reach = (Double(bin) - 1) / Double(Self.binsPerUnit)
            guard hit * reach < 1 else { return -1.0 }
            return expm1(Double(interferers) * log1p(-hit * reach))
        }
        let undisturbed = (0...length).map { expm1(Double($0) * log(clear)) }
        // What survives by size and bin; less 1 where losses are rare.
        let survive = undisturbed.map { other in
            spared.map { alone in isRare ? alone + other + alone * other : (1 + alone) * (1 + other) }
        }
        var runs = [1.0]
        var sum = isRare ? 0.0 : 1.0
        for earliest in 0..<length {
            for size in 1...earliest + 1 {
                let row = earliest * (length + 1) + size
                let part = Self.product(weights[filled[row]], survive[size], from: filled[row].lowerBound - row * bins)
                sum += size % 2 == 0 ? part : -part
            }
            runs.append(min(1, max(0, sum)))
        }
        return runs
    }

    /// The sum of the products, pair by pair, with the second ones from an index on.
    private static func product(_ first: ArraySlice<Double>, _ second: [Double], from start: Int) -> Double {
        precondition(start >= 0 && start + first.count <= second.count)
        return unsafe first.withUnsafeBufferPointer { first in
            unsafe second.withUnsafeBufferPointer { second in
                var sum = 0.0
                for index in 0..<first.count { unsafe sum += first[index] * second[start &+ index] }
                return sum
            }
        }
    }
}

/// The reach of every set of events, for one sequence of our own delays. Bit 0 of a set is the last event.
private struct SetReaches {
    private let length: Int
    private(set) var reaches: [Double]
    /// For a set and an event before it: how likely nothing of the set is hit after that event was.
    private var clear: [Double]

    init(length: Int) {
        self.length = length
        reaches = Array(repeating: 0, count: 1 << length)
        clear = Array(repeating: 1, count: 1 << length)
    }

    /// Builds each set from the set without its earliest event.
    mutating func compute(delays: [Double], table: RecollisionTable) {
        var sums = [0.0]
        for delay in delays { sums.append(sums[sums.count - 1] + delay) }
        for event in 0..<length {
            // `clear` of {event} ∪ rest. The last hit within `rest` decides: what follows it stays clear, so each
            // event of `rest` takes away what `clear` says of it and those after it. Built from rest without its
            // earliest event, too.
            let base = 1 << event
            clear[base] = 1
            reaches[base] = 1
            for later in 0..<event {
                let again = table.probability(lag: event - later, sum: sums[event] - sums[later])
                let bit = 1 << later
                for rest in 0..<bit {
                    let missed = clear[base | rest] - again * clear[bit | rest]
                    clear[base | bit | rest] = missed
                    reaches[base | bit | rest] = reaches[bit | rest] + missed
                }
            }
        }
    }
}

/// Evenly spread points of the unit cube (Roberts' additive recurrence), each followed by its mirror image.
private struct DelaySequence {
    private let steps: [Double]
    private var index = 0

    init(dimensions: Int) {
        // The root of x^(d+1) = x + 1.
        var root = 1.5
        for _ in 0..<60 { root = pow(1 + root, 1 / Double(dimensions + 1)) }
        steps = (1...max(1, dimensions)).map { pow(root, -Double($0)) }
    }

    mutating func next() -> [Double] {
        defer { index += 1 }
        let turn = Double(index / 2) + 1
        return steps.map { step in
            let point = 0.5 + turn * step
            let value = point - point.rounded(.down)
            return index % 2 == 0 ? value : 1 - value
        }
    }
}
