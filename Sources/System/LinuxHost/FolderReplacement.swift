internal import CLinux
internal import Glibc

/// The next contents of a directory, which come into its place in one step: whoever looks sees the old directory or the
/// new one, and a process that is killed meanwhile leaves the old one whole.
///
/// The new directory grows next to the old one, under a name that nobody can foresee, and nobody but its owner may enter
/// it. Files that do not change are the same files in both (hard links), so that they are not touched; when no file
/// changes, no directory is made. The two then change places (renameat2(2), RENAME_EXCHANGE).
///
/// Of two replacements of one directory at once, the one that commits second is refused (EAGAIN): what it has compared
/// with is gone by then.
public final class FolderReplacement {
    /// The directory, behind symbolic links at its end.
    public let path: String
    private let parent: Directory
    private let name: String
    /// The directory as it is; `nil` if there is none.
    private let current: Directory?
    private let currentStatus: FileStatus?
    private var next: (directory: Directory, name: String)?
    private var kept: [String] = []
    /// How many files are new, or changed.
    public private(set) var written = 0
    /// How many files are as they were.
    public var unchanged: Int { kept.count }
    /// The names in the directory as it is now.
    public let names: Set<String>

    /// What was done.
    public struct Outcome: Hashable, Sendable {
        /// How many files are new, or changed.
        public var written = 0
        /// How many files are as they were.
        public var unchanged = 0
        /// How many files are gone.
        public var removed = 0

        /// Nothing.
        public init() {}

        fileprivate init(written: Int, unchanged: Int, removed: Int) {
            self.written = written
            self.unchanged = unchanged
            self.removed = removed
        }
    }

    /// - Parameter path: The directory; it may be missing. A symbolic link stays one: the directory that it leads to gets
    ///   the new contents. One that another user has made is refused.
    /// - Throws: ENOTDIR if something else is at the path; ENOENT if the directory around it is missing.
    public init(_ path: String) throws(SystemError) {
        var trimmed = path[...]
        while trimmed.utf8.count > 1, trimmed.last == "/" { trimmed.removeLast() }
        let place = try FilePlace(Self.named(String(trimmed)))
        if let status = place.status, status.kind != .directory { throw SystemError("open", path, errno: ENOTDIR) }
        self.path = place.path
        parent = place.directory
        name = place.name
        currentStatus = place.status
        current = place.status == nil ? nil : try Directory(place.name, in: place.directory)
        names = Set(current?.names ?? [])
    }

    deinit { discard() }

    /// The path that leads to the directory by its name, for `.` and what ends in `..`.
    private static func named(_ path: String) throws(SystemError) -> String {
        let (_, name) = Files.split(path)
        guard name.isEmpty || name == "." || name == ".." else { return path }
        guard let whole = unsafe realpath(path, nil) else { throw SystemError("open", path, errno: errno) }
        defer { unsafe free(whole) }
        return unsafe String(cString: whole)
    }

    /// A file of the directory with these bytes in it.
    public func put(_ name: String, _ octets: [UInt8]) throws(SystemError) {
        if names.contains(name), holds(name, octets) {
            kept.append(name)
            return
        }
        do throws(SystemError) {
            try make(name).writeAll(octets)
        } catch {
            throw error.about("\(path)/\(name)")
        }
        written += 1
    }

