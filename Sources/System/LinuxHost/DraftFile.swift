internal import BluetoothTypes
internal import Glibc
internal import Synchronization
internal import SystemPackage

/// The location of a file: the open directory that contains it, and the name of the file in the directory.
///
/// A symbolic link at the path is followed, so that the link itself is never replaced. Links of users other than this
/// user and root are refused.
struct FilePlace {
    let directory: Directory
    let name: String
    /// The status of the existing file with this name, which is not a symbolic link; `nil` if there is no such file.
    let status: Stat?

    /// Finds the location of the file at `path`. The file need not exist.
    ///
    /// - Throws: ENOENT if the directory is missing; EISDIR for a path that does not end with a name; ELOOP for a
    ///   symbolic link of another user, and for links that lead to each other.
    init(_ path: String) throws(SystemError) {
        guard !path.hasSuffix("/") else { throw SystemError("open", path, errno: .isDirectory) }
        var next = FilePath(path)
        var directory: Directory
        do throws(SystemError) {
            directory = try Directory(next.removingLastComponent())
        } catch {
            throw error.about(path)
        }
        // The kernel also follows at most 40 links.
        for _ in 0..<40 {
            guard let last = next.lastComponent, last.kind == .regular else {
                throw SystemError("open", path, errno: .isDirectory)
            }
            let status = try directory.status(of: last.string)
            guard let status, status.type == .symbolicLink else {
                (self.directory, self.name, self.status) = (directory, last.string, status)
                return
            }
            guard status.isOursOrRoots else {
                throw SystemError(
                    "open", path, errno: .tooManySymbolicLinkLevels,
                    reason: "this symbolic link belongs to user \(status.userID.rawValue) and is not followed")
            }
            next = try directory.target(ofLink: last.string)
            let around = next.removingLastComponent()
            if !around.isEmpty { directory = try Directory(around, from: directory) }
        }
        throw SystemError("open", path, errno: .tooManySymbolicLinkLevels)
    }

    /// The path of the file, for messages.
    var path: String { directory.place(name) }

    /// Refuses a file that another user has put into a directory to which others may write. The owner of the directory
    /// and root are trusted.
    ///
    /// - Parameter opened: The status of the opened file; `nil` for ``status``. Another file may have got the name in
    ///   the meantime.
    /// - Throws: EPERM for such a file.
    func refuseForeign(_ opened: Stat? = nil) throws(SystemError) {
        guard let status = opened ?? status, !status.isOursOrRoots else { return }
        let around = try directory.status()
        guard around.isWritableByOthers, status.userID != around.userID else { return }
        throw SystemError(
            "open", path, errno: .notPermitted,
            reason: "user \(status.userID.rawValue) has put this file there; remove it, or choose another name")
    }

    /// Refuses a location that is not safe for a key.
    ///
    /// - Throws: EPERM if another user could replace a key that is stored here.
    func refuseUnlessSafeForSecrets() throws(SystemError) {
        let around = try directory.status()
        guard around.othersMayReplaceFiles else { return }
        let folder = directory.path.isEmpty ? "." : directory.path.string
        let reason =
            around.isOursOrRoots
            ? "other users may write to \(folder), so it is not safe for keys; run `chmod go-w \(folder)` or choose "
                + "another directory"
            : "\(folder) belongs to user \(around.userID.rawValue), so it is not safe for keys of this user; choose "
                + "another directory"
        throw SystemError("open", path, errno: .notPermitted, reason: reason)
    }
}

