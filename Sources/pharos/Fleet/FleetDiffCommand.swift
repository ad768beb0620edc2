internal import ArgumentParser
internal import Configuration
internal import Fleet
internal import FleetStore
internal import LinuxHost

struct FleetDiffCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "diff", abstract: "Show what a fleet file would change, by beacon and by field.")

    @Argument(help: "A fleet in JSON.", completion: .file())
    var file: String

    @Option(
        help: ArgumentHelp(
            "What it is compared with: a directory that `fleet generate` made, a manifest, or an older fleet file.",
            valueName: "path"), completion: .file())
    var against: String

    @Flag(help: "Print one JSON object.")
    var json = false

    @Flag(help: "End with 1 when anything would change.")
    var exitCode = false

    func run() throws {
        let diff = try FleetComparison.make(file, against: against)
        show(diff)
        if exitCode, !diff.isEmpty { throw Failure(.failure) }
    }

    private func show(_ diff: FleetDiff) {
        if json {
            Terminal.write(Self.json(diff).line + "\n")
            return
        }
        for name in diff.added { Terminal.write("+ \(name)\n") }
        for name in diff.removed { Terminal.write("- \(name)\n") }
        for pair in diff.renamed { Terminal.write("= \(pair.name) (was \(pair.was))\n") }
        for change in diff.changed {
            Terminal.write("~ \(change.name)\n")
            for field in change.fields {
                Terminal.write("    \(field.path): \(field.old ?? "nothing") → \(field.new ?? "nothing")\n")
            }
        }
        Terminal.write(
            "\(diff.added.count) added, \(diff.removed.count) removed, \(diff.renamed.count) renamed, "
                + "\(diff.changed.count) changed, \(diff.unchanged) unchanged\n")
    }

    private static func json(_ diff: FleetDiff) -> JSONValue {
        func value(_ text: String?) -> JSONValue {
            text.flatMap { JSONDocument.parse(Array($0.utf8)).root }.map { JSONValue($0) } ?? .null
        }
        return .record([
            ("added", .array(diff.added.map { .string($0) })), ("removed", .array(diff.removed.map { .string($0) })),
            (
                "renamed",
                .array(diff.renamed.map { .record([("name", .string($0.name)), ("was", .string($0.was))]) })
            ),
            (
                "changed",
                .array(
                    diff.changed.map { change in
                        .record([
                            ("name", .string(change.name)),
                            (
                                "fields",
                                .array(
                                    change.fields.map { field in
                                        .record([
                                            ("path", .string(field.path)), ("old", value(field.old)),
                                            ("new", value(field.new)),
                                        ])
                                    })
                            ),
                        ])
                    })
            ),
            ("unchanged", .integer(diff.unchanged)),
        ])
    }
}

struct FleetSchemaCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "schema", abstract: "Print the JSON Schema of fleet files, for editors.")

    func run() {
        Terminal.write(FleetSchema.text)
    }
}
