public import Configuration
public import Fleet
public import LinuxHost

/// One run of `fleet generate`: reads a fleet, gives new beacons identities, and writes the files.
///
/// The new files are first written next to the old files. Then the lock is replaced, and then the directory, each in
/// one step. Only one process changes a fleet at a time.
public struct FleetGeneration: Sendable {
    /// Options of `fleet generate`.
    public struct Options: Sendable {
        /// The names of retired beacons whose identities are removed from the lock.
        public var releasing: [String] = []
        /// `true` if no profiles are written, only the manifests.
        public var manifestOnly = false
        /// `true` if a fleet that no longer has any beacons is accepted. All beacons in its lock are then retired.
        public var allowsEmpty = false
        /// `true` if a lock that is lost, empty or damaged is restored from the manifest in the directory.
        public var adoptsManifest = false
        /// `true` if beacons may get other identities than before, even if several do, or some seem to be renamed.
        public var allowsRenumbering = false
        /// `true` if all files are compared, and none is written.
        public var isDryRun = false

        /// The default options: profiles and manifests are written, and no safety check is left out.
        public init() {}
    }

    /// The fleet as it was read.
    public let fleet: Fleet
    /// The changes of the lock.
    public let changes: FleetAllocation.Changes
    /// The warnings of all files, in their order.
    public let warnings: [FileProblem]
    /// The advertisements of each site.
    public let traffic: FleetTraffic
    /// `true` if the changed identities need the option ``Options/allowsRenumbering``.
    public let needsRenumberOption: Bool
    /// The beacons that have other identities than before.
    public let renumbered: [FleetAllocation.Renumbered]
    /// The numbers of files that were written, left unchanged and removed. In a dry run no file is changed, and the
    /// numbers apply to a real run.
    public let outcome: FolderReplacement.Outcome
    /// `true` if the lock has changed; in a dry run, if it would change.
    public let lockWritten: Bool
    public let isDryRun: Bool
    /// The directory of the files, as the caller gave it.
    public let directory: String

    private static let manifest = "manifest.json"
    private static let table = "manifest.csv"

    /// - Parameters:
    ///   - file: The fleet file.
    ///   - directory: The directory for the files. It is created if it does not exist.
    ///   - progress: Receives the number of finished beacons and the total number, from time to time.
    /// - Throws: ``FleetStoreError/Kind/busy`` when another process changes the fleet for several seconds;
    ///   ``FleetStoreError/Kind/renumbering`` when more than one beacon, a beacon that seems to be renamed, or a
    ///   beacon that the lock has lost would get another identity, and the options do not allow it.
    public init(
        _ file: String, into directory: String, _ options: Options, progress: (_ done: Int, _ all: Int) -> Void
    ) throws(FleetStoreError) {
        let lockFile = FleetFiles.lockFile(of: file)
        let changeLock =
            options.isDryRun
            ? nil
            : try FleetFileLock.acquire(FleetFiles.changeLock(of: lockFile), of: file, purpose: "pharos fleet generate")
        defer { changeLock?.release() }
        var files = try FleetFiles(file, withEdits: [:], ignoresUnreadableLock: options.adoptsManifest)
        if options.adoptsManifest {
            try Self.adopt(directory, into: &files)
        } else {
            try Self.refuseLostLock(files, directory)
        }
        try Self.refuseEmptyFleet(files, options)
        var allocation = try files.allocated(releasing: options.releasing)
        files.compareNewIdentities(of: &allocation, with: directory)
        try Self.refuseRenumbering(allocation, options)
        let result = try Self.write(
            allocation, keys: files.keys, lockFile: lockFile, into: directory, options, progress)
        files.add(result.checker.problems)
        guard !files.hasErrors, let outcome = result.outcome else { throw files.refusal }
        fleet = allocation.fleet
        changes = allocation.changes
        (renumbered, needsRenumberOption) = (allocation.renumbered, allocation.needsRenumberOption)
        isDryRun = options.isDryRun
        warnings = files.problems
        traffic = result.checker.traffic
        self.outcome = outcome
        lockWritten = result.lockWritten
        self.directory = directory
    }
}

// MARK: Writing