/// A file that is written under an unpredictable temporary name, `.NAME.RANDOM.pharos-draft`, and then gets its final
/// name in one step. Until then only its owner may open it. A draft that gets no final name is removed.
///
/// A draft is locked while it is written. A draft without a lock remains from a process that was killed.
final class DraftFile {
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
                throw error.about(directory.place(name))
            }
            // Another process may have removed the draft before it was locked.
            guard file.tryFlock(), directory.has(file, at: draftName) else { continue }
            self.file = file
            self.directory = directory
            self.draftName = draftName
            return
        }
        throw SystemError("open", directory.place(name), errno: .wouldBlock)
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

    /// Removes the draft, unless it has its final name.
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
        let chance = NumberFormat.padded(UInt64.random(in: 0...UInt64.max), to: randomDigits, radix: 16)
        // A file name has at most 255 bytes.
        return ".\(String(decoding: name.utf8.prefix(200), as: Unicode.ASCII.self)).\(chance)\(suffix)"
    }

    /// Returns true if a name has the form of a draft's temporary name.
    static func matches(_ name: String) -> Bool {
        guard name.hasPrefix("."), name.hasSuffix(suffix) else { return false }
        let start = name.dropLast(suffix.count)
        let chance = start.suffix(randomDigits)
        return chance.utf8.count == randomDigits && start.dropLast(randomDigits).hasSuffix(".")
            && chance.allSatisfy { $0.isASCII && $0.isHexDigit && !$0.isUppercase }
    }
}

/// Removes drafts of processes that were killed.
enum AbandonedDrafts {
    /// The directories that this process has searched already.
    private static let seen = Mutex<Set<Place>>([])

    private struct Place: Hashable {
        let path: FilePath
        let identity: Stat.Identity
    }

