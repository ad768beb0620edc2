internal import Glibc
internal import SystemPackage

/// An open file descriptor that is closed when its last reference is released.
///
/// This is a class, because servers keep descriptors in arrays, which noncopyable structs do not allow.
public final class Descriptor: Sendable {
    let file: FileDescriptor

    /// The number of the descriptor, valid while this object lives.
    public var number: Int32 { file.rawValue }

    /// Takes ownership of the open descriptor `number`, which is closed when this object is released.
    public init(owning number: Int32) {
        file = FileDescriptor(rawValue: number)
    }

    init(_ file: FileDescriptor) {
        self.file = file
    }

    deinit { try? file.close() }

    /// Opens a regular file for reading.
    ///
    /// - Throws: EINVAL, EISDIR or ELOOP for any other kind of file. A named pipe is refused too, because opening it
    ///   would wait for a writer.
    public static func openRegular(_ path: String) throws(SystemError) -> Descriptor {
        let descriptor = try open(path, .readOnly, [.nonBlocking, .noControllingTerminal])
        if let refusal = try descriptor.status(path).refusalOfOtherKinds("read", path) { throw refusal }
        return descriptor
    }

    /// Opens `path`. Symbolic links are followed.
    public static func open(_ path: String, _ mode: OpenMode) throws(SystemError) -> Descriptor {
        switch mode {
        case .read: try open(path, .readOnly)
        case .device: try open(path, .readWrite, [.nonBlocking, .noControllingTerminal])
        case .replace: try open(path, .writeOnly, [.create, .truncate, .nonBlocking])
        }
    }

    /// The purpose for which a file is opened.
    public enum OpenMode: Sendable {
        /// To read a file of any kind. Opening a named pipe waits for its writer; see ``Descriptor/openRegular(_:)``.
        case read
        /// To use an existing device. It does not become the controlling terminal, and reads and writes do not wait.
        case device
        /// To write a file, which is created if it is missing and emptied if it exists. Opening a named pipe that has
        /// no reader fails at once (ENXIO).
        case replace
    }

    private static func open(
        _ path: String, _ mode: FileDescriptor.AccessMode, _ options: FileDescriptor.OpenOptions = []
    ) throws(SystemError) -> Descriptor {
        try systemCall("open", path) {
            let options = options.union(.closeOnExec)
            return Descriptor(
                try FileDescriptor.open(FilePath(path), mode, options: options, permissions: .newFile))
        }
    }

    /// Creates a pipe. Returns `output`, the end to read from, and `input`, the end to write to.
    public static func pipe() throws(SystemError) -> (output: Descriptor, input: Descriptor) {
        let ends = try systemCall("pipe") { try FileDescriptor.pipe(options: .closeOnExec) }
        return (Descriptor(ends.readEnd), Descriptor(ends.writeEnd))
    }

    /// Opens /dev/null for each standard stream that was closed when this process started. Otherwise a socket or file
    /// could get the number 0, 1 or 2 and receive output that is meant for the user.
    ///
    /// Each stream is opened in the wrong direction, so that reading standard input and writing to the other two
    /// streams still fail.
    public static func fillStandardStreams() throws(SystemError) {
        let streams: [(FileDescriptor, FileDescriptor.AccessMode)] = [
            (.standardInput, .writeOnly), (.standardOutput, .readOnly), (.standardError, .readOnly),
        ]
        for (stream, mode) in streams where fcntl(stream.rawValue, F_GETFD) < 0 {
            // The system assigns the lowest free number, which is that of the missing stream.
            _ = try systemCall("open", "/dev/null") { try FileDescriptor.open(FilePath("/dev/null"), mode) }
        }
    }

    /// Reads at most `limit` bytes; returns an empty array at the end of the stream.
    public func read(upTo limit: Int) throws(SystemError) -> [UInt8] {
        try systemCall("read") {
            try unsafe [UInt8](unsafeUninitializedCapacity: limit) { buffer, count in
                count = try unsafe file.read(into: UnsafeMutableRawBufferPointer(buffer))
            }
        }
    }

    /// Reads into the start of `buffer` without allocating memory. Returns the number of bytes read; 0 at the end of
    /// the stream.
    public func read(into buffer: inout [UInt8]) throws(SystemError) -> Int {
        try systemCall("read") {
            try unsafe buffer.withUnsafeMutableBytes { try unsafe file.read(into: $0) }
        }
    }

    /// Writes `octets` with one call; returns the number of bytes written.
    public func write(_ octets: [UInt8]) throws(SystemError) -> Int { try write(octets, from: 0) }

