internal import BluetoothTypes
internal import Glibc
internal import Synchronization
internal import SystemPackage

/// The location of a file: the open directory that contains it, and the name of the file in the directory.
///
/// A symbolic link at the path is followed, so that the link itself is never replaced. Links of users other than this
/// user and root are refused.
struct FileLocation {
    let directory: Directory
    let name: String
    /// The status of the existing file with this name, which is not a symbolic link; `nil` if there is no such file.
    let status: Stat?

    /// Finds the location of the file at `path`. The file need not exist.
    ///
    /// - Throws: ENOENT if the directory is missing; EISDIR for a path that does not end with a name; ELOOP for a
    ///   symbolic link of another user, and for a loop of symbolic links.
    init(_ path: String) throws(SystemError) {
        guard !path.hasSuffix("/") else { throw SystemError("open", path, errno: .isDirectory) }
        var linkedPath = FilePath(path)
        var directory: Directory
        do throws(SystemError) {
            directory = try Directory(linkedPath.removingLastComponent())
        } catch {
            throw error.about(path)
        }
        // The kernel also follows at most 40 links.
        for _ in 0..<40 {
            guard let name = linkedPath.lastComponent, name.kind == .regular else {
                throw SystemError("open", path, errno: .isDirectory)
            }
            let status = try directory.status(of: name.string)
            guard let status, status.type == .symbolicLink else {
                (self.directory, self.name, self.status) = (directory, name.string, status)
                return
            }
            guard status.isOursOrRoots else {
                throw SystemError(
                    "open", path, errno: .tooManySymbolicLinkLevels,
                    reason: "this symbolic link belongs to user \(status.userID.rawValue) and is not followed")
            }
            linkedPath = try directory.target(ofLink: name.string)
            let directoryPath = linkedPath.removingLastComponent()
            if !directoryPath.isEmpty { directory = try Directory(directoryPath, from: directory) }
        }
        throw SystemError("open", path, errno: .tooManySymbolicLinkLevels)
    }

    /// The path of the file, for messages.
    var path: String { directory.path(of: name) }

    /// Refuses a file that another user has put into a directory to which others may write. The owner of the directory
    /// and root are trusted.
    ///
    /// - Parameter openedStatus: The status of the opened file, because another file may have got the name since
    ///   ``status`` was read; `nil` to check ``status``.
    /// - Throws: EPERM for such a file.
    func refuseForeign(_ openedStatus: Stat? = nil) throws(SystemError) {
        guard let status = openedStatus ?? status, !status.isOursOrRoots else { return }
        let directoryStatus = try directory.status()
        guard directoryStatus.isWritableByOthers, status.userID != directoryStatus.userID else { return }
        throw SystemError(
            "open", path, errno: .notPermitted,
            reason: "user \(status.userID.rawValue) has put this file there; remove it, or choose another name")
    }

    /// Refuses a location that is not safe for a key.
    ///
    /// - Throws: EPERM if another user could replace a key that is stored here.
    func refuseUnlessSafeForSecrets() throws(SystemError) {
        let directoryStatus = try directory.status()
        guard directoryStatus.othersMayReplaceFiles else { return }
        let folder = directory.path.isEmpty ? "." : directory.path.string
        let reason =
            directoryStatus.isOursOrRoots
            ? "other users may write to \(folder), so it is not safe for keys; run `chmod go-w \(folder)` or choose "
                + "another directory"
            : "\(folder) belongs to user \(directoryStatus.userID.rawValue), so it is not safe for keys of this user; "
                + "choose another directory"
        throw SystemError("open", path, errno: .notPermitted, reason: reason)
    }
}

/// The draft of a file: a new file that is written under an unpredictable temporary name, `.NAME.RANDOM.pharos-draft`,
/// and then gets its final name in one step. Until then only the owner of the draft may open it. A draft that gets no
/// final name is removed.
///
/// A draft is locked while it is written. A draft without a lock was left by a process that was killed.
final class FileDraft {
    let file: Descriptor
    let directory: Directory
    /// The temporary name; `nil` after the draft has its final name.
    private var draftName: String?

    /// Creates the draft of the file `name`, and first removes abandoned drafts from `directory`.
    ///
    /// - Throws: ENOSPC, EROFS, and EACCES if this user may not write to the directory, among others.
    init(of name: String, in directory: Directory) throws(SystemError) {
        AbandonedDrafts.remove(in: directory)
        for _ in 0..<16 {
            let draftName = DraftName.random(for: name)
            let file: Descriptor
            do throws(SystemError) {
                file = try directory.open(draftName, O_RDWR | O_CREAT | O_EXCL)
            } catch {
                guard error.errno != .fileExists else { continue }
                throw error.about(directory.path(of: name))
            }
            // Another process may have removed the draft before it was locked.
            guard file.tryFlock(), directory.has(file, at: draftName) else { continue }
            self.file = file
            self.directory = directory
            self.draftName = draftName
            return
        }
        throw SystemError("open", directory.path(of: name), errno: .wouldBlock)
    }

