import Glibc
import LinuxHost

/// What a running program holds in memory.
struct ProcessMemory {
    /// Resident now, and the most it ever was, in KiB.
    let resident: Double
    let peak: Double
    /// Written to and shared with nobody, in KiB: what a second instance would cost again.
    let privateDirty: Double
    /// Backed by no file, in KiB: the program's own data.
    let anonymous: Double
    /// Pages of files that are resident, the program's own above all, in KiB. The kernel drops them where memory is
    /// scarce, and how many it reads ahead differs from one kernel to the next.
    let fileBacked: Double

    /// The peak and what it is made of, in MiB.
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
            throw BenchmarkError("the kernel does not tell the memory of process \(process)")
        }
        self.resident = resident
        self.peak = peak
        privateDirty = dirty
        self.anonymous = anonymous
        self.fileBacked = fileBacked
    }

    /// The memory of a program that prints and ends, at the moment of its printing.
    ///
    /// Not from wait4: its ru_maxrss of a spawned program includes the memory of the program that spawned it. The
    /// pipe is full, so the program sleeps in write.
    ///
    /// - Parameter seconds: How long it may take to come to its printing.
    init(ofShortLived arguments: [String], within seconds: Int = 5) throws {
        let pipe = try Pipe()
        try pipe.fill()
        let process = try ChildProcess(arguments, output: try pipe.writing)
        try Self.waitUntilAsleep(process.id, seconds)
        try self.init(of: process.id)
        try pipe.drain()
        try process.wait()
    }

    /// The most that was ever resident, in KiB: cheap enough to be asked again and again. `nil` when it has ended.
    static func peak(of process: pid_t) -> Double? {
        (try? fields("/proc/\(process)/status"))?["VmHWM"]
    }

    /// `Name: number kB` by name.
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

    /// Until it slept for ten looks on end: long enough to be no wait for the disk.
    private static func waitUntilAsleep(_ process: pid_t, _ seconds: Int) throws {
        var looks = 0
        for _ in 0..<seconds * 1000 {
            let stat = Files.firstLine("/proc/\(process)/stat") ?? ""
            let state = stat.split(separator: ")").last?.split(separator: " ").first
            looks = state == "S" ? looks + 1 : 0
            if looks == 10 { return }
            usleep(1000)
        }
        throw BenchmarkError("process \(process) does not come to its printing")
    }
}
