internal import Configuration
public import Fleet
internal import LinuxHost

extension FleetDiff {
    /// Compares the fleet file at `file` with what was generated before.
    ///
    /// - Parameter path: A directory that `fleet generate` wrote, a manifest (JSON or CSV), or an older fleet file. An
    ///   older fleet file without a lock of its own gets the identities of today's lock.
    public init(of file: String, against path: String) throws(FleetStoreError) {
        var files = try FleetFiles(file)
        let (fleet, allocation) = try files.allocated()
        let new = try files.manifest(fleet, allocation)
        self.init(from: try Self.oldManifest(path, allocation.lock), to: new)
    }

    private static func oldManifest(_ name: String, _ lock: FleetLock) throws(FleetStoreError) -> FleetManifest {
        let path = Files.isDirectory(name) ? name + "/manifest.json" : name
        let octets = try SourceFile.readNamed(path, limit: 1 << 30)
        guard path.hasSuffix(".csv") || octets.starts(with: FleetManifest.firstOctets) else {
            var files = try FleetFiles(path)
            return try files.manifest(lock: lock)
        }
        let (manifest, problems) =
            path.hasSuffix(".csv") ? FleetManifest.decodeCSV(octets, fleet: "old") : FleetManifest.decode(octets)
        guard let manifest else { throw FleetStoreError(.malformed, problems.map { $0.text(file: path) }) }
        return manifest
    }
}
