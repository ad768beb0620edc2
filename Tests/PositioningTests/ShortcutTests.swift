import Airtime
import BluetoothTypes
import Configuration
import Sites
import Testing

@testable import Positioning

/// What is made fast, beside what it stands for.
@Suite struct ShortcutTests {
    /// Places in a row, of which some were heard nowhere; levels in whole decibels, so that there are many ties, or means
    /// of three packets.
    private static func prints(_ random: inout SplitMix64, isWhole: Bool) -> PrintTable {
        var prints = PrintTable()
        for vector in 0..<120 {
            prints.append(self.vector(&random, isWhole: isWhole, beacons: vector % 17 == 0 ? 0 : 8), vector * 7 % 20)
        }
        return prints
    }

    private static func vector(_ random: inout SplitMix64, isWhole: Bool, beacons: Int) -> SignalVector {
        var readings: [SignalVector.Reading] = []
        for beacon in 0..<beacons where random.next(upTo: 2) != 0 {
            let sum = -Double(random.next(upTo: isWhole ? 6 : 200)) - 80
            readings.append(.init(beacon: beacon, level: isWhole ? sum : -50 + sum / 3))
        }
        return SignalVector(seconds: 0, readings: readings)
    }

    /// As the rule says it.
    private static func squared(_ left: SignalVector, _ right: SignalVector) -> Double {
        (0..<8).reduce(0.0) { sum, beacon in
            func level(_ vector: SignalVector) -> Double {
                vector.readings.first { $0.beacon == beacon }?.level ?? ReceivedLevel.floor
            }
            let difference = level(left) - level(right)
            return sum + difference * difference
        }
    }

