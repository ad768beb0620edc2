import BeaconService
import BluetoothTypes
import Configuration
import LinuxHost
import TestSupport
import Testing

@Suite struct InstanceStatusTests {
    private static func status(_ granted: ClosedRange<Int>?, asked: Int = 100_000) -> InstanceStatus {
        var status = InstanceStatus(name: "lobby", adapter: "hci0:mgmt", state: .onAir)
        status.advertisements = [.init(type: "ibeacon", interval: asked, grantedInterval: granted)]
        status.process = .current
        return status
    }

    /// An interval that the kernel chooses is said as a range, everywhere.
    static let intervals: [(ClosedRange<Int>?, json: String, text: String, metrics: [String])] = [
        (100_000...100_000, "100", " 100 ", ["pharos_interval_seconds{profile=\"lobby\",frame=\"ibeacon\"} 0.1"]),
        (152_500...152_500, "152.5", " 152.5 (asked 100) ", []),
        (
            100_000...150_000, "[100,150]", " 100...150 (asked 100) ",
            [
                "pharos_interval_seconds{profile=\"lobby\",frame=\"ibeacon\"} 0.1",
                "pharos_longest_interval_seconds{profile=\"lobby\",frame=\"ibeacon\"} 0.15",
            ]
        ),
        (nil, "null", " unknown (asked 100) ", []),
    ]

    @Test(arguments: intervals.indices) func anIntervalIsSaidAsItIs(_ number: Int) throws {
        let (granted, json, text, metrics) = Self.intervals[number]
        let status = Self.status(granted)
        let line = status.json(withProcess: true).line
        #expect(line.contains("\"grantedIntervalMs\":\(json),"), "\(line)")
        let (root, problems) = JSONDocument.parse(Array(line.utf8))
        #expect(problems.isEmpty)
        #expect(try InstanceStatus(try #require(root)) == status)
        let now = RFC3339Time(secondsSince1970: 0)
        #expect(StatusText.lines(status, now: now, color: false).contains(text))
        let lines = Metrics.text(for: [status]).split(separator: "\n").map(String.init)
        for metric in metrics { #expect(lines.contains(metric), "\(lines)") }
        #expect(lines.contains { $0.hasPrefix("pharos_longest") } == (json.hasPrefix("[")))
    }

    @Test(arguments: ["[150,100]", "[1]", "[]", "\"100\"", "{}", "[1,2,3]"])
    func anIntervalThatIsNoneIsUnknown(_ text: String) throws {
        let line = #"{"name":"x","state":"off","advertisements":[{"type":"t","intervalMs":1,"grantedIntervalMs":"#
        let (root, _) = JSONDocument.parse(Array("\(line)\(text)}]}".utf8))
        let status = try InstanceStatus(try #require(root))
        #expect(status.advertisements == [.init(type: "t", interval: 1000)])
    }

    @Test func theListHasAVersion() {
        #expect(BoxStatus().json.line == #"{"version":1,"instances":[],"listeners":[]}"#)
    }

    @Test func aFileIsReadAsItWasWritten() throws {
        let folder = try TemporaryFolder()
        let status = Self.status(100_000...150_000)
        try StatusFile.write(status, in: folder.path)
        let read = try StatusFile.all(in: folder.path)
        #expect(read.status.instances == [status] && read.problems.isEmpty)
    }

    /// A file can state any number.
    @Test(arguments: [Int.min, .max]) func aClockCanBeAnyTimeAhead(_ ahead: Int) {
        #expect(StatusText.eidClock(ahead: ahead).contains("(\(ahead.magnitude) s)"))
    }
}
