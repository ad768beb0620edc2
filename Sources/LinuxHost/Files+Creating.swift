internal import CLinux
internal import Glibc

extension Files {
    /// Puts `octets` at `path`, where nothing may be yet: what is there is never touched, whoever was first. Readers see
    /// the whole file or none.
    ///
    /// - Parameter mode: Who may read it: permission bits. Until it is complete its owner alone may.
    /// - Throws: `SystemError.alreadyThere` where anything of that name exists, a symbolic link included.
    public static func create(_ path: String, with octets: [UInt8], mode: UInt32 = 0o600) throws(SystemError) {
        let (directory, name) = split(path)
        do throws(SystemError) {
            let draft = try DraftFile(of: name, in: try Directory(directory))
            try draft.file.writeAll(octets)
            try draft.file.setMode(mode)
            try draft.link(to: name)
        } catch {
            throw error.about(path)
        }
    }

    /// The same for a key, which nobody but its owner may read (mode 0600).
    ///
    /// - Throws: also EPERM, with a sentence, where other users may replace files in the directory, or where the
    ///   directory is another user's.
    public static func createSecret(_ path: String, with octets: [UInt8]) throws(SystemError) {
        try FilePlace(path).refuseUnlessSafeForSecrets()
        try create(path, with: octets, mode: 0o600)
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
        let open = try Descriptor.open(directory, .read)
        _ = try retryingInterrupts("syncfs", directory) { syncfs(open.number) }
    }
}

extension SystemError {
    /// Something of that name exists already.
    public static let alreadyThere = EEXIST
}