    private func write(_ octets: [UInt8], from start: Int) throws(SystemError) -> Int {
        try systemCall("write") {
            try unsafe octets.withUnsafeBytes {
                try unsafe file.write(UnsafeRawBufferPointer(rebasing: $0[start...]))
            }
        }
    }

    /// Writes all of `octets`. If a nonblocking stream accepts no more bytes for a while, this function waits until it
    /// accepts bytes again, each time at most `timeoutMilliseconds`.
    ///
    /// - Throws: ETIMEDOUT if the stream accepts nothing in this time.
    public func writeAll(_ octets: [UInt8], timeoutMilliseconds: Int = 2000) throws(SystemError) {
        var writtenCount = 0
        while writtenCount < octets.count {
            do throws(SystemError) {
                writtenCount += try write(octets, from: writtenCount)
            } catch {
                guard error.errno == .wouldBlock else { throw error }
                let ready = try Poller.wait([.init(self, .write)], milliseconds: timeoutMilliseconds)
                if !ready.contains(true) { throw SystemError("write", errno: .timedOut) }
            }
        }
    }

    /// Returns the status of the file, such as its kind, owner and permissions.
    func status(_ subject: String = "") throws(SystemError) -> Stat {
        try systemCall("fstat", subject) { try Stat(file) }
    }

    /// Sets the permission bits; the umask of the process has no effect.
    func setPermissions(_ permissions: FilePermissions, _ subject: String = "") throws(SystemError) {
        try retryingInterrupts("chmod", subject) { fchmod(number, permissions.rawValue) }
    }

    /// Waits until the contents of the file are on the disk.
    func synchronize(_ subject: String) throws(SystemError) {
        try retryingInterrupts("fsync", subject) { fsync(number) }
    }

    /// Makes reads and writes return at once instead of waiting.
    public func setNonblocking() throws(SystemError) {
        let flags = try retryingInterrupts("fcntl") { fcntl(number, F_GETFL) }
        try retryingInterrupts("fcntl") { fcntl(number, F_SETFL, flags | O_NONBLOCK) }
    }

    /// Prevents programs that this program starts from inheriting the descriptor.
    func setCloseOnExec() throws(SystemError) {
        try retryingInterrupts("fcntl") { fcntl(number, F_SETFD, FD_CLOEXEC) }
    }
}

extension FileDescriptor.OpenOptions {
    /// O_NOCTTY: a terminal does not become the controlling terminal of this process.
    static let noControllingTerminal = Self(rawValue: O_NOCTTY)
}

extension FilePermissions {
    /// 0644: all users may read the file, and its owner may write to it.
    static let newFile: Self = [.ownerReadWrite, .groupRead, .otherRead]
    /// All permissions of the group and of other users.
    static let ofGroupAndOthers: Self = [.groupReadWriteExecute, .otherReadWriteExecute]
}

extension Stat {
    /// Distinguishes a file from every other file that exists at the same time.
    struct Identity: Hashable, Sendable {
        let device: DeviceID
        let inode: Inode
    }

    var identity: Identity { Identity(device: deviceID, inode: inode) }

    /// True if the file belongs to the user of this process, or to root. Root is trusted, because it can change every
    /// file.
    var isOursOrRoots: Bool { userID.rawValue == geteuid() || userID.rawValue == 0 }

    /// True if only the owner may read or write the file.
    var isPrivate: Bool { permissions.isDisjoint(with: .ofGroupAndOthers) }

    /// True if users other than the owner may write to the file.
    var isWritableByOthers: Bool { !permissions.isDisjoint(with: [.groupWrite, .otherWrite]) }

    /// For a directory: true if another user can remove or replace the files of this user in it. The sticky bit
    /// prevents this, although other users can still add files.
    var othersMayReplaceFiles: Bool {
        !isOursOrRoots || (isWritableByOthers && !permissions.contains(.saveText))
    }

    /// Returns the error for a file that is not regular; `nil` for a regular file.
    func refusalOfOtherKinds(_ call: String, _ path: String) -> SystemError? {
        switch type {
        case .regular: nil
        case .directory: SystemError(call, path, errno: .isDirectory)
        case .symbolicLink:
            SystemError(
                call, path, errno: .tooManySymbolicLinkLevels, reason: "this is a symbolic link, not a file")
        case .fifo:
            SystemError(call, path, errno: .invalidArgument, reason: "this is a named pipe, not a regular file")
        case .socket:
            SystemError(call, path, errno: .invalidArgument, reason: "this is a socket, not a regular file")
        default:
            SystemError(call, path, errno: .invalidArgument, reason: "this is a device, not a regular file")
        }
    }
}
