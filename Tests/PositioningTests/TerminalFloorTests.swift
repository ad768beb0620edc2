import Airtime
import Positioning
import Testing

@Suite struct TerminalFloorTests {
    /// Returns a locator with three places on a ground floor of 8 m × 4 m and one place on the upper floor. At each
    /// place another beacon is the strongest.
    private static func locator() throws -> RunLocator {
        var survey = Survey()
        let keys = try Self.keys()
        let numbers = keys.compactMap { survey.number(of: $0) }
        let spots: [(x: Double, y: Double, floor: String)] = [
            (0, 0, "ground"), (8, 0, "ground"), (8, 4, "ground"), (3, 30, "upper"),
        ]
        for (place, spot) in spots.enumerated() {
            survey.begin(
                Survey.Stay(
                    number: place + 1, place: "P\(place)", position: .init(x: spot.x, y: spot.y), floor: spot.floor))
            for second in 0..<10 {
                let readings = numbers.enumerated().map {
                    SignalVector.Reading(beacon: $1, level: ($0 == place ? -50 : -80) - Double(second % 3))
                }
                survey.append(SignalVector(seconds: Double(second), readings: readings))
            }
        }
        return try RunLocator(try SignalMap(survey), settings: LocatorSettings(.gauss))
    }

    private static func keys() throws -> [BeaconKey] {
        try ["a", "b", "c", "d"].map { try #require(BeaconKey($0)) }
    }

    private static func plan(strongest: Int?, columns: Int = 41, rows: Int = 24) throws -> [[Character]] {
        var locator = try locator()
        let heard = try keys().enumerated().map { HeardBeacon($1, levels: [$0 == strongest ? -50 : -80]) }
        let instant = locator.locate(seconds: 0, strongest == nil ? [] : heard)
        let text = TerminalFloor.text(instant, on: locator.map, columns: columns, rows: rows)
        return text.split(separator: "\n").map(Array.init)
    }

    /// North is up, and a line is twice as high as a column is wide.
    @Test func drawsThePlaceAtItsPosition() throws {
        let plan = try Self.plan(strongest: 2)
        #expect(plan.count == 11 && plan.allSatisfy { $0.count == 41 })
        #expect(plan[0][40] == "●" && plan[10][0] == "·" && plan[10][40] == "·")
        #expect(plan[0][36] == "░" && plan[1][40] == "░", "the region is around it")
        #expect(plan.joined().count { $0 == "░" } < plan.joined().count / 2, "most of the floor is outside the region")
        #expect(plan.joined().count { $0 == "●" } == 1)
    }

    /// Only the floor of the answer is drawn. Without an answer all floors are drawn, and no position.
    @Test func otherFloorsAreLeftOut() throws {
        #expect(try Self.plan(strongest: 3).joined().filter { $0 != "░" } == ["●"])
        let silent = try Self.plan(strongest: nil)
        #expect(silent.joined().count { $0 == "·" } == 4 && !silent.joined().contains { "●░".contains($0) })
    }

    @Test(arguments: [(9, 24), (41, 2)])
    func drawsNoPlanIfTheTerminalIsTooSmall(columns: Int, rows: Int) throws {
        #expect(try Self.plan(strongest: 2, columns: columns, rows: rows).isEmpty)
    }

    @Test(arguments: [(10, 3), (80, 5), (200, 24)])
    func plansFitTheTerminal(columns: Int, rows: Int) throws {
        let plan = try Self.plan(strongest: 1, columns: columns, rows: rows)
        #expect(plan.count <= rows && plan.allSatisfy { $0.count == plan[0].count && $0.count <= columns })
        #expect(plan.joined().contains("●"))
    }
}
