import CMeasurement
import Glibc
import LinuxHost

/// A program that runs while this one measures.
final class ChildProcess {
    let id: pid_t
    private var isRunning = true

    /// Starts `arguments[0]` with `output` as its standard output.
    init(_ arguments: [String], output: Descriptor) throws {
        let words = unsafe arguments.map { unsafe strdup($0) } + [nil]
        defer { unsafe words.forEach { unsafe free($0) } }
        var id: pid_t = 0
        let failure = unsafe measurement_spawn(words, output.number, &id)
        guard failure == 0 else { throw SystemError("posix_spawn", arguments[0], errno: failure) }
        self.id = id
    }

    deinit {
        guard isRunning else { return }
        kill(id, SIGKILL)
        _ = try? wait()
    }

    /// Waits until the program ends.
    ///
    /// - Returns: The exit status; `nil` if a signal ended the program.
    @discardableResult
    func wait() throws -> Int32? {
        var status: Int32 = 0
        while unsafe waitpid(id, &status, 0) < 0 {
            if errno != EINTR { throw SystemError("waitpid", errno: errno) }
        }
        isRunning = false
        return status & 0x7F == 0 ? status >> 8 & 0xFF : nil
    }

    /// Returns the exit status (-1 after a signal) and the processor time in seconds; `nil` while the program runs.
    func poll() throws -> (status: Int32, processorSeconds: Double)? {
        var status: Int32 = 0
        var usage = rusage()
        let ended = unsafe wait4(id, &status, WNOHANG, &usage)
        if ended < 0 { throw SystemError("wait4", errno: errno) }
        guard ended == id else { return nil }
        isRunning = false
        let microseconds = [usage.ru_utime, usage.ru_stime].reduce(0) { $0 + $1.tv_sec * 1_000_000 + Int($1.tv_usec) }
        return (status & 0x7F == 0 ? status >> 8 & 0xFF : -1, Double(microseconds) / 1e6)
    }

    /// Stops the program and waits for its end.
    func stop() throws {
        kill(id, SIGTERM)
        try wait()
    }

    /// Returns the output of a program. Throws an error if the program fails.
    static func output(of arguments: [String]) throws -> String {
        var pipe = try Pipe()
        let process = try ChildProcess(arguments, output: pipe.writing)
        pipe.closeWriting()
        var octets: [UInt8] = []
        while case let part = try pipe.reading.read(upTo: 4096), !part.isEmpty { octets += part }
        guard try process.wait() == 0 else { throw BenchmarkError("\(arguments.joined(separator: " ")) failed") }
        return String(decoding: octets, as: UTF8.self)
    }

    /// Runs a program to its end. Throws an error if the program fails.
    static func run(_ arguments: [String], output: Descriptor) throws {
        guard try ChildProcess(arguments, output: output).wait() == 0 else {
            throw BenchmarkError("\(arguments.joined(separator: " ")) failed")
        }
    }
}

/// A pipe whose ends other programs do not inherit by accident.
struct Pipe {
    let reading: Descriptor
    private static let capacity = 4096
    private var writingEnd: Descriptor?

    init() throws {
        var (output, input): (Int32, Int32) = (-1, -1)
        let failure = unsafe measurement_pipe(&output, &input)
        guard failure == 0 else { throw SystemError("pipe", errno: failure) }
        reading = Descriptor(owning: output)
        writingEnd = Descriptor(owning: input)
    }

    var writing: Descriptor {
        get throws {
            guard let writingEnd else { throw SystemError("write", "pipe", errno: EBADF) }
            return writingEnd
        }
    }

    /// Closes the writing end, so that the pipe ends when the last program that writes to it ends.
    mutating func closeWriting() { writingEnd = nil }

    /// Fills the pipe, so that the next writer waits until ``drain()``.
    func fill() throws {
        try writing.writeAll([UInt8](repeating: 0x20, count: Self.capacity))
    }

    /// Reads and discards the contents.
    func drain() throws { _ = try reading.read(upTo: 1 << 16) }

    /// Returns the next line without its line feed; `nil` if the writer has ended.
    func line() throws -> String? {
        var octets: [UInt8] = []
        while let octet = try reading.read(upTo: 1).first {
            if octet == 0x0A { return String(decoding: octets, as: UTF8.self) }
            octets.append(octet)
        }
        return octets.isEmpty ? nil : String(decoding: octets, as: UTF8.self)
    }
}
