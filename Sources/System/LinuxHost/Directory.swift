internal import CLinux
internal import Glibc

/// A directory that is held open, so that all work in it happens in this directory and in no other, whatever its path
/// leads to meanwhile. Names are single components of a path; none of the methods follows a symbolic link.
final class Directory: Sendable {
    /// As it was named, with its last slash; empty for the working directory. For messages only.
    let path: String
    private let descriptor: Descriptor

    /// Opens the directory at `path`; an empty one is the working directory. Needs the right to search it only.
    ///
    /// - Parameter base: Where a relative path begins; `nil` is the working directory.
    /// - Throws: ENOENT and ENOTDIR among others.
    convenience init(_ path: String, from base: Directory? = nil) throws(SystemError) {
        let named = base.map { path.hasPrefix("/") ? path : $0.path + path } ?? path
        try self.init(path.isEmpty ? "." : path, base, named, PHAROS_O_PATH)
    }

    /// Opens the directory `name` of `parent`, for reading, unless it is a symbolic link.
    convenience init(_ name: String, in parent: Directory) throws(SystemError) {
        try self.init(name, parent, parent.path + name, O_RDONLY | O_NOFOLLOW)
    }

    private init(_ path: String, _ base: Directory?, _ named: String, _ flags: Int32) throws(SystemError) {
        let start = base?.descriptor.number ?? PHAROS_AT_FDCWD
        descriptor = Descriptor(
            owning: try retryingInterrupts("open", named) {
                unsafe openat(start, path, flags | O_DIRECTORY | O_CLOEXEC)
            })
        self.path = named.isEmpty || named.hasSuffix("/") ? named : named + "/"
    }

    /// The path of a file in the directory, for messages.
    func place(_ name: String) -> String { path + name }

    /// Of the directory itself.
    func status() throws(SystemError) -> FileStatus { try FileStatus(descriptor, path) }

    /// The status of a file; `nil` if there is none.
    func status(of name: String) throws(SystemError) -> FileStatus? {
        var status = stat()
        if unsafe fstatat(descriptor.number, name, &status, PHAROS_AT_SYMLINK_NOFOLLOW) == 0 {
            return FileStatus(status)
        }
        guard errno == ENOENT else { throw SystemError("stat", place(name), errno: errno) }
        return nil
    }

    /// Whether the file of that name is this open one.
    func has(_ file: Descriptor, at name: String) -> Bool {
        guard let there = try? status(of: name), let open = try? FileStatus(file) else { return false }
        return there.identity == open.identity
    }

    /// openat(2) with O_NOFOLLOW, O_NONBLOCK and O_CLOEXEC.
    ///
    /// - Parameter mode: Of a file that is made, less the process' mask.
    /// - Throws: ELOOP if a symbolic link is.
    func open(_ name: String, _ flags: Int32, mode: UInt32 = 0o600) throws(SystemError) -> Descriptor {
        let all = flags | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC
        do throws(SystemError) {
            return Descriptor(
                owning: try retryingInterrupts("open", place(name)) {
                    unsafe openat(descriptor.number, name, all, mode_t(mode))
                })
        } catch {
            guard error.errno == ELOOP else { throw error }
            throw SystemError(
                error.call, error.subject, errno: ELOOP, reason: "this is a symbolic link, which is not followed here")
        }
    }

    /// Opens a regular file for reading; anything else is refused, and not waited for.
    func openRegular(_ name: String) throws(SystemError) -> Descriptor {
        let file = try open(name, O_RDONLY)
        if let refusal = try FileStatus(file, place(name)).refusalOfOtherKinds("open", place(name)) { throw refusal }
        return file
    }

    /// Where a symbolic link leads, as it stands there.
    func target(ofLink name: String) throws(SystemError) -> String {
        var octets = [CChar](repeating: 0, count: Int(PATH_MAX))
        let count = try retryingInterrupts("readlink", place(name)) {
            unsafe readlinkat(descriptor.number, name, &octets, octets.count)
        }
        return String(decoding: octets.prefix(count).map(UInt8.init(bitPattern:)), as: UTF8.self)
    }

