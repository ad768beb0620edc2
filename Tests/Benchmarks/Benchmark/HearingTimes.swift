import Glibc
import HCI
import LinuxHost
import Listener
import Sightings

/// The cost of receiving: recordings read as fast as possible, many unknown devices, and a live radio.
struct HearingTimes {
    let pharos: String
    /// A Python with scapy and beacontools; `nil` if there is none.
    let python: String?
    /// The script that measures them.
    let peers: String
    /// A directory for temporary files.
    let folder: String
    /// The number of reports in the largest recording.
    let reports: Int

    private static let rounds = 3
    private static let known = 10_000
    private static let strangers = 1_000_000

    func run(_ report: Report) throws {
        let folder = "\(folder)/hearing-\(getpid())"
        guard unsafe mkdir(folder, 0o700) == 0 else { throw SystemError("mkdir", folder, errno: errno) }
        defer {
            for name in Files.names(in: folder) { unsafe unlink("\(folder)/\(name)") }
            _ = unsafe rmdir(folder)
        }
        try recordings(report, folder)
        try flood(report, folder)
        try privateAddresses(report, folder)
        try LiveHearing.scan(pharos, folder, report)
    }

    private func scan(_ recording: HearingRecording, _ options: [String]) throws -> MeasuredRun {
        let nowhere = try Descriptor.open("/dev/null", .replace)
        return try MeasuredRun([pharos, "scan", "--replay", recording.path, "--json"] + options, output: nowhere)
    }

    // MARK: Recordings

    private func recordings(_ report: Report, _ folder: String) throws {
        report.section("Hearing: \(Double(reports).grouped) reports in a btsnoop file")
        let fleet = try SampleFleet(beacons: Self.known, in: folder + "/fleet")
        defer { fleet.remove() }
        let nowhere = try Descriptor.open("/dev/null", .replace)
        try ChildProcess.run(
            [pharos, "fleet", "generate", fleet.file, "--output", fleet.output, "--manifest-only"], output: nowhere)
        let few = try HearingRecording(writing: reports, of: 100, perSecond: 2_000, to: folder + "/few.btsnoop")
        let many = try HearingRecording(
            writing: reports / 5, of: Self.known, perSecond: 20_000, to: folder + "/many.btsnoop")
        var (plain, ranging): ([Double], [Double]) = ([], [])
        var others: [String: [Double]] = [:]
        for _ in 0..<Self.rounds {
            plain.append(Double(few.reports) / (try scan(few, ["--every-s", "1"])).processorSeconds)
            ranging.append(
                Double(many.reports) / (try scan(many, ["--ranging", "--known", fleet.output])).processorSeconds)
            guard let python else { continue }
            for peer in ["scapy", "beacontools"] {
                let text = try ChildProcess.output(of: [python, peers, peer, few.path, "20000"])
                others[peer, default: []].append(Double(text.filter { !$0.isWhitespace }) ?? 0)
            }
        }
        report.row("", ["reports/s", "of scan's"], width: 16)
        report.row("scan", [plain.median.grouped, "1"], width: 16)
        report.row("ranging", [ranging.median.grouped, (ranging.median / plain.median).text(2)], width: 16)
        for (peer, speeds) in others.sorted(by: { $0.key < $1.key }) {
            report.row(peer, [speeds.median.grouped, "1/\((plain.median / speeds.median).text(0))"], width: 16)
        }
        report.line(
            "Reports a second of processor time, medians of \(Self.rounds) rounds, turn about: `scan --replay` of")
        report.line("100 beacons at 2,000 reports a second, one JSON line a round, and the ranging of")
        report.line(
            "\(Double(Self.known).grouped) known beacons, two reports of each a second. scapy and beacontools only decode."
        )
        report.target("500,000 reports of 100 beacons", 500_000 / plain.median, "s", atMost: 1)
        report.target("150,000 reports of 10,000 known beacons", 150_000 / ranging.median, "s", atMost: 1)
        let octets = try Files.read(few.path, limit: 1 << 30).prefix(8 << 20)
        report.target(
            "allocations from H4 octets to the windows of known beacons", Double(try allocations(Array(octets))), "",
            atMost: 0, digits: 0)
    }

    /// Returns the number of memory allocations from the recorded octets to the beacons' windows, after every beacon
    /// has been received once.
    private func allocations(_ octets: [UInt8]) throws -> Int {
        let known = (0..<100).map { number in
            KnownBeacon(
                name: SampleFleet.name(number),
                identity: .iBeacon(uuid: HearingRecording.uuid, major: 1, minor: UInt16(number + 1)))
        }
        var processor = SightingProcessor(
            table: SightingTable(known: known, strangers: .counted), roundMicroseconds: 1_000_000)
        var reader = ReportReader()
        var clock = RecordingClock()
        func hear() throws {
            let span = octets.span
            var cursor = try CaptureCursor(span)
            while let record = try? cursor.next(in: span) {
                guard record.kind == .hci(.event) else { continue }
                let instant = clock.instant(unixMicroseconds: record.unixMicroseconds)
                while processor.nextEvent(until: instant) != nil {}
                reader.take(event: span, in: record.octets, at: instant) { report, octets, data in
                    processor.receive(report.sighting, octets, data)
                }
            }
        }
        try hear()
        let count = try Measuring.allocations { try hear() }
        guard processor.table.tracks.allSatisfy(\.isHeard), processor.table.counts.strangers == 0 else {
            throw BenchmarkError("not all beacons of the recording were received")
        }
        return count
    }

