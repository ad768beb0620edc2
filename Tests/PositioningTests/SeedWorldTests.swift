import Airtime
import PositioningWorlds
import Testing

@testable import Positioning

/// The experiment of the first thesis in simulated buildings.
@Suite struct SeedWorldTests {
    /// A test with four places says little: the share of exact places of one algorithm varies widely between similar
    /// simulated buildings.
    @Test func fourPlacesAreTooFewForARanking() throws {
        var shares: [Double] = []
        for seed in 0..<10 {
            var world = SimulatedBuilding(seed: UInt64(seed))
            let test = world.test()
            let map = try SignalMap(world.survey)
            shares.append(try Evaluator.evaluate(map, test: test, settings: LocatorSettings(.nnMean)).exact)
        }
        let mean = shares.reduce(0, +) / Double(shares.count)
        let scatter = (shares.reduce(0) { $0 + ($1 - mean) * ($1 - mean) } / Double(shares.count - 1)).squareRoot()
        #expect(scatter > 0.1, "mean \(mean), scatter \(scatter)")
    }

    /// Returns a map with four beacons at the corners of 10 m × 20 m and one place in the middle. The positions of the
    /// first `known` beacons are known.
    private static func corners(known: Int) throws -> SignalMap {
        var survey = Survey()
        var positions: [BeaconKey: FloorPosition] = [:]
        survey.begin(Survey.Stay(number: 1, place: "M", position: FloorPosition(x: 5, y: 10)))
        var readings: [SignalVector.Reading] = []
        for (number, corner) in [(0.0, 0.0), (10, 0), (10, 20), (0, 20)].enumerated() {
            let key = try #require(BeaconKey("corner-\(number)"))
            readings.append(.init(beacon: survey.number(of: key) ?? 0, level: -60))
            if number < known { positions[key] = FloorPosition(x: corner.0, y: corner.1) }
        }
        survey.append(SignalVector(seconds: 0, readings: readings))
        return try SignalMap(survey, positions: positions)
    }

    @Test(arguments: [
        ([-60.0, -60, -60, -60], FloorPosition(x: 5, y: 10)), ([-96, -55, -55, -96], FloorPosition(x: 10, y: 10)),
    ])
    func simpleDistanceDividesTheRectangleOfTheCorners(levels: [Double], position: FloorPosition) throws {
        var locator = try Locator(try Self.corners(known: 4), settings: LocatorSettings(.simpleDistance))
        let readings = levels.enumerated().map { SignalVector.Reading(beacon: $0.offset, level: $0.element) }
        let answer = locator.locate(SignalVector(seconds: 0, readings: readings))
        #expect(answer.position == position && answer.state == .fix && answer.place == 0 && answer.region95 == nil)
    }

    @Test func baselinesNeedBeaconPositions() throws {
        for (algorithm, known) in [(PositioningAlgorithm.simpleDistance, 3), (.weightedCentroid, 0)] {
            let map = try Self.corners(known: known)
            #expect(throws: PositioningError.fewBeaconPositions(algorithm)) {
                try Locator(map, settings: LocatorSettings(algorithm))
            }
        }
        var locator = try Locator(try Self.corners(known: 1), settings: LocatorSettings(.weightedCentroid))
        let unknown = locator.locate(SignalVector(seconds: 0, readings: [.init(beacon: 2, level: -50)]))
        #expect(unknown.state == .none && unknown.reason == .noCandidate)
        let known = locator.locate(SignalVector(seconds: 1, readings: [.init(beacon: 0, level: -70)]))
        #expect(known.position == FloorPosition(x: 0, y: 0))
    }

    @Test func centroidIsWeightedByLevel() throws {
        var locator = try Locator(try Self.corners(known: 4), settings: LocatorSettings(.weightedCentroid))
        let readings = [-50.0, -60, -70].enumerated().map { SignalVector.Reading(beacon: $0.offset, level: $0.element) }
        let centroid = try #require(locator.locate(SignalVector(seconds: 0, readings: readings)).position)
        #expect(abs(centroid.x - (10 * 0.1 + 10 * 0.01) / 1.11) < 1e-12)
        #expect(abs(centroid.y - 20 * 0.01 / 1.11) < 1e-12)
    }
}
