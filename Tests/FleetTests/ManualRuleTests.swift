import Configuration
import Testing

@testable import Fleet

/// The rules in the manual page pharos-fleet(5) that no other suite tests.
@Suite("The rules of a fleet file")
struct ManualRuleTests {
    private static let template = """
        "version": 1, "name": "f", "template": { "advertisements": [ { "type": "ibeacon",
          "uuid": "fb0b57a2-8228-44cd-913a-94a122ba1206", "major": "${major}", "minor": "${minor}",
          "intervalMs": "${interval}", "measuredPowerDbm": -59 }, { "type": "eddystone-url", "intervalMs": 500,
          "url": "https://e.org/${page}", "measuredPowerDbm": -18 } ] }
        """

    private struct Made {
        var fleet: Fleet
        var allocation: FleetAllocation
        var profiles: [String: String]

        /// Major and minor of a beacon.
        func numbers(_ name: String) -> String {
            guard let index = fleet.beaconIndices[name] else { return "" }
            let identity = allocation.identity(of: index)
            return "\(identity.major ?? -1) \(identity.minor ?? -1)"
        }

        func sends(_ name: String, _ text: String) -> Bool { profiles[name]?.contains(text) == true }
    }

    private static func make(
        _ rest: String, _ tables: [String: String] = [:], lock: FleetLock? = nil
    ) throws -> Made {
        let (fleet, problems) = MadeFleet.decode("{ \(template), \(rest) }", tables: tables)
        #expect(problems == [])
        let made = try #require(fleet)
        let (allocation, faults) = FleetAllocation.make(made, lock: lock, now: MadeFleet.now)
        #expect(faults == [])
        return Made(
            fleet: made, allocation: allocation, profiles: allocation.all().profiles)
    }

    private static let rules = #""identities": { "major": { "per": "site" }, "minor": { "within": "site" } }"#
    private static let defaults = #""defaults": { "variables": { "interval": 500, "page": "p" } }"#

    @Test("beacons are in file order, direct members before subgroups, and numbers follow the groups")
    func ordersBeacons() throws {
        let made = try Self.make(
            """
            \(Self.rules), \(Self.defaults), "beacons": { "csv": "t.csv" }, "groups": [
              { "name": "n", "groups": [ { "name": "below", "beacons": [ { "name": "n2" } ] } ],
                "beacons": [ { "name": "n1" } ] },
              { "name": "s", "beacons": [ { "name": "s1" } ] } ]
            """, ["t.csv": "name,site\nt1,s\nt2,n\n"])
        let names = made.fleet.beacons.map(\.name)
        #expect(names == ["t1", "t2", "n1", "n2", "s1"])
        let numbers = ["t2", "n1", "n2", "t1", "s1"].map(made.numbers)
        #expect(numbers == ["1 1", "1 2", "1 3", "2 1", "2 2"])
        let later = try Self.make(
            "\(Self.rules), \(Self.defaults), \"beacons\": { \"csv\": \"t.csv\" }",
            ["t.csv": "name,site\na,z\nb,y\nc,z\n"])
        #expect(["a", "b", "c"].map(later.numbers) == ["1 1", "2 1", "1 2"])
    }

    @Test("the next number is above the highest ever assigned, until none is left above it")
    func countsUpwards() throws {
        func names(_ names: [String]) -> String {
            let beacons = names.map { "{ \"name\": \"\($0)\" }" }.joined(separator: ", ")
            return """
                "identities": { "major": { "per": "fleet" }, "minor": { "within": "fleet", "first": 65534 } },
                \(Self.defaults), "beacons": [ \(beacons) ]
                """
        }
        let first = try Self.make(names(["a", "b"]))
        #expect(["a", "b"].map(first.numbers) == ["1 65534", "1 65535"])
        let second = try Self.make(names(["a", "c"]), lock: first.allocation.lock)
        #expect(["a", "c"].map(second.numbers) == ["1 65534", "1 0"])
    }

    @Test("a beacon moved to another group gets a new identity, and its old one when it returns")
    func movesBeacons() throws {
        func place(_ site: String) -> String {
            """
            \(Self.rules), \(Self.defaults), "groups": [ { "name": "n", "beacons": [ { "name": "x" } ] },
            { "name": "s", "beacons": [ { "name": "y" } ] } ], "beacons": [ { "name": "a", "group": "\(site)" } ]
            """
        }
        let first = try Self.make(place("n"))
        let second = try Self.make(place("s"), lock: first.allocation.lock)
        #expect(second.allocation.changes.moved == ["a"])
        #expect([first.numbers("a"), second.numbers("a")] == ["1 1", "2 2"])
        let third = try Self.make(place("n"), lock: second.allocation.lock)
        #expect(third.allocation.identities == first.allocation.identities)
    }

    @Test("variables within variables use the beacon's own values")
    func bindsLate() throws {
        let made = try Self.make(
            """
            \(Self.rules), "defaults": { "variables": { "interval": 500, "page": "${word}1", "word": "d" } },
            "groups": [ { "name": "n", "variables": { "word": "n" }, "beacons": [ { "name": "a" },
              { "name": "b", "variables": { "word": "b" } } ] } ], "beacons": [ { "name": "c" } ]
            """)
        #expect(made.sends("a", "\"https://e.org/n1\""))
        #expect(made.sends("b", "\"https://e.org/b1\""))
        #expect(made.sends("c", "\"https://e.org/d1\""))
    }

    @Test("an empty cell uses the group's value, and cells are numbers only where numbers are allowed")
    func readsCells() throws {
        let made = try Self.make(
            """
            \(Self.rules), "defaults": { "variables": { "page": "p" } },
            "groups": [ { "name": "n", "variables": { "interval": 1000 } } ], "beacons": { "csv": "t.csv" }
            """, ["t.csv": "name,site,interval,page,nobody\na,n,,007,x\nb,n, 200 ,\"\",\n"])
        #expect(made.sends("a", "\"intervalMs\": 1000") && made.sends("a", "\"https://e.org/007\""))
        #expect(made.sends("b", "\"intervalMs\": 200,") && made.sends("b", "\"https://e.org/p\""))
    }

    @Test("an empty cell without a default and an unused variable are refused")
    func refusesUnsetAndUnusedVariables() {
        let open = MadeFleet.problems(
            "{ \(Self.template), \(Self.rules), \"beacons\": { \"csv\": \"t.csv\" } }",
            tables: ["t.csv": "name,interval,page\na,,p\n"])
        #expect(open.contains { $0.hasPrefix("t.csv:2:3: interval: the variable \"interval\" is not set") }, "\(open)")
        let unused = MadeFleet.problems(
            "{ \(Self.template), \(Self.rules), \"defaults\": { \"variables\": { \"interval\": 1, \"page\": \"p\","
                + " \"intervall\": 2 } }, \"beacons\": [ { \"name\": \"a\" } ] }")
        #expect(unused.contains { $0.contains("nothing uses the variable \"intervall\"; did you mean \"interval\"?") })
    }
}
