internal import ArgumentParser
internal import Configuration
internal import Fleet
internal import LinuxHost

struct FleetDiffCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "diff", abstract: "Says what a fleet file would change, by beacon and by field.")

    @Argument(help: "A fleet in JSON.")
    var file: String

    @Option(
        help: ArgumentHelp(
            "What it is compared with: a folder that `fleet generate` made, a manifest, or an older fleet file.",
            valueName: "path"))
    var against: String

    @Flag(help: "One JSON object.")
    var json = false

    func run() throws {
        var files = try FleetFiles(file)
        guard !files.hasErrors, let fleet = files.fleet, let allocation = files.allocate() else { throw files.refusal }
        files.add(fleet.check(allocation).problems)
        guard !files.hasErrors else { throw files.refusal }
        let old = try oldManifest(allocation.lock)
        let diff: FleetDiff
        do throws(FileProblem) {
            diff = try FleetDiff(from: old, to: FleetGenerator(fleet, allocation))
        } catch {
            throw Failure(.dataFormat, error.text(file: against))
        }
        show(diff)
    }

    /// The text of a manifest, whatever was named.
    private func oldManifest(_ lock: FleetLock) throws -> [UInt8] {
        let path = Files.exists(against + "/.") ? against + "/manifest.json" : against
        let octets = try InputFile.read(path)
        if path.hasSuffix(".csv") {
            let (manifest, problems) = FleetManifest.decodeCSV(octets, fleet: "old")
            guard let manifest else {
                throw Failure(.dataFormat, problems.map { $0.text(file: path) }.joined(separator: "\npharos: "))
            }
            return Array(manifest.json.utf8)
        }
        if octets.starts(with: FleetManifest.firstOctets) { return octets }
        return try oldFleet(path, lock)
    }

    /// What an older fleet file would generate, with its own lock or, where it has none, with the one of today.
    private func oldFleet(_ path: String, _ lock: FleetLock) throws -> [UInt8] {
        let files = try FleetFiles(path)
        guard !files.hasErrors, let fleet = files.fleet else { throw files.refusal }
        let now = RFC3339Time(secondsSince1970: Int(WallClock.microseconds() / 1_000_000))
        let (allocation, problems) = FleetAllocation.make(fleet, lock: files.lock ?? lock, now: now)
        guard !problems.contains(where: \.isError) else {
            throw Failure(.configuration, problems.map(\.description).joined(separator: "\npharos: "))
        }
        let generator = FleetGenerator(fleet, allocation)
        var text = generator.manifestStart
        while generator.next() { text += generator.manifestLine }
        return text + generator.manifestEnd
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
        commandName: "schema", abstract: "Prints the JSON Schema of fleet files, for editors.")

    func run() {
        Terminal.write(FleetSchema.text)
    }
}
