import BeaconService
import Configuration
import Glibc
import LinuxHost
import Listener
import Sightings
import TestSupport
import Testing
import Zones

@testable import HubService

@Suite("Listener files of the hub") struct HubFileTests {
    static let good = RepositoryFile.all(in: "Tests/Corpus/hub/good") + RepositoryFile.all(in: "profiles/listeners")
    static let bad = ["bad", "semantic"].flatMap { RepositoryFile.all(in: "Tests/Corpus/hub/\($0)") }

    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    @Test("good files and samples are read without problems or warnings", arguments: good)
    func readsGood(_ file: RepositoryFile) throws {
        let path = try folder.file("hall.json", file.octets)
        let hub = try HubFile(path: path)
        #expect(hub.warnings == [])
    }

    @Test("bad files are refused for exactly their intended fault", arguments: bad)
    func refusesBad(_ file: RepositoryFile) throws {
        let path = try folder.file("hall.json", file.octets)
        do {
            _ = try HubFile(path: path)
            Issue.record("\(file) was read")
        } catch {
            guard case .service(.refused(.invalid, let lines)) = error else {
                Issue.record("\(error)")
                return
            }
            #expect(lines.count == 1, "\(lines)")
            #expect(lines.allSatisfy { $0.hasPrefix("\(path):") })
        }
    }

    @Test("the schema file equals the printed schema")
    func schemaIsCurrent() {
        #expect(RepositoryFile("profiles/schema/listener.schema.json").text == HubFile.schema)
    }

    @Test("problems of the receiver and of its zones are reported together")
    func everyFault() throws {
        let text = #"{"version": 1, "name": "a b", "strangers": "list", "zones": [{"name": "x"}], "hooks": [{}]}"#
        let path = try folder.file("hall.json", Array(text.utf8))
        let error = #expect(throws: ListenerServiceError.self) { try HubFile(path: path) }
        #expect(error?.messages.count == 4, "\(error?.messages ?? [])")
    }

