internal import Airtime
internal import ArgumentParser
internal import CommandSupport
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
        let runner = SimulationRunner(question, threads: jobs ?? Processors.count)
        let watch = try PlanWatch()
        defer { watch.finish() }
        guard let shard else {
            let outcome = try runner.run(watch.report)
            watch.finish()
            return try output.show(question.answer(outcome))
        }
        let head = TallyHead(
            program: CommandProgram.version, arguments: [name] + Self.asked(after: name), scene: question.sceneName,
            shard: shard)
        Terminal.write(head.line + "\n")
        let isWhole = try runner.play(shard, atLeast: batches ?? 0, watch.report) { Terminal.write($0 + "\n") }
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

/// A simulation of the beacons that a question is about.
protocol SimulationCommand: ParsableCommand {
    associatedtype Question: SimulationQuestion

    static var name: String { get }
    var fleet: PlanFleetOptions { get }
    var interval: PlanIntervalOption { get }
    var simulation: SimulationOptions { get }
    var output: PlanOutput { get }

    func question() throws -> Question
}

extension SimulationCommand {
    func validate() throws {
        try interval.validate(with: fleet.source)
        try simulation.validate(with: output)
    }

    func run() throws { try simulation.run(question(), named: Self.name, output) }
}

struct SimulateCollisions: SimulationCommand {
    static let name = "collisions"
    static let configuration = CommandConfiguration(
        commandName: name, abstract: "Simulate collisions, packet by packet.",
        discussion: "Example: pharos plan simulate collisions --beacons 250 --interval-ms 100 --seed 7")

    @OptionGroup var fleet: PlanFleetOptions
    @OptionGroup var interval: PlanIntervalOption
    @OptionGroup var background: PlanBackgroundOptions

    @Option(
        parsing: .unconditional,
        help: ArgumentHelp("Capture: a packet survives others that together are this many dB weaker.", valueName: "dB"),
        transform: PlanValue.number)
    var captureDb: Double?

    @Option(
        help: ArgumentHelp("Spacing of the copies, a value of this range for each device.", valueName: "ms..ms"),
        transform: PlanValue.copySpacing)
    var copySpacingMs: CopySpacing?

    @OptionGroup var simulation: SimulationOptions
    @OptionGroup var output: PlanOutput

    func question() throws -> SimulatedCollisions {
        try SimulatedCollisions(
            air: fleet.air(interval), background: background.load, captureDecibels: captureDb,
            copySpacing: copySpacingMs, seed: simulation.seed, precision: simulation.precision)
    }
}

struct SimulateLatency: SimulationCommand {
    static let name = "latency"
    static let configuration = CommandConfiguration(
        commandName: name, abstract: "Simulate the time to discovery, packet by packet.",
        discussion: """
            Example: pharos plan simulate latency --beacons 100 --interval-ms 100 --scanner android-low-latency --seed 7
            """)

    @OptionGroup var fleet: PlanFleetOptions
    @OptionGroup var interval: PlanIntervalOption
    @OptionGroup var receiver: PlanScannerOptions

    @Option(
        parsing: .upToNextOption,
        help: ArgumentHelp("Tell the share that is not yet received after so many seconds.", valueName: "s"),
        transform: PlanValue.seconds)
    var undiscoveredAfterS: [Double] = []

    @OptionGroup var simulation: SimulationOptions
    @OptionGroup var output: PlanOutput

    func question() throws -> SimulatedLatency {
        try SimulatedLatency(
            air: fleet.air(interval), scanner: receiver.presetOrContinuous, undiscoveredAfter: undiscoveredAfterS,
            seed: simulation.seed, precision: simulation.precision)
    }
}

struct SimulateMerge: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "merge", abstract: "Put the tallies of all parts of a simulation together.",
        discussion: """
            Example: for i in 1 2 3 4; do pharos plan simulate collisions --beacons 250 --interval-ms 100 --seed 7 \
            --shard $i/4 > part-$i.jsonl; done; pharos plan simulate merge part-*.jsonl
            """)

    @Argument(help: "The tallies of all parts, in any order.", completion: .file())
    var files: [String]

    @OptionGroup var output: PlanOutput

    func run() throws {
        let tallies = try MergedTallies(
            files: files.map { ($0, try InputFile.read($0)) }, program: CommandProgram.version)
        let words = Array(tallies.head.arguments.dropFirst())
        switch tallies.head.arguments.first {
        case SimulateCollisions.name:
            try output.show(tallies.answer(to: SimulateCollisions.parse(words).question()))
        case SimulateLatency.name: try output.show(tallies.answer(to: SimulateLatency.parse(words).question()))
        default: throw Failure(.dataFormat, "\(files[0]): this is no tally of a simulation")
        }
    }
}
