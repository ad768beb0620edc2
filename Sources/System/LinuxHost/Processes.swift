internal import CLinux
internal import Glibc
internal import SystemPackage

/// A program that this program has started without a shell. The program has the three standard streams and no other
/// open file.
public final class ChildProcess {
    private let id: pid_t
    private let isGroup: Bool
    /// True if the program has ended and its exit status was read (waitpid(2)).
    private var isOver = false
    /// The program's standard output, to read from.
    public let output: Descriptor
    /// The program's standard error, to read from.
    public let errors: Descriptor

    /// Starts a program.
    ///
    /// - Parameters:
    ///   - arguments: The program, which is searched in PATH if it has no slash, and its arguments.
    ///   - input: The path of the file for its standard input.
    ///   - octets: The bytes for its standard input; `nil` to use the file `input`.
    ///   - environment: Environment variables in addition to those of this program, each as `NAME=value`.
    ///   - isGroup: True to give the program its own process group. ``end()`` then also ends the programs that this
    ///     program has started, and signals of the terminal do not reach it.
    /// - Throws: ENOENT if there is no such program; EINVAL without arguments and for a zero byte in an argument.
    public init(
        _ arguments: [String], input: String = "/dev/null", octets: [UInt8]? = nil, environment: [String] = [],
        isGroup: Bool = false
    ) throws(SystemError) {
        guard let program = arguments.first, !arguments.contains(where: { $0.utf8.contains(0) }) else {
            throw SystemError("posix_spawn", arguments.first ?? "", errno: .invalidArgument)
        }
        let (output, outputEnd) = try Descriptor.pipe()
        let (errors, errorsEnd) = try Descriptor.pipe()
        var actions = unsafe posix_spawn_file_actions_t()
        unsafe posix_spawn_file_actions_init(&actions)
        defer { unsafe posix_spawn_file_actions_destroy(&actions) }
        let memory = try octets.map { octets throws(SystemError) in try Self.memory(octets) }
        if let memory {
            unsafe posix_spawn_file_actions_adddup2(&actions, memory.number, STDIN_FILENO)
        } else {
            unsafe posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, input, O_RDONLY, 0)
        }
        unsafe posix_spawn_file_actions_adddup2(&actions, outputEnd.number, STDOUT_FILENO)
        unsafe posix_spawn_file_actions_adddup2(&actions, errorsEnd.number, STDERR_FILENO)
        // This also closes descriptors that this program inherited, such as the lock file of a shell script.
        unsafe posix_spawn_file_actions_addclosefrom_np(&actions, STDERR_FILENO + 1)
        // The program inherits neither blocked signals nor the ignored SIGPIPE.
        var attributes = posix_spawnattr_t()
        unsafe posix_spawnattr_init(&attributes)
        defer { unsafe posix_spawnattr_destroy(&attributes) }
        var (blockedSignals, defaultSignals) = (sigset_t(), sigset_t())
        unsafe sigemptyset(&blockedSignals)
        unsafe sigemptyset(&defaultSignals)
        unsafe sigaddset(&defaultSignals, SIGPIPE)
        unsafe posix_spawnattr_setsigmask(&attributes, &blockedSignals)
        unsafe posix_spawnattr_setsigdefault(&attributes, &defaultSignals)
        let groupFlag = isGroup ? POSIX_SPAWN_SETPGROUP : 0
        unsafe posix_spawnattr_setflags(
            &attributes, Int16(POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF | groupFlag))
        var copies: [UnsafeMutablePointer<CChar>?] = unsafe arguments.map { unsafe strdup($0) } + [nil]
        defer { unsafe copies.forEach { unsafe free($0) } }
        var id: pid_t = 0
        var variables = unsafe Self.inherited + environment.map { unsafe strdup($0) } + [nil]
        defer { unsafe variables.suffix(environment.count + 1).forEach { unsafe free($0) } }
        let result = unsafe posix_spawnp(&id, program, &actions, &attributes, &copies, &variables)
        guard result == 0 else { throw SystemError("posix_spawn", program, errno: result) }
        self.id = id
        self.isGroup = isGroup
        self.output = output
        self.errors = errors
    }

    deinit { end() }

    /// Waits for the end of the program. If it still runs when ``MonotonicClock`` reaches `deadline` in nanoseconds, it
    /// is ended.
    ///
    /// - Returns: The exit code, or the negative number of the signal that ended the program; 0 if the exit code is
    ///   unknown because this program was started with SIGCHLD ignored.
    public func wait(until deadline: UInt64) -> Int32 {
        while MonotonicClock.nanoseconds() < deadline {
            if let code = readExitCode(WNOHANG) { return code }
            _ = try? Poller.wait([], milliseconds: 2)
        }
        return end()
    }

    /// Ends the program if it is still running, and waits for its end.
    @discardableResult
    public func end() -> Int32 {
        guard !isOver else { return 0 }
        _ = kill(isGroup ? -id : id, SIGKILL)
        return readExitCode(0) ?? 0
    }

    /// Returns the exit code; `nil` while the program runs.
    private func readExitCode(_ options: Int32) -> Int32? {
        var status: Int32 = 0
        let result = try? retryingInterrupts("waitpid") { unsafe waitpid(id, &status, options) }
        if result == 0 { return nil }
        isOver = true
        if result == nil { return 0 }
        let signal = status & 0x7F
        return signal == 0 ? status >> 8 & 0xFF : -signal
    }

    /// Returns the exit code as ``wait(until:)`` does; `nil` while the program runs.
    public func code() -> Int32? { isOver ? 0 : readExitCode(WNOHANG) }

    /// The environment of this program.
    private static var inherited: [UnsafeMutablePointer<CChar>?] {
        var list: [UnsafeMutablePointer<CChar>?] = unsafe []
        var entry = unsafe environ
        while let text = unsafe entry.pointee {
            unsafe list.append(text)
            unsafe entry += 1
        }
        return unsafe list
    }

    /// Returns an unnamed file in memory that contains `octets`.
    private static func memory(_ octets: [UInt8]) throws(SystemError) -> Descriptor {
        let file = Descriptor(
            owning: try retryingInterrupts("memfd_create") { unsafe pharos_memory_file("input") })
        try file.writeAll(octets)
        _ = try systemCall("lseek") { try file.file.seek(offset: 0, from: .start) }
        return file
    }

}