    @Test("a zone that a beacon can never enter gets a warning")
    func warnings() throws {
        let text = """
            {"version": 1, "name": "hall", "known": [{"name": "phone", "address": "C0:01:02:03:04:05"}],
            "zones": [{"name": "x", "beacons": ["phone"]},
            {"name": "y", "beacons": ["phone"], "aboveDbm": -60, "proof": "eid"}]}
            """
        let hub = try HubFile(path: try folder.file("hall.json", Array(text.utf8)))
        #expect(hub.warnings.count == 2)
        #expect(
            hub.warnings[0].hasSuffix(
                #"is known only by an address, which states no power at 1 m: use "aboveDbm" for the zone"#))
        #expect(hub.warnings[1].hasSuffix("needs ephemeral ids, but phone has no key for them"))
    }

    @Test("a zone around a phone gets a warning if it needs a distance or ephemeral ids")
    func phones() throws {
        try Files.replaceSecret(folder.place("phone.key"), with: Array("ec0234a357c8ad05341010a60a397d9b\n".utf8))
        let text = """
            {"version": 1, "name": "hall", "irks": [{"name": "phone", "file": "phone.key"}],
            "zones": [{"name": "x", "beacons": ["phone"], "withinM": 2}, {"name": "y", "beacons": ["phone"], "aboveDbm": -60},
            {"name": "z", "beacons": ["phone"], "aboveDbm": -60, "proof": "eid"}]}
            """
        let hub = try HubFile(path: try folder.file("hall.json", Array(text.utf8)))
        #expect(hub.warnings.count == 2, "\(hub.warnings)")
        let reason = "phone is known only by the key of its addresses, which states no power"
        #expect(hub.warnings.first?.contains(reason) == true)
        #expect(hub.warnings.last?.hasSuffix("phone has no key for them") == true)
    }

    @Test(
        "a distance zone around devices that state no power at 1 m gets a warning",
        arguments: [
            (#""localName": "tag""#, "a local name"), (#""service": "0xFFF6""#, "a service"),
            (#""service": "0xFEAA""#, nil), (#""uid": {"namespace": "8b0ca750095477cb3e77"}"#, nil),
            (#""localName": "tag", "url": "https://e.org""#, nil),
        ])
    func powers(_ members: String, _ word: String?) throws {
        for bound in [#""withinM": 1"#, #""aboveDbm": -70"#] {
            let text = """
                {"version": 1, "name": "hall", "known": [{"name": "it", \(members)}],
                "zones": [{"name": "x", "beacons": ["it"], \(bound)}]}
                """
            let hub = try HubFile(path: try folder.file("hall.json", Array(text.utf8)))
            let isWarned = bound.contains("withinM") && word != nil
            #expect(hub.warnings.count == (isWarned ? 1 : 0), "\(hub.warnings)")
            if isWarned, let word { #expect(hub.warnings[0].contains("it is known only by \(word), which")) }
        }
    }

    /// Returns the decoded file of a listener that has the inventory `tools.json` and a zone around a tag.
    private func hub(of inventory: String?, tag: String = "tools") throws -> HubFile {
        if let inventory { _ = try folder.file("tools.json", Array(inventory.utf8)) }
        let text = #"{"version": 1, "name": "hall", "known": [{"inventory": "tools.json"}], "zones": [{"name": "#
        return try HubFile(path: try folder.file("hall.json", Array((text + #""x", "tag": "\#(tag)"}]}"#).utf8)))
    }

    private static let tools = """
        {"version": 1, "name": "tools", "places": [{"name": "shed"}],
        "beacons": [{"name": "b", "identity": "uid:00010203040506070809-0a0b0c0d0e0f", "intervalMs": 300}],
        "items": [{"id": "drill-7", "name": "Drill", "beacon": "b", "place": "shed", "note": "blue"},
        {"id": "saw", "name": "Saw", "beacon": "address:C0:01:02:03:04:05"}]}
        """

    @Test("the items of an inventory are recognized by their ids", arguments: ["tools", "shed"])
    func inventory(tag: String) throws {
        let hub = try hub(of: Self.tools, tag: tag)
        #expect(hub.known.beacons.map(\.name) == ["drill-7", "saw"])
        #expect(hub.known.beacons.map(\.intervalMicroseconds) == [300_000, nil])
        #expect(hub.known.beacons[0].identity?.description == "uid:00010203040506070809-0a0b0c0d0e0f")
        let beacons = HubFile.beacons(hub.known)
        #expect(beacons.map(\.tags) == [["tools", "shed"], ["tools"]])
        #expect(beacons[0].attachments.map(\.key) == ["name", "place", "note"])
        #expect(beacons[0].attachments.map(\.text) == ["Drill", "shed", "blue"])
        // An address contains no power at 1 m.
        #expect(hub.warnings.count == (tag == "tools" ? 1 : 0), "\(hub.warnings)")
    }

    @Test("a problem in an inventory is reported at its place there")
    func badInventory() throws {
        let error = #expect(throws: ListenerServiceError.self) {
            try hub(of: Self.tools.replacing("\"drill-7\"", with: "\"saw\""))
        }
        guard case .service(.refused(.invalid, let lines))? = error else {
            Issue.record("\(error as Any)")
            return
        }
        #expect(lines.count == 1 && lines[0].hasPrefix(folder.place("tools.json") + ":4:"), "\(lines)")
        let malformed = #expect(throws: ListenerServiceError.self) { try hub(of: "{") }
        if case .service(.refused(.malformed, _))? = malformed {} else { Issue.record("\(malformed as Any)") }
        try Files.remove(folder.place("tools.json"))
        let missing = #expect(throws: ListenerServiceError.self) { try hub(of: nil) }
        if case .service(.refused(.missing, let lines))? = missing {
            #expect(lines.allSatisfy { $0.contains("tools.json") })
        } else {
            Issue.record("\(missing as Any)")
        }
    }

    @Test("a hook matches only its event and its zone")
    func hooks() throws {
        let rule = HookRule(event: .enter, zone: "desk", run: ["true"])
        #expect(rule.matches(.enter, zone: "desk") && !rule.matches(.exit, zone: "desk"))
        #expect(!rule.matches(.enter, zone: "door"))
        #expect(HookRule(event: nil, zone: nil, run: ["true"]).matches(.known, zone: "door"))
    }

    /// SIGHUP must not hang a listener.
    @Test("a named pipe instead of a listener file or a file it names is refused immediately")
    func pipes() throws {
        let pipe = folder.place("pipe.json")
        try #require(unsafe mkfifo(pipe, 0o600) == 0)
        let error = #expect(throws: ListenerServiceError.self) { _ = try HubFile(path: pipe, isReadAgain: true) }
        #expect(error?.messages == ["\(pipe): this is a named pipe, not a regular file"])
        for entry in ["profile", "fleet", "inventory"] {
            let text = #"{"version":1,"name":"hall","known":[{"\#(entry)":"pipe.json"}]}"#
            let path = try folder.file("hall.json", Array(text.utf8))
            let error = #expect(throws: ListenerServiceError.self) { _ = try HubFile(path: path) }
            #expect(error?.messages.first?.contains("this is a named pipe") == true, "\(error?.messages ?? [])")
        }
    }
}
