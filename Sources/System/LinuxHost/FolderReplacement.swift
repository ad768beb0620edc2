internal import CLinux
internal import Glibc
internal import SystemPackage

/// Replaces a directory in one step: other processes see either the old or the new directory. If this process is
/// killed, the complete old directory remains.
///
/// The new directory is written next to the old directory, under an unpredictable name, and only its owner may enter
/// it. Unchanged files are hard links to the old files. If no file changes, no new directory is made. ``commit()``
/// exchanges the names of the two directories (renameat2(2), RENAME_EXCHANGE), and removes the old directory.
///
/// If two processes replace a directory at the same time, the second commit is refused (EAGAIN).
public final class FolderReplacement {
    /// The path of the directory. If the given path is a symbolic link, this is the path to which it leads.
    public let path: String
    private let parent: Directory
    private let name: String
    /// The old directory; `nil` if there is none.
    private let oldDirectory: Directory?
    private let oldStatus: Stat?
    private let isDryRun: Bool
    /// The new directory and its temporary name; `nil` until the first file differs.
    private var draft: (directory: Directory, name: String)?
    /// The names of the unchanged files.
    private var unchangedNames: [String] = []
    /// The number of new and changed files.
    public private(set) var written = 0
    /// The names of the new and changed files.
    private var changedNames: Set<String> = []
    /// The names of the files in the old directory.
    public let names: Set<String>

    /// The numbers of written, unchanged and removed files.
    public struct Outcome: Hashable, Sendable {
        /// The number of new and changed files.
        public var written = 0
        /// The number of unchanged files.
        public var unchanged = 0
        /// The number of removed files.
        public var removed = 0
    }

    /// Starts to replace the directory at `path`.
    ///
    /// - Parameters:
    ///   - path: The path of the directory, which need not exist. If it is a symbolic link, the directory to which the
    ///     link leads is replaced; a link of another user is refused.
    ///   - isDryRun: True to only compare the files, and to write nothing.
    /// - Throws: ENOTDIR if `path` is not a directory; ENOENT if its parent is missing.
    public init(_ path: String, isDryRun: Bool = false) throws(SystemError) {
        self.isDryRun = isDryRun
        let location = try FileLocation(Self.named(FilePath(path)))
        if let status = location.status, status.type != .directory {
            throw SystemError("open", path, errno: .notDirectory)
        }
        self.path = location.path
        parent = location.directory
        name = location.name
        oldStatus = location.status
        oldDirectory = location.status == nil ? nil : try Directory(location.name, in: location.directory)
        names = Set(oldDirectory?.names ?? [])
    }

    deinit { discard() }

    /// Returns a path that ends with the name of the directory. `path` may be `.` or end with `..`.
    private static func named(_ path: FilePath) throws(SystemError) -> String {
        if path.lastComponent?.kind == .regular { return path.string }
        guard let resolved = Files.resolved(path.string) else { throw SystemError("open", path.string, errno: errno) }
        return resolved
    }

    /// Puts a file with these contents into the new directory.
    public func put(_ name: String, _ octets: [UInt8]) throws(SystemError) {
        if names.contains(name), hasOldFile(name, octets) {
            unchangedNames.append(name)
            return
        }
        if !isDryRun {
            do throws(SystemError) {
                try createFile(name).writeAll(octets)
            } catch {
                throw error.about("\(path)/\(name)")
            }
        }
        written += 1
        changedNames.insert(name)
    }

    /// Returns an object for writing a file of the directory piece by piece. After the last piece, pass the object to
    /// ``finish(_:_:)``.
    public func file(_ name: String) -> FileReplacement {
        FileReplacement(name, path: "\(path)/\(name)", in: oldDirectory, isDryRun: isDryRun) {
            [self] () throws(SystemError) in try createFile(name)
        }
    }

    /// Completes a file that was written piece by piece.
    public func finish(_ file: FileReplacement, _ name: String) throws(SystemError) {
        try file.finish()
        if file.isChanged {
            written += 1
            changedNames.insert(name)
        } else {
            unchangedNames.append(name)
        }
    }

    /// True if the new directory differs from the old one.
    public var isChanged: Bool { written > 0 || unchangedNames.count != names.count || oldDirectory == nil }

    /// Replaces the old directory with the new directory. Old files that were passed neither to ``put(_:_:)`` nor to
    /// ``finish(_:_:)`` are removed.
    ///
    /// - Throws: EBUSY for a mount point; EAGAIN if another process has replaced the directory since this object was
    ///   created.
    public func commit() throws(SystemError) -> Outcome {
        let removedNames = names.subtracting(unchangedNames).subtracting(changedNames)
        let outcome = Outcome(written: written, unchanged: unchangedNames.count, removed: removedNames.count)
        guard !isDryRun else { return outcome }
        guard isChanged else {
            AbandonedDrafts.remove(in: parent)
            return outcome
        }
        let draft = try prepare()
        for name in unchangedNames { try linkUnchanged(name, in: draft.directory) }
        try draft.directory.setPermissions(oldStatus?.permissions ?? ProcessMask.permissions(0o777))
        if written > 0 { try draft.directory.synchronizeFileSystem() }
        guard try parent.status(of: name)?.identity == oldStatus?.identity else {
            throw SystemError("rename", path, errno: .wouldBlock)
        }
        if oldStatus == nil {
            try publish(draft.name)
        } else {
            try exchange(draft.name)
        }
        self.draft = nil
        return outcome
    }

