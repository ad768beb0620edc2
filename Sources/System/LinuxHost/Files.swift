internal import CLinux
internal import Glibc

/// Whole files, in one go.
public enum Files {
    /// The contents of a regular file.
    ///
    /// Nothing is waited for: a named pipe that somebody has put in the file's place is refused at once, as are sockets
    /// and devices. Files of /proc and /sys are regular ones.
    ///
    /// - Parameter limit: In bytes.
    /// - Throws: EFBIG when the file is larger: no configuration or capture is meant to eat the memory of a small box.
    ///   EISDIR for a directory, EINVAL for other kinds of files.
    public static func read(_ path: String, limit: Int = 1 << 30) throws(SystemError) -> [UInt8] {
        try read(Descriptor.openRegular(path), path, limit: limit).octets
    }

    /// The contents of what a person has named on the command line: a regular file, standard input for `-`, or a stream
    /// such as `/dev/stdin` and the shell's `<(command)`, which is read to its end, however long its writer takes.
    ///
    /// Never for files that this program finds by itself: a named pipe in their place would hang it.
    ///
    /// - Parameter limit: In bytes.
    /// - Throws: EFBIG when there is more.
    public static func readInput(_ path: String, limit: Int = 1 << 30) throws(SystemError) -> [UInt8] {
        let file = path == "-" ? Descriptor(owning: dup(STDIN_FILENO)) : try Descriptor.open(path, .read)
        return try read(file, path, limit: limit).octets
    }

    /// What stands in a file that is meant to be secret.
    public struct Secret: Sendable {
        /// The file's contents.
        public let octets: [UInt8]
        /// Why it is not secret, or not to be trusted; `nil` if it is both.
        public let weakness: Weakness?

        /// Why a file is not fit for a key.
        public enum Weakness: Hashable, Sendable {
            /// Other users may read or write it.
            case openToOthers
            /// It belongs to the user with this number, who is neither this user nor root, and lies in a directory where
            /// others than root may put files: whoever put it there knows the key.
            case belongs(toUser: UInt32)

            /// The sentence about a file, with what to do.
            ///
            /// - Parameter what: What is in it, such as "identity key".
            public func text(_ what: String, at path: String) -> String {
                switch self {
                case .openToOthers: "\(path): others may read this \(what); `chmod 600 \(path)` keeps it secret"
                case .belongs(let user):
                    "\(path): this \(what) belongs to user \(user), who knows it; make one that is "
                        + "yours or root's, or give it to this user with `chown`"
                }
            }
        }
    }

    /// The contents of a regular file that is meant to be secret, and whether it is.
    ///
    /// - Parameter limit: In bytes.
    /// - Throws: as ``read(_:limit:)`` does.
    public static func readSecret(_ path: String, limit: Int = 1 << 20) throws(SystemError) -> Secret {
        let (octets, status) = try read(Descriptor.openRegular(path), path, limit: limit)
        return Secret(octets: octets, weakness: weakness(of: status, path))
    }

    private static func weakness(of status: FileStatus, _ path: String) -> Secret.Weakness? {
        if !status.isPrivate { return .openToOthers }
        if status.isOursOrRoots { return nil }
        // What lies where root alone may put files is there by root's will: the key of a service, which belongs to the
        // service's user.
        if let around = try? Directory(split(path).directory).status(), around.owner == 0,
            around.mode & 0o022 == 0
        {
            return nil
        }
        return .belongs(toUser: status.owner)
    }

    static func read(
        _ file: Descriptor, _ path: String, limit: Int
    ) throws(SystemError) -> (octets: [UInt8], status: FileStatus) {
        let status = try FileStatus(file, path)
        if status.kind == .directory { throw SystemError("read", path, errno: EISDIR) }
        if status.size > limit { throw SystemError("read", path, errno: EFBIG) }
        var octets: [UInt8] = []
        octets.reserveCapacity(max(0, min(status.size, limit)))
        // What is larger than it says, such as a pipe or a file of /proc, is read all the same.
        let step = status.size > 0 ? min(status.size + 1, 1 << 18) : 1 << 18
        while true {
            let part: [UInt8]
            do throws(SystemError) {
                part = try file.read(upTo: step)
            } catch {
                throw SystemError("read", path, errno: error.errno)
            }
            if part.isEmpty { return (octets, status) }
            octets += part
            if octets.count > limit { throw SystemError("read", path, errno: EFBIG) }
        }
    }

