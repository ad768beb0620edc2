public import Airtime

/// The cells of one or several floors: squares of equal size.
public struct CellGrid: Sendable {
    /// Floor by floor, then from west to east, then from south to north.
    public private(set) var cells: [Cell] = []
    /// The side of a cell, in metres.
    public let step: Double
    /// Each cell's column and row on its floor.
    private(set) var spots: [Spot] = []

    /// Where a cell lies on its floor.
    struct Spot: Hashable, Sendable {
        var floor: Int
        var column: Int
        var row: Int
    }

    /// A rectangle of one floor that is to be covered.
    public struct Area: Sendable {
        public let floor: String?
        public let low: FloorPosition
        public let high: FloorPosition

        /// - Parameters: The corners with the smallest and the largest coordinates.
        public init(floor: String? = nil, low: FloorPosition, high: FloorPosition) {
            self.floor = floor
            self.low = low
            self.high = high
        }
    }

    /// More cells than this are made larger, so that there are no more of them.
    public static let limit = 20_000

    /// - Parameters:
    ///   - wanted: The side of a cell in metres, above 0; `nil` for 0.5 m, or 1 m where that makes very many.
    ///   - isIncluded: Which of the cells are there.
    public init(_ areas: [Area], step wanted: Double? = nil, isIncluded: (Cell) -> Bool = { _ in true }) {
        func count(_ step: Double) -> Double {
            areas.reduce(0) { sum, area in
                let counts = Self.counts(area, step)
                return sum + Double(counts.columns) * Double(counts.rows)
            }
        }
        var step = wanted.map { max(0.05, $0) } ?? (count(0.5) <= Double(Self.fine) ? 0.5 : 1)
        while count(step) > Double(Self.limit) { step *= 1.25 }
        self.step = step
        for (number, area) in areas.enumerated() {
            let (columns, rows) = Self.counts(area, step)
            // What the cells cover more than the area is shared by both sides.
            let west = (area.low.x + area.high.x - Double(columns - 1) * step) / 2
            let south = (area.low.y + area.high.y - Double(rows - 1) * step) / 2
            for column in 0..<columns {
                for row in 0..<rows {
                    let position = FloorPosition(x: west + Double(column) * step, y: south + Double(row) * step)
                    let cell = Cell(position: position, floor: area.floor, area: step * step)
                    guard isIncluded(cell) else { continue }
                    cells.append(cell)
                    spots.append(Spot(floor: number, column: column, row: row))
                }
            }
        }
    }

    /// Up to so many cells half a metre is fine enough.
    private static let fine = 4000

    private static func counts(_ area: Area, _ step: Double) -> (columns: Int, rows: Int) {
        func count(_ length: Double) -> Int { Int(min(1e6, (max(0, length) / step + 1e-9).rounded(.down))) + 1 }
        return (count(area.high.x - area.low.x), count(area.high.y - area.low.y))
    }

    /// The nearest cell on the floor; `nil` where that floor has none. `nil` as a floor means any.
    public func nearest(to position: FloorPosition, floor: String?) -> Int? {
        var best: (distance: Double, cell: Int)?
        for (index, cell) in cells.enumerated() where floor == nil || cell.floor == floor {
            let distance = cell.position.distance(to: position)
            if best.map({ distance < $0.distance }) ?? true { best = (distance, index) }
        }
        return best?.cell
    }
}
