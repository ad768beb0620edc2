internal import Configuration
public import Fleet
public import LinuxHost

/// Writes a fleet's files: first all of them next to the old ones, then the lock, and then replaces all at once.
public struct FleetWriter: Sendable {
    private let fleet: Fleet
    private let allocation: FleetAllocation
    private let folder: String
    private let lockFile: String
    private let keys: FleetKeyFolder?
    private let manifestOnly: Bool

    /// What happened to the files.
    public struct Result: Sendable {
        /// The problems of the fleet. When there is an error, nothing was written.
        public var report: FleetReport
        public var outcome = FolderReplacement.Outcome()
        /// Whether the lock has changed.
        public var lockWritten = false
    }

    private static let manifest = "manifest.json"
    private static let table = "manifest.csv"

    /// - Parameters:
    ///   - allocation: Of this fleet.
    ///   - folder: The directory for the files. It is created if it does not exist.
    ///   - lockFile: The path of the lock.
    ///   - keys: The contents of the directory that the fleet file names for its keys; `nil` when it names none.
    ///   - manifestOnly: Whether to write no profiles.
    public init(
        fleet: Fleet, allocation: FleetAllocation, folder: String, lockFile: String, keys: FleetKeyFolder?,
        manifestOnly: Bool
    ) {
        self.fleet = fleet
        self.allocation = allocation
        self.folder = folder
        self.lockFile = lockFile
        self.keys = keys
        self.manifestOnly = manifestOnly
    }

    /// Checks the fleet and writes its files.
    ///
    /// - Parameter progress: Gets how many beacons are done, now and then.
    public func write(progress: (Int) -> Void = { _ in }) throws(FleetStoreError) -> Result {
        let replacement: FolderReplacement
        do throws(SystemError) {
            replacement = try FolderReplacement(folder)
        } catch {
            throw failure(error, folder)
        }
        try refuseForeignFiles(replacement)
        let lock: FileDraft
        do throws(SystemError) {
            lock = try FileDraft(lockFile)
        } catch {
            throw failure(error, folder)
        }
        var isGivenOut = false
        do throws(SystemError) {
            let report = try generate(into: replacement, progress)
            guard report.isGood else {
                replacement.discard()
                return Result(report: report)
            }
            try lock.append(allocation.lock.text)
            try lock.finish()
            let lockWritten = lock.isChanged
            // From here on the identities are given out, whether or not the folder follows.
            try lock.commit()
            isGivenOut = lockWritten
            return Result(report: report, outcome: try replacement.commit(), lockWritten: lockWritten)
        } catch {
            replacement.discard()
            lock.discard()
            throw failure(
                error, folder,
                isGivenOut
                    ? "; the new identities are in \(lockFile), the directory is as it was: run the command again"
                    : "; nothing was changed")
        }
    }

    private func generate(
        into replacement: FolderReplacement, _ progress: (Int) -> Void
    ) throws(SystemError) -> FleetReport {
        let generator = FleetGenerator(fleet, allocation, keys: keys)
        let manifest = replacement.draft(Self.manifest)
        let table = replacement.draft(Self.table)
        var done = 0
        try manifest.append(Array(FleetManifest.jsonStart(fleet.name).utf8))
        try table.append(Array(FleetManifest.csvStart.utf8))
        let report = try generator.checkAll(fleet, keys: keys, withText: true) {
            (part, hasErrors) throws(SystemError) in
            guard !hasErrors else { return }
            if !manifestOnly {
                for beacon in part.beacons { try replacement.put(beacon.name + ".json", beacon.profile) }
            }
            try manifest.append(Array(((done > 0 ? ",\n" : "") + part.manifest.joined(separator: ",\n")).utf8))
            try table.append(Array(part.table.utf8))
            done += part.beacons.count
            progress(done)
        }
        guard report.isGood else { return report }
        try manifest.append(Array(FleetManifest.jsonEnd(isEmpty: done == 0).utf8))
        try replacement.finish(manifest, Self.manifest)
        try replacement.finish(table, Self.table)
        return report
    }

    /// Refuses a directory that contains anything but files of an earlier run for the same fleet.
    private func refuseForeignFiles(_ replacement: FolderReplacement) throws(FleetStoreError) {
        let names = replacement.names
        guard !names.isEmpty else { return }
        guard names.contains(Self.manifest) else {
            throw FleetStoreError(
                .invalid,
                "\(folder): this directory holds \(Self.some(names)) and no manifest.json: it was not made by `pharos fleet "
                    + "generate`; choose an empty one")
        }
        var known: Set<String> = [Self.manifest, Self.table]
        let path = "\(replacement.path)/\(Self.manifest)"
        let octets: [UInt8]
        do throws(SystemError) { octets = try Files.read(path, limit: 1 << 30) } catch { throw failure(error, folder) }
        guard octets.starts(with: FleetManifest.firstOctets), let owner = FleetManifest.fleet(in: octets) else {
            throw FleetStoreError(
                .invalid,
                "\(path): this is no manifest that `pharos fleet generate` wrote; choose an empty directory")
        }
        guard owner == fleet.name else {
            throw FleetStoreError(
                .invalid, "\(folder): this directory holds the fleet \(owner), not \(fleet.name); choose another")
        }
        if !names.isSubset(of: known) {
            // A manifest with damaged lines is written anew.
            let written = FleetManifest.decode(octets).manifest?.beacons.map(\.name)
            let names = written ?? FleetManifest.beaconLines(in: octets).compactMap(FleetManifest.name)
            known.formUnion(names.map { $0 + ".json" })
        }
        let foreign = names.subtracting(known)
        guard foreign.isEmpty else {
            throw FleetStoreError(
                .invalid,
                "\(folder): \(Self.some(foreign)) was not made by `pharos fleet generate`; move it elsewhere, or choose "
                    + "another directory")
        }
        if manifestOnly, let profile = names.first(where: { $0 != Self.manifest && $0 != Self.table }) {
            throw FleetStoreError(
                .invalid,
                "\(folder): this directory holds profiles such as \(profile), which would no longer fit their manifest; choose "
                    + "another for --manifest-only")
        }
    }

    /// A few names, as part of a sentence.
    private static func some(_ names: Set<String>) -> String {
        let shown = names.sorted().prefix(3).map { JSONValue.string($0).line }.joined(separator: ", ")
        return names.count > 3 ? shown + " and \(names.count - 3) more" : shown
    }

    private func failure(_ error: SystemError, _ folder: String, _ outcome: String = "") -> FleetStoreError {
        let place = error.subject.isEmpty ? folder : error.subject
        switch error.errno {
        case _ where error.reason != nil: return FleetStoreError(.notPermitted, "\(place): \(error.text)")
        case SystemError.noSpace: return FleetStoreError(.system, "\(place): the disk is full\(outcome)")
        case SystemError.wouldBlock:
            return FleetStoreError(.busy, "\(folder): another `pharos fleet generate` is writing there")
        case SystemError.busy:
            return FleetStoreError(.system, "\(folder): this is a mount point; choose a directory in it\(outcome)")
        case SystemError.notADirectory:
            return FleetStoreError(.missing, "\(place): this is a file, not a directory")
        case SystemError.noEntry:
            return FleetStoreError(.missing, "\(place): the parent directory does not exist")
        case SystemError.accessDenied, SystemError.notPermitted:
            return FleetStoreError(.notPermitted, "\(place): this user may not write here")
        default:
            return FleetStoreError(.system, "\(place): \(error.call): \(error.text)\(outcome)")
        }
    }
}
