import BluetoothTypes
import Configuration
import Testing

@testable import Fleet

@Suite("A spread of intervals in a fleet")
struct IntervalSpreadTests {
    private static func text(_ more: String, count: Int = 40, uses: String = "${intervalMs}") -> String {
        let beacons = (0..<count).map { "{ \"name\": \"b\($0)\" }" }.joined(separator: ", ")
        return """
            { "version": 1, "name": "f", "template": { "advertisements": [
                { "type": "ibeacon", "uuid": "fb0b57a2-8228-44cd-913a-94a122ba1206", "major": 1, "minor": "${minor}",
                  "intervalMs": "\(uses)", "measuredPowerDbm": -59 },
                { "type": "eddystone-url", "url": "https://e.org", "intervalMs": 5000, "measuredPowerDbm": -18 } ] },
              "identities": { "minor": { "within": "fleet" } }, \(more) "beacons": [ \(beacons) ] }
            """
    }

    private static let spread = #""defaults": { "intervalSpread": { "fromMs": 912.6, "toMs": 1021.8 } },"#

    private static func intervals(_ text: String) throws -> [String: [Int]] {
        let (fleet, problems) = MadeFleet.decode(text)
        #expect(problems == [])
        let made = try #require(fleet)
        let (allocation, faults) = FleetAllocation.make(made, lock: nil, now: MadeFleet.now)
        #expect(faults == [])
        #expect(allocation.check().problems == [])
        let (manifest, _) = FleetManifest.decode(Array(allocation.all().manifest.utf8))
        var found: [String: [Int]] = [:]
        for beacon in try #require(manifest).beacons {
            found[beacon.name] = beacon.advertisements.map(\.intervalMicroseconds)
        }
        return found
    }

    @Test("each beacon has its own interval within the spread, derived from its name")
    func allocates() throws {
        let intervals = try Self.intervals(Self.text(Self.spread))
        #expect(intervals.count == 40)
        let range = try #require(AdvertisingInterval(microseconds: 913_125))...AdvertisingInterval(rawValue: 1634)
        for (name, own) in intervals {
            #expect(own[1] == 5_000_000)
            #expect((912_600...1_021_800).contains(own[0]) && own[0] % 625 == 0)
            #expect(own[0] == AdvertisingInterval.spread(name, over: range).microseconds, "\(name)")
        }
        #expect(Set(intervals.values.map { $0[0] }).count > 25, "too few different intervals")
    }

    @Test("adding a beacon does not change the intervals of others")
    func keepsIntervalsWhenABeaconIsAdded() throws {
        let before = try Self.intervals(Self.text(Self.spread, count: 10))
        let after = try Self.intervals(Self.text(Self.spread, count: 11))
        for (name, own) in before { #expect(after[name] == own) }
    }

    @Test("a group may have its own spread or one interval; the innermost applies")
    func overrides() throws {
        let groups = #"""
            "groups": [ { "name": "n", "intervalSpread": { "fromMs": 400, "toMs": 420 }, "beacons": [ { "name": "x" } ] },
              { "name": "s", "variables": { "intervalMs": 700 }, "beacons": [ { "name": "y" } ] } ],
            """#
        let intervals = try Self.intervals(Self.text(Self.spread + groups))
        #expect((400_000...420_000).contains(try #require(intervals["x"])[0]))
        #expect(intervals["y"] == [700_000, 5_000_000])
    }

    @Test(
        "invalid spreads are refused",
        arguments: [
            (
                #""defaults": { "intervalSpread": { "fromMs": 900, "toMs": 900.5 } },"#,
                "there are no two intervals in this spread"
            ),
            (
                #""defaults": { "intervalSpread": { "fromMs": 10, "toMs": 900 } },"#,
                "10 is out of range 20...10485759.375 ms"
            ),
            (
                #""defaults": { "intervalSpread": { "fromMs": 800, "toMs": 900 }, "variables": { "intervalMs": 5 } },"#,
                "which \"variables\" sets as well"
            ),
            (#""intervalSpread": { "fromMs": 800, "toMs": 900 },"#, "it belongs in \"defaults\""),
            ("", "the variable \"intervalMs\" is not set"),
        ])
    func refuses(more: String, problem: String) {
        let problems = MadeFleet.problems(Self.text(more))
        #expect(problems.contains { $0.contains(problem) }, "\(problems)")
    }

    @Test("a spread that nothing uses is refused")
    func refusesUnused() {
        let problems = MadeFleet.problems(Self.text(Self.spread, uses: "${ms}"))
        #expect(
            problems.contains { $0.contains("\"intervalSpread\" sets \"${intervalMs}\", but nothing uses") },
            "\(problems)")
    }
}
