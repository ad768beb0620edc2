internal import CLinux
internal import Glibc
internal import Synchronization
internal import SystemPackage

/// A lock that one process at a time can hold: a file that is locked while this object lives, and that names its holder.
///
/// To change a fleet, take the lock, *then* read the files, write and replace them, and release the lock. Files that were
/// read before the lock was taken may be out of date.
///
///     let lock = try FileLock("/fleets/.berlin.lock", purpose: "pharos fleet generate", waiting: .seconds(10))
///     defer { lock.release() }
///
/// - The kernel releases the lock when the process ends (fcntl(2), F_OFD_SETLK). The lock excludes other threads of this
///   process too, and is not inherited by programs that this one starts.
/// - Only users who may replace files in the directory can take the lock: the mode of the file follows the mode of the
///   directory (0600 if only the owner may write there), and root gives the file to the owner of the directory. A file that
///   other users can open is replaced, so that an older lock on it has no effect.
/// - A symbolic link, a file that is not regular, a file with several names and a file of another user are refused.
/// - The file is removed on release. A file that a killed process has left has no effect.
public final class FileLock: Sendable {
    /// The process that holds a lock.
    public struct Holder: Hashable, Sendable {
        /// The process id.
        public let process: Int32
        /// The purpose that the process gave, in one line.
        public let purpose: String

        /// Creates a holder from a process id and a purpose.
        public init(process: Int32, purpose: String) {
            self.process = process
            self.purpose = purpose
        }
    }

    /// The path of the file.
    public let path: String
    private let directory: Directory
    private let name: String
    /// The path of the copy that every user may read; `nil` if there is none.
    private let record: String?
    private let file: Mutex<Descriptor?>

    /// Takes the lock.
    ///
    /// - Parameters:
    ///   - path: The path of the file, in an existing directory that this user may write to. It must not be the file that is
    ///     changed, because that one gets replaced.
    ///   - purpose: The action of this process, such as the command, for the message of a process that finds the lock
    ///     taken.
    ///   - limit: The longest time to wait for another holder. It is checked every 20 ms.
    ///   - isPublic: Whether to name the holder also in a file that every user may read: the path with `.holder` instead of
    ///     `.lock`. Other users need it for ``holder(of:)``.
    /// - Throws: ``FileLockError/held(_:by:)`` if another process, or this one, still has the lock after that time.
    public init(
        _ path: String, purpose: String, waiting limit: Duration = .zero, isPublic: Bool = false
    ) throws(FileLockError) {
        let line = purpose.map { $0.isNewline ? " " : String($0) }.joined()
        let (around, name) = Files.split(path)
        let directory: Directory
        let file: Descriptor
        do throws(SystemError) {
            directory = try Directory(around)
            file = try Self.take(name, in: directory, path, line, until: Self.moment(after: limit))
        } catch {
            guard error.errno == .wouldBlock else { throw .system(error.about(path)) }
            throw .held(path, by: Self.waitForHolder(of: path))
        }
        // The properties are set last, because a complete object removes its file when it ends.
        self.path = path
        self.directory = directory
        self.name = name
        record = isPublic ? Self.record(of: path) : nil
        self.file = Mutex(file)
        // Without the record other users cannot see the holder, but the lock works.
        if let record { try? Files.replace(record, with: Self.text(line), isDurable: false) }
    }

    deinit { release() }

    /// Releases the lock before the end of this object's life. A second call has no effect.
    public func release() {
        file.withLock { held in
            guard held != nil else { return }
            if let record { try? Files.remove(record) }
            // The file is still locked, so a process that waits for it finds it removed, and makes a new one.
            try? directory.remove(name)
            held = nil
        }
    }

