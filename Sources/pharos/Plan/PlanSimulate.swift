internal import Airtime
internal import ArgumentParser
internal import LinuxHost
internal import Planner

struct PlanSimulate: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "simulate",
        abstract: "Answer the same questions by simulation, with the models' values beside it.",
        discussion: """
            The same --seed gives the same numbers, on one core or on many. Ctrl-C ends a run with what it has, and exit \
            status 1. --shard 2/8 plays one of eight parts, on whatever machine, and prints its tally; merge puts the \
            tallies together, to exactly the result of the one run with that seed.
            """,
        subcommands: [SimulateCollisions.self, SimulateLatency.self, SimulateMerge.self])
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

    @Option(
        help: ArgumentHelp(
            "Play one of several parts, and print its tally for plan simulate merge instead of an answer.",
            valueName: "part/parts"), transform: PlanValue.shard)
    var shard: SimulationShard?

    @Option(
        parsing: .unconditional,
        help: ArgumentHelp(
            "The fewest batches of a part (default: as many as the precision needs, and a reserve).", valueName: "n"),
        transform: PlanValue.batches)
    var batches: Int?

    /// Options that one part may have and another need not.
    private static let own = ["--shard", "--batches", "--jobs", "--html"]

    func validate(with output: PlanOutput) throws {
        if shard == nil, batches != nil { throw ValidationError("--batches belongs to --shard.") }
        if shard != nil, output.json || output.html != nil {
            throw ValidationError("A part has no answer: give --json or --html to plan simulate merge.")
        }
    }

    /// Plays the question's scene until its goal is met or somebody has seen enough, and tells what was found; of a part,
    /// what it counted.
    func run(_ question: some SimulationQuestion, named name: String, _ output: PlanOutput) throws {
        let runner = SimulationRunner(question)
        let jobs = jobs ?? Processors.count
        guard let shard else { return try output.show(question.answer(runner.run(jobs: jobs))) }
        let head = TallyHead(
            program: Pharos.version, arguments: [name] + Self.asked(after: name), scene: question.sceneName,
            shard: shard)
        Terminal.write(head.line + "\n")
        let isWhole = try runner.play(shard, atLeast: batches ?? 0, jobs: jobs) { Terminal.write($0 + "\n") }
        if !isWhole { throw Failure(.failure, "ended before this part was played; its tally holds what was") }
    }

    /// The words of the command line that ask the question.
    private static func asked(after name: String) -> [String] {
        var words: [String] = []
        var isValue = false
        for word in CommandLine.arguments.drop(while: { $0 != name }).dropFirst() {
            defer { isValue = own.contains(word) }
            if isValue || own.contains(String(word.prefix { $0 != "=" })) { continue }
            words.append(word)
        }
        return words
    }
}

extension PlanValue {
    static func precision(_ text: String) throws -> Double {
        let value = try share(text)
        guard value >= 0.0001 else { throw Mistake("it must be at least 0.0001") }
        return value
    }

    static func shard(_ text: String) throws -> SimulationShard {
        let parts = text.split(separator: "/", omittingEmptySubsequences: false).map { Int($0) }
        guard parts.count == 2, let index = parts[0], let count = parts[1] else {
            throw Mistake("write the part and how many there are, such as 2/8")
        }
        return try PlanError.asking { () throws(AirtimeError) in try SimulationShard(index, of: count) }
    }

    static func batches(_ text: String) throws -> Int {
        let value = try OptionValue.integer(text)
        guard (1...100_000).contains(value) else { throw Mistake("\(value) is out of range 1...100000") }
        return value
    }

    static func jobs(_ text: String) throws -> Int {
        let value = try OptionValue.integer(text)
        guard (1...256).contains(value) else { throw Mistake("\(value) is out of range 1...256") }
        return value
    }
}
