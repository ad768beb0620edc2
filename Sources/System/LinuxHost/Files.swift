internal import CLinux
internal import Glibc
internal import SystemPackage

/// Reads and writes whole files.
public enum Files {
    /// Returns the contents of a regular file. Files of /proc and /sys are regular files.
    ///
    /// - Parameter limit: The largest size in bytes, which protects the memory of small machines.
    /// - Throws: EFBIG if the file is larger than `limit`, EISDIR for a directory, EINVAL for a named pipe, a socket or
    ///   a device. It never waits for the writer of a pipe.
    public static func read(_ path: String, limit: Int = 1 << 30) throws(SystemError) -> [UInt8] {
        try read(Descriptor.openRegular(path), path, limit: limit).octets
    }

    /// Returns the contents of a file that the user named on the command line: a regular file, standard input for `-`,
    /// or a stream such as `/dev/stdin` and the shell's `<(command)`, which is read to its end.
    ///
    /// Do not use this for a file that the program finds by itself: if there is a named pipe with this name, the
    /// program may wait forever.
    ///
    /// - Parameter limit: The largest size in bytes.
    /// - Throws: EFBIG if the contents are larger than `limit`.
    public static func readInput(_ path: String, limit: Int = 1 << 30) throws(SystemError) -> [UInt8] {
        let file = path == "-" ? Descriptor.duplicate(of: STDIN_FILENO) : try Descriptor.open(path, .read)
        return try read(file, path, limit: limit).octets
    }

    /// Returns the name, for messages, of a file that the user named on the command line: `standard input` for `-`.
    public static func inputName(_ path: String) -> String { path == "-" ? "standard input" : path }

    /// Returns the directory part of a path, including its last slash; empty for the working directory.
    public static func directory(of path: String) -> String {
        path.lastIndex(of: "/").map { String(path[...$0]) } ?? ""
    }

    /// The contents of a file that should be secret.
    public struct Secret: Sendable {
        /// The file's contents.
        public let octets: [UInt8]
        /// The reason why the contents may not be secret or may not be trusted; `nil` if there is no reason.
        public let weakness: Weakness?

        /// A reason why a file is not safe for a key.
        public enum Weakness: Hashable, Sendable {
            /// Other users may read or write the file.
            case openToOthers
            /// The file belongs to the user with this id, who can read the key. This user is neither root nor the user
            /// of the program, and users other than root may create files in the directory.
            case belongs(toUser: UInt32)

            /// Returns a sentence with the problem and what to do.
            ///
            /// - Parameter what: The kind of contents, such as "identity key".
            public func text(_ what: String, at path: String) -> String {
                switch self {
                case .openToOthers: "\(path): others may read this \(what); `chmod 600 \(path)` keeps it secret"
                case .belongs(let user):
                    "\(path): this \(what) belongs to user \(user), who can read it; make a new one as this user or root, "
                        + "or change its owner with `chown`"
                }
            }
        }
    }

    /// Returns the contents of a regular file that should be secret, and checks its permissions and its owner.
    ///
    /// - Parameter limit: The largest size in bytes.
    /// - Throws: The errors of ``read(_:limit:)``.
    public static func readSecret(_ path: String, limit: Int = 1 << 20) throws(SystemError) -> Secret {
        let (octets, status) = try read(Descriptor.openRegular(path), path, limit: limit)
        return Secret(octets: octets, weakness: weakness(of: status, path))
    }

    private static func weakness(of status: Stat, _ path: String) -> Secret.Weakness? {
        if !status.isPrivate { return .openToOthers }
        if status.isOursOrRoots { return nil }
        // Only root can have put the file into this directory. Root may have given the key of a service to the user of
        // the service.
        if let directoryStatus = try? Directory(split(path).directory).status(), directoryStatus.userID.rawValue == 0,
            !directoryStatus.isWritableByOthers
        {
            return nil
        }
        return .belongs(toUser: status.userID.rawValue)
    }

