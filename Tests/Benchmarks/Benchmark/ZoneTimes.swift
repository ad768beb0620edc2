import Glibc
import HCI
import LinuxHost

/// The cost of zones: a recording read as fast as possible, and the service with a live controller. Both need
/// `pharos-hub` in the directory of `pharos`.
struct ZoneTimes {
    let pharos: String
    /// A directory for temporary files.
    let folder: String

    private static let rounds = 3
    private static let beacons = 10_000
    private static let zones = 1_000
    private static let reports = 1_000_000
    /// The number of zones of the service.
    private static let fewZones = 50
    /// The number of beacons. They send in turn, and each enters its zone with its second report.
    private static let entering = 300

    func run(_ report: Report) throws {
        let folder = "\(folder)/zones-\(getpid())"
        guard unsafe mkdir(folder, 0o700) == 0 else { throw SystemError("mkdir", folder, errno: errno) }
        defer {
            for name in Files.names(in: folder) { unsafe unlink("\(folder)/\(name)") }
            _ = unsafe rmdir(folder)
        }
        try recording(report, folder)
        try service(report, folder)
    }

    /// Writes a listener file with `beacons` beacons that share the zones evenly.
    private func listener(
        _ beacons: Int, _ zones: Int, broker: String? = nil, to path: String,
        minor: (Int) -> (major: Int, minor: Int)
    ) throws {
        let known = (0..<beacons).map { number in
            let (major, minor) = minor(number)
            return #"{"name":"b-\#(number)","tags":["t-\#(number % zones)"],"ibeacon":{"uuid":"\#(Self.uuid)","#
                + #""major":\#(major),"minor":\#(minor)}}"#
        }
        let rules = (0..<zones).map { #"{"name":"z-\#($0)","tag":"t-\#($0)","aboveDbm":-90}"# }
        var text = #"{"version":1,"name":"bench","known":["# + known.joined(separator: ",")
        text += #"],"zones":["# + rules.joined(separator: ",") + "]"
        if let broker { text += #","mqtt":{"url":"\#(broker)"}"# }
        text += "}"
        try Files.replace(path, with: Array(text.utf8))
    }

    private static let uuid = "fb0b57a2-8228-44cd-913a-94a122ba1206"

    private func recording(_ report: Report, _ folder: String) throws {
        report.section(
            "Zones: \(Double(Self.reports).grouped) reports of \(Double(Self.beacons).grouped) known beacons, "
                + "\(Double(Self.zones).grouped) zones")
        let file = folder + "/many.json"
        try listener(Self.beacons, Self.zones, to: file) { (major: $0 / 1000 + 1, minor: $0 % 1000 + 1) }
        let tape = try HearingRecording(
            writing: Self.reports, of: Self.beacons, perSecond: 20_000, to: folder + "/many.btsnoop")
        let none = try HearingRecording(writing: 1, of: 1, perSecond: 1, to: folder + "/none.btsnoop")
        let nowhere = try Descriptor.open("/dev/null", .replace)
        func seconds(_ tape: HearingRecording) throws -> MeasuredRun {
            try MeasuredRun([pharos, "zones", file, "--replay", tape.path, "--json"], output: nowhere)
        }
        let entered = try ChildProcess.output(of: [pharos, "zones", file, "--replay", tape.path, "--json"])
            .split(separator: "\n").count { $0.hasPrefix(#"{"event":"enter""#) }
        guard entered == Self.beacons else {
            throw BenchmarkError("\(entered) of \(Self.beacons) beacons entered")
        }
        var (whole, start): ([Double], [Double]) = ([], [])
        for _ in 0..<Self.rounds {
            whole.append(try seconds(tape).processorSeconds)
            start.append(try seconds(none).processorSeconds)
        }
        let speed = Double(Self.reports) / (whole.median - start.median)
        report.line(
            "Reports a second of processor time: \(speed.grouped); reading the file takes \(start.median.text(2)) s")
        report.target("150,000 reports", 150_000 / speed, "s", atMost: 1)
    }

    private func service(_ report: Report, _ folder: String) throws {
        try service(report, folder, reader: nil)
        guard BrokerReader.isThere else {
            return report.notMeasured(
                "the same with a broker", because: "mosquitto is not installed; apt-get install mosquitto")
        }
        let reader = try BrokerReader(in: folder)
        try service(report, folder, reader: reader)
        try reader.stop()
    }

    private func service(_ report: Report, _ folder: String, reader: BrokerReader?) throws {
        let publishing = reader == nil ? "" : ", which publishes to mosquitto"
        report.section(
            "Zones: pharos listen with \(Self.fewZones) zones on a live controller over a unix socket\(publishing)")
        let name = reader == nil ? "live" : "told"
        let (socket, file) = ("\(folder)/\(name).sock", "\(folder)/\(name).json")
        try listener(Self.entering, Self.fewZones, broker: reader?.url, to: file) { (major: 0, minor: $0) }
        try Files.makeDirectory("\(folder)/\(name)")
        let command = [
            pharos, "listen", file, "--adapter", "unix:\(socket)", "--json", "--state-dir", "\(folder)/\(name)",
            "--runtime-dir", "\(folder)/\(name)",
        ]
        defer {
            for entry in Files.names(in: "\(folder)/\(name)") { unsafe unlink("\(folder)/\(name)/\(entry)") }
            _ = unsafe rmdir("\(folder)/\(name)")
        }
        let hearing = LiveHearing(socket: socket, command, beacons: Self.entering, reader: reader) { line in
            guard line.hasPrefix(#"{"event":"enter""#),
                let name = line.split(separator: #""beacon":"b-"#).last?.split(separator: "\"").first
            else { return nil }
            return Int(name)
        }
        let result = try hearing.run()
        guard result.delays.count == Self.entering else {
            throw BenchmarkError("\(result.delays.count) of \(Self.entering) beacons entered")
        }
        let (middle, most) = (result.delays[result.delays.count / 2], result.delays[result.delays.count - 1])
        report.line("from the report to the event: \(middle.text(2)) ms in the median, \(most.text(2)) ms at most")
        report.target(
            "from the report to the event's line, which is stored first, 99 in 100",
            result.delays[result.delays.count * 99 / 100], "ms", atMost: 5)
        if reader != nil {
            guard result.toldDelays.count == Self.entering else {
                throw BenchmarkError("mosquitto got events of \(result.toldDelays.count) of \(Self.entering) beacons")
            }
            report.target(
                "from the report to a subscriber of mosquitto, 99 in 100",
                result.toldDelays[result.toldDelays.count * 99 / 100], "ms", atMost: 50)
        }
        report.target("processor time at 100 reports a second", result.load, "%", atMost: 1.5)
        report.target("peak RSS", result.memory.peak / 1024, "MiB", atMost: 28)
        report.target("growth of its RSS in 1,000 reports", max(0, result.growth) / 1024, "MiB", atMost: 0.5)
    }
}
