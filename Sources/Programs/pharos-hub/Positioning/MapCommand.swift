internal import ArgumentParser
internal import CommandSupport
internal import LinuxHost
internal import Positioning

struct MapCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "map", abstract: "Make a map of what is heard where, and say how good it is.",
        discussion: """
            pharos map record survey.jsonl --place A3 --position 4,6 --turn
            pharos map fit survey.jsonl --output map.json
            pharos locate map.json
            """, subcommands: subcommands.types)

    private static let subcommands = Subcommands(
        below: "map",
        entries: [
            ("record", { MapRecord.self }),
            ("check", { MapCheck.self }),
            ("fit", { MapFit.self }),
            ("show", { MapShow.self }),
            ("evaluate", { MapEvaluate.self }),
            ("export", { MapExport.self }),
            ("import", { MapImport.self }),
            ("update", { MapUpdateCommand.self }),
            ("simulate", { MapSimulate.self }),
            ("schema", { MapSchemaCommand.self }),
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
