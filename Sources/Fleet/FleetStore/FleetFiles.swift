internal import BluetoothTypes
public import Configuration
public import Fleet
internal import LinuxHost

/// A fleet file with the files next to it: its tables, its lock, its directory of keys.
public struct FleetFiles: Sendable {
    /// The path of the fleet file, as the caller gave it.
    public let file: String
    /// The path of the lock file, with symbolic links followed.
    public let lockFile: String
    /// The fleet; `nil` when the file cannot be decoded.
    public let fleet: Fleet?
    /// The lock; `nil` when there is none yet, or when it cannot be used.
    public private(set) var lock: FleetLock?
    /// The problems of the fleet file, its tables and its lock, in their order.
    public private(set) var problems: [FileProblem]
    private let hasLockFile: Bool
    /// The paths of the fleet file, its lock and its tables.
    let sources: [String]

    /// The maximum size of a fleet file, in bytes.
    static let fleetLimit = 1 << 26
    /// The maximum size of a table, and of a lock file, in bytes.
    private static let tableLimit = 1 << 28

    /// Reads the files. ``problems`` lists their errors and warnings.
    ///
    /// - Throws: ``FleetStoreError`` when the fleet file or the lock file cannot be read at all.
    public init(_ file: String) throws(FleetStoreError) { try self.init(file, withEdits: [:]) }

    /// - Parameters:
    ///   - edited: The contents of files, by their paths, that are used instead of the files on the disk.
    ///   - ignoresUnreadableLock: `true` if a lock file that cannot be read to its end counts as missing.
    init(
        _ file: String, withEdits edited: [String: [UInt8]], ignoresUnreadableLock: Bool = false
    ) throws(FleetStoreError) {
        self.file = file
        lockFile = Self.lockFile(of: file)
        let fleetOctets: [UInt8] =
            if let text = edited[file] { text } else { try SourceFile.readArgument(file, limit: Self.fleetLimit) }
        let directory = Files.directory(of: file)
        let lockFile = lockFile
        let lockExists = Files.exists(lockFile)
        let lockOctets: [UInt8] =
            if let text = edited[lockFile] { text } else if lockExists {
                try SourceFile.read(lockFile, limit: Self.tableLimit)
            } else { [] }
        hasLockFile = lockExists && !(ignoresUnreadableLock && FleetLock.isUnreadable(lockOctets))
        var sources = [file, lockFile]
        (fleet, problems) = Fleet.decode(fleetOctets, file: file) { name in
            let path = name.hasPrefix("/") ? name : directory + name
            sources.append(path)
            if let octets = edited[path] { return .octets(octets) }
            do throws(SystemError) {
                return .octets(try Files.read(path, limit: Self.tableLimit))
            } catch {
                return .unreadable(error.readingReason(limit: Self.tableLimit))
            }
        }
        self.sources = sources
        let (lock, lockFaults) = hasLockFile ? FleetLock.decode(lockOctets, file: lockFile) : (nil, [])
        self.lock = lock
        problems += lockFaults
    }

    /// The path of the lock file of a fleet file, with symbolic links followed.
    static func lockFile(of file: String) -> String {
        let path = FleetLock.file(of: file)
        return Files.isSymbolicLink(path) ? Files.resolved(path) ?? path : path
    }

    /// The path of the file that a process locks while it changes a fleet. The process cannot lock the fleet's lock
    /// file itself, because that file is replaced.
    static func changeLock(of lockFile: String) -> String {
        let directory = Files.directory(of: lockFile)
        let name = lockFile.dropFirst(directory.count)
        return "\(directory).\(name.hasSuffix(".lock.json") ? name.dropLast(5) : name)"
    }

    /// Uses `lock` as the lock of the fleet, if there is no lock file.
    mutating func useWithoutLockFile(_ lock: FleetLock) {
        if !hasLockFile { self.lock = lock }
    }

    public var hasErrors: Bool { problems.contains(where: \.isError) }

    /// Adds problems that were found later. The list keeps the order of the files.
    public mutating func add(_ more: [FileProblem]) { problems = FileProblem.sorted(problems + more) }

