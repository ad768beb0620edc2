import TestSupport
import Testing

@testable import Planner

@Suite struct FloorPlanTests {
    /// A floor of about 10 m × 10 m with a wall. The values are good to the left of the wall and bad to the right.
    private static func plan(target: Double? = 90) -> PlanPageContent.FloorPlan {
        let spots = (0..<100).map { index -> PlanPageContent.FloorPlan.Spot in
            let (x, y) = (Double(index % 10) + 0.5, Double(index / 10) + 0.5)
            return .init(.init(x, y), x < 4.7 ? 99 : 40)
        }
        return .init(
            title: "hall", valueName: "found in time", unit: "%", isHigherBetter: true, target: target, spotSpacing: 1,
            outline: [.init(0, 0), .init(10, 0), .init(10, 9.6), .init(0, 9.6)],
            walls: [.init(from: .init(4.7, 0), to: .init(4.7, 10), attenuation: 12)],
            beacons: [.init("door <1>", at: .init(2, 2)), .init("desk", at: .init(9.5, 3))], spots: spots)
    }

    @Test func cellsEndAtWallsAndAtTheOutline() {
        let pieces = FloorPlanCells(Self.plan(), limit: 6000).pieces
        for piece in pieces {
            #expect(piece.y + piece.height <= 9.75 + 1e-9)
            // A quarter of a cell is the finest piece.
            if piece.value == 99 {
                #expect(piece.x + piece.width <= 4.75 + 1e-9)
            } else {
                #expect(piece.x >= 4.75 - 1e-9)
            }
        }
        let area = pieces.reduce(0) { $0 + $1.width * $1.height }
        #expect(abs(area - 100) < 6)
    }

    @Test func targetDividesGoodShadesFromBadShades() {
        let shades = FloorPlanShades(Self.plan())
        #expect(shades.shade(99) < 4 && shades.shade(90) < 4)
        #expect(shades.shade(89.9) == 4 && shades.shade(0) == 7)
        #expect(shades.legend(isMoving: false).allSatisfy { $0.name.hasSuffix(" %") })
        #expect(shades.legend(isMoving: false).count == 8)
        let without = FloorPlanShades(Self.plan(target: nil))
        #expect(without.shade(99) == 0 && without.shade(40) == 7)
    }

    @Test func namesContourAndLegendAreDrawn() throws {
        var content = PlanPageContent(title: "t", answer: "a", command: "c")
        content.floorPlan = Self.plan()
        let html = PlanPage(content).html
        #expect(try MarkupReader(html).problems == [])
        for text in [
            ">door &lt;1&gt;</text>", ">desk</text>", "class=\"contour\"", "target: 90 %", "wall: a wider line",
        ] {
            #expect(html.contains(text), "\(text)")
        }
    }
}
