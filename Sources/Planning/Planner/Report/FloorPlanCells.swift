/// The places of a floor plan as cells of a square grid. A cell that a wall or the outline cuts is divided, and each
/// piece has the value of the nearest place on its own side.
struct FloorPlanCells {
    /// A rectangle in metres, from its lower left corner.
    struct Piece {
        let x: Double
        let y: Double
        let width: Double
        let height: Double
        /// The value of the piece; nil if no beacon is received.
        let value: Double?
        /// The number of the place on the plan from which the value comes.
        let spot: Int
    }

    private struct Place: Hashable {
        let column: Int
        let row: Int
    }

    private typealias Segment = (from: PlanPageContent.Point, to: PlanPageContent.Point)

    /// The number of pieces of a cut cell in each direction.
    private static let cuts = 4

    /// The places that are drawn, with their numbers on the plan.
    private struct Spot {
        let number: Int
        let position: PlanPageContent.Point
        let value: Double?
    }

    private let spots: [Place: Spot]
    private let spacing: Double
    private let outline: [PlanPageContent.Point]
    private let walls: [Segment]

    /// - Parameter limit: The approximate largest number of drawn places. If there are more, an evenly chosen part is
    ///   drawn, with larger cells.
    init(_ plan: PlanPageContent.FloorPlan, limit: Int) {
        let known = plan.spots.enumerated().map { number, spot in
            Spot(number: number, position: spot.position, value: spot.value)
        }.filter { abs($0.position.x) < 1e6 && abs($0.position.y) < 1e6 }
        let coarse = Int((Double(known.count) / Double(max(1, limit))).squareRoot().rounded(.up))
        let spacing = plan.spotSpacing.isFinite && plan.spotSpacing > 1e-3 ? plan.spotSpacing : 1
        let origin = known.first?.position ?? .init(0, 0)
        var spots: [Place: Spot] = [:]
        for spot in known {
            let column = Int(((spot.position.x - origin.x) / spacing).rounded())
            let row = Int(((spot.position.y - origin.y) / spacing).rounded())
            guard column % max(1, coarse) == 0, row % max(1, coarse) == 0 else { continue }
            spots[Place(column: column / max(1, coarse), row: row / max(1, coarse))] = spot
        }
        self.spots = spots
        self.spacing = spacing * Double(max(1, coarse))
        outline = plan.outline
        walls = plan.walls.prefix(500).map { ($0.from, $0.to) }
    }

    /// All cells, in whole or in pieces.
    var pieces: [Piece] {
        var result: [Piece] = []
        for (place, spot) in spots.sorted(by: { ($0.key.row, $0.key.column) < ($1.key.row, $1.key.column) }) {
            let value = spot.value.flatMap { $0.isFinite ? $0 : nil }
            let (x, y) = (spot.position.x - spacing / 2, spot.position.y - spacing / 2)
            let near = walls(near: spot.position)
            if isCut(spot.position, by: near) {
                result += divided(place, x, y, near)
            } else {
                result.append(
                    Piece(x: x, y: y, width: spacing, height: spacing, value: value, spot: spot.number))
            }
        }
        return result
    }

    /// The walls that may reach into a cell or its neighbors.
    private func walls(near center: PlanPageContent.Point) -> [Segment] {
        let reach = 2 * spacing
        return walls.filter { wall in
            min(wall.from.x, wall.to.x) <= center.x + reach && max(wall.from.x, wall.to.x) >= center.x - reach
                && min(wall.from.y, wall.to.y) <= center.y + reach && max(wall.from.y, wall.to.y) >= center.y - reach
        }
    }

    private func isCut(_ center: PlanPageContent.Point, by walls: [Segment]) -> Bool {
        let half = spacing / 2 + 1e-9
        let corners = [
            PlanPageContent.Point(center.x - half, center.y - half), .init(center.x + half, center.y - half),
            .init(center.x + half, center.y + half), .init(center.x - half, center.y + half),
        ]
        if !outline.isEmpty, corners.contains(where: { !isInside($0) }) { return true }
        return walls.contains { wall in
            Self.meet(corners[0], corners[2], wall.from, wall.to)
                || Self.meet(corners[1], corners[3], wall.from, wall.to)
        }
    }