    /// A file of the directory that is written piece by piece. To be handed to ``finish(_:_:)``.
    public func draft(_ name: String) -> FileDraft {
        FileDraft(name, path: "\(path)/\(name)", in: current) { [self] () throws(SystemError) in try make(name) }
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
    public var isChanged: Bool { written > 0 || kept.count != names.count || current == nil }

    /// Brings the new directory into the old one's place; what it does not hold is gone.
    ///
    /// - Throws: EBUSY for a directory that is a mount point. EAGAIN if another process has replaced the directory
    ///   meanwhile.
    public func commit() throws(SystemError) -> Outcome {
        var removed = names.subtracting(kept)
        if let next { removed.subtract(next.directory.names) }
        let outcome = Outcome(written: written, unchanged: kept.count, removed: removed.count)
        guard isChanged else { return outcome }
        let next = try prepare()
        for name in kept { try keep(name, in: next.directory) }
        try next.directory.setMode(currentStatus?.mode ?? 0o777 & ~ProcessMask.bits)
        if written > 0 { try next.directory.synchronizeFileSystem() }
        guard try parent.status(of: name)?.identity == currentStatus?.identity else {
            throw SystemError("rename", path, errno: EAGAIN)
        }
        if currentStatus == nil {
            try publish(next.name)
        } else {
            try exchange(next.name)
        }
        self.next = nil
        return outcome
    }

    /// Takes away what was written for the new directory.
    public func discard() {
        guard let next else { return }
        self.next = nil
        parent.removeDirectory(next.name)
    }

    // MARK: steps

    /// A new file of the new directory.
    private func make(_ name: String) throws(SystemError) -> Descriptor {
        try prepare().directory.open(name, O_WRONLY | O_CREAT | O_TRUNC, mode: 0o644)
    }

    /// The new directory, which is made now where it is not there yet.
    private func prepare() throws(SystemError) -> (directory: Directory, name: String) {
        if let next { return next }
        Leftovers.remove(in: parent)
        for _ in 0..<16 {
            let draftName = DraftName.random(for: name)
            do throws(SystemError) {
                try parent.makeDirectory(draftName, mode: 0o700)
            } catch {
                guard error.errno != EEXIST else { continue }
                throw error.about(path)
            }
            let directory = try Directory(draftName, in: parent)
            // Somebody who removes what killed processes have left may have found it before it was locked.
            guard directory.tryLock(), try parent.status(of: draftName)?.identity == directory.status().identity
            else { continue }
            let made = (directory, draftName)
            next = made
            return made
        }
        throw SystemError("mkdir", path, errno: EAGAIN)
    }

    private func keep(_ name: String, in next: Directory) throws(SystemError) {
        guard let current else { return }
        do throws(SystemError) {
            try current.link(name, to: name, in: next)
        } catch {
            guard [EPERM, EMLINK, EOPNOTSUPP, EXDEV].contains(error.errno) else {
                throw error.about("\(path)/\(name)")
            }
            // A file system without hard links.
            let octets = try Files.read(current.openRegular(name), "\(path)/\(name)", limit: 1 << 30).octets
            try next.open(name, O_WRONLY | O_CREAT | O_TRUNC, mode: 0o644).writeAll(octets)
        }
    }

    private func publish(_ draftName: String) throws(SystemError) {
        do throws(SystemError) {
            try parent.rename(draftName, to: name, .toFreeName)
        } catch {
            switch error.errno {
            // Another process was quicker.
            case EEXIST: throw SystemError("rename", path, errno: EAGAIN)
            case EINVAL, ENOSYS, EOPNOTSUPP: try parent.rename(draftName, to: name)
            default: throw error
            }
        }
    }

    private func exchange(_ draftName: String) throws(SystemError) {
        do throws(SystemError) {
            try parent.rename(draftName, to: name, .exchanging)
            parent.removeDirectory(draftName)
            return
        } catch {
            guard error.errno == EINVAL || error.errno == ENOSYS || error.errno == EOPNOTSUPP else { throw error }
        }
        // A file system that cannot exchange: for a moment there is no directory of that name. The old one is locked, so
        // that nobody takes it for a left draft meanwhile.
        _ = current?.tryLock()
        let old = DraftName.random(for: name)
        try parent.rename(name, to: old)
        do throws(SystemError) {
            try parent.rename(draftName, to: name)
        } catch {
            try? parent.rename(old, to: name)
            throw error
        }
        parent.removeDirectory(old)
    }

    private func holds(_ name: String, _ octets: [UInt8]) -> Bool {
        guard let file = try? current?.openRegular(name), (try? FileStatus(file))?.size == octets.count else {
            return false
        }
        return (try? Files.read(file, name, limit: octets.count).octets) == octets
    }
}

/// The permissions that this process takes from the files it makes: umask(2).
enum ProcessMask {
    /// As the kernel tells it; that of most users where it does not. Setting the mask to read it would change it for
    /// the other threads for a moment.
    static var bits: UInt32 {
        guard let text = try? Files.read("/proc/self/status", limit: 1 << 16) else { return 0o022 }
        for line in String(decoding: text, as: UTF8.self).split(separator: "\n") where line.hasPrefix("Umask:") {
            return UInt32(line.dropFirst(6).filter(\.isNumber), radix: 8) ?? 0o022
        }
        return 0o022
    }
}