    /// The first line of a small text file without its end, such as those of /proc and /sys; `nil` when unreadable.
    public static func firstLine(_ path: String) -> String? {
        guard let octets = try? read(path, limit: 1 << 16) else { return nil }
        return String(decoding: octets.prefix { $0 != 0x0A }, as: UTF8.self)
    }

    /// Whether anything of that name is there.
    public static func exists(_ path: String) -> Bool {
        var status = stat()
        return unsafe stat(path, &status) == 0
    }

    /// When the file was last written, in seconds since 1970; `nil` if nothing of that name is there.
    public static func modificationTime(_ path: String) -> Int? {
        var status = stat()
        return unsafe stat(path, &status) == 0 ? status.st_mtim.tv_sec : nil
    }

    /// Whether there is a directory of that name.
    public static func isDirectory(_ path: String) -> Bool {
        var status = stat()
        return unsafe stat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFDIR
    }

    /// Whether there is a symbolic link of that name, wherever it leads to.
    public static func isSymbolicLink(_ path: String) -> Bool {
        var status = stat()
        return unsafe lstat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFLNK
    }

    /// The path with all symbolic links on the way followed; `nil` if it leads nowhere.
    public static func resolved(_ path: String) -> String? {
        guard let whole = unsafe realpath(path, nil) else { return nil }
        defer { unsafe free(whole) }
        return unsafe String(cString: whole)
    }

    /// Whether the file's owner alone may read it; `false` when it is not there.
    public static func isPrivate(_ path: String) -> Bool {
        var status = stat()
        return unsafe stat(path, &status) == 0 && status.st_mode & (S_IRWXG | S_IRWXO) == 0
    }

    /// The names in a directory, sorted; empty when it cannot be read.
    public static func names(in directory: String) -> [String] {
        guard let stream = unsafe opendir(directory) else { return [] }
        return unsafe names(stream)
    }

    /// The names in an open directory, sorted, which is closed.
    static func names(_ stream: OpaquePointer) -> [String] {
        defer { unsafe closedir(stream) }
        var result: [String] = []
        while let entry = unsafe readdir(stream) {
            let name = unsafe withUnsafeBytes(of: &entry.pointee.d_name) { raw in
                unsafe String(decoding: raw.prefix { $0 != 0 }, as: UTF8.self)
            }
            if name != "." && name != ".." { result.append(name) }
        }
        return result.sorted()
    }
}

/// A file that grows by appending: captures.
public final class OutputFile: Sendable {
    private let descriptor: Descriptor
    private let path: String

    /// Creates `path`, or empties what is there. A symbolic link is followed where this user or root has made it.
    ///
    /// - Throws: also when it is a named pipe that nobody reads (`SystemError.noReader`), and when it is another user's
    ///   file in a directory where everybody may put files (EPERM).
    public init(replacing path: String) throws(SystemError) {
        self.path = path
        let place = try FilePlace(path)
        do throws(SystemError) {
            descriptor = try place.directory.open(place.name, O_WRONLY | O_CREAT, mode: 0o644)
            let (status, around) = (try FileStatus(descriptor), try place.directory.status())
            guard status.kind == .regular else { return }
            if status.owner != geteuid(), around.mode & 0o002 != 0 {
                throw SystemError(
                    "open", errno: EPERM,
                    reason:
                        "user \(status.owner) has put this file there; remove it, or choose another name"
                )
            }
            _ = try retryingInterrupts("truncate") { ftruncate(descriptor.number, 0) }
        } catch {
            throw error.about(path)
        }
    }

