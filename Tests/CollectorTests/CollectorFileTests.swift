import Airtime
import Collector
import Configuration
import Messaging
import Sites
import TestSupport
import Testing

/// Collector files: the values that are read, and the errors with their places.
@Suite struct CollectorFileTests {
    static let whole = """
        {"version": 1, "name": "museum", "floors": [{"name": "ground", "site": "ground.json", "rooms": [
          {"name": "hall", "outline": [[0, 0], [4, 0], [4, 4], [0, 4]]}]}],
         "receivers": [{"name": "a", "floor": "ground", "room": "hall", "position": [1.5, 2], "rssiOffsetDb": -3}],
         "beacons": [{"name": "key-ana", "identity": "uid:00112233445566778899-000000000001", "intervalMs": 1000,
           "measuredPowerAt1mDbm": -62}],
         "strangers": "list", "cellM": 0.25, "fastestMPerS": 1.2}
        """

    @Test func readsAllKeys() throws {
        let (decoded, problems) = CollectorFile.decode(Array(Self.whole.utf8))
        #expect(problems.isEmpty)
        let file = try #require(decoded)
        #expect(file.name == "museum" && file.floors.map(\.site) == ["ground.json"])
        #expect(file.floors[0].rooms.map(\.name) == ["hall"] && file.floors[0].rooms[0].corners.count == 4)
        let receiver = file.receivers[0]
        #expect(receiver.levelOffset == -3 && receiver.position?.x == 1.5 && receiver.room == "hall")
        let beacon = file.beacons[0]
        #expect(beacon.intervalMicroseconds == 1_000_000 && beacon.calibrationAtOneMeter == -62)
        #expect(file.listsStrangers && file.cellMeters == 0.25 && file.fastest == 1.2)
    }

    @Test func outlinesMayBeClosedAndPositionsMayHaveAHeight() throws {
        let closed = Self.whole.replacing("[0, 4]]}", with: "[0, 4, 3], [0, 0]]}").replacing(
            "[1.5, 2]", with: "[1.5, 2, 3]")
        let (decoded, problems) = CollectorFile.decode(Array(closed.utf8))
        #expect(problems.isEmpty)
        #expect(decoded == CollectorFile.decode(Array(Self.whole.utf8)).0)
    }

