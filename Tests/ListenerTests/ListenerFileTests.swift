import BeaconFrames
import BluetoothTypes
import Configuration
import HCITransports
import LinuxHost
import Sightings
import TestSupport
import Testing

@testable import Listener

@Suite("Listener files") struct ListenerFileTests {
    static let good = RepositoryFile.all(in: "Tests/Corpus/listeners/good")
    static let bad = RepositoryFile.all(in: "Tests/Corpus/listeners/bad")
    static let semantic = RepositoryFile.all(in: "Tests/Corpus/listeners/semantic")
    static let samples = RepositoryFile.all(in: "profiles/listeners")

    @Test("the corpus is complete")
    func isComplete() {
        #expect(Self.good.count >= 8 && Self.bad.count >= 50 && Self.semantic.count >= 6 && !Self.samples.isEmpty)
    }

    @Test("good files and samples are read without problems or warnings", arguments: good + samples)
    func readsGood(_ file: RepositoryFile) {
        let (listener, problems) = ListenerFile.decode(file.octets)
        #expect(listener != nil)
        #expect(problems.isEmpty, "\(problems)")
    }

    @Test("bad files are refused for exactly their intended fault", arguments: bad + semantic)
    func refusesBad(_ file: RepositoryFile) {
        let (listener, problems) = ListenerFile.decode(file.octets)
        #expect(listener == nil)
        #expect(problems.filter(\.isError).count == 1, "\(problems)")
        #expect(problems.allSatisfy { $0.line >= 1 && $0.column >= 1 && !$0.message.isEmpty })
    }

    @Test("every key is read into its property")
    func everything() throws {
        let file = RepositoryFile("Tests/Corpus/listeners/good/everything.json")
        let listener = try #require(ListenerFile.decode(file.octets).file)
        #expect(listener.name == "hall" && listener.adapter == .raw(index: 0))
        #expect("\(listener.settings)" == "active, 50.625 ms of every 100 ms")
        #expect(listener.place?.names == ["museum", "ground", "Große Halle"])
        #expect(
            listener.place?.json.line
                == #"{"site":"museum","floor":"ground","room":"Große Halle","position":[2.5,-1]}"#)
        #expect(listener.levelOffset == -3 && listener.keys == "/etc/pharos/keys" && listener.listsStrangers)
        #expect(listener.serviceKeys == ["zones", "mqtt", "history", "hooks"])
        #expect(listener.addressKeys.map(\.name) == ["ana"] && listener.addressKeys.map(\.file) == ["irk-ana"])
        #expect(listener.known.prefix(3) == [.fleet("museum.json"), .profile("lobby.json"), .inventory("tools.json")])
        guard case .beacon(let beacon) = listener.known[3] else {
            Issue.record("\(listener.known[3])")
            return
        }
        let words = beacon.patterns.map { "\($0)".split(separator: ":")[0] }
        #expect(words == ["ibeacon", "altbeacon", "uid", "url", "address", "name", "service"])
        #expect(beacon.note.tags == ["desk", "red"])
        #expect(beacon.note.attachments.map(\.key) == ["desk-owner", "post"])
    }

    @Test(
        "messages name the place and suggest a correction",
        arguments: [
            ("bad/unknown-key", "the key \"knwon\" is not known; did you mean \"known\"?"),
            ("bad/known-flet", "known[0].flet: the key \"flet\" is not known; did you mean \"fleet\"?"),
            ("bad/irk-in-the-file", "irks[0].file: this looks like the key itself"),
            ("bad/strangers-ignored", "strangers: \"ignore\" is not known; one of count, list"),
            ("bad/scan-interval-too-short", "scan.intervalMs: 2.4999 is out of range 2.5...10240 ms"),
            ("bad/nobody", "no beacon is known: give \"known\" or \"irks\", or \"strangers\": \"list\""),
            ("semantic/window-longer-than-interval", "scan.windowMs: the scan window is longer than the scan interval"),
            ("semantic/same-name-twice", "known[1].name: known[0].name has the same name"),
            ("bad/minor-without-major", "known[0].ibeacon.minor: a minor number needs \"major\""),
            ("bad/service-too-short", "known[0].service: \"FFF\" is not a service UUID such as \"0xFFF6\""),
            ("semantic/same-service-twice", "known[1].service: known[0].service is the same service"),
            ("semantic/same-local-name-twice", "known[1].localName: known[0].localName is the same local name"),
            ("semantic/same-identity-twice", "known[1].ibeacon: known[0].ibeacon is the same identity"),
        ])
    func sentences(_ name: String, _ sentence: String) {
        let (_, problems) = ListenerFile.decode(RepositoryFile("Tests/Corpus/listeners/\(name).json").octets)
        #expect(problems.first.map { $0.text(file: "x.json").contains(sentence) } == true, "\(problems)")
    }
}

/// The beacons of a listener file.
@Suite struct ListenedBeaconsTests {
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    private static let uuid = "fb0b57a2-8228-44cd-913a-94a122ba1206"

    private func file(_ members: String) throws -> String {
        try folder.file("hall.json", Array("{\"version\": 1, \"name\": \"hall\", \(members)}".utf8))
    }

    private static let iBeacon = #""ibeacon": {"uuid": "\#(uuid)", "major": 1, "minor": 7}"#

