public import Configuration
public import Fleet
internal import LinuxHost

/// A fleet file with the files next to it: its tables, its lock, its directory of keys.
public struct FleetFiles: Sendable {
    /// The path of the fleet file, as the caller gave it.
    public let file: String
    /// The path of the lock. A symbolic link is followed.
    public let lockFile: String
    /// `nil` when the file cannot be decoded.
    public let fleet: Fleet?
    /// `nil` when there is none yet, and when it cannot be used.
    public private(set) var lock: FleetLock?
    /// Of the fleet file, its tables and its lock, in their order.
    public private(set) var problems: [FileProblem]
    private let hasLockFile: Bool

    /// The largest fleet file in bytes.
    private static let fleetLimit = 1 << 26
    /// The largest table and the largest lock in bytes.
    private static let tableLimit = 1 << 28

    /// Reads the files. ``problems`` lists what is wrong in them.
    ///
    /// - Throws: When the fleet file or the lock cannot be read at all.
    public init(_ file: String) throws(FleetStoreError) {
        self.file = file
        lockFile = Self.lockFile(beside: file)
        let octets = try SourceFile.readNamed(file, limit: Self.fleetLimit)
        let directory = SourceFile.directory(of: file)
        let lockFile = lockFile
        hasLockFile = Files.exists(lockFile)
        let lockOctets = hasLockFile ? try SourceFile.read(lockFile, limit: Self.tableLimit) : []
        (fleet, problems) = Fleet.decode(octets, file: file) { name in
            let path = name.hasPrefix("/") ? name : directory + name
            do throws(SystemError) {
                return .octets(try Files.read(path, limit: Self.tableLimit))
            } catch {
                return .unreadable(SourceFile.reason(error, Self.tableLimit))
            }
        }
        let (lock, faults) = hasLockFile ? FleetLock.decode(lockOctets, file: lockFile) : (nil, [])
        self.lock = lock
        problems += faults
    }

    /// The lock of a fleet file, with symbolic links followed.
    static func lockFile(beside file: String) -> String {
        let path = FleetLock.file(beside: file)
        return Files.isSymbolicLink(path) ? Files.resolved(path) ?? path : path
    }

    /// The file that is locked while a fleet is changed. The lock itself cannot be, because it gets replaced.
    static func claim(of lockFile: String) -> String {
        let directory = SourceFile.directory(of: lockFile)
        let name = lockFile.dropFirst(directory.count)
        return "\(directory).\(name.hasSuffix(".lock.json") ? name.dropLast(5) : name)"
    }

    /// Uses a lock that was restored from a manifest, when there is no lock file.
    mutating func use(_ lock: FleetLock) { self.lock = lock }

    public var hasErrors: Bool { problems.contains(where: \.isError) }

    /// Adds problems that were found later. The list keeps the order of the files.
    public mutating func add(_ more: [FileProblem]) { problems = FileProblem.sorted(problems + more) }

    /// The contents of the directory of keys; `nil` when the fleet file names none.
    public var keys: FleetKeyFolder? {
        guard let name = fleet?.keysFolder else { return nil }
        let path = name.hasPrefix("/") ? name : SourceFile.directory(of: file) + name
        guard Files.isDirectory(path) else { return FleetKeyFolder(path: path, files: nil) }
        let names = Files.names(in: path)
        return FleetKeyFolder(
            path: path, files: Set(names), exposed: Set(names.filter { !Files.isPrivate("\(path)/\($0)") }))
    }

    /// Checks every beacon, and adds what is wrong to ``problems``.
    ///
    /// - Parameter progress: Gets how many beacons of how many are done, now and then.
    /// - Returns: `nil` when no identities can be allocated; ``problems`` has the reason.
    public mutating func check(
        progress: (_ done: Int, _ all: Int) -> Void = { _, _ in }
    ) throws(FleetStoreError) -> FleetReport? {
        guard let (fleet, allocation) = allocation() else { return nil }
        return try check(fleet, allocation, progress: progress)
    }

    /// Checks every beacon, and adds what is wrong to ``problems``.
    mutating func check(
        _ fleet: Fleet, _ allocation: FleetAllocation, ignoringKeys: Bool = false,
        progress: (_ done: Int, _ all: Int) -> Void = { _, _ in }
    ) throws(FleetStoreError) -> FleetReport {
        let keys = ignoringKeys ? nil : keys
        do throws(SystemError) {
            let generator = FleetGenerator(fleet, allocation, keys: keys)
            let report = try generator.checkAll(fleet, keys: keys) { (part, _) throws(SystemError) in
                progress(min((part.number + 1) * FleetGenerator.partSize, fleet.beaconCount), fleet.beaconCount)
            }
            add(report.problems)
            return report
        } catch {
            throw FleetStoreError(error, at: file)
        }
    }

    /// The manifest of the fleet as it would be generated now, with the identities of its lock or, for beacons that have
    /// none yet, with those that they would get.
    ///
    /// - Parameter lock: The lock to use when there is none next to the fleet file.
    /// - Throws: ``refusal`` when there is an error in any of the files.
    mutating func manifest(lock other: FleetLock? = nil) throws(FleetStoreError) -> FleetManifest {
        if lock == nil, !hasLockFile, let other { lock = other }
        let (fleet, allocation) = try allocated()
        return try manifest(fleet, allocation)
    }