    /// Opens `path` to write behind what is there, or creates it. A symbolic link is followed where this user or root has
    /// made it.
    public init(appendingTo path: String) throws(SystemError) {
        self.path = path
        let place = try FilePlace(path)
        do throws(SystemError) {
            descriptor = try place.directory.open(place.name, O_WRONLY | O_CREAT | O_APPEND, mode: 0o644)
        } catch {
            throw error.about(path)
        }
    }

    /// Writes `octets` at its end.
    public func append(_ octets: [UInt8]) throws(SystemError) {
        do throws(SystemError) {
            try descriptor.writeAll(octets)
        } catch {
            throw SystemError("write", path, errno: error.errno)
        }
    }

    /// Waits until the disk has what was appended.
    public func synchronize() throws(SystemError) {
        _ = try retryingInterrupts("fdatasync", path) { fdatasync(descriptor.number) }
    }
}

extension SystemError {
    /// A named pipe was to be written that nobody has open for reading.
    public static let noReader = ENXIO
}

extension Files {
    /// Puts `octets` in the place of the file at `path`, so that readers see the old file or the new one and nothing in
    /// between, whatever happens: power lost, disk full, process killed. Of two writers at once the last one wins, with
    /// all of its bytes.
    ///
    /// They are written next to it first, under a name that nobody can foresee. When anything fails that draft is removed
    /// and the old file stays; only a process that is killed meanwhile leaves it, and the next one that writes to the
    /// directory removes it. A symbolic link at the path stays one: the file that it leads to is replaced. One that
    /// another user has made is refused.
    ///
    /// - Parameters:
    ///   - mode: Who may read the new file, whatever the process' mask says: permission bits.
    ///   - keepsRights: The new file gets the mode of the one that is there, and its owner and group as far as this user
    ///     may give files away; `mode` is for a file that is not there yet.
    ///   - isDurable: Wait until the disk has it. Of no use in a directory that lives in memory, such as /run.
    /// - Throws: ENOSPC and EROFS among others; EINVAL and EISDIR if `path` is there and is no regular file: as root,
    ///   a device would be gone.
    public static func replace(
        _ path: String, with octets: [UInt8], mode: UInt32 = 0o644, keepsRights: Bool = false, isDurable: Bool = true
    ) throws(SystemError) {
        try put(at: try FilePlace(path), path, mode, keepsRights: keepsRights, isDurable: isDurable) {
            file throws(SystemError) in try file.writeAll(octets)
        }
    }

    /// The same for a key: nobody but its owner may read it (mode 0600), at no moment.
    ///
    /// - Throws: also EPERM, with a sentence, if other users may replace files in the directory, or where the
    ///   directory is another user's.
    public static func replaceSecret(
        _ path: String, with octets: [UInt8], isDurable: Bool = true
    ) throws(SystemError) {
        let place = try FilePlace(path)
        try place.refuseUnlessSafeForSecrets()
        try put(at: place, path, 0o600, keepsRights: false, isDurable: isDurable) {
            file throws(SystemError) in try file.writeAll(octets)
        }
    }

    static func put(
        at place: FilePlace, _ path: String, _ mode: UInt32, keepsRights: Bool, isDurable: Bool,
        write: (Descriptor) throws(SystemError) -> Void
    ) throws(SystemError) {
        if let refusal = place.status?.refusalOfOtherKinds("rename", path) { throw refusal }
        do throws(SystemError) {
            let draft = try DraftFile(of: place.name, in: place.directory)
            try write(draft.file)
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
    /// - Throws: also EPERM, with a sentence, if other users may replace files in the directory, or where the
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
    /// Puts `octets` in the place of a file that is there, as `replace(_:with:mode:isDurable:)` does; the file keeps its
    /// owner, its group and its mode.
    ///
    /// - Throws: EPERM, and nothing is changed, if the file belongs to somebody else and this process may not give
    ///   files away; ENOENT if there is none; what replacing throws.
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
