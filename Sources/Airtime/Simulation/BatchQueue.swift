/// Hands out the batches of a simulation and takes what they counted, until a goal is met.
///
/// A value without threads and clocks: whoever has the cores asks for the `next` batch, plays it anywhere and gives its
/// tally back with `take`. Tallies are merged, and the goal is judged, in the order of the batches' numbers; what was
/// played beyond the batch that met the goal is dropped. So the result depends on neither the number of cores nor on
/// who was faster. To stop early, as at Ctrl-C, stop asking: `result` holds the batches merged so far.
public struct BatchQueue<Tally: SimulationTally>: Sendable {
    /// Batches ahead of the oldest that is missing: bounds the tallies that wait in memory.
    private let ahead: Int
    private let goal: PrecisionGoal
    private let judged: @Sendable (Tally) -> Estimate?
    private var waiting: [Int: Tally] = [:]
    private var handedOut = 0
    private var isMet = false

    /// The merged tallies of the first `batches` batches.
    public private(set) var result = Tally()
    public private(set) var batches = 0

    /// - Parameters:
    ///   - ahead: how many batches may be in work or waiting at once, at least 1; a few for each core.
    ///   - judged: the value whose precision is asked for.
    public init(
        _ goal: PrecisionGoal, ahead: Int = 32, judged: @escaping @Sendable (Tally) -> Estimate?
    ) {
        self.goal = goal
        self.ahead = max(1, ahead)
        self.judged = judged
    }

    /// Whether `result` is final.
    public var isFinished: Bool { isMet || batches >= goal.maximumBatches }

    /// The number of a batch to play; nil when all is done, or when older batches must come back first.
    public mutating func next() -> Int? {
        guard !isFinished, handedOut < goal.maximumBatches, handedOut - batches < ahead else { return nil }
        handedOut += 1
        return handedOut - 1
    }

    /// Takes the tally of a batch that `next` handed out. Any other, and one that comes twice, is ignored.
    public mutating func take(_ tally: Tally, of batch: Int) {
        guard !isFinished, batch >= batches, batch < handedOut, waiting[batch] == nil else { return }
        waiting[batch] = tally
        while !isFinished, let oldest = waiting.removeValue(forKey: batches) {
            result.merge(oldest)
            batches += 1
            isMet = goal.isMet(by: judged(result))
        }
        if isFinished { waiting = [:] }
    }
}