    @Test func oneBeaconMayHaveSeveralIdentitiesAndANote() throws {
        let path = try file(
            #""known": [{"name": "key", \#(Self.iBeacon), "url": "https://e.org", "tags": ["desk"]}]"#)
        let known = try KnownBeacons([path])
        #expect(known.beacons.map(\.name) == ["key", "key"])
        #expect(known.beacons.compactMap { $0.identity?.kind } == ["ibeacon", "url"])
        #expect(known.notes["key"]?.tags == ["desk"])
    }

    @Test func readsLocalNamesServicesAndPartialIdentities() throws {
        let path = try file(
            #""known": [{"name": "keys", "localName": "Peter's keys"}, {"name": "thread", "service": "FFF6"}, "#
                + #"{"name": "all", "ibeacon": {"uuid": "\#(Self.uuid)"}}, "#
                + #"{"name": "two", "ibeacon": {"uuid": "\#(Self.uuid)", "major": 2}}, "#
                + #"{"name": "ours", "uid": {"namespace": "8b0ca750095477cb3e77"}}]"#)
        let known = try KnownBeacons([path])
        #expect(
            known.beacons.map { $0.region?.description } == [
                "name:Peter's keys", "service:0xFFF6", "ibeacon:\(Self.uuid)", "ibeacon:\(Self.uuid)-2",
                "uid:8b0ca750095477cb3e77",
            ])
        #expect(known.beacons.map(\.isGroup) == [false, true, true, true, true])
        #expect(known.warnings == [])
        // The virtual adapter sends one device for each of these identities.
        #expect(try known.virtualBeacons.beacons().map(\.name) == ["keys", "thread", "all", "two", "ours"])
    }

    /// Paths are relative to the listener file, and an inventory that is not read causes a warning.
    @Test func resolvesPathsRelativeToTheListenerFile() throws {
        _ = try folder.file(
            "lobby.json",
            Array(
                (#"{"version": 1, "name": "lobby", "advertisements": [{"type": "ibeacon", "uuid": "\#(Self.uuid)", "#
                    + #""major": 1, "minor": 2, "intervalMs": 100, "measuredPowerDbm": -59}]}"#).utf8))
        let path = try file(#""known": [{"profile": "lobby.json"}, {"inventory": "tools.json"}]"#)
        let known = try KnownBeacons([path])
        #expect(known.beacons.map(\.name) == ["lobby"])
        #expect(try known.virtualBeacons.beacons().count == 1)
        #expect(
            known.warnings.count == 1
                && known.warnings[0].contains("tools.json: this command does not read inventories"))
        // If no beacon is left, the error contains the warnings.
        let things = try file(#""known": [{"inventory": "tools.json"}]"#)
        let error = #expect(throws: ListenerServiceError.self) { try KnownBeacons([things]) }
        #expect(
            error?.messages.count == 2
                && error?.messages[0].contains("this command does not read inventories") == true)
        let missing = try file(#""known": [{"profile": "attic.json"}]"#)
        #expect(throws: ListenerServiceError.self) { try KnownBeacons([missing]) }
    }

    /// Uses the sample data of the Core Specification (Vol 3 Part H, D.7).
    @Test func resolvesAnAddressWithItsKeyFile() throws {
        try Files.replaceSecret(folder.place("irk"), with: Array("ec0234a357c8ad05341010a60a397d9b\n".utf8))
        let path = try file(#""irks": [{"name": "ana", "file": "irk"}]"#)
        let known = try KnownBeacons([path])
        var table = known.table(HearingClock(), strangers: .counted)
        func hear(_ text: String) throws -> Int? {
            let address = try #require(DeviceAddress(text))
            let sighting = Sighting(
                at: HeardInstant(nanoseconds: 0), from: Sender(address, isRandom: true), rssi: -60)
            let data: [UInt8] = [2, 1, 6]
            return table.receive(sighting, data.span, data.indices)
        }
        #expect(try hear("70:81:94:0D:FB:AA") == 0)
        #expect(try hear("70:81:94:0D:FB:AB") == nil)
        #expect(table.tracks[0].known?.name == "ana" && table.tracks[0].reports == 1)
    }

    @Test func aKeyThatOthersMayReadIsRefused() throws {
        _ = try folder.file("irk", Array("ec0234a357c8ad05341010a60a397d9b\n".utf8))
        let path = try file(#""irks": [{"name": "ana", "file": "irk"}]"#)
        let error = #expect(throws: ListenerServiceError.self) { try KnownBeacons([path]) }
        #expect(error?.description.contains("others may read this identity resolving key; `chmod 600") == true)
        try Files.replaceSecret(folder.place("irk"), with: Array("ec02\n".utf8))
        let short = #expect(throws: ListenerServiceError.self) { try KnownBeacons([path]) }
        #expect(
            short?.description.hasSuffix(
                "an identity resolving key has 16 bytes: 32 hexadecimal digits, or 24 characters of Base64") == true)
    }

    /// The calibration at the requested power takes precedence over the byte in the packet.
    @Test(arguments: [(", \"radioPowerDbm\": 4", -55), (", \"radioPowerDbm\": 2", -57), ("", -61)])
    func takesTheCalibrationOfTheRequestedPower(_ power: String, _ expected: Int) throws {
        let path = try folder.file(
            "box.json",
            Array(
                (#"{"version": 1, "name": "box", "calibration": {"0": -59, "4": -55, "default": -61}\#(power), "#
                    + #""advertisements": [{"type": "ibeacon", "uuid": "\#(Self.uuid)", "major": 1, "minor": 2, "#
                    + #""intervalMs": 100, "measuredPowerDbm": -40}]}"#).utf8))
        #expect(try KnownBeacons([path]).beacons.map(\.calibrationAtOneMeter) == [expected])
    }
}
