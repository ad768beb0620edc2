public import Airtime

/// A question that is answered by simulation: a scene that is played in batches, and what is made of their counts.
public protocol SimulationQuestion: Sendable {
    /// What is played. The same seed gives the same batches.
    var scene: AirSimulation { get }
    /// The same seed gives the same numbers.
    var seed: UInt64 { get }
    /// When enough has been played.
    var goal: PrecisionGoal { get }
    /// The number whose precision is asked for; `nil` while there is none yet.
    static func estimate(_ tally: AirTally) -> Estimate?
    /// What was found.
    func answer(_ outcome: SimulationOutcome) throws(PlanError) -> PlanAnswer
}

/// What was counted until a simulation ended.
public struct SimulationOutcome: Sendable {
    public let tally: AirTally
    /// The batches in it, counted from the first without a gap.
    public let batches: Int
    /// Whether it was ended before its goal was met.
    public let isInterrupted: Bool

    /// `batches` in the order of their numbers, from the first on.
    public init(tally: AirTally, batches: Int, isInterrupted: Bool) {
        self.tally = tally
        self.batches = batches
        self.isInterrupted = isInterrupted
    }
}

extension SimulationQuestion {
    /// Takes the batches in the order of their numbers, until the goal is met.
    public var sum: BatchSum<AirTally> { BatchSum(goal) { Self.estimate($0) } }

    /// How far it has come: the precision goes with the root of the batches, so the end can be estimated.
    public func progress(_ tally: AirTally, batches: Int) -> PlanProgress {
        guard let estimate = Self.estimate(tally), estimate.halfWidth95 > 0, case .relative(let share) = goal.halfWidth
        else { return PlanProgress("batches", done: batches, of: nil) }
        let ratio = estimate.halfWidth95 / (share * max(abs(estimate.value), .leastNormalMagnitude))
        let total = max(Double(goal.minimumBatches), Double(batches) * ratio * ratio)
        return PlanProgress(
            "batches", done: batches, of: Int(min(total.rounded(.up), Double(goal.maximumBatches))), isEstimate: true,
            remark: "\(NumberText.significant(estimate.value)) ± \(NumberText.significant(estimate.halfWidth95))")
    }

    /// How far one of several parts has come.
    public func progress(_ tally: AirTally, batches: Int, of shard: SimulationShard) -> PlanProgress {
        var progress = progress(tally, batches: batches)
        progress.what += " of part \(shard.index)/\(shard.count)"
        // The reserve that each part has for chance.
        progress.total = progress.total.map { Int(Double($0) / Double(shard.count) * 1.6) }
        return progress
    }

    /// About how many batches each part has to play where what they have played falls short; `nil` where nobody can tell.
    public func batchesNeeded(_ outcome: SimulationOutcome, of shard: SimulationShard) -> Int? {
        progress(outcome.tally, batches: outcome.batches).total.map { $0 * 5 / 4 / shard.count + SimulationShard.block }
    }

    /// Throws for what cannot be told of, and ends the answer with how it came about.
    func finish(_ answer: inout PlanAnswer, _ outcome: SimulationOutcome) {
        answer.state("seed", .identifier(seed))
        answer.state("batches", .count(outcome.batches), as: "batches", remark: "seed \(seed)")
        answer.state("interrupted", .flag(outcome.isInterrupted))
        answer.holds = !outcome.isInterrupted
        if outcome.isInterrupted {
            answer.note("Ended before the wanted precision was reached: the intervals say how far it came.")
        }
    }

    func checkBatches(_ outcome: SimulationOutcome) throws(PlanError) {
        guard outcome.batches >= 2 else { throw PlanError(.unfinished, "ended before there was anything to tell") }
    }

    static func goal(_ precision: Double, minimumBatches: Int) throws(AirtimeError) -> PrecisionGoal {
        try PrecisionGoal(halfWidth: .relative(precision), minimumBatches: minimumBatches, maximumBatches: 100_000)
    }
}

/// Simulated values beside the models' own, as they are stated together.
struct SimulatedValues {
    private var intervals: [(String, PlanQuantity)] = []
    private var models: [(String, PlanQuantity)] = []

    /// A simulated share with its confidence interval and the model's value.
    mutating func state(
        _ key: String, _ estimate: Estimate?, model: Double?, as name: String, in answer: inout PlanAnswer
    ) {
        intervals.append((key, .range(estimate?.confidence95)))
        models.append((key, .share(model)))
        guard let estimate else { return answer.state(key, .nothing) }
        answer.state(
            key, .share(estimate.value), as: name,
            remark: "± \(NumberText.percent(estimate.halfWidth95))"
                + (model.map { "; the model says \(NumberText.percent($0))" } ?? ""))
    }

    mutating func add(_ key: String, interval: PlanQuantity, model: PlanQuantity) {
        intervals.append((key, interval))
        models.append((key, model))
    }

    func finish(_ answer: inout PlanAnswer) {
        answer.state("confidence95", .record(intervals))
        answer.state("model", .record(models))
    }
}
