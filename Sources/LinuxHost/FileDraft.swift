internal import Glibc

/// A file's next contents, written piece by piece. As long as the pieces are what the file has already, nothing is
/// written anywhere; from the first difference on a draft grows beside it, under a name that nobody can foresee.
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
    /// Octets that are as they were.
    private var same = 0
    private var pending: [UInt8] = []
    private static let pieceSize = 1 << 18

    /// - Parameter path: The file as it is; it may be missing. A symbolic link stays one: the file that it leads to gets
    ///   the new contents. One that another user has made is refused.
    /// - Throws: EINVAL and EISDIR where something else than a regular file is there.
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

    /// Adds octets at the end.
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
