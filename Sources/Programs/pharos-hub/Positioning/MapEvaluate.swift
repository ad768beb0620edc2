internal import ArgumentParser
internal import CommandSupport
internal import Configuration
internal import LinuxHost
internal import Positioning

struct MapEvaluate: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "evaluate", abstract: "Measure the errors of a map or a survey.",
        discussion: """
            pharos map evaluate map.json --test another-day.jsonl
            pharos map evaluate survey.jsonl --leave visit --all-algorithms
            pharos map evaluate map.json --protocol experiment --test static.jsonl

            Without --test, parts of the survey are left out of the map, and located with the rest of the survey. The \
            seconds of one stay (a recording at one place) are nearly identical. So leaving out single seconds gives \
            errors that are too small, but leaving out whole visits does not. --protocol experiment repeats the static \
            test of the thesis of 2014: it runs the four algorithms of the thesis on single seconds, and prints a \
            table of percentages.
            """)

    @Argument(help: "A map with --test, or surveys without it.", completion: .file())
    var files: [String] = []

    @Option(
        help: ArgumentHelp("Compare the map with this survey, JSON Lines or CSV.", valueName: "survey"),
        completion: .file())
    var test: String?

    @Option(
        help: ArgumentHelp(
            "The part to leave out: visit, stay, half, place, session, heading or fingerprint (default: visit, or if "
                + "most places were visited once, stay or half a stay).",
            valueName: "part"),
        completion: .list(["visit", "stay", "half", "place", "session", "heading", "fingerprint"]), transform: Self.part
    )
    var leave: Evaluation.LeftOut?

    @Option(
        help: ArgumentHelp(
            "The algorithm (default: that of the map, or the algorithm that `map fit` chooses).", valueName: "name"),
        completion: .list(Array(MapFit.Choice.names.dropFirst())), transform: OptionValue.named)
    var algorithm: PositioningAlgorithm?

    @Flag(help: "Print a table of all algorithms, and of the baselines if the map has the positions of the beacons.")
    var allAlgorithms = false

    @Option(
        help: ArgumentHelp("experiment: the four algorithms and the table of the thesis of 2014.", valueName: "name"),
        completion: .list(["experiment"]), transform: OptionValue.named)
    var `protocol`: EvaluationRun.Preset?

    @Option(
        help: ArgumentHelp(
            "The penalty that a wrong floor adds to the error, 0...1000 m (default: 15).", valueName: "m"),
        transform: { try OptionValue.number($0, in: 0...1000, "m") })
    var floorPenaltyM: Double = Evaluation.floorPenalty

    @OptionGroup var parameters: AlgorithmOptions
    @OptionGroup var levels: SurveyReadingOptions

    @Flag(help: "Print one JSON object per algorithm.")
    var json = false

    private static func part(_ text: String) throws -> Evaluation.LeftOut {
        let parts = Evaluation.LeftOut.allCases.filter { $0 != .test }
        guard let part = parts.first(where: { $0.rawValue == text }) else {
            throw Mistake("use " + parts.map(\.rawValue).joined(separator: ", "))
        }
        return part
    }

    func validate() throws {
        if files.isEmpty { throw ValidationError("Give a map and --test, or a survey.") }
        if test != nil, leave != nil { throw ValidationError("Give --test or --leave, not both.") }
        if test != nil, files.count > 1 { throw ValidationError("--test takes one map.") }
        if allAlgorithms, algorithm != nil { throw ValidationError("Give --algorithm or --all-algorithms, not both.") }
        if `protocol` != nil, algorithm != nil || allAlgorithms {
            throw ValidationError("--protocol has its own algorithms: leave out --algorithm and --all-algorithms.")
        }
    }

    func run() throws {
        var run = EvaluationRun(floorPenalty: floorPenaltyM)
        run.preset = `protocol`
        if allAlgorithms { run.algorithms = PositioningAlgorithm.allCases }
        if let algorithm { run.algorithms = [algorithm] }
        run.neighbors = parameters.neighbors
        run.adjust = { settings in parameters.apply(to: &settings) }
        let results: [Evaluation]
        if let test {
            let map = try MapFile.read(files[0])
            if allAlgorithms, !map.beaconPositions.isEmpty { run.algorithms += PositioningAlgorithm.baselines }
            let survey = try levels.read([test]).survey
            results = try run.evaluate(map, test: survey, name: test)
        } else {
            let survey = try levels.read(files).survey
            results = try run.evaluate(survey, leaving: leave ?? .suited(to: survey))
        }
        for notice in run.notices { Terminal.writeMessage(notice) }
        if json { return Terminal.write(results.map { $0.json.line + "\n" }.joined()) }
        Terminal.show(EvaluationText.text(results, preset: `protocol`))
    }
}
