internal import ArgumentParser
internal import Configuration
internal import Fleet
internal import FleetStore
internal import LinuxHost

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
        let text = FleetStatusText(manifest.fleet, condition, now)
        Terminal.write(json ? text.json.line + "\n" : text.table(all: all))
        if !condition.isGood { throw Failure(.failure) }
    }
}
