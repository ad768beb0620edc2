internal import Glibc

/// An open file descriptor, closed when its last owner lets go of it.
///
/// A class and not a noncopyable struct: servers keep many of them in arrays, which cannot hold noncopyable values.
public final class Descriptor: Sendable {
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

    /// Reads what is there, at most `limit` octets; empty at the end of the stream.
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

    /// Writes `octets` with one call; returns how many were taken.
    public func write(_ octets: some RandomAccessCollection<UInt8>) throws(SystemError) -> Int {
        let array = Array(octets)
        return try retryingInterrupts("write") {
            unsafe array.withUnsafeBytes { unsafe Glibc.write(number, $0.baseAddress, $0.count) }
        }
    }

    /// Writes all of `octets`, waiting while the other end is slow, at most `timeoutMilliseconds` for each part.
    public func writeAll(_ octets: [UInt8], timeoutMilliseconds: Int = 2000) throws(SystemError) {
        var done = 0
        while done < octets.count {
            do throws(SystemError) {
                done += try write(octets[done...])
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
