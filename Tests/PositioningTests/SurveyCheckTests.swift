import Airtime
import Configuration
import Positioning
import Testing

/// Checks of surveys with one kind of fault each.
@Suite struct SurveyCheckTests {
    /// Returns a survey of six places in a row with four beacons, in two sessions on two days with two headings each.
    ///
    /// - Parameters:
    ///   - change: Returns the place at which the levels of a stay are really measured.
    ///   - shift: Returns a change of a beacon's levels in a session, in dB.
    static func lines(
        _ change: (_ stay: Int, _ place: Int, _ session: String) -> Int = { _, place, _ in place },
        shift: (_ beacon: Int, _ session: String) -> Int = { _, _ in 0 }
    ) -> String {
        var text = ""
        var stay = 0
        for (session, day) in [("may", "2026-05-01"), ("june", "2026-06-02")] {
            text += "{\"survey\":1,\"started\":\"\(day)T09:00:00Z\"}\n"
            for place in 0..<6 {
                for heading in [0, 180] {
                    stay += 1
                    text +=
                        "{\"stay\":\(stay),\"place\":\"P\(place)\",\"position\":[\(place * 3),0],\"heading\":\(heading),"
                    text += "\"session\":\"\(session)\"}\n"
                    let really = change(stay, place, session)
                    for second in 0..<12 {
                        let levels = (0..<4).map { beacon in
                            let level = -50 - 6 * abs(5 * beacon - 3 * really) / 3 - second % 3
                            return "\"b\(beacon)\":[\(level + shift(beacon, session))]"
                        }
                        text += "{\"t\":\(second),\"rssi\":{\(levels.joined(separator: ","))}}\n"
                    }
                }
            }
        }
        return text
    }

    static func check(_ text: String) -> SurveyCheck {
        var reader = SurveyReader()
        reader.take(text.utf8)
        reader.finish()
        return SurveyCheck(reader.survey)
    }

    @Test func goodSurveyHasNoErrors() {
        #expect(Self.check(Self.lines()).findings.filter(\.isError) == [])
    }

    @Test func stayAtAnotherPlaceIsFoundByItsLevels() {
        let check = Self.check(Self.lines { stay, place, _ in stay == 3 ? 5 : place })
        #expect(check.findings.filter(\.isError).map(\.stay) == [2])
        #expect(check.findings.contains { $0.message.contains("P5") && $0.message.contains("was it recorded there?") })
    }

    @Test func movedBeaconIsFoundBetweenSessions() {
        let moved = Self.lines(shift: { $0 == 1 && $1 == "june" ? -15 : 0 })
        let check = Self.check(moved)
        #expect(check.findings.contains { $0.isError && $0.message.hasPrefix("b1 differs by") })
    }

