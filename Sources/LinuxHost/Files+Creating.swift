internal import CLinux
internal import Glibc

extension Files {
    /// Puts `octets` at `path`, where nothing may be yet: what is there is never touched, whoever was first. Readers see
    /// the whole file or none.
    ///
    /// - Parameters:
    ///   - mode: Who may read it, from before the first octet is written.
    /// - Throws: `SystemError.alreadyThere` where anything of that name exists.
    public static func create(_ path: String, with octets: [UInt8], mode: UInt32 = 0o600) throws(SystemError) {
        let (directory, name) = split(path)
        let temporary = directory + ".\(name).new"
        let file = try openLocked(temporary)
        do throws(SystemError) {
            _ = try retryingInterrupts("chmod", path) { fchmod(file.number, mode_t(mode)) }
            _ = try retryingInterrupts("truncate", path) { ftruncate(file.number, 0) }
            try writeAll(octets, to: file, path)
            _ = try retryingInterrupts("link", path) { unsafe link(temporary, path) }
        } catch {
            _ = unsafe unlink(temporary)
            throw error
        }
        _ = unsafe unlink(temporary)
    }

    /// Makes a directory, and those on the way to it, unless it is there.
    ///
    /// - Parameter mode: Who may enter it; one that is there keeps its own.
    public static func makeDirectory(_ path: String, mode: UInt32 = 0o755) throws(SystemError) {
        guard unsafe mkdir(path, mode_t(mode)) < 0, errno != EEXIST else { return }
        let (parent, _) = split(String(path.reversed().drop { $0 == "/" }.reversed()))
        guard errno == ENOENT, !parent.isEmpty, parent != "/" else {
            throw SystemError("mkdir", path, errno: errno)
        }
        try makeDirectory(parent, mode: mode)
        guard unsafe mkdir(path, mode_t(mode)) < 0, errno != EEXIST else { return }
        throw SystemError("mkdir", path, errno: errno)
    }

    /// Waits until the disk under `directory` has everything that was written.
    public static func synchronize(_ directory: String) throws(SystemError) {
        let folder = try Descriptor.open(directory, .read)
        _ = try retryingInterrupts("syncfs", directory) { syncfs(folder.number) }
    }
}

extension SystemError {
    public static let alreadyThere = EEXIST
}
