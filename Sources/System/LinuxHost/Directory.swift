internal import CLinux
internal import Glibc
internal import SystemPackage

/// An open directory. All operations use this directory, even if another directory gets its path later.
///
/// The names that are passed to its functions are single components of a path. No operation follows a symbolic link.
final class Directory: Sendable {
    /// The path that the directory was opened with, for messages; empty for the working directory.
    let path: FilePath
    private let descriptor: Descriptor

    /// Opens the directory at `path` to use files in it. This needs only the right to search the directory. An empty
    /// path means the working directory.
    ///
    /// - Parameter base: The directory to which a relative path refers; `nil` for the working directory.
    /// - Throws: ENOENT and ENOTDIR among others.
    convenience init(_ path: FilePath, from base: Directory? = nil) throws(SystemError) {
        let baseNumber = base?.descriptor.number ?? PHAROS_AT_FDCWD
        let shownPath = base?.path.pushing(path) ?? path
        try self.init(path.isEmpty ? "." : path, baseNumber, shownPath, PHAROS_O_PATH)
    }

    /// Opens the directory `name` of `parent` for reading. A symbolic link is refused.
    convenience init(_ name: String, in parent: Directory) throws(SystemError) {
        try self.init(FilePath(name), parent.descriptor.number, parent.path.appending(name), O_RDONLY | O_NOFOLLOW)
    }

    private init(_ path: FilePath, _ baseNumber: Int32, _ shownPath: FilePath, _ flags: Int32) throws(SystemError) {
        descriptor = Descriptor(
            owning: try retryingInterrupts("open", shownPath.string) {
                unsafe path.withPlatformString { unsafe openat(baseNumber, $0, flags | O_DIRECTORY | O_CLOEXEC) }
            })
        self.path = shownPath
    }

    /// Returns the path of a file in the directory, for messages.
    func path(of name: String) -> String { path.appending(name).string }

    /// Returns the status of the directory itself.
    func status() throws(SystemError) -> Stat { try descriptor.status(path.string) }

    /// Returns the status of a file; `nil` if there is no such file.
    func status(of name: String) throws(SystemError) -> Stat? {
        do throws(Errno) {
            return try Stat(FilePath(name), relativeTo: descriptor.file, flags: .symlinkNoFollow)
        } catch {
            if error == .noSuchFileOrDirectory { return nil }
            throw SystemError("stat", path(of: name), errno: error)
        }
    }

    /// Returns true if the file with this name in the directory is the open file.
    func has(_ file: Descriptor, at name: String) -> Bool {
        guard let namedStatus = try? status(of: name), let openStatus = try? file.status() else { return false }
        return namedStatus.identity == openStatus.identity
    }

    /// Opens a file with O_NOFOLLOW, O_NONBLOCK and O_CLOEXEC in addition to `flags`.
    ///
    /// - Parameter mode: The permission bits of a file that is created, reduced by the umask.
    /// - Throws: ELOOP for a symbolic link.
    func open(_ name: String, _ flags: Int32, mode: UInt32 = 0o600) throws(SystemError) -> Descriptor {
        let allFlags = flags | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC
        do throws(SystemError) {
            return Descriptor(
                owning: try retryingInterrupts("open", path(of: name)) {
                    unsafe openat(descriptor.number, name, allFlags, mode_t(mode))
                })
        } catch {
            guard error.errno == .tooManySymbolicLinkLevels else { throw error }
            throw SystemError(
                error.call, error.subject, errno: error.errno,
                reason: "this is a symbolic link, which is not followed here")
        }
    }

    /// Opens a regular file for reading.
    ///
    /// - Throws: EINVAL or EISDIR for any other kind of file.
    func openRegular(_ name: String) throws(SystemError) -> Descriptor {
        let file = try open(name, O_RDONLY)
        if let refusal = try file.status(path(of: name)).refusalOfOtherKinds("open", path(of: name)) { throw refusal }
        return file
    }

    /// Returns the path that is stored in a symbolic link.
    func target(ofLink name: String) throws(SystemError) -> FilePath {
        var octets = [CChar](repeating: 0, count: Int(PATH_MAX) + 1)
        try retryingInterrupts("readlink", path(of: name)) {
            unsafe readlinkat(descriptor.number, name, &octets, octets.count - 1)
        }
        return FilePath(platformString: octets)
    }

    /// The names in the directory, sorted; empty if it cannot be read.
    var names: [String] {
        guard let number = try? openForReading() else { return [] }
        guard let stream = unsafe fdopendir(number) else {
            _ = close(number)
            return []
        }
        return unsafe Files.names(stream)
    }

