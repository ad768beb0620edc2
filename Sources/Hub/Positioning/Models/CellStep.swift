internal import Airtime
internal import Sites

/// Where somebody can go within a second, over the cells of a grid: a bell curve that ends at three deviations.
///
/// The curve is a product of one over the columns and one over the rows, so that a cell's sum over its neighbors is one
/// over columns of sums over rows, each of which serves many cells. Cells that a wall parts from a neighbor are summed
/// one by one.
struct CellStep: Sendable {
    /// The cells of one floor as a rectangle: column after column, each with ``reach`` empty cells before and behind it.
    private struct Sheet {
        let first: Int
        let columns: Int
        let stride: Int
    }

    private var sheets: [Sheet] = []
    private var size = 0
    /// Where each cell lies on the sheets, and which cell lies at each spot; -1 for none.
    private var spots: [Int32] = []
    private var cellAt: [Int32] = []
    /// By cell: its sheet.
    private var sheetOf: [Int32] = []
    /// By how many cells apart.
    private let curve: [Double]
    /// How many columns apart anybody comes, and by how many columns apart how many rows.
    private let reach: Int
    private let reaches: [Int]
    /// Cells that a wall parts from a neighbor. Those that are left of cell `parted[i]`'s neighbors stand from
    /// `starts[i]` to before `starts[i + 1]`.
    private var parted: [Int32] = []
    /// By cell: its place among them; -1 for none.
    private var partOf: [Int32] = []
    private var starts: [Int] = [0]
    /// Where they lie on the sheets.
    private var neighbors: [Int32] = []
    private var shares: [Double] = []
    /// One over the sum of what each cell gives.
    private var scales: [Double] = []

    /// - Parameters:
    ///   - deviation: Of a second's way, in metres.
    ///   - walls: Nobody steps through them.
    init(_ grid: CellGrid, deviation: Double, walls: [Wall]) {
        let width = 3 * deviation / grid.step
        let reach = Int(width.rounded(.down))
        self.reach = reach
        reaches = (0...reach).map { Int((width * width - Double($0 * $0)).squareRoot().rounded(.down)) }
        curve = (0...reach).map { cells in
            let distance = Double(cells) * grid.step / deviation
            return exp(-distance * distance / 2)
        }
        lay(grid)
        partOf = [Int32](repeating: -1, count: spots.count)
        if !walls.isEmpty { part(grid, walls) }
        var given = [Double](repeating: 1, count: spots.count)
        scales = given
        pass(&given, planes: 1, leak: 0)
        scales = given.map { 1 / $0 }
    }

    private mutating func lay(_ grid: CellGrid) {
        var bounds: [(columns: ClosedRange<Int>, rows: ClosedRange<Int>)?] = []
        for spot in grid.spots {
            while bounds.count <= spot.floor { bounds.append(nil) }
            let (columns, rows) = bounds[spot.floor] ?? (spot.column...spot.column, spot.row...spot.row)
            bounds[spot.floor] = (
                min(columns.lowerBound, spot.column)...max(columns.upperBound, spot.column),
                min(rows.lowerBound, spot.row)...max(rows.upperBound, spot.row)
            )
        }
        for bound in bounds {
            let sheet = Sheet(
                first: size, columns: bound?.columns.count ?? 0, stride: (bound?.rows.count ?? 0) + 2 * reach)
            sheets.append(sheet)
            size += sheet.columns * sheet.stride
        }
        spots = grid.spots.map { spot in
            guard let bound = bounds[spot.floor] else { return 0 }
            let (sheet, column) = (sheets[spot.floor], spot.column - bound.columns.lowerBound)
            return Int32(sheet.first + column * sheet.stride + reach + spot.row - bound.rows.lowerBound)
        }
        sheetOf = grid.spots.map { Int32($0.floor) }
        cellAt = [Int32](repeating: -1, count: size)
        for (cell, spot) in spots.enumerated() { cellAt[Int(spot)] = Int32(cell) }
    }

