public import Airtime
internal import BluetoothTypes

/// A question that a simulation answers.
public protocol SimulationQuestion: Sendable {
    /// The simulation. The same seed gives the same batches.
    var scene: AirSimulation { get }
    var seed: UInt64 { get }
    /// The precision at which the simulation stops.
    var goal: PrecisionGoal { get }
    /// Returns the value whose precision is compared with the goal; nil if there are too few batches for a value.
    static func estimate(_ tally: AirTally) -> Estimate?
    /// Returns the answer to the question.
    func answer(_ outcome: SimulationOutcome) throws(PlanError) -> PlanAnswer
}

/// The results of a simulation that has ended.
public struct SimulationOutcome: Sendable {
    public let tally: AirTally
    /// The number of batches that were counted: the first batches in the order of their numbers, without a gap.
    public let batches: Int
    /// True if the simulation was stopped before it met its goal.
    public let isInterrupted: Bool

    public init(tally: AirTally, batches: Int, isInterrupted: Bool) {
        self.tally = tally
        self.batches = batches
        self.isInterrupted = isInterrupted
    }
}

extension SimulationQuestion {
    /// An empty sum. The caller adds the batches in the order of their numbers until the goal is met.
    public var sum: BatchSum<AirTally> { BatchSum(goal) { Self.estimate($0) } }

    /// Returns the progress. The total is estimated from the confidence interval: its width is proportional to
    /// 1/√(number of batches).
    public func progress(_ tally: AirTally, batches: Int) -> PlanProgress {
        guard let estimate = Self.estimate(tally), estimate.halfWidth95 > 0, case .relative(let share) = goal.halfWidth
        else { return PlanProgress("batches", done: batches, of: nil) }
        let ratio = estimate.halfWidth95 / (share * max(abs(estimate.value), .leastNormalMagnitude))
        let total = max(Double(goal.minimumBatches), Double(batches) * ratio * ratio)
        return PlanProgress(
            "batches", done: batches, of: Int(min(total.rounded(.up), Double(goal.maximumBatches))), isEstimate: true,
            remark: "\(NumberFormat.significant(estimate.value)) ± \(NumberFormat.significant(estimate.halfWidth95))")
    }

    /// Returns the progress of one of several parts of a simulation.
    public func progress(_ tally: AirTally, batches: Int, of shard: SimulationShard) -> PlanProgress {
        var progress = progress(tally, batches: batches)
        progress.what += " of part \(shard.index)/\(shard.count)"
        // Each part simulates more than its share of the batches, so that all parts together rarely miss the goal.
        progress.total = progress.total.map { Int(Double($0) / Double(shard.count) * 1.6) }
        return progress
    }

    /// Returns the approximate number of batches that each part needs to meet the goal, for parts with too few batches;
    /// nil if it is unknown.
    public func batchesNeeded(_ outcome: SimulationOutcome, of shard: SimulationShard) -> Int? {
        progress(outcome.tally, batches: outcome.batches).total.map { $0 * 5 / 4 / shard.count + SimulationShard.block }
    }

    /// Adds the seed, the number of batches and, if the simulation was stopped, a note.
    func finish(_ answer: inout PlanAnswer, _ outcome: SimulationOutcome) {
        answer.add(.seed, .identifier(seed))
        answer.add(.batches, .count(outcome.batches), remark: "seed \(seed)")
        answer.add(.interrupted, .flag(outcome.isInterrupted))
        answer.holds = !outcome.isInterrupted
        if outcome.isInterrupted {
            answer.note(
                "The simulation ended before it reached the requested precision; the confidence intervals show the precision."
            )
        }
    }

    func checkBatches(_ outcome: SimulationOutcome) throws(PlanError) {
        guard outcome.batches >= 2 else {
            throw PlanError(.unfinished, "the simulation ended before there was a result")
        }
    }

    static func goal(_ precision: Double, minimumBatches: Int) throws(AirtimeError) -> PrecisionGoal {
        try PrecisionGoal(halfWidth: .relative(precision), minimumBatches: minimumBatches, maximumBatches: 100_000)
    }
}

/// Simulated values with their confidence intervals and the models' values.
struct SimulatedValues {
    private var intervals: [(PlanKey, PlanQuantity)] = []
    private var models: [(PlanKey, PlanQuantity)] = []

    /// Adds a simulated share to the answer.
    mutating func add(_ key: PlanKey, _ estimate: Estimate?, model: Double?, in answer: inout PlanAnswer) {
        add(key, interval: .range(estimate?.confidence95), model: .share(model))
        guard let estimate else { return answer.add(key, .nothing, isInText: false) }
        answer.add(
            key, .share(estimate.value),
            remark: "± \(NumberFormat.percent(estimate.halfWidth95))"
                + (model.map { "; the model's value is \(NumberFormat.percent($0))" } ?? ""))
    }

    mutating func add(_ key: PlanKey, interval: PlanQuantity, model: PlanQuantity) {
        intervals.append((key, interval))
        models.append((key, model))
    }

    func finish(_ answer: inout PlanAnswer) {
        answer.add(.confidence, .object(intervals))
        answer.add(.model, .object(models))
    }
}
