import BluetoothTypes
import Configuration
import EddystoneSecurity
import Fleet
import LinuxHost
import TestSupport
import Testing

@testable import FleetStore

@Suite("The keys of a fleet")
struct FleetKeysTests {
    @Test("a rotation makes new keys and keeps the former keys for ids received earlier")
    func rotates() throws {
        let folder = try TemporaryFolder()
        let keys = try Self.keys(in: folder)
        _ = try keys.generate()
        let before = try Files.read(folder.place("keys/a.key"))
        let now = RFC3339Time(secondsSince1970: 1_772_366_400)
        let report = try keys.rotate(BeaconSelection(names: ["a"]), at: now)
        let former = folder.place("keys-before-2026-03-01T120000Z/")
        #expect(report.replaced == ["a"] && report.former == former)
        #expect(keys.formerDirectories == [String(former.dropLast())])
        #expect(try Files.read(former + "a.key") == before)
        #expect(try Files.read(folder.place("keys/a.key")) != before)
        #expect(Files.isPrivate(former + "a.key"))
        #expect(keys.text(of: report).contains("1 replaced\nThe former keys are in \(former).\n"))
        #expect(throws: FleetStoreError.self) { _ = try keys.rotate(BeaconSelection(names: ["b"]), at: now) }
        // A second rotation in the same second would lose a key.
        #expect(throws: FleetStoreError.self) { _ = try keys.rotate(BeaconSelection(), at: now) }
        #expect(try Files.read(former + "a.key") == before)
    }

    @Test("a key that is replaced is kept for ids received earlier")
    func keepsReplacedKeys() throws {
        let folder = try TemporaryFolder()
        let keys = try Self.keys(in: folder)
        let now = RFC3339Time(secondsSince1970: 1_772_366_400)
        let former = folder.place("keys-before-2026-03-01T120000Z/")
        #expect(try keys.generate(replacing: ["a"], at: now).made == ["a"])
        #expect(!Files.exists(former))
        let before = try Files.read(folder.place("keys/a.key"))
        let report = try keys.generate(replacing: ["a"], at: now)
        #expect(report.replaced == ["a"] && report.former == former)
        #expect(try Files.read(former + "a.key") == before)
        #expect(try Files.read(folder.place("keys/a.key")) != before)
        #expect(keys.text(of: report).contains("The former keys are in \(former)."))
    }

    @Test("a rotation without existing keys makes keys, and no directory for former keys")
    func makesFirstKeys() throws {
        let folder = try TemporaryFolder()
        let keys = try Self.keys(in: folder)
        let report = try keys.rotate(BeaconSelection(), at: RFC3339Time(secondsSince1970: 0))
        #expect(report.made == ["a"] && report.former == nil)
        #expect(!keys.text(of: report).contains("former"))
        #expect(Files.names(in: folder.path).sorted() == ["keys", "manifest.json"])
    }

    @Test("a key agreed with a resolver is not replaced by a random key")
    func refusesToReplaceAgreedKeys() throws {
        let folder = try TemporaryFolder()
        let keys = try Self.keys(in: folder)
        let resolver = try IdentityKey.publicKey(of: FixedOctets<32>.random())
        #expect(try keys.agree(resolverPublicKey: resolver).made == ["a"])
        let before = try Files.read(folder.place("keys/a.key"))
        let error = #expect(throws: FleetStoreError.self) {
            _ = try keys.rotate(BeaconSelection(), at: RFC3339Time(secondsSince1970: 0))
        }
        #expect(error?.kind == .request && error?.description.contains("agreed on with a resolver") == true)
        #expect(throws: FleetStoreError.self) { _ = try keys.generate(replacing: ["a"]) }
        #expect(try Files.read(folder.place("keys/a.key")) == before)
    }

    private static func keys(in folder: borrowing TemporaryFolder) throws -> FleetKeys {
        let line = """
            {"name":"a","profileHash":"0","eidEpoch":"2026-03-01T12:00:00Z","advertisements":[{"type":"eddystone-eid",\
            "intervalMs":1000,"identityKeyFile":"keys/a.key","rotationExponent":10}]}
            """
        let file = try folder.file("manifest.json", text: "{\"version\":1,\"fleet\":\"f\",\"beacons\":[\n\(line)\n]}\n")
        return FleetKeys(of: NamedFleet(path: file), in: folder.place("keys"))
    }

    @Test("concurrent runs wait for each other and make the key only once")
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

    @Test("an error about locked keys names the command that holds the lock, and no key is made")
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