extension FleetGeneration {
    /// Checks the fleet and writes its files.
    ///
    /// - Returns: The checks, and the outcome for the files. If there is an error, there is no outcome, and nothing was
    ///   written.
    private static func write(
        _ allocation: FleetAllocation, keys: FleetKeyFolder?, lockFile: String, into folder: String, _ options: Options,
        _ progress: (_ done: Int, _ all: Int) -> Void
    ) throws(FleetStoreError) -> (checker: FleetChecker, outcome: FolderReplacement.Outcome?, lockWritten: Bool) {
        let replacement: FolderReplacement
        do throws(SystemError) {
            replacement = try FolderReplacement(folder, isDryRun: options.isDryRun)
        } catch {
            throw failure(error, folder)
        }
        let manifestOnly = options.manifestOnly
        try refuseForeignFiles(replacement, in: folder, fleet: allocation.fleet.name, manifestOnly: manifestOnly)
        let lock: FileReplacement
        do throws(SystemError) {
            lock = try FileReplacement(lockFile, isDryRun: options.isDryRun)
        } catch {
            throw failure(error, folder)
        }
        var areIdentitiesAllocated = false
        do throws(SystemError) {
            let checker = try writeFiles(allocation, keys: keys, in: replacement, manifestOnly: manifestOnly, progress)
            guard !checker.hasErrors else {
                replacement.discard()
                return (checker, nil, false)
            }
            try lock.append(allocation.lock.text)
            try lock.finish()
            let lockWritten = lock.isChanged
            // As soon as the lock is replaced, the new identities are allocated, even if the directory cannot be
            // replaced.
            try lock.commit()
            areIdentitiesAllocated = lockWritten
            return (checker, try replacement.commit(), lockWritten)
        } catch {
            replacement.discard()
            lock.discard()
            throw failure(
                error, folder,
                areIdentitiesAllocated
                    ? "; \(lockFile) has the new identities, but the directory is unchanged: run the command again"
                    : "; nothing was changed")
        }
    }

    /// Writes all new files next to the old files.
    private static func writeFiles(
        _ allocation: FleetAllocation, keys: FleetKeyFolder?, in replacement: FolderReplacement, manifestOnly: Bool,
        _ progress: (_ done: Int, _ all: Int) -> Void
    ) throws(SystemError) -> FleetChecker {
        let manifest = replacement.file(Self.manifest)
        let table = replacement.file(Self.table)
        var done = 0
        try manifest.append(Array(FleetManifest.jsonStart(allocation.fleet.name).utf8))
        try table.append(Array(FleetManifest.csvStart.utf8))
        let checker = try allocation.checkAll(keys: keys, withText: true) { (part, hasErrors) throws(SystemError) in
            guard !hasErrors else { return }
            if !manifestOnly {
                for beacon in part.beacons { try replacement.put(beacon.name + ".json", beacon.profile) }
            }
            try manifest.append(Array(((done > 0 ? ",\n" : "") + part.jsonLines.joined(separator: ",\n")).utf8))
            try table.append(Array(part.csvLines.utf8))
            done += part.beacons.count
            progress(done, allocation.count)
        }
        guard !checker.hasErrors else { return checker }
        try manifest.append(Array(FleetManifest.jsonEnd(isEmpty: done == 0).utf8))
        try replacement.finish(manifest, Self.manifest)
        try replacement.finish(table, Self.table)
        return checker
    }

    private static func failure(_ error: SystemError, _ folder: String, _ outcome: String = "") -> FleetStoreError {
        let path = error.subject.isEmpty ? folder : error.subject
        switch error.errno {
        case _ where error.reason != nil: return FleetStoreError(.notPermitted, "\(path): \(error.text)")
        case SystemError.noSpace: return FleetStoreError(.system, "\(path): the disk is full\(outcome)")
        case SystemError.wouldBlock:
            return FleetStoreError(.busy, "\(folder): another `pharos fleet generate` is writing there")
        case SystemError.busy:
            return FleetStoreError(.system, "\(folder): this is a mount point; choose a directory in it\(outcome)")
        case SystemError.notADirectory:
            return FleetStoreError(.missing, "\(path): this is a file, not a directory")
        case SystemError.noEntry:
            return FleetStoreError(.missing, "\(path): the parent directory does not exist")
        case SystemError.accessDenied, SystemError.notPermitted:
            return FleetStoreError(.notPermitted, "\(path): this user may not write here")
        default:
            return FleetStoreError(.system, "\(path): \(error.call): \(error.text)\(outcome)")
        }
    }
}

// MARK: Files of earlier runs

