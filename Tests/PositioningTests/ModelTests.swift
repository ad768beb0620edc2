import Airtime
import BluetoothTypes
import Sites
import Testing

@testable import Positioning

@Suite struct ModelTests {
    static func normal(_ random: inout SplitMix64) -> Double {
        // The sum of twelve uniform numbers is approximately normal.
        (0..<12).reduce(-6.0) { sum, _ in sum + Double(random.next() >> 11) / 9007199254740992 }
    }

    // MARK: Linear algebra

    @Test(arguments: [1, 2, 5, 40])
    func choleskyFactorReproducesTheMatrix(size: Int) throws {
        var random = SplitMix64(seed: UInt64(size))
        let root = (0..<size * size).map { _ in Self.normal(&random) }
        var matrix = [Double](repeating: 0, count: size * size)
        for row in 0..<size {
            for column in 0..<size {
                for place in 0..<size {
                    matrix[row * size + column] += root[row * size + place] * root[column * size + place]
                }
            }
            matrix[row * size + row] += 1
        }
        let factor = try #require(CholeskyFactor(matrix, size: size))
        for row in 0..<size {
            for column in 0...row {
                let product = (0...column).reduce(0.0) { $0 + factor[row, $1] * factor[column, $1] }
                #expect(abs(product - matrix[row * size + column]) < 1e-9)
            }
        }
        var solved = (0..<size).map { row in (0...row).reduce(0.0) { $0 + factor[row, $1] * Double($1 + 1) } }
        factor.solve(&solved, width: 1)
        for row in 0..<size { #expect(abs(solved[row] - Double(row + 1)) < 1e-9) }
    }

    @Test(arguments: [[0.0], [-1], [.nan], [1, 2, 2, 1]])
    func matrixThatIsNotPositiveIsRefused(matrix: [Double]) {
        #expect(CholeskyFactor(matrix, size: matrix.count == 4 ? 2 : 1) == nil)
        #expect(CholeskyFactor(matrix, size: 3) == nil)
    }

    /// With one value y at one place, the textbook has the mean k·y/(k + noise).
    @Test func predictionFromOnePlaceMatchesTheTextbook() throws {
        let process = try #require(GaussianProcess(values: [8], kernel: [1], noise: [4], variance: 12))
        let (means, variances) = process.predict([1, 0.5, 0], count: 3)
        #expect(means == [6, 3, 0])
        for (found, expected) in zip(variances, [3.0, 12 - 36.0 / 16, 12]) { #expect(abs(found - expected) < 1e-12) }
    }

    @Test func fitsTheTrendOfTheLevels() throws {
        let centre = FloorPosition(x: 1, y: 2)
        let points = (1...9).map { number -> BeaconTrend.Point in
            let position = FloorPosition(x: 1 + Double(number) * 2, y: 2)
            return .init(position: position, level: -50 - 25 * log10(position.distance(to: centre)), variance: 1)
        }
        let trend = try #require(BeaconTrend(points, position: centre))
        #expect(abs(trend.exponent - 2.5) < 1e-9 && abs(trend.levelAtOneMetre + 50) < 1e-9)
        #expect(trend.variance == FieldModel.leastVariance)
        // If levels grow with the distance, the exponent is the smallest that is allowed.
        let odd = points.map { BeaconTrend.Point(position: $0.position, level: -100 - $0.level, variance: 1) }
        #expect(try #require(BeaconTrend(odd, position: centre)).exponent == 0.5)
        #expect(BeaconTrend([], position: nil) == nil)
    }

    // MARK: Emissions

    @Test func logLikelihoodIsTheSumOverAllBeacons() {
        var table = ReceptionTable(cells: 1, beacons: 2)
        table.set(beacon: 0, cell: 0, mean: -70, variance: 9, probability: 0.8)
        table.set(beacon: 1, cell: 0, mean: -80, variance: 4, probability: 0.001)
        let vector = SignalVector(seconds: 0, readings: [.init(beacon: 0, level: -64)])
        let expected = log(0.8) - log(3) - 3 * log(1 + 4.0 / 5) + log(0.98)
        #expect(abs(table.logLikelihoods(of: vector, offsets: [0])[0] - expected) < 1e-12)
        let offset = log(0.8) - log(3) - 3 * log(1 + 1.0 / 5) + log(0.98)
        #expect(abs(table.logLikelihoods(of: vector, offsets: [0, 3])[1] - offset) < 1e-12)
    }

    @Test func manyBeaconsDoNotOverflow() {
        var table = ReceptionTable(cells: 2, beacons: 500)
        for beacon in 0..<500 {
            for cell in 0..<2 {
                table.set(beacon: beacon, cell: cell, mean: cell == 0 ? 20 : -127, variance: 1, probability: 0.5)
            }
        }
        let vector = SignalVector(seconds: 0, readings: (0..<500).map { .init(beacon: $0, level: -127) })
        let found = table.logLikelihoods(of: vector, offsets: [0])
        #expect(found.allSatisfy(\.isFinite) && found[1] > found[0])
        let posterior = Posterior(
            [WindowHypothesis(offset: 0, logPrior: 0, logLikelihoods: found)], cells: 2, temperature: 4, priors: [0])
        #expect(posterior.probabilities == [0, 1])
    }

    @Test func regionIsTheSmallestWithEnoughProbability() {
        let posterior = Posterior([0.5, 0.3, 0.15, 0.05])
        let cells = (0..<4).map { Cell(position: FloorPosition(x: Double($0), y: 0), area: 1) }
        let region = posterior.region(0.8, cells, around: cells[0].position, floor: nil)
        #expect(region.area == 2 && region.polygon.count == 4 && region.radius == 1)
        #expect(region.contains(FloorPosition(x: 1.4, y: 0.4)) && !region.contains(FloorPosition(x: 1.6, y: 0)))
    }

    /// The area is that of the polygon, also if the likeliest cells are not next to each other, and cells of other
    /// floors do not belong to it.
    @Test func aRegionIsOnePolygonOfOneFloor() {
        let posterior = Posterior([0.4, 0.05, 0.4, 0.15])
        let cells = (0..<4).map {
            Cell(position: FloorPosition(x: Double($0), y: 0), floor: $0 < 3 ? "ground" : "first", area: 1)
        }
        let region = posterior.region(0.9, cells, around: cells[1].position, floor: "ground")
        #expect(region.area == 3 && region.contains(cells[1].position) && !region.contains(cells[3].position))
    }

    // MARK: Field

    /// One straight row of places and a beacon at each end.
    static func corridor(every spacing: Double = 2) -> Survey {
        var survey = Survey()
        let beacons = ["west", "east"].map { BeaconKey($0).flatMap { survey.number(of: $0) } ?? 0 }
        for place in 0...10 {
            let x = Double(place) * spacing
            survey.begin(Survey.Stay(number: place, position: FloorPosition(x: x, y: 0), session: "one"))
            for second in 0..<5 {
                let levels = [x, 10 * spacing - x].map { -55 - 20 * log10(max(1, $0)) + Double(second % 3 - 1) }
                survey.append(
                    SignalVector(
                        seconds: Double(second),
                        readings: zip(beacons, levels).map { .init(beacon: $0, level: $1) }))
            }
        }
        return survey
    }

    @Test func fieldAnswersBetweenPlaces() throws {
        var locator = try Locator(SignalMap(Self.corridor()), settings: LocatorSettings(.field))
        for x in [1.0, 5, 9, 15] {
            locator.begin()
            let readings = [x, 20 - x].enumerated().map {
                SignalVector.Reading(beacon: 1 - $0.offset, level: -55 - 20 * log10(max(1, $0.element)))
            }
            let answer = locator.locate(SignalVector(seconds: 0, readings: readings))
            let position = try #require(answer.position)
            #expect(abs(position.x - x) < 2 && position.y == 0)
        }
    }

    /// Another receiver measures all levels 9 dB lower. The offset is found, and the position stays the same.
    @Test func findsTheReceiverOffset() throws {
        var locator = try Locator(SignalMap(Self.corridor()), settings: LocatorSettings(.field))
        var fixed = try Locator(SignalMap(Self.corridor()), settings: LocatorSettings(.field))
        for second in 0..<40 {
            let levels = [6.0, 14.0].enumerated().map { number, distance in
                SignalVector.Reading(beacon: 1 - number, level: -64 - 20 * log10(distance))
            }
            let answer = locator.locate(SignalVector(seconds: Double(second), readings: levels))
            _ = fixed.locate(SignalVector(seconds: Double(second), readings: levels))
            if second == 39 {
                #expect([-9, -6].contains(try #require(answer.receiverOffset)))
                #expect(abs(try #require(answer.position).x - 6) < 2)
            }
        }
    }

    @Test func placesWithoutPositionsAreFoundByName() throws {
        var survey = Survey()
        let beacon = try #require(BeaconKey("b").flatMap { survey.number(of: $0) })
        for (number, level) in [-50.0, -80].enumerated() {
            survey.begin(Survey.Stay(number: number, place: ["hall", "attic"][number]))
            for second in 0..<5 {
                survey.append(
                    SignalVector(seconds: Double(second), readings: [.init(beacon: beacon, level: level)]))
            }
        }
        let map = try SignalMap(survey)
        #expect(throws: PositioningError.noPositions(.field)) { try Locator(map, settings: LocatorSettings(.field)) }
        for algorithm in [PositioningAlgorithm.nn, .gauss, .wknn] {
            var locator = try Locator(map, settings: LocatorSettings(algorithm))
            let answer = locator.locate(SignalVector(seconds: 0, readings: [.init(beacon: 0, level: -79)]))
            #expect(answer.place == 1 && answer.position == nil, "\(algorithm)")
        }
        #expect(throws: PositioningError.noPlaces) { try SignalMap(Survey()) }
    }

    // MARK: Filter

    @Test func filterLimitsTheWalkingSpeed() {
        let grid = CellGrid([.init(low: .init(x: 0, y: 0), high: .init(x: 20, y: 0))], step: 1)
        var filter = CellFilter(grid)
        var at: [Double] = grid.cells.map { $0.position.x == 0 ? 0 : -100 }
        filter.update(at)
        filter.predict(seconds: 1)
        #expect(filter.probabilities[0...3].reduce(0, +) > 0.99)
        #expect(abs(filter.probabilities.reduce(0, +) - 1) < 1e-9)
        // Weak evidence for a distant cell does not move the receiver there at once.
        at = grid.cells.map { $0.position.x == 20 ? 0 : -3 }
        filter.update(at)
        #expect(filter.probabilities[20] < 0.1)
    }

    @Test func wallsBlockSteps() throws {
        let grid = CellGrid([.init(low: .init(x: 0, y: 0), high: .init(x: 10, y: 4))], step: 1)
        let wall = Wall(from: .init(x: 4.5, y: -1), to: .init(x: 4.5, y: 5), attenuation: 6)
        func share(_ walls: [Wall]) throws -> Double {
            var filter = CellFilter(grid, walls: walls)
            let start = try #require(grid.cells.nearest(to: .init(x: 4, y: 2), floor: nil))
            filter.update(grid.cells.indices.map { $0 == start ? 0 : -100 })
            for _ in 0..<3 { filter.predict(seconds: 1) }
            return grid.cells.indices.filter { grid.cells[$0].position.x > 4.5 }
                .reduce(0) { $0 + filter.probabilities[$1] }
        }
        #expect(try share([]) > 0.3)
        #expect(try share([wall]) < 0.01)
    }

    @Test func impossibleEvidenceChangesNothing() {
        let grid = CellGrid([.init(low: .init(x: 0, y: 0), high: .init(x: 3, y: 0))], step: 1)
        var filter = CellFilter(grid)
        let before = filter.probabilities
        filter.update([Double](repeating: -.infinity, count: 4))
        filter.update([])
        filter.predict(seconds: -5)
        filter.predict(seconds: .nan)
        #expect(filter.probabilities == before)
    }

    @Test func filterFollowsAWalk() throws {
        var settings = LocatorSettings(.hmm)
        settings.likelihoodTemperature = 2
        var locator = try Locator(SignalMap(Self.corridor()), settings: settings)
        var random = SplitMix64(seed: 3)
        var worst = 0.0
        for second in 0..<20 {
            let x = Double(second)
            let levels = [x, 20 - x].enumerated().map { number, distance in
                SignalVector.Reading(
                    beacon: 1 - number, level: -55 - 20 * log10(max(1, distance)) + 2 * Self.normal(&random))
            }
            let position = locator.locate(SignalVector(seconds: x, readings: levels)).position
            if second > 3 { worst = max(worst, abs(try #require(position).x - x)) }
        }
        #expect(worst < 5)
    }
}
