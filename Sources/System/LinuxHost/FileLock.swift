internal import CLinux
internal import Glibc
internal import Synchronization
internal import SystemPackage

/// A lock that only one process can hold at a time: a locked file that names the process. The lock is held until this
/// object is released.
///
/// Use it for files that several processes change: take the lock, *then* read the files, replace them, and release the
/// lock. Files that were read before the lock was taken may be out of date.
///
///     let lock = try FileLock("/fleets/.berlin.lock", purpose: "pharos fleet generate", waiting: .seconds(10))
///     defer { lock.release() }
///
/// - The kernel releases the lock when the process ends (fcntl(2), F_OFD_SETLK). The lock excludes other threads of
///   this process too, and is not inherited by programs that this process starts.
/// - Only users who may replace files in the directory can take the lock: the lock file gets its permissions from those
///   of the directory (0600 if only the owner may write to the directory). If root creates it, it gets the owner of the
///   directory. A lock file that other users can open is replaced, so that a lock on the old file has no effect.
/// - A symbolic link, a file that is not regular, a file with several names (hard links) and a file of another user are
///   refused.
/// - The file is removed when the lock is released. If a process is killed, its lock file remains, but has no effect.
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
    /// The path of the file in which every user may read the holder; `nil` if the lock is not public.
    private let holderPath: String?
    private let file: Mutex<Descriptor?>

    /// Takes the lock.
    ///
    /// - Parameters:
    ///   - path: The path of the lock file, in an existing directory that this user may write to. It must not be a file
    ///     that the lock protects: when that file is replaced, the lock stays on the old file.
    ///   - purpose: The action of this process, such as the name of a command. Another process that cannot take the
    ///     lock prints this text.
    ///   - limit: The longest time to wait until another process releases the lock. The wait ends at most 20 ms after
    ///     the release.
    ///   - isPublic: True to write the holder also to a file that every user may read. Its name ends in `.holder`
    ///     instead of `.lock`. Other users need this file for ``holder(of:)``.
    /// - Throws: ``FileLockError/held(_:by:)`` if another process, or this one, still holds the lock after that time.
    public init(
        _ path: String, purpose: String, waiting limit: Duration = .zero, isPublic: Bool = false
    ) throws(FileLockError) {
        let purposeLine = purpose.map { $0.isNewline ? " " : String($0) }.joined()
        let (directoryPath, name) = Files.split(path)
        let directory: Directory
        let file: Descriptor
        do throws(SystemError) {
            directory = try Directory(directoryPath)
            file = try Self.take(name, in: directory, path, purposeLine, until: Self.deadline(after: limit))
        } catch {
            guard error.errno == .wouldBlock else { throw .system(error.about(path)) }
            throw .held(path, by: Self.waitForHolder(of: path))
        }
        // The properties are set last: once they are set, `deinit` removes the lock file, even if this initialiser
        // throws.
        self.path = path
        self.directory = directory
        self.name = name
        holderPath = isPublic ? Self.holderPath(of: path) : nil
        self.file = Mutex(file)
        // If this file cannot be written, the lock still works, but other users cannot see its holder.
        if let holderPath { try? Files.replace(holderPath, with: Self.text(purposeLine), isDurable: false) }
    }

    deinit { release() }

    /// Releases the lock at once. A second call has no effect.
    public func release() {
        file.withLock { descriptor in
            guard descriptor != nil else { return }
            if let holderPath { try? Files.remove(holderPath) }
            // The file is removed while it is locked. A process that locks the removed file afterwards notices the
            // removal, and creates a new file.
            try? directory.remove(name)
            descriptor = nil
        }
    }

    /// Returns the holder of the lock at `path`; `nil` if the lock is free, or if it is not public and this user may
    /// not open the file. It does not wait, and does not affect the holder.
    public static func holder(of path: String) -> Holder? {
        let (directoryPath, name) = Files.split(path)
        guard let directory = try? Directory(directoryPath) else { return nil }
        do throws(SystemError) {
            let file = try directory.openRegular(name)
            return file.isLockedByOthers ? contents(of: file)?.holder : nil
        } catch {
            guard error.errno == .permissionDenied else { return nil }
        }
        let (_, holderName) = Files.split(holderPath(of: path))
        guard let file = try? directory.openRegular(holderName), let (holder, identity) = contents(of: file),
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

    /// Tries once to take the lock.
    ///
    /// - Throws: EAGAIN if another process holds the lock.
    private static func attempt(
        _ name: String, in directory: Directory, _ path: String, _ purpose: String
    ) throws(SystemError) -> Descriptor {
        for _ in 0..<16 {
            let file: Descriptor
            do throws(SystemError) {
                file = try directory.open(name, O_RDWR | O_CREAT)
            } catch {
                // This user may not open the lock file of another user. Only the file with the suffix `.holder` shows
                // whether the lock is held.
                guard error.errno == .permissionDenied, holder(of: path) != nil else { throw error }
                throw SystemError("open", path, errno: .wouldBlock)
            }
            let (status, directoryStatus) = (try file.status(path), try directory.status())
            try refuseForeign(status, directoryStatus, path)
            let permissions = permissions(in: directoryStatus)
            let isOpenToOthers = !status.permissions.subtracting(permissions).isDisjoint(with: .ofGroupAndOthers)
            do throws(SystemError) {
                try file.lock(path)
            } catch {
                // Other users may open this file, so one of them may have locked it to block this process. The lock
                // counts only if the file names a running process.
                guard error.errno == .wouldBlock || error.errno == .permissionDenied else { throw error }
                guard isOpenToOthers, contents(of: file)?.identity.isRunning != true else {
                    throw SystemError("fcntl", path, errno: .wouldBlock)
                }
                try? directory.remove(name)
                continue
            }
            // The previous holder may have removed the file between opening and locking.
            guard directory.has(file, at: name) else { continue }
            if isOpenToOthers {
                try directory.remove(name)
                continue
            }
            if geteuid() == 0 || permissions.contains(.groupReadWrite) {
                let owner = geteuid() == 0 ? directoryStatus.userID.rawValue : uid_t.max
                _ = fchown(file.number, owner, directoryStatus.groupID.rawValue)
            }
            try file.setPermissions(permissions, path)
            try systemCall("truncate", path) { try file.file.resize(to: 0) }
            try file.writeAll(text(purpose))
            return file
        }
        throw SystemError("open", path, errno: .wouldBlock)
    }

    private static func refuseForeign(
        _ status: Stat, _ directoryStatus: Stat, _ path: String
    ) throws(SystemError) {
        if let refusal = status.refusalOfOtherKinds("open", path) { throw refusal }
        guard status.isOursOrRoots || status.userID == directoryStatus.userID else {
            throw SystemError(
                "open", path, errno: .notPermitted,
                reason: "this lock file belongs to user \(status.userID.rawValue); remove it")
        }
        guard status.linkCount < 2 else {
            throw SystemError(
                "open", path, errno: .notPermitted,
                reason: "this lock file has more than one name (hard links); remove it")
        }
    }

    /// Returns the permissions of a lock file: users who may replace files in the directory may open it.
    private static func permissions(in directory: Stat) -> FilePermissions {
        guard !directory.permissions.contains(.saveText) else { return .ownerReadWrite }
        var result: FilePermissions = .ownerReadWrite
        if directory.permissions.contains(.groupWrite) { result.formUnion(.groupReadWrite) }
        if directory.permissions.contains(.otherWrite) { result.formUnion(.otherReadWrite) }
        return result
    }

    private static func deadline(after limit: Duration) -> UInt64 {
        let (seconds, attoseconds) = limit.components
        let nanoseconds = min(max(0, seconds), 1 << 32) * 1_000_000_000 + max(0, attoseconds) / 1_000_000_000
        return MonotonicClock.nanoseconds() + UInt64(nanoseconds)
    }

    // MARK: The contents of the file

    /// Returns the path of the file in which every user may read the holder.
    private static func holderPath(of path: String) -> String {
        (path.hasSuffix(".lock") ? String(path.dropLast(5)) : path) + ".holder"
    }

    /// Returns the contents of the lock file: process id, purpose and start time. The start time distinguishes this
    /// process from a later process with the same id.
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

    /// Returns the holder of a lock. This function waits up to 0.1 s, because a holder writes its process id and its
    /// purpose just after it has taken the lock.
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
    /// Another process holds the lock at this path. The holder is `nil` if it cannot be read.
    case held(String, by: FileLock.Holder?)
    /// The file cannot be created or locked.
    case system(SystemError)

    /// A sentence with the path, the problem and what to do.
    public var description: String {
        switch self {
        case .held(let path, let holder?):
            "\(path): locked by \(holder.purpose) (process \(holder.process)); wait until it has ended, then try again"
        case .held(let path, nil): "\(path): locked by another process; wait until it has ended, then try again"
        case .system(let error): "\(error)"
        }
    }
}