    /// Removes the new directory. The old directory stays.
    public func discard() {
        guard let draft else { return }
        self.draft = nil
        parent.removeDirectory(draft.name)
    }

    // MARK: Steps

    /// Creates a file in the new directory.
    private func createFile(_ name: String) throws(SystemError) -> Descriptor {
        try prepare().directory.open(name, O_WRONLY | O_CREAT | O_TRUNC, mode: 0o644)
    }

    /// Returns the new directory, and creates it on the first call.
    private func prepare() throws(SystemError) -> (directory: Directory, name: String) {
        if let draft { return draft }
        AbandonedDrafts.remove(in: parent)
        for _ in 0..<16 {
            let draftName = DraftName.random(for: name)
            do throws(SystemError) {
                try parent.makeDirectory(draftName, mode: 0o700)
            } catch {
                guard error.errno != .fileExists else { continue }
                throw error.about(path)
            }
            let directory: Directory
            do throws(SystemError) {
                directory = try Directory(draftName, in: parent)
            } catch {
                parent.removeDirectory(draftName)
                throw error.about(path)
            }
            // Another process may have removed the directory between its creation and the lock.
            guard directory.tryLock(), try parent.status(of: draftName)?.identity == directory.status().identity
            else {
                parent.removeDirectory(draftName)
                continue
            }
            let newDraft = (directory, draftName)
            draft = newDraft
            return newDraft
        }
        throw SystemError("mkdir", path, errno: .wouldBlock)
    }

    /// Gives an unchanged file a second name in the new directory.
    private func linkUnchanged(_ name: String, in newDirectory: Directory) throws(SystemError) {
        guard let oldDirectory else { return }
        do throws(SystemError) {
            try oldDirectory.link(name, to: name, in: newDirectory)
        } catch {
            guard [.notPermitted, .tooManyLinks, .notSupportedOnSocket, .improperLink].contains(error.errno) else {
                throw error.about("\(path)/\(name)")
            }
            // The file system has no hard links, so the file is copied.
            let octets = try Files.read(oldDirectory.openRegular(name), "\(path)/\(name)", limit: 1 << 30).octets
            try newDirectory.open(name, O_WRONLY | O_CREAT | O_TRUNC, mode: 0o644).writeAll(octets)
        }
    }

    private func publish(_ draftName: String) throws(SystemError) {
        do throws(SystemError) {
            try parent.rename(draftName, to: name, .toFreeName)
        } catch {
            switch error.errno {
            // Another process has created the directory in the meantime.
            case .fileExists: throw SystemError("rename", path, errno: .wouldBlock)
            case .invalidArgument, .noFunction, .notSupportedOnSocket: try parent.rename(draftName, to: name)
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
            guard [.invalidArgument, .noFunction, .notSupportedOnSocket].contains(error.errno) else { throw error }
        }
        // The file system cannot exchange names, so for a moment there is no directory with this name. The old
        // directory is locked, so that no process removes it as an abandoned draft.
        _ = oldDirectory?.tryLock()
        let oldName = DraftName.random(for: name)
        try parent.rename(name, to: oldName)
        do throws(SystemError) {
            try parent.rename(draftName, to: name)
        } catch {
            try? parent.rename(oldName, to: name)
            throw error
        }
        parent.removeDirectory(oldName)
    }

    /// Returns true if the old directory has a file with this name and these contents.
    private func hasOldFile(_ name: String, _ octets: [UInt8]) -> Bool {
        guard let file = try? oldDirectory?.openRegular(name), (try? file.status())?.size == Int64(octets.count) else {
            return false
        }
        return (try? Files.read(file, name, limit: octets.count).octets) == octets
    }
}

/// The umask of this process.
enum ProcessMask {
    /// Returns `requested` without the bits of the umask. The umask is read from /proc, because umask(2) would change
    /// it for all threads for a moment. If it cannot be read, it is assumed to be 022.
    static func permissions(_ requested: UInt32) -> FilePermissions { FilePermissions(rawValue: requested & ~bits) }

    private static var bits: UInt32 {
        guard let text = try? Files.read("/proc/self/status", limit: 1 << 16) else { return 0o022 }
        for line in String(decoding: text, as: UTF8.self).split(separator: "\n") where line.hasPrefix("Umask:") {
            return UInt32(line.dropFirst(6).filter(\.isNumber), radix: 8) ?? 0o022
        }
        return 0o022
    }
}