    /// The contents of the directory of keys; `nil` when the fleet file names no such directory.
    public var keys: FleetKeyFolder? {
        guard let name = fleet?.keysFolder else { return nil }
        let path = name.hasPrefix("/") ? name : Files.directory(of: file) + name
        guard Files.isDirectory(path) else { return FleetKeyFolder(path: path, files: nil) }
        let names = Files.names(in: path)
        return FleetKeyFolder(
            path: path, files: Set(names), exposed: Set(names.filter { !Files.isPrivate("\(path)/\($0)") }))
    }

    /// The directories that may contain the identity keys, with a slash at the end: the directory that the fleet file
    /// names, and the default directory.
    var keyDirectories: [String] {
        let namedDirectory = fleet?.keysFolder.map { $0.hasPrefix("/") ? $0 : Files.directory(of: file) + $0 }
        let paths = [namedDirectory, NamedFleet(path: file).keysDirectory].compactMap {
            $0.map { KeyDirectory($0).path }
        }
        return paths.enumerated().filter { !paths[..<$0.offset].contains($0.element) }.map(\.element)
    }

    /// Checks every beacon, and adds the problems to ``problems``.
    ///
    /// - Parameter progress: Receives the number of finished beacons and the total number, from time to time.
    /// - Returns: The traffic of the fleet; `nil` when no identities can be allocated, with the reason in ``problems``.
    public mutating func check(
        progress: (_ done: Int, _ all: Int) -> Void = { _, _ in }
    ) throws(FleetStoreError) -> FleetTraffic? {
        guard var allocation = allocation() else { return nil }
        let directory = Files.directory(of: file)
        if hasLockFile, allocation.hasNewIdentities {
            for name in Files.names(in: directory.isEmpty ? "." : directory).sorted() {
                compareNewIdentities(of: &allocation, with: directory + name)
            }
        }
        add(allocation.renumberingWarnings)
        add(lockProblems)
        return try check(allocation, keys: keys, progress: progress)
    }

    /// The error of a fleet that has lost all its beacons, or of a fleet whose lock is lost; empty if there is no such
    /// error.
    private var lockProblems: [FileProblem] {
        let start = JSONPosition(line: 1, column: 1)
        if let fault = emptyFleetFault {
            let advice = "; restore the beacons, or retire them all with `pharos fleet generate --empty`"
            return [FileProblem(fault + advice, at: start, in: file)]
        }
        let directory = Files.directory(of: file)
        for name in Files.names(in: directory.isEmpty ? "." : directory).sorted() {
            guard let fault = lostLockFault(directory + name) else { continue }
            let advice =
                "; restore the lock from version control, or take the identities from the manifest with "
                + "`pharos fleet generate --adopt`"
            return [FileProblem(fault + advice, at: start, kind: .invalid, in: lockFile)]
        }
        return []
    }

    /// The reason why the fleet is refused: it has no beacons, but its lock has beacons in use. `nil` if it is not
    /// refused.
    var emptyFleetFault: String? {
        guard !hasErrors, let fleet, fleet.beaconCount == 0, let lock, lock.liveCount > 0 else { return nil }
        return "this fleet has no beacons, but its lock has \(NumberFormat.count(lock.liveCount, "beacon")) in use"
    }

    /// The reason why the lock must have been lost: `directory` contains a manifest of the fleet, with beacons. `nil`
    /// if the fleet has a lock file, or if the directory contains no such manifest.
    func lostLockFault(_ directory: String) -> String? {
        guard !hasErrors, let fleet, !hasLockFile, let earlier = try? EarlierManifest(in: directory),
            earlier.fleet == fleet.name
        else { return nil }
        let count = earlier.count
        guard count != 0 else { return nil }
        let beacons = count.map { NumberFormat.count($0, "beacon") } ?? "an unknown number of beacons"
        return "this lock is missing, and \(directory) contains \(beacons) with identities from this lock"
    }

    /// Compares the new identities with the manifest of the fleet in `directory`, if there is one: the lock may have
    /// lost identities that were generated earlier.
    func compareNewIdentities(of allocation: inout FleetAllocation, with directory: String) {
        guard hasLockFile, allocation.hasNewIdentities, let earlier = try? EarlierManifest(in: directory),
            let manifest = earlier.manifest
        else { return }
        allocation.compareNewIdentities(with: manifest, at: earlier.path)
    }

