public import Configuration
public import Fleet
internal import LinuxHost

/// One run of `fleet generate`: reads a fleet, allocates identities for new beacons, and writes the files. A fleet is
/// locked while it is generated.
public struct FleetGeneration: Sendable {
    /// Options of `fleet generate`.
    public struct Options: Sendable {
        /// Names whose retired identities may be given out again.
        public var releasing: [String] = []
        /// Whether to write no profiles.
        public var manifestOnly = false
        /// Whether to retire all beacons of a fleet that no longer has any.
        public var allowsEmpty = false
        /// Whether to restore a lost lock from the manifest in the directory.
        public var adoptsManifest = false

        /// Writes profiles and manifests, with all safety checks.
        public init() {}
    }

    /// The fleet as it was read.
    public let fleet: Fleet
    /// The changes of the lock.
    public let changes: FleetAllocation.Changes
    /// The warnings of all files, in their order.
    public let warnings: [FileProblem]
    /// What happened to the files.
    public let result: FleetWriter.Result
    /// The directory of the files, as the caller gave it.
    public let directory: String

    /// - Parameters:
    ///   - file: The fleet file.
    ///   - directory: The directory for the files. It is created if it does not exist.
    ///   - progress: Gets how many beacons of all are done, now and then.
    /// - Throws: ``FleetStoreError/Kind/busy`` when another process changes the fleet and does not end within seconds.
    public init(
        _ file: String, into directory: String, _ options: Options, progress: (_ done: Int, _ all: Int) -> Void
    ) throws(FleetStoreError) {
        let lockFile = FleetFiles.lockFile(beside: file)
        let claim = try FleetClaim.take(
            FleetFiles.claim(of: lockFile), of: file, purpose: "pharos fleet generate")
        defer { claim?.release() }
        var files = try FleetFiles(file)
        if options.adoptsManifest {
            try Self.adopt(directory, into: &files)
        } else {
            try Self.refuseLostLock(files, directory)
        }
        try Self.refuseEmptiness(files, options)
        let (fleet, allocation) = try files.allocated(releasing: options.releasing)
        let writer = FleetWriter(
            fleet: fleet, allocation: allocation, folder: directory, lockFile: files.lockFile, keys: files.keys,
            manifestOnly: options.manifestOnly)
        result = try writer.write { progress($0, fleet.beaconCount) }
        files.add(result.report.problems)
        guard !files.hasErrors else { throw files.refusal }
        self.fleet = fleet
        self.directory = directory
        changes = allocation.changes
        warnings = files.problems
    }

    /// A table that lost its rows, or a list that lost its beacons, must not retire a whole fleet by accident.
    private static func refuseEmptiness(_ files: FleetFiles, _ options: Options) throws(FleetStoreError) {
        guard !files.hasErrors, let fleet = files.fleet, fleet.beaconCount == 0, !options.allowsEmpty,
            let lock = files.lock, lock.liveCount > 0
        else { return }
        throw FleetStoreError(
            .invalid,
            "\(files.file): this fleet has no beacons any more, and its lock has \(lock.liveCount) in use; nothing was "
                + "changed; `--empty` retires them all")
    }

    /// New identities in the place of those that a directory's files were made with would renumber the fleet.
    private static func refuseLostLock(_ files: FleetFiles, _ directory: String) throws(FleetStoreError) {
        guard !files.hasErrors, let fleet = files.fleet, files.lock == nil,
            // Another file in the place of the manifest is refused later.
            let written = try? written(in: directory), written.fleet == fleet.name, written.beacons != 0
        else { return }
        let beacons = written.beacons.map { "\($0)" } ?? "an unknown number of"
        throw FleetStoreError(
            .invalid,
            "\(files.lockFile): the lock is gone, and \(directory) holds \(beacons) beacons with identities "
                + "from it; nothing was changed; restore it from version control, or take the identities from the "
                + "manifest with `--adopt`")
    }

