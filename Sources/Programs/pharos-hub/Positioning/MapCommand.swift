internal import ArgumentParser
internal import CommandSupport
internal import Configuration
internal import LinuxHost
internal import Positioning

struct MapCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "map", abstract: "Make a map of received levels, and measure its errors.",
        discussion: """
            pharos map record survey.jsonl --place A3 --position 4,6 --turn
            pharos map fit survey.jsonl --output map.json
            pharos locate map.json
            """,
        subcommands: [
            MapRecord.self, MapCheck.self, MapFit.self, MapShow.self, MapEvaluate.self, MapExport.self,
            MapImport.self, MapUpdateCommand.self, MapSimulate.self, MapSchemaCommand.self,
        ])
}

struct MapSchemaCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "schema", abstract: "Print the JSON Schema of a map, or of one line of a survey.")

    /// The format that the schema describes.
    enum Kind: String, CaseIterable {
        case map
        case survey
    }

    @Argument(
        help: "Format: map or survey (default: map).", completion: .list(Kind.allCases.map(\.rawValue)),
        transform: OptionValue.named)
    var kind: Kind = .map

    func run() throws {
        Terminal.write(kind == .map ? SignalMap.schema : SurveyFormat.schema)
    }
}

struct MapCheck: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "check", abstract: "List the problems of surveys; exit with 1 if one is an error.",
        discussion: """
            pharos map check may.jsonl june.jsonl

            It finds stays (recordings at one place) that are too short, that have only one heading, or that were \
            probably recorded at another place; beacons that were moved or renamed between sessions, that share an \
            identity, or that are useless; and places with nearly equal levels.
            """)

    @Argument(help: "Surveys as JSON Lines or CSV, or - for standard input.", completion: .file())
    var survey: [String] = []

    @OptionGroup var levels: SurveyReadingOptions

    @Flag(help: "Print one JSON object.")
    var json = false

    func validate() throws {
        if survey.isEmpty { throw ValidationError("Give at least one survey.") }
    }

    func run() throws {
        let report = CheckReport(try SurveyFiles(survey, rules: levels.rules))
        Terminal.show(report.text, or: report.json, asJSON: json)
        if !report.isGood { throw Failure(.failure) }
    }
}