    /// Checks every beacon, and adds the problems to ``problems``.
    mutating func check(
        _ allocation: FleetAllocation, keys: FleetKeyFolder?, progress: (_ done: Int, _ all: Int) -> Void = { _, _ in }
    ) throws(FleetStoreError) -> FleetTraffic {
        var done = 0
        // If the fleet file names no directory of keys, the default directory is checked, but only if it contains at
        // least one of the keys.
        let directory = keys == nil ? KeyDirectory(NamedFleet(path: file).keysDirectory) : nil
        var (countWithKey, namesWithoutKey): (Int, [String]) = (0, [])
        do throws(SystemError) {
            let checker = try allocation.checkAll(keys: keys) { (part, _) throws(SystemError) in
                if let directory {
                    let rotations = part.beacons.compactMap(\.beacon).compactMap { try? BeaconRotation($0) }
                    let missing = rotations.filter { !directory.hasKey(of: $0) }.map(\.name)
                    countWithKey += rotations.count - missing.count
                    namesWithoutKey += missing
                }
                done += part.beacons.count
                progress(done, allocation.count)
            }
            add(checker.problems)
            if let directory, countWithKey > 0, !namesWithoutKey.isEmpty {
                add([
                    FileProblem(
                        Self.missingKeys(namesWithoutKey, in: directory.path), at: .init(line: 1, column: 1),
                        severity: .warning, in: file)
                ])
            }
            return checker.traffic
        } catch {
            throw FleetStoreError(error, at: file)
        }
    }

    /// A sentence about the beacons without a key, with the names of at most five of them.
    static func missingKeys(_ names: [String], in directory: String) -> String {
        let listedNames = names.prefix(5).joined(separator: ", ") + (names.count > 5 ? ", …" : "")
        return (names.count == 1 ? "1 beacon has" : "\(names.count) beacons have")
            + " no key in \(directory): \(listedNames); "
            + "`pharos fleet keys generate` makes missing keys"
    }

    /// The manifest of a fleet as `fleet generate` would write it now.
    ///
    /// - Throws: ``refusal`` when there is an error in any of the files.
    mutating func manifest(
        _ allocation: FleetAllocation, progress: (_ done: Int, _ all: Int) -> Void = { _, _ in }
    ) throws(FleetStoreError) -> FleetManifest {
        var manifest = FleetManifest(fleet: allocation.fleet.name)
        do throws(SystemError) {
            let checker = try allocation.checkAll(keys: nil) { (part, _) throws(SystemError) in
                manifest.beacons += part.beacons.compactMap(\.beacon)
                progress(manifest.beacons.count, allocation.count)
            }
            add(checker.problems)
        } catch {
            throw FleetStoreError(error, at: file)
        }
        guard !hasErrors else { throw refusal }
        return manifest
    }

    /// All errors as one error, for a caller that needs a fleet without errors.
    public var refusal: FleetStoreError { FleetStoreError(problems) }

    /// The fleet with the identities of its lock. Beacons without an identity in the lock get the identity that `fleet
    /// generate` would give them now.
    ///
    /// - Parameter releasing: The names of retired beacons whose identities are removed from the lock.
    /// - Throws: ``refusal`` when there is an error in any of the files.
    public mutating func allocated(releasing: [String] = []) throws(FleetStoreError) -> FleetAllocation {
        guard !hasErrors, let allocation = allocation(releasing: releasing) else { throw refusal }
        return allocation
    }

    /// The fleet with the identities of its lock.
    ///
    /// - Throws: ``refusal``, and an error when a beacon has no identity in the lock yet, or would get another
    ///   identity: `fleet generate` might give it a different identity later.
    mutating func locked() throws(FleetStoreError) -> FleetAllocation {
        let allocation = try allocated()
        guard allocation.renumbered.isEmpty else {
            throw FleetStoreError(.invalid, allocation.renumberingWarnings.map(\.description))
        }
        let added = allocation.changes.added
        guard added == 0 else {
            let faults = lockProblems
            guard faults.isEmpty else { throw FleetStoreError(.invalid, faults.map(\.description)) }
            throw FleetStoreError(
                .invalid,
                "\(file): \(added) of its beacons \(added == 1 ? "has" : "have") no identity yet; run "
                    + "`pharos fleet generate`")
        }
        return allocation
    }

