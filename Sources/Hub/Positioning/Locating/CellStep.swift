internal import Airtime
internal import Sites

/// The movement of a receiver between the cells of a grid in one second. The step lengths have a Gaussian distribution
/// that is cut off at three standard deviations. No step leads through a wall.
struct CellStep: Sendable {
    /// For each cell, the index in ``targets`` of its first target. The last element is the number of targets.
    private var starts: [Int] = [0]
    /// The targets, which are the cells that can be reached in one second. The targets of cell `c` are
    /// `targets[starts[c]..<starts[c + 1]]`.
    private var targets: [Int32] = []
    /// The probability of the step to each target. The probabilities of all steps from one cell add up to 1.
    private var shares: [Double] = []

    /// Probabilities up to this value are treated as 0.
    private static let negligible = 1e-12

    /// - Parameter deviation: The standard deviation of the distance walked in a second, in metres.
    init(_ grid: CellGrid, deviation: Double, walls: [Wall]) {
        // The longest step, in cells.
        let radius = 3 * deviation / grid.step
        let reach = Int(radius)
        let densities = (0...reach).map { cells in
            let distance = Double(cells) * grid.step / deviation
            return exp(-distance * distance / 2)
        }
        let cellAt = Dictionary(uniqueKeysWithValues: zip(grid.spots, grid.cells.indices))
        for (cell, spot) in grid.spots.enumerated() {
            let from = grid.cells[cell].position
            let nearWalls = walls.filter { Self.isNear($0, from, Double(reach + 1) * grid.step) }
            for columns in -reach...reach {
                let rows = Int((radius * radius - Double(columns * columns)).squareRoot())
                for row in -rows...rows {
                    let targetSpot = CellGrid.Spot(
                        floor: spot.floor, column: spot.column + columns, row: spot.row + row)
                    guard let target = cellAt[targetSpot] else { continue }
                    let to = grid.cells[target].position
                    guard !nearWalls.contains(where: { CellFilter.isCut(from, to, by: $0) }) else { continue }
                    targets.append(Int32(target))
                    shares.append(densities[abs(columns)] * densities[abs(row)])
                }
            }
            let fromCell = starts[cell]..<targets.count
            let sum = shares[fromCell].reduce(0, +)
            for index in fromCell { shares[index] /= sum }
            starts.append(targets.count)
        }
    }

    /// Returns true if the rectangle around a wall is near a position: at most `distance` metres away along each axis.
    private static func isNear(_ wall: Wall, _ position: FloorPosition, _ distance: Double) -> Bool {
        min(wall.from.x, wall.to.x) <= position.x + distance && max(wall.from.x, wall.to.x) >= position.x - distance
            && min(wall.from.y, wall.to.y) <= position.y + distance
            && max(wall.from.y, wall.to.y) >= position.y - distance
    }

    /// Returns the weights one second later. Negligible weights are dropped.
    ///
    /// - Parameters:
    ///   - weights: The weights by plane, then by cell.
    ///   - leak: The share of the weight of each plane that is spread evenly over its cells.
    func propagate(_ weights: [Double], planes: Int, leak: Double) -> [Double] {
        let count = starts.count - 1
        var result: [Double] = []
        for plane in 0..<planes {
            let planeWeights = weights[plane * count..<(plane + 1) * count]
            let evenWeight = leak * planeWeights.reduce(0, +) / Double(max(1, count))
            var spread = [Double](repeating: evenWeight, count: count)
            for (cell, weight) in planeWeights.enumerated() where weight > Self.negligible {
                let passedOn = weight * (1 - leak)
                for index in starts[cell]..<starts[cell + 1] {
                    spread[Int(targets[index])] += passedOn * shares[index]
                }
            }
            result += spread
        }
        return result
    }

    /// Adds to the working memory the weights that states pass to other states in one second.
    ///
    /// - Parameter share: The factor by which the weights are multiplied.
    func propagate(_ states: [Int32], _ weights: [Double], _ scratch: inout CellScratch, share: Double) {
        let count = starts.count - 1
        for (state, weight) in zip(states, weights) {
            let cell = Int(state) % count
            let planeStart = Int(state) - cell
            for index in starts[cell]..<starts[cell + 1] {
                scratch.add(weight * share * shares[index], to: planeStart + Int(targets[index]))
            }
        }
    }
}
