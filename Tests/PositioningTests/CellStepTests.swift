import Airtime
import BluetoothTypes
import Sites
import Testing

@testable import Positioning

@Suite struct CellStepTests {
    /// A step compared with the sum over all pairs of cells: a floor with a hole and another floor, with and without walls.
    @Test(arguments: [[], [Wall(from: .init(x: 2.2, y: -1), to: .init(x: 2.2, y: 3.1), attenuation: 6)]])
    func stepIsTheSumOverAllPairs(walls: [Wall]) {
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
        let found = CellStep(grid, deviation: deviation, walls: walls).propagate(start, planes: 2, leak: 0.01)
        #expect(found.count == expected.count)
        for (one, other) in zip(found, expected) { #expect(abs(one - other) < 1e-9) }
    }
}
