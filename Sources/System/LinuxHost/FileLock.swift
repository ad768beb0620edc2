internal import CLinux
internal import Glibc
internal import Synchronization

/// The right to do something that one process at a time may do: a file, locked for as long as this lives, that says who
/// holds it.
///
/// A fleet is changed like this: take the lock, *then* read what will be changed, write, put the new files in their
/// places, release the lock. What was read before the lock was taken may be out of date.
///
///     let lock = try FileLock("/fleets/.berlin.lock", purpose: "pharos fleet generate", waiting: .seconds(10))
///     defer { lock.release() }
///
/// - The kernel gives the lock back when the process ends in whatever way (fcntl(2), F_OFD_SETLK). It excludes other
///   threads of this process too, and is not inherited by programs that this one starts.
/// - Whoever may replace files in the directory may take the lock, and nobody else may: the file's mode follows the
///   directory's (0600 if only the owner may write there), and root gives the file to the directory's owner. A file
///   that others can open is replaced by a new one, so that nobody keeps a lock on it from before.
/// - A symbolic link, anything but a regular file, a file with several names and a file of another user are refused.
/// - The file is removed on release. One that a killed process has left means nothing.
public final class FileLock: Sendable {
    /// Who holds a lock.
    public struct Holder: Hashable, Sendable {
        /// The process' number.
        public let process: Int32
        /// What it does with the lock, as it said when it took it; one line.
        public let purpose: String

        /// A process by its number, and what it says that it holds the lock for.
        public init(process: Int32, purpose: String) {
            self.process = process
            self.purpose = purpose
        }
    }

    /// The lock's file.
    public let path: String
    private let directory: Directory
    private let name: String
    /// A copy of what the file says that everybody may read; `nil` if there is none.
    private let record: String?
    private let file: Mutex<Descriptor?>

