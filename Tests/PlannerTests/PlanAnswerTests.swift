import Airtime
import BluetoothTypes
import Configuration
import Planner
import Testing

/// Every fact of an answer is stated once, and the three renderers show it.
@Suite struct PlanAnswerTests {
    private func air(_ beacons: Int, _ milliseconds: Int) throws -> PlannedAir {
        let interval = try #require(AdvertisingInterval(microseconds: milliseconds * 1000))
        return PlannedAir(beacons: beacons, frames: [try PlannedFrame(interval: interval, payloadOctets: 31)])
    }

    private let scanner = ScannerPreset(named: "android-low-power").map { ScannerMix($0) }

    @Test func collisionAnswerHasTheValueOfTheModel() throws {
        let answer = try CollisionQuestion(air: air(250, 100)).answer()
        let share = try #require(answer["collisionFreeProbability"]?.value)
        #expect(abs(share - 0.16701) < 0.00001)
        #expect(answer.holds)
        #expect(answer.text(charts: TextChart()).contains("16.7 %"))
        #expect(answer.json.line.contains(#""collisionFreeProbability":\#(share)"#))
        #expect(answer.page(command: "pharos plan").contains("16.7 %"))
    }

    @Test func latencyMatchesTheReference() throws {
        let scanner = try #require(scanner)
        let answer = try LatencyQuestion(air: air(1, 100), scanners: scanner, undiscoveredAfter: [3]).answer()
        let median = try #require(answer["latencyS"]?["p50"]?.value)
        #expect(abs(median - 2.153) < 0.01)
        #expect(answer["undiscoveredAfterS"]?["3"]?.value != nil)
    }