    deinit { discard() }

    /// Gives the draft its final name, and replaces the file that had this name.
    func rename(to name: String) throws(SystemError) {
        guard let draftName else { return }
        try directory.rename(draftName, to: name)
        self.draftName = nil
    }

    /// Gives the draft its final name.
    ///
    /// - Throws: EEXIST if another file has this name.
    func link(to name: String) throws(SystemError) {
        guard let draftName else { return }
        try directory.link(draftName, to: name, in: directory)
        discard()
    }

    /// Removes the draft if it still has its temporary name.
    func discard() {
        guard let draftName else { return }
        try? directory.remove(draftName)
        self.draftName = nil
    }
}

/// The temporary names of drafts of files and directories.
enum DraftName {
    private static let suffix = ".pharos-draft"
    private static let randomDigits = 16

    /// Returns a temporary name for the draft of the file `name`, with 64 random bits.
    static func random(for name: String) -> String {
        let digits = NumberFormat.padded(UInt64.random(in: 0...UInt64.max), to: randomDigits, radix: 16)
        // A file name has at most 255 bytes.
        return ".\(String(decoding: name.utf8.prefix(200), as: Unicode.ASCII.self)).\(digits)\(suffix)"
    }

    /// Returns true if a name has the form of a draft's temporary name.
    static func matches(_ name: String) -> Bool {
        guard name.hasPrefix("."), name.hasSuffix(suffix) else { return false }
        let stem = name.dropLast(suffix.count)
        let digits = stem.suffix(randomDigits)
        return digits.utf8.count == randomDigits && stem.dropLast(randomDigits).hasSuffix(".")
            && digits.allSatisfy { $0.isASCII && $0.isHexDigit && !$0.isUppercase }
    }
}

/// Removes drafts of processes that were killed.
enum AbandonedDrafts {
    /// The directories that this process has searched already.
    private static let searched = Mutex<Set<SearchedDirectory>>([])

    private struct SearchedDirectory: Hashable {
        let path: FilePath
        let identity: Stat.Identity
    }

    /// Removes the drafts of this user in `directory` that no process has locked. Each directory is searched only once
    /// in the life of the process.
    static func remove(in directory: Directory) {
        guard let status = try? directory.status() else { return }
        let searchedDirectory = SearchedDirectory(path: directory.path, identity: status.identity)
        guard searched.withLock({ $0.insert(searchedDirectory).inserted }) else { return }
        for name in directory.names where DraftName.matches(name) {
            guard let status = try? directory.status(of: name), status.userID.rawValue == geteuid() else { continue }
            switch status.type {
            case .regular:
                guard let file = try? directory.open(name, O_RDWR), file.tryFlock(),
                    (try? file.status())?.identity == status.identity
                else { continue }
                try? directory.remove(name)
            case .directory:
                guard let draft = try? Directory(name, in: directory), draft.tryLock(),
                    (try? draft.status())?.identity == status.identity
                else { continue }
                directory.removeDirectory(name)
            default: continue
            }
        }
    }
}

extension Files {
    /// Replaces the file at `path` as ``replace(_:with:mode:keepsRights:isDurable:)`` does, but does not need all
    /// contents in memory. The new file keeps the mode, owner and group of an existing file; otherwise it has mode
    /// 0644.
    ///
    /// - Parameter contents: Passes the pieces of the contents to its argument in order. If this closure throws, the
    ///   old file stays.
    public static func replace(
        _ path: String,
        inPieces contents: ((_ piece: [UInt8]) throws(SystemError) -> Void) throws(SystemError) -> Void
    ) throws(SystemError) {
        try put(at: try FileLocation(path), path, 0o644, keepsRights: true, isDurable: true) {
            file throws(SystemError) in
            try contents { piece throws(SystemError) in try file.writeAll(piece) }
        }
    }
}

/// Writes new contents of a file piece by piece, and replaces the file only if the new contents differ from the
/// existing contents. Nothing is written while the pieces are equal to the existing contents. At the first difference,
/// a new file under a temporary name is started, the draft. ``commit()`` gives the draft the name of the file.
public final class FileReplacement {
    /// The directory in which the draft is created.
    private enum DraftLocation {
        /// In the directory of the file. In the end the draft gets the name of the file.
        case inSameDirectory(FileLocation)
        /// In a new directory that will replace the old directory. The associated function creates the file.
        case inNewDirectory(() throws(SystemError) -> Descriptor)
        /// There is no draft: the contents are only compared (dry run).
        case none
    }

    private let draftLocation: DraftLocation
    private let path: String
    /// The existing file; `nil` if there is none.
    private let oldFile: Descriptor?
    /// The open draft; `nil` before the first difference.
    private var newFile: Descriptor?
    /// True if the contents that were appended and compared so far differ from the existing contents.
    public private(set) var isChanged = false
    /// The draft for the location `inSameDirectory`; `nil` before the first difference and for other locations.
    private var draft: FileDraft?
    /// The number of bytes at the start that are equal to the existing contents.
    private var equalCount = 0
    /// The bytes that were not compared or written yet.
    private var pending: [UInt8] = []
    /// The number of pending bytes at which they are compared or written.
    private static let pieceSize = 1 << 18

