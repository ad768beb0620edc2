import BeaconService
import BluetoothTypes
import Configuration
import Fleet
import LinuxHost
import TestSupport
import Testing

@testable import FleetStore

@Suite("A fleet's reports as text and as JSON")
struct FleetTextTests {
    private static let now = RFC3339Time(secondsSince1970: 1_772_366_400)

    private static func text(_ beacons: String) -> String {
        """
        { "version": 1, "name": "f", "template": { "advertisements": [ { "type": "ibeacon",
          "uuid": "fb0b57a2-8228-44cd-913a-94a122ba1206", "major": 1, "minor": "${minor}",
          "intervalMs": 500, "measuredPowerDbm": -59 } ] },
          "identities": { "minor": { "within": "fleet" } }, "beacons": [ \(beacons) ] }
        """
    }

    @Test("the report of a generation counts the files and lists changed names")
    func reportsTheGenerationAsTextAndJSON() throws {
        let folder = try TemporaryFolder()
        let file = try folder.file("f.json", text: Self.text("{ \"name\": \"a\" }, { \"name\": \"b\" }"))
        let output = folder.place("out")
        let first = try FleetGeneration(file, into: output, .init()) { _, _ in }
        #expect(first.text == "\(output): 4 written, 0 unchanged, 0 removed; 2 new identities\n")
        _ = try folder.file("f.json", text: Self.text("{ \"name\": \"b\" }"))
        let second = try FleetGeneration(file, into: output, .init()) { _, _ in }
        #expect(
            second.text
                == "Retired, identities kept: a\n\(output): 2 written, 1 unchanged, 1 removed\n")
        #expect(
            second.json.line
                == "{\"fleet\":\"f\",\"beacons\":1,\"written\":2,\"unchanged\":1,\"removed\":1,\"lockWritten\":true,"
                + "\"dryRun\":false,\"added\":0,\"retired\":[\"a\"],\"revived\":[],\"moved\":[],\"renumbered\":[],\"renamed\":[],\"replacedBoxes\":[],"
                + "\"released\":[]}")
    }

    @Test("a beacon in good condition has a row only if all beacons are requested")
    func reportsTheConditionAsTextAndJSON() {
        let beacons = ["a", "b"].map { FleetManifest.Beacon(name: $0, profileHash: "0", advertisements: []) }
        let stranger = BeaconReport(InstanceStatus(name: "x\u{1B}", adapter: "hci0", state: .onAir), from: "pi-9")
        var status = InstanceStatus(name: "a", adapter: "hci0", state: .onAir)
        status.lastVerified = Self.now
        let condition = FleetCondition(
            FleetManifest(fleet: "f", beacons: beacons), [BeaconReport(status, from: "pi-1"), stranger], now: Self.now,
            staleAfter: 60)
        let text = condition.text(of: "f", at: Self.now)
        #expect(text.contains("no status file") && !text.contains("on the air"))
        #expect(
            text.hasSuffix("1 of 2 beacons of f are as they should be.\nNot in this fleet: x\\u001b (pi-9)\n"),
            "\(text)")
        #expect(condition.text(of: "f", at: Self.now, all: true).contains("on the air"))
        let json = condition.json(of: "f", at: Self.now).line
        #expect(json.hasPrefix("{\"fleet\":\"f\",\"time\":\"2026-03-01T12:00:00Z\",\"beacons\":2,\"good\":1,"))
        let problem = "{\"kind\":\"no-report\",\"message\":\"no status file\",\"since\":null}"
        #expect(json.contains("\"problems\":[\(problem)]"))
    }

    @Test("the report of keys counts them, and lists beacons without a public key")
    func reportsKeysAsTextAndJSON() {
        let keys = FleetKeys(of: NamedFleet(path: "f.json"), in: "k")
        var report = FleetKeys.Report()
        #expect(keys.text(of: report) == "No beacon of this fleet has ephemeral ids or encrypted telemetry.\n")
        #expect(keys.missingPublicKeysError(in: report) == nil)
        (report.made, report.kept, report.missing) = (["a"], ["b", "c"], ["d", "e", "f", "g", "h", "i"])
        #expect(keys.text(of: report) == "Identity keys in k/: 1 made, 2 kept\n")
        #expect(
            keys.json(of: report).line
                == "{\"directory\":\"k/\",\"made\":[\"a\"],\"replaced\":[],\"kept\":[\"b\",\"c\"]}")
        #expect(
            keys.missingPublicKeysError(in: report)
                == FleetStoreError(.missing, "k/: the public keys of 6 beacons are missing: d, e, f, g, h, …"))
    }

    @Test("the result of an id search has beacon, place and times")
    func reportsASearchAsTextAndJSON() throws {
        let folder = try TemporaryFolder()
        let line = """
            {"name":"a","group":"m/g","profileHash":"0","eidEpoch":"2026-03-01T12:00:00Z","advertisements":[{\
            "type":"eddystone-eid","intervalMs":1000,"identityKeyFile":"keys/a.key","rotationExponent":10}]}
            """
        let path = try folder.file("manifest.json", text: "{\"version\":1,\"fleet\":\"f\",\"beacons\":[\n\(line)\n]}\n")
        try Files.createSecret(folder.place("a.key"), with: Array("00112233445566778899aabbccddeeff\n".utf8))
        let keys = FleetKeys(of: NamedFleet(path: path), in: folder.path)
        let question = EphemeralIDQuestion(FixedOctets(repeating: 0), at: Self.now, driftSeconds: nil)
        let search = try EphemeralIDSearch(question, path: path, keys: keys)
        #expect(search.text.isEmpty)
        #expect(
            search.json.line
                == "{\"id\":\"0000000000000000\",\"at\":\"2026-03-01T12:00:00Z\",\"beacons\":[],\"tried\":1,"
                + "\"withoutKey\":0}")
    }

    @Test(
        "a selection keeps the beacons that satisfy all conditions",
        arguments: [
            (BeaconSelection(), "a b c"), (BeaconSelection(names: ["c", "a"]), "a c"),
            (BeaconSelection(sites: ["m"]), "a b"), (BeaconSelection(groups: ["m/g", "n"]), "a c"),
            (BeaconSelection(names: ["a", "c"], sites: ["m"]), "a"),
        ])
    func selects(_ selection: BeaconSelection, _ names: String) throws {
        #expect(try selection.beacons(of: Self.beacons, in: "f").map(\.name).joined(separator: " ") == names)
    }

    @Test(
        "an unknown name in a selection is refused with a suggestion",
        arguments: [
            (BeaconSelection(names: ["x"]), "--beacon x: there is no beacon of that name in f; did you mean \"a\"?"),
            (BeaconSelection(sites: ["g"]), "--site g: there is no site of that name in f; did you mean \"m\"?"),
            (BeaconSelection(groups: ["m/"]), "--group m/: there is no group of that name in f; did you mean \"m\"?"),
        ])
    func refusesUnknown(_ selection: BeaconSelection, _ message: String) {
        #expect(throws: FleetStoreError(.request, message)) { try selection.beacons(of: Self.beacons, in: "f") }
    }

    private static let beacons = [("a", ["m", "g"]), ("b", ["m", "h"]), ("c", ["n"])].map { name, group in
        FleetManifest.Beacon(name: name, group: group, profileHash: "0", advertisements: [])
    }
}
