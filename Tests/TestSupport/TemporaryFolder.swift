internal import Glibc
internal import LinuxHost

/// A folder that is removed with its contents at the end of the test.
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

    deinit { Self.remove(path) }

    /// Writes a file into the folder and returns its path. Missing folders on the way to it are created.
    public func file(_ name: String, _ octets: [UInt8]) throws -> String {
        var folder = path
        for part in name.split(separator: "/").dropLast() {
            folder += "/" + part
            _ = unsafe mkdir(folder, 0o755)
        }
        let path = path + "/" + name
        try OutputFile(replacing: path).append(octets)
        return path
    }

    /// Writes a text file into the folder and returns its path.
    @discardableResult
    public func file(_ name: String, text: String) throws -> String { try file(name, Array(text.utf8)) }

    public func place(_ name: String) -> String { path + "/" + name }

    /// Removes the file or folder `name`, with its contents; symbolic links are not followed.
    public func remove(_ name: String) { Self.remove(place(name)) }

    private static func remove(_ path: String) {
        if unsafe unlink(path) == 0 { return }
        for name in Files.names(in: path) { remove(path + "/" + name) }
        _ = unsafe rmdir(path)
    }
}

/// Makes a symbolic link.
public func makeLink(_ path: String, to target: String) throws {
    guard unsafe symlink(target, path) == 0 else { throw SystemError("symlink", path, errno: errno) }
}
