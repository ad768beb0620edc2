import Glibc
import LinuxHost

/// What putting together costs: the batches of a thousand receivers, as a broker's subscriber prints them, as fast as they
/// can be read. `pharos-hub` lies beside `pharos`.
struct CollectorTimes {
    let pharos: String
    /// Made, filled and taken away.
    let folder: String
    /// Of the recording.
    let seconds: Int

    private static let rounds = 3
    private static let receivers = 1_000
    /// That each receiver hears, and how often in a second.
    private static let heard = 20
    private static let reports = 5
    /// Each is heard by five of them.
    private static let beacons = receivers * heard / 5

    func run(_ report: Report) throws {
        let folder = "\(folder)/collector-\(getpid())"
        guard unsafe mkdir(folder, 0o700) == 0 else { throw SystemError("mkdir", folder, errno: errno) }
        defer {
            for name in Files.names(in: folder) { unsafe unlink("\(folder)/\(name)") }
            _ = unsafe rmdir(folder)
        }
        let perSecond = Double(Self.receivers * Self.heard * Self.reports)
        report.section(
            "Collector: batches of \(Double(Self.receivers).grouped) receivers, \(perSecond.grouped) reports a second")
        let receivers = (0..<Self.receivers).map { #"{"name":"r-\#($0)","room":"room-\#($0)"}"# }
        let file = folder + "/site.json"
        try Files.replace(
            file, with: Array(#"{"version":1,"name":"site","receivers":[\#(receivers.joined(separator: ","))]}"#.utf8))
        try record(seconds, to: folder + "/many.jsonl")
        try record(1, to: folder + "/few.jsonl")
        var (whole, start, peaks): ([Double], [Double], [Double]) = ([], [], [])
        for _ in 0..<Self.rounds {
            let run = try collect(file, folder, "many")
            whole.append(run.processorSeconds)
            peaks.append(run.peak)
            start.append(try collect(file, folder, "few").processorSeconds)
        }
        let cost = (whole.median - start.median) / Double(seconds - 1)
        report.line("Reports a second of processor time: \((perSecond / cost).grouped)")
        report.target("a second of 1,000 receivers, of a core", cost, "s", atMost: 1)
        report.target("peak RSS", peaks.median, "MiB", atMost: 256)
    }

    private func collect(_ file: String, _ folder: String, _ name: String) throws -> MeasuredRun {
        let nowhere = try Descriptor.open("/dev/null", .replace)
        return try MeasuredRun(
            [
                "/bin/sh", "-c", #"exec "$@" <"$0""#, "\(folder)/\(name).jsonl", pharos, "collect", file, "--from", "-",
                "--state-file", folder + "/state.json", "--json",
            ], output: nowhere)
    }

    /// One batch a second of each receiver; levels wander, and every tenth beacon changes its loudest receiver.
    private func record(_ seconds: Int, to path: String) throws {
        let output = try Descriptor.open(path, .replace)
        var state: UInt64 = 1
        func random(_ bound: Int) -> Int {
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return Int(state >> 33) % bound
        }
        for second in 0..<seconds {
            var text = ""
            for receiver in 0..<Self.receivers {
                let parts = (0..<Self.heard).map { number in
                    let beacon = (receiver * Self.heard / 5 + number) % Self.beacons
                    return #"{"id":"b-\#(beacon)","n":\#(Self.reports),"rssi":-\#(50 + random(40)).\#(random(10)),"#
                        + #""min":-95,"max":-45,"agoMs":\#(random(1000))}"#
                }
                let time =
                    "2026-09-21T13:\(Self.two(20 + second / 60)):\(Self.two(second % 60)).\(100 + receiver % 900)Z"
                text +=
                    #"{"tst":"\#(time)","topic":"pharos/site/sightings/0/r-\#(receiver)","payload":{"v":1,"boot":"8f","#
                text += #""seq":\#(second + 1),"bootMs":\#(5_000_000 + second * 1000),"windowMs":1000,"b":["#
                text += parts.joined(separator: ",") + "]}}\n"
            }
            try output.writeAll(Array(text.utf8))
        }
    }

    private static func two(_ number: Int) -> String { number < 10 ? "0\(number)" : "\(number)" }
}