    static func read(
        _ file: Descriptor, _ path: String, limit: Int
    ) throws(SystemError) -> (octets: [UInt8], status: Stat) {
        let status = try file.status(path)
        let size = Int(status.size)
        if status.type == .directory { throw SystemError("read", path, errno: .isDirectory) }
        if size > limit { throw SystemError("read", path, errno: .fileTooLarge) }
        var octets: [UInt8] = []
        octets.reserveCapacity(max(0, size))
        // Pipes and files of /proc have more bytes than the size in their status.
        let step = size > 0 ? min(size + 1, 1 << 18) : 1 << 18
        while true {
            let piece: [UInt8]
            do throws(SystemError) {
                piece = try file.read(upTo: step)
            } catch {
                throw error.about(path)
            }
            if piece.isEmpty { return (octets, status) }
            octets += piece
            if octets.count > limit { throw SystemError("read", path, errno: .fileTooLarge) }
        }
    }

    /// Returns the first line of a small text file, such as a file of /proc or /sys, without the line feed; `nil` if
    /// the file cannot be read.
    public static func firstLine(_ path: String) -> String? {
        guard let octets = try? read(path, limit: 1 << 16) else { return nil }
        return String(decoding: octets.prefix { $0 != 0x0A }, as: UTF8.self)
    }

    /// Returns true if a file of any kind is at `path`. This function and the following functions, except
    /// ``isSymbolicLink(_:)``, follow symbolic links.
    public static func exists(_ path: String) -> Bool { (try? Stat(FilePath(path))) != nil }

    /// Returns the time of the last change of the contents, in seconds since 1970; `nil` if there is no such file. The
    /// time is limited to about 35,000 years before and after 1970, so that differences of times do not overflow: a
    /// user can set any time.
    public static func modificationTime(_ path: String) -> Int? {
        (try? Stat(FilePath(path))).map { min(max($0.st_mtim.tv_sec, -1 << 40), 1 << 40) }
    }

    /// Returns true if a file at `path` is a program that this user may run.
    public static func isExecutable(_ path: String) -> Bool {
        guard exists(path), !isDirectory(path) else { return false }
        return unsafe access(path, X_OK) == 0
    }

    /// Returns the size of the regular file at `path` in bytes; `nil` if there is no file, and for other kinds such as
    /// pipes.
    public static func size(_ path: String) -> Int? {
        guard let status = try? Stat(FilePath(path)), status.type == .regular else { return nil }
        return Int(status.size)
    }

    /// Returns true if a directory is at `path`.
    public static func isDirectory(_ path: String) -> Bool { (try? Stat(FilePath(path)))?.type == .directory }

    /// Returns true if a symbolic link is at `path`, even if the file to which it leads is missing.
    public static func isSymbolicLink(_ path: String) -> Bool {
        (try? Stat(FilePath(path), followTargetSymlink: false))?.type == .symbolicLink
    }

    /// Returns the path with all symbolic links resolved; `nil` if there is no such file.
    public static func resolved(_ path: String) -> String? {
        guard let resolvedPath = unsafe realpath(path, nil) else { return nil }
        defer { unsafe free(resolvedPath) }
        return unsafe String(cString: resolvedPath)
    }

    /// Returns true if only the owner may read or write the file at `path`; `false` if there is no such file.
    public static func isPrivate(_ path: String) -> Bool { (try? Stat(FilePath(path)))?.isPrivate ?? false }

    /// Returns the names of the files in a directory, sorted; an empty list if the directory cannot be read.
    public static func names(in directory: String) -> [String] {
        guard let stream = unsafe opendir(directory) else { return [] }
        return unsafe names(stream)
    }

    /// Returns the names of the files in a directory, sorted.
    ///
    /// - Throws: The error of opendir(3) if the directory cannot be read.
    public static func listing(_ directory: String) throws(SystemError) -> [String] {
        guard let stream = unsafe opendir(directory) else {
            throw SystemError("opendir", directory, errno: Errno(rawValue: errno))
        }
        return unsafe names(stream)
    }

    /// Returns the names of the files in an open directory, sorted, and closes the directory.
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

/// A file to which a program appends data, such as a capture.
public final class OutputFile: Sendable {
    private let descriptor: Descriptor
    private let path: String