    private mutating func part(_ grid: CellGrid, _ walls: [Wall]) {
        for (cell, spot) in grid.spots.enumerated() {
            let (sheet, from) = (sheets[spot.floor], grid.cells[cell].position)
            let near = walls.filter { Self.isNear($0, from, Double(reach + 1) * grid.step) }
            if near.isEmpty { continue }
            var left: [(spot: Int, share: Double)] = []
            var isParted = false
            let column = (Int(spots[cell]) - sheet.first) / sheet.stride
            for columns in max(-reach, -column)...min(reach, sheet.columns - 1 - column) {
                let rows = reaches[abs(columns)]
                for row in -rows...rows {
                    let other = Int(spots[cell]) + columns * sheet.stride + row
                    guard cellAt[other] >= 0 else { continue }
                    let to = grid.cells[Int(cellAt[other])].position
                    if near.contains(where: { CellFilter.isCut(from, to, by: $0) }) {
                        isParted = true
                    } else {
                        left.append((other, curve[abs(columns)] * curve[abs(row)]))
                    }
                }
            }
            guard isParted else { continue }
            partOf[cell] = Int32(parted.count)
            parted.append(Int32(cell))
            for neighbor in left {
                neighbors.append(Int32(neighbor.spot))
                shares.append(neighbor.share)
            }
            starts.append(neighbors.count)
        }
    }

    /// Whether a wall comes within so many metres of a position, along either axis.
    private static func isNear(_ wall: Wall, _ position: FloorPosition, _ distance: Double) -> Bool {
        min(wall.from.x, wall.to.x) <= position.x + distance && max(wall.from.x, wall.to.x) >= position.x - distance
            && min(wall.from.y, wall.to.y) <= position.y + distance
            && max(wall.from.y, wall.to.y) >= position.y - distance
    }

    /// A second passes.
    ///
    /// - Parameters:
    ///   - weights: By plane, then by cell.
    ///   - leak: So much of the weight goes anywhere.
    func pass(_ weights: inout [Double], planes: Int, leak: Double) {
        let count = spots.count
        var sheet = [Double](repeating: 0, count: size)
        var rows = [Double](repeating: 0, count: size * (reach + 1))
        var received = [Double](repeating: 0, count: size)
        for plane in 0..<planes {
            let first = plane * count
            var total = 0.0
            for cell in 0..<count { total += weights[first + cell] }
            let anywhere = leak * total / Double(max(1, count))
            lay(weights[first..<first + count], share: 1 - leak, on: &sheet)
            sumRows(sheet, &rows)
            sumColumns(rows, &received)
            lift(received, adding: anywhere, to: &weights, from: first)
            for (index, cell) in parted.enumerated() {
                var sum = anywhere
                for place in starts[index]..<starts[index + 1] { sum += shares[place] * sheet[Int(neighbors[place])] }
                weights[first + Int(cell)] = sum
            }
        }
    }

    /// Puts what each cell of a plane gives on its spot.
    private func lay(_ weights: ArraySlice<Double>, share: Double, on sheet: inout [Double]) {
        unsafe weights.withUnsafeBufferPointer { weights in
            unsafe sheet.withUnsafeMutableBufferPointer { sheet in
                unsafe spots.withUnsafeBufferPointer { spots in
                    unsafe scales.withUnsafeBufferPointer { scales in
                        for cell in 0..<spots.count {
                            unsafe sheet[Int(spots[cell])] = weights[cell] * scales[cell] * share
                        }
                    }
                }
            }
        }
    }

    /// Takes what arrived at each cell's spot off the sheet again.
    private func lift(_ received: [Double], adding more: Double, to weights: inout [Double], from first: Int) {
        unsafe received.withUnsafeBufferPointer { received in
            unsafe weights.withUnsafeMutableBufferPointer { weights in
                unsafe spots.withUnsafeBufferPointer { spots in
                    for cell in 0..<spots.count {
                        unsafe weights[first + cell] = more + received[Int(spots[cell])]
                    }
                }
            }
        }
    }

