import Configuration
import Fleet
import LinuxHost
import TestSupport
import Testing

@testable import FleetStore

@Suite("Changed names and identities")
struct FleetRenamingTests {
    private static func fleet(_ beacons: String, groups: String = "") -> String {
        """
        { "version": 1, "name": "f", "template": { "advertisements": [ { "type": "ibeacon",
          "uuid": "fb0b57a2-8228-44cd-913a-94a122ba1206", "major": "${major}", "minor": "${minor}",
          "intervalMs": 500, "measuredPowerDbm": -59 } ] },
          "identities": { "major": { "per": "site" }, "minor": { "within": "site" } },
          \(groups)"beacons": \(beacons) }
        """
    }

    private static func table(_ site: String, count: Int = 5, name: String = "b") -> String {
        "site;name;note\r\n" + (1...count).map { "\"\(site)\";\(name)\($0); kept, ü \r\n" }.joined()
    }

    private static func generate(
        _ file: String, _ output: String, _ change: (inout FleetGeneration.Options) -> Void = { _ in }
    ) throws(FleetStoreError) -> FleetGeneration {
        var options = FleetGeneration.Options()
        change(&options)
        return try FleetGeneration(file, into: output, options) { _, _ in }
    }

    private static func identities(_ file: String) throws -> [String] {
        try NamedFleet(path: file).manifest().beacons.map {
            "\($0.name) \($0.advertisements.map(\.identity)) \($0.address.map { "\($0)" } ?? "")"
        }
    }

    /// Returns a fleet with a table in which the site was renamed after the identities were allocated, its file, and
    /// the identities before the renaming.
    private func renamedSite() throws -> (folder: TemporaryFolder, file: String, before: [String]) {
        let folder = try TemporaryFolder()
        let file = try folder.file("f.json", text: Self.fleet("{ \"csv\": \"t.csv\" }"))
        try folder.file("t.csv", text: Self.table("hall"))
        _ = try Self.generate(file, folder.place("out"))
        let before = try Self.identities(file)
        try folder.file("t.csv", text: Self.table("Halle"))
        return (folder, file, before)
    }

    @Test("renumbering a group renamed in a table needs a request, and check warns with the count")
    func asks() throws {
        let (folder, file, _) = try renamedSite()
        let lock = try Files.read(folder.place("f.lock.json"))
        let error = #expect(throws: FleetStoreError.self) { try Self.generate(file, folder.place("out")) }
        #expect(error?.kind == .renumbering)
        let text = error?.description ?? ""
        #expect(text.contains("5 beacons would get other identities: b1, b2, b3 and 2 more"), "\(text)")
        #expect(text.contains("`pharos fleet rename \(file) hall Halle`"), "\(text)")
        #expect(text.hasSuffix("nothing was changed; if that is intended, add `--renumber`"), "\(text)")
        var files = try FleetFiles(file)
        #expect(try files.check() != nil)
        #expect(files.problems.map(\.severity) == [.warning])
        #expect(files.problems.first?.message.hasPrefix("5 beacons would get other identities") == true)
        let dry = try Self.generate(file, folder.place("out")) { $0.isDryRun = true }
        #expect(dry.renumbered.count == 5 && dry.outcome.written == 7 && dry.lockWritten)
        #expect(try Files.read(folder.place("f.lock.json")) == lock)
        #expect(try Self.generate(file, folder.place("out")) { $0.allowsRenumbering = true }.renumbered.count == 5)
    }