    /// Creates the file at `path`, or empties an existing one. A symbolic link is followed if this user or root made
    /// it.
    ///
    /// - Throws: ENXIO for a named pipe without a reader; EPERM for a file or pipe of another user in a directory that
    ///   others may write to.
    public init(replacing path: String) throws(SystemError) {
        self.path = path
        let location = try FileLocation(path)
        do throws(SystemError) {
            try location.refuseForeign()
            descriptor = try location.directory.open(location.name, O_WRONLY | O_CREAT, mode: 0o644)
            let status = try descriptor.status()
            // Another file may have got this name since its status was read.
            try location.refuseForeign(status)
            guard status.type == .regular else { return }
            try systemCall("truncate") { try descriptor.file.resize(to: 0) }
        } catch {
            throw error.about(path)
        }
    }

    /// Opens the file at `path` for writing at its end, or creates it. A symbolic link is followed if this user or root
    /// made it.
    ///
    /// - Throws: ENXIO for a named pipe without a reader; EPERM for a file or pipe of another user in a directory that
    ///   others may write to.
    public init(appendingTo path: String) throws(SystemError) {
        self.path = path
        let location = try FileLocation(path)
        do throws(SystemError) {
            try location.refuseForeign()
            descriptor = try location.directory.open(location.name, O_WRONLY | O_CREAT | O_APPEND, mode: 0o644)
            try location.refuseForeign(descriptor.status())
        } catch {
            throw error.about(path)
        }
    }

    /// Writes `octets` at the end of the file.
    public func append(_ octets: [UInt8]) throws(SystemError) {
        do throws(SystemError) {
            try descriptor.writeAll(octets)
        } catch {
            throw error.about(path)
        }
    }

    /// Waits until the contents are on the disk.
    public func synchronize() throws(SystemError) {
        try retryingInterrupts("fdatasync", path) { fdatasync(descriptor.number) }
    }
}

extension Files {
    /// Replaces the file at `path` with a new file in one step. After a loss of power, on a full disk, and if the
    /// process is killed, the path has either the complete old or the complete new file. If two processes write at the
    /// same time, one of their files remains.
    ///
    /// The bytes are first written to a draft in the same directory, which has an unpredictable name. If a call fails,
    /// the draft is removed and the old file stays. If the process is killed, the next process that writes to the
    /// directory removes the draft. If `path` is a symbolic link, the file to which it leads is replaced; a link of
    /// another user is refused.
    ///
    /// - Parameters:
    ///   - mode: The permission bits of the new file. The umask has no effect.
    ///   - keepsRights: True to give the new file the mode of an existing file, and its owner and group if this process
    ///     may set them.
    ///   - isDurable: True to wait until the file is on the disk. This is not needed in a directory in memory, such as
    ///     /run.
    /// - Throws: ENOSPC and EROFS among others; EINVAL or EISDIR if `path` exists and is not a regular file.
    public static func replace(
        _ path: String, with octets: [UInt8], mode: UInt32 = 0o644, keepsRights: Bool = false, isDurable: Bool = true
    ) throws(SystemError) {
        try put(at: try FileLocation(path), path, mode, keepsRights: keepsRights, isDurable: isDurable) {
            file throws(SystemError) in try file.writeAll(octets)
        }
    }

    /// Replaces a file whose name Pharos has chosen, such as a state file, as
    /// ``replace(_:with:mode:keepsRights:isDurable:)`` does. An existing file that Pharos has not written is not
    /// replaced.
    ///
    /// - Parameters:
    ///   - mode: The permission bits. If the group may only read the file, the file gets the group of the directory, if
    ///     this process may set it.
    ///   - isOwn: Receives the first 512 bytes of an existing file, or all of a shorter file, and returns true if this
    ///     file may be replaced. An empty file is always replaced.
    /// - Throws: EEXIST if `isOwn` returns `false`.
    public static func replace(
        _ path: String, with octets: [UInt8], mode: UInt32 = 0o644, isDurable: Bool = true,
        ifBegins isOwn: (String) -> Bool
    ) throws(SystemError) {
        let location = try FileLocation(path)
        if let status = location.status, status.type == .regular {
            let start = try location.directory.openRegular(location.name).read(upTo: 512)
            guard start.isEmpty || isOwn(String(decoding: start, as: UTF8.self)) else {
                throw SystemError(
                    "rename", path, errno: .fileExists,
                    reason: "this file has other contents, so it is not replaced; rename it, or choose another "
                        + "directory")
            }
        }
        let group = mode & 0o070 == 0o040 ? try location.directory.status().groupID : nil
        try put(at: location, path, mode, keepsRights: false, isDurable: isDurable) { file throws(SystemError) in
            if let group { _ = fchown(file.number, uid_t.max, group.rawValue) }
            try file.writeAll(octets)
        }
    }