    /// The names in it, sorted; empty when it may not be read.
    var names: [String] {
        guard let readable = try? openForReading() else { return [] }
        guard let stream = unsafe fdopendir(readable) else {
            _ = close(readable)
            return []
        }
        return unsafe Files.names(stream)
    }

    private func openForReading() throws(SystemError) -> Int32 {
        try retryingInterrupts("open", path) {
            unsafe openat(descriptor.number, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        }
    }

    func makeDirectory(_ name: String, mode: UInt32) throws(SystemError) {
        _ = try retryingInterrupts("mkdir", place(name)) { unsafe mkdirat(descriptor.number, name, mode_t(mode)) }
    }

    /// Removes a file, or the name of a symbolic link.
    func remove(_ name: String) throws(SystemError) {
        _ = try retryingInterrupts("unlink", place(name)) { unsafe unlinkat(descriptor.number, name, 0) }
    }

    /// Removes a directory with the files in it. One that holds directories stays.
    func removeDirectory(_ name: String) {
        guard let inner = try? Directory(name, in: self) else { return }
        for file in inner.names { try? inner.remove(file) }
        _ = unsafe unlinkat(descriptor.number, name, PHAROS_AT_REMOVEDIR)
    }

    /// Gives a file another name in this directory; what has that name is gone.
    func rename(_ name: String, to other: String) throws(SystemError) {
        _ = try retryingInterrupts("rename", place(other)) {
            unsafe renameat(descriptor.number, name, descriptor.number, other)
        }
    }

    /// Renames only where nothing has the other name (EEXIST), and exchanges two names in one step. EINVAL or ENOSYS on
    /// file systems that can do neither.
    func rename(_ name: String, to other: String, _ way: RenameWay) throws(SystemError) {
        let flags: UInt32 = way == .exchanging ? 2 : 1
        _ = try retryingInterrupts("rename", place(other)) {
            unsafe pharos_rename(descriptor.number, name, other, flags)
        }
    }

    enum RenameWay {
        case exchanging
        case toFreeName
    }

    /// Gives a file another name next to its own, in `directory`; EEXIST if that name is taken.
    func link(_ name: String, to other: String, in directory: Directory) throws(SystemError) {
        _ = try retryingInterrupts("link", directory.place(other)) {
            unsafe linkat(descriptor.number, name, directory.descriptor.number, other, 0)
        }
    }

    /// Sets the permission bits, whatever the process' mask says. Not for directories opened for searching only.
    func setMode(_ mode: UInt32) throws(SystemError) {
        _ = try retryingInterrupts("chmod", path) { fchmod(descriptor.number, mode_t(mode)) }
    }

    /// Waits until the disk has the names in it. Some network disks cannot be asked; that is no error.
    func synchronize() {
        guard let open = try? Descriptor(owning: openForReading()) else { return }
        _ = fsync(open.number)
    }

    /// Waits until the whole file system is on its disk. Not for directories opened for searching only.
    func synchronizeFileSystem() throws(SystemError) {
        _ = try retryingInterrupts("syncfs", path) { syncfs(descriptor.number) }
    }

    /// Takes flock(2)'s lock on it, unless another process has it. Not for directories opened for searching only.
    func tryLock() -> Bool { descriptor.tryFlock() }
}

extension Descriptor {
    /// Takes flock(2)'s exclusive lock until this is closed; `false` when somebody else has it. A file system without
    /// such locks gives it to everybody.
    func tryFlock() -> Bool {
        while flock(number, LOCK_EX | LOCK_NB) != 0 {
            if errno != EINTR { return errno != EWOULDBLOCK }
        }
        return true
    }
}

/// A directory for files that another program reads meanwhile: it has a name that nobody can guess, is for this user
/// alone, and goes with its files.
public struct TemporaryDirectory: ~Copyable {
    /// Its absolute path, without a slash at the end.
    public let path: String

    /// Makes one in TMPDIR, or /tmp where that is not set.
    ///
    /// - Throws: What the system said, such as ENOSPC.
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
