import BeaconFrames
import BluetoothTypes
import Configuration
import Profiles
import Testing

@testable import Fleet

@Suite("Generation")
struct GenerationTests {
    private static func generate(_ text: String, tables: [String: String] = [:]) throws
        -> (profiles: [String: String], manifest: String, table: String)
    {
        let (fleet, problems) = MadeFleet.decode(text, tables: tables)
        #expect(problems == [])
        let made = try #require(fleet)
        let (allocation, faults) = FleetAllocation.make(made, lock: nil, now: MadeFleet.now)
        #expect(faults == [])
        #expect(allocation.check().problems.filter(\.isError) == [])
        return allocation.all()
    }

    private static let everything = #"""
        { "version": 1, "name": "all", "template": {
            "adapter": "${adapter}", "radioPowerDbm": "${power}", "calibration": "${calibration}",
            "channels": ["${channel}", 38], "advertisements": [
              { "type": "ibeacon", "uuid": "${uuid}", "major": "${major}", "minor": "${minor}", "intervalMs": "${ms}" },
              { "type": "altbeacon", "companyId": "${company}", "id": "${id}", "intervalMs": 152.5,
                "measuredPowerDbm": "typical" },
              { "type": "eddystone-uid", "namespace": "${namespace}", "instance": "${instance}", "intervalMs": 500 },
              { "type": "eddystone-url", "url": "${base}${page}", "intervalMs": 500 },
              { "type": "eddystone-tlm", "intervalMs": 5000, "encrypted": true,
                "identityKeyFile": "keys/${name}.key", "rotationExponent": 10 },
              { "type": "raw", "intervalMs": 1000,
                "structures": [ { "type": "complete-local-name", "name": "${label}" } ] } ] },
          "defaults": { "variables": { "power": 0, "ms": 350, "channel": 37, "company": "0x0118",
            "base": "https://example.org/", "calibration": { "-8": -67, "0": -59 }, "adapter": "hci0",
            "uuid": "FB0B57A2-8228-44CD-913A-94A122BA1206", "label": "${name} in ${room}" } },
          "identities": { "major": { "per": "site" }, "minor": { "within": "site" },
            "namespace": { "domain": "example.org" }, "instance": { "from": "counter" },
            "eidEpoch": "2026-03-01T12:00:00Z" },
          "groups": [ { "name": "n", "controller": "extended", "groups": [ { "name": "g", "groups": [ { "name": "r",
            "variables": { "power": -8 }, "beacons": { "csv": "t.csv" } } ] } ] } ],
          "beacons": [ { "name": "single", "group": "n/g/r", "host": "pi-9", "serial": "00ff",
            "position": { "latitude": 52.5, "longitude": 13.25 },
            "variables": { "id": "8b0ca750095477cb3e77001122334455000000ff", "page": "a,\"b", "ms": 1000,
              "adapter": "unix:/tmp/=x,y" } } ] }
        """#
    private static let table = """
        name,id,page,host,serial,x,y,z,ms,uuid,Notes
        one,8B0CA750095477CB3E770011223344550000AAAA,x,10.0.0.1,s-1,1.50,-2,3,,,free text
        two,8b0ca750095477cb3e770011223344550000bbbb,y,,,,,,200.5,00112233445566778899aabbccddeeff,