    @Test("an answer for a mix has a row and an object for each scanner, and times for all visitors")
    func mixesHaveParts() throws {
        let low = try #require(ScannerPreset(named: "android-low-power"))
        let mix = try ScannerMix([(low, 3), (.continuous, 1)])
        let answer = try LatencyQuestion(air: air(1, 300), scanners: mix).answer()
        #expect(answer["scanner"]?.text == "android-low-power 75 %, continuous 25 %")
        guard case .list(let parts)? = answer["scanners"] else {
            Issue.record("no list of scanners")
            return
        }
        #expect(parts.map { $0["share"]?.value } == [0.75, 0.25])
        let means = try parts.map { try #require($0["latencyS"]?["mean"]?.value) }
        let mean = try #require(answer["latencyS"]?["mean"]?.value)
        #expect(abs(mean - (0.75 * means[0] + 0.25 * means[1])) < 0.001 * mean)
        let text = answer.text(charts: TextChart())
        for row in ["android-low-power", "continuous", "all  "] { #expect(text.contains("\n\(row)"), "\(text)") }
        #expect(answer.page(command: "").contains("all visitors"))
    }

    @Test func textAndPageShowTheSameFigures() throws {
        let scanner = try #require(scanner)
        let chip = try #require(BeaconChip.named("nrf52832"))
        let battery = try #require(BeaconBattery.named("cr2477"))
        let answers = [
            try CollisionQuestion(air: air(50, 200)).answer(),
            try LatencyQuestion(air: air(50, 1022), scanners: scanner).answer(),
            try WalkQuestion(
                air: air(5, 760), scanners: scanner, speed: 1.4, distance: 3, range: PlannedRange(meters: 10)
            ).answer(),
            try EnergyQuestion(air: air(5, 500), chip: chip, battery: battery).answer(),
            try ThesisQuestion(beacons: 250).answer(),
        ]
        for answer in answers {
            let text = answer.text(charts: TextChart())
            // The page keeps numbers and their units on one line.
            let page = answer.page(command: "").replacing("\u{A0}", with: " ")
            #expect(text.hasPrefix(answer.sentence))
            for fact in answer.facts {
                guard fact.label != nil else { continue }
                let shown = fact.shown ?? fact.quantity.text
                #expect(text.contains(shown), "\(shown)")
                #expect(page.contains(shown.replacing("<", with: "&lt;")), "\(shown)")
            }
        }
    }

    @Test("a wide comparison is split into tables that fit the terminal width")
    func comparisonsFit() throws {
        let alternatives = try (1...12).map { number in
            PlanComparison.Alternative(
                settings: [.init(option: "beacons", value: "\(number * 50)")],
                answer: try CollisionQuestion(air: air(number * 50, 200)).answer())
        }
        let comparison = PlanComparison(alternatives)
        let narrow = comparison.text(columns: 80)
        #expect(narrow.split(separator: "\n").allSatisfy { $0.count <= 80 }, "\(narrow)")
        let heads = narrow.split(separator: "\n").filter { $0.hasPrefix("--beacons") }
        #expect(heads.count > 1)
        #expect(heads.flatMap { $0.split(separator: " ").dropFirst() } == (1...12).map { Substring("\($0 * 50)") })
        #expect(comparison.text(columns: .max).split(separator: "\n").count { $0.hasPrefix("--beacons") } == 1)
    }

    @Test("answers of density and walk state that every beacon in range counts as received")
    func rangeAnswersStateTheirAssumption() throws {
        let scanner = try #require(scanner)
        let range = try PlannedRange(radioPower: 0, sensitivity: -90, pathLoss: .usual, shadowing: 4)
        let answers = [
            try DensityQuestion(
                air: air(1, 500), scanners: scanner, target: DetectionTarget(withinSeconds: 10, probability: 0.95),
                range: range
            ).answer(),
            try WalkQuestion(air: air(5, 760), scanners: scanner, speed: 1.4, distance: 3, range: range).answer(),
        ]
        #expect(answers[0].notes.contains { $0.contains("a receiver at a beacon, such as a phone, has that many") })
        for answer in answers {
            #expect(
                answer.notes.contains(
                    "Assumptions: each advertisement has 31 bytes of data; no other devices use the channels."))
            #expect(answer.facts.contains { $0.remark.hasSuffix("with 0 dBm and a sensitivity of -90 dBm") })
            #expect(answer.sentence.contains("android-low-power"))
            #expect(answer.notes.contains { $0.hasPrefix("The answer counts every beacon within the range as") })
            #expect(answer.page(command: "").contains("Assumptions and limits"))
            #expect(answer.page(command: "").contains("at this distance half of the beacons are received"))
        }
    }

    @Test func intervalAndEnergyNameWhatWasAsked() throws {
        let scanner = try #require(scanner)
        let interval = try IntervalQuestion(
            beacons: 5, goal: .detect(withinSeconds: 15, probability: 0.9), scanners: scanner
        ).answer()
        #expect(interval["detectWithinS"]?.value == 15)
        #expect(interval["probability"]?.value == 0.9)
        let chip = try #require(BeaconChip.named("nrf52832"))
        let battery = try #require(BeaconBattery.named("cr2477"))
        let energy = try EnergyQuestion(air: air(1, 500), chip: chip, battery: battery).answer()
        #expect(energy["chip"]?.text == "nrf52832")
        #expect(energy["battery"]?.text == "cr2477")
        #expect(energy.facts.contains { $0.label == "voltage" && $0.quantity.value == 3 })
    }

    @Test func answersAnImpossibleTargetWithZeroBeacons() throws {
        let scanner = try #require(scanner)
        let target = DetectionTarget(withinSeconds: 1, probability: 0.95)
        let answer = try DensityQuestion(
            air: air(1, 10_000), scanners: scanner, target: target, range: PlannedRange(meters: 10)
        ).answer()
        #expect(!answer.holds)
        #expect(answer["beaconsInRange"]?.value == 0)
        #expect(throws: PlanError.self) {
            try PlannedFrame(interval: AdvertisingInterval(rawValue: 160), payloadOctets: 32)
        }
    }

    @Test func intervalIsTheAdviceOfTheModel() throws {
        let question = try IntervalQuestion(
            beacons: 250, goal: .maximumThroughput,
            scanners: ScannerMix(.continuous))
        #expect(question.advice.interval.microseconds == 183_125)
        #expect(try question.answer()["intervalMs"]?.value == 183.125)
    }
}
