internal import Glibc
internal import LinuxHost

/// A folder that is gone, with all that is in it, when the test is over.
public final class TemporaryFolder {
    public let path: String

    public init() throws {
        var template = Array("/tmp/pharos-test-XXXXXX".utf8CString)
        path = try unsafe template.withUnsafeMutableBufferPointer { buffer in
            guard let base = buffer.baseAddress, let made = unsafe mkdtemp(base) else {
                throw SystemError("mkdtemp", errno: errno)
            }
            return unsafe String(cString: made)
        }
    }

    deinit {
        for name in Files.names(in: path) { _ = unsafe unlink(path + "/" + name) }
        _ = unsafe rmdir(path)
    }

    /// The path of a file in the folder, with these octets in it.
    public func file(_ name: String, _ octets: [UInt8]) throws -> String {
        let path = path + "/" + name
        try OutputFile(replacing: path).append(octets)
        return path
    }

    public func place(_ name: String) -> String { path + "/" + name }
}
