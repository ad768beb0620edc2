/// The places of a floor plan as cells of a square grid. A cell is divided if a wall or the outline passes through it.
/// Each piece has the value of the nearest place on its side of the wall.
struct FloorPlanCells {
    /// A rectangle in metres; x and y are its lower left corner.
    struct Piece {
        let x: Double
        let y: Double
        let width: Double
        let height: Double
        /// The value of the piece; nil if no beacon is received.
        let value: Double?
        /// The index, in the plan's spots, of the spot from which the value comes.
        let spot: Int
    }

    private struct Cell: Hashable {
        let column: Int
        let row: Int
    }

    private typealias Segment = (from: PlanPageContent.Point, to: PlanPageContent.Point)

    /// The number of pieces of a divided cell in each direction.
    private static let cuts = 4

    /// A place that is drawn, with its index in the plan's spots.
    private struct Spot {
        let index: Int
        let position: PlanPageContent.Point
        let value: Double?
    }

    private let spots: [Cell: Spot]
    private let spacing: Double
    private let outline: [PlanPageContent.Point]
    private let walls: [Segment]

    /// - Parameter limit: The approximate largest number of drawn places. If there are more places, only some of them
    ///   are drawn, evenly chosen and with larger cells.
    init(_ plan: PlanPageContent.FloorPlan, limit: Int) {
        let drawable = plan.spots.enumerated().map { index, spot in
            Spot(index: index, position: spot.position, value: spot.value)
        }.filter { abs($0.position.x) < 1e6 && abs($0.position.y) < 1e6 }
        let cellStep = Int((Double(drawable.count) / Double(max(1, limit))).squareRoot().rounded(.up))
        let spacing = plan.spotSpacing.isFinite && plan.spotSpacing > 1e-3 ? plan.spotSpacing : 1
        let origin = drawable.first?.position ?? .init(0, 0)
        var spots: [Cell: Spot] = [:]
        for spot in drawable {
            let column = Int(((spot.position.x - origin.x) / spacing).rounded())
            let row = Int(((spot.position.y - origin.y) / spacing).rounded())
            guard column % max(1, cellStep) == 0, row % max(1, cellStep) == 0 else { continue }
            spots[Cell(column: column / max(1, cellStep), row: row / max(1, cellStep))] = spot
        }
        self.spots = spots
        self.spacing = spacing * Double(max(1, cellStep))
        outline = plan.outline
        walls = plan.walls.prefix(500).map { ($0.from, $0.to) }
    }

    /// All cells. A divided cell is a list of pieces.
    var pieces: [Piece] {
        var result: [Piece] = []
        for (cell, spot) in spots.sorted(by: { ($0.key.row, $0.key.column) < ($1.key.row, $1.key.column) }) {
            let value = spot.value.flatMap { $0.isFinite ? $0 : nil }
            let (x, y) = (spot.position.x - spacing / 2, spot.position.y - spacing / 2)
            let nearbyWalls = walls(near: spot.position)
            if isCut(spot.position, by: nearbyWalls) {
                result += divided(cell, x, y, nearbyWalls)
            } else {
                result.append(
                    Piece(x: x, y: y, width: spacing, height: spacing, value: value, spot: spot.index))
            }
        }
        return result
    }

    /// Returns the walls that may pass through a cell or its neighbors.
    private func walls(near center: PlanPageContent.Point) -> [Segment] {
        let distance = 2 * spacing
        return walls.filter { wall in
            min(wall.from.x, wall.to.x) <= center.x + distance && max(wall.from.x, wall.to.x) >= center.x - distance
                && min(wall.from.y, wall.to.y) <= center.y + distance
                && max(wall.from.y, wall.to.y) >= center.y - distance
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

    private func divided(_ cell: Cell, _ x: Double, _ y: Double, _ walls: [Segment]) -> [Piece] {
        let side = spacing / Double(Self.cuts)
        var result: [Piece] = []
        for row in 0..<Self.cuts {
            var run: Piece?
            for column in 0..<Self.cuts {
                let (left, low) = (x + Double(column) * side, y + Double(row) * side)
                let middle = PlanPageContent.Point(left + side / 2, low + side / 2)
                guard outline.isEmpty || isInside(middle), let spot = nearest(to: middle, around: cell, walls)
                else {
                    if let run { result.append(run) }
                    run = nil
                    continue
                }
                let value = spot.value.flatMap { $0.isFinite ? $0 : nil }
                if let piece = run, piece.spot == spot.index {
                    run = Piece(
                        x: piece.x, y: piece.y, width: piece.width + side, height: side, value: value,
                        spot: spot.index)
                } else {
                    if let run { result.append(run) }
                    run = Piece(x: left, y: low, width: side, height: side, value: value, spot: spot.index)
                }
            }
            if let run { result.append(run) }
        }
        return result
    }

    /// Returns the nearest place that no wall separates from a point. If walls separate all nearby places from the
    /// point, returns the place of the cell.
    private func nearest(
        to point: PlanPageContent.Point, around cell: Cell, _ walls: [Segment]
    ) -> Spot? {
        var best: (spot: Spot, distance: Double)?
        for row in -1...1 {
            for column in -1...1 {
                guard let spot = spots[Cell(column: cell.column + column, row: cell.row + row)] else { continue }
                let (dx, dy) = (spot.position.x - point.x, spot.position.y - point.y)
                let distance = dx * dx + dy * dy
                guard distance < best?.distance ?? .infinity else { continue }
                if walls.contains(where: { Self.meet(point, spot.position, $0.from, $0.to) }) { continue }
                best = (spot, distance)
            }
        }
        return best?.spot ?? spots[cell]
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

    /// The indices, in the plan's spots, of the places that are drawn, row by row.
    var spotIndices: [Int] { sorted.map { spots[$0]?.index ?? 0 } }

    private var sorted: [Cell] { spots.keys.sorted { ($0.row, $0.column) < ($1.row, $1.column) } }

    /// The squares whose corners are four neighboring places: the indices of these places in the plan's spots, in order
    /// around the square.
    var squares: [[Int]] { corners.map { $0.map(\.index) } }

    private var corners: [[Spot]] {
        sorted.compactMap { cell in
            let corners = [(0, 0), (1, 0), (1, 1), (0, 1)].compactMap { across, up in
                spots[Cell(column: cell.column + across, row: cell.row + up)]
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
