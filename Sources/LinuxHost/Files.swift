internal import Glibc

/// Whole files, in one go.
public enum Files {
    /// The contents of `path`, or of standard input for `-`.
    ///
    /// - Throws: also when the file is over `limit` octets (EFBIG): no configuration or capture is meant to eat the
    ///   memory of a small box.
    public static func read(_ path: String, limit: Int = 1 << 30) throws(SystemError) -> [UInt8] {
        let file = path == "-" ? Descriptor(owning: dup(STDIN_FILENO)) : try Descriptor.open(path, .read)
        return try read(file, path, limit: limit).octets
    }

    /// The contents of `path`, and whether the file's owner alone may read them.
    public static func readSecret(
        _ path: String, limit: Int = 1 << 20
    ) throws(SystemError) -> (octets: [UInt8], isPrivate: Bool) {
        let (octets, mode) = try read(Descriptor.open(path, .read), path, limit: limit)
        return (octets, mode & (S_IRWXG | S_IRWXO) == 0)
    }

    private static func read(
        _ file: Descriptor, _ path: String, limit: Int
    ) throws(SystemError) -> (octets: [UInt8], mode: mode_t) {
        var status = stat()
        _ = try retryingInterrupts("stat", path) { unsafe fstat(file.number, &status) }
        if status.st_mode & S_IFMT == S_IFDIR { throw SystemError("read", path, errno: EISDIR) }
        if status.st_size > limit { throw SystemError("read", path, errno: EFBIG) }
        var octets: [UInt8] = []
        octets.reserveCapacity(max(0, min(Int(status.st_size), limit)))
        // What is larger than it says, such as a pipe or a file of /proc, is read all the same.
        let step = status.st_size > 0 ? min(Int(status.st_size) + 1, 1 << 18) : 1 << 18
        while true {
            let part: [UInt8]
            do throws(SystemError) {
                part = try file.read(upTo: step)
            } catch {
                throw SystemError("read", path, errno: error.errno)
            }
            if part.isEmpty { return (octets, status.st_mode) }
            octets += part
            if octets.count > limit { throw SystemError("read", path, errno: EFBIG) }
        }
    }

    /// The first line of a small text file without its end, such as those of /proc and /sys; `nil` when unreadable.
    public static func firstLine(_ path: String) -> String? {
        guard let octets = try? read(path, limit: 1 << 16) else { return nil }
        return String(decoding: octets.prefix { $0 != 0x0A }, as: UTF8.self)
    }

    /// Whether anything of that name is there.
    public static func exists(_ path: String) -> Bool {
        var status = stat()
        return unsafe stat(path, &status) == 0
    }

    /// Whether there is a directory of that name.
    public static func isDirectory(_ path: String) -> Bool {
        var status = stat()
        return unsafe stat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFDIR
    }

    /// Whether the file's owner alone may read it; `false` when it is not there.
    public static func isPrivate(_ path: String) -> Bool {
        var status = stat()
        return unsafe stat(path, &status) == 0 && status.st_mode & (S_IRWXG | S_IRWXO) == 0
    }

    /// The names in a directory, sorted; empty when it cannot be read.
    public static func names(in directory: String) -> [String] {
        guard let stream = unsafe opendir(directory) else { return [] }
        return unsafe names(stream)
    }

    /// The names in an open directory, sorted, which is closed.
    static func names(_ stream: OpaquePointer) -> [String] {
        defer { unsafe closedir(stream) }
        var result: [String] = []
        while let entry = unsafe readdir(stream) {
            let name = unsafe withUnsafeBytes(of: &entry.pointee.d_name) { raw in
                unsafe String(decoding: raw.prefix { $0 != 0 }, as: UTF8.self)
            }
            if name != "." && name != ".." { result.append(name) }
        }
        return result.sorted()
    }
}

/// A file that grows by appending: captures.
public final class OutputFile: Sendable {
    private let descriptor: Descriptor
    private let path: String

    /// Creates `path`, or empties what is there.
    ///
    /// - Throws: also when it is a named pipe that nobody reads (`SystemError.noReader`).
    public init(replacing path: String) throws(SystemError) {
        self.path = path
        descriptor = try Descriptor.open(path, .replace)
    }

    public func append(_ octets: [UInt8]) throws(SystemError) {
        do throws(SystemError) {
            try descriptor.writeAll(octets)
        } catch {
            throw SystemError("write", path, errno: error.errno)
        }
    }
}

extension SystemError {
    /// A named pipe was to be written that nobody has open for reading.
    public static let noReader = ENXIO
}
