internal import Airtime
internal import ArgumentParser
internal import BluetoothTypes
internal import Configuration
internal import LinuxHost
internal import PlanReport

struct PlanSimulate: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "simulate",
        abstract: "Answers the same questions by simulation, with the models' values beside it.",
        discussion: """
            The same --seed gives the same numbers, on one core or on many. Ctrl-C ends a run with what it has.
            """,
        subcommands: [SimulateCollisions.self, SimulateLatency.self])
}

/// How a simulation is run.
struct SimulationOptions: ParsableArguments {
    @Option(
        parsing: .unconditional,
        help: ArgumentHelp("The same seed gives the same numbers (default: 1).", valueName: "number"))
    var seed: UInt64 = 1

    @Option(
        parsing: .unconditional,
        help: ArgumentHelp(
            "Run until the main number is known to this share of itself (default: 0.01).", valueName: "share"),
        transform: PlanValue.precision)
    var precision: Double = 0.01

    @Option(
        parsing: .unconditional,
        help: ArgumentHelp("Threads (default: one for each processor).", valueName: "n"), transform: PlanValue.jobs)
    var jobs: Int?

    func run<Simulation: BatchedSimulation>(
        _ simulation: Simulation, minimumBatches: Int = 20, maximumBatches: Int = 100_000,
        judged: @escaping @Sendable (Simulation.Tally) -> Estimate?
    ) throws -> SimulationRunner<Simulation>.Outcome {
        let goal = try PlanValue.answer { () throws(AirtimeError) in
            try PrecisionGoal(
                halfWidth: .relative(precision), minimumBatches: minimumBatches, maximumBatches: maximumBatches)
        }
        let outcome = try SimulationRunner(simulation, goal: goal, judged: judged)
            .run(jobs: jobs ?? Processors.count) { tally, batches in
                let now = judged(tally).map { "\(PlanNumber.text($0.value)) ± \(PlanNumber.text($0.halfWidth95))" }
                return "\(batches) batches: \(now ?? "…")"
            }
        guard outcome.batches >= 2 else { throw Failure(.temporaryFailure, "ended before there was anything to tell") }
        return outcome
    }
}

extension PlanAnswer {
    /// A simulated number with its confidence interval and the model's value.
    mutating func simulated(
        _ key: String, _ name: String, _ estimate: Estimate?, model: Double?,
        into intervals: inout [(String, JSONValue)],
        _ models: inout [(String, JSONValue)]
    ) {
        member(key, estimate?.value)
        intervals.append(
            (key, .optional(estimate?.confidence95) { .array([.real($0.lowerBound), .real($0.upperBound)]) }))
        models.append((key, .real(model)))
        guard let estimate else { return }
        figure(
            name, "\(PlanNumber.percent(estimate.value))",
            remark: "± \(PlanNumber.percent(estimate.halfWidth95))"
                + (model.map { "; the model says \(PlanNumber.percent($0))" } ?? ""))
    }

    mutating func finish<Tally>(_ outcome: SimulationRunner<Tally>.Outcome, _ seed: UInt64) {
        json.append(("seed", .decimal("\(seed)")))
        member("batches", Double(outcome.batches))
        json.append(("interrupted", .boolean(outcome.isInterrupted)))
        figure("batches", "\(outcome.batches)", remark: "seed \(seed)")
        if outcome.isInterrupted {
            note("Ended before the wanted precision was reached: the intervals say how far it came.")
        }
    }
}

extension PlanValue {
    static func precision(_ text: String) throws -> Double {
        let value = try share(text)
        guard value >= 0.0001 else { throw Mistake("it must be at least 0.0001") }
        return value
    }

    static func jobs(_ text: String) throws -> Int {
        let value = try OptionValue.integer(text)
        guard (1...256).contains(value) else { throw Mistake("\(value) is out of range 1...256") }
        return value
    }
}