    /// Returns the holder of the lock at `path`; `nil` if it is free, or if this user may not open the file and the lock is
    /// not public. Does not wait, and does not affect the holder.
    public static func holder(of path: String) -> Holder? {
        let (around, name) = Files.split(path)
        guard let directory = try? Directory(around) else { return nil }
        do throws(SystemError) {
            let file = try directory.openRegular(name)
            return file.isLockedByOthers ? contents(of: file)?.holder : nil
        } catch {
            guard error.errno == .permissionDenied else { return nil }
        }
        let (_, recordName) = Files.split(record(of: path))
        guard let file = try? directory.openRegular(recordName), let (holder, identity) = contents(of: file),
            identity.isRunning
        else { return nil }
        return holder
    }

    // MARK: Taking the lock

    private static func take(
        _ name: String, in directory: Directory, _ path: String, _ purpose: String, until deadline: UInt64
    ) throws(SystemError) -> Descriptor {
        while true {
            do throws(SystemError) {
                return try attempt(name, in: directory, path, purpose)
            } catch {
                guard error.errno == .wouldBlock, MonotonicClock.nanoseconds() < deadline else { throw error }
                usleep(20_000)
            }
        }
    }

    /// - Throws: EAGAIN if another process has the lock.
    private static func attempt(
        _ name: String, in directory: Directory, _ path: String, _ purpose: String
    ) throws(SystemError) -> Descriptor {
        for _ in 0..<16 {
            let file: Descriptor
            do throws(SystemError) {
                file = try directory.open(name, O_RDWR | O_CREAT)
            } catch {
                // For a lock of another user, only the public record shows whether it is held.
                guard error.errno == .permissionDenied, holder(of: path) != nil else { throw error }
                throw SystemError("open", path, errno: .wouldBlock)
            }
            let (status, around) = (try file.status(path), try directory.status())
            try refuseForeign(status, around, path)
            let permissions = permissions(in: around)
            let isOpenToOthers = !status.permissions.subtracting(permissions).isDisjoint(with: .exceptOwner)
            do throws(SystemError) {
                try file.lock(path)
            } catch {
                // If other users could open the file, one of them may have locked it. The lock is accepted only if the
                // file names a running process.
                guard error.errno == .wouldBlock || error.errno == .permissionDenied else { throw error }
                guard isOpenToOthers, contents(of: file)?.identity.isRunning != true else {
                    throw SystemError("fcntl", path, errno: .wouldBlock)
                }
                try? directory.remove(name)
                continue
            }
            // The previous holder may have removed the file.
            guard directory.has(file, at: name) else { continue }
            if isOpenToOthers {
                try directory.remove(name)
                continue
            }
            if geteuid() == 0 || permissions.contains(.groupReadWrite) {
                let owner = geteuid() == 0 ? around.userID.rawValue : uid_t.max
                _ = fchown(file.number, owner, around.groupID.rawValue)
            }
            try file.setPermissions(permissions, path)
            try systemCall("truncate", path) { try file.file.resize(to: 0) }
            try file.writeAll(text(purpose))
            return file
        }
        throw SystemError("open", path, errno: .wouldBlock)
    }

    private static func refuseForeign(
        _ status: Stat, _ around: Stat, _ path: String
    ) throws(SystemError) {
        if let refusal = status.refusalOfOtherKinds("open", path) { throw refusal }
        guard status.isOursOrRoots || status.userID == around.userID else {
            throw SystemError(
                "open", path, errno: .notPermitted,
                reason: "user \(status.userID.rawValue) has put this file where a lock belongs; remove it")
        }
        guard status.linkCount < 2 else {
            throw SystemError(
                "open", path, errno: .notPermitted,
                reason: "this lock file has other names too; remove it")
        }
    }

    /// Returns the permissions of a lock: users who may replace files in the directory may open it.
    private static func permissions(in directory: Stat) -> FilePermissions {
        guard !directory.permissions.contains(.saveText) else { return .ownerReadWrite }
        var result: FilePermissions = .ownerReadWrite
        if directory.permissions.contains(.groupWrite) { result.formUnion(.groupReadWrite) }
        if directory.permissions.contains(.otherWrite) { result.formUnion(.otherReadWrite) }
        return result
    }

