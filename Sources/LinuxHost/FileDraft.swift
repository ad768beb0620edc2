internal import Glibc

/// A file's next contents, written piece by piece. As long as the pieces are what the file has already, nothing is
/// written anywhere; from the first difference on a draft grows beside it.
public final class FileDraft {
    private let path: String
    private let draft: String
    /// Makes the folder of the draft where it is not there yet.
    private let prepare: () throws(SystemError) -> Void
    private var old: Descriptor?
    private var new: Descriptor?
    /// Octets that are as they were.
    private var same = 0
    private var pending: [UInt8] = []
    private static let pieceSize = 1 << 18

    /// - Parameters:
    ///   - path: The file as it is; it may be missing.
    ///   - draft: Where the new one grows.
    public init(_ path: String, draft: String, prepare: @escaping () throws(SystemError) -> Void = {}) {
        self.path = path
        self.draft = draft
        self.prepare = prepare
        old = try? Descriptor.open(path, .read)
    }

    /// Whether there is a draft, because the contents are not those of the file.
    public var isChanged: Bool { new != nil }

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
        if isDurable, let new { _ = try retryingInterrupts("fsync", draft) { fsync(new.number) } }
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
        try prepare()
        let made = try Descriptor.open(draft, .replace)
        new = made
        guard same > 0 else { return }
        let source = try Descriptor.open(path, .read)
        var rest = same
        while rest > 0 {
            let limit = min(rest, Self.pieceSize)
            let part = try named { () throws(SystemError) in try source.read(upTo: limit) }
            guard !part.isEmpty else { throw SystemError("read", path, errno: EIO) }
            try named { () throws(SystemError) in try made.writeAll(part) }
            rest -= part.count
        }
    }

    private func named<Value>(_ body: () throws(SystemError) -> Value) throws(SystemError) -> Value {
        do throws(SystemError) {
            return try body()
        } catch {
            throw SystemError(error.call, draft, errno: error.errno)
        }
    }

    /// Puts the draft into the file's place, if there is one.
    public func commit() throws(SystemError) {
        guard new != nil else { return }
        new = nil
        _ = try retryingInterrupts("rename", path) { unsafe rename(draft, path) }
    }

    /// Takes the draft away.
    public func discard() {
        guard new != nil else { return }
        new = nil
        _ = unsafe unlink(draft)
    }
}
