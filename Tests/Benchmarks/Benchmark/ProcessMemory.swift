import Glibc
import LinuxHost

/// The memory of a running program.
struct ProcessMemory {
    /// The resident memory now and its peak, in KiB.
    let resident: Double
    let peak: Double
    /// The memory in KiB that was written to and is not shared: a second instance would need it again.
    let privateDirty: Double
    /// The memory without a file behind it, in KiB: the program's own data.
    let anonymous: Double
    /// The resident pages of files in KiB, mostly the program itself. If memory is scarce, the kernel drops them. The
    /// number of pages that it reads ahead depends on the kernel.
    let fileBacked: Double

    /// The peak and its parts in MiB.
    var text: String {
        let parts = [peak, anonymous, fileBacked].map { ($0 / 1024).text(2) }
        return "\(parts[0]) MiB; anonymous \(parts[1]) MiB, backed by files \(parts[2]) MiB"
    }

    init(of process: pid_t) throws {
        let rollup = try Self.fields("/proc/\(process)/smaps_rollup")
        let status = try Self.fields("/proc/\(process)/status")
        guard let resident = rollup["Rss"], let dirty = rollup["Private_Dirty"], let peak = status["VmHWM"],
            let anonymous = status["RssAnon"], let fileBacked = status["RssFile"]
        else {
            throw BenchmarkError("the kernel does not report the memory of process \(process)")
        }
        self.resident = resident
        self.peak = peak
        privateDirty = dirty
        self.anonymous = anonymous
        self.fileBacked = fileBacked
    }

    /// Measures the memory of a program that prints and ends, while it prints.
    ///
    /// The value of wait4 cannot be used: ru_maxrss of a child includes the memory of the program that started it. The
    /// pipe is full, so the program sleeps in write.
    ///
    /// - Parameter seconds: The longest time until the program prints.
    init(ofShortLived arguments: [String], within seconds: Int = 5) throws {
        let pipe = try Pipe()
        try pipe.fill()
        let process = try ChildProcess(arguments, output: try pipe.writing)
        try Self.waitUntilAsleep(process.id, seconds)
        try self.init(of: process.id)
        try pipe.drain()
        try process.wait()
    }

    /// Returns the peak of the resident memory in KiB; `nil` if the process has ended. It is cheap enough to be called
    /// often.
    static func peak(of process: pid_t) -> Double? {
        (try? fields("/proc/\(process)/status"))?["VmHWM"]
    }

    /// Returns the lines `Name: number kB` by name.
    private static func fields(_ path: String) throws -> [String: Double] {
        let text = String(decoding: try Files.read(path, limit: 1 << 16), as: UTF8.self)
        var result: [String: Double] = [:]
        for line in text.split(separator: "\n") {
            let words = line.split { $0 == " " || $0 == "\t" }
            guard words.count == 3, words[2] == "kB", words[0].hasSuffix(":") else { continue }
            result[String(words[0].dropLast())] = Double(words[1])
        }
        return result
    }

    /// Waits until the process sleeps in ten readings in a row, which is too long to be a wait for the disk.
    private static func waitUntilAsleep(_ process: pid_t, _ seconds: Int) throws {
        var looks = 0
        for _ in 0..<seconds * 1000 {
            let stat = Files.firstLine("/proc/\(process)/stat") ?? ""
            let state = stat.split(separator: ")").last?.split(separator: " ").first
            looks = state == "S" ? looks + 1 : 0
            if looks == 10 { return }
            usleep(1000)
        }
        throw BenchmarkError("process \(process) printed nothing in time")
    }
}