/// The `manifest.json` in a directory that an earlier run of `fleet generate` wrote. It may be damaged.
struct EarlierManifest {
    let path: String
    private let octets: [UInt8]

    init(in folder: String) throws(SystemError) {
        path = "\(folder)/manifest.json"
        octets = try Files.read(path, limit: FleetManifest.sizeLimit)
    }

    /// `true` if the file begins like the manifests that `fleet generate` writes.
    var isGenerated: Bool { octets.starts(with: FleetManifest.firstOctets) }

    /// The name of the fleet; `nil` when the file is not a manifest.
    var fleet: String? { isGenerated ? FleetManifest.fleetName(in: octets) : manifest?.fleet }

    /// The number of beacons, including beacons on damaged lines; `nil` when it is unknown.
    var count: Int? {
        if let manifest { return manifest.beacons.count }
        let lines = FleetManifest.beaconLines(in: octets)
        return lines.isEmpty ? nil : lines.count
    }

    /// The names of the beacons, as far as they can be read.
    var names: [String] {
        manifest?.beacons.map(\.name)
            ?? FleetManifest.beaconLines(in: octets).compactMap { FleetManifest.beaconName(inLine: $0) }
    }

    /// The decoded manifest; `nil` when it is damaged.
    var manifest: FleetManifest? { FleetManifest.decode(octets).manifest }
}

extension FleetGeneration {
    /// Throws an error if the directory contains anything but files of an earlier run for this fleet.
    private static func refuseForeignFiles(
        _ replacement: FolderReplacement, in folder: String, fleet: String, manifestOnly: Bool
    ) throws(FleetStoreError) {
        let names = replacement.names
        guard !names.isEmpty else { return }
        guard names.contains(Self.manifest) else {
            throw FleetStoreError(
                .invalid,
                "\(folder): this directory contains \(quotedList(names)) and no manifest.json: `pharos fleet generate` "
                    + "did not make it; choose an empty directory")
        }
        let earlier: EarlierManifest
        do throws(SystemError) {
            earlier = try EarlierManifest(in: replacement.path)
        } catch {
            throw failure(error, folder)
        }
        guard earlier.isGenerated, let owner = earlier.fleet else {
            throw FleetStoreError(
                .invalid,
                "\(earlier.path): `pharos fleet generate` did not write this file; choose an empty directory")
        }
        guard owner == fleet else {
            throw FleetStoreError(
                .invalid,
                "\(folder): this directory contains the fleet \(owner), not \(fleet); choose another directory")
        }
        var foreignNames = names.subtracting([Self.manifest, Self.table])
        if !foreignNames.isEmpty { foreignNames.subtract(earlier.names.map { $0 + ".json" }) }
        guard foreignNames.isEmpty else {
            throw FleetStoreError(
                .invalid,
                "\(folder): `pharos fleet generate` did not make \(quotedList(foreignNames)); move it elsewhere, or "
                    + "choose another directory")
        }
        if manifestOnly, let profile = names.first(where: { $0 != Self.manifest && $0 != Self.table }) {
            throw FleetStoreError(
                .invalid,
                "\(folder): this directory contains profiles such as \(profile), which would no longer fit their "
                    + "manifest; choose another directory for --manifest-only")
        }
    }

    /// A few names, as part of a sentence.
    private static func quotedList(_ names: Set<String>) -> String {
        let firstNames = names.sorted().prefix(3).map { JSONValue.string($0).line }.joined(separator: ", ")
        return names.count > 3 ? firstNames + " and \(names.count - 3) more" : firstNames
    }

    /// Throws an error for a fleet without beacons, because a table that lost its rows would retire all beacons.
    private static func refuseEmptyFleet(_ files: FleetFiles, _ options: Options) throws(FleetStoreError) {
        guard !options.allowsEmpty, let fault = files.emptyFleetFault else { return }
        throw FleetStoreError(
            .invalid, "\(files.file): \(fault); nothing was changed; to retire them all, add `--empty`")
    }

    /// Throws an error if more than one beacon, a beacon that seems to be renamed, or a beacon that the lock has lost
    /// would get another identity: receivers would no longer recognize these beacons.
    private static func refuseRenumbering(_ allocation: FleetAllocation, _ options: Options) throws(FleetStoreError) {
        let count = allocation.renumbered.count
        guard allocation.needsRenumberOption, !options.allowsRenumbering, !options.isDryRun else { return }
        throw FleetStoreError(
            .renumbering,
            allocation.renumberingWarnings.map(\.description) + [
                (count == 1 ? "1 beacon would get another identity" : "\(count) beacons would get other identities")
                    + "; nothing was changed; if that is intended, add `--renumber`"
            ])
    }

