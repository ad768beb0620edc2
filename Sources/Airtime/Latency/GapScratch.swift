/// Working memory of the recursion, kept from chunk to chunk.
struct GapScratch: Sendable {
    /// The covered share of each step of the chunk.
    var shares: [Double] = []
    /// The events of one state within the chunk.
    var taken: [Double] = []
    /// What goes on from this chunk, by its next state.
    var parts: [Lane] = []

    mutating func begin(states: Int) {
        if parts.count != states { parts = Array(repeating: Lane(), count: states) }
        for state in parts.indices { parts[state].clear() }
    }

    /// Splits the taken events, the first of them at step `first`, into received, lost within reach and out of reach.
    mutating func split(
        at first: Int, in chunk: Range<Int>, covered: Range<Int>, hazard: Double, successor: Int, fresh: Int,
        center: Int, histogram: inout GapHistogram
    ) {
        guard !taken.isEmpty else { return }
        let steps = first..<first + taken.count
        let offset = first - chunk.lowerBound
        let reach = (covered.lowerBound + chunk.lowerBound..<covered.upperBound + chunk.lowerBound).clamped(to: steps)
        if !reach.isEmpty {
            let low = reach.lowerBound - first
            let high = reach.upperBound - first
            let keeps = 1 - hazard
            if keeps > 0 { parts[successor].cover(reach) }
            let shift = reach.lowerBound - parts[successor].range.lowerBound
            for index in low..<high {
                let inside = taken[index] * shares[offset + index]
                taken[index] -= inside
                guard inside > 0 else { continue }
                histogram.add(inside * hazard, at: first + index - center)
                if keeps > 0 { parts[successor].add(inside * keeps, index: shift + index - low) }
            }
        }
        parts[fresh].add(taken, at: first)
    }
}
