internal import ArgumentParser
internal import FleetStore
internal import LinuxHost

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
