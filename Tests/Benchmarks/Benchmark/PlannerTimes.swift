import Airtime
import Glibc
import LinuxHost

/// The planner: the latency model compared with published times, the table of intervals and scanners, and whole
/// commands.
struct PlannerTimes {
    /// The times of Blender (MSWiM 2022) for one channel of 512/5120 ms, on another machine of the same class.
    private static let published = [(1000.0, 29.1), (760, 17.6), (1860, 7.8)]
    private static let rounds = 21

    static func recursion(_ report: Report) throws {
        report.section("Planner: the latency of one beacon on one channel, 512 of 5120 ms")
        report.row("T", ["ms", "published s", "times", "p50 s", "p99 s"])
        let pattern = try ScanPattern(windowMicroseconds: 512_000, intervalMicroseconds: 5_120_000, channelCount: 1)
        for (interval, seconds) in published {
            let (time, latency) = try measured(interval, pattern)
            let percentiles = [0.5, 0.99].map { latency.percentile($0)?.text(3) ?? "-" }
            report.row(
                "\(interval.shortText) ms",
                [time.text(2), seconds.text(1), (seconds * 1000 / time).grouped] + percentiles)
            // A hundredth of the published time.
            report.target("the latency model at \(interval.shortText) ms", time, "ms", atMost: seconds * 10)
        }
        try table(report)
    }

    private static func measured(_ interval: Double, _ pattern: ScanPattern) throws -> (Double, LatencyDistribution) {
        let group = try AdvertiserGroup(count: 1, intervalMicroseconds: interval * 1000, airtimeMicroseconds: 376)
        let model = try LatencyModel(group: group, pattern: pattern)
        var times: [Double] = []
        let clock = ContinuousClock()
        for _ in 0..<rounds {
            let start = clock.now
            _ = try model.distribution()
            times.append((clock.now - start).milliseconds)
        }
        return (times.median, try model.distribution())
    }

    /// Eleven intervals with six scan modes.
    private static func table(_ report: Report) throws {
        let intervals = [20.0, 100, 152.5, 211.25, 318.75, 417.5, 546.25, 760, 852.5, 1022.5, 1285]
        let patterns = try [
            (512, 5120), (1024, 4096), (4096, 4096), (30, 300), (20, 600),
        ].map { window, interval in
            try ScanPattern(windowMicroseconds: window * 1000, intervalMicroseconds: interval * 1000)
        }
        let start = ContinuousClock.now
        var reached = 0
        for interval in intervals {
            for pattern in patterns + [.continuous] {
                let group = try AdvertiserGroup(
                    count: 1, intervalMicroseconds: interval * 1000, airtimeMicroseconds: 376)
                let latency = try LatencyModel(group: group, pattern: pattern).distribution(horizonSeconds: 300)
                reached += latency.percentile(0.5) == nil ? 0 : 1
            }
        }
        let seconds = (ContinuousClock.now - start).milliseconds / 1000
        report.target(
            "\(intervals.count) intervals with 6 scan modes, \(reached) medians found", seconds, "s", atMost: 1)
    }

    /// Whole commands, including their start: 250 ms for each.
    static func commands(_ report: Report, pharos: String, folder: String) throws {
        report.section("Planner: whole commands, from posix_spawn to the end")
        let scanner = ["--scanner", "android-low-power"]
        let target = ["--detect-within-s", "10", "--probability", "0.9"] + scanner
        let walk = ["--speed-mps", "1.4", "--distance-m", "3", "--range-m", "10", "--interval-ms", "417.5"]
        let commands: [[String]] = [
            ["collisions", "--beacons", "250", "--interval-ms", "100"],
            ["latency", "--beacons", "100", "--interval-ms", "417.5"] + scanner,
            ["latency", "--beacons", "1", "--interval-ms", "1022.5"] + scanner,
            ["latency", "--beacons", "100", "--interval-ms", "1022.5"] + scanner,
            ["interval", "--beacons", "50"] + target,
            ["interval", "--beacons", "250"] + target,
            ["interval", "--beacons", "250", "--max-throughput"],
            ["density", "--interval-ms", "417.5"] + target,
            ["walk"] + walk + scanner,
            ["energy", "--interval-ms", "500", "--chip", "nrf52832", "--battery", "cr2477"],
            ["thesis", "--beacons", "250"],
        ]
        let nowhere = try Descriptor.open("/dev/null", .replace)
        for arguments in commands {
            let times = try Measuring.inTurns(
                rounds: rounds, [{ try ChildProcess.run([pharos, "plan"] + arguments, output: nowhere) }])
            report.target("plan \(arguments.joined(separator: " "))", times[0].median / 1e6, "ms", atMost: 250)
        }
        try site(report, pharos, folder)
    }

    /// Ten thousand beacons on a tenth of a square kilometre.
    private static func site(_ report: Report, _ pharos: String, _ folder: String) throws {
        let path = folder + "/benchmark-site.json"
        var beacons: [String] = []
        for index in 0..<10_000 {
            beacons.append("{\"position\":[\(Double(index % 100) * 2.5),\(Double(index / 100) * 4)]}")
        }
        let text = """
            {"version":1,"name":"benchmark","walls":[{"from":[100,0],"to":[100,300],"attenuationDb":6}],
            "beacons":[\(beacons.joined(separator: ","))],"scanner":"android-low-power",
            "target":{"detectWithinS":10,"probability":0.9}}
            """
        try Files.replace(path, with: Array(text.utf8), isDurable: false)
        defer { try? Files.remove(path) }
        let start = ContinuousClock.now
        let memory = try ProcessMemory(ofShortLived: [pharos, "plan", "site", path, "--json"], within: 300)
        let seconds = (ContinuousClock.now - start).milliseconds / 1000
        report.target("plan site, 10,000 beacons and 2000 places", seconds, "s", atMost: 2)
        report.target("its peak RSS", memory.peak / 1024, "MiB", atMost: 256)
    }
}
