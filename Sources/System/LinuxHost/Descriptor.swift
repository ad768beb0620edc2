internal import Glibc

/// An open file descriptor, closed when its last owner lets go of it.
///
/// A class and not a noncopyable struct: servers keep many of them in arrays, which cannot hold noncopyable values.
public final class Descriptor: Sendable {
    /// The kernel's number of it, valid for as long as this lives.
    public let number: Int32

    /// Takes over `number`.
    public init(owning number: Int32) {
        self.number = number
    }

    deinit { _ = Glibc.close(number) }

    /// Opens a regular file for reading. Anything else is refused and not waited for: a named pipe would wait for a
    /// writer.
    public static func openRegular(_ path: String) throws(SystemError) -> Descriptor {
        let number = try retryingInterrupts("open", path) {
            unsafe Glibc.open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC)
        }
        let file = Descriptor(owning: number)
        if let refusal = try FileStatus(file, path).refusalOfOtherKinds("read", path) { throw refusal }
        return file
    }

    /// Opens `path`. A symbolic link is followed.
    public static func open(_ path: String, _ mode: OpenMode) throws(SystemError) -> Descriptor {
        let number = try retryingInterrupts("open", path) { unsafe Glibc.open(path, mode.flags | O_CLOEXEC, 0o644) }
        return Descriptor(owning: number)
    }

    /// What a file is opened for.
    public enum OpenMode: Sendable {
        /// Whatever it is: a named pipe is waited for until somebody writes to it. See ``Descriptor/openRegular(_:)``.
        case read
        /// Existing devices; does not become the controlling terminal and does not wait for a carrier.
        case device
        /// Created when missing, emptied when there. A named pipe that nobody reads is an error at once (ENXIO):
        /// waiting for a reader could not be interrupted.
        case replace

        fileprivate var flags: Int32 {
            switch self {
            case .read: O_RDONLY
            case .device: O_RDWR | O_NOCTTY | O_NONBLOCK
            case .replace: O_WRONLY | O_CREAT | O_TRUNC | O_NONBLOCK
            }
        }
    }

    /// Occupies the numbers 0, 1 and 2 where this program was started without them, so that no socket or file gets one
    /// of them and finds in itself what is meant for a person.
    ///
    /// Each is opened the wrong way round: reading standard input or writing to the other two still fails.
    public static func fillStandardStreams() throws(SystemError) {
        for (number, flags) in [(STDIN_FILENO, O_WRONLY), (STDOUT_FILENO, O_RDONLY), (STDERR_FILENO, O_RDONLY)]
        where fcntl(number, F_GETFD) < 0 {
            // The lowest free number is the one that is missing: those below it are there by now.
            _ = try retryingInterrupts("open", "/dev/null") { unsafe Glibc.open("/dev/null", flags) }
        }
    }

    /// Reads what is there, at most `limit` bytes; empty at the end of the stream.
    public func read(upTo limit: Int) throws(SystemError) -> [UInt8] {
        var failure: SystemError?
        let octets = unsafe [UInt8](unsafeUninitializedCapacity: limit) { buffer, count in
            do throws(SystemError) {
                count = try retryingInterrupts("read") { unsafe Glibc.read(number, buffer.baseAddress, limit) }
            } catch {
                failure = error
            }
        }
        if let failure { throw failure }
        return octets
    }

    /// Reads what is there into `buffer`, at most as much as it holds; returns how many bytes that were, 0 at the end of
    /// the stream. For whoever reads often: nothing is allocated.
    public func read(into buffer: inout [UInt8]) throws(SystemError) -> Int {
        try retryingInterrupts("read") {
            unsafe buffer.withUnsafeMutableBytes { unsafe Glibc.read(number, $0.baseAddress, $0.count) }
        }
    }

    /// Writes `octets` with one call; returns how many were taken.
    public func write(_ octets: [UInt8]) throws(SystemError) -> Int { try write(octets, from: 0) }

    /// Writes `octets` from `start` on, with one call.
    private func write(_ octets: [UInt8], from start: Int) throws(SystemError) -> Int {
        try retryingInterrupts("write") {
            unsafe octets.withUnsafeBytes {
                unsafe Glibc.write(number, $0.baseAddress.map { unsafe $0 + start }, $0.count - start)
            }
        }
    }

    /// Writes all of `octets`, waiting while the other end is slow, at most `timeoutMilliseconds` for each part.
    public func writeAll(_ octets: [UInt8], timeoutMilliseconds: Int = 2000) throws(SystemError) {
        var done = 0
        while done < octets.count {
            do throws(SystemError) {
                done += try write(octets, from: done)
            } catch {
                guard error.errno == EAGAIN else { throw error }
                let ready = try Poller.wait([.init(self, .write)], milliseconds: timeoutMilliseconds)
                if !ready.contains(where: \.self) { throw SystemError("write", errno: ETIMEDOUT) }
            }
        }
    }

    /// Sets the file's permission bits, whatever the process' mask says.
    func setMode(_ mode: UInt32) throws(SystemError) {
        _ = try retryingInterrupts("chmod") { fchmod(number, mode_t(mode)) }
    }

    /// Makes reads and writes return at once instead of waiting.
    public func setNonblocking() throws(SystemError) {
        let flags = try retryingInterrupts("fcntl") { fcntl(number, F_GETFL) }
        _ = try retryingInterrupts("fcntl") { fcntl(number, F_SETFL, flags | O_NONBLOCK) }
    }

    /// Keeps the descriptor out of programs that this one starts.
    func setCloseOnExec() throws(SystemError) {
        _ = try retryingInterrupts("fcntl") { fcntl(number, F_SETFD, FD_CLOEXEC) }
    }
}