    /// Replaces the file of a key as ``replace(_:with:mode:keepsRights:isDurable:)`` does. At every moment, only the
    /// owner of the file may read it (mode 0600).
    ///
    /// - Throws: EPERM if other users may replace files in the directory, or if the directory belongs to another user.
    public static func replaceSecret(_ path: String, with octets: [UInt8]) throws(SystemError) {
        let location = try FileLocation(path)
        try location.refuseUnlessSafeForSecrets()
        try put(at: location, path, 0o600, keepsRights: false, isDurable: true) {
            file throws(SystemError) in try file.writeAll(octets)
        }
    }

    static func put(
        at location: FileLocation, _ path: String, _ mode: UInt32, keepsRights: Bool, isDurable: Bool,
        write: (Descriptor) throws(SystemError) -> Void
    ) throws(SystemError) {
        if let refusal = location.status?.refusalOfOtherKinds("rename", path) { throw refusal }
        do throws(SystemError) {
            let draft = try FileDraft(of: location.name, in: location.directory)
            try write(draft.file)
            if keepsRights, let oldStatus = location.status {
                // The owner is changed before the mode, because a change of the owner clears special bits of the mode.
                // Only root may change the owner.
                _ = fchown(draft.file.number, oldStatus.userID.rawValue, oldStatus.groupID.rawValue)
                try draft.file.setPermissions(oldStatus.permissions)
            } else {
                try draft.file.setPermissions(FilePermissions(rawValue: mode))
            }
            if isDurable { try draft.file.synchronize(path) }
            try draft.rename(to: location.name)
        } catch {
            throw error.about(path)
        }
        // The file is already replaced, so an error of synchronising its directory is ignored.
        if isDurable { location.directory.synchronize() }
    }

    /// Removes the file or symbolic link at `path` if there is one.
    public static func remove(_ path: String) throws(SystemError) {
        do throws(SystemError) {
            try retryingInterrupts("unlink", path) { unsafe unlink(path) }
        } catch {
            if error.errno != .noSuchFileOrDirectory { throw error }
        }
    }

    /// Splits a path into its directory, which is empty for the working directory, and the name of the file in it.
    static func split(_ path: String) -> (directory: FilePath, name: String) {
        let path = FilePath(path)
        return (path.removingLastComponent(), path.lastComponent?.string ?? "")
    }
}

extension Files {
    /// Creates a file at `path` in one step: other processes see the complete file or none. An existing file is not
    /// changed.
    ///
    /// - Parameter mode: The permission bits. Until the file is complete, only its owner may read it.
    /// - Throws: EEXIST if there is a file or a symbolic link at `path`.
    public static func create(_ path: String, with octets: [UInt8], mode: UInt32 = 0o600) throws(SystemError) {
        let (directory, name) = split(path)
        do throws(SystemError) {
            let draft = try FileDraft(of: name, in: try Directory(directory))
            try draft.file.writeAll(octets)
            try draft.file.setPermissions(FilePermissions(rawValue: mode))
            try draft.link(to: name)
        } catch {
            throw error.about(path)
        }
    }

    /// Creates a file for a key as ``create(_:with:mode:)`` does. Only its owner may read it (mode 0600).
    ///
    /// - Throws: EPERM if other users may replace files in the directory, or if the directory belongs to another user.
    public static func createSecret(_ path: String, with octets: [UInt8]) throws(SystemError) {
        try FileLocation(path).refuseUnlessSafeForSecrets()
        try create(path, with: octets, mode: 0o600)
    }

