internal import Configuration
public import Fleet
public import LinuxHost

/// Brings a fleet's files onto the disk: first all of them beside the old ones, then the lock, then all at once.
public struct FleetWriter: Sendable {
    private let fleet: Fleet
    private let allocation: FleetAllocation
    private let folder: String
    private let lockFile: String
    private let keys: FleetKeyFolder?
    private let manifestOnly: Bool

    /// What became of the files.
    public struct Result: Sendable {
        /// What was found; where it is not good, nothing was written.
        public var report: FleetReport
        public var outcome = FolderReplacement.Outcome()
        /// Whether the lock has changed.
        public var lockWritten = false
    }

    private static let manifest = "manifest.json"
    private static let table = "manifest.csv"

    /// - Parameters:
    ///   - allocation: Of this fleet.
    ///   - folder: The directory for the files; made where it is not there.
    ///   - lockFile: Beside the fleet file.
    ///   - keys: What lies in the directory that the fleet file names for its keys; `nil` where it names none.
    ///   - manifestOnly: No profiles.
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
            try allocation.lock.write { (piece) throws(SystemError) in try lock.append(piece) }
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
        let assembly = FleetAssembly(fleet, allocation, keys: keys, manifestOnly: manifestOnly)
        let generator = FleetGenerator(fleet, allocation)
        let manifest = replacement.draft(Self.manifest)
        let table = replacement.draft(Self.table)
        var end = generator.manifestEnd
        var done = 0
        try manifest.append(generator.manifestStart)
        try table.append(generator.tableStart)
        let report = try assembly.run { (part) throws(SystemError) in
            for (name, text) in part.profiles { try replacement.put(name + ".json", text) }
            try manifest.append(part.manifest)
            try table.append(part.table)
            end = part.manifestEnd
            done += part.beacons
            progress(done)
        }
        guard report.isGood else { return report }
        try manifest.append(end)
        try replacement.finish(manifest, Self.manifest)
        try replacement.finish(table, Self.table)
        return report
    }

    /// A folder is ours when it is empty, or when all that is in it was made by an earlier run for the same fleet.
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
        var manifest: ManifestNames
        do throws(SystemError) { manifest = try ManifestNames(path) } catch { throw failure(error, folder) }
        guard let owner = manifest.fleet else {
            throw FleetStoreError(
                .invalid,
                "\(path): this is no manifest that `pharos fleet generate` wrote; choose an empty directory")
        }
        guard owner == fleet.name else {
            throw FleetStoreError(
                .invalid, "\(folder): this directory holds the fleet \(owner), not \(fleet.name); choose another")
        }
        // Only a folder with other files needs the names of all that were made.
        if !names.isSubset(of: known) {
            do throws(SystemError) {
                try manifest.forEach { known.insert($0 + ".json") }
            } catch {
                throw failure(error, folder)
            }
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
            return FleetStoreError(.busy, "\(folder): another `pharos fleet generate` is at work there")
        case SystemError.busy:
            return FleetStoreError(.system, "\(folder): this is a mount point; choose a directory in it\(outcome)")
        case SystemError.notADirectory:
            return FleetStoreError(.missing, "\(place): this is a file, not a directory")
        case SystemError.noEntry:
            return FleetStoreError(.missing, "\(place): the directory around it is not there")
        case SystemError.accessDenied, SystemError.notPermitted:
            return FleetStoreError(.notPermitted, "\(place): this user may not write here")
        default:
            return FleetStoreError(.system, "\(place): \(error.call): \(error.text)\(outcome)")
        }
    }
}

/// The names in a `manifest.json`, read piece by piece: it may be larger than the memory.
struct ManifestNames {
    /// `nil` where the file is none.
    let fleet: String?
    private let file: Descriptor
    private var rest: [UInt8]

    /// Nothing but the file's beginning is read yet.
    init(_ path: String) throws(SystemError) {
        file = try Descriptor.openRegular(path)
        rest = try file.read(upTo: 1 << 18)
        fleet = FleetManifest.fleet(ofManifest: rest)
    }

    mutating func forEach(_ body: (String) -> Void) throws(SystemError) {
        var isAtEnd = false
        while !isAtEnd {
            var from = rest.startIndex
            while let end = rest[from...].firstIndex(of: 0x0A) {
                if let name = FleetManifest.name(ofLine: from..<end, in: rest) { body(name) }
                from = end + 1
            }
            rest.removeSubrange(..<from)
            let part = try file.read(upTo: 1 << 18)
            isAtEnd = part.isEmpty
            rest += part
        }
    }
}
