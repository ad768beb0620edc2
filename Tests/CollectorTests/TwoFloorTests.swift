import Airtime
import Collector
import Configuration
import Positioning
import Sites
import Testing

/// The collector on two floors, compared with a reference that computes each receiver's likelihood for each cell from
/// the definition.
@Suite struct TwoFloorTests {
    private static let receivers: [(floor: Int, x: Double, y: Double)] = [
        (0, 2, 2), (0, 18, 2), (0, 10, 10), (0, 2, 10), (1, 2, 2), (1, 18, 10), (1, 10, 2), (1, 4, 11),
    ]
    private static let begin = 1_000_000_000_000
    /// A wall on both floors that crosses no centre of a cell: its x, its upper end, and its loss in dB.
    private static let wall = (x: 8.2, end: 7.3, decibels: 5.0)

    private static func collector(cell: Double) throws -> SightingCollector {
        let names = ["ground", "first"]
        let rooms = (0..<4).map { room in
            "{\"name\":\"r\(room)\",\"outline\":[[\(room * 5),0],[\(room * 5 + 5),0],[\(room * 5 + 5),12],[\(room * 5),12]]}"
        }
        let floors = names.map {
            "{\"name\":\"\($0)\",\"site\":\"\($0).json\",\"rooms\":[\(rooms.joined(separator: ","))]}"
        }
        let listeners = receivers.enumerated().map {
            "{\"name\":\"e\($0)\",\"floor\":\"\(names[$1.floor])\",\"position\":[\($1.x),\($1.y)]}"
        }
        let text = """
            {"version":1,"name":"house","floors":[\(floors.joined(separator: ","))],"cellM":\(cell),
             "receivers":[\(listeners.joined(separator: ","))],
             "beacons":[{"name":"tag","identity":"address:C0:01:02:03:04:05","measuredPowerAt1mDbm":-59}]}
            """
        let site = """
            {"version":1,"name":"flat","outline":[[0,0],[20,0],[20,12],[0,12]],"beacons":[{"name":"b","position":[1,1]}],
             "walls":[{"from":[\(wall.x),0],"to":[\(wall.x),\(wall.end)],"attenuationDb":\(wall.decibels)}],
             "pathLoss":{"model":"log-distance","lossAt1mDb":59,"exponent":3,"shadowingDb":4},
             "receiverSensitivityDbm":-90,"target":{"detectWithinS":10,"probability":0.9}}
            """
        let (file, problems) = CollectorFile.decode(Array(text.utf8))
        let (plan, faults) = Site.decode(Array(site.utf8))
        #expect(problems.isEmpty && !faults.contains(where: \.isError), "\(problems) \(faults)")
        let whole = try #require(file)
        let floor = try #require(plan)
        return SightingCollector(whole, RoomPlan(whole, sites: [floor, floor]))
    }

    private static func level(_ receiver: Int, _ floor: Int, _ place: FloorPosition) -> Double {
        let (at, dx) = (receivers[receiver], place.x - receivers[receiver].x)
        let (dy, storeys) = (place.y - at.y, Double(abs(floor - at.floor)))
        let straight = max(0.1, (dx * dx + dy * dy + 9 * storeys * storeys).squareRoot())
        var isCut = false
        if storeys == 0, (place.x - wall.x) * (at.x - wall.x) < 0 {
            isCut = at.y + (wall.x - at.x) / dx * dy < wall.end
        }
        return -59 - 30 * log10(straight) - 15 * storeys - (isCut ? wall.decibels : 0)
    }

    /// The reference: the filter over all cells.
    private struct Reference {
        let grid: CellGrid
        var filter: CellFilter

        init(cell: Double) {
            grid = CellGrid(
                [
                    .init(floor: "0", low: .init(x: 0, y: 0), high: .init(x: 20, y: 12)),
                    .init(floor: "1", low: .init(x: 120, y: 0), high: .init(x: 140, y: 12)),
                ], step: cell)
            filter = CellFilter(
                grid,
                walls: [0, 120].map { shift in
                    Wall(
                        from: .init(x: shift + wall.x, y: 0), to: .init(x: shift + wall.x, y: wall.end),
                        attenuation: wall.decibels)
                })
        }

        func place(_ cell: Int) -> (floor: Int, at: FloorPosition) {
            let (position, floor) = (grid.cells[cell].position, grid.cells[cell].floor == "1" ? 1 : 0)
            return (floor, FloorPosition(x: position.x - Double(floor) * 120, y: position.y))
        }

        /// - Parameter dead: The receiver that sends nothing.
        mutating func hear(_ heard: [Double?], without dead: Int?) {
            filter.update(
                grid.cells.indices.map { cell in
                    let (floor, at) = place(cell)
                    return heard.enumerated().reduce(0) { sum, sound in
                        guard sound.offset != dead else { return sum }
                        let expected = TwoFloorTests.level(sound.offset, floor, at)
                        guard let level = sound.element else {
                            let audible = 0.5 * erfc(-(expected + 90) / 4 / 2.0.squareRoot())
                            return sum + max(log(0.05), log1p(-0.8 * audible))
                        }
                        let error = level - expected
                        return sum
                            + log(
                                0.9 * exp(-error * error / 32) + 0.1 * exp(-(error + 6) * (error + 6) / 32) + 1e-12)
                    }
                })
        }