    @Test(arguments: 0..<20)
    func nearestVectorsAreThoseOfAllVectors(seed: Int) throws {
        var random = SplitMix64(seed: UInt64(seed))
        let prints = Self.prints(&random, isWhole: seed % 2 == 0)
        let table = NearestVectors(prints, placeCount: 21, beaconCount: 8)
        for _ in 0..<10 {
            let sample = Self.vector(&random, isWhole: seed % 2 == 0, beacons: 8)
            let all = (0..<prints.table.count).map { Self.squared(sample, prints.table.vector($0)) }
            let order = all.indices.sorted { (all[$0], $0) < (all[$1], $1) }
            for count in [1, 3, 10, 500] {
                let found = table.nearest(count, to: sample.readings)
                #expect(found.count == min(count, all.count))
                for (entry, expected) in zip(found, order) {
                    // Sums of fractions in another order differ in the last digit.
                    #expect(abs(entry.square - all[expected]) <= 1e-9 * all[expected])
                    if seed % 2 == 0 { #expect(entry.vector == expected) }
                }
            }
            var least = [Double](repeating: .infinity, count: 21)
            for (vector, place) in prints.places.enumerated() {
                least[Int(place)] = min(least[Int(place)], all[vector])
            }
            for (found, expected) in zip(table.least(sample.readings), least) {
                #expect(found == expected || abs(found - expected) <= 1e-9 * expected)
            }
            let best = try #require(least.min())
            #expect(table.nearestPlace(sample.readings) == least.firstIndex { $0 <= best * (1 + 1e-9) })
        }
        #expect(NearestVectors(PrintTable(), placeCount: 2, beaconCount: 1).nearestPlace([]) == nil)
    }

    /// Scores are for whoever wants them: without them the answer is the same.
    @Test(arguments: [PositioningAlgorithm.nn, .wknn, .gauss, .field, .hmm])
    func answersAreTheSameWithoutScores(algorithm: PositioningAlgorithm) throws {
        var random = SplitMix64(seed: 9)
        let places = (0..<12).map { place in
            (0..<6).map { _ in
                Dictionary(
                    uniqueKeysWithValues: (0..<5).filter { _ in random.next(upTo: 5) != 0 }.map { beacon in
                        (beacon, -60 - 3 * Double(abs(place - 2 * beacon)) - Double(random.next(upTo: 4)))
                    })
            }
        }
        let map = try SignalMap(SeedRuleTests.survey(places))
        var plain = try Locator(map, settings: LocatorSettings(algorithm))
        var scoring = plain
        scoring.wantsScores = true
        for (second, vector) in places.map({ $0[2] }).enumerated() {
            let (one, other) = (
                plain.locate(SeedRuleTests.vector(vector, second)), scoring.locate(SeedRuleTests.vector(vector, second))
            )
            #expect(one.place == other.place && one.position == other.position && one.state == other.state)
            #expect(one.candidates == other.candidates && one.region95 == other.region95)
            #expect(one.receiverOffset == other.receiverOffset && one.scores.isEmpty && other.scores.count == 12)
        }
    }

    /// Blocks of cells, and one logarithm for many beacons, beside the formula for each cell, beacon and offset.
    @Test(arguments: [1, 127, 128, 301])
    func likelihoodsOfBlocksAreThoseOfEachCell(cells: Int) {
        var random = SplitMix64(seed: UInt64(cells))
        let (beacons, offsets) = (60, [-3.0, 0, 4.5])
        var table = EmissionTable(cells: cells, beacons: beacons)
        for beacon in 0..<beacons {
            for cell in 0..<cells {
                table.set(
                    beacon: beacon, cell: cell, mean: -90 + Double(random.next(upTo: 400)) / 10,
                    variance: 1 + Double(random.next(upTo: 300)) / 10, chance: Double(random.next(upTo: 100)) / 100)
            }
        }
        let heard = (0..<beacons).filter { $0 % 10 != 3 }.map {
            SignalVector.Reading(beacon: $0, level: -95 + Double(random.next(upTo: 500)) / 10)
        }
        let found = table.logLikelihoods(of: SignalVector(seconds: 0, readings: heard), offsets: offsets)
        #expect(found.count == cells * offsets.count)
        for (number, offset) in offsets.enumerated() {
            for cell in 0..<cells {
                var expected = (0..<beacons).reduce(0.0) { $0 + log(1 - table.chance(beacon: $1, cell: cell)) }
                for reading in heard {
                    let (beacon, level) = (reading.beacon, reading.level - offset)
                    let (chance, deviation) = (
                        table.chance(beacon: beacon, cell: cell), table.deviation(beacon: beacon, cell: cell)
                    )
                    let z = (level - table.mean(beacon: beacon, cell: cell)) / deviation
                    expected += log(chance) - log(1 - chance) - log(deviation) - 3 * log(1 + z * z / 5)
                }
                #expect(abs(found[number * cells + cell] - expected) < 1e-8 * abs(expected))
            }
        }
    }

    /// The smallest region and the smallest circle, as a full order gives them.
    @Test(arguments: 1..<30)
    func regionsAreThoseOfAFullOrder(seed: Int) throws {
        var random = SplitMix64(seed: UInt64(seed))
        let grid = CellGrid([.init(low: .init(x: 0, y: 0), high: .init(x: 12, y: 9))], step: 0.5)
        let middle = FloorPosition(x: Double(random.next(upTo: 12)), y: Double(random.next(upTo: 9)))
        let width = Double(seed * seed) / 10 + 0.1
        let logs = grid.cells.map { cell in
            -cell.position.distance(to: middle) * cell.position.distance(to: middle) / width
                + Double(random.next(upTo: 20)) / 10
        }
        let posterior = Posterior(logs, cells: grid.cells.count, temper: 1, priors: [0])
        let order = logs.indices.sorted { (posterior.probabilities[$0], $1) > (posterior.probabilities[$1], $0) }
        var (sum, count) = (0.0, 0)
        while sum < 0.95, count < order.count {
            sum += posterior.probabilities[order[count]]
            count += 1
        }
        #expect(posterior.cells(holding: 0.95) == Array(order.prefix(count)))
        let position = try #require(posterior.position(grid.cells)).position
        let region = posterior.region(0.95, grid.cells, around: position)
        #expect(abs(region.area - Double(count) / 4) < 1e-9)
        func held(_ radius: Double) -> Double {
            grid.cells.indices.reduce(0) {
                $0 + (grid.cells[$1].position.distance(to: position) <= radius ? posterior.probabilities[$1] : 0)
            }
        }
        #expect(held(region.radius) >= 0.95 - 1e-6)
        if count > 1 { #expect(held(region.radius - 1e-6) < 0.95) }
        for cell in order.prefix(count) {
            let corner = grid.cells[cell].position
            #expect(region.polygon.contains { $0.x <= corner.x } && region.polygon.contains { $0.x >= corner.x })
        }
    }

    /// A second's way beside the sum over all pairs of cells: a floor with a hole and another floor, walls or none.
    @Test(arguments: [[], [Wall(from: .init(x: 2.2, y: -1), to: .init(x: 2.2, y: 3.1), attenuation: 6)]])
    func secondsWayIsTheSumOverAllPairs(walls: [Wall]) {
        let grid = CellGrid(
            [
                .init(floor: "ground", low: .init(x: 0, y: 0), high: .init(x: 6, y: 4)),
                .init(floor: "first", low: .init(x: 0, y: 0), high: .init(x: 2, y: 7)),
            ], step: 0.5
        ) { $0.floor == "first" || $0.position.distance(to: .init(x: 4, y: 2)) > 0.8 }
        let deviation = CellFilter.stepShare * CellFilter.fastest
        let count = grid.cells.count
        func share(_ left: Int, _ right: Int) -> Double {
            let (from, to) = (grid.cells[left], grid.cells[right])
            let distance = from.position.distance(to: to.position)
            let isCut = walls.contains { CellFilter.isCut(from.position, to.position, by: $0) }
            guard from.floor == to.floor, distance <= 3 * deviation, !isCut else { return 0 }
            return exp(-distance * distance / (2 * deviation * deviation))
        }
        var random = SplitMix64(seed: 5)
        let start = (0..<2 * count).map { _ in Double(random.next(upTo: 9)) }
        var expected: [Double] = []
        let given = (0..<count).map { cell in (0..<count).reduce(0) { $0 + share(cell, $1) } }
        for plane in 0..<2 {
            let weights = start[plane * count..<(plane + 1) * count].map { $0 }
            let anywhere = 0.01 * weights.reduce(0, +) / Double(count)
            for cell in 0..<count {
                expected.append(
                    anywhere + (0..<count).reduce(0) { $0 + share(cell, $1) * weights[$1] / given[$1] * 0.99 })
            }
        }
        var found = start
        CellStep(grid, deviation: deviation, walls: walls).pass(&found, planes: 2, leak: 0.01)
        for (one, other) in zip(found, expected) { #expect(abs(one - other) < 1e-9) }
    }

    /// Levels in few octets are the levels: means of packets, fractions, and what no packet says.
    @Test func levelsAreKeptAsTheyWere() {
        let packets: [[Double]] = [
            [-71, -73, -70], [-127], [20, -127], [0], [-60.25], [-64, -64.5], [Double](repeating: -99, count: 3000),
            [-99.9999999999], (0..<2047).map { -Double($0 % 128) },
        ]
        var table = VectorTable(keepsPackets: true)
        for (number, levels) in packets.enumerated() { table.append(beacon: number * 2000, packets: levels) }
        table.close(3)
        #expect(table.range(0).map { table.beacon($0) } == packets.indices.map { $0 * 2000 })
        let means = packets.map { $0.reduce(0, +) / Double($0.count) }
        #expect(table.range(0).map { table.level($0) } == means)
        #expect(table.packets(0) == packets.enumerated().map { [5, 6].contains($0) ? [means[$0]] : $1 })
        var other = VectorTable()
        // Another order, and one of them left out.
        other.append(0, of: table, numbers: (0..<20_000).map { $0 == 4000 ? nil : 20_000 - $0 })
        let left = packets.indices.filter { $0 != 2 }.reversed()
        #expect(other.range(0).map { other.level($0) } == left.map { means[$0] })
        #expect(other.range(0).map { other.beacon($0) } == left.map { 20_000 - $0 * 2000 })
        #expect(other.packets(0) == left.map { [means[$0]] })
    }

    @Test func mapNeedsNoPackets() throws {
        var text = "{\"survey\":1,\"site\":\"hall\"}\n"
        for place in 0..<3 {
            text += "{\"stay\":\(place),\"place\":\"P\(place)\",\"position\":[\(place),0]}\n"
            for second in 0..<5 {
                text += "{\"t\":\(second),\"rssi\":{\"b\":[-7\(second),-6\(place),-80],\"a\":[-5\(place)]}}\n"
            }
        }
        var texts: [String] = []
        for keepsPackets in [true, false] {
            var reader = SurveyReader(keepsPackets: keepsPackets)
            reader.take(text.utf8)
            reader.finish()
            #expect(reader.survey.packets(0)[0].count == (keepsPackets ? 3 : 1))
            var twice = Survey(keepsPackets: keepsPackets)
            twice.append(reader.survey)
            var map = try SignalMap(twice)
            map.settings = LocatorSettings(.wknn)
            texts.append(map.text)
        }
        #expect(texts[0] == texts[1])
    }

    /// Vectors that a map has in common with its survey, of which some are in no stay of the map, are as its own.
    @Test(arguments: [PositioningAlgorithm.nn, .wknn, .relative])
    func sharedVectorsAreThoseOfTheMap(algorithm: PositioningAlgorithm) throws {
        let keys = try ["c", "a", "d", "b"].map { try #require(BeaconKey($0)) }
        var survey = Survey(keepsPackets: false)
        let numbers = keys.compactMap { survey.number(of: $0) }
        var random = SplitMix64(seed: 9)
        for stay in 0..<8 {
            survey.begin(Survey.Stay(number: stay, place: "P\(stay / 2)", position: .init(x: Double(stay / 2), y: 0)))
            for second in 0..<30 {
                // Means of three packets, and a vector in which nothing was heard.
                let readings =
                    second == 7
                    ? []
                    : numbers.map {
                        SignalVector.Reading(beacon: $0, level: -60 - Double(random.next(upTo: 90)) / 3)
                    }
                survey.append(SignalVector(seconds: Double(second), readings: readings))
            }
        }
        var sorted = survey
        sorted.sortBeacons()
        #expect(sorted.beacons.map(\.text) == ["a", "b", "c", "d"])
        #expect(keys.map { sorted.existingNumber(of: $0) } == [2, 0, 3, 1])
        #expect(
            SurveyTable.long(sorted).split(separator: "\n").sorted()
                == SurveyTable.long(survey).split(separator: "\n").sorted())
        let maps = try [survey, sorted].map { survey in
            var map = try SignalMap(survey.filtered { $0.number % 2 == 0 })
            map.settings = LocatorSettings(algorithm)
            map.settings.prints = .vectors
            return map
        }
        #expect(maps.map(\.table.count) == [120, 240] && maps.map(\.prints.count) == [120, 120])
        #expect(maps[0].text == maps[1].text && maps[1].text == maps[1].json.pretty)
        var locators = try maps.map { try Locator($0) }
        for index in locators.indices { locators[index].wantsScores = true }
        for vector in 0..<survey.vectorCount {
            let answers = locators.indices.map { index in
                let map = maps[index]
                return locators[index].locate(map.vector(vector, of: survey, numbers: map.numbers(for: survey)))
            }
            #expect(answers[0].scores == answers[1].scores && answers[0].position == answers[1].position)
        }
        let choices = try [survey, sorted].map { try AlgorithmChoice($0, candidates: [algorithm, .nnMean]).map.text }
        #expect(choices[0] == choices[1])
    }
}
