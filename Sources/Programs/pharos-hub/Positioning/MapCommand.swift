internal import ArgumentParser
internal import CommandSupport
internal import LinuxHost
internal import Positioning

struct MapCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "map", abstract: "Make a map of received levels, and measure how good it is.",
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
        commandName: "schema", abstract: "Print the JSON Schema of maps, or of a survey's lines.")

    /// What is described.
    enum Kind: String, CaseIterable {
        case map
        case survey
    }

    @Argument(
        help: "map or survey (default: map).", completion: .list(Kind.allCases.map(\.rawValue)),
        transform: MapValue.named)
    var kind: Kind = .map

    func run() throws {
        Terminal.write(kind == .map ? PositioningSchema.map : PositioningSchema.survey)
    }
}
