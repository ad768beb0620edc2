/// A simulation in numbered batches that know nothing of each other.
///
/// A batch depends on the description, the seed and its number only. Whoever runs them, on however many cores, merges
/// the tallies in the order of the numbers (``BatchSum`` does), and the result is the same.
public protocol BatchedSimulation: Sendable {
    associatedtype Tally: SimulationTally

    /// Plays batch number `index`, which is a pure function: it may run on any thread.
    func batch(_ index: Int) -> Tally
}

/// What a batch counted. Merging is associative; the empty tally changes nothing.
public protocol SimulationTally: Sendable {
    init()
    /// Adds the tally of the batches that follow.
    mutating func merge(_ next: Self)
}