    @Test("a renamed site with floors gives one warning, and one renaming repairs it")
    func warnsOnceOfARenamedSiteWithFloors() throws {
        let folder = try TemporaryFolder()
        let text = Self.fleet("{ \"csv\": \"t.csv\" }").replacing("\"site\"", with: "\"floor\"")
        let file = try folder.file("f.json", text: text)
        let rows = "name,site,floor\na,hall,g\nb,hall,g\nc,hall,u\n"
        try folder.file("t.csv", text: rows)
        _ = try Self.generate(file, folder.place("out"))
        try folder.file("t.csv", text: rows.replacing("hall", with: "Halle"))
        var files = try FleetFiles(file)
        _ = try files.check()
        #expect(files.problems.count == 1)
        #expect(
            files.problems.first?.message.contains("3 beacons would get other identities: a, b, c (rows 2 to 4); ")
                == true)
        #expect(files.problems.first?.message.contains("rename \(file) hall Halle`") == true)
        #expect(try FleetRenaming(file, "hall", to: "Halle", kind: nil).beacons == 3)
        #expect(try Self.generate(file, folder.place("out")).renumbered == [])
    }

    @Test("renumbering a beacon renamed in a table needs a request")
    func refusesToRenumberARenamedBeacon() throws {
        let (folder, file, _) = try renamedSite()
        try folder.file("t.csv", text: Self.table("hall").replacing("b3", with: "b03"))
        let error = #expect(throws: FleetStoreError.self) { try Self.generate(file, folder.place("out")) }
        #expect(error?.kind == .renumbering)
        let text = error?.description ?? ""
        #expect(text.contains("the beacon \"b03\" would get another identity"), "\(text)")
        #expect(text.contains("run `pharos fleet rename \(file) b3 b03`, which keeps its identity"), "\(text)")
        #expect(
            text.hasSuffix(
                "1 beacon would get another identity; nothing was changed; if that is intended, add `--renumber`"))
        let list = #expect(throws: FleetStoreError.self) { _ = try NamedFleet(path: file).manifest() }
        #expect(
            list?.description.contains("`pharos fleet rename \(file) b3 b03`") == true, "\(list?.description ?? "")")
        #expect(try FleetRenaming(file, "b3", to: "b03", kind: nil).beacons == 1)
        #expect(try Self.generate(file, folder.place("out")).renumbered == [])
    }

    @Test("a fleet that lost its lock or its beacons is an error, and its listing gives the reason")
    func missesTheLock() throws {
        let (folder, file, _) = try renamedSite()
        try folder.file("t.csv", text: "site;name;note\n")
        var empty = try FleetFiles(file)
        _ = try empty.check()
        #expect(
            empty.problems.filter(\.isError).map(\.message) == [
                "this fleet has no beacons, but its lock has 5 beacons in use; restore the beacons, or retire them all "
                    + "with `pharos fleet generate --empty`"
            ])
        try folder.file("t.csv", text: Self.table("hall"))
        folder.remove("f.lock.json")
        var lost = try FleetFiles(file)
        _ = try lost.check()
        let message = try #require(lost.problems.filter(\.isError).first?.message)
        #expect(
            message.hasPrefix("this lock is missing, and \(folder.place("out")) contains 5 beacons with identities"))
        let list = #expect(throws: FleetStoreError.self) { _ = try NamedFleet(path: file).manifest() }
        #expect(list?.description.contains("this lock is missing") == true, "\(list?.description ?? "")")
        #expect(try FleetDiff.warnings(of: file, against: folder.place("out")).count == 1)
    }

    /// Returns a fleet with ephemeral ids and keys for its beacons, its file, and the key of one beacon.
    private func keyedFleet() throws -> (folder: TemporaryFolder, file: String, key: [UInt8]) {
        let folder = try TemporaryFolder()
        let advertisement =
            "{ \"type\": \"eddystone-eid\", \"identityKeyFile\": \"/etc/pharos/keys/${name}.key\", \"rotationExponent\": 10, "
            + "\"intervalMs\": 1000, \"measuredPower1mDbm\": -59 }"
        let text =
            "{ \"version\": 1, \"name\": \"f\", \"template\": { \"advertisements\": [ \(advertisement) ] }, "
            + "\"beacons\": { \"csv\": \"t.csv\" } }"
        let file = try folder.file("f.json", text: text)
        try folder.file("t.csv", text: Self.table("hall"))
        _ = try Self.generate(file, folder.place("out"))
        #expect(try FleetKeys(of: NamedFleet(path: file)).generate().made.count == 5)
        return (folder, file, try Files.read(folder.place("keys/b2.key")))
    }

    @Test("a renaming also renames the key, even if the table is already changed", arguments: [false, true])
    func renamesKeys(isInTable: Bool) throws {
        let (folder, file, key) = try keyedFleet()
        if isInTable { try folder.file("t.csv", text: Self.table("hall").replacing("b2", with: "door")) }
        let renaming = try FleetRenaming(file, "b2", to: "door", kind: nil)
        #expect(renaming.files.contains(folder.place("keys/door.key")))
        #expect(try Files.read(folder.place("keys/door.key")) == key && Files.isPrivate(folder.place("keys/door.key")))
        #expect(!Files.exists(folder.place("keys/b2.key")))
        let report = try FleetKeys(of: NamedFleet(path: file)).generate()
        #expect(report.made == [] && report.kept.count == 5)
    }

    @Test("a different key with the new name is kept, and nothing is renamed")
    func keepsOtherKeys() throws {
        let (folder, file, key) = try keyedFleet()
        try Files.createSecret(folder.place("keys/door.key"), with: Array("other".utf8))
        let error = #expect(throws: FleetStoreError.self) { _ = try FleetRenaming(file, "b2", to: "door", kind: nil) }
        #expect(error?.description.contains("this key exists and differs from") == true)
        #expect(try Files.read(folder.place("keys/b2.key")) == key)
        #expect(String(decoding: try Files.read(folder.place("t.csv")), as: UTF8.self) == Self.table("hall"))
    }

    @Test("check and export report a beacon without a key")
    func namesMissingKeys() throws {
        let (folder, file, _) = try keyedFleet()
        let sentence =
            "1 beacon has no key in \(folder.place("keys"))/: b2; `pharos fleet keys generate` makes missing keys"
        #expect(try FleetKeys(of: NamedFleet(path: file)).missingKeys() == nil)
        folder.remove("keys/b2.key")
        #expect(try FleetKeys(of: NamedFleet(path: file)).missingKeys() == sentence)
        var files = try FleetFiles(file)
        _ = try files.check()
        #expect(files.problems.map(\.message) == [sentence])
        #expect(files.problems.map(\.severity) == [.warning])
    }

    @Test("moving one beacon needs no request")
    func allowsOneBeaconToMove() throws {
        let (folder, file, _) = try renamedSite()
        let text = Self.table("hall").replacing("\"hall\";b5", with: "\"yard\";b5")
        try folder.file("t.csv", text: text)
        let generation = try Self.generate(file, folder.place("out"))
        #expect(generation.renumbered.map(\.name) == ["b5"])
        #expect(generation.json.line.contains("\"renumbered\":[{\"name\":\"b5\",\"before\":\"major 1, minor 5, "))
    }

    @Test(
        "renaming a group in the lock restores its identities, even after renumbering",
        arguments: [false, true])
    func renamesAGroupInTheLock(isRenumbered: Bool) throws {
        let (folder, file, before) = try renamedSite()
        if isRenumbered { _ = try Self.generate(file, folder.place("out")) { $0.allowsRenumbering = true } }
        let renaming = try FleetRenaming(file, "hall", to: "Halle", kind: nil)
        #expect(renaming.beacons == 5 && renaming.files == [folder.place("f.lock.json")])
        #expect(renaming.asideName == (isRenumbered ? "Halle~1" : nil))
        #expect(renaming.text.contains("are retired as Halle~1") == isRenumbered)
        #expect(try Self.identities(file) == before)
        #expect(try Self.generate(file, folder.place("out")).renumbered == [])
        #expect(try Self.identities(folder.place("out")) == before)
        let lock = String(decoding: try Files.read(folder.place("f.lock.json")), as: UTF8.self)
        #expect(lock.contains("\"Halle~1\"") == isRenumbered, "\(lock)")
    }

    @Test("renaming a beacon in the lock restores its identity, even after renumbering")
    func renamesBeaconsInTheLock() throws {
        let (folder, file, before) = try renamedSite()
        try folder.file("t.csv", text: Self.table("hall").replacing("b2", with: "door"))
        #expect(try Self.generate(file, folder.place("out")).changes.retired == ["b2"])
        #expect(try FleetRenaming(file, "b2", to: "door", kind: nil).beacons == 1)
        #expect(try Self.identities(file) == before.map { $0.replacing("b2 ", with: "door ") })
        #expect(try Self.generate(file, folder.place("out")).renumbered == [])
    }

    @Test("renaming a group restores its major numbers if they are counted within the fleet")
    func renamesMajors() throws {
        let folder = try TemporaryFolder()
        let text = Self.fleet("{ \"csv\": \"t.csv\" }").replacing("\"within\": \"site\"", with: "\"within\": \"fleet\"")
        let file = try folder.file("f.json", text: text)
        try folder.file("t.csv", text: Self.table("hall"))
        _ = try Self.generate(file, folder.place("out"))
        let before = try Self.identities(file)
        try folder.file("t.csv", text: Self.table("Halle"))
        let error = #expect(throws: FleetStoreError.self) { try Self.generate(file, folder.place("out")) }
        #expect(error?.description.contains("rename \(file) hall Halle`") == true, "\(error?.description ?? "")")
        #expect(try Self.generate(file, folder.place("out")) { $0.allowsRenumbering = true }.renumbered.count == 5)
        #expect(try FleetRenaming(file, "hall", to: "Halle", kind: nil).beacons == 5)
        #expect(try Self.identities(file) == before)
        #expect(try Self.generate(file, folder.place("out")).renumbered == [])
    }

    @Test("a renaming changes only the names in the table and the lock")
    func renamesTables() throws {
        let (folder, file, before) = try renamedSite()
        try folder.file("t.csv", text: Self.table("hall"))
        #expect(try FleetRenaming(file, "hall", to: "west", kind: nil).beacons == 5)
        #expect(String(decoding: try Files.read(folder.place("t.csv")), as: UTF8.self) == Self.table("west"))
        #expect(try FleetRenaming(file, "b2", to: "door", kind: nil).beacons == 1)
        let text = String(decoding: try Files.read(folder.place("t.csv")), as: UTF8.self)
        #expect(text == Self.table("west").replacing(";b2;", with: ";door;"))
        #expect(try Self.identities(file) == before.map { $0.replacing("b2 ", with: "door ") })
        let generation = try Self.generate(file, folder.place("out"))
        #expect(generation.renumbered == [] && generation.changes.added == 0 && generation.changes.retired == [])
    }

    @Test("a renaming changes the names in a fleet file at every level of a group path")
    func renamesLists() throws {
        let folder = try TemporaryFolder()
        let groups = """
            "groups": [ { "name": "n\\u006frth", "groups": [ { "name": "ground", "beacons": [ { "name": "x" } ] } ] } ],
            """
        let list =
            "[ { \"name\": \"y\", \"group\": \"north/ground\" }, { \"name\": \"ground\", \"group\": \"north\" } ]"
        let text = Self.fleet(list, groups: groups + "\n  ")
        let file = try folder.file("f.json", text: text)
        _ = try Self.generate(file, folder.place("out"))
        let before = try Self.identities(file)
        #expect(try FleetRenaming(file, "north/ground", to: "first", kind: nil).beacons == 2)
        #expect(try FleetRenaming(file, "north", to: "sud", kind: nil).beacons == 3)
        let expected = text.replacing("n\\u006frth", with: "sud").replacing(
            "\"name\": \"ground\", \"beacons\"", with: "\"name\": \"first\", \"beacons\""
        )
        .replacing("north/ground", with: "sud/first").replacing("\"group\": \"north\"", with: "\"group\": \"sud\"")
        #expect(String(decoding: try Files.read(file), as: UTF8.self) == expected)
        #expect(try Self.identities(file) == before)
    }

    @Test(
        "a name that cannot be changed is refused with a reason",
        arguments: [
            ("hal", "west", "\"hal\" is neither a group nor a beacon of the fleet or its lock; did you mean \"hall\"?"),
            ("b1", "b2", "the fleet has both \"b1\" and \"b2\""),
            ("b1", "Tür 1", "the new name: \"Tür 1\" has letters beyond ASCII"),
            ("hall", "yard/hall", "\"hall\" cannot become \"yard/hall\", which is in another group"),
            ("b1", "b1", "\"b1\" is both the current and the new name"),
            ("hall", "hall", "\"hall\" is both the current and the new name"),
        ])
    func refuses(old: String, new: String, message: String) throws {
        let (folder, file, _) = try renamedSite()
        try folder.file("t.csv", text: Self.table("hall"))
        let before = try Files.read(folder.place("t.csv"))
        let error = #expect(throws: FleetStoreError.self) { _ = try FleetRenaming(file, old, to: new, kind: nil) }
        #expect(error?.kind == .request)
        #expect(error?.description.contains(message) == true, "\(error?.description ?? "")")
        #expect(try Files.read(folder.place("t.csv")) == before)
    }

    @Test(
        "a name that is only in the lock cannot become a name that another beacon had at the same time",
        arguments: [
            ("b2", "b4", "were in use at the same time, so the lock has identities of both, and \"b4\" keeps its own"),
            ("b2", "b02x", "\"b02x\" is neither in the fleet file nor in its tables"),
            ("b2", "b2", "\"b2\" is both the current and the new name"),
        ])
    func refusesNamesInUse(old: String, new: String, message: String) throws {
        let (folder, file, _) = try renamedSite()
        try folder.file("t.csv", text: Self.table("hall").replacing(";b2;", with: ";b02;"))
        let lock = try Files.read(folder.place("f.lock.json"))
        let error = #expect(throws: FleetStoreError.self) { _ = try FleetRenaming(file, old, to: new, kind: nil) }
        #expect(error?.description.contains(message) == true, "\(error?.description ?? "")")
        #expect(old == new || error?.description.hasSuffix("did you mean \"b02\"?") == true)
        #expect(try Files.read(folder.place("f.lock.json")) == lock)
    }

    @Test("a group that is only in the lock cannot become a group that was in use at the same time")
    func refusesGroupsInUse() throws {
        let (folder, file, _) = try renamedSite()
        let rows = "site;name\nhall;b1\nyard;b2\n"
        try folder.file("t.csv", text: rows)
        folder.remove("f.lock.json")
        folder.remove("out")
        _ = try Self.generate(file, folder.place("out"))
        let lock = try Files.read(folder.place("f.lock.json"))
        try folder.file("t.csv", text: rows.replacing("hall", with: "Halle"))
        for (new, message) in [("yard", "were in use at the same time"), ("Hall", "is only in the lock")] {
            let error = #expect(throws: FleetStoreError.self) {
                _ = try FleetRenaming(file, "hall", to: new, kind: nil)
            }
            #expect(error?.description.contains(message) == true, "\(error?.description ?? "")")
            #expect(error?.description.hasSuffix("did you mean \"Halle\"?") == true)
        }
        #expect(try Files.read(folder.place("f.lock.json")) == lock)
        #expect(try FleetRenaming(file, "hall", to: "Halle", kind: nil).asideName == nil)
    }

    @Test(
        "an unknown name in a selection gets a suggestion",
        arguments: [
            (
                BeaconSelection(groups: ["nroth/ground"]),
                "--group nroth/ground: there is no group of that name in f; did you mean \"north/ground\"?"
            ),
            (
                BeaconSelection(groups: ["ground"]),
                "--group ground: there is no group of that name in f; did you mean \"north/ground\"?"
            ),
            (
                BeaconSelection(sites: ["norht"]),
                "--site norht: there is no site of that name in f; did you mean \"north\"?"
            ),
            (BeaconSelection(names: ["zzzzzz"]), "--beacon zzzzzz: there is no beacon of that name in f; it has x, y"),
        ])
    func suggests(selection: BeaconSelection, message: String) throws {
        let folder = try TemporaryFolder()
        let list = "[ { \"name\": \"x\", \"group\": \"north/ground\" }, { \"name\": \"y\", \"group\": \"south\" } ]"
        let file = try folder.file("f.json", text: Self.fleet(list))
        _ = try Self.generate(file, folder.place("out"))
        let manifest = try NamedFleet(path: file).manifest()
        let error = #expect(throws: FleetStoreError.self) { _ = try selection.beacons(of: manifest.beacons, in: "f") }
        #expect(error?.description == message)
    }

    @Test("text is not written to a file with the extension of a picture", arguments: ["x.png", "x.PDF", "x.xlsx"])
    func refusesPictures(name: String) throws {
        let folder = try TemporaryFolder()
        let error = #expect(throws: FleetStoreError.self) { try ExportFile.write("text", to: folder.place(name)) }
        #expect(error?.kind == .request && !Files.exists(folder.place(name)))
    }

    @Test("an export uses the table's column names unless they have another meaning")
    func namesColumns() throws {
        let folder = try TemporaryFolder()
        let table =
            "{ \"csv\": \"t.csv\", \"columns\": { \"name\": \"Gerät\", \"site\": \"Gebäude\", \"x\": \"type\", \"host\": \"=IP\" } }"
        let file = try folder.file("f.json", text: Self.fleet(table))
        try folder.file("t.csv", text: "Gerät,Gebäude,type,y,=IP\na,hall,1,2,pi-1\n")
        _ = try Self.generate(file, folder.place("out"))
        let named = NamedFleet(path: file)
        let text = FleetSpreadsheet.text(try named.manifest(), names: try named.columnNames())
        let header = text.split(separator: "\n").first ?? ""
        #expect(header.hasPrefix("\"Gerät\",\"Gebäude\",floor,room,\"'=IP\",serial,"), "\(header)")
        #expect(header.contains(",x m,\"y\",z m,"), "\(header)")
        #expect(try NamedFleet(path: folder.place("out")).columnNames() == [:])
    }
}
