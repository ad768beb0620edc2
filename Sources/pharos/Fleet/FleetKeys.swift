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

extension FleetKeys {
    /// Prints what became of each beacon's key.
    func show(_ report: Report, asJSON: Bool) {
        Terminal.write(asJSON ? json(of: report).line + "\n" : text(of: report))
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
        let progress = ProgressLine()
        let report = try keys.generate(replacing: replace) { progress.report($0, of: $1, "keys") }
        keys.show(report, asJSON: json)
    }
}

struct FleetKeysCollect: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "collect",
        abstract: "Copy the keys of a fleet into one file, in which `resolve` finds an id fast.",
        discussion: """
            The file is for its owner alone, as the keys are, and holds what they were when it was made: collect them \
            anew when keys are replaced and when beacons come or go. `pharos fleet keys resolve ID FILE` takes it in \
            place of the fleet.
            """)

    @OptionGroup var options: FleetKeyOptions

    @Option(name: .shortAndLong, help: ArgumentHelp("Where to write them.", valueName: "file"), completion: .file())
    var output: String

    func run() throws {
        let (collected, withoutKey) = try KeyRingFile.collect(options.fleetKeys, to: output)
        Terminal.write("\(output): \(collected) identity keys, which nobody else may read\n")
        if withoutKey > 0 {
            Terminal.writeError("pharos: \(withoutKey) beacons have no key in \(options.fleetKeys.directory.path)\n")
        }
    }
}
