import Airtime
import Configuration
import Planner
import Testing

@Suite("Spacing and range")
struct RangeQuestionTests {
    private func answer(_ change: (inout RangeQuestion) -> Void) throws -> PlanAnswer {
        var question = RangeQuestion()
        change(&question)
        return try question.answer()
    }

    /// The values of a key under each model, in the order log-distance, ITU, Heydon, thesis.
    private func models(_ key: String, of answer: PlanAnswer) -> [Double?] {
        guard case .list(let models)? = answer["models"] else { return [] }
        return models.map { $0[key]?.value }
    }

    private func isNear(_ values: [Double?], _ expected: [Double], within tolerance: Double = 0.01) -> Bool {
        values.count == expected.count && zip(values, expected).allSatisfy { abs(($0 ?? .nan) - $1) < tolerance }
    }

    @Test("beacons are counted within 100 m for grids of 10 and 15 m, where the thesis is wrong")
    func countsTheBeaconsOfGridsWithinARange() throws {
        let answer = try answer { $0.range = 100 }
        #expect(answer.sentence.contains("A square grid of 10 m has about 314 to 317 beacons within 100 m"))
        #expect(answer.sentence.contains("A square grid of 15 m has about 137 to 140 beacons within 100 m"))
        guard case .list(let grids)? = answer["grids"] else {
            Issue.record("no list of grids")
            return
        }
        #expect(grids.map { $0["beaconsAtBeacon"]?.value } == [317, 137])
        #expect(grids.map { $0["beaconsAtCellCenter"]?.value } == [316, 140])
        #expect(isNear(grids.map { $0["farthestM"]?.value }, [7.071, 10.607]))
        #expect(answer.notes.contains { $0.contains("A widely read thesis counts 250 beacons") })
        #expect(answer.notes.contains { $0.contains("counted in range of a receiver such as a phone: at a beacon") })
    }

    @Test func theSentenceNamesTheBody() throws {
        let answer = try answer {
            $0.height = 3
            $0.body = 15
        }
        let start = "A beacon 3 m above the receiver and behind a body that costs 15 dB has a range of "
        #expect(answer.sentence.hasPrefix(start), "\(answer.sentence)")
    }

    @Test("a spacing alone counts the beacons within the link range")
    func spacingAloneCountsWithinTheLinkRange() throws {
        let answer = try answer { $0.spacing = 8 }
        #expect(try abs(#require(answer["rangeM"]?.value) - 17.042) < 0.001)
        #expect(answer.sentence.hasPrefix("A square grid of 8 m has about 13 to 16 beacons within 17 m"))
    }

    @Test("a distance alone gives level and loss under each model")
    func distanceAloneGivesLevelAndLoss() throws {
        let answer = try answer { $0.distance = 4 }
        // 65 + 20.3·log10 4; 20·log10 2426 + 30·log10 4 - 28; 40 + 25·log10 4; 32 - 0.01721·16 + 19.8256·ln 5.
        #expect(isNear(models("lossDb", of: answer), [77.222, 57.759, 55.051, 63.633]))
        #expect(isNear(models("levelDbm", of: answer), [-77.222, -57.759, -55.051, -63.633]))
        #expect(try abs(#require(answer["levelDbm"]?.value) + 77.222) < 0.001)
        #expect(answer["advantageDb"]?.value == nil && answer["survivesSpecification"]?.value == nil)
    }

    @Test("a level alone gives the distance on the floor")
    func levelAloneGivesTheDistance() throws {
        let level = try answer { $0.level = -75 }
        #expect(isNear(models("distanceAtLevelM", of: level), [3.109, 15.022, 25.119, 8.292]))
        let high = try answer { ($0.level, $0.height) = (-75, 3) }
        let onTheFloor: Double = (3.1089 * 3.1089 - 9).squareRoot()
        let distance = try #require(high["distanceAtLevelM"]?.value)
        #expect(abs(distance - onTheFloor) < 0.001)
    }

    @Test("a mount above the receiver shortens the range on the floor")
    func heightShortensTheRangeOnTheFloor() throws {
        let answer = try answer { $0.height = 3 }
        #expect(isNear([answer["floorRangeM"]?.value], [16.776]))
        #expect(isNear([answer["levelBelowDbm"]?.value], [-74.686]))
        let tooHigh = try self.answer { $0.height = 20 }
        #expect(tooHigh["floorRangeM"]?.value == 0)
    }

    @Test("a body in between shortens the range, and its source is stated")
    func bodyShortensTheRange() throws {
        let answer = try answer { $0.body = 15 }
        #expect(isNear([answer["rangeBehindBodyM"]?.value], [3.109]))
        #expect(answer.notes.contains { $0.contains("15 dB with a body 5 cm from the receiver, and of 6 dB") })
        let both = try self.answer { ($0.body, $0.distance) = (15, 4) }
        #expect(isNear([both["levelDbm"]?.value], [-92.222]))
    }

    @Test("whether 4 m survive an interferer at 20 m depends on the path loss model")
    func captureDependsOnThePathLossModel() throws {
        let answer = try answer { ($0.distance, $0.interferer) = (4, 20) }
        #expect(isNear(models("advantageDb", of: answer), [14.189, 20.969, 17.474, 21.367]))
        guard case .list(let models)? = answer["models"] else {
            Issue.record("no list of models")
            return
        }
        let survives = models.map { $0["survivesSpecification"]?.text }
        #expect(survives == ["no", "no", "no", "yes"])
        #expect(models.allSatisfy { $0["survivesCapture"]?.text == "yes" })
        #expect(answer.sentence.hasSuffix("in any receiver (21 dB) under some models and not under others."))
        // Heydon: 20 m / 10^(21/25).
        let farthest = self.models("farthestBySpecificationM", of: try self.answer { $0.interferer = 20 })
        #expect(isNear([farthest[2]], [2.891]))
    }

    @Test("the usual rule is shown with its grid spacings and its source")
    func usualRule() throws {
        let answer = try answer { $0.distance = 1 }
        let rule = try #require(answer["usualRule"])
        #expect(rule["gridSpacingsM"]?.json.line == "[4.242640687119286,5.656854249492381]")
        #expect(rule["source"]?.text.contains("ArcGIS") == true)
        #expect(answer.notes[0].hasPrefix("The usual rule: \"a beacon every 10 to 15 m, and one within 3 to 4 m"))
    }

    @Test("a custom path loss model is listed first, and an infinite range has no number")
    func ownPathLossModelComesFirst() throws {
        let own = try NamedPathLoss("log-distance:50,3")
        let answer = try answer { ($0.distance, $0.pathLoss, $0.radioPower) = (10, own, 10) }
        #expect(isNear(models("lossDb", of: answer).prefix(1) + [], [80]))
        #expect(models("linkRangeM", of: answer).count == 5)
        #expect(models("linkRangeM", of: answer)[4] == nil)
        #expect(answer.json.line.contains(#""linkRangeM":null"#))
        let thesis = try NamedPathLoss("thesis")
        #expect(throws: PlanError.self) { try self.answer { ($0.spacing, $0.pathLoss) = (10, thesis) } }
    }
}
