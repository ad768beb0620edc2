import Airtime
import BluetoothTypes
import PositioningWorlds
import Testing

@testable import Positioning

@Suite struct EvaluationTests {
    @Test func percentilesLieBetweenOrderStatistics() {
        let percentiles = Percentiles([4, 1, 3, 2, .nan])
        #expect(percentiles.value(at: 50) == 2.5 && percentiles.value(at: 75) == 3.25)
        #expect(percentiles.value(at: 0) == 1 && percentiles.value(at: 100) == 4)
        #expect(percentiles.mean == 2.5 && percentiles.rootMeanSquare == 7.5.squareRoot())
        #expect(Percentiles([]).value(at: 50) == nil && Percentiles([]).mean == nil)
    }

    /// Instants of one stay are not independent, so a hundred instants of two stays count as two values.
    @Test func bootstrapCountsStaysInsteadOfInstants() throws {
        let values = (0..<100).map { (stay: $0 % 2, value: Double($0 % 2)) }
        let interval = try #require(StayBootstrap(values))
        #expect(interval.low == 0 && interval.high == 1)
        #expect(StayBootstrap([(stay: 1, value: 2), (stay: 1, value: 3)]) == nil)
        let many = (0..<100).map { (stay: $0, value: Double($0 % 2)) }
        let narrow = try #require(StayBootstrap(many))
        #expect(narrow.low > 0.38 && narrow.high < 0.62)
    }

    @Test(arguments: [
        (Evaluation.LeftOut.visit, 54), (.stay, 216), (.half, 432), (.place, 27), (.session, 2), (.heading, 4),
        (.fingerprint, 2160),
    ])
    func partsHaveTheExpectedCounts(leaving: Evaluation.LeftOut, count: Int) {
        var survey = SimulatedBuilding(seed: 1).survey
        survey.append(SimulatedBuilding(seed: 1).survey.renamed(session: "second"))
        #expect(Evaluator(survey).parts(leaving).count == count)
    }

    @Test func leavesOutStaysIfEachPlaceHasOneVisit() throws {
        let once = SimulatedBuilding(seed: 1).survey
        var twice = once
        twice.append(once.renamed(session: "second"))
        #expect(Evaluation.LeftOut.suited(to: once) == .stay && Evaluation.LeftOut.suited(to: twice) == .visit)
        #expect(Evaluation.LeftOut.suited(to: once.filtered { $0.heading == 0 }) == .half)
        // All places stay on the map, so an answer can be exact.
        let choice = try AlgorithmChoice(once.shortened(toPlaces: 6), candidates: [.nn, .gauss])
        let evaluation = try #require(choice.map.evaluation)
        #expect(evaluation.leaving == .stay && evaluation.exact > 0.3)
    }

