internal import ArgumentParser
internal import Fleet
internal import FleetStore
internal import LinuxHost

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
