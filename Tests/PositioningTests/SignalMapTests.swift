import Airtime
import BluetoothTypes
import Configuration
import PositioningWorlds
import Testing

@testable import Positioning

@Suite struct SignalMapTests {
    private static func small() -> Survey {
        SimulatedBuilding(seed: 11).survey.filtered { $0.number <= 24 }
    }

    @Test(arguments: PositioningAlgorithm.allCases)
    func mapReadFromItsFileGivesTheSameAnswers(algorithm: PositioningAlgorithm) throws {
        var map = try SignalMap(Self.small(), positions: [BeaconKey("beacon-1")!: FloorPosition(x: 1, y: 2.5)])
        map.settings = LocatorSettings(algorithm)
        map.sources = [.init(name: "may.jsonl", sha256: "00ff")]
        let (read, problems) = SignalMap.decode(Array(map.text.utf8))
        #expect(problems.isEmpty)
        let again = try #require(read)
        #expect(again.text == map.text)
        var (left, right) = (try Locator(map), try Locator(again))
        for index in stride(from: 0, to: 200, by: 13) {
            let vector = map.fingerprints[index].vector
            let (one, other) = (left.locate(vector), right.locate(vector))
            #expect(one.place == other.place && one.state == other.state)
            if let position = one.position {
                #expect(position.distance(to: try #require(other.position)) < 1e-6)
            }
        }
    }

    @Test func sameSurveyGivesTheSameOctets() throws {
        #expect(try SignalMap(Self.small()).text == SignalMap(Self.small()).text)
        let choices = try (0..<2).map { _ in try AlgorithmChoice(Self.small(), candidates: [.gauss, .nn]).map.text }
        #expect(choices[0] == choices[1])
    }

    @Test func mapWithoutVectorsRefusesAlgorithmsThatNeedThem() throws {
        var map = try SignalMap(Self.small())
        map.settings = LocatorSettings(.gauss)
        // Maps of very many readings have no vectors.
        let vectors = try #require(map.text.firstRange(of: "  \"vectors\": ["))
        let text = map.text[..<vectors.lowerBound] + "  \"vectors\": null\n}\n"
        let read = try #require(SignalMap.decode(Array(text.utf8)).map)
        #expect(throws: PositioningError.noFingerprints(.nn)) { _ = try Locator(read, settings: LocatorSettings(.nn)) }
        // Small maps keep their vectors, so that every algorithm can be tried.
        let whole = try #require(SignalMap.decode(Array(map.text.utf8)).map)
        #expect(try Locator(whole, settings: LocatorSettings(.nn)).map.places.count == 6)
    }