    /// A second passes for some states; what each has gives goes into the scratch, and marks where it arrives.
    ///
    /// - Parameter share: So much of the weight is there after it.
    func pass(_ states: [Int32], _ weights: [Double], _ scratch: inout CellScratch, share: Double) {
        let cellCount = spots.count
        // Where the states see more neighbors than the sheets have sums, the sheets are quicker.
        let planes = scratch.planes
        if states.count * reaches.reduce(0, { $0 + 4 * $1 }) > planes * size * 4 * (reach + 1) {
            var all = [Double](repeating: 0, count: planes * cellCount)
            for (index, state) in states.enumerated() { all[Int(state)] = weights[index] * share }
            pass(&all, planes: planes, leak: 0)
            for (state, weight) in all.enumerated() where weight > 0 { scratch.add(weight, to: state) }
            return
        }
        for (index, state) in states.enumerated() {
            let cell = Int(state) % cellCount
            let first = Int(state) - cell
            let weight = weights[index] * scales[cell] * share
            if partOf[cell] >= 0 {
                let part = Int(partOf[cell])
                // Nobody is parted from one side alone: what a cell takes from another, it gives it.
                for place in starts[part]..<starts[part + 1] {
                    scratch.add(weight * shares[place], to: first + Int(cellAt[Int(neighbors[place])]))
                }
                continue
            }
            let (sheet, spot) = (sheets[Int(sheetOf[cell])], Int(spots[cell]))
            let column = (spot - sheet.first) / sheet.stride
            for columns in max(-reach, -column)...min(reach, sheet.columns - 1 - column) {
                let (rows, middle) = (reaches[abs(columns)], spot + columns * sheet.stride)
                let given = weight * curve[abs(columns)]
                for row in -rows...rows where cellAt[middle + row] >= 0 {
                    scratch.add(given * curve[abs(row)], to: first + Int(cellAt[middle + row]))
                }
            }
        }
    }

    /// By reach, then by spot: what the cells of the same column give that are no more rows away.
    private func sumRows(_ sheet: [Double], _ sums: inout [Double]) {
        unsafe sheet.withUnsafeBufferPointer { sheet in
            unsafe sums.withUnsafeMutableBufferPointer { sums in
                for floor in sheets {
                    for column in 0..<floor.columns {
                        let start = floor.first + column * floor.stride + reach
                        let end = start + floor.stride - 2 * reach
                        for spot in start..<end { unsafe sums[spot] = sheet[spot] * curve[0] }
                        for rows in stride(from: 1, through: reach, by: 1) {
                            let (share, before, now) = (curve[rows], (rows - 1) * size, rows * size)
                            for spot in start..<end {
                                unsafe sums[now + spot] =
                                    sums[before + spot] + share * (sheet[spot - rows] + sheet[spot + rows])
                            }
                        }
                    }
                }
            }
        }
    }

    private func sumColumns(_ sums: [Double], _ received: inout [Double]) {
        unsafe sums.withUnsafeBufferPointer { sums in
            unsafe received.withUnsafeMutableBufferPointer { received in
                for floor in sheets {
                    for column in 0..<floor.columns {
                        let start = floor.first + column * floor.stride + reach
                        let end = start + floor.stride - 2 * reach
                        let own = reaches[0] * size
                        for spot in start..<end { unsafe received[spot] = curve[0] * sums[own + spot] }
                        for columns in stride(from: 1, through: reach, by: 1) {
                            let (share, sum) = (curve[columns], reaches[columns] * size)
                            for other in [column - columns, column + columns]
                            where other >= 0 && other < floor.columns {
                                let shift = sum + (other - column) * floor.stride
                                for spot in start..<end { unsafe received[spot] += share * sums[shift + spot] }
                            }
                        }
                    }
                }
            }
        }
    }
}
