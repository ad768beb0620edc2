import Configuration
import LinuxHost
import TestSupport
import Testing

@testable import pharos_hub

/// `init` and `check` of listeners, zones and collectors.
@Suite struct FileCommandTests {
    private static let beacon = "key-peter=ibeacon:fb0b57a2-8228-44cd-913a-94a122ba1206-1-7"
    private let files: HubFolder

    init() throws { files = try HubFolder() }

    @Test func aNewListenerIsCorrectAndHasZones() throws {
        let path = files.path("new.json")
        let made = try HubProgram.run("zones", "init", path, "--beacon", Self.beacon)
        #expect(made.code == 0 && made.output.contains("pharos zones \(path)"), "\(made.errors)")
        let check = try HubProgram.run("zones", "check", path)
        #expect(check.code == 0 && check.output.contains("1 beacon, 1 zone, 0 hooks is correct"), "\(check.output)")
        let run = try HubProgram.run("zones", path, "--replay", try files.recording(seconds: 3), "--json")
        #expect(run.lines.first?["beacon"]?.string == "key-peter", "\(run.errors)")
        let again = try HubProgram.run("listen", "init", path)
        #expect(again.code == 64 && again.errors.contains("use --force"))
        #expect(try HubProgram.run("listen", "init", path, "--force").code == 0)
        #expect(try HubProgram.run("zones", "check", path).code == 1)
        #expect(try HubProgram.run("listen", "check", path).code == 0)
    }

    @Test func eachOfSeveralBeaconsOfANewZoneEntersOnItsOwn() throws {
        let several = try HubProgram.run(
            "zones", "init", "-", "--beacon", Self.beacon, "--beacon", "bag=address:C0:01:02:03:04:05")
        #expect(several.output.contains(#""per": "beacon""#), "\(several.output)")
        let one = try HubProgram.run("zones", "init", "-", "--beacon", Self.beacon)
        #expect(one.code == 0 && !one.output.contains(#""per""#), "\(one.output)")
    }

    @Test func everyIdentityOfANewListenerIsReadBack() throws {
        let path = files.path("new.json")
        let identities = [
            "address:C0:01:02:03:04:05", "uid:8b0ca750095477cb3e77-000000000007", "url:https://example.org/",
            "altbeacon:0118-\(String(repeating: "a", count: 40))",
        ]
        let made = try HubProgram.run(
            ["listen", "init", path] + identities.enumerated().flatMap { ["--beacon", "b\($0.offset)=\($0.element)"] })
        #expect(made.code == 0, "\(made.errors)")
        let check = try HubProgram.run("listen", "check", path, "--json")
        #expect(check.code == 0 && check.lines.first?["errors"]?.elements?.isEmpty == true, "\(check.output)")
    }

    @Test(arguments: [
        ("fb0b57a2-8228-44cd-913a-94a122ba1206-1-7", "the name is missing"),
        ("key=fb0b57a2-8228-44cd-913a-94a122ba1206-1-7", "begins with its kind"),
        ("key=ibeacon:fb0b57a2-8228-44cd-913a-1-7", "hexadecimal digits instead of 32"),
        ("key=ibeacon:{fb0b57a2-8228-44cd-913a-94a122ba1206}-1-7", "without braces"),
        ("key=ibeacon:fb0b57a2-8228-44cd-913a-94a122ba1206/1/7", "\"/\" is not part of"),
        ("key=ibeacon:fb0b57a2-8228-44cd-913a-94a122ba1206:1:7", "\":\" is not part of"),
        ("key=ibeacon:fb0b57a2-8228-44cd-913a-94a122ba1206-1-70000", "the minor number \"70000\" is out of range"),
        ("key=ibeacon:fb0b57a2-8228-44cd-913a-94a122ba1206-1-7-9", "after the minor number"),
        ("key=address:C0:01", "write address:C0:01:02:03:04:05"),
    ])
    func theWrongPartOfABeaconIsNamed(_ beacon: String, message: String) throws {
        let result = try HubProgram.run("zones", "init", files.path("new.json"), "--beacon", beacon)
        #expect(result.code == 64 && result.errors.contains(message), "\(result.errors)")
        #expect(result.errors.contains("zones init --help"), "\(result.errors)")
    }