    /// Starts the new contents of the file at `path`.
    ///
    /// - Parameters:
    ///   - path: The path of the file, which need not exist. If it is a symbolic link, the file to which the link leads
    ///     gets the new contents; a link of another user is refused.
    ///   - isDryRun: True to only compare the contents, and to write nothing.
    /// - Throws: EINVAL or EISDIR if `path` exists and is not a regular file.
    public init(_ path: String, isDryRun: Bool = false) throws(SystemError) {
        let location = try FileLocation(path)
        if let refusal = location.status?.refusalOfOtherKinds("open", path) { throw refusal }
        draftLocation = isDryRun ? .none : .inSameDirectory(location)
        self.path = path
        oldFile = try? location.directory.openRegular(location.name)
    }

    /// Creates the draft of a file in a directory that is replaced as a whole. `current` is the old directory, and
    /// `make` creates the file in the new directory.
    init(
        _ name: String, path: String, in current: Directory?, isDryRun: Bool,
        make: @escaping () throws(SystemError) -> Descriptor
    ) {
        draftLocation = isDryRun ? .none : .inNewDirectory(make)
        self.path = path
        oldFile = try? current?.openRegular(name)
    }

    /// Appends bytes to the contents.
    public func append(_ octets: [UInt8]) throws(SystemError) {
        pending += octets
        if pending.count >= Self.pieceSize { try flush() }
    }

    /// Marks the end of the new contents. If they differ from the contents of the file, this function writes the rest
    /// of the draft, and waits until the draft is on the disk.
    public func finish() throws(SystemError) {
        try flush()
        if !isChanged {
            if let oldFile, try namingFile({ () throws(SystemError) in try oldFile.read(upTo: 1) }).isEmpty { return }
            try createDraft()
        }
        if let newFile { try newFile.synchronize(path) }
    }

    private func flush() throws(SystemError) {
        guard !pending.isEmpty else { return }
        if !isChanged {
            if try equalsExisting() {
                equalCount += pending.count
                pending.removeAll(keepingCapacity: true)
                return
            }
            try createDraft()
        }
        if let newFile {
            let octets = pending
            try namingFile { () throws(SystemError) in try newFile.writeAll(octets) }
        }
        pending.removeAll(keepingCapacity: true)
    }

    /// Returns true if the existing contents continue with the pending bytes.
    private func equalsExisting() throws(SystemError) -> Bool {
        guard let oldFile else { return false }
        var compared = 0
        while compared < pending.count {
            let limit = pending.count - compared
            let piece = try namingFile { () throws(SystemError) in try oldFile.read(upTo: limit) }
            guard !piece.isEmpty, pending[compared..<compared + piece.count].elementsEqual(piece) else { return false }
            compared += piece.count
        }
        return true
    }

    /// Creates the draft, and copies the equal bytes at the start of the existing contents to it.
    private func createDraft() throws(SystemError) {
        isChanged = true
        let createdFile: Descriptor
        switch draftLocation {
        case .inSameDirectory(let location):
            let draft = try FileDraft(of: location.name, in: location.directory)
            try draft.file.setPermissions(location.status?.permissions ?? ProcessMask.permissions(0o666))
            self.draft = draft
            createdFile = draft.file
        case .inNewDirectory(let make): createdFile = try make()
        case .none: return
        }
        newFile = createdFile
        guard equalCount > 0, let oldFile else { return }
        _ = try systemCall("lseek", path) { try oldFile.file.seek(offset: 0, from: .start) }
        var remaining = equalCount
        while remaining > 0 {
            let limit = min(remaining, Self.pieceSize)
            let piece = try namingFile { () throws(SystemError) in try oldFile.read(upTo: limit) }
            guard !piece.isEmpty else { throw SystemError("read", path, errno: .ioError) }
            try namingFile { () throws(SystemError) in try createdFile.writeAll(piece) }
            remaining -= piece.count
        }
    }

    /// Runs `body`. If it throws an error, throws the error with the path of the file.
    private func namingFile<Value>(_ body: () throws(SystemError) -> Value) throws(SystemError) -> Value {
        do throws(SystemError) {
            return try body()
        } catch {
            throw error.about(path)
        }
    }

    /// Replaces the file if the contents differ. Otherwise removes abandoned drafts from the directory of the file.
    public func commit() throws(SystemError) {
        guard isChanged else {
            if case .inSameDirectory(let location) = draftLocation { AbandonedDrafts.remove(in: location.directory) }
            return
        }
        newFile = nil
        guard case .inSameDirectory(let location) = draftLocation else { return }
        try draft?.rename(to: location.name)
        draft = nil
    }

    /// Removes the draft. The existing file stays.
    public func discard() {
        newFile = nil
        draft = nil
    }
}