        """

    private static func noted(_ members: String) -> String {
        #"""
        { "version": 1, "name": "f", "template": { "advertisements": [
            { "type": "eddystone-url", "url": "https://e.org/${name}", "intervalMs": 500,
              "measuredPowerDbm": "typical" } ] }, \#(members),
          "defaults": { "variables": { "page": 7 } },
          "groups": [ { "name": "s", "groups": [ { "name": "f", "groups": [ { "name": "r",
            "beacons": [ { "name": "b" } ] } ] } ] } ],
          "beacons": [ { "name": "a", "title": "Großer Saal", "variables": { "owner": "Peter" } } ] }
        """#
    }

    @Test("tags and attachments are defined once and filled for each beacon")
    func notes() throws {
        let manifest = try Self.generate(
            Self.noted(
                #"""
                "tags": ["desk", "${room}", "desk"], "attachments": { "title": "${title}",
                  "url": "https://example.org/${page}", "page": "${page}", "owner": "${owner}" }
                """#
            )
        ).manifest
        #expect(
            manifest.contains(
                #""tags":["desk"],"attachments":{"title":"Großer Saal","url":"https://example.org/7","page":"7","#
                    + #""owner":"Peter"}"#), "\(manifest)")
        #expect(
            manifest.contains(
                #""tags":["desk","r"],"attachments":{"title":"b","url":"https://example.org/7","page":"7"}"#))
        #expect(FleetManifest.decode(Array(manifest.utf8)).manifest?.json == manifest)
    }

    @Test(
        "a wrong tag or attachment is reported at its place",
        arguments: [
            (#""tags": ["${rom}"], "attachments": {"o": "${owner} ${page}"}"#, "did you mean \"${room}\"?"),
            (#""tags": ["${room"], "attachments": {"o": "${owner} ${page}"}"#, "that no \"}\" ends"),
            (#""attachments": {"o": "${owner} ${page}", "x": 1}"#, "attachments.x: a string is expected"),
            (#""attachments": ["${owner} ${page}"]"#, "attachments: an object with a text under each key is expected"),
            (
                #""tags": ["\#(String(repeating: "x", count: 101))"], "attachments": {"o": "${owner} ${page}"}"#,
                "101 characters are more than the maximum of 100"
            ),
        ])
    func reportsWrongTagsAndAttachments(_ members: String, _ sentence: String) {
        let problems = MadeFleet.problems(Self.noted(members))
        #expect(problems.contains { $0.contains(sentence) }, "\(problems)")
    }

    @Test("a misspelled key is reported at the key, not at the variable that its value comes from")
    func placesUnknownKeys() throws {
        let text = """
            { "version": 1, "name": "f", "template": { "advertisements": [
              { "type": "eddystone-url", "url": "https://example.org", "intervalMs": 100, "measuredPowerDbm": "typical",
                "radioPowrDbm": "${power}" } ] },
              "defaults": { "variables": { "power": 4 } },
              "beacons": [ { "name": "a" } ] }
            """
        let fleet = try #require(MadeFleet.decode(text).fleet)
        let problems = FleetAllocation.make(fleet, lock: nil, now: MadeFleet.now).allocation.check().problems
        let problem = try #require(problems.first { $0.message.contains("radioPowrDbm") })
        #expect(problem.message.contains("did you mean \"radioPowerDbm\"?"), "\(problem)")
        #expect(problem.line == 3 && problem.column == 5, "\(problem)")
        #expect("\(problem.path)".contains("template"), "\(problem.path)")
    }

    @Test("every generated profile is valid and has the requested values")
    func makesProfiles() throws {
        let made = try Self.generate(Self.everything, tables: ["t.csv": Self.table])
        #expect(made.profiles.keys.sorted() == ["one", "single", "two"])
        for (name, text) in made.profiles {
            let (profile, problems) = BeaconProfile.decode(Array(text.utf8))
            #expect(profile?.name == name, "\(problems)")
            #expect(profile?.eidEpoch?.description == "2026-03-01T12:00:00Z")
            #expect(text.hasPrefix("{\n  \"version\": 1,\n  \"name\": \"\(name)\",\n") && text.hasSuffix("}\n"))
        }
        let two = try #require(BeaconProfile.decode(Array((made.profiles["two"] ?? "").utf8)).profile)
        #expect(two.radioPower?.dBm == -8)
        #expect(two.channels.numbers == [37, 38])
        #expect(two.advertisements[0].requestedMicroseconds == 200_500)
        #expect(two.advertisements[4].rotatingKey?.identityKeyFile == "keys/two.key")
        guard case .iBeacon(let uuid, let major, let minor, _) = two.advertisements[0].content else { return }
        #expect(uuid.uuidText == "00112233-4455-6677-8899-aabbccddeeff")
        #expect((major, minor) == (1, 3))
    }

    @Test("the manifest has the payload lengths, given by type or by number")
    func manifestHasTheLengthsOfPayloads() throws {
        let (decoded, _) = MadeFleet.decode(Self.everything, tables: ["t.csv": Self.table])
        let fleet = try #require(decoded)
        let (allocation, _) = FleetAllocation.make(fleet, lock: nil, now: MadeFleet.now)
        var traffic = FleetTraffic()
        for beacon in allocation.manifest.beacons {
            let isCounted = traffic.add(beacon)
            #expect(isCounted)
        }
        let wanted = allocation.check().traffic
        #expect(traffic.sites.map(\.name) == ["n"] && wanted.sites.map(\.name) == ["n"])
        let lengths = wanted.sites[0].machines.map { $0.advertisements.map(\.payloadOctets) }
        #expect(traffic.sites[0].machines.map { $0.advertisements.map(\.payloadOctets) } == lengths)
        #expect(traffic.sites[0].machines.map(\.count) == wanted.sites[0].machines.map(\.count))
        // iBeacon, AltBeacon, UID, and encrypted telemetry have fixed lengths; URL and raw structures have variable
        // ones.
        for own in lengths { #expect([own[0], own[1], own[2], own[4]] == [30, 31, 31, 29]) }
    }

    @Test("the JSON and CSV manifests decode to the same beacons and are written identically again")
    func makesManifests() throws {
        let made = try Self.generate(Self.everything, tables: ["t.csv": Self.table])
        let (manifest, problems) = FleetManifest.decode(Array(made.manifest.utf8))
        let read = try #require(manifest, "\(problems)")
        #expect(read.json == made.manifest)
        #expect(read.csv == made.table)
        let (table, faults) = FleetManifest.decodeCSV(Array(made.table.utf8), fleet: "all")
        #expect(table == manifest, "\(faults)")
        let one = try #require(read.beacons.first { $0.name == "one" })
        #expect(one.group == ["n", "g", "r"])
        #expect(one.json.line.contains(#""position":{"x":1.50,"y":-2,"z":3}"#))
        #expect(one.advertisements[0].measuredPower == -67)
        #expect(one.advertisements[2].measuredPower == -26)
        #expect(one.advertisements[4].identityKeyFile == "keys/one.key")
        #expect(one.controller == "extended")
    }

    @Test(
        "a problem of a table value is reported at its cell",
        arguments: [
            (20, "70000", "70000 is out of range 0...65535"), (8, "D0:11", "\"D0:11\" is not a device address"),
            (17, "ibeacn", "\"ibeacn\" is not known; did you mean \"ibeacon\"?"),
            (11, "up", "a number is expected, not the string \"up\""),
            (1, "a b", "this is not a path of groups, such as site/floor/room"),
            (15, "now", "\"now\" is not a time (RFC 3339)"),
            (12, "52.5", "a position has either metres or degrees, not both"),
        ])
    func reportsFaultsOfAManifestTableAtTheirCells(_ column: Int, _ bad: String, _ message: String) throws {
        let uuid = try #require(FixedOctets<16>([UInt8](repeating: 0xAB, count: 16)))
        let beacon = FleetManifest.Beacon(
            name: "a", group: ["g"], controller: "ä",
            position: .plan(x: JSONNumber(1), y: JSONNumber(2), z: JSONNumber(3)), profileHash: "0123456789abcdef",
            advertisements: [
                .init(
                    type: "ibeacon", identity: .iBeacon(uuid: uuid, major: 1, minor: 2), intervalMicroseconds: 500_000)
            ])
        let manifest = FleetManifest(fleet: "f", beacons: [beacon])
        #expect(FleetManifest.decodeCSV(Array(manifest.csv.utf8), fleet: "f").manifest == manifest)
        let lines = manifest.csv.split(separator: "\r\n").map(String.init)
        var cells = lines[1].split(separator: ",", omittingEmptySubsequences: false).map(String.init)
        cells[column] = bad
        let text = lines[0] + "\r\n" + cells.joined(separator: ",") + "\r\n"
        let (nothing, problems) = FleetManifest.decodeCSV(Array(text.utf8), fleet: "f")
        #expect(nothing == nil)
        let problem = try #require(problems.first { $0.message == message }, "\(problems)")
        // If metres and degrees are mixed, the error is at the first column in metres.
        let place = column == 12 ? 9 : column
        let start = cells[..<place].reduce(1) { $0 + $1.unicodeScalars.count + 1 }
        #expect(problem.position == JSONPosition(line: 2, column: start))
        #expect(problem.path == JSONPath([.key(FleetManifest.columns[place])]))
    }

    @Test("no cell of a written table is a spreadsheet formula")
    func escapesFormulas() throws {
        #expect(FleetManifest.cell("=1+1") == "'=1+1")
        #expect(FleetManifest.cell("-59") == "-59")
        #expect(FleetManifest.cell("-a") == "'-a")
        #expect(FleetManifest.cell("+4") == "'+4")
        #expect(FleetManifest.cell("@x,y") == "\"'@x,y\"")
        #expect(FleetManifest.cell("\tx") == "\"'\tx\"")
        #expect(FleetManifest.cell("a\"b") == "\"a\"\"b\"")
    }

    @Test("the same fleet gives the same bytes")
    func isDeterministic() throws {
        let first = try Self.generate(Self.everything, tables: ["t.csv": Self.table])
        let second = try Self.generate(Self.everything, tables: ["t.csv": Self.table])
        #expect(first.profiles == second.profiles)
        #expect(first.manifest == second.manifest)
        #expect(first.table == second.table)
    }

    @Test(
        "cells become numbers and booleans only where the file format expects them",
        arguments: [
            ("major", "7", #""major": 7"#), ("major", "x", #""major": "x""#), ("instance", "12", #""instance": "12""#),
            ("encrypted", "true", #""encrypted": true"#), ("encrypted", "yes", #""encrypted": "yes""#),
        ])
    func typesCells(key: String, cell: String, text: String) throws {
        let fleet = """
            { "version": 1, "name": "f", "template": { "advertisements": [
              { "type": "raw", "\(key)": "${v}", "intervalMs": 500 } ] }, "beacons": { "csv": "t.csv" } }
            """
        let made = try #require(MadeFleet.decode(fleet, tables: ["t.csv": "name,v\na,\(cell)\n"]).fleet)
        let generator = FleetAllocation.make(made, lock: nil, now: MadeFleet.now).allocation
        #expect(String(decoding: generator.beacon(0).profile, as: UTF8.self).contains(text))
    }
}
