import BeaconFrames
import BluetoothTypes
import HCI
import LinuxHost

/// Frames decoded per second from a btsnoop file, compared with scapy and beacontools on the same file's frames.
struct CaptureDecoding {
    let capture: CaptureFile
    /// A Python with scapy and beacontools; `nil` if there is none.
    let python: String?
    /// The script that measures them.
    let peers: String
    /// The number of reports that the Python programs decode in one round.
    let sample: Int

    private static let rounds = 3

    func run(_ report: Report) throws {
        report.section("Capture: \(Double(capture.reports).grouped) advertising reports in a btsnoop file")
        let octets = try Files.read(capture.path)
        report.line("\(Double(octets.count).grouped) octets; legacy and extended reports; seven frames, or none")
        var ours: [Double] = []
        var fromFile: [Double] = []
        var others: [String: [Double]] = [:]
        let clock = ContinuousClock()
        _ = try checked(octets)
        for _ in 0..<Self.rounds {
            let inMemory = try clock.measure { _ = try checked(octets) }
            ours.append(perSecond(inMemory))
            fromFile.append(perSecond(try clock.measure { _ = try checked(try Files.read(capture.path)) }))
            guard let python else { continue }
            for peer in ["scapy", "beacontools"] {
                let speed = try peerSpeed(peer, python)
                others[peer, default: []].append(speed)
            }
        }
        let allocations = try Measuring.allocations { _ = try checked(octets) }
        report.row("", ["reports/s", "of pharos"], width: 16)
        report.row("pharos", [ours.median.grouped, "1"], width: 16)
        report.row("with reading", [fromFile.median.grouped, (fromFile.median / ours.median).text(2)], width: 16)
        for (peer, speeds) in others.sorted(by: { $0.key < $1.key }) {
            report.row(peer, [speeds.median.grouped, "1/\((ours.median / speeds.median).text(0))"], width: 16)
        }
        report.line("Medians of \(Self.rounds) rounds, in turns. Pharos walks records, events, reports and")
        report.line("AD structures to \(Double(capture.frames).grouped) frames; scapy and beacontools get the bare")
        report.line("advertising data of the first \(Double(sample).grouped) reports, without their imports' time.")
        report.target(
            "allocations while decoding the file", Double(allocations), "", atMost: 0, digits: 0)
        if python == nil {
            report.notMeasured("scapy and beacontools", because: "no Python with them; give it with --python")
        }
    }

    private func perSecond(_ time: Duration) -> Double { Double(capture.reports) / (time.nanoseconds / 1e9) }

    private func checked(_ octets: [UInt8]) throws -> Tally {
        let tally = try Self.decode(octets.span)
        guard tally.reports == capture.reports, tally.frames == capture.frames else {
            throw BenchmarkError(
                "found \(tally.frames) frames in \(tally.reports) reports instead of "
                    + "\(capture.frames) in \(capture.reports)")
        }
        return tally
    }

    private struct Tally {
        var reports = 0
        var frames = 0
        var digest = 0
    }

    private static func decode(_ file: Span<UInt8>) throws -> Tally {
        var tally = Tally()
        var records = try CaptureCursor(file)
        while let record = try records.next(in: file) {
            guard record.kind == .hci(.event), var reports = try AdvertisingReportCursor(event: file, in: record.octets)
            else { continue }
            while let report = try reports.next(in: file) {
                tally.reports += 1
                guard let frame = BeaconFrame(decoding: file, range: report.data) else { continue }
                tally.frames += 1
                tally.digest &+= frame.digest
            }
        }
        return tally
    }

    /// Runs the script and returns the reports per second that it prints.
    private func peerSpeed(_ peer: String, _ python: String) throws -> Double {
        let arguments = [python, peers, peer, capture.path, String(sample)]
        let output = try ChildProcess.output(of: arguments)
        guard let speed = Double(output.filter { !$0.isWhitespace }), speed > 0 else {
            throw BenchmarkError("\(arguments.joined(separator: " ")) printed no speed: \"\(output)\"")
        }
        return speed
    }
}
