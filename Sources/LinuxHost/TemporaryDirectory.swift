internal import Glibc

/// A directory for files that another program reads meanwhile: it has a name that nobody can guess, is for this user
/// alone, and goes with its files.
public struct TemporaryDirectory: ~Copyable {
    /// Its absolute path, without a slash at the end.
    public let path: String

    /// Makes one in TMPDIR, or /tmp where that is not set.
    ///
    /// - Throws: What the system said, such as ENOSPC.
    public init() throws(SystemError) {
        let parent = Terminal.environment("TMPDIR").flatMap { $0.hasPrefix("/") ? $0 : nil } ?? "/tmp"
        var template = Array("\(parent)/pharos-XXXXXX".utf8CString)
        guard unsafe mkdtemp(&template) != nil else { throw SystemError("mkdtemp", parent, errno: errno) }
        path = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    deinit {
        for name in Files.names(in: path) { try? Files.remove("\(path)/\(name)") }
        unsafe rmdir(path)
    }
}
