import Airtime
import BluetoothTypes
import Testing

@testable import Positioning

/// Receivers that walk, and receivers between the places of a survey.
@Suite struct WindowMotionTests {
    private static let grid = CellGrid([.init(low: .init(x: 0, y: 0), high: .init(x: 30, y: 8))], step: 1)

    /// Returns the position after some seconds, in which the receiver was at these columns of the middle row.
    private static func position(_ columns: [Double], _ motion: WindowMotion?) -> FloorPosition? {
        var window = CellWindow(grid.cells, motion: motion, offsets: 1, length: 5)
        for (second, x) in columns.enumerated() {
            let spot = FloorPosition(x: x, y: 4)
            let found = grid.cells.map { cell in
                let distance = cell.position.distance(to: spot)
                return -distance * distance
            }
            _ = window.add(found, seconds: Double(second))
        }
        let hypotheses = window.hypotheses(temperature: 1, priors: [0])
        let posterior = Posterior(hypotheses, cells: grid.cells.count, temperature: 1, priors: [0])
        return posterior.position(grid.cells)?.position
    }

    @Test func positionDoesNotLagBehindAWalk() throws {
        let walk = [10.0, 11, 12, 13, 14]
        let motion = WindowMotion(Self.grid, window: 5)
        #expect(abs(try #require(Self.position(walk, nil)).x - 12) < 0.1)
        #expect(abs(try #require(Self.position(walk, motion)).x - 14) < 0.5)
        #expect(abs(try #require(Self.position(walk.reversed(), motion)).x - 10) < 0.5)
        // The position of a standing receiver does not change.
        #expect(abs(try #require(Self.position([12, 12, 12, 12, 12], motion)).x - 12) < 0.1)
    }

    @Test func gridExtendsBeyondTheSurveyedPlaces() throws {
        let map = try SignalMap(ModelTests.corridor())
        let grid = try FieldModel.grid(map, step: 0.5).grid
        let (west, east) = (try #require(grid.cells.first), try #require(grid.cells.last))
        #expect(west.low.x == -1.25 && east.high.x == 21.25)
        #expect(west.covers(.init(x: -1, y: 0)) && !west.covers(.init(x: -1.5, y: 0)))
    }

    @Test func likelihoodsAreInterpolatedBetweenPlaces() throws {
        let map = try SignalMap(ModelTests.corridor())
        let plane = try #require(PlacePlane(map, gridMetres: 0.5))
        // Two receiver offsets; the likelihoods of the places rise from west to east.
        let found = (0..<2).flatMap { offset in map.places.indices.map { Double($0 + 100 * offset) } }
        let ground = plane.interpolated(found, placeCount: map.places.count)
        #expect(ground.count == 2 * plane.grid.cells.count)
        for (cell, place) in plane.grid.cells.enumerated() where (2...18).contains(place.position.x) {
            #expect(abs(ground[cell] - place.position.x / 2) < 0.2)
            #expect(abs(ground[plane.grid.cells.count + cell] - ground[cell] - 100) < 1e-9)
        }
    }

    /// The expected density of each of two values, given the other value.
    @Test func leaveOneOutDensityMatchesTheTextbook() throws {
        let (values, noise, variance, correlation) = ([3.0, -1], [1.0, 2], 5.0, 0.4)
        let process = try #require(
            GaussianProcess(
                values: values, kernel: [1, correlation, correlation, 1], noise: noise, variance: variance))
        for (place, found) in process.leaveOneOutDensities.enumerated() {
            let gain = variance * correlation / (variance + noise[1 - place])
            let rest = variance + noise[place] - gain * variance * correlation
            let difference = values[place] - gain * values[1 - place]
            #expect(abs(found - (-0.5 * log(rest) - 0.5 * difference * difference / rest)) < 1e-9)
        }
    }

    /// The temperature is fitted so that the mean of both coverages is 95 %.
    @Test func leftOutPlacesWidenTheRegions() throws {
        let atPlaces = [Int](repeating: 0, count: 100)
        #expect(Tempering.fit(atPlaces) == Tempering.steps[0])
        let between = [Int](repeating: 4, count: 90) + [Int](repeating: 9, count: 10)
        #expect(abs(try #require(Tempering.fit(atPlaces, between: between)) - Tempering.steps[4]) < 1e-9)
        // Without regions there is nothing to fit.
        #expect(Tempering.fit([]) == nil)
        #expect([1.0, 2, 3].least { $0 >= 2 } == 1 && [1.0].least { $0 > 1 } == 1)
    }
}
