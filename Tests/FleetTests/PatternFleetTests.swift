import BluetoothTypes
import Profiles
import Testing

@testable import Fleet

@Suite("Patterns of intervals in fleets")
struct PatternFleetTests {
    /// - Parameter others: Further advertisements of the template.
    private static func fleet(controller: String, slow: String = "1000", others: String = "") -> String {
        #"""
        { "version": 1, "name": "doors", "template": { "advertisements": [
            { "type": "eddystone-uid", "namespace": "8b0ca750095477cb3e77", "instance": "${instance}",
              "measuredPowerDbm": "typical",
              "pattern": [ { "intervalMs": 100, "forS": 2 }, { "intervalMs": "${slow}", "forS": 8 } ] }\#(others) ] },
          "identities": { "instance": { "from": "counter" } },
          "defaults": { "controller": "\#(controller)", "variables": { "slow": \#(slow) } },
          "beacons": [ { "name": "a" }, { "name": "b", "variables": { "slow": 2000 } } ] }
        """#
    }

    @Test("are filled from variables and written to the manifest")
    func generates() throws {
        let made = try #require(MadeFleet.decode(Self.fleet(controller: "raspberry-pi")).fleet)
        let (allocation, faults) = FleetAllocation.make(made, lock: nil, now: MadeFleet.now)
        #expect(faults == [])
        let all = allocation.all()
        let profile = try #require(BeaconProfile.decode(Array((all.profiles["b"] ?? "").utf8)).profile)
        #expect(profile.advertisements[0].pattern?.description == "100 ms for 2 s, 2000 ms for 8 s")
        let (manifest, problems) = FleetManifest.decode(Array(all.manifest.utf8))
        #expect(problems == [])
        let own = try #require(manifest?.beacons.last?.advertisements.first)
        #expect(own.pattern == profile.advertisements[0].pattern)
        #expect(own.intervalMicroseconds == own.pattern?.meanInterval.microseconds)
        #expect(own.traffic?.pattern == own.pattern)
        #expect(all.manifest.contains(#""pattern":[{"intervalMs":100,"forS":2},{"intervalMs":2000,"forS":8}]"#))
    }

    @Test("are refused if the controller cannot send them")
    func refuses() {
        #expect(MadeFleet.problems(Self.fleet(controller: "raspberry-pi")) == [])
        let more = #", { "type": "eddystone-tlm", "intervalMs": 5000 }"#
        #expect(
            MadeFleet.problems(Self.fleet(controller: "raspberry-pi", others: more)).contains {
                $0.contains("has one advertising set, and a pattern needs a set of its own")
            })
        #expect(
            !MadeFleet.problems(Self.fleet(controller: "extended", others: more)).contains {
                $0.contains("has one advertising set")
            })
        #expect(
            MadeFleet.problems(
                Self.fleet(controller: "bluetooth-5", slow: "10241").replacing("\"forS\": 8", with: "\"forS\": 30")
            )
            .contains { $0.contains("10241.25 ms is out of range for") })
    }
}
