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

    @Test func aPipeFromANewListenerReachesANewCollector() throws {
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
}