    @Test func severalIdentitiesOfOneNameAreOneBeacon() throws {
        let path = files.path("new.json")
        let arguments = ["listen", "init", path, "--beacon", Self.beacon, "--beacon"]
        let twice = try HubProgram.run(arguments + ["key-peter=ibeacon:fb0b57a2-8228-44cd-913a-94a122ba1206-1-8"])
        #expect(twice.code == 64 && twice.errors.contains("give each beacon its own name"), "\(twice.errors)")
        let made = try HubProgram.run(arguments + ["key-peter=address:C0:01:02:03:04:05"])
        #expect(made.code == 0, "\(made.errors)")
        let check = try HubProgram.run("listen", "check", path)
        #expect(check.output.contains("with 1 beacon"), "\(check.output)")
    }

    @Test(arguments: ["127.0.0.1:18831", "mqtt://user:secret@broker", "mqtt://broker:99999"])
    func aBrokerThatCheckRefusesIsNotWritten(_ broker: String) throws {
        let path = files.path("new.json")
        for command in ["listen", "zones"] {
            let made = try HubProgram.run(command, "init", path, "--beacon", Self.beacon, "--broker", broker)
            #expect(made.code == 64 && made.errors.contains("--broker"), "\(made.errors)")
            #expect(!Files.exists(path))
        }
        let collector = try HubProgram.run("collect", "init", path, "--receiver", "a", "--broker", broker)
        #expect(collector.code == 64 && !Files.exists(path), "\(collector.errors)")
    }

    @Test func aNewListenerOfASiteLeavesBeaconsToTheCollector() throws {
        let path = files.path("east.json")
        let made = try HubProgram.run(
            "zones", "init", path, "--beacon", Self.beacon, "--site", "office", "--broker", "mqtt://broker")
        #expect(made.code == 0, "\(made.errors)")
        let root = try #require(JSONDocument.parse(try Files.read(path)).root)
        #expect(root["mqtt"]?["beacons"]?.isTrue == false && root["mqtt"]?["homeAssistant"]?.isTrue == true)
        #expect(root["place"]?["site"]?.string == "office")
        #expect(root["zones"]?[0]?["name"]?.string == "east-near")
        #expect(try HubProgram.run("zones", "check", path).code == 0)
    }

    @Test func aZoneAroundALocalNameHasALevel() throws {
        let path = files.path("tag.json")
        #expect(try HubProgram.run("zones", "init", path, "--beacon", "tag=name:Tag").code == 0)
        let zone = try #require(JSONDocument.parse(try Files.read(path)).root?["zones"]?[0])
        #expect(zone["aboveDbm"]?.integer == -70 && zone["withinM"] == nil)
        #expect(!(try HubProgram.run("zones", "check", path).errors.contains("warning")))
    }

    @Test func aNewZoneThatABeaconCanNeverEnterGetsAWarning() throws {
        let arguments = ["zones", "init", "-", "--beacon", "keys=service:0xFFF6"]
        let made = try HubProgram.run(arguments + ["--within-m", "1.5 m"])
        #expect(made.code == 0 && made.output.contains("\"withinM\": 1.5"), "\(made.output)")
        #expect(made.errors.contains("\"keys\"") && made.errors.contains("use --above-dbm"), "\(made.errors)")
        #expect(try HubProgram.run(arguments).errors.isEmpty)
    }

    @Test func checkListsTheProblemsOfAllPartsAtOnce() throws {
        try files.folder.file("anna.irk", text: "xx")
        try files.folder.file("user", text: "pharos\nsecret\n")
        let path = try files.folder.file(
            "bad.json",
            text: """
                {"version":1,"name":"hall",
                 "known":[{"name":"a","ibeacon":{"uuid":"fb0b57a2-8228-44cd-913a-94a122ba120","major":1,"minor":2}},
                   {"name":"b","address":"C0:01:02:03:04:05","tags":["staff"]}],
                 "irks":[{"name":"anna","file":"anna.irk"},{"name":"bob","file":"bob.irk"}],
                 "zones":[{"name":"near","tag":"stuff","withinM":2}]}
                """)
        let result = try HubProgram.run("listen", "check", path)
        let expected = ["31 hexadecimal digits where 32 are needed", "did you mean \"staff\"", "anna.irk", "bob.irk"]
        for part in expected { #expect(result.output.contains(part), "\(part): \(result.output)") }
        #expect(result.code == 1)
    }

    @Test func checkReadsAllFilesOfTheService() throws {
        try files.folder.file("user", text: "pharos\nsecret\n")
        let path = try files.folder.file(
            "hooks.json",
            text: """
                {"version":1,"name":"hall","known":[{"name":"b","address":"C0:01:02:03:04:05","tags":["staff"],
                   "attachments":{"owner":"Bob"}}],
                 "zones":[{"name":"near","tag":"staff","aboveDbm":-70}],
                 "hooks":[{"on":"enter","run":["/no/such/program","${owner} ${zone} ${ownr}"]}],
                 "mqtt":{"url":"mqtts://broker","userFile":"user","caFile":"ca.pem"}}
                """)
        let result = try HubProgram.run("listen", "check", path)
        #expect(
            result.code == 1 && result.output.contains("chmod") && result.output.contains("ca.pem"), "\(result.output)")
        #expect(result.output.contains("there is no program \"/no/such/program\""), "\(result.output)")
        #expect(result.output.contains("no attachment") || result.output.contains("${owner}?"), "\(result.output)")
    }

