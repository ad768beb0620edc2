internal import ArgumentParser
internal import CommandSupport
internal import Configuration
internal import Fleet
internal import FleetStore
internal import LinuxHost
internal import Planner

struct FleetCheck: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "check",
        abstract: "List every problem of a fleet, its tables and its lock; exit 1 when there is an error.")

    @Argument(help: "A fleet in JSON.", completion: .file())
    var file: String

    @Flag(help: "Print one JSON object.")
    var json = false

    func run() throws {
        let progress = ProgressLine()
        defer { progress.finish() }
        var files = try FleetFiles(file)
        let report = try files.check { progress.report($0, of: $1, "beacons") }
        progress.finish()
        let airtime = FleetAirtime(report?.traffic ?? FleetTraffic())
        if let fleet = files.fleet { files.add(airtime.warnings(for: fleet)) }
        let isGood = report != nil && !files.hasErrors
        Terminal.write(
            json ? Self.json(files, airtime, isGood: isGood).line + "\n" : Self.text(files, airtime, isGood: isGood))
        if files.problems.contains(where: { $0.kind == .missing }) { throw Failure(.noInput) }
        if !isGood { throw Failure(.failure) }
    }

    /// One line a problem; for a good fleet also its size and a row for each site.
    private static func text(_ files: FleetFiles, _ airtime: FleetAirtime, isGood: Bool) -> String {
        let problems = files.problems.map { "\($0)\n" }.joined()
        guard isGood, let fleet = files.fleet else { return problems }
        let beacons = fleet.beaconCount == 1 ? "1 beacon" : "\(fleet.beaconCount) beacons"
        return problems + "\(files.file): good, \(beacons) in the fleet \(fleet.name)\n" + airtime.text
    }

    private static func json(_ files: FleetFiles, _ airtime: FleetAirtime, isGood: Bool) -> JSONValue {
        .record([
            ("file", .string(files.file)), ("good", .boolean(isGood)),
            ("beacons", .optional(files.fleet?.beaconCount) { .integer($0) }),
            ("sites", airtime.json), ("problems", .array(files.problems.map(\.json))),
        ])
    }
}

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
        let diff = try FleetDiff(of: file, against: against)
        Terminal.write(json ? diff.json.line + "\n" : diff.text)
        if exitCode, !diff.isEmpty { throw Failure(.failure) }
    }
}

struct FleetList: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "list", abstract: "List the beacons of a fleet and what they send.",
        discussion: """
            One line for each advertisement. With --json, one line for each beacon, with the keys of manifest.json.
            """)

    @OptionGroup var source: FleetArgument
    @OptionGroup var filter: BeaconFilter

    @Option(
        help: ArgumentHelp("Only advertisements of this type, such as ibeacon. May be repeated.", valueName: "type"))
    var type: [String] = []

    @Flag(help: "Print one JSON object a line for each beacon.")
    var json = false

    func run() throws {
        let beacons = try filter.apply(to: try source.manifest().beacons, of: source.fleet)
        let table = BeaconTable(beacons, types: type)
        Terminal.write(json ? table.lines : table.text)
    }
}

struct FleetStatus: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "status",
        abstract:
            "Show the beacons that are silent or send something else than the fleet wants; exit 1 when there are any.",
        discussion: """
            --ssh queries every machine with `pharos status --json`, several at a time. --from reads files that were gathered \
            otherwise: what /run/pharos/NAME.status.json or `pharos status --json` held, in one directory or in one \
            directory for each machine.
            """)

    @OptionGroup var source: FleetArgument

    @Option(help: ArgumentHelp("Read status files from here.", valueName: "directory"), completion: .directory)
    var from: String?

    @Flag(help: "Query every machine by ssh, which has to work without a password.")
    var ssh = false

    @Option(help: ArgumentHelp("Machines to query in parallel (1...256).", valueName: "n"))
    var parallel: Int = 16

    @Option(help: ArgumentHelp("Seconds to wait for the answer of a machine (1...3600).", valueName: "s"))
    var timeoutS: Int = 20

    @Option(
        help: ArgumentHelp(
            "Seconds after which a beacon that has not verified its radio counts as silent.", valueName: "s"))
    var staleAfterS: Int = 60

    @Flag(help: "List also the beacons that are as they should be.")
    var all = false

    @Flag(help: "Print one JSON object.")
    var json = false

    func validate() throws {
        guard ssh != (from != nil) else { throw ValidationError("Say where to look: --ssh, or --from DIRECTORY.") }
        for (name, value, range) in [
            ("--parallel", parallel, 1...256), ("--timeout-s", timeoutS, 1...3600),
            ("--stale-after-s", staleAfterS, 1...Int(Int32.max)),
        ] where !range.contains(value) {
            throw ValidationError(
                "\(name) \(value) is out of range \(range.lowerBound)...\(range.upperBound).")
        }
    }

    func run() throws {
        let manifest = try source.manifest()
        var heard = StatusGathering()
        if let from {
            try heard.read(from)
        } else {
            try heard.ask(manifest.beacons, parallel: parallel, timeoutSeconds: timeoutS)
        }
        let now = RFC3339Time(secondsSince1970: Int(WallClock.microseconds() / 1_000_000))
        let condition = FleetCondition(
            manifest, heard.reports, reasons: heard.reasons, now: now, staleAfter: staleAfterS)
        for problem in heard.problems { Terminal.writeError("pharos: \(problem)\n") }
        Terminal.write(
            json
                ? condition.json(of: manifest.fleet, at: now).line + "\n"
                : condition.text(of: manifest.fleet, at: now, all: all))
        if !condition.isGood { throw Failure(.failure) }
    }
}
