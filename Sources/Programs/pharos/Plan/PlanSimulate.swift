internal import Airtime
internal import ArgumentParser
internal import CommandSupport
internal import LinuxHost
internal import Planner

struct PlanSimulate: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "simulate",
        abstract: "Answer questions by simulation, and compare the results with those of the models.",
        discussion: """
            The same --seed gives the same numbers on any number of cores. After Ctrl-C, the simulation prints the \
            result so far and exits with status 1. --shard 2/8 simulates one of eight parts, on any machine, and \
            prints the counts of this part. `merge` adds up the counts of all parts, which gives exactly the result of \
            a single run.
            """,
        subcommands: [SimulateCollisions.self, SimulateLatency.self, SimulateMerge.self])
}

/// The options that all simulations have.
struct SimulationOptions: ParsableArguments {
    @Option(
        parsing: .unconditional,
        help: ArgumentHelp("Seed; the same seed gives the same numbers (default: 1).", valueName: "number"))
    var seed: UInt64 = 1

    @Option(
        parsing: .unconditional,
        help: ArgumentHelp(
            "Relative precision at which the simulation stops (default: 0.01): that of the collision-free share, or of the time "
                + "within which 95 % are found.", valueName: "share"),
        transform: PlanValue.precision)
    var precision: Double = 0.01

    @Option(
        parsing: .unconditional,
        help: ArgumentHelp("Threads (default: one for each processor).", valueName: "n"), transform: PlanValue.jobs)
    var jobs: Int?

    @Option(
        help: ArgumentHelp(
            "Simulate one of several parts, and print its counts for plan simulate merge.",
            valueName: "part/parts"), transform: PlanValue.shard)
    var shard: SimulationShard?

    @Option(
        parsing: .unconditional,
        help: ArgumentHelp(
            "Minimum number of batches (independent repetitions) of a part (default: enough for the precision).",
            valueName: "n"),
        transform: PlanValue.batches)
    var batches: Int?

    /// The options that may differ between the parts of a simulation, and so do not belong to the question.
    private static let optionsOfParts = ["--shard", "--batches", "--jobs", "--html"]

    func validate(with output: PlanOutput) throws {
        if shard == nil, batches != nil { throw ValidationError("--batches needs --shard.") }
        if shard != nil, output.json || output.html != nil {
            throw ValidationError("A part has no answer; use --json or --html with plan simulate merge.")
        }
    }

    /// Simulates until the precision is reached or Ctrl-C is pressed, and prints the answer. With --shard, simulates
    /// one part and prints its counts.
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
            program: CommandProgram.version, arguments: [name] + Self.questionArguments(after: name),
            scene: question.sceneHash, shard: shard)
        Terminal.write(head.line + "\n")
        let isWhole = try runner.runPart(shard, atLeast: batches ?? 0, watch.report) { Terminal.write($0 + "\n") }
        if !isWhole { throw Failure(.failure, "stopped before this part was complete; its counts are incomplete") }
    }

    /// Returns the arguments that determine the question.
    private static func questionArguments(after name: String) -> [String] {
        var words: [String] = []
        var isValue = false
        for word in CommandLine.arguments.drop(while: { $0 != name }).dropFirst() {
            defer { isValue = optionsOfParts.contains(word) }
            if isValue || optionsOfParts.contains(String(word.prefix { $0 != "=" })) { continue }
            words.append(word)
        }
        return words
    }
}

/// A command that answers a question by simulation.
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
        try output.refuseOverwriting([fleet.source.fromFleet])
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
        help: ArgumentHelp(
            "Capture: a packet survives a collision with packets that are together this many dB weaker.",
            valueName: "dB"),
        transform: PlanValue.number)
    var captureDb: Double?

    @Option(
        help: ArgumentHelp(
            "Range of the time between the copies of an advertisement on the three channels. Each device has its own time.",
            valueName: "ms..ms"),
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
        help: ArgumentHelp("Show the share that is not found after this time; repeatable.", valueName: "s"),
        transform: PlanValue.seconds)
    var undiscoveredAfterS: [Double] = []

    @OptionGroup var simulation: SimulationOptions
    @OptionGroup var output: PlanOutput

    func question() throws -> SimulatedLatency {
        let air = try fleet.air(interval)
        let scanners = try receiver.mix
        try air.check(scanners, receiving: receiver.scannerPhy)
        return try SimulatedLatency(
            air: air, scanners: scanners, undiscoveredAfter: undiscoveredAfterS,
            seed: simulation.seed, precision: simulation.precision)
    }
}

struct SimulateMerge: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "merge", abstract: "Add up the counts of all parts of a simulation.",
        discussion: """
            Example: for i in 1 2 3 4; do pharos plan simulate collisions --beacons 250 --interval-ms 100 --seed 7 \
            --shard $i/4 > part-$i.jsonl; done; pharos plan simulate merge part-*.jsonl
            """)

    @Argument(help: "Files with the counts of all parts, in any order.", completion: .file())
    var files: [String]

    @OptionGroup var output: PlanOutput

    func validate() throws { try output.refuseOverwriting(files) }

    func run() throws {
        let tallies = try MergedTallies(
            files: files.map { ($0, try InputFile.read($0)) }, program: CommandProgram.version)
        let words = Array(tallies.head.arguments.dropFirst())
        switch tallies.head.arguments.first {
        case SimulateCollisions.name:
            try output.show(tallies.answer(to: SimulateCollisions.parse(words).question()))
        case SimulateLatency.name: try output.show(tallies.answer(to: SimulateLatency.parse(words).question()))
        default: throw Failure(.dataFormat, "\(files[0]): this file does not contain the counts of a simulation")
        }
    }
}
