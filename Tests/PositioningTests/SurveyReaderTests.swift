import Airtime
import BluetoothTypes
import Configuration
import Testing

@testable import Positioning

@Suite struct SurveyReaderTests {
    static let key = "ibeacon:fb0b57a2-8228-44cd-913a-94a122ba1206-1-2"
    static let whole = """
        {"survey":1,"site":"museum","receiver":{"name":"pi-7","adapter":"hci0"},"started":"2026-05-01T09:00:00Z"}
        {"stay":1,"place":"A3","position":[4.0,6.0],"floor":"ground","heading":90,"session":"may"}
        {"t":0.0,"rssi":{"\(key)":[-71,-73,-70],"hall":[-88]}}
        {"t":1.0,"rssi":{}}
        {"end":1,"seconds":2}

        """

    static func read(_ text: String, acceptsZeroLevel: Bool = false) -> SurveyReader {
        var reader = SurveyReader(file: "survey.jsonl", acceptsZeroLevel: acceptsZeroLevel)
        reader.take(text.utf8)
        reader.finish()
        return reader
    }

    /// Reads a stay at A3 with these lines.
    static func stay(_ lines: String) -> SurveyReader {
        read("{\"survey\":1}\n{\"stay\":1,\"place\":\"A3\",\"position\":[4,6]}\n" + lines)
    }

    @Test func readsAllValuesOfASurvey() throws {
        let reader = Self.read(Self.whole)
        #expect(reader.problems.isEmpty)
        let survey = reader.survey
        #expect(survey.recordings.map(\.site) == ["museum"])
        let stay = try #require(survey.stays.first)
        #expect(stay.place == "A3" && stay.position == FloorPosition(x: 4, y: 6) && stay.heading == 90)
        #expect(stay.floor == "ground" && stay.session == "may" && stay.vectors == 0..<2)
        #expect(survey.beacons.map(\.text) == [Self.key, "hall"])
        #expect(survey.vector(0).readings.map(\.level) == [-214.0 / 3, -88])
        // A second in which nothing was received is an empty vector.
        #expect(survey.vector(1).readings.isEmpty)
    }

    @Test(arguments: ["", " \n\n"])
    func anEmptyFileIsNoTable(_ text: String) {
        let (survey, problems) = SurveyTableReader.read(Array(text.utf8), file: "survey.jsonl")
        #expect(survey == nil && problems.count == 1)
        #expect(problems.first?.message.contains("one JSON object in each line") == true, "\(problems)")
    }