    @Test func renamedBeaconIsFound() {
        let lines = Self.lines().split(separator: "\n").map(String.init)
        let half = lines.firstIndex { $0.contains("2026-06-02") } ?? 0
        let text = lines.enumerated().map {
            $0.offset > half ? $0.element.replacing("\"b2\"", with: "\"new\"") : $0.element
        }
        let check = Self.check(text.joined(separator: "\n") + "\n")
        #expect(
            check.findings.contains {
                $0.isError && $0.message.hasPrefix("new in the session june is received where b2 was")
            })
    }

    @Test func reportsShortStaysOneHeadingAndOneSession() {
        let text = """
            {"survey":1}
            {"stay":7,"place":"A","position":[0,0],"heading":90}
            {"t":0,"rssi":{"a":[-60]}}
            {"stay":8}
            {"t":0,"rssi":{"a":[-61]}}

            """
        let messages = Self.check(text).findings.map { ($0.isError, $0.stay, $0.message) }
        #expect(messages.contains { $0.0 && $0.1 == 0 && $0.2.contains("1 second:") })
        #expect(messages.contains { $0.0 && $0.1 == 1 && $0.2.contains("neither a place nor a position") })
        #expect(messages.contains { !$0.0 && $0.2.contains("one heading only") })
        #expect(messages.contains { !$0.0 && $0.2.contains("one session only") })
    }

    @Test func reportsPlacesThatLookAlike() {
        let check = Self.check(Self.lines { _, place, _ in place == 3 ? 4 : place })
        #expect(check.findings.contains { $0.message.hasPrefix("P3 and P4 look alike") })
        #expect(!check.findings.contains { $0.message.hasPrefix("P0 and P5") })
    }

    @Test func reportsUselessBeaconsAndSharedIdentities() {
        let uuid = "fb0b57a2-8228-44cd-913a-94a122ba1206"
        let text = Self.lines().replacing(
            "\"b0\":",
            with: "\"same\":[-60],\"ibeacon:\(uuid)-1-2@C0:00:00:00:00:01\":[-70],"
                + "\"ibeacon:\(uuid)-1-2@C0:00:00:00:00:02\":[-80],\"b0\":")
        let messages = Self.check(text).findings.map(\.message)
        #expect(messages.contains { $0.hasPrefix("same is useless") })
        #expect(messages.contains { $0.contains("is shared by several devices: 2 are distinguished") })
    }

    /// The stay with the other heading is at the wrong place, too.
    @Test func aWrongVisitIsFoundAlthoughItsHeadingsAgree() {
        let check = Self.check(Self.lines { stay, place, _ in (stay - 1) / 2 == 7 ? 5 : place })
        let errors = check.findings.filter(\.isError)
        #expect(errors.first?.stay == 14 && errors.allSatisfy { $0.message.contains("P5: was it") }, "\(errors)")
    }

    @Test func longListsAreBoundedAndCounted() {
        var survey = Survey()
        guard let beacon = BeaconKey("b1").flatMap({ survey.number(of: $0) }) else { return }
        for place in 0..<30 {
            survey.begin(Survey.Stay(number: place + 1, place: "P\(place)", position: .init(x: Double(place), y: 0)))
            for second in 0..<12 {
                survey.append(SignalVector(seconds: Double(second), readings: [.init(beacon: beacon, level: -60)]))
            }
        }
        let findings = SurveyCheck(survey).findings
        #expect(findings.count < 60 && findings.reduce(0) { $0 + $1.count } > 400)
        #expect(
            findings.contains { $0.message == "415 more pairs of places look alike" }, "\(findings.last?.message ?? "")"
        )
    }

    /// A survey with hundreds of problems of one kind: the worst are listed first, errors before warnings.
    @Test func problemsOfStaysAreBoundedAndRanked() throws {
        var survey = Survey()
        let beacon = try #require(BeaconKey("b1").flatMap { survey.number(of: $0) })
        for number in 0..<300 {
            survey.begin(
                Survey.Stay(
                    number: number + 1, place: "P\(number % 100)", position: .init(x: Double(number % 100), y: 0)))
            // One to nine seconds, so 135 stays are too short, and 165 get a warning.
            for second in 0..<(number % 9 + 1) {
                let level = -60 - Double(number % 100) / 3
                survey.append(SignalVector(seconds: Double(second), readings: [.init(beacon: beacon, level: level)]))
            }
        }
        let findings = SurveyCheck(survey).findings
        let errors = findings.prefix { $0.isError }
        #expect(findings.dropFirst(errors.count).allSatisfy { !$0.isError })
        let short = errors.filter { $0.message.contains("record at least") }
        #expect(short.count == 20 && short.allSatisfy { $0.message.hasPrefix("it has 1 second:") })
        #expect(errors.contains { $0.message == "115 more stays have fewer than 5 seconds" && $0.count == 115 })
        let warned = findings.filter { $0.message.contains("seconds: 40 seconds in four headings are usual") }
        #expect(warned.count == 20 && warned.allSatisfy { $0.message.hasPrefix("it has only 5 seconds") })
        #expect(findings.count < 120)
    }
}
