internal import ArgumentParser
internal import Planner

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
        let tallies = try MergedTallies(files: files.map { ($0, try InputFile.read($0)) })
        guard tallies.head.program == Pharos.version else {
            throw Failure(
                .dataFormat,
                "these parts were played by version \(tallies.head.program), and this is \(Pharos.version): merge them "
                    + "with that version")
        }
        let words = Array(tallies.head.arguments.dropFirst())
        switch tallies.head.arguments.first {
        case SimulateCollisions.name: try show(SimulateCollisions.parse(words).question(), tallies)
        case SimulateLatency.name: try show(SimulateLatency.parse(words).question(), tallies)
        default: throw Failure(.dataFormat, "\(files[0]): this is no tally of a simulation")
        }
    }

    private func show(_ question: some SimulationQuestion, _ tallies: MergedTallies) throws {
        let outcome = try tallies.outcome(of: question)
        var answer = try question.answer(outcome)
        if outcome.isInterrupted, let needed = question.batchesNeeded(outcome, of: tallies.head.shard) {
            answer.note("Play each part with --batches \(needed) or more.")
        }
        try output.show(answer)
    }
}
