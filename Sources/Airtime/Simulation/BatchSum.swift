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
