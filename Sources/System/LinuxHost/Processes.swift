internal import CLinux
internal import Glibc

/// A program that this one has started, without a shell between them: its arguments are what they are.
public final class ChildProcess {
    private let id: pid_t
    private let isGroup: Bool
    private var isOver = false
    /// What it writes to its standard output.
    public let output: Descriptor
    /// What it writes to its standard error.
    public let errors: Descriptor

    /// Starts a program.
    ///
    /// - Parameters:
    ///   - arguments: The program, looked for in PATH where it has no slash, and what it is given.
    ///   - input: The file that it reads as its standard input.
    ///   - octets: What it reads instead of a file; `nil` for the file.
    ///   - environment: Added to this program's own, each as `NAME=value`.
    ///   - isGroup: Whether whatever it starts ends with it, and a terminal's signals do not reach it.
    /// - Throws: ENOENT if there is no such program; EINVAL for none and for a zero byte in an argument.
    public init(
        _ arguments: [String], input: String = "/dev/null", octets: [UInt8]? = nil, environment: [String] = [],
        isGroup: Bool = false
    ) throws(SystemError) {
        guard let program = arguments.first, !arguments.contains(where: { $0.utf8.contains(0) }) else {
            throw SystemError("posix_spawn", arguments.first ?? "", errno: EINVAL)
        }
        let (output, outputEnd) = try Self.pipe()
        let (errors, errorsEnd) = try Self.pipe()
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
        let group = isGroup ? POSIX_SPAWN_SETPGROUP : 0
        unsafe posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF | group))
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

    /// Waits for its end, and ends it when a moment of ``MonotonicClock`` has come.
    ///
    /// - Returns: its exit code, or minus the signal that ended it; 0 if the system does not tell, because this
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
        _ = kill(isGroup ? -id : id, SIGKILL)
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

    /// Its exit code as ``wait(until:)`` has it, where it is over; `nil` while it runs.
    public func code() -> Int32? { isOver ? 0 : ended(WNOHANG) }

    /// This program's environment.
    private static var inherited: [UnsafeMutablePointer<CChar>?] {
        var list: [UnsafeMutablePointer<CChar>?] = unsafe []
        var entry = unsafe environ
        while let text = unsafe entry.pointee {
            unsafe list.append(text)
            unsafe entry += 1
        }
        return unsafe list
    }

    /// A file without a name that holds `octets`, read from its start.
    private static func memory(_ octets: [UInt8]) throws(SystemError) -> Descriptor {
        let file = Descriptor(
            owning: try retryingInterrupts("memfd_create") { unsafe pharos_memory_file("input") })
        try file.writeAll(octets)
        _ = lseek(file.number, 0, SEEK_SET)
        return file
    }

    private static func pipe() throws(SystemError) -> (Descriptor, Descriptor) {
        var ends: [Int32] = [-1, -1]
        _ = try retryingInterrupts("pipe") { unsafe pipe2(&ends, O_CLOEXEC) }
        return (Descriptor(owning: ends[0]), Descriptor(owning: ends[1]))
    }
}

/// Runs many programs, some at a time, and gathers what they write.
public enum ProcessPool {
    /// How one program ended, with what it wrote.
    public enum Answer: Sendable {
        case ended(output: [UInt8], errors: [UInt8], code: Int32)
        /// It took too long, or wrote too much, and was ended.
        case late
        case notStarted(SystemError)
    }

    private struct Running {
        let index: Int
        let process: ChildProcess
        let deadline: UInt64
        var output: [UInt8] = []
        var errors: [UInt8] = []
        var outputIsOpen = true
        var errorsIsOpen = true
    }