    /// Takes the lock.
    ///
    /// - Parameters:
    ///   - path: The lock's file, in a directory that exists and that this user may write to. Not the file that is
    ///     changed: that one gets replaced.
    ///   - purpose: What this process does with it, for those who find it taken: one line, such as the command.
    ///   - limit: How long to wait for another holder, at most. Looks again every 20 ms; zero does not wait.
    ///   - isPublic: Also write who holds it to a file that everybody may read: the path with `.holder` in place of
    ///     `.lock`. For locks that other users ask about with ``holder(of:)``.
    /// - Throws: ``FileLockError/held(_:by:)`` when another process, or this one, still has it after that time.
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
            guard error.errno == EAGAIN else { throw .system(error.about(path)) }
            throw .held(path, by: Self.patientHolder(path))
        }
        // Last of all: an instance that is complete removes its file when it ends, even one that is refused.
        self.path = path
        self.directory = directory
        self.name = name
        record = isPublic ? Self.record(of: path) : nil
        self.file = Mutex(file)
        // The lock holds without it; only other users do not see by whom.
        if let record { try? Files.replace(record, with: Self.text(line), isDurable: false) }
    }

    deinit { release() }

    /// Gives the lock back before the end of this object's life. Does nothing the second time.
    public func release() {
        file.withLock { held in
            guard held != nil else { return }
            if let record { try? Files.remove(record) }
            // While it is still locked: whoever waits for it finds that its file is gone, and makes a new one.
            try? directory.remove(name)
            held = nil
        }
    }

    /// Who holds the lock at `path`; `nil` when nobody does, and when that cannot be seen: this user may not open the
    /// file, and the holder has not made it public. Asking disturbs nobody, and waits for nothing.
    public static func holder(of path: String) -> Holder? {
        let (around, name) = Files.split(path)
        guard let directory = try? Directory(around) else { return nil }
        do throws(SystemError) {
            let file = try directory.openRegular(name)
            return file.isLockedByOthers ? said(file)?.holder : nil
        } catch {
            guard error.errno == EACCES else { return nil }
        }
        let (_, recordName) = Files.split(record(of: path))
        guard let file = try? directory.openRegular(recordName), let (holder, identity) = said(file),
            identity.isRunning
        else { return nil }
        return holder
    }

    // MARK: taking it

    private static func take(
        _ name: String, in directory: Directory, _ path: String, _ purpose: String, until deadline: UInt64
    ) throws(SystemError) -> Descriptor {
        while true {
            do throws(SystemError) {
                return try attempt(name, in: directory, path, purpose)
            } catch {
                guard error.errno == EAGAIN, MonotonicClock.nanoseconds() < deadline else { throw error }
                usleep(20_000)
            }
        }
    }

    /// - Throws: EAGAIN when somebody else has it.
    private static func attempt(
        _ name: String, in directory: Directory, _ path: String, _ purpose: String
    ) throws(SystemError) -> Descriptor {
        for _ in 0..<16 {
            let file: Descriptor
            do throws(SystemError) {
                file = try directory.open(name, O_RDWR | O_CREAT)
            } catch {
                // Another user's lock; whether it is held, only its holder can have told us.
                guard error.errno == EACCES, holder(of: path) != nil else { throw error }
                throw SystemError("open", path, errno: EAGAIN)
            }
            let (status, around) = (try FileStatus(file, path), try directory.status())
            try refuseForeign(status, around, path)
            let mode = mode(in: around)
            let isOpenToOthers = status.mode & 0o077 & ~mode != 0
            do throws(SystemError) {
                try file.lock(path)
            } catch {
                // Whoever could open the file may have locked it: believed only of a process that says who it is.
                guard error.errno == EAGAIN || error.errno == EACCES else { throw error }
                guard isOpenToOthers, said(file)?.identity.isRunning != true else {
                    throw SystemError("fcntl", path, errno: EAGAIN)
                }
                try? directory.remove(name)
                continue
            }
            // A holder that has ended meanwhile has taken the file with it.
            guard directory.has(file, at: name) else { continue }
            if isOpenToOthers {
                try directory.remove(name)
                continue
            }
            if geteuid() == 0 || mode & 0o060 != 0 {
                _ = fchown(file.number, geteuid() == 0 ? around.owner : uid_t.max, around.group)
            }
            _ = try retryingInterrupts("chmod", path) { fchmod(file.number, mode_t(mode)) }
            _ = try retryingInterrupts("truncate", path) { ftruncate(file.number, 0) }
            try file.writeAll(text(purpose))
            return file
        }
        throw SystemError("open", path, errno: EAGAIN)
    }

    private static func refuseForeign(
        _ status: FileStatus, _ around: FileStatus, _ path: String
    ) throws(SystemError) {
        if let refusal = status.refusalOfOtherKinds("open", path) { throw refusal }
        guard status.isOursOrRoots || status.owner == around.owner else {
            throw SystemError(
                "open", path, errno: EPERM,
                reason: "user \(status.owner) has put this file where a lock belongs; remove it")
        }
        guard status.links < 2 else {
            throw SystemError(
                "open", path, errno: EPERM,
                reason: "this lock file has other names too; remove it")
        }
    }

    /// Those who may replace files in the directory may open the lock.
    private static func mode(in directory: FileStatus) -> UInt32 {
        guard directory.mode & 0o1000 == 0 else { return 0o600 }
        return 0o600 | (directory.mode & 0o020 != 0 ? 0o060 : 0) | (directory.mode & 0o002 != 0 ? 0o006 : 0)
    }

    private static func moment(after limit: Duration) -> UInt64 {
        let (seconds, attoseconds) = limit.components
        let nanoseconds = min(max(0, seconds), 1 << 32) * 1_000_000_000 + max(0, attoseconds) / 1_000_000_000
        return MonotonicClock.nanoseconds() + UInt64(nanoseconds)
    }

    // MARK: what it says

    private static func record(of path: String) -> String {
        (path.hasSuffix(".lock") ? String(path.dropLast(5)) : path) + ".holder"
    }

    /// The process' number, its purpose, and when it started: a number alone may be another process' by now.
    private static func text(_ purpose: String) -> [UInt8] {
        let process = ProcessIdentity.current
        return Array("\(process.id)\n\(purpose)\n\(process.startTicks.map { "\($0)\n" } ?? "")".utf8)
    }

    private static func said(_ file: Descriptor) -> (holder: Holder, identity: ProcessIdentity)? {
        guard let octets = try? file.read(upTo: 4096) else { return nil }
        let lines = String(decoding: octets, as: UTF8.self).split(separator: "\n", omittingEmptySubsequences: false)
        guard lines.count > 2, let process = Int32(lines[0]) else { return nil }
        let identity = ProcessIdentity(id: process, startTicks: UInt64(lines[2]))
        return (Holder(process: process, purpose: String(lines[1])), identity)
    }

    /// The holder has the lock a moment before it has written who it is.
    private static func patientHolder(_ path: String) -> Holder? {
        for _ in 0..<20 {
            if let holder = holder(of: path), ProcessIdentity(id: holder.process, startTicks: nil).isRunning {
                return holder
            }
            usleep(5000)
        }
        return nil
    }
}

/// Why a lock cannot be had.
public enum FileLockError: Error, Hashable, Sendable, CustomStringConvertible {
    /// Another process has the lock at this path; `nil` when it does not say who it is.
    case held(String, by: FileLock.Holder?)
    /// The lock's file cannot be made or locked.
    case system(SystemError)

    /// One sentence: what, where, and what to do next.
    public var description: String {
        switch self {
        case .held(let path, let holder?):
            "\(path): held by \(holder.purpose) (process \(holder.process)); wait until it has ended and try again"
        case .held(let path, nil): "\(path): held by another process; wait until it has ended and try again"
        case .system(let error): "\(error)"
        }
    }
}

extension Descriptor {
    /// Locks the whole file against every other open one, until this is closed; a process that dies lets go of it.
    ///
    /// - Throws: EAGAIN when somebody else holds it.
    func lock(_ subject: String) throws(SystemError) {
        var request = Self.wholeFile
        _ = try retryingInterrupts("fcntl", subject) { unsafe fcntl(number, PHAROS_OFD_SETLK, &request) }
    }

    /// Whether somebody else holds a lock on it. Takes none, not even for a moment.
    var isLockedByOthers: Bool {
        var request = Self.wholeFile
        let result = unsafe fcntl(number, PHAROS_OFD_GETLK, &request)
        return result == 0 && request.l_type != Int16(F_UNLCK)
    }

    private static var wholeFile: flock {
        flock(l_type: Int16(F_WRLCK), l_whence: Int16(SEEK_SET), l_start: 0, l_len: 0, l_pid: 0)
    }
}
