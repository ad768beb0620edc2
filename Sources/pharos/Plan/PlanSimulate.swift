internal import ArgumentParser
internal import LinuxHost
internal import Planner

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

    /// Plays the question's scene until its goal is met or somebody has seen enough, and tells what was found.
    func answer(_ question: some SimulationQuestion) throws -> PlanAnswer {
        try question.answer(SimulationRunner(question).run(jobs: jobs ?? Processors.count))
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