    /// The vectors are as large as the survey. A map that does not need them does not keep them; its file is the same.
    @Test(arguments: [(PositioningAlgorithm.gauss, 200, 200), (.gauss, 201, 0), (.nn, 201, 201)])
    func mapOfManyReadingsKeepsVectorsForThoseThatCompareWithThem(
        algorithm: PositioningAlgorithm, seconds: Int, kept: Int
    ) throws {
        var survey = Survey()
        let numbers = try (0..<1000).map { try #require(BeaconKey("b\($0)").flatMap { survey.number(of: $0) }) }
        survey.begin(Survey.Stay(number: 1, place: "P", position: .init(x: 4, y: 0)))
        for second in 0..<seconds {
            let readings = numbers.map { SignalVector.Reading(beacon: $0, level: -60 - Double(($0 + second) % 20)) }
            survey.append(SignalVector(seconds: Double(second), readings: readings))
        }
        let map = try AlgorithmChoice(survey, candidates: [algorithm]).map
        #expect(map.fingerprints.count == kept)
        var whole = try SignalMap(survey)
        #expect(whole.fingerprints.count == seconds)
        whole.settings = map.settings
        #expect(map.text == whole.text)
    }

    @Test func reportsProblemsOfADamagedMap() throws {
        var map = try SignalMap(Self.small())
        map.settings = LocatorSettings(.nn)
        let text = map.text
        for (from, to) in [
            ("\"version\": 1", "\"version\": 2"), ("\"beacon\":0", "\"beacon\":99"), ("\"mean\":-", "\"mean\":1"),
            ("\"temper\":4", "\"temper\":0"), ("\"name\":\"nn\"", "\"name\":\"best\""), ("\"places\"", "\"place\""),
            ("\"key\":\"beacon-1\"", "\"key\":\"\""), ("\"statistics\": [", "\"statistics\": [[], "),
        ] {
            #expect(text.contains(from))
            let (map, problems) = SignalMap.decode(Array(text.replacing(from, with: to, maxReplacements: 1).utf8))
            #expect(map == nil && problems.contains { $0.isError }, "\(to)")
        }
        var random = SplitMix64(seed: 4)
        var octets = Array(text.utf8)
        for _ in 0..<20 {
            for _ in 0..<5 { octets[random.next(upTo: UInt32(octets.count - 1))] = UInt8(random.next(upTo: 127)) }
            if let map = SignalMap.decode(octets).map { _ = try? Locator(map) }
        }
    }

    /// The beacons of the corridor follow -55 - 20 log10 d, and the file contains their fitted trends.
    @Test func fileHasTheTrendOfEachBeacon() throws {
        let map = try SignalMap(ModelTests.corridor())
        let beacons = try #require(JSONDocument.parse(Array(map.text.utf8)).root?["beacons"]?.elements)
        for (beacon, trend) in zip(beacons, map.trends) {
            let trend = try #require(trend)
            let written = try #require(beacon["trend"])
            guard case .number(let level)? = written["dbmAt1m"]?.value,
                case .number(let n)? = written["exponent"]?.value
            else { throw PositioningError.noPlaces }
            #expect(abs((Double(level.text) ?? 0) - trend.levelAtOneMetre) < 0.001)
            #expect(abs((Double(n.text) ?? 0) - trend.exponent) < 0.001 && written["center"]?.elements?.count == 2)
        }
        #expect(SignalMap.decode(Array(map.text.utf8)).map?.text == map.text)
    }

    @Test func twoPlacesWithOneNameGetDifferentNames() throws {
        var survey = Survey()
        let beacon = try #require(BeaconKey("b").flatMap { survey.number(of: $0) })
        for (number, x) in [0.0, 9, 0.2].enumerated() {
            survey.begin(Survey.Stay(number: number + 1, place: "A", position: FloorPosition(x: x, y: 0)))
            survey.append(SignalVector(seconds: 0, readings: [.init(beacon: beacon, level: -60)]))
        }
        let map = try SignalMap(survey)
        #expect(map.places.map(\.name) == ["A", "A (2)"] && map.places.map(\.seconds) == [2, 1])
        #expect(map.notices.count == 1)
    }

    @Test func identitiesAreNormalized() throws {
        let text = "ibeacon:fb0b57a2-8228-44cd-913a-94a122ba1206-1-2"
        #expect(BeaconKey("ibeacon:FB0B57A2-8228-44CD-913A-94A122BA1206-1-2")?.text == text)
        #expect(BeaconKey(text)?.text == text)
        #expect(BeaconKey(text + "@C1:02:03:04:05:06")?.text == text + "@C1:02:03:04:05:06")
        #expect(BeaconKey("hall-desk")?.text == "hall-desk")
        #expect(BeaconKey("") == nil && BeaconKey("a\u{1B}") == nil)
        #expect(BeaconKey(String(repeating: "a", count: 257)) == nil)
    }

    /// A problem in the long lists has the line and column of the whole file.
    @Test(arguments: [("\"heard\":", "-"), ("\"vectors\": [", "[9],"), ("\"histogram\":[[", ",")])
    func problemInALongListHasItsPosition(after: String, inserted: String) throws {
        var text = try SignalMap(Self.small()).text
        let place = try #require(text.firstRange(of: after)).upperBound
        let lines = text[..<place].split(separator: "\n", omittingEmptySubsequences: false)
        let expected = JSONPosition(line: lines.count, column: (lines.last?.unicodeScalars.count ?? 0) + 1)
        text.insert(contentsOf: inserted, at: place)
        let (map, problems) = SignalMap.decode(Array(text.utf8))
        #expect(map == nil)
        #expect(problems.first?.position == expected)
    }

    // MARK: Tables

    @Test func longTableIsReadBack() throws {
        let survey = SurveyReaderTests.read(SurveyReaderTests.whole).survey
        let text = SurveyTable.long(survey)
        let (read, problems) = SurveyTableReader.read(Array(text.utf8), file: "survey.csv")
        #expect(problems.isEmpty)
        #expect(SurveyTable.long(try #require(read)) == text)
        #expect(text.hasPrefix("session,place,x,y,floor,heading,time,beacon,rssi\nmay,A3,4,6,ground,90,0,"))
        #expect(text.hasSuffix("may,A3,4,6,ground,90,1,,\n"))
    }

    @Test func wideTableIsReadBack() throws {
        let survey = SurveyReaderTests.read(SurveyReaderTests.whole).survey
        let text = SurveyTable.wide(survey)
        let (read, problems) = SurveyTableReader.read(Array(text.utf8), file: "survey.csv")
        #expect(problems.isEmpty)
        #expect(SurveyTable.wide(try #require(read)) == text)
    }

    @Test func writesSignalMappingFiles() {
        let survey = SurveyReaderTests.read(SurveyReaderTests.whole).survey
        #expect(
            SurveyTable.dump(survey).hasPrefix("1\t\(SurveyReaderTests.key)\t-71\n1\t\(SurveyReaderTests.key)\t-73\n"))
        #expect(
            SurveyTable.nodeMedians(survey) == "measurement\thall\t\(SurveyReaderTests.key)\n1\t-88\t-71\n")
    }

    /// A number means "not received" only if the caller gives it as `notReceivedLevel`.
    @Test(arguments: ["100", "0", "-200", "nan"])
    func onlyTheGivenLevelMeansNotReceived(absent: String) throws {
        let text = "place,time,beacon,rssi\nA,0,b,-60\nA,0,c,\(absent)\n"
        let said = SurveyTableReader.read(Array(text.utf8), file: "t.csv", notReceivedLevel: Double(absent))
        #expect(said.problems.isEmpty && said.survey?.vector(0).readings.count == 1)
        let unsaid = SurveyTableReader.read(Array(text.utf8), file: "t.csv")
        #expect(!unsaid.problems.isEmpty)
        // A number that is not a level is left out with a warning, but "nan" refuses the table.
        #expect(unsaid.survey?.vector(0).readings.count == (absent == "nan" ? nil : 1))
    }

    /// Tables as other programs and spreadsheets write them.
    @Test(
        arguments: [
            "timestamp,MAC,RSSI,x,y\n0,AA:BB:CC:DD:EE:01,-60,1.5,2\n1,aa-bb-cc-dd-ee-01,-61,1.5,2\n2,aabbccddee01,-62,1.5,2\n",
            "\u{FEFF}sep=;\r\nTime;Address;Rssi;X;Y\r\n0;aa:bb:cc:dd:ee:01;-60;1,5;2\r\n1;AA:BB:CC:DD:EE:01;-61,0;1,5;2\r\n2;aabbccddee01;-62;1,5;2\r\n",
            "time,bssid,rssi,x,y\n1777620000000,aabbccddee01,-60,1.5,2\n1777620001000,aabbccddee01,-61,1.5,2\n1777620002000,aabbccddee01,-62,1.5,2\n",
            "datetime,mac,rss,x,y\n2026-05-01 09:00:00.5,aabbccddee01,-60,1.5,2\n2026-05-01T09:00:01.5Z,aabbccddee01,-61,1.5,2\n2026-05-01T11:00:02.5+02:00,aabbccddee01,-62,1.5,2\n",
            "time,x,y,aa:bb:cc:dd:ee:01\n0,1.5,2,-60\n1,1.5,2,-61\n2,1.5,2,-62\n",
        ])
    func tablesOfOtherProgramsAreRead(text: String) throws {
        let (found, problems) = SurveyTableReader.read(Array(text.utf8), file: "t.csv")
        let survey = try #require(found, "\(problems)")
        #expect(problems.isEmpty)
        #expect(survey.beacons.map(\.text) == ["address:AA:BB:CC:DD:EE:01"])
        #expect(survey.stays.map(\.position) == [FloorPosition(x: 1.5, y: 2)])
        #expect((0..<survey.vectorCount).map { survey.vector($0).readings.map(\.level) } == [[-60], [-61], [-62]])
        let seconds = (0..<survey.vectorCount).map { survey.vector($0).seconds }
        #expect(zip(seconds, seconds.dropFirst()).allSatisfy { $1 - $0 == 1 })
        #expect((seconds.first ?? .infinity) < 1e10)
    }

    /// A table with one unreadable row is refused as a whole, and the message says how many rows are unreadable.
    @Test(
        arguments: [
            (
                String(repeating: "A,\"1,5\",2,0,b,-78\n", count: 300),
                "x is not a number: \"1,5\"; 299 more rows have this problem, up to row 301", 300
            ),
            ("A,1,2,0,b,-78\nA,1,2,1,b,loud\n", "\"rssi\" is not a level in dBm: \"loud\"", 1),
            ("A,1,2,noon,b,-78\n", "time is not a time: \"noon\"", 1),
            ("A,1,2,20000000000,b,-78\n", "time is not a time: \"20000000000\"", 1),
            ("A,1,2,0,b,-78\nA,1,2,9000000000,b,-78\n", "the times span 104166 days, but at most 366 are allowed", 1),
        ])
    func aTableIsReadWholeOrNotAtAll(rows: String, message: String, count: Int) throws {
        let (survey, problems) = SurveyTableReader.read(
            Array(("place,x,y,time,beacon,rssi\n" + rows).utf8), file: "t.csv")
        #expect(survey == nil)
        #expect(problems.count == 2)
        #expect(problems.first?.message == message)
        #expect(problems.last?.message.hasPrefix("the table was not read, because \(count) of ") == true)
    }

    @Test func rowsOfAStayNeedNotBeTogether() throws {
        let text = "session,place,time,beacon,rssi\ns,A,0,b,-60\ns,B,0,b,-70\ns,A,1,b,-62\ns,A,0,c,-80\n"
        let survey = try #require(SurveyTableReader.read(Array(text.utf8), file: "t.csv").survey)
        #expect(survey.stays.map(\.place) == ["A", "B"])
        #expect(survey.stays.map(\.vectors.count) == [2, 1])
        #expect(survey.vector(0).readings.map(\.level) == [-60, -80])
    }

    @Test(arguments: ["", "a,b\n1,2\n", "place,beacon\nA,b\n", "place,x,y,beacon,rssi\nA,far,2,b,-60\n", "\u{0}"])
    func reportsProblemsOfATableThatIsNoSurvey(text: String) {
        let (survey, problems) = SurveyTableReader.read(Array(text.utf8), file: "t.csv")
        #expect(survey == nil || survey?.vectorCount == 0 || problems.isEmpty == false)
        if text != "place,beacon\nA,b\n" { #expect(!problems.isEmpty) }
    }
}