extension Descriptor {
    /// Locks the whole file until this descriptor is closed.
    ///
    /// - Throws: EAGAIN if another open file description has a lock on the file.
    func lock(_ subject: String) throws(SystemError) {
        var request = Self.wholeFile
        try retryingInterrupts("fcntl", subject) { unsafe fcntl(number, PHAROS_OFD_SETLK, &request) }
    }

    /// True if another open file description has a lock on the file. This takes no lock.
    var isLockedByOthers: Bool {
        var request = Self.wholeFile
        let result = unsafe fcntl(number, PHAROS_OFD_GETLK, &request)
        return result == 0 && request.l_type != Int16(F_UNLCK)
    }

    private static var wholeFile: flock {
        flock(l_type: Int16(F_WRLCK), l_whence: Int16(SEEK_SET), l_start: 0, l_len: 0, l_pid: 0)
    }
}

/// A lock on an existing file that this user may read (flock(2)). It is held until this object is released. The file is
/// not changed.
///
/// If an editor replaces the file with a new file, the lock stays on the old file.
public final class OpenFileLock: Sendable {
    private let file: Descriptor

    /// Takes the lock on the regular file at `path`. Does not wait.
    ///
    /// - Throws: EAGAIN if another process, or this one, holds the lock.
    public init(_ path: String) throws(SystemError) {
        file = try Descriptor.openRegular(path)
        try retryingInterrupts("flock", path) { pharos_lock_file(file.number) }
    }
}