    private static func adopt(_ directory: String, into files: inout FleetFiles) throws(FleetStoreError) {
        guard files.lock == nil, !files.hasErrors, let fleet = files.fleet else {
            guard !files.hasErrors else { throw files.refusal }
            throw FleetStoreError(
                .request, "--adopt: \(files.lockFile) is there, and what it says counts; remove it first if it is lost")
        }
        let path = directory + "/manifest.json"
        guard let manifest = try manifest(in: directory) else {
            throw FleetStoreError(.missing, "\(path): there is no such file, whose identities could be taken")
        }
        do throws(FleetLock.AdoptionError) {
            try files.use(FleetLock(adopting: manifest, for: fleet))
        } catch {
            throw FleetStoreError(.invalid, "\(path): the identities cannot be taken from this manifest: \(error)")
        }
    }

    /// The fleet of a manifest and the number of its beacons, damaged ones too: their identities were given out. The
    /// number is `nil` when it cannot be told.
    private static func written(in directory: String) throws -> (fleet: String, beacons: Int?)? {
        let path = directory + "/manifest.json"
        guard Files.exists(path) else { return nil }
        let octets = try Files.read(path, limit: 1 << 30)
        if let manifest = FleetManifest.decode(octets).manifest { return (manifest.fleet, manifest.beacons.count) }
        guard octets.starts(with: FleetManifest.firstOctets), let fleet = FleetManifest.fleet(in: octets) else {
            return nil
        }
        let lines = FleetManifest.beaconLines(in: octets)
        return (fleet, lines.isEmpty ? nil : lines.count)
    }

    private static func manifest(in directory: String) throws(FleetStoreError) -> FleetManifest? {
        guard Files.exists(directory + "/manifest.json") else { return nil }
        return try NamedFleet(path: directory).manifest()
    }
}

extension FleetGeneration {
    /// Further names are only counted.
    private static let nameLimit = 20

    /// A line for each kind of change, and a line that counts the files.
    public var text: String {
        let lists = [
            ("New names, same identities", changes.renamed.map { "\($0.name) (was \($0.other))" }),
            ("New boxes, same identities", changes.replacedBoxes.map { "\($0.name) (now \($0.other))" }),
            ("Moved, with new numbers", changes.moved), ("Back, with their old identities", changes.revived),
            ("Retired, identities kept", changes.retired), ("Released", changes.released),
        ]
        let outcome = result.outcome
        return lists.map(Self.line).joined()
            + "\(directory): \(outcome.written) written, \(outcome.unchanged) unchanged, \(outcome.removed) removed"
            + (changes.added > 0 ? "; \(changes.added) new identities" : "") + "\n"
    }

    private static func line(_ what: String, _ names: [String]) -> String {
        guard !names.isEmpty else { return "" }
        let rest = names.count - nameLimit
        return "\(what): \(names.prefix(nameLimit).joined(separator: ", "))" + (rest > 0 ? " and \(rest) more\n" : "\n")
    }

    /// The same for programs, with all names.
    public var json: JSONValue {
        .record([
            ("fleet", .string(fleet.name)), ("beacons", .integer(fleet.beaconCount)),
            ("written", .integer(result.outcome.written)), ("unchanged", .integer(result.outcome.unchanged)),
            ("removed", .integer(result.outcome.removed)), ("lockWritten", .boolean(result.lockWritten)),
            ("added", .integer(changes.added)), ("retired", Self.list(changes.retired)),
            ("revived", Self.list(changes.revived)), ("moved", Self.list(changes.moved)),
            ("renamed", Self.pairs(changes.renamed, "was")),
            ("replacedBoxes", Self.pairs(changes.replacedBoxes, "serial")), ("released", Self.list(changes.released)),
        ])
    }

    private static func list(_ names: [String]) -> JSONValue { .array(names.map { .string($0) }) }

    private static func pairs(_ pairs: [FleetAllocation.Changes.Pair], _ key: String) -> JSONValue {
        .array(pairs.map { .record([("name", .string($0.name)), (key, .string($0.other))]) })
    }
}
