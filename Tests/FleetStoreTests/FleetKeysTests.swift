import Fleet
import LinuxHost
import TestSupport
import Testing

@testable import FleetStore

@Suite("The keys of a fleet")
struct FleetKeysTests {
    private static func keys(in folder: borrowing TemporaryFolder) throws -> FleetKeys {
        let line = """
            {"name":"a","profileHash":"0","eidEpoch":"2026-03-01T12:00:00Z","advertisements":[{"type":"eddystone-eid",\
            "intervalMs":1000,"identityKeyFile":"keys/a.key","rotationExponent":10}]}
            """
        let file = try folder.file("manifest.json", text: "{\"version\":1,\"fleet\":\"f\",\"beacons\":[\n\(line)\n]}\n")
        return FleetKeys(of: NamedFleet(path: file), in: folder.place("keys"))
    }

    @Test("two at once wait for each other, and the second finds the first one's key")
    func takesTurns() throws {
        let folder = try TemporaryFolder()
        let keys = try Self.keys(in: folder)
        let runs = 8
        let reports = try OrderedWork(pieces: runs, window: runs, threads: runs) { _ in
            Result { () throws in try keys.generate() }
        }
        var made = 0
        while let report = reports.next() { made += try report.get().made.count }
        #expect(made == 1)
        #expect(Files.names(in: folder.place("keys")) == ["a.key"])
    }

    @Test("whoever finds them taken for long is told by whom, and nothing is made")
    func namesTheHolder() throws {
        let folder = try TemporaryFolder()
        let keys = try Self.keys(in: folder)
        try Files.makeDirectory(folder.place("keys"), mode: 0o700)
        let held = try FileLock(folder.place("keys/.lock"), purpose: "pharos fleet keys agree")
        let error = #expect(throws: FleetStoreError.self) { _ = try keys.generate() }
        #expect(error?.kind == .busy)
        #expect(error?.description.contains("`pharos fleet keys agree` (process ") == true, "\(error?.messages ?? [])")
        #expect(Files.names(in: folder.place("keys")).filter { !$0.hasPrefix(".") }.isEmpty)
        held.release()
        #expect(try keys.generate().made == ["a"])
    }
}