    @Test func aRegionOfASurveyOfOneDayHoldsOnAnotherDay() throws {
        var hits: [Bool] = []
        for seed in UInt64(1)...4 {
            var building = SimulatedBuilding(seed: seed)
            var settings = LocatorSettings(.gauss)
            settings.likelihoodTemperature = try #require(
                Evaluator(building.survey).temperatures([settings], leaving: .stay)[0])
            let found = try Evaluator.instants(
                SignalMap(building.survey), test: building.test(places: 8), settings: settings)
            hits += found.compactMap(\.isInRegion95)
        }
        let coverage = Double(hits.count { $0 }) / Double(hits.count)
        #expect((0.9...0.995).contains(coverage), "\(coverage)")
    }

    @Test func warnsThatLeavingOutVectorsGivesSmallErrors() throws {
        var still = SimulatedBuilding.Conditions()
        (still.fading, still.body) = (1, 0)
        let survey = SimulatedBuilding(seed: 2, conditions: still).survey.shortened(toPlaces: 12)
        var evaluator = Evaluator(survey)
        (evaluator.instantLimit, evaluator.partLimit) = (24, 12)
        let settings = LocatorSettings(.nn)
        let twins = try evaluator.evaluate(settings, leaving: .fingerprint)
        let places = try evaluator.evaluate(settings, leaving: .place)
        #expect(try #require(twins.mean) < 0.75 * (try #require(places.mean)))
        #expect(Evaluation.LeftOut.fingerprint.warning != nil && Evaluation.LeftOut.visit.warning == nil)
        #expect(places.exact == 0)
    }

    @Test func wrongFloorAddsThePenalty() throws {
        var survey = Survey()
        let beacons = ["low", "high"].map { BeaconKey($0).flatMap { survey.number(of: $0) } ?? 0 }
        for (number, floor) in ["ground", "first"].enumerated() {
            for place in 0..<3 {
                survey.begin(
                    Survey.Stay(
                        number: number * 3 + place, place: "\(floor)-\(place)",
                        position: FloorPosition(x: Double(place) * 4, y: 0), floor: floor))
                for second in 0..<4 {
                    survey.append(
                        SignalVector(
                            seconds: Double(second),
                            readings: [.init(beacon: beacons[number], level: -60 - Double(place) * 6)]))
                }
            }
        }
        let test = survey.onFloor("first", stay: 0)
        let map = try SignalMap(survey)
        for algorithm in [PositioningAlgorithm.nn, .wknn, .gauss, .field] {
            let plain = try Evaluator.instants(map, test: test, settings: .init(algorithm), floorPenalty: 0)
            let found = try Evaluator.instants(map, test: test, settings: .init(algorithm))
            let (first, second) = (try #require(plain[0].error), try #require(found[0].error))
            #expect(!found[0].isRightFloor && abs(second - first - 15) < 1e-9, "\(algorithm)")
        }
    }

    @Test func countsAnswersAndConfusions() throws {
        let building = SimulatedBuilding(seed: 5)
        var copy = building
        let test = copy.test(places: 8)
        let evaluation = try Evaluator.evaluate(
            SignalMap(building.survey), test: test, settings: LocatorSettings(.nnMean))
        #expect(evaluation.instants == 8 * 19 && evaluation.availability == 1)
        #expect(evaluation.exact <= evaluation.exactOrAdjacent && evaluation.exactOrAdjacent <= 1)
        #expect(evaluation.byPlace.reduce(0) { $0 + $1.instants } == 8 * 19)
        #expect(evaluation.confusion.allSatisfy { $0.place != $0.mistakenFor && $0.share > 0 })
        #expect(evaluation.coverage95 == nil)
        #expect(evaluation.meanInterval.count == 2)
    }

    @Test func choiceReportsTheDifferenceToTheBest() throws {
        let survey = SimulatedBuilding(seed: 7).survey.shortened(toPlaces: 9)
        let choice = try AlgorithmChoice(survey, candidates: [.nnMean, .gauss, .wknn])
        #expect(choice.trials.count == 3)
        #expect(choice.map.settings == choice.trials[0].settings)
        #expect(choice.map.evaluation == choice.trials[0].evaluation)
        let means = choice.trials.compactMap(\.evaluation.mean)
        #expect(means == means.sorted())
        let behind = try #require(choice.trials[2].behind)
        #expect(choice.trials[0].behind == nil && behind.mean > 0 && behind.low <= behind.mean)
    }

    /// A part is left out once for all algorithms, with the same result as for each alone.
    @Test func algorithmsGiveTheSameResultsTogetherAndAlone() throws {
        let survey = SimulatedBuilding(seed: 5).survey.shortened(toPlaces: 6)
        let unplaced = Survey.Stay(number: 90, place: "somewhere")
        for survey in [survey, survey.with(unplaced)] {
            let evaluator = Evaluator(survey)
            let variants = [PositioningAlgorithm.wknn, .weightedCentroid, .gauss].map { LocatorSettings($0) }
            let together = try evaluator.results(variants, leaving: .visit)
            let temperatures = evaluator.temperatures(variants, leaving: .visit)
            for (settings, result) in zip(variants, together) {
                if settings.algorithm == .weightedCentroid {
                    #expect(result == .failure(.fewBeaconPositions(.weightedCentroid)))
                } else {
                    let alone = try evaluator.results([settings], leaving: .visit)[0].get()
                    #expect(try result.get() == alone && !alone.isEmpty)
                }
            }
            // Only `gauss` has a temperature.
            #expect(temperatures[0] == nil && temperatures[1] == nil && temperatures[2] != nil)
            #expect(evaluator.temperatures([variants[2]], leaving: .visit) == [temperatures[2]])
        }
    }

    @Test func surveyOfOnePlaceIsNotEvaluated() throws {
        let survey = SimulatedBuilding(seed: 1).survey.filtered { $0.number <= 4 }
        let choice = try AlgorithmChoice(survey)
        #expect(choice.trials.isEmpty && choice.map.settings.algorithm == .nn && choice.map.evaluation == nil)
        #expect(throws: PositioningError.nothingLeft) {
            try Evaluator(survey).evaluate(LocatorSettings(.nn), leaving: .visit)
        }
    }
}

extension Survey {
    /// Returns the survey with one more stay, which has a copy of the first vector.
    func with(_ stay: Stay) -> Survey {
        var copy = self
        let vector = vector(0)
        copy.begin(stay)
        copy.append(vector)
        return copy
    }

    /// The first places of a simulated building, with three vectors of each stay.
    func shortened(toPlaces count: Int) -> Survey {
        var copy = Survey()
        let numbers = beacons.map { copy.number(of: $0) ?? 0 }
        for stay in stays where stay.number <= count * 4 {
            copy.begin(stay)
            for index in stay.vectors.prefix(3) {
                let vector = vector(index)
                copy.append(
                    SignalVector(
                        seconds: vector.seconds,
                        readings: vector.readings.map { .init(beacon: numbers[$0.beacon], level: $0.level) }))
            }
        }
        return copy
    }

    func renamed(session: String) -> Survey {
        var copy = Survey()
        for recording in recordings { copy.begin(recording) }
        let numbers = beacons.map { copy.number(of: $0) ?? 0 }
        for stay in stays {
            var other = stay
            other.session = session
            copy.begin(other)
            for index in stay.vectors {
                let vector = vector(index)
                copy.append(
                    SignalVector(
                        seconds: vector.seconds,
                        readings: vector.readings.map { .init(beacon: numbers[$0.beacon], level: $0.level) }))
            }
        }
        return copy
    }

    func onFloor(_ floor: String, stay index: Int) -> Survey {
        var copy = Survey()
        let numbers = beacons.map { copy.number(of: $0) ?? 0 }
        var stay = stays[index]
        stay.floor = floor
        let vectors = stay.vectors.map { vector($0) }
        copy.begin(stay)
        for vector in vectors {
            copy.append(
                SignalVector(
                    seconds: vector.seconds,
                    readings: vector.readings.map { .init(beacon: numbers[$0.beacon], level: $0.level) }))
        }
        return copy
    }
}
