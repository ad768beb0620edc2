internal import Glibc
internal import Synchronization

/// Where a file is to be put: the directory that it is in, held open, and its name there. A symbolic link at the path
/// is followed, so that it stays a link, but only where this user or root has made it.
struct FilePlace {
    let directory: Directory
    let name: String
    /// What is there now, which is no symbolic link; `nil` if nothing is.
    let status: FileStatus?

    /// - Throws: ENOENT if the directory is missing; EISDIR for a path without a name at its end; ELOOP for a link
    ///   of another user, and for links that lead to each other.
    init(_ path: String) throws(SystemError) {
        var (around, name) = Files.split(path)
        var directory: Directory
        do throws(SystemError) {
            directory = try Directory(around)
        } catch {
            throw error.about(path)
        }
        // As many as the kernel follows.
        for _ in 0..<40 {
            guard !name.isEmpty, name != ".", name != ".." else { throw SystemError("open", path, errno: EISDIR) }
            let status = try directory.status(of: name)
            guard let status, status.kind == .symbolicLink else {
                (self.directory, self.name, self.status) = (directory, name, status)
                return
            }
            guard status.isOursOrRoots else {
                throw SystemError(
                    "open", path, errno: ELOOP,
                    reason: "this symbolic link belongs to user \(status.owner) and is not followed"
                )
            }
            (around, name) = Files.split(try directory.target(ofLink: name))
            if !around.isEmpty { directory = try Directory(around, from: directory) }
        }
        throw SystemError("open", path, errno: ELOOP)
    }

    /// Its path, for messages.
    var path: String { directory.place(name) }

    /// - Throws: where others could replace what is put there: a key would then be theirs to choose.
    func refuseUnlessSafeForSecrets() throws(SystemError) {
        let around = try directory.status()
        guard around.othersMayReplaceFiles else { return }
        let folder = directory.path.isEmpty ? "." : directory.path
        let why =
            around.isOursOrRoots
            ? "other users may write to \(folder), so no key belongs in it; `chmod go-w \(folder)` or choose another directory"
            : "\(folder) belongs to user \(around.owner), so no key of this user belongs in it; choose "
                + "another directory"
        throw SystemError("open", path, errno: EPERM, reason: why)
    }
}

/// A file that grows under a name which nobody can foresee, `.NAME.RANDOM.pharos-draft`, until it gets its own name in
/// one step. Its owner alone may open it before that. A draft that gets no name is removed.
///
/// For as long as it is written it is locked, so that one which a killed process has left can be told from it.
final class DraftFile {
    let file: Descriptor
    let directory: Directory
    /// `nil` once it has its own name.
    private var draftName: String?

    /// - Throws: also ENOSPC and EROFS; EACCES if this user may not write to the directory.
    init(of name: String, in directory: Directory) throws(SystemError) {
        Leftovers.remove(in: directory)
        for _ in 0..<16 {
            let draftName = DraftName.random(for: name)
            let file: Descriptor
            do throws(SystemError) {
                file = try directory.open(draftName, O_RDWR | O_CREAT | O_EXCL)
            } catch {
                guard error.errno != EEXIST else { continue }
                throw error.about(directory.place(name))
            }
            // Somebody who removes what killed processes have left may have found it before it was locked.
            guard file.tryFlock(), directory.has(file, at: draftName) else { continue }
            self.file = file
            self.directory = directory
            self.draftName = draftName
            return
        }
        throw SystemError("open", directory.place(name), errno: EAGAIN)
    }

    deinit { discard() }

    /// Gives it its name; what had that name is gone.
    func rename(to name: String) throws(SystemError) {
        guard let draftName else { return }
        try directory.rename(draftName, to: name)
        self.draftName = nil
    }

    /// Gives it a name that nothing has yet.
    ///
    /// - Throws: EEXIST.
    func link(to name: String) throws(SystemError) {
        guard let draftName else { return }
        try directory.link(draftName, to: name, in: directory)
        discard()
    }

    /// Removes it, unless it has its own name by now.
    func discard() {
        guard let draftName else { return }
        try? directory.remove(draftName)
        self.draftName = nil
    }
}

/// The names of drafts, of files and of directories.
enum DraftName {
    private static let suffix = ".pharos-draft"
    private static let randomDigits = 16

    /// Another one each time, with 64 bits of chance.
    static func random(for name: String) -> String {
        let digits = String(UInt64.random(in: 0...UInt64.max), radix: 16)
        let chance = String(repeating: "0", count: randomDigits - digits.count) + digits
        // A name has at most 255 bytes.
        return ".\(String(decoding: name.utf8.prefix(200), as: Unicode.ASCII.self)).\(chance)\(suffix)"
    }

    /// Whether a name is one of these.
    static func matches(_ name: String) -> Bool {
        guard name.hasPrefix("."), name.hasSuffix(suffix) else { return false }
        let start = name.dropLast(suffix.count)
        let chance = start.suffix(randomDigits)
        return chance.utf8.count == randomDigits && start.dropLast(randomDigits).hasSuffix(".")
            && chance.allSatisfy { $0.isASCII && $0.isHexDigit && !$0.isUppercase }
    }
}

