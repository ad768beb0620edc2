internal import BluetoothTypes

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

/// Sums what the batches of a simulation counted, until a goal is met.
///
/// A value without threads and clocks: whoever has the cores plays the batches anywhere and hands in their tallies in
/// the order of the batches' numbers. The goal is judged after each, and what comes behind the batch that met it is
/// dropped. So the result depends on neither the number of cores nor on who was faster. To stop early, as at Ctrl-C,
/// hand in no more: ``tally`` holds the batches so far.
public struct BatchSum<Tally: SimulationTally>: Sendable {
    private let goal: PrecisionGoal
    private let judged: @Sendable (Tally) -> Estimate?
    private var isMet = false

    /// The merged tallies of the first ``batches`` batches.
    public private(set) var tally = Tally()
    public private(set) var batches = 0

    /// - Parameter judged: the value whose precision is asked for.
    public init(_ goal: PrecisionGoal, judged: @escaping @Sendable (Tally) -> Estimate?) {
        self.goal = goal
        self.judged = judged
    }

    /// Whether ``tally`` is final.
    public var isFinished: Bool { isMet || batches >= goal.maximumBatches }

    /// The tally of the next batch: number ``batches``. Ignored where the sum is final.
    public mutating func add(_ next: Tally) {
        guard !isFinished else { return }
        tally.merge(next)
        batches += 1
        isMet = goal.isMet(by: judged(tally))
    }
}

extension SplitMix64 {
    /// The generator of one batch: the same for one seed and index, whichever core runs the batch and whenever.
    ///
    /// Neighboring indices give unrelated streams: the index goes through the generator's own mixing first.
    init(seed: UInt64, batch index: Int) {
        var root = SplitMix64(seed: seed)
        var mixed = SplitMix64(seed: root.next() ^ UInt64(truncatingIfNeeded: index))
        self.init(seed: mixed.next())
    }

    /// A number of 0..<1 with 53 bits.
    @inline(__always)
    mutating func nextUnit() -> Double {
        Double(next() >> 11) * 0x1p-53
    }
}
