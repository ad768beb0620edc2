import Airtime
import Configuration
import PositioningWorlds
import Testing

@testable import Positioning

/// The analysis from which pages and heat maps are drawn.
@Suite struct MapAnalysisTests {
    @Test func receptionProbabilityIsTheValueThatWasSet() {
        var table = ReceptionTable(cells: 1, beacons: 3)
        table.set(beacon: 0, cell: 0, mean: -60, variance: 9, probability: 0.7)
        table.set(beacon: 1, cell: 0, mean: -60, variance: 30, probability: 1)
        #expect(abs(table.receptionProbability(beacon: 0, cell: 0) - 0.7) < 1e-12)
        #expect(abs(table.receptionProbability(beacon: 1, cell: 0) - 0.98) < 1e-12)
        #expect(table.receptionProbability(beacon: 2, cell: 0) == 0)
    }

    /// The likelihood is highest at the cell itself. If the offset is free, it is nearly as high at a cell whose levels
    /// differ by a constant only.
    @Test func constantOffsetsHardlyDistinguishCells() {
        var table = ReceptionTable(cells: 3, beacons: 2)
        for beacon in 0..<2 {
            table.set(beacon: beacon, cell: 0, mean: -60 - 10 * Double(beacon), variance: 9, probability: 0.9)
            table.set(beacon: beacon, cell: 1, mean: -66 - 10 * Double(beacon), variance: 9, probability: 0.9)
            table.set(beacon: beacon, cell: 2, mean: -66 + 2 * Double(beacon), variance: 9, probability: 0.9)
        }
        let free = table.expectedLogLikelihoods(at: 0, offsetVariance: 16)
        let fixed = table.expectedLogLikelihoods(at: 0, offsetVariance: 0)
        #expect(free[0] > free[1] && free[1] > free[2] && fixed[0] > fixed[1])
        #expect(free[0] - free[1] < fixed[0] - fixed[1])
        #expect(abs(free[0] - fixed[0]) < 1e-9)
    }

    @Test func analyzesASurveyedBuilding() throws {
        let map = try MapPageTests.map()
        let analysis = try MapAnalysis(map, cellLimit: 200)
        #expect(analysis.cells.count <= 260 && analysis.cells.count > 60)
        #expect(analysis.expectedErrors.count == analysis.cells.count)
        #expect(analysis.expectedErrors.allSatisfy { $0 > 0 && $0 < 20 })
        // The errors were measured by leaving parts of the survey out.
        let honest = try #require(map.evaluation)
        for (place, error) in zip(map.places, analysis.placeErrors) {
            #expect(error == honest.byPlace.first { $0.place == place.name }?.meanError)
        }
        for place in map.places.indices {
            for beacon in map.beacons.indices {
                let isHeard = map.statistics[place].contains { $0.beacon == beacon }
                let residual = analysis.residual(beacon: beacon, place: place)
                #expect((residual != nil) == isHeard)
                #expect(abs(residual ?? 0) < 20)
            }
        }
        #expect(analysis.confusion.contains { !$0.isEmpty })
        for (place, others) in analysis.confusion.enumerated() {
            #expect(others.allSatisfy { $0.place != place && $0.probability > 0 && $0.probability < 1 })
        }
        #expect(try SignalMap.decode(Array(map.text.utf8)).map?.evaluation == Evaluation(#require(node(map.text))))
    }

    private func node(_ text: String) -> JSONNode? { JSONDocument.parse(Array(text.utf8)).root?["evaluation"] }

    /// At one end of a long hall only one of five beacons is received, so this end is a gap.
    @Test func findsAGapIfTooFewBeaconsAreReceived() throws {
        var survey = Survey()
        let numbers = (0..<5).compactMap { number in BeaconKey("b\(number)").flatMap { survey.number(of: $0) } }
        for place in 0..<12 {
            survey.begin(Survey.Stay(number: place, place: "P\(place)", position: .init(x: Double(place) * 3, y: 0)))
            for second in 0..<20 {
                let readings = numbers.filter { $0 == 0 || place < 6 }.map {
                    SignalVector.Reading(beacon: $0, level: -60 - Double(place))
                }
                survey.append(SignalVector(seconds: Double(second), readings: readings))
            }
        }
        let analysis = try MapAnalysis(SignalMap(survey))
        let gap = try #require(analysis.gaps.first)
        #expect(analysis.gaps.count == 1 && gap.fewestBeacons == 1 && gap.position.x > 20 && gap.floor == nil)
        #expect(analysis.receivedBeacons(at: 0) == 5 && analysis.receivedBeacons(at: 11) == 1)
        // The first place is mistaken only for places in its half of the hall.
        #expect(analysis.confusion[0].allSatisfy { $0.place < 6 })
    }

    @Test func placesWithoutPositionsHaveConfusionOnly() throws {
        let survey = SimulatedBuilding(seed: 3).survey
        var nameless = Survey()
        let beacons = survey.beacons.compactMap { nameless.number(of: $0) }
        for stay in survey.stays {
            nameless.begin(Survey.Stay(number: stay.number, place: stay.place))
            for index in stay.vectors { nameless.append(survey.vector(index)) }
        }
        #expect(beacons.count == 9)
        let analysis = try MapAnalysis(SignalMap(nameless))
        #expect(analysis.step == nil && analysis.expectedErrors.isEmpty && analysis.gaps.isEmpty)
        #expect(analysis.cells.count == 27 && analysis.placeErrors.allSatisfy { $0 == nil })
        #expect(analysis.confusion.contains { !$0.isEmpty })
    }

    @Test func analyzesASiteWithoutASurvey() throws {
        let analysis = try MapAnalysis(SignalMap(site: SiteMapTests.site()))
        #expect(analysis.gaps.isEmpty && analysis.receivedBeacons.allSatisfy { $0 >= 4 })
        #expect(analysis.placeErrors.count == 8 && analysis.placeErrors.allSatisfy { ($0 ?? 99) < 8 })
        #expect(analysis.residual(beacon: 0, place: 0) == nil)
    }
}
