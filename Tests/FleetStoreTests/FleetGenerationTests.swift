import Configuration
import Fleet
import Glibc
import LinuxHost
import TestSupport
import Testing

@testable import FleetStore

@Suite("Generating a fleet's files")
struct FleetGenerationTests {
    private static func text(_ names: [String]) -> String {
        let beacons = names.map { "{ \"name\": \"\($0)\" }" }.joined(separator: ", ")
        return """
            { "version": 1, "name": "f", "template": { "advertisements": [ { "type": "ibeacon",
              "uuid": "fb0b57a2-8228-44cd-913a-94a122ba1206", "major": 1, "minor": "${minor}",
              "intervalMs": 500, "measuredPowerDbm": -59 } ] },
              "identities": { "minor": { "within": "fleet" } }, "beacons": [ \(beacons) ] }
            """
    }

    private static func generate(
        _ file: String, _ output: String, _ options: FleetGeneration.Options = .init()
    ) throws(FleetStoreError) -> FleetGeneration {
        try FleetGeneration(file, into: output, options) { _, _ in }
    }

    private static func identities(_ output: String) throws -> [String: String] {
        var found: [String: String] = [:]
        for beacon in try NamedFleet(path: output).manifest().beacons {
            found[beacon.name] = "\(beacon.advertisements.map(\.identity)) \(beacon.address.map { "\($0)" } ?? "")"
        }
        return found
    }

    @Test("concurrent runs give each identity to only one beacon", arguments: [true, false])
    func givesEachIdentityToOneBeaconInConcurrentRuns(oneDirectory: Bool) throws {
        let folder = try TemporaryFolder()
        let place = folder.path
        let file = place + "/f.json"
        let runs = 8
        let outcomes = try OrderedWork(pieces: runs, window: runs, threads: runs) { number in
            Result { () throws in
                // Each run adds a different beacon, so the fleet file changes while other runs continue.
                let text = Self.text(["a", "b", "n\(number)"])
                try Files.replace(file, with: Array(text.utf8), isDurable: false)
                return try Self.generate(file, place + (oneDirectory ? "/out" : "/out\(number)"))
            }
        }
        var failures: [any Error] = []
        while let outcome = outcomes.next() {
            if case .failure(let error) = outcome { failures.append(error) }
        }
        #expect(failures.isEmpty, "\(failures)")
        var owners: [String: String] = [:]
        for name in Files.names(in: folder.path) where name.hasPrefix("out") {
            for (beacon, identity) in try Self.identities(folder.place(name)) {
                let owner = owners.updateValue(beacon, forKey: identity)
                #expect(owner == nil || owner == beacon, "\(identity): \(owner ?? "") and \(beacon)")
            }
        }
        #expect(!owners.isEmpty)
        #expect(!Files.names(in: folder.path).contains { $0.hasPrefix(".") }, "\(Files.names(in: folder.path))")
    }