    /// The survey's check and its map report such a stay, unless a later line names its place.
    @Test func aStayThatGetsItsPlaceLaterIsNoProblem() {
        let reader = Self.read(
            #"{"survey":1}"# + "\n" + #"{"stay":1}"# + "\n" + #"{"t":0,"rssi":{"a":[-60]}}"# + "\n"
                + #"{"move":1,"place":"A3"}"# + "\n")
        #expect(reader.problems.isEmpty && reader.survey.stays.map(\.place) == ["A3"], "\(reader.problems)")
    }

    @Test func whatIsWrittenIsReadBack() {
        let text = SurveyWriter.text(Self.read(Self.whole).survey)
        #expect(SurveyWriter.text(Self.read(text).survey) == text)
        #expect(text.contains("[-71,-73,-70]"))
        #expect(text.contains("\"receiver\":{\"name\":\"pi-7\",\"adapter\":\"hci0\"}"))
    }

    @Test(arguments: [1, 2, 7, 64])
    func piecesOfAnySizeGiveTheSameSurvey(size: Int) {
        let octets = Array(Self.whole.utf8)
        var reader = SurveyReader()
        for start in stride(from: 0, to: octets.count, by: size) {
            reader.take(octets[start..<min(start + size, octets.count)])
        }
        reader.finish()
        #expect(SurveyWriter.text(reader.survey) == SurveyWriter.text(Self.read(Self.whole).survey))
    }

    /// If a survey is cut anywhere, at most the line with the cut is lost. A problem reports the cut.
    @Test func cutSurveyKeepsAllButItsLastLine() {
        let octets = Array(Self.whole.utf8)
        for end in 0..<octets.count {
            var reader = SurveyReader()
            reader.take(octets[..<end])
            reader.finish()
            let lines = octets[..<end].count { $0 == UInt8(ascii: "\n") }
            #expect(reader.survey.vectorCount >= min(max(lines - 2, 0), 2))
            #expect(!reader.problems.contains { $0.isError }, "cut at \(end)")
        }
        let cut = Self.read(String(Self.whole.dropLast(40)))
        #expect(cut.problems.contains { $0.message.contains("cut") })
    }

    @Test func aMalformedLineIsSkipped() {
        let reader = Self.stay("{\"t\":0,\"rssi\":{\"a\":[-70]}}\nnonsense\n{\"t\":1,\"rssi\":{\"a\":[-71]}}\n")
        #expect(reader.survey.vectorCount == 2)
        #expect(reader.problems.map(\.line) == [4])
    }

    @Test(arguments: ["127", "21", "-128", "0", "1e999", "-1e999"])
    func impossibleLevelIsNoReading(level: String) {
        let reader = Self.stay("{\"t\":0,\"rssi\":{\"a\":[\(level)],\"b\":[-70,\(level)]}}\n")
        #expect(reader.survey.vector(0).readings.map(\.level) == [-70])
    }

    @Test func refusedLevelsAreCounted() {
        let reader = Self.stay("{\"t\":0,\"rssi\":{\"a\":[127,127,-70]}}\n")
        #expect(reader.problems.map(\.message).contains { $0.hasPrefix("2 readings of 127 dBm") })
    }

    @Test func zeroCountsOnlyWhereTheSourceSaysSo() {
        let lines = "{\"survey\":1}\n{\"stay\":1,\"place\":\"A\"}\n{\"t\":0,\"rssi\":{\"a\":[0]}}\n"
        #expect(Self.read(lines).survey.vector(0).readings.isEmpty)
        #expect(Self.read(lines, acceptsZeroLevel: true).survey.vector(0).readings.map(\.level) == [0])
    }

    @Test func reportsTimeThatRunsBackwards() {
        let reader = Self.stay("{\"t\":5,\"rssi\":{}}\n{\"t\":3,\"rssi\":{}}\n")
        #expect(reader.survey.vectorCount == 2)
        #expect(reader.problems.map(\.message).contains { $0.contains("backwards") })
    }

    @Test func tenThousandBeaconsInOneSecondAreRead() {
        let readings = (0..<10_000).map { "\"b\($0)\":[-\(40 + $0 % 60)]" }.joined(separator: ",")
        let reader = Self.stay("{\"t\":0,\"rssi\":{\(readings)}}\n")
        #expect(reader.survey.vector(0).readings.count == 10_000)
        #expect(reader.problems.isEmpty)
    }

    @Test func leavesOutBeaconsBeyondTheLimit() {
        var text = ""
        for second in 0..<3 {
            let readings = (0..<10_000).map { "\"b\($0 + second * 10_000)\":[-50]" }.joined(separator: ",")
            text += "{\"t\":\(second),\"rssi\":{\(readings)}}\n"
        }
        let reader = Self.stay(text)
        #expect(reader.survey.beacons.count == Survey.beaconLimit)
        #expect(reader.problems.map(\.message).contains { $0.hasPrefix("10000 beacons beyond") })
    }

    @Test func laterLinesDropAndMoveStays() throws {
        let text = Self.whole + "{\"stay\":2,\"place\":\"B\"}\n{\"t\":0,\"rssi\":{\"hall\":[-60]}}\n"
        let moved = Self.read(text + "{\"move\":1,\"position\":[8,9]}\n{\"drop\":2}\n").survey
        #expect(moved.stays[0].position == FloorPosition(x: 8, y: 9))
        #expect(moved.stays.map(\.isCancelled) == [false, true])
        #expect(Self.read(text + "{\"drop\":9}\n").problems.map(\.isError) == [true])
        #expect(Self.read(text + "{\"move\":1}\n").problems.map(\.isError) == [true])
    }

    @Test func readingsOutsideOfAStayAreAProblem() {
        #expect(Self.read("{\"survey\":1}\n{\"t\":0,\"rssi\":{}}\n").problems.map(\.line) == [2])
        let ended = Self.stay("{\"end\":1}\n{\"t\":0,\"rssi\":{}}\n")
        #expect(ended.survey.vectorCount == 0 && ended.problems.map(\.line) == [4])
    }

    @Test(arguments: [
        "{\"stay\":\"one\"}", "{\"stay\":2,\"position\":[1]}", "{\"stay\":2,\"position\":[1e9,0]}",
        "{\"stay\":2,\"heading\":\"north\"}", "{\"survey\":2}", "{\"t\":\"now\",\"rssi\":{}}",
        "{\"t\":1e400,\"rssi\":{}}",
        "{\"t\":0,\"rssi\":[]}", "{\"t\":0,\"rssi\":{\"a\":[\"loud\"]}}", "{\"t\":0,\"rssi\":{\"\":[-70]}}", "[]",
        "NaN",
    ])
    func reportsAnErrorForAHostileLine(line: String) {
        let reader = Self.stay(line + "\n")
        #expect(reader.problems.contains { $0.isError })
        #expect(reader.problems.allSatisfy { $0.line == 3 && !$0.message.isEmpty })
    }

    @Test func randomBytesLoseNoEarlierLines() {
        var random = SplitMix64(seed: 14)
        let alphabet = Array("{}[]\":,0123456789.-eE tsuvyrdopmn\n\\".utf8)
        for _ in 0..<2000 {
            let count = random.next(upTo: 200)
            let octets = (0..<count).map { _ in alphabet[random.next(upTo: UInt32(alphabet.count - 1))] }
            var reader = SurveyReader()
            reader.take(Self.whole.utf8)
            reader.take(octets)
            reader.finish()
            #expect(reader.survey.vectorCount >= 2)
        }
    }
}
