internal import ArgumentParser
internal import BeaconFrames
internal import BluetoothTypes
internal import CommandSupport
internal import Configuration
internal import Fleet
internal import FleetStore
internal import LinuxHost
internal import Planner

struct FleetCheck: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "check",
        abstract: "List every problem of a fleet, its tables and its lock. Exit with 1 if there is an error.")

    @Argument(help: "The fleet file.", completion: .file())
    var file: String

    @Flag(help: "Print one JSON object.")
    var json = false

    func run() throws {
        let progress = ProgressLine()
        defer { progress.finish() }
        var files = try FleetFiles(file)
        let traffic = try files.check { progress.report($0, of: $1, "beacons") }
        progress.finish()
        let airtime = FleetAirtime(traffic ?? FleetTraffic())
        if let fleet = files.fleet { files.add(airtime.warnings(for: fleet)) }
        let isGood = traffic != nil && !files.hasErrors
        Terminal.show(
            Self.text(files, airtime, isGood: isGood), or: Self.json(files, airtime, isGood: isGood), asJSON: json)
        if files.problems.contains(where: { $0.kind == .missing }) { throw Failure(.noInput) }
        if !isGood { throw Failure(.failure) }
    }

    /// Returns a line for each problem. If the fleet has no error, also returns its size and a row for each site.
    private static func text(_ files: FleetFiles, _ airtime: FleetAirtime, isGood: Bool) -> String {
        let problems = files.problems.map { "\($0)\n" }.joined()
        guard isGood, let fleet = files.fleet else { return problems }
        let beacons = NumberFormat.count(fleet.beaconCount, "beacon")
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
        commandName: "diff",
        abstract: "Show the changes that a fleet file would make, by group or beacon and by field.",
        discussion: """
            If several beacons of a group are new (+), gone (-), renamed (=) or changed (~), the group has one line. \
            --each prints every beacon.
            """)

    @Argument(help: "The fleet file.", completion: .file())
    var file: String

    @Option(
        help: ArgumentHelp(
            "The former fleet: a directory that `fleet generate` wrote, a manifest, or an older fleet file.",
            valueName: "path"), completion: .file())
    var against: String

    @Flag(help: "Print one JSON object.")
    var json = false

    @Flag(help: "Print every beacon with its values that differ.")
    var each = false

    @Flag(help: "Exit with 1 if anything would change.")
    var exitCode = false

    func run() throws {
        let diff = try FleetDiff(of: file, against: against)
        for warning in try FleetDiff.warnings(of: file, against: against) { Terminal.writeMessage(warning) }
        Terminal.show(each ? diff.fullText : diff.text, or: diff.json, asJSON: json)
        if exitCode, !diff.isEmpty { throw Failure(.failure) }
    }
}

struct FleetList: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "list", abstract: "List the beacons of a fleet and their advertisements.",
        discussion: """
            One line for each advertisement. With --json, one line for each beacon, with the keys of manifest.json.
            """)

    @OptionGroup var source: FleetArgument
    @OptionGroup var filter: BeaconFilter

    @Option(
        help: ArgumentHelp("Only advertisements of this type, such as ibeacon. May be repeated.", valueName: "type"),
        completion: .list(frameTypes), transform: frameType)
    var type: [String] = []

    @Flag(help: "Print one line of JSON for each beacon.")
    var json = false

    private static let frameTypes = FrameKind.allCases.map(\.rawValue)

    private static func frameType(_ text: String) throws -> String {
        guard frameTypes.contains(text) else { throw OptionValue.unknown(text, frameTypes) }
        return text
    }

    func run() throws {
        let beacons = try filter.apply(to: try source.manifest().beacons, of: source.fleet)
        let table = BeaconTable(beacons, types: type)
        if json {
            Terminal.write(table.lines)
        } else {
            Terminal.show(table.text)
        }
    }
}

struct FleetStatus: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "status",
        abstract:
            "Show beacons that are silent or send other values than the fleet has. Exit with 1 if there are any.",
        discussion: """
            --ssh runs `pharos status --json` on every machine, on several at a time. --from reads files that you have \
            collected: copies of /run/pharos/NAME.status.json, or outputs of `pharos status --json`, in one directory \
            or in a directory for each machine.
            """)

    @OptionGroup var source: FleetArgument

    @Option(
        help: ArgumentHelp("Read status files from this directory.", valueName: "directory"), completion: .directory)
    var from: String?

    @Flag(help: "Query every machine by ssh, which must work without a password.")
    var ssh = false

    @Option(help: ArgumentHelp("Machines to query in parallel (1...256).", valueName: "n"))
    var parallel: Int = 16

    @Option(
        help: ArgumentHelp("Seconds to wait for the answer of a machine (1...3600).", valueName: "s"),
        transform: { try OptionValue.seconds($0, in: 0...Int(Int32.max)) })
    var timeoutS: Int = 20

    @Option(
        help: ArgumentHelp(
            "A beacon counts as silent this long after its last verification.", valueName: "s"),
        transform: { try OptionValue.seconds($0, in: 0...Int(Int32.max)) })
    var staleAfterS: Int = 60

    @Flag(help: "List also the beacons without problems.")
    var all = false

    @Flag(help: "Print one JSON object.")
    var json = false

    func validate() throws {
        guard ssh != (from != nil) else { throw ValidationError("Give either --ssh or --from DIRECTORY.") }
        try OptionValue.check("--parallel", parallel, in: 1...256)
        try OptionValue.check("--timeout-s", timeoutS, in: 1...3600)
        try OptionValue.check("--stale-after-s", staleAfterS, in: 1...Int(Int32.max))
    }

    func run() throws {
        let manifest = try source.manifest()
        var gathering = StatusGathering()
        if let from {
            try gathering.read(from)
        } else {
            try gathering.query(manifest.beacons, parallel: parallel, timeoutSeconds: timeoutS)
        }
        let now = RFC3339Time.now
        let condition = FleetCondition(
            manifest, gathering.reports, reasons: gathering.reasons, now: now, staleAfter: staleAfterS)
        for problem in gathering.problems { Terminal.writeMessage(problem) }
        Terminal.show(
            condition.text(of: manifest.fleet, at: now, all: all), or: condition.json(of: manifest.fleet, at: now),
            asJSON: json)
        if !condition.isGood { throw Failure(.failure) }
    }
}