    /// Removes the drafts of this user in `directory` that no process has locked. Each directory is searched only once
    /// in the life of the process.
    static func remove(in directory: Directory) {
        guard let status = try? directory.status() else { return }
        let place = Place(path: directory.path, identity: status.identity)
        guard seen.withLock({ $0.insert(place).inserted }) else { return }
        for name in directory.names where DraftName.matches(name) {
            guard let status = try? directory.status(of: name), status.userID.rawValue == geteuid() else { continue }
            switch status.type {
            case .regular:
                guard let file = try? directory.open(name, O_RDWR), file.tryFlock(),
                    (try? file.status())?.identity == status.identity
                else { continue }
                try? directory.remove(name)
            case .directory:
                guard let inner = try? Directory(name, in: directory), inner.tryLock(),
                    (try? inner.status())?.identity == status.identity
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
    /// - Parameter contents: Passes the pieces of the contents to its argument in order. If it throws, the old file
    ///   stays.
    public static func replace(
        _ path: String,
        inPieces contents: ((_ piece: [UInt8]) throws(SystemError) -> Void) throws(SystemError) -> Void
    ) throws(SystemError) {
        try put(at: try FilePlace(path), path, 0o644, keepsRights: true, isDurable: true) {
            file throws(SystemError) in
            try contents { piece throws(SystemError) in try file.writeAll(piece) }
        }
    }
}

/// Writes new contents of a file piece by piece, and replaces the file only if they differ. Nothing is written while
/// the pieces are equal to the existing contents. From the first difference on, the contents are written to a draft,
/// which ``commit()`` renames to the name of the file.
public final class FileReplacement {
    /// Where the draft is created.
    private enum Target {
        /// In the directory of the file. In the end the draft gets the name of the file.
        case inSameDirectory(FilePlace)
        /// In a new directory that will replace the old directory. The function creates the file.
        case inNewDirectory(() throws(SystemError) -> Descriptor)
        /// There is no draft: the contents are only compared (dry run).
        case none
    }

    private let target: Target
    private let path: String
    /// The existing file; `nil` if there is none.
    private let old: Descriptor?
    /// The open draft; `nil` before the first difference.
    private var new: Descriptor?
    /// True if the new contents differ from the existing ones, as far as they are known.
    public private(set) var isChanged = false
    /// The draft for the target `inSameDirectory`; `nil` before the first difference and for other targets.
    private var draft: DraftFile?
    /// The number of bytes at the start that are equal to the existing contents.
    private var same = 0
    /// The bytes that were not compared or written yet.
    private var pending: [UInt8] = []
    /// The number of pending bytes at which they are compared or written.
    private static let pieceSize = 1 << 18

    /// Starts the new contents of the file at `path`.
    ///
    /// - Parameters:
    ///   - path: The path of the file, which need not exist. If it is a symbolic link, the file to which the link leads
    ///     gets the new contents; a link of another user is refused.
    ///   - isDryRun: True to compare the contents only, and to write nothing.
    /// - Throws: EINVAL or EISDIR if `path` exists and is not a regular file.
    public init(_ path: String, isDryRun: Bool = false) throws(SystemError) {
        let place = try FilePlace(path)
        if let refusal = place.status?.refusalOfOtherKinds("open", path) { throw refusal }
        target = isDryRun ? .none : .inSameDirectory(place)
        self.path = path
        old = try? place.directory.openRegular(place.name)
    }

    /// Creates the draft of a file in a directory that is replaced as a whole. `current` is the old directory, and
    /// `make` creates the file in the new directory.
    init(
        _ name: String, path: String, in current: Directory?, isDryRun: Bool,
        make: @escaping () throws(SystemError) -> Descriptor
    ) {
        target = isDryRun ? .none : .inNewDirectory(make)
        self.path = path
        old = try? current?.openRegular(name)
    }

    /// Appends bytes to the contents.
    public func append(_ octets: [UInt8]) throws(SystemError) {
        pending += octets
        if pending.count >= Self.pieceSize { try flush() }
    }

    /// Ends the contents. If they differ from those of the file, the complete draft is on the disk when this returns.
    public func finish() throws(SystemError) {
        try flush()
        if !isChanged {
            if let old, try named({ () throws(SystemError) in try old.read(upTo: 1) }).isEmpty { return }
            try begin()
        }
        if let new { try new.synchronize(path) }
    }

    private func flush() throws(SystemError) {
        guard !pending.isEmpty else { return }
        if !isChanged {
            if try equalsExisting() {
                same += pending.count
                pending.removeAll(keepingCapacity: true)
                return
            }
            try begin()
        }
        if let new {
            let octets = pending
            try named { () throws(SystemError) in try new.writeAll(octets) }
        }
        pending.removeAll(keepingCapacity: true)
    }

    /// Returns true if the existing contents continue with the pending bytes.
    private func equalsExisting() throws(SystemError) -> Bool {
        guard let old else { return false }
        var done = 0
        while done < pending.count {
            let wanted = pending.count - done
            let part = try named { () throws(SystemError) in try old.read(upTo: wanted) }
            guard !part.isEmpty, pending[done..<done + part.count].elementsEqual(part) else { return false }
            done += part.count
        }
        return true
    }

    /// Creates the draft, and copies the equal bytes at the start of the existing contents to it.
    private func begin() throws(SystemError) {
        isChanged = true
        let made: Descriptor
        switch target {
        case .inSameDirectory(let place):
            let draft = try DraftFile(of: place.name, in: place.directory)
            try draft.file.setPermissions(place.status?.permissions ?? ProcessMask.permissions(0o666))
            self.draft = draft
            made = draft.file
        case .inNewDirectory(let make): made = try make()
        case .none: return
        }
        new = made
        guard same > 0, let old else { return }
        _ = try systemCall("lseek", path) { try old.file.seek(offset: 0, from: .start) }
        var rest = same
        while rest > 0 {
            let limit = min(rest, Self.pieceSize)
            let part = try named { () throws(SystemError) in try old.read(upTo: limit) }
            guard !part.isEmpty else { throw SystemError("read", path, errno: .ioError) }
            try named { () throws(SystemError) in try made.writeAll(part) }
            rest -= part.count
        }
    }

    private func named<Value>(_ body: () throws(SystemError) -> Value) throws(SystemError) -> Value {
        do throws(SystemError) {
            return try body()
        } catch {
            throw error.about(path)
        }
    }

    /// Replaces the file if the contents differ. Otherwise removes abandoned drafts from the directory of the file.
    public func commit() throws(SystemError) {
        guard isChanged else {
            if case .inSameDirectory(let place) = target { AbandonedDrafts.remove(in: place.directory) }
            return
        }
        new = nil
        guard case .inSameDirectory(let place) = target else { return }
        try draft?.rename(to: place.name)
        draft = nil
    }

    /// Removes the draft. The existing file stays.
    public func discard() {
        new = nil
        draft = nil
    }
}
