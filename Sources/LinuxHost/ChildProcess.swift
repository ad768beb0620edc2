internal import CLinux
internal import Glibc

/// A program that this one has started, without a shell between them: its arguments are what they are.
public final class ChildProcess {
    private let id: pid_t
    private var isOver = false
    /// What it writes to its standard output, and to its standard error.
    public let output: Descriptor
    public let errors: Descriptor

    /// Starts a program.
    ///
    /// - Parameter arguments: The program, looked for in PATH where it has no slash, and what it is given. It reads
    ///   nothing: its standard input is /dev/null.
    /// - Throws: ENOENT where there is no such program; EINVAL for none and for a zero octet in an argument.
    public init(_ arguments: [String]) throws(SystemError) {
        guard let program = arguments.first, !arguments.contains(where: { $0.utf8.contains(0) }) else {
            throw SystemError("posix_spawn", arguments.first ?? "", errno: EINVAL)
        }
        let (output, outputEnd) = try Self.pipe()
        let (errors, errorsEnd) = try Self.pipe()
        var actions = unsafe posix_spawn_file_actions_t()
        unsafe posix_spawn_file_actions_init(&actions)
        defer { unsafe posix_spawn_file_actions_destroy(&actions) }
        unsafe posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0)
        unsafe posix_spawn_file_actions_adddup2(&actions, outputEnd.number, STDOUT_FILENO)
        unsafe posix_spawn_file_actions_adddup2(&actions, errorsEnd.number, STDERR_FILENO)
        // Signals that this program has blocked or ignores are as usual there.
        var attributes = posix_spawnattr_t()
        unsafe posix_spawnattr_init(&attributes)
        defer { unsafe posix_spawnattr_destroy(&attributes) }
        var (none, usual) = (sigset_t(), sigset_t())
        unsafe sigemptyset(&none)
        unsafe sigemptyset(&usual)
        unsafe sigaddset(&usual, SIGPIPE)
        unsafe posix_spawnattr_setsigmask(&attributes, &none)
        unsafe posix_spawnattr_setsigdefault(&attributes, &usual)
        unsafe posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF))
        var copies: [UnsafeMutablePointer<CChar>?] = unsafe arguments.map { unsafe strdup($0) } + [nil]
        defer { unsafe copies.forEach { unsafe free($0) } }
        var id: pid_t = 0
        let result = unsafe posix_spawnp(&id, program, &actions, &attributes, &copies, environ)
        guard result == 0 else { throw SystemError("posix_spawn", program, errno: result) }
        self.id = id
        self.output = output
        self.errors = errors
    }

    deinit { end() }

    /// Waits for its end, and ends it when a moment of ``MonotonicClock`` has come.
    ///
    /// - Returns: its exit code, or minus the signal that ended it; 0 where the system does not tell, because this
    ///   program was started by one that ignores the ends of its children.
    public func wait(until deadline: UInt64) -> Int32 {
        while MonotonicClock.nanoseconds() < deadline {
            if let code = ended(WNOHANG) { return code }
            // Programs that have closed their output end at once; this is for the others.
            _ = try? Poller.wait([], milliseconds: 2)
        }
        return end()
    }

    /// Ends it, if it still runs, and waits for that.
    @discardableResult
    public func end() -> Int32 {
        guard !isOver else { return 0 }
        _ = kill(id, SIGKILL)
        return ended(0) ?? 0
    }

    /// `nil` while it runs.
    private func ended(_ options: Int32) -> Int32? {
        var status: Int32 = 0
        var result = unsafe waitpid(id, &status, options)
        while result < 0, errno == EINTR { result = unsafe waitpid(id, &status, options) }
        if result == 0 { return nil }
        isOver = true
        guard result > 0 else { return 0 }
        let signal = status & 0x7F
        return signal == 0 ? status >> 8 & 0xFF : -signal
    }

    private static func pipe() throws(SystemError) -> (Descriptor, Descriptor) {
        var ends: [Int32] = [-1, -1]
        _ = try retryingInterrupts("pipe") { unsafe pipe2(&ends, O_CLOEXEC) }
        return (Descriptor(owning: ends[0]), Descriptor(owning: ends[1]))
    }
}
