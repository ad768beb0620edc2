import Configuration
import Testing

@testable import Fleet

@Suite("Checks")
struct CheckTests {
    private static func fleet(
        advertisement: String, more: String = "", beacons: String = #"[ { "name": "a" }, { "name": "b" } ]"#
    ) -> String {
        """
        { "version": 1, "name": "f", \(more) "template": { "advertisements": [ \(advertisement) ] },
          "beacons": \(beacons) }
        """
    }

    private static let uid = #"""
        { "type": "eddystone-uid", "namespace": "8b0ca750095477cb3e77", "instance": "${instance}", "intervalMs": 500,
          "measuredPowerDbm": -18 }
        """#

    @Test(
        "equal identities are reported even if they are written differently",
        arguments: [
            #"[ { "name": "a", "variables": { "instance": "0000000000ff" } }, { "name": "b", "variables": { "instance": "0000000000FF" } } ]"#,
            #"[ { "name": "a", "variables": { "instance": "00:00:00:00:00:ff" } }, { "name": "b", "variables": { "instance": "0000000000ff" } } ]"#,
        ])
    func findsEqualIdentities(beacons: String) {
        let problems = MadeFleet.problems(Self.fleet(advertisement: Self.uid, beacons: beacons))
        #expect(
            problems.contains { $0.contains("\"a\" (") && $0.contains("0000000000ff too") }, "\(problems)")
    }

    @Test(
        "two beacons on one machine get a warning with both rows, unless their adapters differ",
        arguments: [
            ("name,host,serial,port\na,pi-1,s1,hci0\nb,pi-2,s2,hci0\nc,pi-1,s3,hci0\n", ["4:3", "the host pi-1"]),
            (
                "name,host,serial,port\na,pi-1,s1,hci0\nb,pi-2,s1,hci0\n",
                ["3:8", "the machine with the serial number s1"]
            ),
            ("name,host,serial,port\na,pi-1,s1,hci0\nb,pi-1,s1,hci0\n", ["3:3", "the host pi-1"]),
            ("name,host,serial,port\na,pi-1,s1,hci0\nb,pi-1,s1,hci1\n", []),
        ])
    func findsSharedMachines(table: String, expected: [String]) {
        let text = Self.fleet(
            advertisement: Self.uid, more: #""identities": { "instance": { "from": "counter" } },"#,
            beacons: #"{ "csv": "t.csv" }"#
        ).replacing("\"template\": {", with: "\"template\": { \"adapter\": \"${port}\",")
        let problems = MadeFleet.problems(text, tables: ["t.csv": table])
        #expect(problems.count == (expected.isEmpty ? 0 : 1), "\(problems)")
        for part in expected { #expect(problems.first?.contains(part) == true, "\(problems)") }
        if !expected.isEmpty { #expect(problems.first?.contains("and \"a\" (t.csv:2:1)") == true, "\(problems)") }
    }

    @Test("one address for two beacons is reported")
    func findsSharedAddresses() {
        let text = Self.fleet(
            advertisement: Self.uid,
            beacons:
                #"[ { "name": "a", "variables": { "instance": "000000000001" } }, { "name": "b", "variables": { "instance": "000000000002" } } ]"#
        )
        .replacing("\"template\": {", with: "\"template\": { \"address\": \"C1:02:03:04:05:06\",")
        #expect(MadeFleet.problems(text).contains { $0.contains("C1:02:03:04:05:06 is also the address of \"a\"") })
    }

    @Test("an advertisement's address may be shared within a beacon, but not between beacons")
    func findsSharedAddressesOfAdvertisements() {
        func problems(_ beacons: String) -> [String] {
            let own = Self.uid.replacing("\"type\"", with: "\"address\": \"${own}\", \"type\"")
            let url = #", { "type": "eddystone-url", "url": "https://e.org", "intervalMs": 500, "address": "${own}", "#
            return MadeFleet.problems(
                Self.fleet(
                    advertisement: own + url + #""measuredPowerDbm": -18 }"#,
                    more: #""identities": { "instance": { "from": "counter" } },"#, beacons: beacons))
        }
        let first = #"{ "name": "a", "variables": { "own": "C1:02:03:04:05:06" } }"#
        let found = problems(#"[ \#(first), { "name": "b", "variables": { "own": "C1:02:03:04:05:06" } } ]"#)
        #expect(found.contains { $0.contains("C1:02:03:04:05:06 is also the address of \"a\"") }, "\(found)")
        #expect(problems(#"[ \#(first), { "name": "b", "variables": { "own": "C1:02:03:04:05:07" } } ]"#) == [])
    }

    @Test(
        "variables that are not set or refer to each other are reported",
        arguments: [
            (
                "",
                "template.advertisements[0].instance: the variable \"instance\" is not set; \"identities\" has no rule for it"
            ),
            (
                #""defaults": { "variables": { "instance": "${a}", "a": "${b}", "b": "${instance}" } },"#,
                "the variables depend on each other in a loop: instance → a → b → instance"
            ),
            (#""defaults": { "variables": { "instance": "${instance}" } },"#, "instance → instance"),
            (
                #""defaults": { "variables": { "instance": "${instanze}" } },"#,
                "the variable \"instanze\" is not set; did you mean \"${instance}\"?"
            ),
            (
                #""defaults": { "variables": { "instanz": "1" } },"#,
                "nothing uses the variable \"instanz\"; did you mean \"instance\"?"
            ),
            (#""defaults": { "variables": { "instance": "${room}" } },"#, "this beacon is in no room"),
            (#""defaults": { "variables": { "instance": "x${serial}" } },"#, "this beacon has no \"serial\""),
            (#""defaults": { "variables": { "instance": "x${n}", "n": [1] } },"#, "cannot be part of a text"),
            (#""defaults": { "variables": { "instance": "${1}" } },"#, "\"${1}\" is not a variable"),
            (#""defaults": { "variables": { "instance": "${a" } },"#, "that no \"}\" ends"),
            (#""defaults": { "variables": { "name": "x" } },"#, "takes its value from the beacon itself"),
            (
                #""identities": { "instance": { "from": "counter" } }, "defaults": { "variables": { "instance": "x" } },"#,
                "is allocated by \"identities\" and set here as well"
            ),
            (#""identities": { "instance": { "from": "serial" } },"#, "this beacon has none: add its \"serial\""),
        ])
    func findsVariableProblems(more: String, problem: String) {
        let problems = MadeFleet.problems(Self.fleet(advertisement: Self.uid, more: more))
        #expect(problems.contains { $0.contains(problem) }, "\(problems)")
    }

    private static func beacon(_ ms: String) -> String {
        #"{ "type": "ibeacon", "uuid": "fb0b57a2-8228-44cd-913a-94a122ba1206", "major": 1, "minor": "${minor}", "intervalMs": \#(ms), "measuredPowerDbm": -59 }"#
    }
    private static let counted = #""identities": { "minor": { "within": "fleet" } },"#

    @Test(
        "intervals that the controller does not accept are refused",
        arguments: [
            ("raspberry-pi", "99", true), ("raspberry-pi", "100", false), ("bluetooth-5", "20", false),
            ("bluetooth-5", "10241", true), ("extended", "20000", false), ("bluetooth-4", "50", true),
        ])
    func refusesIntervalsThatTheControllerDoesNotAccept(kind: String, ms: String, isRefused: Bool) {
        let more = #"\#(Self.counted) "defaults": { "controller": "\#(kind)" },"#
        let problems = MadeFleet.problems(Self.fleet(advertisement: Self.beacon(ms), more: more))
        #expect(problems.contains { $0.contains("is out of range for") } == isRefused, "\(problems)")
        #expect(!isRefused || problems.contains { $0.contains("template.advertisements[0].intervalMs") }, "\(problems)")
    }

    @Test("an EID with another frame needs a controller with advertising sets")
    func refusesAnEIDWithOtherFramesInOneSet() {
        let eid = #"""
            { "type": "eddystone-eid", "identityKeyFile": "${name}.key", "rotationExponent": 4, "intervalMs": 500,
              "measuredPowerDbm": -18 }, \#(Self.beacon("500"))
            """#
        let pi = MadeFleet.problems(
            Self.fleet(advertisement: eid, more: #"\#(Self.counted) "defaults": { "controller": "raspberry-pi" },"#))
        #expect(pi.contains { $0.contains("has one address at a time") }, "\(pi)")
        let extended = MadeFleet.problems(
            Self.fleet(advertisement: eid, more: #"\#(Self.counted) "defaults": { "controller": "extended" },"#))
        #expect(extended == [])
    }

    @Test("more than fifty beacons with one UUID get a warning", arguments: [(50, false), (51, true)])
    func warnsOfTooManyPairsForHomeAssistant(count: Int, isTooMuch: Bool) {
        let beacons = "[" + (0..<count).map { #"{ "name": "b\#($0)" }"# }.joined(separator: ",") + "]"
        func problems(_ listeners: String) -> [String] {
            MadeFleet.problems(
                Self.fleet(
                    advertisement: Self.beacon("5000"), more: #"\#(Self.counted) "listeners": ["\#(listeners)"],"#,
                    beacons: beacons))
        }
        let found = problems("home-assistant")
        #expect(
            found.contains { $0.contains("warning: listeners: \(count) pairs of major and minor share the UUID") }
                == isTooMuch)
        #expect(problems("android") == [])
    }

    @Test(
        "rows that look changed by a spreadsheet and groups that differ only in case get warnings",
        arguments: [
            ("0001,n\n2,n\n0003,n\n", "t.csv:3:1: warning: name: \"2\" has fewer digits than \"0001\""),
            ("0001,n\n2,n\n3,n\n", "2 names, such as \"2\", have fewer digits than \"0001\""),
            ("1,n\n2,n\n10,n\n", nil), ("001,n\n002,n\n", nil),
            (
                "a,n\nb,n\nSumme,\n",
                "t.csv:4:1: warning: name: \"Summe\" is a beacon of the fleet, and its row looks like a total"
            ),
            ("a,n\nb,n\nc,\n", "\"c\" is a beacon of the fleet"), ("a,n\nb,\nc,\n", nil),
            (
                "a,Haupt\nb,haupt\n",
                "t.csv:3:1: warning: name: the groups \"Haupt\" and \"haupt\" differ only in capital"
            ),
        ] as [(String, String?)])
    func warnsOfSuspiciousTableRows(rows: String, warning: String?) {
        let text = Self.fleet(
            advertisement: Self.beacon("5000"), more: Self.counted, beacons: #"{ "csv": "t.csv" }"#)
        let problems = MadeFleet.problems(text, tables: ["t.csv": "name,site\n" + rows])
        #expect(problems.count == (warning == nil ? 0 : 1), "\(problems)")
        if let warning { #expect(problems.first?.contains(warning) == true, "\(problems)") }
    }

    @Test("missing keys and keys that others can read are reported")
    func findsMissingAndExposedKeys() {
        let eid = #"""
            { "type": "eddystone-eid", "identityKeyFile": "/etc/pharos/keys/${name}.key", "rotationExponent": 4,
              "intervalMs": 500, "measuredPowerDbm": -18 }
            """#
        let text = Self.fleet(advertisement: eid, more: #""keys": "keys","#)
        func problems(_ files: Set<String>?, _ exposed: Set<String> = []) -> [String] {
            MadeFleet.problems(text, keys: FleetKeyFolder(path: "keys", files: files, exposed: exposed))
        }
        #expect(problems(["a.key", "b.key"]) == [])
        #expect(problems(["a.key"]).count == 1)
        #expect(problems(["a.key"]).first?.contains("there is no key \"b.key\" in keys") == true)
        #expect(
            problems(["a.key", "b.key"], ["a.key"]).first?.contains("other users may read the key \"a.key\"") == true)
        #expect(problems(nil).first?.contains("there is no directory \"keys\"") == true)
    }

    @Test(
        "contradictory groups are reported",
        arguments: [
            (#"[ { "name": "n" }, { "name": "n" } ]"#, "the site \"n\" appears twice"),
            (
                #"[ { "name": "n", "groups": [ { "name": "f", "groups": [ { "name": "r", "groups": [ { "name": "x" } ] } ] } ] } ]"#,
                "a room contains no groups"
            ),
            (#"[ { "name": "a/b" } ]"#, "would lead into another directory"),
            (#"[ { "nam": "a" } ]"#, "did you mean \"name\"?"),
        ])
    func findsContradictoryGroups(groups: String, problem: String) {
        let text = Self.fleet(advertisement: Self.beacon("500"), more: #"\#(Self.counted) "groups": \#(groups),"#)
        let problems = MadeFleet.problems(text)
        #expect(problems.contains { $0.contains(problem) }, "\(problems)")
    }

    @Test("the innermost value of a variable applies")
    func overrides() throws {
        let text = #"""
            { "version": 1, "name": "f", "template": { "advertisements": [ { "type": "eddystone-url", "intervalMs": 500,
                "url": "https://e.org/${v}", "measuredPowerDbm": -18 } ] },
              "defaults": { "variables": { "v": "d" } }, "beacons": [ { "name": "none" } ],
              "groups": [ { "name": "s", "variables": { "v": "s" }, "beacons": [ { "name": "site" } ],
                "groups": [ { "name": "f", "beacons": [ { "name": "inherits" } ] },
                  { "name": "g", "variables": { "v": "${site}${w}", "w": "$${x}" }, "beacons": [ { "name": "floor" },
                    { "name": "own", "variables": { "v": "o" } } ] } ] } ] }
            """#
        let (fleet, problems) = MadeFleet.decode(text)
        #expect(problems == [])
        let made = try #require(fleet)
        let (allocation, _) = FleetAllocation.make(made, lock: nil, now: MadeFleet.now)
        let profiles = allocation.all().profiles
        for (name, url) in [("none", "d"), ("site", "s"), ("inherits", "s"), ("floor", "s${x}"), ("own", "o")] {
            #expect(profiles[name]?.contains("\"https://e.org/\(url)\"") == true, "\(name)")
        }
    }

    private static func chain(_ count: Int) -> String {
        let variables = (0..<count).map { "\"v\($0)\": \"${v\($0 + 1)}\"" } + ["\"v\(count)\": \"x\""]
        return """
            { "version": 1, "name": "f", "template": { "advertisements": [ { "type": "eddystone-url",
              "url": "https://e.org/${v0}", "intervalMs": 500, "measuredPowerDbm": -18 } ] },
              "defaults": { "variables": { \(variables.joined(separator: ", ")) } }, "beacons": [ { "name": "a" } ] }
            """
    }

    @Test("long chains of variables are refused immediately", arguments: [65, 5000])
    func boundsChains(count: Int) {
        let start = ContinuousClock.now
        let problems = MadeFleet.problems(Self.chain(count))
        #expect(ContinuousClock.now - start < .seconds(2))
        #expect(
            problems.contains { $0.contains("a chain of variables is longer than 64: v0 → v1 → v2 → …") })
        #expect(MadeFleet.problems(Self.chain(60)).allSatisfy { $0.contains("warning") })
    }

    @Test("variables that double each other are refused before they use up memory")
    func boundsGrowth() {
        let variables = (0..<60).map { "\"v\($0)\": \"${v\($0 + 1)}${v\($0 + 1)}\"" }
        let text = """
            { "version": 1, "name": "f", "template": { "advertisements": [ { "type": "eddystone-url",
              "url": "https://e.org/${v0}", "intervalMs": 500, "measuredPowerDbm": -18 } ] },
              "defaults": { "variables": { \(variables.joined(separator: ", ")),
              "v60": "\(String(repeating: "x", count: 1000))" } }, "beacons": [ { "name": "a" } ] }
            """
        let start = ContinuousClock.now
        let problems = MadeFleet.problems(text)
        #expect(ContinuousClock.now - start < .seconds(2))
        #expect(problems.contains { $0.contains("this value has more than 4096 bytes") }, "\(problems)")
    }

    @Test("after 1000 problems, one message says that there are more")
    func reportsThatMoreProblemsExist() {
        let rows = (0..<3000).map { "b\($0),\(100_000_000_000 + $0 / 2)" }
        let text = """
            { "version": 1, "name": "f", "template": { "advertisements": [ { "type": "eddystone-uid",
              "namespace": "8b0ca750095477cb3e77", "instance": "${id}", "intervalMs": 500,
              "measuredPower1mDbm": -59 } ] }, "beacons": { "csv": "t.csv" } }
            """
        let problems = MadeFleet.problems(text, tables: ["t.csv": (["name,id"] + rows).joined(separator: "\n")])
        #expect(problems.count == 1001)
        #expect(problems.contains { $0.contains("the search stopped after 1000 problems") })
        let bad = (0..<3000).map { "b\($0 % 1500),x" }
        let names = MadeFleet.problems(text, tables: ["t.csv": (["name,id"] + bad).joined(separator: "\n")])
        #expect(names.contains { $0.contains("500 more problems are not listed") })
    }

    @Test("two beacons with the same key are reported")
    func findsSharedKeys() {
        func text(_ file: String) -> String {
            """
            { "version": 1, "name": "f", "template": { "advertisements": [ { "type": "eddystone-eid",
              "identityKeyFile": "\(file)", "rotationExponent": 10, "intervalMs": 500, "measuredPowerDbm": -18 } ] },
              "beacons": [ { "name": "a" }, { "name": "b" } ] }
            """
        }
        #expect(MadeFleet.problems(text("/etc/pharos/keys/${name}.key")) == [])
        let problems = MadeFleet.problems(text("/etc/pharos/keys/all.key"))
        #expect(
            problems.contains { $0.contains("\"a\" and \"b\" would share the identity key all.key") }, "\(problems)")
    }

    @Test(
        "one address for several beacons is reported",
        arguments: [
            #""address": "C1:02:03:04:05:06", "advertisements": [ { "type": "eddystone-tlm", "intervalMs": 500 } ]"#
        ])
    func findsASharedAddressOfTelemetry(template: String) {
        let text = """
            { "version": 1, "name": "f", "template": { \(template) },
              "beacons": [ { "name": "a" }, { "name": "b" } ] }
            """
        let problems = MadeFleet.problems(text)
        #expect(problems.contains { $0.contains("C1:02:03:04:05:06 is also the address of \"a\"") }, "\(problems)")
    }

    @Test("a problem of a variable names the beacon or group and has the place of the variable")
    func namesTheBeacon() {
        let text = """
            { "version": 1, "name": "f", "template": { "advertisements": [ { "type": "eddystone-url",
              "url": "https://e.org/${slug}", "intervalMs": 500, "measuredPowerDbm": -18 } ] },
              "groups": [ { "name": "g", "variables": { "slug": "a-slug-that-is-too-long-to-send" },
                "beacons": [ { "name": "inherits" },
                  { "name": "own", "variables": { "slug": "another-one-that-is-too-long" } } ] } ] }
            """
        let problems = MadeFleet.problems(text)
        #expect(
            problems.contains {
                $0.contains("groups[0].variables.slug: ") && $0.hasSuffix("(the beacon \"inherits\")")
            }, "\(problems)")
        #expect(
            problems.contains {
                $0.contains("groups[0].beacons[1].variables.slug: ") && $0.hasSuffix("(the beacon \"own\")")
            }, "\(problems)")
    }

    @Test("a comma in a quoted column name does not separate columns")
    func takesTheRightSeparator() {
        let text = """
            { "version": 1, "name": "f", "template": { "advertisements": [ { "type": "eddystone-url",
              "url": "https://e.org/${page}", "intervalMs": 500, "measuredPowerDbm": -18 } ] },
              "beacons": { "csv": "t.csv", "columns": { "page": "page, short" } } }
            """
        #expect(MadeFleet.problems(text, tables: ["t.csv": "name;\"page, short\"\na;x\n"]) == [])
    }
}
