import Configuration
import Fleet
import LinuxHost
import TestSupport
import Testing

@testable import FleetStore

@Suite("A fleet's files")
struct FleetFilesTests {
    @Test("several problems give one message each, and the error has the most serious kind")
    func refusesWithAllProblems() throws {
        let folder = try TemporaryFolder()
        let file = try folder.file(
            "f.json",
            text:
                """
                {"version": 1, "name": "f", "template": {"advertisements": [{"type": "eddystone-url",
                "url": "https://example.org/${name}", "intervalMs": 200}]},
                "beacons": {"csv": "absent.csv"}, "nothing": 1}
                """)
        var files = try FleetFiles(file)
        #expect(files.hasErrors)
        let error = #expect(throws: FleetStoreError.self) { try files.allocated() }
        #expect(error?.kind == .missing)
        #expect(error?.messages.count == 2, "\(error?.messages ?? [])")
        #expect(error?.messages.contains { $0.hasSuffix("absent.csv: there is no such file") } == true)
    }

    @Test("an unreadable table is reported with its reason, even if its name contains a colon")
    func reportsWhyATableIsUnreadable() throws {
        let folder = try TemporaryFolder()
        try Files.makeDirectory(folder.place("a: b.csv"))
        let file = try folder.file(
            "f.json",
            text:
                """
                {"version": 1, "name": "f", "template": {"advertisements": [{"type": "eddystone-url",
                "url": "https://example.org", "intervalMs": 200}]}, "beacons": {"csv": "a: b.csv"}}
                """)
        #expect(
            try FleetFiles(file).problems.map(\.message) == ["a: b.csv: this is a directory, not a file"])
    }

    @Test("a fleet file that does not exist is reported as missing")
    func reportsAMissingFleetFile() throws {
        let folder = try TemporaryFolder()
        let error = #expect(throws: FleetStoreError.self) { try FleetFiles(folder.place("f.json")) }
        #expect(error == FleetStoreError(.missing, "\(folder.place("f.json")): there is no such file"))
    }
}
