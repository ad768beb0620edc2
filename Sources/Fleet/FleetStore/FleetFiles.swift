public import Configuration
public import Fleet
internal import LinuxHost

/// A fleet file with all that lies beside it: its tables, its lock, its directory of keys.
public struct FleetFiles: Sendable {
    /// As it was named.
    public let file: String
    /// Beside it; where that is a symbolic link, what it leads to.
    public let lockFile: String
    /// `nil` where nothing can be made of the file.
    public let fleet: Fleet?
    /// `nil` where there is none yet, and where it cannot be used.
    public private(set) var lock: FleetLock?
    /// Of the fleet file, its tables and its lock, in their order.
    public private(set) var problems: [FileProblem]
    private let hasLockFile: Bool

    /// Enough for a million beacons; the tree of a larger JSON text takes memory by the gigabyte.
    private static let fleetLimit = 1 << 26
    private static let tableLimit = 1 << 30
    /// Below so many octets a thread costs more than it saves.
    private static let worthwhileSize = 1 << 20

    /// Reads the files. What is wrong in them is said by ``problems``.
    ///
    /// - Throws: Where the fleet file or the lock cannot be read at all.
    public init(_ file: String) throws(FleetStoreError) {
        self.file = file
        lockFile = Self.lockFile(beside: file)
        let octets = try SourceFile.readNamed(file, limit: Self.fleetLimit)
        let directory = SourceFile.directory(of: file)
        let lockFile = lockFile
        hasLockFile = Files.exists(lockFile)
        let lockOctets = hasLockFile ? try SourceFile.read(lockFile, limit: Self.tableLimit) : []
        // In a fleet of a million the lock and the table beside it take a second each.
        let reading: BackgroundResult<(lock: FleetLock?, problems: [FileProblem])>?
        do throws(SystemError) {
            reading =
                lockOctets.count >= Self.worthwhileSize
                ? try BackgroundResult { FleetLock.decode(lockOctets, file: lockFile) } : nil
        } catch {
            throw FleetStoreError(error, at: lockFile)
        }
        (fleet, problems) = Fleet.decode(octets, file: file) { name in
            let path = name.hasPrefix("/") ? name : directory + name
            do throws(SystemError) {
                return .octets(try Files.read(path, limit: Self.tableLimit))
            } catch {
                return .unreadable(SourceFile.reason(error, Self.tableLimit))
            }
        }
        let (lock, faults) =
            reading?.value ?? (hasLockFile ? FleetLock.decode(lockOctets, file: lockFile) : (nil, []))
        self.lock = lock
        problems += faults
    }

    /// The lock of a fleet file, with symbolic links followed.
    static func lockFile(beside file: String) -> String {
        let path = FleetLock.file(beside: file)
        return Files.isSymbolicLink(path) ? Files.resolved(path) ?? path : path
    }

    /// What is locked while a fleet is changed: the lock itself gets replaced.
    static func claim(of lockFile: String) -> String {
        let directory = SourceFile.directory(of: lockFile)
        let name = lockFile.dropFirst(directory.count)
        return "\(directory).\(name.hasSuffix(".lock.json") ? name.dropLast(5) : name)"
    }

    /// Takes a lock that was made from something else in the place of one that is not there.
    mutating func use(_ lock: FleetLock) { self.lock = lock }

    public var hasErrors: Bool { problems.contains(where: \.isError) }

    /// Adds what was found later; the order of the files stays.
    public mutating func add(_ more: [FileProblem]) { problems = FileProblem.sorted(problems + more) }

    /// What lies in the directory for keys, if the fleet file names one.
    public var keys: FleetKeyFolder? {
        guard let name = fleet?.keysFolder else { return nil }
        let path = name.hasPrefix("/") ? name : SourceFile.directory(of: file) + name
        guard Files.isDirectory(path) else { return FleetKeyFolder(path: path, files: nil) }
        let names = Files.names(in: path)
        return FleetKeyFolder(
            path: path, files: Set(names), exposed: Set(names.filter { !Files.isPrivate("\(path)/\($0)") }))
    }

    /// Looks at every beacon on all cores, and adds what is wrong to ``problems``.
    ///
    /// - Parameter progress: Gets how many beacons of how many are done, now and then.
    /// - Returns: `nil` where no identities can be given out; ``problems`` says why.
    public mutating func check(
        progress: (_ done: Int, _ all: Int) -> Void = { _, _ in }
    ) throws(FleetStoreError) -> FleetReport? {
        guard let (fleet, allocation) = allocation() else { return nil }
        do throws(SystemError) {
            let report = try FleetAssembly.check(fleet, allocation, keys: keys) { progress($0, fleet.beaconCount) }
            add(report.problems)
            return report
        } catch {
            throw FleetStoreError(error, at: file)
        }
    }

    /// All errors at once, as the error of whoever needs a good fleet.
    public var refusal: FleetStoreError { FleetStoreError(problems) }

    /// The fleet with every identity, as it has them or would get them now.
    ///
    /// - Parameter releasing: Names whose retired identities may be given out again.
    /// - Throws: ``refusal`` where there is an error in any of the files.
    public mutating func allocated(
        releasing: [String] = []
    ) throws(FleetStoreError) -> (fleet: Fleet, allocation: FleetAllocation) {
        guard !hasErrors, let found = allocation(releasing: releasing) else { throw refusal }
        return found
    }

    /// The same for whoever looks for all problems, in a fleet with errors too.
    ///
    /// - Returns: `nil` where no identities can be given out; ``problems`` says why.
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
