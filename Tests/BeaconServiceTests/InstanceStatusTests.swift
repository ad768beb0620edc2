import BeaconService
import BluetoothTypes
import Configuration
import LinuxHost
import TestSupport
import Testing

@Suite struct InstanceStatusTests {
    private static func status(_ granted: ClosedRange<Int>?, requested: Int = 100_000) -> InstanceStatus {
        var status = InstanceStatus(name: "lobby", adapter: "hci0:mgmt", state: .onAir)
        status.advertisements = [.init(type: "ibeacon", interval: requested, grantedInterval: granted)]
        status.process = .current
        return status
    }

    /// An interval that the kernel chooses is shown as a range in all outputs.
    static let intervals: [(ClosedRange<Int>?, json: String, text: String, metrics: [String])] = [
        (100_000...100_000, "100", " 100 ", ["pharos_interval_seconds{profile=\"lobby\",frame=\"ibeacon\"} 0.1"]),
        (152_500...152_500, "152.5", " 152.5 (requested 100) ", []),
        (
            100_000...150_000, "[100,150]", " 100...150 (requested 100) ",
            [
                "pharos_interval_seconds{profile=\"lobby\",frame=\"ibeacon\"} 0.1",
                "pharos_longest_interval_seconds{profile=\"lobby\",frame=\"ibeacon\"} 0.15",
            ]
        ),
        (nil, "null", " unknown (requested 100) ", []),
    ]

    @Test(arguments: intervals.indices) func grantedIntervalIsShownInAllOutputs(_ number: Int) throws {
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

    /// The status file is not written again when the interval changes: the reader computes the part.
    @Test func aPatternIsShownWithItsCurrentPart() throws {
        let parts = try [(100, 2), (1000, 8)].map { milliseconds, seconds in
            AdvertisingPattern.Part(
                interval: RequestedInterval(try #require(AdvertisingInterval(microseconds: milliseconds * 1000))),
                durationMicroseconds: seconds * 1_000_000)
        }
        let pattern = try #require(AdvertisingPattern(parts))
        var status = Self.status(507_500...507_500, requested: 507_500)
        status.advertisements[0].pattern = .init(pattern: pattern, startUnixMilliseconds: 50_000)
        let (root, problems) = JSONDocument.parse(Array(status.json(withProcess: true).line.utf8))
        #expect(problems.isEmpty)
        #expect(try InstanceStatus(try #require(root)) == status)
        #expect(
            status.json(withProcess: false).line.contains(
                #""pattern":[{"intervalMs":100,"forS":2},{"intervalMs":1000,"forS":8}],"patternPart":"#))
        for (second, part) in [
            (50, "part 1, 100 ms"), (51, "part 1, 100 ms"), (52, "part 2, 1000 ms"), (60, "part 1,"),
        ] {
            let text = StatusText.lines(status, now: RFC3339Time(secondsSince1970: second), color: false)
            #expect(text.contains(" 100/1000 "))
            #expect(text.contains("ibeacon: pattern 100 ms for 2 s, 1000 ms for 8 s; now \(part)"), "\(text)")
        }
        status.state = .recovering
        #expect(status.json(withProcess: false).line.contains("\"patternPart\":null"))
        #expect(!StatusText.lines(status, now: RFC3339Time(secondsSince1970: 50), color: false).contains("now part"))
    }

    @Test(arguments: ["[150,100]", "[1]", "[]", "\"100\"", "{}", "[1,2,3]"])
    func malformedIntervalIsUnknown(_ text: String) throws {
        let line = #"{"name":"x","state":"off","advertisements":[{"type":"t","intervalMs":1,"grantedIntervalMs":"#
        let (root, _) = JSONDocument.parse(Array("\(line)\(text)}]}".utf8))
        let status = try InstanceStatus(try #require(root))
        #expect(status.advertisements == [.init(type: "t", interval: 1000)])
    }

    @Test func statusListHasAVersion() {
        #expect(MachineStatus().json.line == #"{"version":1,"instances":[],"listeners":[],"collectors":[]}"#)
    }

    @Test func aFileIsReadAsItWasWritten() throws {
        let folder = try TemporaryFolder()
        let status = Self.status(100_000...150_000)
        try StatusFile.write(status, in: folder.path)
        let read = try StatusFile.all(in: folder.path)
        #expect(read.status.instances == [status] && read.problems.isEmpty)
    }

    /// A file can state any number.
    @Test(arguments: [Int.min, .max]) func clockDifferenceMayBeAnyNumber(_ ahead: Int) {
        #expect(StatusText.eidClock(ahead: ahead).contains("(\(ahead.magnitude) s)"))
    }
}