        /// The most likely floor, and the mean position on it.
        var mean: (floor: Int, at: FloorPosition) {
            var sums: [(weight: Double, x: Double, y: Double)] = [(0, 0, 0), (0, 0, 0)]
            for (cell, weight) in filter.probabilities.enumerated() {
                let (floor, at) = place(cell)
                sums[floor].weight += weight
                sums[floor].x += weight * at.x
                sums[floor].y += weight * at.y
            }
            let floor = sums[0].weight >= sums[1].weight ? 0 : 1
            return (floor, .init(x: sums[floor].x / sums[floor].weight, y: sums[floor].y / sums[floor].weight))
        }
    }

    private struct Answer {
        let floor: String?
        let position: FloorPosition?
        let probability: Double?

        init(_ collector: SightingCollector) throws {
            let first = try #require(collector.beaconsJSON.first)
            let node = try #require(JSONDocument.parse(Array(first.line.utf8)).root)
            floor = node["floor"]?.string
            probability = node["probability"]?.thousandths.map { Double($0) / 1000 }
            position = node["position"].flatMap { place in
                guard let x = place["x"]?.thousandths, let y = place["y"]?.thousandths else { return nil }
                return FloorPosition(x: Double(x) / 1000, y: Double(y) / 1000)
            }
        }
    }

    @Test(arguments: [1.0, 0.5])
    func matchesTheReferenceOverAllCellsAndReceivers(cell: Double) throws {
        var random = SeededRandom(5)
        var collector = try Self.collector(cell: cell)
        var reference = Reference(cell: cell)
        var (worst, last, seconds) = (0.0, 0, 0)
        for second in 0..<80 {
            // The beacon crosses the ground floor, goes up, and returns; for some seconds no receiver receives it.
            let there = Double(second % 40) / 40
            let floor = second < 40 ? 0 : 1
            let place = FloorPosition(x: floor == 0 ? 1 + 18 * there : 19 - 18 * there, y: 6 + 4 * cos(there * 6))
            let isSilent = (30..<38).contains(second)
            let heard = Self.receivers.indices.map { receiver -> Double? in
                let level = Self.level(receiver, floor, place) + 4 * random.normal()
                return isSilent || level < -90 || random.share() < 0.2 ? nil : (level * 10).rounded() / 10
            }
            let time = Self.begin + second * 1000
            let dead = second < 20 ? nil : 6
            for (number, level) in heard.enumerated() where number != dead {
                let beacons = level.map { [ReceiverLine.Beacon(name: "tag", level: $0)] } ?? []
                _ = collector.process(
                    ReceiverLine(receiver: "e\(number)", unixMilliseconds: time + 10, beacons: beacons), from: nil,
                    arrival: time)
            }
            _ = collector.advance(to: time + 1010)
            let isQuiet = heard.enumerated().allSatisfy { $1 == nil || $0 == dead }
            guard !isQuiet || second - last >= 5 else { continue }
            reference.filter.predict(seconds: seconds == 0 ? 0 : Double(second - last))
            reference.hear(heard, without: dead)
            (last, seconds) = (second, seconds + 1)
            let (answer, mean) = (try Answer(collector), reference.mean)
            #expect(answer.floor == (mean.floor == 0 ? "ground" : "first"), "second \(second)")
            let error = try #require(answer.position).distance(to: mean.at)
            worst = max(worst, error)
        }
        // The collector prints centimetres.
        #expect(worst < 0.03, "\(worst) m")
        #expect(seconds > 60)
    }

    @Test func aBeaconThatMayBeNearADeadReceiverIsUnknown() throws {
        var collector = try Self.collector(cell: 1)
        var events: [SightingCollector.Event] = []
        for second in 0..<120 {
            let time = Self.begin + second * 1000
            for number in Self.receivers.indices where number != 1 || second < 30 {
                let heard = second < 60 && number < 4 ? Self.level(number, 0, .init(x: 2, y: 4)) : -100
                let beacons = heard > -90 ? [ReceiverLine.Beacon(name: "tag", level: heard)] : []
                events += collector.process(
                    ReceiverLine(receiver: "e\(number)", unixMilliseconds: time + 10, beacons: beacons), from: nil,
                    arrival: time)
            }
            events += collector.advance(to: time + 1010)
        }
        #expect(events.contains { $0.kind == .receiverDead && $0.receiver == "e1" })
        // The beacon may be where only the dead receiver would receive it.
        #expect(!events.contains { $0.kind == .exit })
        #expect(events.last { $0.beacon != nil }?.kind == .unknown)
    }
}
