internal import CLinux
internal import Glibc

extension Files {
    /// Puts `octets` in the place of the file at `path`, so that readers see the old file or the new one and nothing in
    /// between, whatever happens: power lost, disk full, process killed.
    ///
    /// They are written into `.NAME.new` beside it first. When anything fails that file is removed and the old one
    /// stays; only a process that is killed meanwhile leaves it, and the next replacement takes it over.
    ///
    /// - Parameters:
    ///   - mode: Who may read the new file, whatever the process' mask says.
    ///   - isDurable: Wait until the disk has it. Of no use in a directory that lives in memory, such as /run.
    /// - Throws: ENOSPC and EROFS among others; EINVAL where `path` is there and is no regular file: as root, a
    ///   device would be gone. EAGAIN when somebody else is just replacing it.
    public static func replace(
        _ path: String, with octets: [UInt8], mode: UInt32 = 0o644, isDurable: Bool = true
    ) throws(SystemError) {
        var status = stat()
        if unsafe lstat(path, &status) == 0, status.st_mode & S_IFMT != S_IFREG {
            throw SystemError("rename", path, errno: status.st_mode & S_IFMT == S_IFDIR ? EISDIR : EINVAL)
        }
        let (directory, name) = split(path)
        let temporary = directory + ".\(name).new"
        let file = try openLocked(temporary)
        do throws(SystemError) {
            _ = try retryingInterrupts("truncate", path) { ftruncate(file.number, 0) }
            _ = try retryingInterrupts("chmod", path) { fchmod(file.number, mode_t(mode)) }
            try writeAll(octets, to: file, path)
            if isDurable { _ = try retryingInterrupts("fsync", path) { fsync(file.number) } }
            _ = try retryingInterrupts("rename", path) { unsafe rename(temporary, path) }
        } catch {
            _ = unsafe unlink(temporary)
            throw error
        }
        // The file is in its place; a directory that cannot be synchronised (some network disks) takes nothing away.
        if isDurable, let folder = try? Descriptor.open(directory.isEmpty ? "." : directory, .read) {
            _ = fsync(folder.number)
        }
    }

    /// Removes `path`, if it is there.
    public static func remove(_ path: String) throws(SystemError) {
        guard unsafe unlink(path) < 0, errno != ENOENT else { return }
        throw SystemError("unlink", path, errno: errno)
    }

    /// The folder's part of a path with its last slash, and the name in it.
    static func split(_ path: String) -> (directory: String, name: String) {
        guard let slash = path.lastIndex(of: "/") else { return ("", path) }
        return (String(path[...slash]), String(path[path.index(after: slash)...]))
    }

    /// Opens or makes the temporary file, and holds it so that no second writer mixes its octets in. A writer that had
    /// it has renamed it by now: then it is opened anew.
    static func openLocked(_ path: String) throws(SystemError) -> Descriptor {
        for _ in 0..<8 {
            let file = try Descriptor.open(path, .exclusiveUse)
            try file.lock(path)
            if file.isAt(path) { return file }
        }
        throw SystemError("open", path, errno: EAGAIN)
    }

    static func writeAll(
        _ octets: [UInt8], to file: Descriptor, _ path: String
    ) throws(SystemError) {
        do throws(SystemError) {
            try file.writeAll(octets)
        } catch {
            throw SystemError(error.call, path, errno: error.errno)
        }
    }
}

extension Descriptor {
    /// Whether it is still the file at `path`.
    func isAt(_ path: String) -> Bool {
        var (mine, there) = (stat(), stat())
        guard unsafe fstat(number, &mine) == 0, unsafe lstat(path, &there) == 0 else { return false }
        return mine.st_dev == there.st_dev && mine.st_ino == there.st_ino
    }
}