    /// Makes sure that a trusted regular file is at `path`. If there is no file, it creates an empty file that only
    /// this user may open. A symbolic link is followed if this user or root made it.
    ///
    /// - Throws: EPERM for a file of another user in a directory that others may write to; EINVAL or EISDIR if `path`
    ///   is not a regular file; ENOENT if the directory is missing.
    public static func createIfMissing(_ path: String) throws(SystemError) {
        let location = try FileLocation(path)
        do throws(SystemError) {
            if location.status == nil {
                do throws(SystemError) {
                    _ = try location.directory.open(location.name, O_RDWR | O_CREAT | O_EXCL, mode: 0o600)
                    return
                } catch {
                    guard error.errno == .fileExists else { throw error }
                }
            }
            guard let status = try location.directory.status(of: location.name) else { return }
            try location.refuseForeign(status)
            if let refusal = status.refusalOfOtherKinds("open", path) { throw refusal }
        } catch {
            throw error.about(path)
        }
    }

    /// Checks that the file at `path`, if it exists, is a trusted regular file.
    ///
    /// - Throws: EPERM for a file of another user in a directory that others may write to; EINVAL or EISDIR if `path`
    ///   is not a regular file.
    public static func refuseForeign(_ path: String) throws(SystemError) {
        let location = try FileLocation(path)
        try location.refuseForeign()
        if let refusal = location.status?.refusalOfOtherKinds("open", path) { throw refusal }
    }

    /// Makes a directory and its missing parents.
    ///
    /// - Parameter mode: The permission bits of new directories, reduced by the umask.
    public static func makeDirectory(_ path: String, mode: UInt32 = 0o755) throws(SystemError) {
        do throws(SystemError) {
            try makeOneDirectory(path, mode)
        } catch {
            let parent = FilePath(path).removingLastComponent()
            guard error.errno == .noSuchFileOrDirectory, parent.lastComponent != nil else { throw error }
            try makeDirectory(parent.string, mode: mode)
            try makeOneDirectory(path, mode)
        }
    }

    private static func makeOneDirectory(_ path: String, _ mode: UInt32) throws(SystemError) {
        do throws(SystemError) {
            try retryingInterrupts("mkdir", path) { unsafe mkdir(path, mode_t(mode)) }
        } catch {
            if error.errno != .fileExists { throw error }
        }
    }

    /// Waits until all files of the file system of `directory` are on the disk.
    public static func synchronize(_ directory: String) throws(SystemError) {
        let open = try Descriptor.open(directory, .read)
        try retryingInterrupts("syncfs", directory) { syncfs(open.number) }
    }
}

extension Files {
    /// Replaces an existing file as ``replace(_:with:mode:keepsRights:isDurable:)`` does, but always keeps its owner,
    /// group and mode.
    ///
    /// - Throws: EPERM if this process may not give the new file the owner of the old file, which then stays unchanged;
    ///   ENOENT if there is no such file; the errors of replacing.
    public static func rewrite(_ path: String, with octets: [UInt8]) throws(SystemError) {
        let oldStatus = try Descriptor.open(path, .read).status(path)
        guard geteuid() == 0 || oldStatus.userID.rawValue == geteuid() else {
            throw SystemError("chown", path, errno: .notPermitted)
        }
        // Only its owner may read the new file until it has the owner of the old file.
        try replace(path, with: octets, mode: oldStatus.permissions.intersection(.ownerReadWriteExecute).rawValue)
        if unsafe lchown(path, oldStatus.userID.rawValue, oldStatus.groupID.rawValue) != 0, geteuid() == 0 {
            throw SystemError("chown", path, errno: errno)
        }
        guard unsafe chmod(path, oldStatus.permissions.rawValue) == 0 else {
            throw SystemError("chmod", path, errno: errno)
        }
    }
}

/// The directory of files that survive a restart.
public enum StateDirectory {
    /// The directory that is used without an option and outside a systemd service.
    public static let usual = "/var/lib/pharos"

    /// Returns the value of the option `--state-dir`; without the option, the directory of systemd's StateDirectory=;
    /// without both, ``usual``.
    public static func path(_ option: String?) -> String {
        option ?? Terminal.environment("STATE_DIRECTORY") ?? usual
    }
}