/// Runs many programs, a limited number of them at the same time, and collects their output.
public enum ProcessPool {
    /// The result of a program.
    public enum Answer: Sendable {
        /// The program ended by itself, with this exit code.
        case ended(output: [UInt8], errors: [UInt8], code: Int32)
        /// The program was ended, because it ran too long or wrote too much output.
        case late
        /// The program could not be started.
        case notStarted(SystemError)
    }

    private struct Running {
        /// The index of the program in the list of jobs.
        let index: Int
        let process: ChildProcess
        let deadline: UInt64
        var output: [UInt8] = []
        var errors: [UInt8] = []
        var outputIsOpen = true
        var errorsIsOpen = true
    }

    /// Runs programs and waits for all of them.
    ///
    /// - Parameters:
    ///   - jobs: The programs with their arguments.
    ///   - parallel: The number of programs that run at the same time.
    ///   - timeoutSeconds: The longest time that a program may run.
    ///   - outputLimit: The largest size of a program's output and errors together, in bytes. A program that writes
    ///     more is ended.
    ///   - input: The path of the file for the standard input of each program.
    /// - Returns: An answer for each job, in order.
    public static func run(
        _ jobs: [[String]], parallel: Int, timeoutSeconds: Int, outputLimit: Int, input: String = "/dev/null"
    ) throws(SystemError) -> [Answer] {
        var answers = [Answer](repeating: .late, count: jobs.count)
        var running: [Running] = []
        var nextJob = 0
        while nextJob < jobs.count || !running.isEmpty {
            while nextJob < jobs.count, running.count < max(1, parallel) {
                do throws(SystemError) {
                    let deadline = MonotonicClock.nanoseconds() + UInt64(max(0, timeoutSeconds)) * 1_000_000_000
                    let process = try ChildProcess(jobs[nextJob], input: input)
                    running.append(Running(index: nextJob, process: process, deadline: deadline))
                } catch {
                    answers[nextJob] = .notStarted(error)
                }
                nextJob += 1
            }
            guard let deadline = running.map(\.deadline).min() else { continue }
            var interests: [Poller.Interest] = []
            for job in running {
                if job.outputIsOpen { interests.append(.init(job.process.output, .read)) }
                if job.errorsIsOpen { interests.append(.init(job.process.errors, .read)) }
            }
            var ready = try Poller.wait(interests, until: deadline)[...]
            let now = MonotonicClock.nanoseconds()
            for index in running.indices.reversed() {
                // The results of the wait are in the order of the jobs. This loop runs backwards, so it takes the
                // results from the end.
                if running[index].errorsIsOpen, ready.popLast() == true {
                    running[index].errorsIsOpen = try read(running[index].process.errors, &running[index].errors)
                }
                if running[index].outputIsOpen, ready.popLast() == true {
                    running[index].outputIsOpen = try read(running[index].process.output, &running[index].output)
                }
                let job = running[index]
                if !job.outputIsOpen, !job.errorsIsOpen {
                    let code = job.process.wait(until: job.deadline)
                    answers[job.index] = .ended(output: job.output, errors: job.errors, code: code)
                    running.remove(at: index)
                } else if now >= job.deadline || job.output.count + job.errors.count > outputLimit {
                    job.process.end()
                    running.remove(at: index)
                }
            }
        }
        return answers
    }