    /// The manifest of a fleet that has been allocated.
    ///
    /// - Throws: ``refusal`` when there is an error in any of the files.
    mutating func manifest(
        _ fleet: Fleet, _ allocation: FleetAllocation, progress: (_ done: Int, _ all: Int) -> Void = { _, _ in }
    ) throws(FleetStoreError) -> FleetManifest {
        var manifest = FleetManifest(fleet: fleet.name)
        do throws(SystemError) {
            let generator = FleetGenerator(fleet, allocation)
            let report = try generator.checkAll(fleet, keys: nil) { (part, _) throws(SystemError) in
                manifest.beacons += part.beacons.compactMap(\.beacon)
                progress(manifest.beacons.count, fleet.beaconCount)
            }
            add(report.problems)
        } catch {
            throw FleetStoreError(error, at: file)
        }
        guard !hasErrors else { throw refusal }
        return manifest
    }

    /// All errors as one error, for a caller that needs a fleet without errors.
    public var refusal: FleetStoreError { FleetStoreError(problems) }

    /// The fleet with the identities that it has, and would get now for beacons that have none yet.
    ///
    /// - Parameter releasing: Names whose retired identities may be given out again.
    /// - Throws: ``refusal`` when there is an error in any of the files.
    public mutating func allocated(
        releasing: [String] = []
    ) throws(FleetStoreError) -> (fleet: Fleet, allocation: FleetAllocation) {
        guard !hasErrors, let found = allocation(releasing: releasing) else { throw refusal }
        return found
    }

    /// The same for a fleet that may have errors, to find more of them.
    ///
    /// - Returns: `nil` when no identities can be allocated; ``problems`` has the reason.
    public mutating func allocation(
        releasing: [String] = []
    ) -> (fleet: Fleet, allocation: FleetAllocation)? {
        guard let fleet, lock != nil || !hasLockFile else { return nil }
        let now = RFC3339Time(secondsSince1970: Int(WallClock.microseconds() / 1_000_000))
        let (allocation, faults) = FleetAllocation.make(fleet, lock: lock, releasing: releasing, now: now)
        add(faults)
        return faults.contains(where: \.isError) ? nil : (fleet, allocation)
    }
}

extension FleetGenerator {
    /// The beacons of a part of the fleet.
    struct Part: Sendable {
        /// Counts from 0.
        var number: Int
        var beacons: [GeneratedBeacon]
        /// Their lines in `manifest.json`, without the separators between them.
        var manifest: [String] = []
        /// Their lines in `manifest.csv`.
        var table = ""
    }

    static let partSize = 512

    /// Generates all beacons on all cores, checks them, and hands them to `body` in their order.
    ///
    /// - Parameters:
    ///   - withText: Whether the parts contain the lines of the manifests.
    ///   - body: Gets each part, and whether an error was found so far.
    func checkAll(
        _ fleet: Fleet, keys: FleetKeyFolder?, withText: Bool = false,
        _ body: (_ part: Part, _ hasErrors: Bool) throws(SystemError) -> Void
    ) throws(SystemError) -> FleetReport {
        var checker = FleetChecker(fleet, keys: keys)
        let parts = try OrderedWork(pieces: (count + Self.partSize - 1) / Self.partSize, window: 8) { number in
            let start = number * Self.partSize
            var part = Part(
                number: number, beacons: (start..<min(start + Self.partSize, count)).map { beacon($0) })
            if withText {
                part.manifest = part.beacons.compactMap { $0.beacon?.json.line }
                part.table = part.beacons.compactMap { $0.beacon?.csv }.joined()
            }
            return part
        }
        while let part = parts.next() {
            for beacon in part.beacons where !checker.isFull { checker.add(beacon) }
            if checker.isFull { parts.stop() }
            try body(part, checker.hasErrors)
        }
        return checker.report()
    }
}

/// The right to change something of a fleet, which one process has at a time: from before it reads what it will change
/// until the new files are in their places.
enum FleetClaim {
    /// Takes the right; waits for another holder for some seconds.
    ///
    /// - Parameters:
    ///   - path: The lock's file; made, and removed with the right.
    ///   - subject: What is changed, as messages name it.
    ///   - purpose: The command, for whoever finds the right taken.
    /// - Returns: `nil` where this user may not write beside the files and so changes nothing there.
    /// - Throws: ``FleetStoreError/Kind/busy``, with who has it.
    static func take(
        _ path: String, of subject: String, purpose: String, waiting limit: Duration = .seconds(5)
    ) throws(FleetStoreError) -> FileLock? {
        do throws(FileLockError) {
            return try FileLock(path, purpose: purpose, waiting: limit)
        } catch {
            switch error {
            case .held(_, let holder):
                let who = holder.map { "`\($0.purpose)` (process \($0.process))" } ?? "another process"
                throw FleetStoreError(.busy, "\(subject): \(who) is changing it; try again when that has ended")
            case .system(let error):
                switch error.errno {
                case SystemError.readOnlyFileSystem, SystemError.accessDenied: return nil
                // Whoever reads the files says what is missing.
                case SystemError.noEntry, SystemError.notADirectory: return nil
                case SystemError.noSpace:
                    throw FleetStoreError(.system, "\(subject): the disk is full; nothing was changed")
                default: throw FleetStoreError(error, at: path)
                }
            }
        }
    }
}
