import Configuration
import TestSupport
import Testing

@testable import pharos_hub

/// `listen --print` and `zones` on a recording.
@Suite struct ListenTests {
    private let files: HubFolder

    init() throws { files = try HubFolder() }

    @Test func roundsArePrintedAsJSON() throws {
        let recording = try files.recording(seconds: 3)
        let result = try HubProgram.run("listen", files.path("desk.json"), "--print", "--replay", recording, "--json")
        #expect(result.code == 0)
        let rounds = result.lines.filter { $0["event"]?.string == "beacons" }
        #expect(rounds.count >= 3, "\(result.output)")
        let beacon = rounds.first?["beacons"]?.elements?.first
        #expect(beacon?["beacon"]?.string == "key-peter" && beacon?["heard"]?.integer == 10)
    }

    @Test func roundsArePrintedAsATable() throws {
        let recording = try files.recording(seconds: 2)
        let result = try HubProgram.run("listen", files.path("desk.json"), "--print", "--replay", recording)
        #expect(result.code == 0 && result.output.contains("key-peter"))
        #expect(result.errors.contains("--print does not use zones"))
    }

    @Test func zonesPrintsEvents() throws {
        let recording = try files.recording(seconds: 6)
        let result = try HubProgram.run("zones", files.path("desk.json"), "--replay", recording, "--json")
        #expect(result.code == 0)
        let enter = result.lines.first { $0["event"]?.string == "enter" }
        #expect(enter?["zone"]?.string == "near" && enter?["beacon"]?.string == "key-peter", "\(result.output)")
    }

    @Test func aFileWithoutZonesIsRefused() throws {
        let path = try files.folder.file("bare.json", Array(#"{"version":1,"name":"bare","strangers":"list"}"#.utf8))
        let result = try HubProgram.run("zones", path, "--replay", try files.recording(seconds: 1))
        #expect(result.code == 78 && result.errors.contains("the file has no zones"))
    }
}
