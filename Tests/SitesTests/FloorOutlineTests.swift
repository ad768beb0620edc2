import Airtime
import BluetoothTypes
import Testing

@testable import Sites

@Suite struct FloorOutlineTests {
    private static let square = [(0.0, 0.0), (10, 0), (10, 10), (0, 10)].map { FloorPosition(x: $0.0, y: $0.1) }

    @Test(arguments: [(5.0, 5.0, true), (0, 0, true), (10, 5, true), (10.1, 5, false), (-1, 0, false), (5, 11, false)])
    func outlineContainsItsInsideAndItsEdge(x: Double, y: Double, isInside: Bool) throws {
        let outline = try FloorOutline(corners: Self.square)
        #expect(outline.contains(FloorPosition(x: x, y: y)) == isInside)
        #expect(outline.area == 100)
    }

    @Test func theFirstCornerMayBeRepeatedAtTheEnd() throws {
        #expect(try FloorOutline(corners: Self.square + [Self.square[0]]) == FloorOutline(corners: Self.square))
        #expect(throws: FloorOutline.Fault.noArea) {
            try FloorOutline(corners: [Self.square[0], Self.square[1], Self.square[0]])
        }
    }

    @Test func outlineThatCrossesItselfIsRefused() {
        let bow = [Self.square[0], Self.square[2], Self.square[1], Self.square[3]]
        #expect(throws: FloorOutline.Fault.crossing(0, 2)) { try FloorOutline(corners: bow) }
    }

    @Test func outlineWithoutAreaIsRefused() {
        #expect(throws: FloorOutline.Fault.noArea) { try FloorOutline(corners: Array(Self.square.prefix(2))) }
        let line = [0.0, 1, 2].map { FloorPosition(x: $0, y: $0) }
        #expect(throws: FloorOutline.Fault.noArea) { try FloorOutline(corners: line) }
    }

    /// The index gives the same result as a check of all walls, for many lines of sight, also from outside the walls'
    /// rectangle.
    @Test(arguments: [1, 2, 7, 100, 1000])
    func indexMatchesACheckOfAllWalls(count: Int) {
        var random = SplitMix64(seed: UInt64(count))
        func place(_ reach: UInt32) -> FloorPosition {
            FloorPosition(x: Double(random.next(upTo: reach)) / 100 - 5, y: Double(random.next(upTo: reach)) / 100 - 5)
        }
        let walls = (0..<count).map { Wall(from: place(3000), to: place(3000), attenuation: Double($0 % 7 + 1)) }
        let index = WallIndex(walls)
        for _ in 0..<300 {
            let (from, to) = (place(4000), place(4000))
            let sight = FloorSegment(from: from, to: to)
            let expected = walls.filter { sight.meeting(FloorSegment(from: $0.from, to: $0.to)) != nil }
                .reduce(0) { $0 + $1.attenuation }
            #expect(index.attenuation(from: from, to: to) == expected)
        }
    }

    @Test func noWallsHaveNoLoss() {
        let index = WallIndex([])
        #expect(index.attenuation(from: Self.square[0], to: Self.square[2]) == 0)
    }

    @Test func lossIsTheSumOverCrossedWalls() {
        let walls = (1...3).map {
            Wall(
                from: FloorPosition(x: Double($0), y: 0), to: FloorPosition(x: Double($0), y: 10), attenuation: 6)
        }
        let index = WallIndex(walls)
        let start = FloorPosition(x: 0, y: 5)
        #expect(index.attenuation(from: start, to: FloorPosition(x: 2.5, y: 5)) == 12)
        #expect(index.attenuation(from: FloorPosition(x: 2.5, y: 5), to: start) == 12)
        #expect(index.attenuation(from: start, to: FloorPosition(x: 0.5, y: 9)) == 0)
    }
}
