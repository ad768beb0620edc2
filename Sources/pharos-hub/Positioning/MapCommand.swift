internal import ArgumentParser
internal import CommandSupport

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
            ("schema", { MapSchemaCommand.self }),
        ])
}
