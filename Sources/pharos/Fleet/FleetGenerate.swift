internal import ArgumentParser
internal import Configuration
internal import Fleet
internal import FleetStore
internal import LinuxHost

struct FleetGenerate: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "generate", abstract: "Write one profile a beacon, a manifest, and the lock of the identities.",
        discussion: """
            All files come into their directory at once, or none does. Files that do not change are not touched. The \
            lock lies beside the fleet file and belongs in version control with it.
            """)

    @Argument(help: "A fleet in JSON.", completion: .file())
    var file: String

    @Option(
        name: .shortAndLong,
        help: ArgumentHelp("The directory for the files; made where it is not there.", valueName: "dir"))
    var output: String

    @Flag(help: "Only manifest.json and manifest.csv.")
    var manifestOnly = false

    @Option(
        parsing: .unconditionalSingleValue,
        help: ArgumentHelp("Give up the identity of this beacon, which is gone, for others to have.", valueName: "name")
    )
    var release: [String] = []

    @Flag(help: "Retire all beacons of a fleet that has none any more.")
    var empty = false

    @Flag(help: "Take the identities from the manifest in the directory, in the place of a lock that is lost.")
    var adopt = false

    @Flag(help: "Print one JSON object.")
    var json = false

    func run() throws {
        var options = FleetGeneration.Options()
        (options.releasing, options.manifestOnly) = (release, manifestOnly)
        (options.allowsEmpty, options.adoptsManifest) = (empty, adopt)
        let progress = ProgressLine()
        defer { progress.finish() }
        let generation = try FleetGeneration(file, into: output, options) { progress.report($0, of: $1, "beacons") }
        progress.finish()
        for warning in generation.warnings { Terminal.writeError("pharos: \(warning)\n") }
        show(generation)
    }

    private func show(_ generation: FleetGeneration) {
        let (changes, result, fleet) = (generation.changes, generation.result, generation.fleet)
        if json {
            let record = JSONValue.record([
                ("fleet", .string(fleet.name)), ("beacons", .integer(fleet.beaconCount)),
                ("written", .integer(result.outcome.written)), ("unchanged", .integer(result.outcome.unchanged)),
                ("removed", .integer(result.outcome.removed)), ("lockWritten", .boolean(result.lockWritten)),
                ("added", .integer(changes.added)), ("retired", .array(changes.retired.map { .string($0) })),
                ("revived", .array(changes.revived.map { .string($0) })),
                ("moved", .array(changes.moved.map { .string($0) })), ("renamed", Self.pairs(changes.renamed, "was")),
                ("replacedBoxes", Self.pairs(changes.replacedBoxes, "serial")),
                ("released", .array(changes.released.map { .string($0) })),
            ])
            Terminal.write(record.line + "\n")
            return
        }
        func list(_ what: String, _ names: [String]) {
            guard !names.isEmpty else { return }
            let more = names.count > 20 ? " and \(names.count - 20) more" : ""
            Terminal.write("\(what): \(names.prefix(20).joined(separator: ", "))\(more)\n")
        }
        list("New names, same identities", changes.renamed.map { "\($0.name) (was \($0.other))" })
        list("New boxes, same identities", changes.replacedBoxes.map { "\($0.name) (now \($0.other))" })
        list("Moved, with new numbers", changes.moved)
        list("Back, with their old identities", changes.revived)
        list("Retired, identities kept", changes.retired)
        list("Released", changes.released)
        let outcome = result.outcome
        Terminal.write(
            "\(output): \(outcome.written) written, \(outcome.unchanged) unchanged, \(outcome.removed) removed"
                + (changes.added > 0 ? "; \(changes.added) new identities" : "") + "\n")
    }

    private static func pairs(_ pairs: [FleetAllocation.Changes.Pair], _ key: String) -> JSONValue {
        .array(pairs.map { .record([("name", .string($0.name)), (key, .string($0.other))]) })
    }
}