    /// - Parameters:
    ///   - jobs: Programs with their arguments.
    ///   - parallel: At most so many at a time.
    ///   - timeoutSeconds: Each is ended after so long.
    ///   - outputLimit: Each is ended after so many bytes.
    ///   - input: The file that each reads as its standard input.
    /// - Returns: An answer a job, in their order.
    public static func run(
        _ jobs: [[String]], parallel: Int, timeoutSeconds: Int, outputLimit: Int, input: String = "/dev/null"
    ) throws(SystemError) -> [Answer] {
        var answers = [Answer](repeating: .late, count: jobs.count)
        var running: [Running] = []
        var next = 0
        while next < jobs.count || !running.isEmpty {
            while next < jobs.count, running.count < max(1, parallel) {
                do throws(SystemError) {
                    let deadline = MonotonicClock.nanoseconds() + UInt64(max(0, timeoutSeconds)) * 1_000_000_000
                    running.append(
                        Running(index: next, process: try ChildProcess(jobs[next], input: input), deadline: deadline))
                } catch {
                    answers[next] = .notStarted(error)
                }
                next += 1
            }
            guard let deadline = running.map(\.deadline).min() else { continue }
            var interests: [Poller.Interest] = []
            for job in running {
                if job.outputIsOpen { interests.append(.init(job.process.output, .read)) }
                if job.errorsIsOpen { interests.append(.init(job.process.errors, .read)) }
            }
            var ready = try Poller.wait(interests, until: deadline)[...]
            let now = MonotonicClock.nanoseconds()
            for place in running.indices.reversed() {
                // Interests stand in the order of the jobs, so they are taken from the end here.
                if running[place].errorsIsOpen, ready.popLast() == true {
                    running[place].errorsIsOpen = try read(running[place].process.errors, &running[place].errors)
                }
                if running[place].outputIsOpen, ready.popLast() == true {
                    running[place].outputIsOpen = try read(running[place].process.output, &running[place].output)
                }
                let job = running[place]
                if !job.outputIsOpen, !job.errorsIsOpen {
                    let code = job.process.wait(until: job.deadline)
                    answers[job.index] = .ended(output: job.output, errors: job.errors, code: code)
                    running.remove(at: place)
                } else if now >= job.deadline || job.output.count + job.errors.count > outputLimit {
                    job.process.end()
                    running.remove(at: place)
                }
            }
        }
        return answers
    }

    /// - Returns: whether more may come.
    private static func read(_ descriptor: Descriptor, _ octets: inout [UInt8]) throws(SystemError) -> Bool {
        let part = try descriptor.read(upTo: 1 << 16)
        octets += part
        return !part.isEmpty
    }
}

/// A process, told from any later one that gets the same number.
public struct ProcessIdentity: Hashable, Sendable {
    /// The kernel's number of the process (pid).
    public let id: Int32
    /// When it started, in the kernel's ticks since the machine started; `nil` if that cannot be seen.
    public let startTicks: UInt64?

    /// A process by its number and, where it is known, the moment of its start.
    public init(id: Int32, startTicks: UInt64?) {
        self.id = id
        self.startTicks = startTicks
    }

    /// This process.
    public static let current = ProcessIdentity(id: getpid(), startTicks: startTicks(of: getpid()))

    /// Whether it still runs. A process that has ended and was not waited for yet does not.
    public var isRunning: Bool {
        guard id > 0 else { return false }
        guard let fields = Self.fields(of: id) else {
            // /proc may hide the processes of other users; a signal that is not sent asks as well.
            return kill(id, 0) == 0 || errno == EPERM
        }
        if fields.first == "Z" || fields.first == "X" { return false }
        guard let startTicks, fields.count > 19, let started = UInt64(fields[19]) else { return true }
        return started == startTicks
    }

    private static func startTicks(of id: Int32) -> UInt64? {
        fields(of: id).flatMap { $0.count > 19 ? UInt64($0[19]) : nil }
    }

    /// The fields of /proc/PID/stat from the third, the state, on (proc(5)). The second is a name in parentheses that
    /// may itself hold spaces and parentheses.
    private static func fields(of id: Int32) -> [Substring]? {
        guard let line = Files.firstLine("/proc/\(id)/stat"), let end = line.lastIndex(of: ")") else { return nil }
        return line[line.index(after: end)...].split(separator: " ")
    }
}

/// This program itself.
public enum ThisProgram {
    /// The directory in which its file lies, past all symbolic links; `nil` if the system does not tell.
    public static var directory: String? {
        guard let path = Files.resolved("/proc/self/exe"), let slash = path.lastIndex(of: "/") else { return nil }
        return String(path[..<slash])
    }

    /// Keeps memory that was freed, up to 64 MiB of each thread's, instead of giving it back to the system. For a program
    /// that soon ends and takes the same arrays again and again: the system would clear each page of them again.
    public static func keepFreedMemory() {
        _ = mallopt(PHAROS_M_TRIM_THRESHOLD, 1 << 26)
        _ = mallopt(PHAROS_M_MMAP_THRESHOLD, 1 << 25)
    }

    /// Goes on as another program, with the same descriptors, environment and process id.
    ///
    /// - Parameters:
    ///   - path: The program's file.
    ///   - arguments: What it is given behind its name.
    /// - Returns: only where that failed; ENOENT if there is no such file.
    public static func become(_ path: String, _ arguments: [String]) -> SystemError {
        var copies: [UnsafeMutablePointer<CChar>?] = unsafe ([path] + arguments).map { unsafe strdup($0) } + [nil]
        defer { unsafe copies.forEach { unsafe free($0) } }
        unsafe execv(path, &copies)
        return SystemError("execv", path, errno: errno)
    }
}