    @Test func aHookThatIsNotExecutableGetsAWarning() throws {
        let program = try files.folder.file("hook.sh", text: "#!/bin/sh\n")
        let path = try files.folder.file(
            "hooks.json",
            text: """
                {"version":1,"name":"hall","known":[{"name":"b","address":"C0:01:02:03:04:05"}],
                 "zones":[{"name":"near","beacons":["b"],"aboveDbm":-70}],
                 "hooks":[{"on":"enter","run":["\(program)"]},{"on":"exit","run":["true"]}]}
                """)
        let result = try HubProgram.run("listen", "check", path)
        #expect(result.code == 0 && result.output.contains("may run: make it executable"), "\(result.output)")
        #expect(!result.output.contains("true"), "\(result.output)")
    }

    @Test func aNewCollectorReadsTheOutputOfANewListener() throws {
        let (listener, collector) = (files.path("hall.json"), files.path("site.json"))
        _ = try HubProgram.run("listen", "init", listener, "--beacon", Self.beacon)
        _ = try HubProgram.run("collect", "init", collector, "--receiver", "hall")
        #expect(try HubProgram.run("collect", "check", collector).code == 0)
        let lines = try HubProgram.run(
            "listen", listener, "--print", "--json", "--replay", try files.recording(seconds: 8))
        let recording = try files.folder.file("hall.jsonl", text: lines.output)
        let result = try HubProgram.run(
            "collect", collector, "--from", recording, "--state-file", files.path("w.json"), "--state-dir",
            files.folder.path, "--json")
        #expect(result.code == 0, "\(result.errors)")
        #expect(result.lines.contains { $0["event"]?.string == "room" && $0["room"]?.string == "hall" })
    }

    @Test func problemsOfACollectorAreListed() throws {
        let path = try files.folder.file(
            "bad.json",
            text: """
                {"version":1,"name":"m","receivers":[{"name":"a"},{"name":"b c"}]}
                """)
        let result = try HubProgram.run("collect", "check", path)
        #expect(result.code == 1 && result.output.contains("receivers[1].name"), "\(result.output)")
        let floors = try files.folder.file(
            "floors.json",
            text: """
                {"version":1,"name":"m","floors":[{"name":"g","site":"missing.json"}],
                 "receivers":[{"name":"a","position":[1,1]}]}
                """)
        let missing = try HubProgram.run("collect", "check", floors)
        #expect(missing.code == 1 && missing.output.contains("missing.json"), "\(missing.output)")
    }

    @Test func warnsOfRoomsAndReceiversOutsideTheirFloor() throws {
        try files.folder.file(
            "ground.json", text: #"{"version": 1, "name": "ground", "outline": [[0, 0], [20, 0], [20, 10], [0, 10]]}"#)
        let path = try files.folder.file(
            "museum.json",
            text: """
                {"version": 1, "name": "museum", "floors": [{"name": "g", "site": "ground.json", "rooms": [
                 {"name": "hall", "outline": [[0, 0], [10, 0], [10, 10], [0, 10]]},
                 {"name": "annex", "outline": [[15, 0], [25, 0], [25, 10], [15, 10]]}]}],
                 "receivers": [{"name": "a", "position": [1, 1]}, {"name": "b", "position": [1, 100]}]}
                """)
        let result = try HubProgram.run("collect", "check", path)
        let warnings = result.output + result.errors
        #expect(result.code == 0, "\(warnings)")
        #expect(warnings.contains("the receiver b is outside the outline of its floor"), "\(warnings)")
        #expect(warnings.contains("the room annex has a corner outside the outline of its floor"))
        #expect(!warnings.contains("receiver a") && !warnings.contains("room hall"))
    }
}
