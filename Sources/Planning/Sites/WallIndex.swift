internal import Airtime

/// Finds the walls between two places without checking every wall. Each cell of a grid lists the walls that pass
/// through it, and only the cells along the line of sight are checked.
struct WallIndex {
    private let walls: [Wall]
    private let bounds: FloorBounds?
    private let columns: Int
    private let rows: Int
    private let cellWidth: Double
    private let cellHeight: Double
    /// The indices of the walls in cell c are `members[starts[c]..<starts[c + 1]]`.
    private var starts: [Int]
    private var members: [Int32]

    /// The largest number of entries of all walls in all cells.
    private static let memberLimit = 4_000_000.0

    /// Creates an index with about as many cells as walls. If each wall would pass through many cells, there are fewer
    /// cells.
    init(_ walls: [Wall]) {
        // Walls without a loss are left out.
        let walls = walls.filter { $0.attenuation > 0 }
        self.walls = walls
        bounds = FloorBounds(walls.lazy.flatMap { [$0.from, $0.to] })
        let (width, height) = (max(bounds?.width ?? 0, 1e-9), max(bounds?.height ?? 0, 1e-9))
        let extents = walls.reduce(0) {
            $0 + abs($1.to.x - $1.from.x) / width + abs($1.to.y - $1.from.y) / height
        }
        let side = Int(max(1, min(1000, Double(walls.count).squareRoot(), Self.memberLimit / max(extents, 1))))
        columns = side
        rows = side
        cellWidth = max((bounds?.width ?? 0) / Double(side), 1e-9)
        cellHeight = max((bounds?.height ?? 0) / Double(side), 1e-9)
        starts = [Int](repeating: 0, count: side * side + 1)
        members = []
        // Counts the walls in each cell. The counts give the start of each cell's entries.
        var ends = starts
        for wall in walls {
            walk(from: wall.from, to: wall.to) { cell, _, _ in
                ends[cell + 1] += 1
                return true
            }
        }
        for cell in ends.indices.dropFirst() { ends[cell] += ends[cell - 1] }
        starts = ends
        var entries = [Int32](repeating: 0, count: ends[side * side])
        for (index, wall) in walls.enumerated() {
            walk(from: wall.from, to: wall.to) { cell, _, _ in
                entries[ends[cell]] = Int32(index)
                ends[cell] += 1
                return true
            }
        }
        members = entries
    }

    /// Returns the loss of all walls between two places in dB. The addition ends as soon as the sum is above `limit`.
    func attenuation(from: FloorPosition, to: FloorPosition, limit: Double = .infinity) -> Double {
        guard !walls.isEmpty else { return 0 }
        let sight = FloorSegment(from: from, to: to)
        var sum = 0.0
        walk(from: from, to: to) { cell, entry, exit in
            for member in members[starts[cell]..<starts[cell + 1]] {
                let wall = walls[Int(member)]
                // A wall can be in several cells, but the line of sight crosses it in only one of them.
                guard let share = sight.meeting(FloorSegment(from: wall.from, to: wall.to)), share >= entry,
                    share < exit
                else { continue }
                sum += wall.attenuation
            }
            return sum <= limit
        }
        return sum
    }

    /// Visits the cells along a line. `visit` is called with a cell and with the shares of the line's length at which
    /// the line enters and leaves the cell.
    ///
    /// Places outside the grid belong to the cells at its edge. The parts of the line in the cells join without a gap
    /// or an overlap, and the last part extends beyond the end of the line. The walk ends when `visit` returns false.
    private func walk(from: FloorPosition, to: FloorPosition, _ visit: (Int, Double, Double) -> Bool) {
        guard let bounds else { return }
        let columnAxis = Axis(from.x - bounds.low.x, to.x - bounds.low.x, size: cellWidth, count: columns)
        let rowAxis = Axis(from.y - bounds.low.y, to.y - bounds.low.y, size: cellHeight, count: rows)
        var (column, row) = (columnAxis.first, rowAxis.first)
        var entry = 0.0
        while true {
            let (nextColumn, nextRow) = (columnAxis.exitShare(column), rowAxis.exitShare(row))
            let exit = min(nextColumn, nextRow)
            let isLast = column == columnAxis.last && row == rowAxis.last || exit >= 1
            guard visit(row * columns + column, entry, isLast ? .infinity : max(exit, entry)), !isLast else { return }
            if nextColumn <= nextRow { column += columnAxis.step } else { row += rowAxis.step }
            entry = max(exit, entry)
        }
    }

    /// One direction of the walk.
    private struct Axis {
        let start: Double
        let length: Double
        let size: Double
        let first: Int
        let last: Int

        init(_ from: Double, _ to: Double, size: Double, count: Int) {
            start = from
            length = to - from
            self.size = size
            first = Self.cell(from, size, count)
            last = Self.cell(to, size, count)
        }

        var step: Int { first <= last ? 1 : -1 }

        /// Returns the share of the way at which the walk leaves a cell; infinite for the last cell.
        func exitShare(_ cell: Int) -> Double {
            guard cell != last, length != 0 else { return .infinity }
            return (Double(step > 0 ? cell + 1 : cell) * size - start) / length
        }

        private static func cell(_ coordinate: Double, _ size: Double, _ count: Int) -> Int {
            Int(min(max((coordinate / size).rounded(.down), 0), Double(count - 1)))
        }
    }
}
