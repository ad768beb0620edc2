internal import Configuration
internal import Fleet
internal import LinuxHost

/// A fleet file with all that lies beside it.
struct FleetFiles {
    let file: String
    let lockFile: String
    let fleet: Fleet?
    /// `nil` where there is none yet, and where it cannot be used.
    let lock: FleetLock?
    /// Of the fleet file, its tables and its lock.
    private(set) var problems: [FileProblem]

    /// Enough for a million beacons; the tree of a larger JSON text takes memory by the gigabyte.
    private static let fleetLimit = 1 << 26
    private static let tableLimit = 1 << 30

    init(_ file: String) throws {
        self.file = file
        lockFile = FleetLock.file(beside: file)
        let octets = try InputFile.read(file, limit: Self.fleetLimit)
        let folder = Self.folder(of: file)
        let reading =
            Files.exists(lockFile)
            ? try LockReading(try InputFile.read(lockFile, limit: Self.tableLimit), file: lockFile) : nil
        (fleet, problems) = Fleet.decode(octets, file: file) { name in
            let path = name.hasPrefix("/") ? name : folder + name
            do {
                return .octets(try InputFile.read(path, limit: Self.tableLimit))
            } catch let failure as Failure {
                return .unreadable(failure.message.split(separator: ": ").last.map(String.init) ?? failure.message)
            } catch {
                return .unreadable("\(error)")
            }
        }
        let faults: [FileProblem]
        (lock, faults) = try reading?.result() ?? (nil, [])
        problems += faults
    }

    var hasErrors: Bool { problems.contains(where: \.isError) }

    mutating func add(_ more: [FileProblem]) { problems = FileProblem.sorted(problems + more) }

    /// What lies in the folder for keys, if the fleet file names one.
    var keys: FleetKeyFolder? {
        guard let name = fleet?.keysFolder else { return nil }
        let path = name.hasPrefix("/") ? name : Self.folder(of: file) + name
        guard Files.exists(path + "/.") else { return FleetKeyFolder(path: path, files: nil) }
        let names = Files.names(in: path)
        return FleetKeyFolder(
            path: path, files: Set(names), exposed: Set(names.filter { !Files.isPrivate("\(path)/\($0)") }))
    }

    /// The folder of a path with its last slash; empty for the folder where we are.
    static func folder(of path: String) -> String {
        path.lastIndex(of: "/").map { String(path[...$0]) } ?? ""
    }

    /// All errors at once, as the error of a command that needs a good fleet.
    var refusal: Failure {
        let status: ExitStatus =
            switch problems.refusal {
            case .missing: .noInput
            case .malformed: .dataFormat
            case .invalid, nil: .configuration
            }
        return Failure(status, problems.filter(\.isError).map(\.description).joined(separator: "\npharos: "))
    }

    /// Every identity, and the problems with them; `nil` where there is no good fleet to give identities to.
    mutating func allocate(releasing: [String] = []) -> FleetAllocation? {
        guard let fleet, lock != nil || !Files.exists(lockFile) else { return nil }
        let now = RFC3339Time(secondsSince1970: Int(WallClock.microseconds() / 1_000_000))
        let (allocation, faults) = FleetAllocation.make(fleet, lock: lock, releasing: releasing, now: now)
        add(faults)
        return faults.contains(where: \.isError) ? nil : allocation
    }
}