    private static func moment(after limit: Duration) -> UInt64 {
        let (seconds, attoseconds) = limit.components
        let nanoseconds = min(max(0, seconds), 1 << 32) * 1_000_000_000 + max(0, attoseconds) / 1_000_000_000
        return MonotonicClock.nanoseconds() + UInt64(nanoseconds)
    }

    // MARK: The contents of the file

    private static func record(of path: String) -> String {
        (path.hasSuffix(".lock") ? String(path.dropLast(5)) : path) + ".holder"
    }

    /// Returns the process id, the purpose, and the start time, because another process may get the same id later.
    private static func text(_ purpose: String) -> [UInt8] {
        let process = ProcessIdentity.current
        return Array("\(process.id)\n\(purpose)\n\(process.startTicks.map { "\($0)\n" } ?? "")".utf8)
    }

    private static func contents(of file: Descriptor) -> (holder: Holder, identity: ProcessIdentity)? {
        guard let octets = try? file.read(upTo: 4096) else { return nil }
        let lines = String(decoding: octets, as: UTF8.self).split(separator: "\n", omittingEmptySubsequences: false)
        guard lines.count > 2, let process = Int32(lines[0]) else { return nil }
        let identity = ProcessIdentity(id: process, startTicks: UInt64(lines[2]))
        return (Holder(process: process, purpose: String(lines[1])), identity)
    }

    /// Waits up to 0.1 s for the name of the holder, which is written just after the lock is taken.
    private static func waitForHolder(of path: String) -> Holder? {
        for _ in 0..<20 {
            if let holder = holder(of: path), ProcessIdentity(id: holder.process, startTicks: nil).isRunning {
                return holder
            }
            usleep(5000)
        }
        return nil
    }
}

/// The reason why a lock cannot be taken.
public enum FileLockError: Error, Hashable, Sendable, CustomStringConvertible {
    /// Another process has the lock at this path; the holder is `nil` if it cannot be read.
    case held(String, by: FileLock.Holder?)
    /// The file cannot be created or locked.
    case system(SystemError)

    /// A sentence with the path, the problem and what to do.
    public var description: String {
        switch self {
        case .held(let path, let holder?):
            "\(path): held by \(holder.purpose) (process \(holder.process)); wait until it has ended, then try again"
        case .held(let path, nil): "\(path): held by another process; wait until it has ended, then try again"
        case .system(let error): "\(error)"
        }
    }
}

extension Descriptor {
    /// Locks the whole file until this descriptor is closed.
    ///
    /// - Throws: EAGAIN if another open file has the lock.
    func lock(_ subject: String) throws(SystemError) {
        var request = Self.wholeFile
        try retryingInterrupts("fcntl", subject) { unsafe fcntl(number, PHAROS_OFD_SETLK, &request) }
    }

    /// True if another open file has a lock on this file. Takes no lock.
    var isLockedByOthers: Bool {
        var request = Self.wholeFile
        let result = unsafe fcntl(number, PHAROS_OFD_GETLK, &request)
        return result == 0 && request.l_type != Int16(F_UNLCK)
    }

    private static var wholeFile: flock {
        flock(l_type: Int16(F_WRLCK), l_whence: Int16(SEEK_SET), l_start: 0, l_len: 0, l_pid: 0)
    }
}

/// A lock on an existing file that this user may read, held while this object lives (flock(2)). The file is not changed.
///
/// An editor that replaces the file by a new one leaves the lock on the old one.
public final class OpenFileLock: Sendable {
    private let file: Descriptor

    /// Takes the lock on the regular file at `path`. Does not wait.
    ///
    /// - Throws: EAGAIN if another process, or this one, has the lock.
    public init(_ path: String) throws(SystemError) {
        file = try Descriptor.openRegular(path)
        try retryingInterrupts("flock", path) { pharos_lock_file(file.number) }
    }
}
