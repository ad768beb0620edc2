internal import ArgumentParser
internal import Fleet
internal import FleetStore
internal import LinuxHost

struct FleetCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "fleet", abstract: "Make and check the profiles of many machines from one file.",
        discussion: """
            One JSON file, with a table where there is one, says what all boxes send. Try `pharos fleet init museum`, \
            then `pharos fleet check museum.json` and `pharos fleet generate museum.json --output museum`.
            """,
        subcommands: [
            FleetInit.self, FleetCheck.self, FleetList.self, FleetGenerate.self, FleetDiffCommand.self,
            FleetStatus.self, FleetLabels.self, FleetKeysCommand.self, FleetExport.self, FleetSchemaCommand.self,
        ])
}

/// A fleet that is named on the command line: its file, the directory that `fleet generate` wrote, or the manifest in it.
struct FleetArgument: ParsableArguments {
    @Argument(
        help: "A fleet in JSON, or what `pharos fleet generate` wrote: its directory, or the manifest.json in it.",
        completion: .file())
    var fleet: String

    var named: NamedFleet { NamedFleet(path: fleet) }

    /// The whole manifest.
    func manifest() throws -> FleetManifest {
        let progress = ProgressLine()
        defer { progress.finish() }
        return try named.manifest { progress.report($0, of: $1, "beacons") }
    }
}

/// Which beacons of a fleet are meant: those that satisfy every option that is given.
struct BeaconFilter: ParsableArguments {
    @Option(help: ArgumentHelp("Only this beacon. May be repeated.", valueName: "name"))
    var beacon: [String] = []

    @Option(help: ArgumentHelp("Only beacons of this site. May be repeated.", valueName: "name"))
    var site: [String] = []

    @Option(
        help: ArgumentHelp("Only beacons of this group, such as museum/ground. May be repeated.", valueName: "path"),
        completion: .file())
    var group: [String] = []

    /// The beacons that are left, in their order.
    func apply(to beacons: [FleetManifest.Beacon], of fleet: String) throws -> [FleetManifest.Beacon] {
        try BeaconSelection(names: beacon, sites: site, groups: group).beacons(of: beacons, in: fleet)
    }
}
