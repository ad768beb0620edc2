import Glibc
import LinuxHost

/// The cost of merging reports: a thousand receivers' batches in the form that a broker's subscriber prints, read as
/// fast as possible. `pharos-hub` is in the directory of `pharos`.
struct CollectorTimes {
    let pharos: String
    /// A directory for temporary files.
    let folder: String
    /// The duration of the recording.
    let seconds: Int

    private static let rounds = 3
    private static let receivers = 1_000
    /// The number of beacons that each receiver receives in the test without a floor plan, and the reports of each
    /// beacon per second.
    private static let heard = 20
    private static let reports = 5
    /// Five receivers receive each beacon.
    private static let beacons = receivers * heard / 5

    /// A receiver's reports of one second: the beacon's number and its level.
    private typealias Batch = [(beacon: Int, level: Double)]

    func run(_ report: Report) throws {
        report.section("Collector: batches of \(Double(Self.receivers).grouped) receivers")
        let list = (0..<Self.receivers).map { #"{"name":"r-\#($0)","room":"room-\#($0)"}"# }
        let file = #"{"version":1,"name":"site","receivers":[\#(list.joined(separator: ","))]}"#
        var random = CollectorBuilding.Random()
        try measure("Rooms by the loudest receiver", [("site.json", file)], report) {
            // Levels vary, and the strongest receiver of every tenth beacon changes.
            (0..<Self.receivers).map { receiver in
                (0..<Self.heard).map { number in
                    ((receiver * Self.heard / 5 + number) % Self.beacons, -50 - Double(random.below(400)) / 10)
                }
            }
        }
        for knowsPowers in [true, false] {
            var building = CollectorBuilding(knowsPowers: knowsPowers)
            try measure(
                "\(CollectorBuilding.floors) floors with walls, beacons of \(knowsPowers ? "known" : "unknown") power",
                building.files, report
            ) { building.second() }
        }
    }

    private func measure(
        _ what: String, _ files: [(name: String, text: String)], _ report: Report, _ second: () -> [Batch]
    ) throws {
        let folder = "\(folder)/collector-\(getpid())"
        guard unsafe mkdir(folder, 0o700) == 0 else { throw SystemError("mkdir", folder, errno: errno) }
        defer {
            for name in Files.names(in: folder) { unsafe unlink("\(folder)/\(name)") }
            _ = unsafe rmdir(folder)
        }
        for (name, text) in files { try Files.replace("\(folder)/\(name)", with: Array(text.utf8)) }
        let all = try record(to: folder, second)
        var (whole, start, peaks): ([Double], [Double], [Double]) = ([], [], [])
        for _ in 0..<Self.rounds {
            let run = try collect(folder, "many")
            whole.append(run.processorSeconds)
            peaks.append(run.peak)
            start.append(try collect(folder, "few").processorSeconds)
        }
        let cost = (whole.median - start.median) / Double(seconds - Self.few)
        report.line(
            "\(what), \(Double(all / seconds).grouped) reports a second; start and first \(Self.few) s "
                + "\(start.median.text(2)) s")
        report.line("  reports a second of processor time: \((Double(all) / Double(seconds) / cost).grouped)")
        report.target(
            "  100,000 reports of 1,000 receivers, of a core", cost * 100_000 * Double(seconds) / Double(all), "s",
            atMost: 1)
        report.target("  peak RSS", peaks.median, "MiB", atMost: 256)
    }

    private func collect(_ folder: String, _ name: String) throws -> MeasuredRun {
        let nowhere = try Descriptor.open("/dev/null", .replace)
        return try MeasuredRun(
            [
                "/bin/sh", "-c", #"exec "$@" <"$0""#, "\(folder)/\(name).jsonl", pharos, "collect",
                folder + "/site.json", "--from", "-", "--state-file", folder + "/state.json", "--json",
            ], output: nowhere)
    }

    /// The number of batches before the measurement, from which the collector learns.
    private static let few = 3

    /// Writes one batch per second for each receiver: one file with all batches, one with the first few. Returns the
    /// number of reports.
    private func record(to folder: String, _ second: () -> [Batch]) throws -> Int {
        let (many, few) = (
            try Descriptor.open(folder + "/many.jsonl", .replace), try Descriptor.open(folder + "/few.jsonl", .replace)
        )
        var random = CollectorBuilding.Random()
        var reports = 0
        for number in 0..<seconds {
            var text = ""
            for (receiver, batch) in second().enumerated() {
                let parts = batch.map { beacon, level in
                    #"{"id":"b-\#(beacon)","n":\#(Self.reports),"rssi":\#(level.text(1)),"#
                        + #""min":-95,"max":-45,"agoMs":\#(random.below(1000))}"#
                }
                reports += batch.count * Self.reports
                let time =
                    "2026-09-21T13:\(Self.two(20 + number / 60)):\(Self.two(number % 60)).\(100 + receiver % 900)Z"
                text +=
                    #"{"tst":"\#(time)","topic":"pharos/site/sightings/0/r-\#(receiver)","payload":{"v":1,"boot":"8f","#
                text += #""seq":\#(number + 1),"bootMs":\#(5_000_000 + number * 1000),"windowMs":1000,"b":["#
                text += parts.joined(separator: ",") + "]}}\n"
            }
            try many.writeAll(Array(text.utf8))
            if number < Self.few { try few.writeAll(Array(text.utf8)) }
        }
        return reports
    }

    private static func two(_ number: Int) -> String { number < 10 ? "0\(number)" : "\(number)" }
}
