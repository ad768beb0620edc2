import LinuxHost

/// Prints how fast and how small Pharos is, next to the goals. It is not a test: it succeeds if it could measure.
@main
struct Benchmark {
    private static let usage = """
        usage: pharos-benchmark --capture FILE --peers SCRIPT [--pharos BINARY] [--python PYTHON]
                                [--empty PROGRAM] [--reports N] [--sample N] [--beacons N] [--heard N]
                                [--collected N] [--only PART,...]
          --capture   where to write the btsnoop file of the measurement
          --peers     the script that measures scapy and beacontools; those for fleets are in the same directory
          --pharos    the static binary whose start is measured
          --python    a Python with scapy and beacontools
          --empty     a static program that does nothing, for comparison with the start (/bin/true)
          --reports   reports in the capture (1000000)
          --sample    how many of them scapy and beacontools decode in a round (20000)
          --beacons   beacons in the largest fleet (100000)
          --heard     reports that `pharos scan` replays (10000000)
          --collected seconds of a thousand receivers that `pharos collect` reads (30)
          --only      these parts and no others: \(parts.joined(separator: ", "))
        """

    private static let parts = [
        "frames", "collisions", "planner", "capture", "start", "service", "fleet", "hearing", "zones", "collector",
        "positioning", "inventory",
    ]

    static func main() {
        do {
            var options = try options(CommandLine.arguments.dropFirst())
            guard let path = options.removeValue(forKey: "--capture"),
                let peers = options.removeValue(forKey: "--peers")
            else { throw BenchmarkError("--capture and --peers are missing\n\(usage)") }
            let python = options.removeValue(forKey: "--python")
            let pharos = options.removeValue(forKey: "--pharos")
            let reports = try number(options.removeValue(forKey: "--reports") ?? "1000000")
            let sample = try number(options.removeValue(forKey: "--sample") ?? "20000")
            let beacons = try number(options.removeValue(forKey: "--beacons") ?? "100000")
            let heard = try number(options.removeValue(forKey: "--heard") ?? "10000000")
            let collected = try number(options.removeValue(forKey: "--collected") ?? "30")
            let empty = options.removeValue(forKey: "--empty") ?? "/bin/true"
            let only = options.removeValue(forKey: "--only")?.split(separator: ",").map { String($0) } ?? parts
            guard only.allSatisfy(parts.contains) else { throw BenchmarkError(usage) }
            if let unknown = options.keys.min() { throw BenchmarkError("unknown option \(unknown)\n\(usage)") }

            let report = Report()
            Machine.describe(report)
            #if DEBUG
                report.line("!!! Built without optimisation: the times of frames and captures mean nothing.")
            #endif
            let folder = path.lastIndex(of: "/").map { String(path[..<$0]) } ?? "."
            if only.contains("frames") { try FrameTimes.run(report) }
            if only.contains("collisions") { try CollisionTimes.run(report) }
            if only.contains("planner") { try PlannerTimes.recursion(report) }
            let scripts = peers.lastIndex(of: "/").map { String(peers[..<$0]) } ?? "."
            if only.contains("positioning") {
                try PositioningTimes.run(
                    report, folder: folder, pharos: pharos, python: python,
                    peers: scripts + "/positioning_peers.py")
            }
            if only.contains("inventory") { try InventoryTimes.run(report) }
            if only.contains("capture") {
                let capture = try CaptureFile(writing: reports, to: path)
                try CaptureDecoding(capture: capture, python: python, peers: peers, sample: min(sample, reports))
                    .run(report)
            }
            guard let pharos else {
                report.section("Start-up, memory, time to air and fleets")
                report.notMeasured("the binary", because: "no static binary; give it with --pharos")
                return
            }
            if only.contains("start") { try BinaryTimes(pharos: pharos, empty: empty).run(report) }
            if only.contains("service") { try ServiceTimes(pharos: pharos).run(report) }
            if only.contains("planner") { try PlannerTimes.commands(report, pharos: pharos, folder: folder) }
            if only.contains("hearing") {
                try HearingTimes(pharos: pharos, python: python, peers: peers, folder: folder, reports: heard)
                    .run(report)
            }
            if only.contains("zones") { try ZoneTimes(pharos: pharos, folder: folder).run(report) }
            if only.contains("collector") {
                try CollectorTimes(pharos: pharos, folder: folder, seconds: max(5, min(600, collected))).run(report)
            }
            guard only.contains("fleet") else { return }
            try FleetTimes(
                pharos: pharos, scripts: scripts, python: python ?? "python3", folder: folder, beacons: beacons
            ).run(report)
        } catch {
            Report.complain("pharos-benchmark: \(error)")
        }
    }

    /// Returns the options `--name value` by name.
    private static func options(_ arguments: ArraySlice<String>) throws -> [String: String] {
        var result: [String: String] = [:]
        var rest = arguments
        while let name = rest.popFirst() {
            guard name.hasPrefix("--"), let value = rest.popFirst() else { throw BenchmarkError(usage) }
            result[name] = value
        }
        return result
    }

    private static func number(_ text: String) throws -> Int {
        guard let number = Int(text), (1...10_000_000).contains(number) else {
            throw BenchmarkError("\(text) is not a number in 1...10000000")
        }
        return number
    }
}