/// Calls `body` again for as long as a signal interrupts it; a negative result becomes an error.
func retryingInterrupts<Result: SignedInteger>(
    _ call: String, _ subject: String = "", _ body: () -> Result
) throws(SystemError) -> Result {
    while true {
        let result = body()
        if result >= 0 { return result }
        let number = errno
        if number != EINTR { throw SystemError(call, subject, errno: number) }
    }
}

/// What stat(2) tells about a file.
struct FileStatus: Hashable, Sendable {
    enum Kind: Sendable {
        case regular
        case directory
        case symbolicLink
        case pipe
        case socket
        case device
    }

    /// Tells one file from every other that exists at the same time.
    struct Identity: Hashable, Sendable {
        let device: UInt64
        let inode: UInt64
    }

    let kind: Kind
    let owner: UInt32
    let group: UInt32
    /// The permission bits with set-user-id, set-group-id and sticky: 0...0o7777.
    let mode: UInt32
    /// In bytes.
    let size: Int
    let identity: Identity
    /// How many names it has.
    let links: Int

    /// The status of an open file.
    init(_ file: Descriptor, _ subject: String = "") throws(SystemError) {
        var status = stat()
        _ = try retryingInterrupts("fstat", subject) { unsafe fstat(file.number, &status) }
        self.init(status)
    }

    init(_ status: stat) {
        kind =
            switch status.st_mode & S_IFMT {
            case S_IFREG: .regular
            case S_IFDIR: .directory
            case S_IFLNK: .symbolicLink
            case S_IFIFO: .pipe
            case S_IFSOCK: .socket
            default: .device
            }
        owner = status.st_uid
        group = status.st_gid
        mode = UInt32(status.st_mode) & 0o7777
        size = Int(status.st_size)
        links = Int(status.st_nlink)
        identity = Identity(device: UInt64(status.st_dev), inode: UInt64(status.st_ino))
    }

    /// Whether the file belongs to the user of this process, or to root, whom nothing can be kept from.
    var isOursOrRoots: Bool { owner == geteuid() || owner == 0 }

    /// Whether the file's owner alone may read or write it.
    var isPrivate: Bool { mode & 0o077 == 0 }

    /// Of a directory: whether another user can remove or replace the files of this one in it. The sticky bit keeps
    /// them from that, but not from adding files.
    var othersMayReplaceFiles: Bool { !isOursOrRoots || (mode & 0o022 != 0 && mode & 0o1000 == 0) }

    /// The error for a file that should be a regular one; `nil` for a regular one.
    func refusalOfOtherKinds(_ call: String, _ path: String) -> SystemError? {
        switch kind {
        case .regular: nil
        case .directory: SystemError(call, path, errno: EISDIR)
        case .symbolicLink: SystemError(call, path, errno: ELOOP, reason: "this is a symbolic link, not a file")
        case .pipe: SystemError(call, path, errno: EINVAL, reason: "this is a named pipe, not a regular file")
        case .socket: SystemError(call, path, errno: EINVAL, reason: "this is a socket, not a regular file")
        case .device: SystemError(call, path, errno: EINVAL, reason: "this is a device, not a regular file")
        }
    }
}