    /// The fleet with identities, even if it has errors, so that more errors can be found.
    ///
    /// - Returns: `nil` when no identities can be allocated, with the reason in ``problems``.
    private mutating func allocation(releasing: [String] = []) -> FleetAllocation? {
        guard let fleet, lock != nil || !hasLockFile else { return nil }
        let now = RFC3339Time.now
        let (allocation, faults) = FleetAllocation.make(fleet, lock: lock, releasing: releasing, now: now)
        add(faults)
        return faults.contains(where: \.isError) ? nil : allocation
    }
}

extension FleetAllocation {
    /// The beacons of a part of the fleet.
    struct Part: Sendable {
        var beacons: [GeneratedBeacon]
        /// The lines of these beacons in `manifest.json`, without the separators between them.
        var jsonLines: [String] = []
        /// The lines of these beacons in `manifest.csv`.
        var csvLines = ""
    }

    /// The number of beacons in a part.
    private static let partSize = 512

    /// Generates all beacons with all processor cores, checks them, and passes them to `body` in their order.
    ///
    /// - Parameters:
    ///   - withText: `true` if the parts contain the lines of the manifests.
    ///   - body: Receives each part, and whether an error was found so far.
    func checkAll(
        keys: FleetKeyFolder?, withText: Bool = false,
        _ body: (_ part: Part, _ hasErrors: Bool) throws(SystemError) -> Void
    ) throws(SystemError) -> FleetChecker {
        var checker = FleetChecker(fleet, keys: keys)
        let partCount = (count + Self.partSize - 1) / Self.partSize
        let parts = try OrderedWork(pieces: partCount, window: 8) { partIndex in
            let start = partIndex * Self.partSize
            let end = min(start + Self.partSize, count)
            var part = Part(beacons: (start..<end).map { beacon($0, keys: keys) })
            if withText {
                part.jsonLines = part.beacons.compactMap { $0.beacon?.json.line }
                part.csvLines = part.beacons.compactMap { $0.beacon?.csv }.joined()
            }
            return part
        }
        while let part = parts.next() {
            for beacon in part.beacons where !checker.isFull { checker.add(beacon) }
            if checker.isFull { parts.stop() }
            try body(part, checker.hasErrors)
        }
        return checker
    }
}

/// The right to change the files of a fleet. Only one process has this right at a time: the process takes the right
/// before it reads the files, and releases it when the new files are in place.
enum FleetFileLock {
    /// Takes the right. Waits a few seconds while another process has it.
    ///
    /// - Parameters:
    ///   - path: The file that is locked. It is created, and removed when the right is released.
    ///   - subject: The changed file or directory, for messages.
    ///   - purpose: The command, for the messages of other processes.
    /// - Returns: `nil` when this user may not write next to the files, and so cannot change them.
    /// - Throws: ``FleetStoreError/Kind/busy``, with the name of the other process.
    static func acquire(
        _ path: String, of subject: String, purpose: String, waiting limit: Duration = .seconds(5)
    ) throws(FleetStoreError) -> FileLock? {
        do throws(FileLockError) {
            return try FileLock(path, purpose: purpose, waiting: limit)
        } catch {
            switch error {
            case .held(_, let holder):
                let holderText = holder.map { "`\($0.purpose)` (process \($0.process))" } ?? "another process"
                throw FleetStoreError(
                    .busy, "\(subject): \(holderText) is changing this; try again when that process has ended")
            case .system(let error):
                switch error.errno {
                case SystemError.readOnlyFileSystem, SystemError.accessDenied: return nil
                // The command that reads the files reports what is missing.
                case SystemError.noEntry, SystemError.notADirectory: return nil
                case SystemError.noSpace:
                    throw FleetStoreError(.system, "\(subject): the disk is full; nothing was changed")
                default: throw FleetStoreError(error, at: path)
                }
            }
        }
    }
}
