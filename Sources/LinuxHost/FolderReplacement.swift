internal import CLinux
internal import Glibc

/// The next contents of a folder, which come into its place in one step: whoever looks sees the old folder or the new
/// one, and a process that is killed meanwhile leaves the old one whole.
///
/// The new folder grows as `.NAME.new` beside the old one. Files that do not change are the same files in both (hard
/// links), so that they are not touched; when no file changes, no folder is made. The two then change places
/// (renameat2(2), RENAME_EXCHANGE).
public final class FolderReplacement {
    /// The folder, without symbolic links on the way to it.
    public let path: String
    private let next: String
    /// What is in the folder now.
    private let current: Set<String>
    private let exists: Bool
    private var lock: Descriptor?
    private var kept: [String] = []
    public private(set) var written = 0
    public var unchanged: Int { kept.count }

    /// What was done.
    public struct Outcome: Hashable, Sendable {
        public var written = 0
        public var unchanged = 0
        public var removed = 0

        public init() {}

        fileprivate init(written: Int, unchanged: Int, removed: Int) {
            self.written = written
            self.unchanged = unchanged
            self.removed = removed
        }
    }

    /// - Throws: ENOTDIR where something else is at the path; ENOENT where the folder around it is missing.
    public init(_ path: String) throws(SystemError) {
        self.path = try Self.resolved(path)
        let (parent, name) = Self.split(self.path)
        next = parent + ".\(name).new"
        var status = stat()
        exists = unsafe stat(self.path, &status) == 0
        if exists, status.st_mode & S_IFMT != S_IFDIR { throw SystemError("open", path, errno: ENOTDIR) }
        current = exists ? Set(Files.names(in: self.path)) : []
    }

    /// The names in the folder as it is now.
    public var names: Set<String> { current }

    /// A file of the folder with these octets in it.
    public func put(_ name: String, _ octets: [UInt8]) throws(SystemError) {
        if current.contains(name), Self.holds("\(path)/\(name)", octets) {
            kept.append(name)
            return
        }
        try prepare()
        let file = try Descriptor.open("\(next)/\(name)", .replace)
        do throws(SystemError) {
            try file.writeAll(octets)
        } catch {
            throw SystemError(error.call, "\(path)/\(name)", errno: error.errno)
        }
        written += 1
    }

    /// A file of the folder that is written piece by piece. To be handed to ``finish(_:_:)``.
    public func draft(_ name: String) -> FileDraft {
        FileDraft("\(path)/\(name)", draft: "\(next)/\(name)") { [self] () throws(SystemError) in try prepare() }
    }

    /// Ends a file that was written piece by piece.
    public func finish(_ draft: FileDraft, _ name: String) throws(SystemError) {
        try draft.finish()
        if draft.isChanged {
            written += 1
        } else {
            kept.append(name)
        }
    }

    /// Whether anything will be done.
    public var isChanged: Bool { written > 0 || kept.count != current.count || !exists }

    /// Brings the new folder into the old one's place; what it does not hold is gone.
    ///
    /// - Throws: EBUSY for a folder that is a mount point.
    public func commit() throws(SystemError) -> Outcome {
        let removed = current.subtracting(kept).filter { name in
            !Files.exists("\(next)/\(name)")
        }.count
        let outcome = Outcome(written: written, unchanged: kept.count, removed: removed)
        guard isChanged else { return outcome }
        try prepare()
        for name in kept { try keep(name) }
        if written > 0 { try synchronise() }
        _ = unsafe unlink(next + "/" + Self.lockName)
        if exists {
            try exchange()
        } else {
            _ = try retryingInterrupts("rename", path) { unsafe rename(next, path) }
        }
        lock = nil
        return outcome
    }

    /// Takes away what was written for the new folder.
    public func discard() {
        guard lock != nil else { return }
        Self.remove(next)
        lock = nil
    }

    // MARK: steps

    private static let lockName = ".lock"

    /// Makes the new folder. One that a killed process has left is emptied first.
    private func prepare() throws(SystemError) {
        guard lock == nil else { return }
        if unsafe mkdir(next, 0o755) < 0, errno != EEXIST { throw SystemError("mkdir", next, errno: errno) }
        let held = try Descriptor.open(next + "/" + Self.lockName, .exclusiveUse)
        // EAGAIN: another process is at it.
        try held.lock(path)
        for name in Files.names(in: next) where name != Self.lockName { _ = unsafe unlink("\(next)/\(name)") }
        var status = stat()
        if exists, unsafe stat(path, &status) == 0 { _ = unsafe chmod(next, status.st_mode & 0o7777) }
        lock = held
    }

    private func keep(_ name: String) throws(SystemError) {
        if unsafe link("\(path)/\(name)", "\(next)/\(name)") == 0 { return }
        guard errno == EPERM || errno == EMLINK || errno == EOPNOTSUPP || errno == EXDEV else {
            throw SystemError("link", "\(path)/\(name)", errno: errno)
        }
        // A file system without hard links.
        let octets = try Files.read("\(path)/\(name)")
        try Descriptor.open("\(next)/\(name)", .replace).writeAll(octets)
    }

    private func synchronise() throws(SystemError) {
        let folder = try Descriptor.open(next, .read)
        _ = try retryingInterrupts("syncfs", path) { pharos_synchronise(folder.number) }
    }

    private func exchange() throws(SystemError) {
        if unsafe pharos_exchange(next, path) == 0 {
            Self.remove(next)
            return
        }
        guard errno == EINVAL || errno == ENOSYS || errno == EOPNOTSUPP else {
            throw SystemError("rename", path, errno: errno)
        }
        // A file system that cannot exchange: for a moment there is no folder of that name.
        let old = next + ".old"
        Self.remove(old)
        _ = try retryingInterrupts("rename", path) { unsafe rename(path, old) }
        do throws(SystemError) {
            _ = try retryingInterrupts("rename", path) { unsafe rename(next, path) }
        } catch {
            _ = unsafe rename(old, path)
            throw error
        }
        Self.remove(old)
    }

    private static func remove(_ folder: String) {
        for name in Files.names(in: folder) { _ = unsafe unlink("\(folder)/\(name)") }
        _ = unsafe rmdir(folder)
    }

    private static func holds(_ path: String, _ octets: [UInt8]) -> Bool {
        var status = stat()
        guard unsafe lstat(path, &status) == 0, status.st_mode & S_IFMT == S_IFREG, Int(status.st_size) == octets.count
        else { return false }
        return (try? Files.read(path)) == octets
    }

    /// The path with its symbolic links followed; of a folder that is not there yet, that of the one around it.
    private static func resolved(_ path: String) throws(SystemError) -> String {
        if let whole = unsafe realpath(path, nil) {
            defer { unsafe free(whole) }
            return unsafe String(cString: whole)
        }
        guard errno == ENOENT else { throw SystemError("open", path, errno: errno) }
        var trimmed = path[...]
        while trimmed.count > 1, trimmed.last == "/" { trimmed.removeLast() }
        let (parent, name) = split(String(trimmed))
        guard let around = unsafe realpath(parent.isEmpty ? "." : parent, nil) else {
            throw SystemError("mkdir", path, errno: errno)
        }
        defer { unsafe free(around) }
        let folder = unsafe String(cString: around)
        return (folder == "/" ? "" : folder) + "/" + name
    }

    private static func split(_ path: String) -> (parent: String, name: String) {
        guard let slash = path.lastIndex(of: "/") else { return ("", path) }
        return (String(path[...slash]), String(path[path.index(after: slash)...]))
    }
}