    @Test("receivers without a position get it from the site file of their floor")
    func receiversOfSites() throws {
        func site(_ receivers: String) throws -> Site {
            let text = #"{"version":1,"name":"s","outline":[[0,0],[9,0],[9,9]],"receivers":[\#(receivers)]}"#
            return try #require(Site.decode(Array(text.utf8)).site)
        }
        let text = """
            {"version":1,"name":"m","floors":[{"name":"ground","site":"g.json"},{"name":"upper","site":"u.json"}],
             "receivers":[{"name":"a"},{"name":"b","floor":"upper"},{"name":"c","floor":"ground","position":[1,1]},{"name":"d"}]}
            """
        var file = try #require(CollectorFile.decode(Array(text.utf8)).file)
        file.placeReceivers(by: [
            try site(#"{"name":"a","position":[2,3]},{"name":"b","position":[4,4]},{"name":"c","position":[7,7]}"#),
            try site(#"{"name":"a","position":[5,5]},{"name":"b","position":[6,6]}"#),
        ])
        #expect(file.receivers.map(\.position) == [.init(x: 2, y: 3), .init(x: 6, y: 6), .init(x: 1, y: 1), nil])
        #expect(file.receivers.map(\.floor) == ["ground", "upper", "ground", nil])
    }

    static let good = RepositoryFile.all(in: "Tests/Corpus/collectors/good")
    static let bad = RepositoryFile.all(in: "Tests/Corpus/collectors/bad")
    static let semantic = RepositoryFile.all(in: "Tests/Corpus/collectors/semantic")
    static let samples = RepositoryFile.all(in: "profiles/collectors")

    @Test func thereIsACorpus() {
        #expect(Self.good.count >= 4 && Self.bad.count >= 25 && Self.semantic.count >= 8 && !Self.samples.isEmpty)
    }

    @Test(arguments: good + samples)
    func goodFilesAndSamplesAreReadWithoutAWord(_ file: RepositoryFile) {
        let (collector, problems) = CollectorFile.decode(file.octets)
        #expect(collector != nil && problems.isEmpty, "\(problems)")
    }

    @Test(arguments: bad + semantic)
    func badFilesAreRefusedForTheirOneFault(_ file: RepositoryFile) {
        let (collector, problems) = CollectorFile.decode(file.octets)
        #expect(collector == nil)
        #expect(problems.filter(\.isError).count == 1, "\(problems)")
    }

    @Test func warnsOfSettingsThatOnlyListenersUse() {
        let text = #"{"version":1,"name":"m","receivers":[{"name":"a"}],"mqtt":{"url":"mqtt://h","raddec":true}}"#
        let (file, problems) = CollectorFile.decode(Array(text.utf8))
        #expect(file?.broker != nil && problems.count == 1 && problems.allSatisfy { !$0.isError })
        #expect(problems.first?.text(file: "m.json").contains("mqtt.raddec: only listeners publish this") == true)
    }

    @Test func theSchemaFileIsWhatTheProgramPrints() {
        #expect(RepositoryFile("profiles/schema/collector.schema.json").text == CollectorFile.schema)
    }

    @Test(
        arguments: [
            (#"{"version":1,"name":"m"}"#, "the key \"receivers\" is missing"),
            (
                #"{"version":1,"name":"m","receivers":[{"name":"a"},{"name":"a"}]}"#,
                "receivers[0].name is the same name"
            ),
            (#"{"version":1,"name":"m","receivers":[{"name":"a","floor":"up"}]}"#, "\"up\""),
            (#"{"version":1,"name":"m","receivers":[{"name":"a","position":[1]}]}"#, "a position such as [3.5, 12]"),
            (#"{"version":1,"name":"m","receivers":[{"name":"a"}],"cellM":0}"#, "0 is out of range 0.1...10 m"),
            (#"{"version":1,"name":"m","receivers":[{"name":"a"}],"cells":1}"#, "did you mean \"cellM\"?"),
            (
                #"{"version":1,"name":"m","receivers":[{"name":"a"}],"beacons":[{"name":"k","identity":"x"}]}"#,
                "\"x\" is not an identity"
            ),
            (
                #"{"version":1,"name":"m","receivers":[{"name":"a"}],"floors":[{"name":"g","site":"g.json","rooms":[{"name":"r","outline":[[0,0],[1,1],[2,2]]}]}]}"#,
                "these corners enclose no area"
            ),
            (#"{"version":1,"name":"m","items":[],"receivers":[]}"#, "this is an inventory, not a collector file"),
        ])
    func refusesInvalidFiles(text: String, message: String) {
        let (file, problems) = CollectorFile.decode(Array(text.utf8))
        #expect(file == nil)
        #expect(problems.contains { $0.message.contains(message) }, "\(problems.map(\.message))")
    }
}

/// Lines of receivers.
@Suite struct ReceiverLineTests {
    static func line(_ text: String) -> ReceiverLine? { ReceiverLine(Array(text.utf8)) }

    @Test func readsAReportOfAScan() throws {
        let line = try #require(
            Self.line(
                #"{"event":"report","at":"2026-11-22T20:58:59.479767Z","rssiDbm":-38,"frames":[{"type":"ibeacon","measuredPowerDbm":-59}],"identity":"ibeacon:fb0b57a2-8228-44cd-913a-94a122ba1206-1-2","beacon":"lobby"}"#
            ))
        #expect(line.receiver == nil && line.unixMilliseconds == 1_795_381_139_479)
        #expect(
            line.beacons == [
                .init(
                    name: "lobby", identity: "ibeacon:fb0b57a2-8228-44cd-913a-94a122ba1206-1-2", level: -38,
                    powerAtOneMeter: -59)
            ])
    }

    @Test func convertsThePowerOfEddystoneToOneMetre() throws {
        let line = try #require(
            Self.line(
                #"{"event":"report","at":"2026-11-22T20:58:59Z","rssiDbm":127,"frames":[{"type":"eddystone-uid","measuredPowerDbm":-20}],"identity":"uid:00112233445566778899-000000000001","beacon":null}"#
            ))
        #expect(line.beacons[0].powerAtOneMeter == -61 && line.beacons[0].level == nil)
    }

    @Test func readsARoundOfAListener() throws {
        let line = try #require(
            Self.line(
                #"{"event":"beacons","at":"2026-11-22T20:59:03.809010Z","listener":"hall","state":"deaf","beacons":[{"identity":"uid:00112233445566778899-000000000001","beacon":"lobby","heard":9,"rssiDbm":{"mean":-61.25}},{"beacon":"gone","identity":null,"heard":0,"rssiDbm":null}]}"#
            ))
        #expect(line.receiver == "hall" && line.isListening == false)
        #expect(line.beacons.map(\.name) == ["lobby"])
        #expect(line.beacons[0].level == -61.25 && line.beacons[0].reports == 9)
    }

    @Test func readsABatchFromABroker() throws {
        let line = try #require(
            Self.line(
                #"{"tst":"2026-11-22T20:59:03.809010Z","topic":"pharos/museum/sightings/3/hall","payload":{"v":1,"boot":"8f","seq":12,"bootMs":918273645,"windowMs":1000,"b":[{"id":"key","n":9,"rssi":-61.4},{"id":"address:C0:01:02:03:04:05","n":1,"rssi":null}]}}"#
            ))
        #expect(line.receiver == "hall" && line.number?.sequence == 12)
        #expect(line.beacons.map(\.name) == ["key", nil] && line.beacons[0].level == -61.4)
        let status = try #require(
            Self.line(#"{"topic":"pharos/museum/receivers/hall/status","payload":"offline"}"#))
        #expect(status.receiver == "hall" && status.isListening == false)
    }

    @Test func passesOnOnlyPlausibleTelemetry() throws {
        let batch = try #require(
            Self.line(
                #"{"topic":"pharos/m/sightings/3/hall","payload":{"v":1,"boot":"8f","seq":1,"bootMs":1,"b":[{"id":"key","n":1,"rssi":-60,"batteryV":2.95,"temperatureC":-3.5},{"id":"b","n":1,"rssi":-60,"batteryV":0,"temperatureC":900}]}}"#
            ))
        #expect(batch.beacons[0].batteryMillivolts == 2950)
        #expect(batch.beacons[0].temperature == -3500)
        #expect(batch.beacons[1] == .init(name: "b", level: -60))
        let round = try #require(
            Self.line(
                #"{"event":"beacons","beacons":[{"beacon":"key","heard":1,"rssiDbm":{"mean":-60},"telemetry":{"batteryMv":2900,"temperatureC":21.5}}]}"#
            ))
        #expect(round.beacons[0].batteryMillivolts == 2900 && round.beacons[0].temperature == 21_500)
        var collector = try PresenceTests.collector(["hall"])
        _ = collector.process(round, from: "hall", arrival: PresenceTests.begin)
        _ = collector.finish()
        let text = try #require(collector.beaconsJSON.first?.line)
        #expect(
            text.contains(#""distanceM":1.12,"#) && text.contains(#""batteryV":2.9,"temperatureC":21.5"#), "\(text)")
        #expect(Array(collector.states).first?.state.batteryMillivolts == 2900)
    }

    @Test(arguments: ["", "[]", "x", #"{"event":"#, "\u{0}"])
    func refusesTextThatIsNotALine(text: String) { #expect(Self.line(text) == nil) }

    @Test(arguments: [
        #"{"event":"report","identity":"","beacon":"\u001b[31m","rssiDbm":5}"#,
        #"{"topic":"pharos/x","payload":{"v":1}}"#, #"{"b":[{"id":1}]}"#, #"{"event":"beacons","beacons":{"a":1}}"#,
    ])
    func invalidLinesHaveNoBeacons(text: String) throws { #expect(try #require(Self.line(text)).beacons.isEmpty) }
}