    @Test("an error about a locked fleet file names the command that holds the lock")
    func namesTheHolder() throws {
        let folder = try TemporaryFolder()
        let file = try folder.file("f.json", text: Self.text(["a"]))
        let path = folder.place(".f.lock")
        let held = try FileLock(path, purpose: "pharos fleet generate")
        let error = #expect(throws: FleetStoreError.self) {
            _ = try FleetFileLock.acquire(
                FleetFiles.changeLock(of: FleetFiles.lockFile(of: file)), of: file, purpose: "x",
                waiting: .milliseconds(50))
        }
        #expect(error?.kind == .busy)
        #expect(
            error?.messages.first?.hasPrefix("\(file): `pharos fleet generate` (process ") == true,
            "\(error?.messages ?? [])")
        held.release()
        _ = try Self.generate(file, folder.place("out"))
    }

    @Test("a fleet that lost its beacons is not retired unless that is allowed")
    func refusesAFleetWithoutBeaconsUnlessAllowed() throws {
        let folder = try TemporaryFolder()
        let table = Self.text(["a"]).replacing("[ { \"name\": \"a\" } ]", with: "{ \"csv\": \"t.csv\" }")
        let file = try folder.file("f.json", text: table)
        try folder.file("t.csv", text: "name\na\nb\n")
        _ = try Self.generate(file, folder.place("out"))
        try folder.file("t.csv", text: "name\n")
        let error = #expect(throws: FleetStoreError.self) { try Self.generate(file, folder.place("out")) }
        #expect(error?.kind == .invalid && error?.description.contains("its lock has 2 beacons in use") == true)
        #expect(try Self.identities(folder.place("out")).count == 2)
        var options = FleetGeneration.Options()
        options.allowsEmpty = true
        #expect(try Self.generate(file, folder.place("out"), options).changes.retired == ["a", "b"])
    }

    @Test(
        "a missing lock is detected even if the manifest is damaged or reformatted",
        arguments: [true, false])
    func missesTheLock(isDamaged: Bool) throws {
        let folder = try TemporaryFolder()
        let file = try folder.file("f.json", text: Self.text(["a", "b", "c"]))
        let output = folder.place("out")
        _ = try Self.generate(file, output)
        folder.remove("f.lock.json")
        let text = String(decoding: try Files.read(output + "/manifest.json"), as: UTF8.self)
        let damaged = text.split(separator: "\"intervalMs\":500").joined(separator: "\"intervalMs\":\"x\"")
        let printed = try #require(JSONDocument.parse(Array(text.utf8)).root.map { JSONValue($0).pretty })
        try folder.file("out/manifest.json", text: isDamaged ? damaged : printed)
        let error = #expect(throws: FleetStoreError.self) { try Self.generate(file, output) }
        #expect(error?.description.contains("\(output) contains 3 beacons") == true, "\(String(describing: error))")
    }

    @Test(
        "a damaged manifest without profiles does not cause renumbering",
        arguments: [
            ("{\"name\":\"a\"", "{\"nme\":\"a\"", "contains 1 beacon with"),
            ("\"beacons\":[\n", "\"beacons\":[", "contains an unknown number of beacons"),
        ])
    func refusesToRenumberWithADamagedManifest(from: String, into: String, count: String) throws {
        let folder = try TemporaryFolder()
        let file = try folder.file("f.json", text: Self.text(["a"]))
        let output = folder.place("out")
        var options = FleetGeneration.Options()
        options.manifestOnly = true
        _ = try Self.generate(file, output, options)
        folder.remove("f.lock.json")
        let text = String(decoding: try Files.read(output + "/manifest.json"), as: UTF8.self)
            .replacing(from, with: into).replacing("\"intervalMs\":500", with: "\"intervalMs\":\"x\"")
            .replacing("\n]}", with: into.hasSuffix("[") ? "]}" : "\n]}")
        try folder.file("out/manifest.json", text: text)
        let error = #expect(throws: FleetStoreError.self) { try Self.generate(file, output, options) }
        #expect(error?.description.contains(count) == true, "\(String(describing: error))")
    }

    @Test("a damaged manifest is rewritten from the lock with the same identities")
    func repairsTheManifest() throws {
        let folder = try TemporaryFolder()
        let file = try folder.file("f.json", text: Self.text(["a", "b"]))
        _ = try Self.generate(file, folder.place("out"))
        let good = try Files.read(folder.place("out/manifest.json"))
        let text = String(decoding: good, as: UTF8.self)
        try folder.file(
            "out/manifest.json", text: text.replacing("\"intervalMs\":500", with: "\"intervalMs\":\"x\""))
        _ = try Self.generate(file, folder.place("out"))
        #expect(try Files.read(folder.place("out/manifest.json")) == good)
    }

    @Test(
        "a manifest with an interval out of range is refused",
        arguments: ["0", "-1", "1e15", "999999999999999.999"])
    func refusesImpossibleIntervals(_ interval: String) throws {
        let folder = try TemporaryFolder()
        let file = try folder.file("f.json", text: Self.text(["a", "b"]))
        _ = try Self.generate(file, folder.place("out"))
        let text = String(decoding: try Files.read(folder.place("out/manifest.json")), as: UTF8.self)
        try folder.file(
            "out/manifest.json", text: text.replacing("\"intervalMs\":500", with: "\"intervalMs\":\(interval)"))
        let error = #expect(throws: FleetStoreError.self) { try NamedFleet(path: folder.place("out")).manifest() }
        #expect(error?.description.contains("is out of range 1...86400000 ms") == true, "\(String(describing: error))")
    }

    @Test("a named pipe instead of a manifest is refused immediately")
    func refusesPipes() throws {
        let folder = try TemporaryFolder()
        try #require(unsafe mkfifo(folder.place("manifest.json"), 0o600) == 0)
        for fleet in [
            NamedFleet(path: folder.path), NamedFleet(path: folder.place("manifest.json"), isNamedInFile: true),
        ] {
            let error = #expect(throws: FleetStoreError.self) { try fleet.manifest() }
            #expect(error?.description.contains("this is a named pipe") == true)
        }
    }

    @Test("a missing lock does not cause renumbering and is restored from the manifest")
    func adopts() throws {
        let folder = try TemporaryFolder()
        let file = try folder.file("f.json", text: Self.text(["z", "a"]))
        _ = try Self.generate(file, folder.place("out"))
        try folder.file("f.json", text: Self.text(["a", "z", "n"]))
        let before = try Self.identities(folder.place("out"))
        folder.remove("f.lock.json")
        let error = #expect(throws: FleetStoreError.self) { try Self.generate(file, folder.place("out")) }
        #expect(error?.kind == .invalid && error?.description.contains("`--adopt`") == true)
        #expect(try Self.identities(folder.place("out")) == before)
        var options = FleetGeneration.Options()
        options.adoptsManifest = true
        #expect(try Self.generate(file, folder.place("out"), options).changes.added == 1)
        let after = try Self.identities(folder.place("out"))
        for (name, identity) in before { #expect(after[name] == identity) }
        let again = #expect(throws: FleetStoreError.self) { try Self.generate(file, folder.place("out"), options) }
        #expect(again?.kind == .request)
    }

    @Test("a truncated lock is restored from the manifest", arguments: [0, 60])
    func adoptsInPlaceOfATruncatedLock(length: Int) throws {
        let folder = try TemporaryFolder()
        let file = try folder.file("f.json", text: Self.text(["z", "a"]))
        _ = try Self.generate(file, folder.place("out"))
        let before = try Self.identities(folder.place("out"))
        let lock = try Files.read(folder.place("f.lock.json"))
        _ = try folder.file("f.lock.json", Array(lock.prefix(length)))
        try folder.file("f.json", text: Self.text(["a", "z"]))
        let error = #expect(throws: FleetStoreError.self) { try Self.generate(file, folder.place("out")) }
        #expect(error?.description.contains("--adopt") == true, "\(String(describing: error))")
        var options = FleetGeneration.Options()
        options.adoptsManifest = true
        #expect(try Self.generate(file, folder.place("out"), options).lockWritten)
        #expect(try Self.identities(folder.place("out")) == before)
    }

    @Test("a beacon whose line is missing in the lock keeps its identity unless a change is requested")
    func missesLinesOfBeacons() throws {
        let folder = try TemporaryFolder()
        let file = try folder.file("f.json", text: Self.text(["a", "b", "c"]))
        let output = folder.place("out")
        _ = try Self.generate(file, output)
        let before = try Self.identities(output)
        let lock = String(decoding: try Files.read(folder.place("f.lock.json")), as: UTF8.self)
        let lines = lock.split(separator: "\n").filter { !$0.hasPrefix("{\"name\":\"b\"") }
        try folder.file("f.lock.json", text: lines.joined(separator: "\n"))
        let error = #expect(throws: FleetStoreError.self) { try Self.generate(file, output) }
        let text = error?.description ?? ""
        #expect(error?.kind == .renumbering)
        #expect(text.contains("the beacon \"b\" would get another identity (minor 2 → minor 4)"), "\(text)")
        #expect(text.contains("; \(output)/manifest.json has the old values of this beacon"), "\(text)")
        #expect(try Self.identities(output) == before)
        var files = try FleetFiles(file)
        _ = try files.check()
        #expect(files.problems.count == 1 && files.problems[0].message.contains("restore the lock"))
        // A beacon that the directory does not have is new.
        let other = folder.place("other")
        #expect(try Self.generate(file, other).renumbered.isEmpty)
        try folder.file("f.lock.json", text: lines.joined(separator: "\n"))
        var options = FleetGeneration.Options()
        options.allowsRenumbering = true
        #expect(try Self.generate(file, output, options).renumbered.map(\.name) == ["b"])
    }

    @Test("a group whose line is missing in the lock keeps its major number unless a change is requested")
    func missesLinesOfGroups() throws {
        let folder = try TemporaryFolder()
        let text = Self.text(["a"]).replacing("\"major\": 1", with: "\"major\": \"${major}\"")
            .replacing("\"minor\": {", with: "\"major\": { \"per\": \"site\" }, \"minor\": {")
            .replacing("\"within\": \"fleet\"", with: "\"within\": \"site\"")
            .replacing("[ { \"name\": \"a\" } ]", with: "{ \"csv\": \"t.csv\" }")
        let file = try folder.file("f.json", text: text)
        try folder.file("t.csv", text: "site,name\nnorth,a\nsouth,b\nwest,c\n")
        _ = try Self.generate(file, folder.place("out"))
        let before = try Self.identities(folder.place("out"))
        let lock = String(decoding: try Files.read(folder.place("f.lock.json")), as: UTF8.self)
        let lines = lock.split(separator: "\n").filter { !$0.hasPrefix("{\"group\":\"south\"") }
        try folder.file("f.lock.json", text: lines.joined(separator: "\n"))
        for output in ["out", "other"] {
            let error = #expect(throws: FleetStoreError.self) { try Self.generate(file, folder.place(output)) }
            let text = error?.description ?? ""
            #expect(error?.kind == .renumbering)
            #expect(text.contains("(an unknown major → major 4)"), "\(text)")
            #expect(text.contains("not the major number of the group \"south\""), "\(text)")
        }
        #expect(try Self.identities(folder.place("out")) == before)
    }

    @Test("a lock file that is a symbolic link remains a symbolic link")
    func keepsTheLink() throws {
        let folder = try TemporaryFolder()
        let file = try folder.file("f.json", text: Self.text(["a"]))
        _ = try Self.generate(file, folder.place("out"))
        try Files.makeDirectory(folder.place("locks"))
        let lock = folder.place("f.lock.json")
        _ = try folder.file("locks/real.lock.json", Files.read(lock))
        folder.remove("f.lock.json")
        try makeLink(lock, to: "locks/real.lock.json")
        try folder.file("f.json", text: Self.text(["a", "b"]))
        _ = try Self.generate(file, folder.place("out"))
        #expect(Files.isSymbolicLink(lock))
        #expect(String(decoding: try Files.read(folder.place("locks/real.lock.json")), as: UTF8.self).contains("\"b\""))
    }

    @Test("an old lock without check marks is read and rewritten with check marks")
    func upgrades() throws {
        let folder = try TemporaryFolder()
        let file = try folder.file("f.json", text: Self.text(["a"]))
        _ = try Self.generate(file, folder.place("out"))
        let lock = String(decoding: try Files.read(folder.place("f.lock.json")), as: UTF8.self)
        let mark = try #require(lock.firstRange(of: ",\"check\":"))
        let end = try #require(lock[mark.upperBound...].firstIndex(of: "}"))
        try folder.file("f.lock.json", text: String(lock[..<mark.lowerBound] + lock[end...]))
        #expect(try Self.generate(file, folder.place("out")).lockWritten)
        #expect(String(decoding: try Files.read(folder.place("f.lock.json")), as: UTF8.self) == lock)
    }

    @Test(
        "keys are next to the fleet file or the output folder, outside the replaced folder",
        arguments: [("a/f.json", "a/keys"), ("f.json", "keys"), ("a/out", "a/keys"), ("a/out/manifest.json", "a/keys")])
    func placesKeys(fleet: String, keys: String) throws {
        let folder = try TemporaryFolder()
        try folder.file("a/out/manifest.json", text: "{}")
        #expect(
            FleetKeys(of: NamedFleet(path: folder.place(fleet))).directory.path == folder.place(keys) + "/")
        try Files.makeDirectory(folder.place("a/out/keys"))
        #expect(
            FleetKeys(of: NamedFleet(path: folder.place("a/out"))).directory.path == folder.place("a/out/keys/"))
    }
}
