import Glibc
import LinuxHost
import TestSupport

/// The built program, run as users run it.
enum Program {
    /// The output and the exit code.
    struct Result: Equatable {
        var output: String
        var errors: String
        /// The exit code; 128 plus the signal's number if a signal ended the program.
        var code: Int32
    }

    /// The path in `PHAROS`, or the program in the directory of the test bundle.
    static let path: String = {
        if let path = Terminal.environment("PHAROS") { return path }
        var buffer = [CChar](repeating: 0, count: 4096)
        let count = unsafe readlink("/proc/self/exe", &buffer, buffer.count - 1)
        let bundle = String(decoding: buffer.prefix(max(0, count)).map { UInt8(bitPattern: $0) }, as: UTF8.self)
        return String(bundle[..<(bundle.lastIndex(of: "/") ?? bundle.startIndex)]) + "/pharos"
    }()

    /// Returns the path of a sample profile.
    static func profile(_ name: String, file: String = #filePath) -> String {
        let root = file.split(separator: "/").dropLast(3).reduce(into: "") { $0 += "/" + $1 }
        return "\(root)/profiles/\(name).json"
    }

    /// Runs the program to its end, with `input` as its standard input.
    static func run(_ arguments: [String], input: String = "") throws -> Result {
        try RunningProgram(arguments, input: input).end()
    }

    static func run(_ arguments: String...) throws -> Result { try run(arguments) }

    /// Runs a shell's `script`, in which `$0` is the program and `$1` and so on are `arguments`.
    static func shell(_ script: String, _ arguments: String...) throws -> Result {
        try RunningProgram(["-c", script, path] + arguments, executable: "/bin/sh").end()
    }
}

/// The program while it runs. Its standard streams are files, because a pipe can be full, or be kept open by another
/// program that a test started.
final class RunningProgram {
    private let process: pid_t
    private let folder: TemporaryFolder
    private var status: Int32?

    init(_ arguments: [String], input: String = "", executable: String = Program.path) throws {
        folder = try TemporaryFolder()
        _ = try folder.file("in", Array(input.utf8))
        process = try Self.spawn([executable] + arguments, folder)
    }

    deinit {
        if status == nil {
            kill(process, SIGKILL)
            _ = wait()
        }
    }

    var output: String { text("out") }
    var errors: String { text("err") }

    /// The resident memory; `nil` after the program's end.
    var residentKilobytes: Int? {
        guard let status = try? Files.read("/proc/\(process)/status") else { return nil }
        return String(decoding: status, as: UTF8.self).split(separator: "\n").first { $0.hasPrefix("VmRSS:") }
            .flatMap { Int($0.filter(\.isNumber)) }
    }

    func signal(_ number: Int32) { kill(process, number) }

    /// Waits until standard output contains `text`, at most 60 s or until the program ends.
    func prints(_ text: String) -> Bool {
        eventually { output.contains(text) || hasEnded } && output.contains(text)
    }

    /// Waits until the program ends.
    func end() -> Program.Result {
        let status = wait()
        let code = status & 0x7F == 0 ? status >> 8 & 0xFF : 128 + status & 0x7F
        return Program.Result(output: output, errors: errors, code: code)
    }

    private var hasEnded: Bool {
        if status != nil { return true }
        var value: Int32 = 0
        guard unsafe waitpid(process, &value, WNOHANG) == process else { return false }
        status = value
        return true
    }

    private func wait() -> Int32 {
        if let status { return status }
        // A program that hangs is killed, so that the test fails.
        if !eventually(milliseconds: 60_000, { hasEnded }) { kill(process, SIGKILL) }
        var value: Int32 = 0
        if status == nil, unsafe waitpid(process, &value, 0) == process { status = value }
        return status ?? SIGKILL
    }

    private func text(_ name: String) -> String {
        String(decoding: (try? Files.read(folder.place(name))) ?? [], as: UTF8.self)
    }

    private static func spawn(_ command: [String], _ folder: TemporaryFolder) throws -> pid_t {
        let executable = command.first ?? ""
        var actions = unsafe posix_spawn_file_actions_t()
        unsafe posix_spawn_file_actions_init(&actions)
        defer { unsafe posix_spawn_file_actions_destroy(&actions) }
        unsafe posix_spawn_file_actions_addopen(&actions, 0, folder.place("in"), O_RDONLY, 0)
        for (number, name) in [(Int32(1), "out"), (2, "err")] {
            unsafe posix_spawn_file_actions_addopen(
                &actions, number, folder.place(name), O_WRONLY | O_CREAT | O_TRUNC | O_APPEND, 0o644)
        }
        // The program must not inherit this process's signal mask and signal handlers.
        var attributes = posix_spawnattr_t()
        unsafe posix_spawnattr_init(&attributes)
        defer { unsafe posix_spawnattr_destroy(&attributes) }
        var signals = sigset_t()
        unsafe sigemptyset(&signals)
        unsafe posix_spawnattr_setsigmask(&attributes, &signals)
        unsafe sigfillset(&signals)
        unsafe posix_spawnattr_setsigdefault(&attributes, &signals)
        unsafe posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF))
        // A crash must not print a backtrace, which takes long.
        let environment = ["PATH=/usr/bin:/bin", "SWIFT_BACKTRACE=enable=no", "COLUMNS=80"]
        var process: pid_t = 0
        let result = unsafe withStrings(command) { list in
            unsafe withStrings(environment) { variables in
                unsafe posix_spawn(&process, executable, &actions, &attributes, list, variables)
            }
        }
        guard result == 0 else { throw SystemError("posix_spawn", executable, errno: result) }
        return process
    }

    private static func withStrings<Result>(
        _ texts: [String], _ body: (UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>) -> Result
    ) -> Result {
        let list = UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>.allocate(capacity: texts.count + 1)
        for (index, text) in texts.enumerated() { unsafe list[index] = strdup(text) }
        unsafe list[texts.count] = nil
        defer {
            for index in texts.indices { unsafe free(list[index]) }
            unsafe list.deallocate()
        }
        return unsafe body(list)
    }
}

/// Waits until `condition` holds, at most `milliseconds`. Checks it every 5 ms.
func eventually(milliseconds: Int = 60_000, _ condition: () -> Bool) -> Bool {
    let deadline = MonotonicClock.nanoseconds() + UInt64(milliseconds) * 1_000_000
    while !condition() {
        if MonotonicClock.nanoseconds() >= deadline { return false }
        usleep(5000)
    }
    return true
}
