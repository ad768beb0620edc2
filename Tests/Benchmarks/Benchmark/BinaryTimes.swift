import Glibc
import LinuxHost

/// Start-up, memory and time to air of the `pharos` binary.
struct BinaryTimes {
    let pharos: String
    /// A program that does nothing.
    let empty: String

    private static let starts = 50
    private static let airings = 20

    private static let frame = [
        "ibeacon", "--uuid", "2f234454-cf6d-4a0f-adf2-f4911ba9ffa6", "--major", "1", "--minor", "2",
        "--measured-power-dbm", "-59",
    ]

    private var advertise: [String] {
        [pharos, "advertise"] + Self.frame + ["--adapter", "virtual", "--duration-s", "30", "--json"]
    }

    func run(_ report: Report) throws {
        try startUp(report)
        try memory(report)
        try timeToAir(report)
    }

    private func startUp(_ report: Report) throws {
        report.section("Start-up: from posix_spawn to the end of the process")
        let nowhere = try Descriptor.open("/dev/null", .replace)
        let commands = [[empty], [pharos, "--version"], [pharos, "encode"] + Self.frame]
        let times = try Measuring.inTurns(
            rounds: Self.starts,
            commands.map { command in { try ChildProcess.run(command, output: nowhere) } })
        let medians = times.map { $0.median / 1e6 }
        let fastest = times.map { ($0.min() ?? 0) / 1e6 }
        report.line("\(empty), for comparison: \(medians[0].text(2)) ms")
        for (index, name) in [(1, "pharos --version"), (2, "pharos encode ibeacon")] {
            report.line("\(name): \(medians[index].text(2)) ms")
            let above = zip(times[index], times[0]).map { ($0 - $1) / 1e6 }
            report.target("\(name), above a program that does nothing", above.median, "ms", atMost: 10)
        }
        report.line("Medians of \(Self.starts) runs each, in turns; the fastest ones took")
        report.line("\(fastest.map { $0.text(2) }.joined(separator: ", ")) ms.")
    }

    private func memory(_ report: Report) throws {
        report.section("Memory")
        let version = try ProcessMemory(ofShortLived: [pharos, "--version"])
        show(version, of: "pharos --version", report)
        var pipe = try Pipe()
        let process = try ChildProcess(advertise, output: try pipe.writing)
        pipe.closeWriting()
        try waitForAir(pipe)
        usleep(1_000_000)
        let advertising = try ProcessMemory(of: process.id)
        try process.stop()
        show(advertising, of: "pharos advertise --adapter virtual, after 1 s", report)
    }

    private func show(_ memory: ProcessMemory, of what: String, _ report: Report) {
        report.line("\(what): peak RSS: \(memory.text)")
        report.target("\(what): private dirty", memory.privateDirty / 1024, "MiB", atMost: 2.5)
    }

    private func timeToAir(_ report: Report) throws {
        report.section("Time to air: from posix_spawn to advertising enabled on the virtual controller")
        var times: [Double] = []
        let clock = ContinuousClock()
        for _ in 0..<Self.airings {
            var pipe = try Pipe()
            let start = clock.now
            let process = try ChildProcess(advertise, output: try pipe.writing)
            pipe.closeWriting()
            try waitForAir(pipe)
            times.append((clock.now - start).milliseconds)
            try process.stop()
        }
        report.line("pharos advertise ibeacon --adapter virtual: \(times.median.text(2)) ms")
        let (fastest, slowest) = (times.min() ?? 0, times.max() ?? 0)
        report.line("Median of \(times.count) runs; fastest \(fastest.text(2)), slowest \(slowest.text(2)) ms.")
    }

    private func waitForAir(_ pipe: Pipe) throws {
        guard let line = try pipe.line(), line.hasPrefix("{\"event\":\"on-air\"") else {
            throw BenchmarkError("\(advertise.joined(separator: " ")) did not print that it is on the air")
        }
    }
}