    /// Throws an error if the fleet has no lock, but the directory contains a manifest of the fleet: all beacons would
    /// get new identities.
    private static func refuseLostLock(_ files: FleetFiles, _ directory: String) throws(FleetStoreError) {
        guard let fault = files.lostLockFault(directory) else { return }
        throw FleetStoreError(
            .invalid,
            "\(files.lockFile): \(fault); nothing was changed; restore the lock from version control, or take the "
                + "identities from the manifest with `--adopt`")
    }

    private static func adopt(_ directory: String, into files: inout FleetFiles) throws(FleetStoreError) {
        guard !files.hasErrors, let fleet = files.fleet else { throw files.refusal }
        guard files.lock == nil else {
            throw FleetStoreError(.request, "--adopt: \(files.lockFile) exists; remove it first if it is wrong")
        }
        let path = "\(directory)/\(Self.manifest)"
        guard Files.exists(path), let manifest = try FleetManifest.read(path, isManifest: true, mustBeRegular: true)
        else {
            throw FleetStoreError(.missing, "\(path): there is no such file to take the identities from")
        }
        do throws(FleetLock.AdoptionError) {
            files.useWithoutLockFile(try FleetLock(adopting: manifest, for: fleet))
        } catch {
            throw FleetStoreError(.invalid, "\(path): the identities cannot be taken from this manifest: \(error)")
        }
    }
}

// MARK: Reports

extension FleetGeneration {
    /// The largest number of names in a line of ``text``.
    private static let nameLimit = 20

    /// A line for each kind of change, and a line that counts the files.
    public var text: String {
        let moved = Set(changes.moved)
        let changeLists = [
            ("New names, same identities", changes.renamed.map { "\($0.name) (was \($0.other))" }),
            ("New machines, same identities", changes.replacedMachines.map { "\($0.name) (now \($0.other))" }),
            ("Moved to other groups, with new numbers", changes.moved),
            ("With other identities", renumbered.map(\.name).filter { !moved.contains($0) }),
            ("In the fleet again, with their old identities", changes.revived),
            ("Retired, identities kept", changes.retired), ("Released", changes.released),
        ]
        return changeLists.map(Self.line).joined()
            + "\(directory): \(outcome.written) written, \(outcome.unchanged) unchanged, \(outcome.removed) removed"
            + (changes.added > 0 ? "; \(changes.added) new \(changes.added == 1 ? "identity" : "identities")" : "")
            + (isDryRun ? "; this was a dry run, and nothing was changed\n" : "\n")
    }

    private static func line(_ title: String, _ names: [String]) -> String {
        guard !names.isEmpty else { return "" }
        let omitted = names.count - nameLimit
        return "\(title): \(names.prefix(nameLimit).joined(separator: ", "))"
            + (omitted > 0 ? " and \(omitted) more\n" : "\n")
    }

    /// The changes and the numbers of files as JSON, with all names.
    public var json: JSONValue {
        .record([
            ("fleet", .string(fleet.name)), ("beacons", .integer(fleet.beaconCount)),
            ("written", .integer(outcome.written)), ("unchanged", .integer(outcome.unchanged)),
            ("removed", .integer(outcome.removed)), ("lockWritten", .boolean(lockWritten)),
            ("dryRun", .boolean(isDryRun)),
            ("added", .integer(changes.added)), ("retired", Self.list(changes.retired)),
            ("revived", Self.list(changes.revived)), ("moved", Self.list(changes.moved)),
            (
                "renumbered",
                .array(
                    renumbered.map {
                        .record([
                            ("name", .string($0.name)), ("before", .string($0.before)), ("after", .string($0.after)),
                        ])
                    })
            ),
            ("renamed", Self.pairs(changes.renamed, "was")),
            ("replacedBoxes", Self.pairs(changes.replacedMachines, "serial")),
            ("released", Self.list(changes.released)),
        ])
    }

    private static func list(_ names: [String]) -> JSONValue { .array(names.map { .string($0) }) }

    private static func pairs(_ pairs: [FleetAllocation.Changes.Pair], _ key: String) -> JSONValue {
        .array(pairs.map { .record([("name", .string($0.name)), (key, .string($0.other))]) })
    }
}