/// Drafts that killed processes have left.
enum Leftovers {
    /// The directories that this process has looked through, as they were named: what is left is from before.
    private static let seen = Mutex<Set<Place>>([])

    private struct Place: Hashable {
        let path: String
        let identity: FileStatus.Identity
    }

    /// Removes the drafts of this user that no process has open; once for each directory.
    static func remove(in directory: Directory) {
        guard let status = try? directory.status() else { return }
        let place = Place(path: directory.path, identity: status.identity)
        guard seen.withLock({ $0.insert(place).inserted }) else { return }
        for name in directory.names where DraftName.matches(name) {
            guard let status = try? directory.status(of: name), status.owner == geteuid() else { continue }
            switch status.kind {
            case .regular:
                guard let file = try? directory.open(name, O_RDWR), file.tryFlock(),
                    (try? FileStatus(file))?.identity == status.identity
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
    /// Puts what comes in pieces in the place of the file at `path`, as ``replace(_:with:mode:keepsRights:isDurable:)``
    /// does: it is never all in memory. The new file gets the rights of the one that is there, else mode 0644. A
    /// ``FileDraft`` leaves a file alone whose contents are the same, and gives a changed one to whoever writes it.
    ///
    /// - Parameter contents: Hands each piece on, in order. What it throws leaves the old file as it was.
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

/// A file's next contents, written piece by piece. As long as the pieces are what the file has already, nothing is
/// written anywhere; from the first difference on a draft grows next to it, under a name that nobody can foresee.
public final class FileDraft {
    /// Where the draft grows.
    private enum Target {
        /// Beside the file, whose name it gets in the end.
        case beside(FilePlace)
        /// In a directory that comes into its place as a whole; makes the file.
        case inNewDirectory(() throws(SystemError) -> Descriptor)
    }

    private let target: Target
    /// For messages.
    private let path: String
    private let old: Descriptor?
    private var new: Descriptor?
    /// What gets the file's name in the end.
    private var draft: DraftFile?
    /// Bytes that are as they were.
    private var same = 0
    private var pending: [UInt8] = []
    private static let pieceSize = 1 << 18

    /// - Parameter path: The file as it is; it may be missing. A symbolic link stays one: the file that it leads to gets
    ///   the new contents. One that another user has made is refused.
    /// - Throws: EINVAL and EISDIR if something else than a regular file is there.
    public init(_ path: String) throws(SystemError) {
        let place = try FilePlace(path)
        if let refusal = place.status?.refusalOfOtherKinds("open", path) { throw refusal }
        target = .beside(place)
        self.path = path
        old = try? place.directory.openRegular(place.name)
    }

    /// A file of a directory whose next contents come into its place as a whole.
    init(
        _ name: String, path: String, in current: Directory?, make: @escaping () throws(SystemError) -> Descriptor
    ) {
        target = .inNewDirectory(make)
        self.path = path
        old = try? current?.openRegular(name)
    }

    /// Whether there is a draft, because the contents are not those of the file.
    public var isChanged: Bool { new != nil }

    /// Adds bytes at the end.
    public func append(_ octets: [UInt8]) throws(SystemError) {
        pending += octets
        if pending.count >= Self.pieceSize { try flush() }
    }

    /// To be called behind the last piece. The draft is on the disk then, if there is one.
    public func finish(isDurable: Bool = true) throws(SystemError) {
        try flush()
        if new == nil {
            if let old, try named({ () throws(SystemError) in try old.read(upTo: 1) }).isEmpty { return }
            try begin()
        }
        if isDurable, let new { _ = try retryingInterrupts("fsync", path) { fsync(new.number) } }
    }

    private func flush() throws(SystemError) {
        guard !pending.isEmpty else { return }
        if new == nil {
            if try isAsBefore() {
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

    /// Whether the file goes on with what is pending.
    private func isAsBefore() throws(SystemError) -> Bool {
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

    /// Makes the draft, with what the file has up to here.
    private func begin() throws(SystemError) {
        let made: Descriptor
        switch target {
        case .beside(let place):
            let draft = try DraftFile(of: place.name, in: place.directory)
            try draft.file.setMode(place.status?.mode ?? 0o666 & ~ProcessMask.bits)
            self.draft = draft
            made = draft.file
        case .inNewDirectory(let make): made = try make()
        }
        new = made
        guard same > 0, let old else { return }
        guard lseek(old.number, 0, SEEK_SET) == 0 else { throw SystemError("lseek", path, errno: errno) }
        var rest = same
        while rest > 0 {
            let limit = min(rest, Self.pieceSize)
            let part = try named { () throws(SystemError) in try old.read(upTo: limit) }
            guard !part.isEmpty else { throw SystemError("read", path, errno: EIO) }
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

    /// Puts the draft into the file's place, if there is one.
    public func commit() throws(SystemError) {
        guard new != nil else { return }
        new = nil
        guard case .beside(let place) = target else { return }
        try draft?.rename(to: place.name)
        draft = nil
    }

    /// Takes the draft away.
    public func discard() {
        new = nil
        draft = nil
    }
}