    private func divided(_ place: Place, _ x: Double, _ y: Double, _ walls: [Segment]) -> [Piece] {
        let side = spacing / Double(Self.cuts)
        var result: [Piece] = []
        for row in 0..<Self.cuts {
            var run: Piece?
            for column in 0..<Self.cuts {
                let (left, low) = (x + Double(column) * side, y + Double(row) * side)
                let middle = PlanPageContent.Point(left + side / 2, low + side / 2)
                guard outline.isEmpty || isInside(middle), let spot = nearest(to: middle, around: place, walls)
                else {
                    if let run { result.append(run) }
                    run = nil
                    continue
                }
                let value = spot.value.flatMap { $0.isFinite ? $0 : nil }
                if let known = run, known.spot == spot.number {
                    run = Piece(
                        x: known.x, y: known.y, width: known.width + side, height: side, value: value,
                        spot: spot.number)
                } else {
                    if let run { result.append(run) }
                    run = Piece(x: left, y: low, width: side, height: side, value: value, spot: spot.number)
                }
            }
            if let run { result.append(run) }
        }
        return result
    }

    /// Returns the nearest place that no wall separates from a point; the place of the cell if there is none.
    private func nearest(
        to point: PlanPageContent.Point, around place: Place, _ walls: [Segment]
    ) -> Spot? {
        var best: (spot: Spot, distance: Double)?
        for row in -1...1 {
            for column in -1...1 {
                guard let spot = spots[Place(column: place.column + column, row: place.row + row)] else { continue }
                let (dx, dy) = (spot.position.x - point.x, spot.position.y - point.y)
                let distance = dx * dx + dy * dy
                guard distance < best?.distance ?? .infinity else { continue }
                if walls.contains(where: { Self.meet(point, spot.position, $0.from, $0.to) }) { continue }
                best = (spot, distance)
            }
        }
        return best?.spot ?? spots[place]
    }

    private func isInside(_ point: PlanPageContent.Point) -> Bool {
        var isInside = false
        for index in outline.indices {
            let (from, to) = (outline[index], outline[(index + 1) % outline.count])
            guard (from.y > point.y) != (to.y > point.y) else { continue }
            let share = (point.y - from.y) / (to.y - from.y)
            if point.x < from.x + share * (to.x - from.x) { isInside.toggle() }
        }
        return isInside
    }

    /// Returns true if two segments meet.
    private static func meet(
        _ a: PlanPageContent.Point, _ b: PlanPageContent.Point, _ c: PlanPageContent.Point, _ d: PlanPageContent.Point
    ) -> Bool {
        let cross = (b.x - a.x) * (d.y - c.y) - (b.y - a.y) * (d.x - c.x)
        guard cross != 0 else { return false }
        let first = ((c.x - a.x) * (d.y - c.y) - (c.y - a.y) * (d.x - c.x)) / cross
        let second = ((c.x - a.x) * (b.y - a.y) - (c.y - a.y) * (b.x - a.x)) / cross
        return (0...1).contains(first) && (0...1).contains(second)
    }

    /// The numbers of the places that are drawn, row by row.
    var kept: [Int] { sorted.map { spots[$0]?.number ?? 0 } }

    private var sorted: [Place] { spots.keys.sorted { ($0.row, $0.column) < ($1.row, $1.column) } }

    /// The squares whose corners are four neighboring places: the numbers of these places, in order around the square.
    var squares: [[Int]] { corners.map { $0.map(\.number) } }

    private var corners: [[Spot]] {
        sorted.compactMap { place in
            let corners = [(0, 0), (1, 0), (1, 1), (0, 1)].compactMap { across, up in
                spots[Place(column: place.column + across, row: place.row + up)]
            }
            return corners.count == 4 ? corners : nil
        }
    }

    /// Returns the line along which the values cross a target.
    func contour(at target: Double, _ frame: FloorPlanFigure.Frame) -> SVGPath {
        var path = SVGPath()
        for corners in corners {
            var crossings: [PlanPageContent.Point] = []
            for index in 0..<4 {
                let (from, to) = (corners[index], corners[(index + 1) % 4])
                let (low, high) = (from.value ?? 0, to.value ?? 0)
                guard low.isFinite, high.isFinite, (low >= target) != (high >= target) else { continue }
                let share = (target - low) / (high - low)
                crossings.append(
                    .init(
                        from.position.x + (to.position.x - from.position.x) * share,
                        from.position.y + (to.position.y - from.position.y) * share))
            }
            for pair in stride(from: 0, to: crossings.count - 1, by: 2) {
                path.addLine(from: frame.place(crossings[pair]), to: frame.place(crossings[pair + 1]))
            }
        }
        return path
    }
}
