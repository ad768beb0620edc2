internal import CLinux
internal import Glibc

extension Files {
    /// Puts `octets` in the place of the file at `path`, so that readers see the old file or the new one and nothing in
    /// between, whatever happens: power lost, disk full, process killed. Of two writers at once the last one wins, with
    /// all of its octets.
    ///
    /// They are written beside it first, under a name that nobody can foresee. When anything fails that draft is removed
    /// and the old file stays; only a process that is killed meanwhile leaves it, and the next one that writes to the
    /// directory removes it. A symbolic link at the path stays one: the file that it leads to is replaced. One that
    /// another user has made is refused.
    ///
    /// - Parameters:
    ///   - mode: Who may read the new file, whatever the process' mask says: permission bits.
    ///   - keepsRights: The new file gets the mode of the one that is there, and its owner and group as far as this user
    ///     may give files away; `mode` is for a file that is not there yet.
    ///   - isDurable: Wait until the disk has it. Of no use in a directory that lives in memory, such as /run.
    /// - Throws: ENOSPC and EROFS among others; EINVAL and EISDIR where `path` is there and is no regular file: as root,
    ///   a device would be gone.
    public static func replace(
        _ path: String, with octets: [UInt8], mode: UInt32 = 0o644, keepsRights: Bool = false, isDurable: Bool = true
    ) throws(SystemError) {
        try put(octets, at: try FilePlace(path), path, mode, keepsRights: keepsRights, isDurable: isDurable)
    }

    /// The same for a key: nobody but its owner may read it (mode 0600), at no moment.
    ///
    /// - Throws: also EPERM, with a sentence, where other users may replace files in the directory, or where the
    ///   directory is another user's.
    public static func replaceSecret(
        _ path: String, with octets: [UInt8], isDurable: Bool = true
    ) throws(SystemError) {
        let place = try FilePlace(path)
        try place.refuseUnlessSafeForSecrets()
        try put(octets, at: place, path, 0o600, keepsRights: false, isDurable: isDurable)
    }

    private static func put(
        _ octets: [UInt8], at place: FilePlace, _ path: String, _ mode: UInt32, keepsRights: Bool, isDurable: Bool
    ) throws(SystemError) {
        if let refusal = place.status?.refusalOfOtherKinds("rename", path) { throw refusal }
        do throws(SystemError) {
            let draft = try DraftFile(of: place.name, in: place.directory)
            try draft.file.writeAll(octets)
            if keepsRights, let old = place.status {
                // Before the mode: giving a file away takes its special bits. Not everybody may give files away.
                _ = fchown(draft.file.number, old.owner, old.group)
                try draft.file.setMode(old.mode)
            } else {
                try draft.file.setMode(mode)
            }
            if isDurable { _ = try retryingInterrupts("fsync", path) { fsync(draft.file.number) } }
            try draft.rename(to: place.name)
        } catch {
            throw error.about(path)
        }
        // The file is in its place; a directory that cannot be synchronised takes nothing away.
        if isDurable { place.directory.synchronize() }
    }

    /// Removes `path`, if it is there; of a symbolic link, the link.
    public static func remove(_ path: String) throws(SystemError) {
        guard unsafe unlink(path) < 0, errno != ENOENT else { return }
        throw SystemError("unlink", path, errno: errno)
    }

    /// The directory's part of a path with its last slash, and the name in it.
    static func split(_ path: String) -> (directory: String, name: String) {
        guard let slash = path.lastIndex(of: "/") else { return ("", path) }
        return (String(path[...slash]), String(path[path.index(after: slash)...]))
    }
}

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

extension Files {
    /// Puts `octets` in the place of a file that is there, as ``replace(_:with:mode:isDurable:)`` does; the file keeps its
    /// owner, its group and its mode.
    ///
    /// - Throws: EPERM, and nothing is changed, where the file belongs to somebody else and this process may not give
    ///   files away; ENOENT where there is none; what replacing throws.
    public static func rewrite(_ path: String, with octets: [UInt8]) throws(SystemError) {
        let before = try FileStatus(Descriptor.open(path, .read), path)
        guard geteuid() == 0 || before.owner == geteuid() else {
            throw SystemError("chown", path, errno: EPERM)
        }
        // Nobody but the owner reads it until it is theirs.
        try replace(path, with: octets, mode: before.mode & 0o700)
        if unsafe lchown(path, before.owner, before.group) != 0, geteuid() == 0 {
            throw SystemError("chown", path, errno: errno)
        }
        guard unsafe chmod(path, mode_t(before.mode)) == 0 else { throw SystemError("chmod", path, errno: errno) }
    }
}
