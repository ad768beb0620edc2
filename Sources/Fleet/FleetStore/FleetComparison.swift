internal import Configuration
public import Fleet
internal import LinuxHost

/// What a fleet file would change of what was generated before.
public enum FleetComparison {
    /// Compares the fleet file at `file` with what `path` names: a directory that `fleet generate` wrote, a manifest
    /// (JSON or CSV), or an older fleet file, which has its own lock or, where it has none, the one of today.
    public static func make(_ file: String, against path: String) throws(FleetStoreError) -> FleetDiff {
        var files = try FleetFiles(file)
        let (fleet, allocation) = try files.allocated()
        let old = Result { () throws(FleetStoreError) in try oldManifest(path, allocation.lock) }
        let inspection = FleetInspection(fleet, allocation)
        let generator = FleetGenerator(fleet, allocation, inspection: inspection)
        let diff = Result { () throws(FileProblem) in try FleetDiff(from: (try? old.get()) ?? [], to: generator) }
        // What is wrong with the fleet itself comes first, also of beacons that no one compared any more.
        while generator.next() {}
        var checker = FleetChecker(inspection)
        checker.add(generator.findings)
        files.add(checker.report().problems)
        guard !files.hasErrors else { throw files.refusal }
        _ = try old.get()
        do throws(FileProblem) {
            return try diff.get()
        } catch {
            throw FleetStoreError(.malformed, error.text(file: path))
        }
    }

    /// The text of a manifest, whatever was named.
    private static func oldManifest(_ name: String, _ lock: FleetLock) throws(FleetStoreError) -> [UInt8] {
        let path = Files.isDirectory(name) ? name + "/manifest.json" : name
        let octets = try SourceFile.readNamed(path, limit: 1 << 30)
        if path.hasSuffix(".csv") {
            let (manifest, problems) = FleetManifest.decodeCSV(octets, fleet: "old")
            guard let manifest else {
                throw FleetStoreError(.malformed, problems.map { $0.text(file: path) })
            }
            return Array(manifest.json.utf8)
        }
        if octets.starts(with: FleetManifest.firstOctets) { return octets }
        return try oldFleet(path, lock)
    }

    private static func oldFleet(_ path: String, _ lock: FleetLock) throws(FleetStoreError) -> [UInt8] {
        let files = try FleetFiles(path)
        guard !files.hasErrors, let fleet = files.fleet else { throw files.refusal }
        let now = RFC3339Time(secondsSince1970: Int(WallClock.microseconds() / 1_000_000))
        let (allocation, problems) = FleetAllocation.make(fleet, lock: files.lock ?? lock, now: now)
        guard !problems.contains(where: \.isError) else { throw FleetStoreError(problems) }
        let generator = FleetGenerator(fleet, allocation)
        var text = generator.manifestStart
        while generator.next() { text += generator.manifestLine }
        return text + generator.manifestEnd
    }
}
