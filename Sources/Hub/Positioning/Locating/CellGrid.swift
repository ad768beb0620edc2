public import Airtime

/// An area in which a receiver can be: a surveyed place, or a square of a grid.
public struct Cell: Hashable, Sendable {
    /// The middle of the cell.
    public let position: FloorPosition
    /// The floor's name; `nil` on sites with one floor.
    public let floor: String?
    /// The area in m².
    public let area: Double
    /// The south-west corner of the rectangle that the cell contributes to a region. At the edge of a survey, this
    /// rectangle is larger than the cell.
    let low: FloorPosition
    /// The north-east corner of the rectangle that the cell contributes to a region.
    let high: FloorPosition
}

extension Cell {
    /// Creates a cell around a position, in metres east and north.
    public init(position: FloorPosition, floor: String? = nil, area: Double) {
        let half = area.squareRoot() / 2
        self.init(
            position: position, floor: floor, area: area, low: .init(x: position.x - half, y: position.y - half),
            high: .init(x: position.x + half, y: position.y + half))
    }

    /// The area of the rectangle that the cell contributes to a region, in m².
    var groundArea: Double { (high.x - low.x) * (high.y - low.y) }

    /// Returns true if a position is in the rectangle that the cell contributes to a region.
    func covers(_ position: FloorPosition) -> Bool {
        low.x <= position.x && position.x <= high.x && low.y <= position.y && position.y <= high.y
    }
}

extension Array where Element == Cell {
    /// Returns the index of the nearest cell on a floor, or on any floor if `floor` is `nil`. Returns `nil` if the
    /// floor has no cell.
    func nearest(to position: FloorPosition, floor: String?) -> Int? {
        let candidates = indices.filter { floor == nil || self[$0].floor == floor }
        return candidates.min { self[$0].position.distance(to: position) < self[$1].position.distance(to: position) }
    }
}

/// The cells of one or several floors: squares of equal size.
public struct CellGrid: Sendable {
    /// The cells, floor by floor. On each floor, the columns are in the order from west to east, and the cells of a
    /// column from south to north.
    public private(set) var cells: [Cell] = []
    /// The side of a cell, in metres.
    public let step: Double
    /// The column and row of each cell on its floor.
    private(set) var spots: [Spot] = []

    /// The column and row of a cell on its floor.
    struct Spot: Hashable, Sendable {
        /// The index of the area that contains the cell.
        var floor: Int
        var column: Int
        var row: Int
    }

    /// A rectangle of one floor to cover with cells.
    public struct Area: Sendable {
        public let floor: String?
        public let low: FloorPosition
        public let high: FloorPosition

        /// - Parameters:
        ///   - low: The corner with the smallest coordinates.
        ///   - high: The corner with the largest coordinates.
        public init(floor: String? = nil, low: FloorPosition, high: FloorPosition) {
            self.floor = floor
            self.low = low
            self.high = high
        }
    }

    /// The largest number of cells by default.
    public static let limit = 20_000
    /// The largest number of cells with a default side of 0.5 m. If there would be more cells, the default side is 1 m.
    private static let smallCellLimit = 4000

    /// Creates the cells that cover some areas.
    ///
    /// - Parameters:
    ///   - wanted: The side of a cell in metres, above 0; `nil` for the default.
    ///   - limit: The largest number of cells. If there would be more, the cells become larger.
    ///   - margin: The width in metres of the ground beyond each area that the outermost cells include in regions.
    ///   - isIncluded: Returns true if a cell is kept.
    public init(
        _ areas: [Area], step wanted: Double? = nil, limit: Int = CellGrid.limit, margin: Double = 0,
        isIncluded: (Cell) -> Bool = { _ in true }
    ) {
        func count(_ step: Double) -> Double {
            areas.reduce(0) { sum, area in
                let counts = Self.counts(area, step)
                return sum + Double(counts.columns) * Double(counts.rows)
            }
        }
        var step = wanted.map { max(0.05, $0) } ?? (count(0.5) <= Double(Self.smallCellLimit) ? 0.5 : 1)
        while count(step) > Double(limit), count(step) > Double(areas.count) { step *= 1.25 }
        self.step = step
        for (floor, area) in areas.enumerated() {
            let (columns, rows) = Self.counts(area, step)
            // The cells extend a little beyond the area, by the same width on opposite sides.
            let west = (area.low.x + area.high.x - Double(columns - 1) * step) / 2
            let south = (area.low.y + area.high.y - Double(rows - 1) * step) / 2
            for column in 0..<columns {
                for row in 0..<rows {
                    let position = FloorPosition(x: west + Double(column) * step, y: south + Double(row) * step)
                    let (half, halfAndMargin) = (step / 2, step / 2 + margin)
                    let cell = Cell(
                        position: position, floor: area.floor, area: step * step,
                        low: .init(
                            x: position.x - (column == 0 ? halfAndMargin : half),
                            y: position.y - (row == 0 ? halfAndMargin : half)),
                        high: .init(
                            x: position.x + (column == columns - 1 ? halfAndMargin : half),
                            y: position.y + (row == rows - 1 ? halfAndMargin : half)))
                    guard isIncluded(cell) else { continue }
                    cells.append(cell)
                    spots.append(Spot(floor: floor, column: column, row: row))
                }
            }
        }
    }

    private static func counts(_ area: Area, _ step: Double) -> (columns: Int, rows: Int) {
        func count(_ length: Double) -> Int { Int(min(1e6, (max(0, length) / step + 1e-9).rounded(.down))) + 1 }
        return (count(area.high.x - area.low.x), count(area.high.y - area.low.y))
    }
}
