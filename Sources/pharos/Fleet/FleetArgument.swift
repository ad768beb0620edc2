internal import ArgumentParser
internal import Fleet

/// A fleet that is named on the command line: its file, the directory that `fleet generate` wrote, or the manifest in it.
struct FleetArgument: ParsableArguments {
    @Argument(
        help: "A fleet in JSON, or what `pharos fleet generate` wrote: its directory, or the manifest.json in it.")
    var fleet: String

    private var named: NamedFleet { NamedFleet(path: fleet) }

    /// The whole manifest.
    func manifest() throws -> FleetManifest { try named.manifest() }

    /// One beacon after the other, so that a million of them need no memory.
    func forEachBeacon(_ body: (FleetManifest.Beacon) -> Void) throws { try named.forEachBeacon(body) }

    /// The directory that the fleet lies in, with its last slash.
    var directory: String { named.directory }
}
