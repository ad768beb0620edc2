internal import ArgumentParser
internal import CommandSupport
internal import Fleet
internal import FleetStore
internal import LinuxHost

struct FleetCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "fleet", abstract: "Make and check the profiles of many machines from one file.",
        discussion: """
            A fleet is a JSON file, with or without a CSV table, from which the profiles of all machines are made. Example:

              pharos fleet init museum
              pharos fleet check museum.json
              pharos fleet generate museum.json --output museum
            """,
        subcommands: [
            FleetInit.self, FleetCheck.self, FleetList.self, FleetGenerate.self, FleetDiffCommand.self,
            FleetRename.self, FleetStatus.self, FleetLabels.self, FleetKeysCommand.self, FleetExport.self,
            FleetSchemaCommand.self,
        ])
}

/// The argument that names a fleet: the fleet file, the directory that `fleet generate` wrote, or the manifest in it.
struct FleetArgument: ParsableArguments {
    @Argument(
        help: "The fleet file, the directory that `pharos fleet generate` wrote, or the manifest.json in it.",
        completion: .file())
    var fleet: String

    var named: NamedFleet { NamedFleet(path: fleet) }

    /// Reads or generates the manifest of the whole fleet, and shows the progress.
    func manifest() throws -> FleetManifest {
        let progress = ProgressLine()
        defer { progress.finish() }
        return try named.manifest { progress.report($0, of: $1, "beacons") }
    }
}

/// The options that select beacons of a fleet. A beacon must match all given options.
struct BeaconFilter: ParsableArguments {
    @Option(help: ArgumentHelp("Only this beacon. May be repeated.", valueName: "name"))
    var beacon: [String] = []

    @Option(help: ArgumentHelp("Only beacons of this site. May be repeated.", valueName: "name"))
    var site: [String] = []

    @Option(
        help: ArgumentHelp("Only beacons of this group, such as museum/ground. May be repeated.", valueName: "path"),
        completion: .file())
    var group: [String] = []

    var selection: BeaconSelection { BeaconSelection(names: beacon, sites: site, groups: group) }

    /// Returns the selected beacons, in the order of `beacons`.
    func apply(to beacons: [FleetManifest.Beacon], of fleet: String) throws -> [FleetManifest.Beacon] {
        let selectedBeacons = try selection.beacons(of: beacons, in: fleet)
        guard !selectedBeacons.isEmpty || beacons.isEmpty else {
            throw Failure(.usage, "\(fleet): no beacon matches all of the given options")
        }
        return selectedBeacons
    }
}
