internal import ArgumentParser
internal import Configuration
internal import FleetStore
internal import LinuxHost

struct FleetKeysCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "keys", abstract: "Keep the identity keys of beacons with ephemeral ids.",
        subcommands: [
            FleetKeysGenerate.self, FleetKeysAgree.self, FleetKeysCollect.self, FleetKeysResolve.self,
        ])
}

/// The fleet, and where its keys are.
struct FleetKeyOptions: ParsableArguments {
    @OptionGroup var source: FleetArgument

    @Option(
        help: ArgumentHelp(
            "Where the keys are, one file a beacon (default: keys, beside the fleet).",
            valueName: "directory"), completion: .directory)
    var keys: String?

    var fleetKeys: FleetKeys { FleetKeys(of: source.named, in: keys) }
}

/// What became of each beacon's key, for people and for programs.
struct KeyReportText {
    let report: FleetKeys.Report
    let directory: KeyDirectory

    private var json: JSONValue {
        .record([
            ("directory", .string(directory.path)), ("made", .array(report.made.map(JSONValue.string))),
            ("replaced", .array(report.replaced.map(JSONValue.string))),
            ("kept", .array(report.kept.map(JSONValue.string))),
        ])
    }

    func show(asJSON: Bool) {
        if asJSON { return Terminal.write(json.line + "\n") }
        guard !(report.made + report.replaced + report.kept).isEmpty else {
            return Terminal.write("No beacon of this fleet has ephemeral ids or encrypted telemetry.\n")
        }
        let parts = [(report.made, "made"), (report.replaced, "replaced"), (report.kept, "kept")]
            .filter { !$0.0.isEmpty }
        Terminal.write(
            "Identity keys in \(directory.path): " + parts.map { "\($0.0.count) \($0.1)" }.joined(separator: ", ")
                + "\n")
    }
}

struct FleetKeysGenerate: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "generate",
        abstract: "Make a random identity key for every beacon that needs one and has none.",
        discussion: "Keys that are there stay as they are, unless --replace names their beacon.")

    @OptionGroup var options: FleetKeyOptions

    @Option(
        help: ArgumentHelp("Give this beacon a new key; may be given more than once.", valueName: "name"))
    var replace: [String] = []

    @Flag(help: "Print one JSON object.")
    var json = false

    func run() throws {
        let keys = options.fleetKeys
        KeyReportText(report: try keys.generate(replacing: replace), directory: keys.directory).show(asJSON: json)
    }
}