    private func openForReading() throws(SystemError) -> Int32 {
        try retryingInterrupts("open", path.string) {
            unsafe openat(descriptor.number, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        }
    }

    func makeDirectory(_ name: String, mode: UInt32) throws(SystemError) {
        try retryingInterrupts("mkdir", path(of: name)) { unsafe mkdirat(descriptor.number, name, mode_t(mode)) }
    }

    /// Removes a file or a symbolic link.
    func remove(_ name: String) throws(SystemError) {
        try retryingInterrupts("unlink", path(of: name)) { unsafe unlinkat(descriptor.number, name, 0) }
    }

    /// Removes a directory and the files in it. A directory that contains other directories is not removed.
    func removeDirectory(_ name: String) {
        guard let inner = try? Directory(name, in: self) else { return }
        for file in inner.names { try? inner.remove(file) }
        _ = unsafe unlinkat(descriptor.number, name, PHAROS_AT_REMOVEDIR)
    }

    /// Renames a file within the directory. An existing file with the new name is replaced.
    func rename(_ name: String, to newName: String) throws(SystemError) {
        try retryingInterrupts("rename", path(of: newName)) {
            unsafe renameat(descriptor.number, name, descriptor.number, newName)
        }
    }

    /// Renames a file to an unused name, or exchanges two names, in one step.
    ///
    /// - Throws: EEXIST if the name for `toFreeName` is in use; EINVAL or ENOSYS on file systems that do not support
    ///   this.
    func rename(_ name: String, to newName: String, _ kind: RenameKind) throws(SystemError) {
        try retryingInterrupts("rename", path(of: newName)) {
            unsafe pharos_rename(descriptor.number, name, newName, kind.rawValue)
        }
    }

    /// The flags of renameat2(2).
    enum RenameKind: UInt32 {
        case toFreeName = 1
        case exchanging = 2
    }

    /// Gives a file a second name (hard link) in `directory`.
    ///
    /// - Throws: EEXIST if the second name is in use.
    func link(_ name: String, to newName: String, in directory: Directory) throws(SystemError) {
        try retryingInterrupts("link", directory.path(of: newName)) {
            unsafe linkat(descriptor.number, name, directory.descriptor.number, newName, 0)
        }
    }

    /// Sets the permission bits of the directory; the umask has no effect. The directory must have been opened for
    /// reading.
    func setPermissions(_ permissions: FilePermissions) throws(SystemError) {
        try descriptor.setPermissions(permissions, path.string)
    }

    /// Waits until the names in the directory are on the disk. Errors are ignored, because some network file systems
    /// cannot do this.
    func synchronize() {
        guard let open = try? Descriptor(owning: openForReading()) else { return }
        try? open.synchronize(path.string)
    }

    /// Waits until the whole file system of the directory is on the disk. The directory must have been opened for
    /// reading.
    func synchronizeFileSystem() throws(SystemError) {
        try retryingInterrupts("syncfs", path.string) { syncfs(descriptor.number) }
    }

    /// Takes the lock of flock(2) on the directory; returns `false` if another process has it. The directory must have
    /// been opened for reading.
    func tryLock() -> Bool { descriptor.tryFlock() }
}

extension Descriptor {
    /// Takes the exclusive lock of flock(2) until this descriptor is closed; returns `false` if another process has it.
    /// On a file system without such locks, every process gets the lock.
    func tryFlock() -> Bool {
        do throws(SystemError) {
            try retryingInterrupts("flock") { flock(number, LOCK_EX | LOCK_NB) }
            return true
        } catch {
            return error.errno != .wouldBlock
        }
    }
}

/// A temporary directory for files that another program reads. It has an unpredictable name, and only this user may
/// enter it. When this value is destroyed, the directory is removed with its files.
public struct TemporaryDirectory: ~Copyable {
    /// The absolute path, without a slash at the end.
    public let path: String

    /// Makes a directory in TMPDIR, or in /tmp if TMPDIR is not set to an absolute path.
    ///
    /// - Throws: ENOSPC among others.
    public init() throws(SystemError) {
        let parent = Terminal.environment("TMPDIR").flatMap { $0.hasPrefix("/") ? $0 : nil } ?? "/tmp"
        var template = Array("\(parent)/pharos-XXXXXX".utf8CString)
        guard unsafe mkdtemp(&template) != nil else { throw SystemError("mkdtemp", parent, errno: errno) }
        path = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    deinit {
        for name in Files.names(in: path) { try? Files.remove("\(path)/\(name)") }
        unsafe rmdir(path)
    }
}