    // MARK: Flood

    private func flood(_ report: Report, _ folder: String) throws {
        report.section("Hearing: \(Double(Self.strangers).grouped) strangers in 10 s among 20 known beacons")
        let fleet = try SampleFleet(beacons: 20, in: folder + "/known")
        defer { fleet.remove() }
        let nowhere = try Descriptor.open("/dev/null", .replace)
        try ChildProcess.run(
            [pharos, "fleet", "generate", fleet.file, "--output", fleet.output, "--manifest-only"], output: nowhere)
        let quiet = try HearingRecording(writing: 2_000, of: 20, perSecond: 200, to: folder + "/quiet.btsnoop")
        let loud = try HearingRecording(
            writing: 2_000, of: 20, perSecond: 200, strangers: Self.strangers, to: folder + "/loud.btsnoop")
        let options = ["--known", fleet.output, "--ranging"]
        let run = try scan(loud, ["--known", fleet.output, "--every-s", "1", "--strangers"])
        let rounds = try [quiet, loud].map { recording in
            try ChildProcess.output(of: [pharos, "scan", "--replay", recording.path, "--json"] + options)
                .split(separator: "\n").map { line in line.prefix { $0 != "]" } }
        }
        guard rounds[0].count >= 10, rounds[0] == rounds[1] else {
            throw BenchmarkError("the rounds of the known beacons differ in the flood")
        }
        report.line("The known beacons' \(rounds[0].count) rounds are the same octets with the flood and without it.")
        report.target("peak RSS in the flood", run.peak, "MiB", atMost: 32)
        report.line("Processor time for the 10 s: \(run.processorSeconds.text(2)) s")
    }

    // MARK: Addresses that change

    private static let keys = 1_000
    private static let freshAddresses = 100_000

    /// A listener with many keys receives phones that it does not know, each with another address, and all the time one
    /// device, to which the last key belongs.
    private func privateAddresses(_ report: Report, _ folder: String) throws {
        report.section(
            "Hearing: \(Double(Self.keys).grouped) address keys, \(Double(Self.freshAddresses).grouped) fresh addresses in 10 s"
        )
        // The sample data of the Core Specification (Vol 3 Part H, D.7).
        let (key, sender): (String, UInt64) = ("ec0234a357c8ad05341010a60a397d9b", 0x7081_940D_FBAA)
        var names: [String] = []
        for number in 1...Self.keys {
            let digits = String(number, radix: 16)
            let text = number == Self.keys ? key : String(repeating: "0", count: 32 - digits.count) + digits
            try Files.createSecret("\(folder)/irk-\(number)", with: Array(text.utf8))
            names.append(#"{"name":"person-\#(number)","file":"irk-\#(number)"}"#)
        }
        let start = #"{"version":1,"name":"hall","strangers":"list""#
        try Files.replace("\(folder)/without.json", with: Array((start + "}").utf8))
        try Files.replace(
            "\(folder)/with.json", with: Array((start + #","irks":["# + names.joined(separator: ",") + "]}").utf8))
        let recording = try HearingRecording(
            writing: 200, of: 1, perSecond: 20, strangers: Self.freshAddresses, areResolvable: true, from: sender,
            to: folder + "/private.btsnoop")
        func listen(_ file: String) -> [String] {
            [pharos, "listen", "\(folder)/\(file).json", "--print", "--json", "--replay", recording.path]
        }
        let rounds = try ChildProcess.output(of: listen("with")).split(separator: "\n")
        guard rounds.count >= 9, rounds.allSatisfy({ $0.contains(#""beacon":"person-\#(Self.keys)""#) }) else {
            throw BenchmarkError("the device of the last key is not received in each round")
        }
        let nowhere = try Descriptor.open("/dev/null", .replace)
        var seconds: [String: [Double]] = [:]
        for _ in 0..<Self.rounds {
            for file in ["without", "with"] {
                seconds[file, default: []].append(try MeasuredRun(listen(file), output: nowhere).processorSeconds)
            }
        }
        let (without, with) = (seconds["without", default: []].median, seconds["with", default: []].median)
        report.line("Processor time for the 10 s: \(with.text(2)) s, and \(without.text(2)) s without a key")
        report.target("of a core for resolving addresses", (with - without) * 10, "%", atMost: 25)
    }
}