    /// Appends the next bytes of a stream to `octets`.
    ///
    /// - Returns: False at the end of the stream.
    private static func read(_ descriptor: Descriptor, _ octets: inout [UInt8]) throws(SystemError) -> Bool {
        let piece = try descriptor.read(upTo: 1 << 16)
        octets += piece
        return !piece.isEmpty
    }
}

/// A process with its id and its start time. A later process with the same id is a different process.
public struct ProcessIdentity: Hashable, Sendable {
    /// The process id.
    public let id: Int32
    /// The start time in kernel ticks since the machine started; `nil` if it is unknown.
    public let startTicks: UInt64?

    /// Creates an identity from a process id and the start time, if known.
    public init(id: Int32, startTicks: UInt64?) {
        self.id = id
        self.startTicks = startTicks
    }

    /// This process.
    public static let current = ProcessIdentity(id: getpid(), startTicks: startTicks(of: getpid()))

    /// True if the process is running. A process that has ended but was not waited for (a zombie) is not running.
    public var isRunning: Bool {
        guard id > 0 else { return false }
        guard let fields = Self.fields(of: id) else {
            // /proc may hide the processes of other users. Signal 0 checks for a process without sending a signal.
            return kill(id, 0) == 0 || errno == EPERM
        }
        if fields.first == "Z" || fields.first == "X" { return false }
        guard let startTicks, fields.count > 19, let currentTicks = UInt64(fields[19]) else { return true }
        return currentTicks == startTicks
    }

    private static func startTicks(of id: Int32) -> UInt64? {
        fields(of: id).flatMap { $0.count > 19 ? UInt64($0[19]) : nil }
    }

    /// Returns the fields of /proc/PID/stat after the second field; the first of them is the state (proc(5)). The
    /// second field is a name in parentheses, which may itself contain spaces and parentheses.
    private static func fields(of id: Int32) -> [Substring]? {
        guard let line = Files.firstLine("/proc/\(id)/stat"), let end = line.lastIndex(of: ")") else { return nil }
        return line[line.index(after: end)...].split(separator: " ")
    }
}

/// The program that runs in this process.
public enum ThisProgram {
    /// The program's file, with symbolic links resolved; `nil` if it is unknown.
    public static var path: String? { Files.resolved("/proc/self/exe") }

    /// The directory of ``path``.
    public static var directory: String? { path.map { FilePath($0).removingLastComponent().string } }

    /// The command that gives this program the capabilities for Bluetooth adapters. `pharos` and `pharos-hub` are
    /// separate files, and each file needs the capabilities for its own commands.
    public static var capabilityCommand: String {
        "sudo setcap cap_net_raw,cap_net_admin+ep \(path ?? CommandLine.arguments.first ?? "")"
    }

    /// Replaces this program with another one in the same process (execv(2)).
    ///
    /// - Parameters:
    ///   - path: The file of the program.
    ///   - arguments: The arguments after the name of the program.
    /// - Returns: The error, such as ENOENT if there is no such file. The function only returns if it fails.
    public static func become(_ path: String, _ arguments: [String]) -> SystemError {
        var copies: [UnsafeMutablePointer<CChar>?] = unsafe ([path] + arguments).map { unsafe strdup($0) } + [nil]
        defer { unsafe copies.forEach { unsafe free($0) } }
        unsafe execv(path, &copies)
        return SystemError("execv", path, errno: errno)
    }
}
