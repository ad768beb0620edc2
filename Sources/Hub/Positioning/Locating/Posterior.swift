public import Airtime

/// The smallest set of cells that contains the receiver with a given probability.
public struct Region: Hashable, Sendable {
    /// The area in m².
    public let area: Double
    /// The radius in metres of the circle around the position that has the same probability.
    public let radius: Double
    /// The corners of the convex hull of the cells, counterclockwise.
    public let polygon: [FloorPosition]
}

/// The probability of each of some cells.
struct Posterior: Sendable {
    /// The probability of each cell. Their sum is 1.
    let probabilities: [Double]
    /// The unnormalised weight of each receiver offset; empty if there are none.
    let offsetWeights: [Double]

    /// The probabilities of cells, summed over the receiver offsets.
    ///
    /// - Parameters:
    ///   - logLikelihoods: By offset, then by cell.
    ///   - temper: The divisor of the log-likelihoods.
    ///   - priors: The logarithm of each offset's prior probability.
    init(_ logLikelihoods: [Double], cells: Int, temper: Double, priors: [Double]) {
        var logs: [Double] = []
        for (offset, prior) in priors.enumerated() {
            logs += logLikelihoods[offset * cells..<(offset + 1) * cells].map { $0 / temper + prior }
        }
        let best = logs.max() ?? 0
        var weights = [Double](repeating: 0, count: cells)
        var offsetWeights = [Double](repeating: 0, count: priors.count)
        // Far less likely cells count as impossible.
        for (index, value) in logs.enumerated() where value - best > -40 {
            let weight = exp(value - best)
            weights[index % cells] += weight
            offsetWeights[index / cells] += weight
        }
        let sum = weights.reduce(0, +)
        probabilities = sum > 0 ? weights.map { $0 / sum } : weights
        self.offsetWeights = offsetWeights
    }

    init(_ probabilities: [Double]) {
        self.probabilities = probabilities
        offsetWeights = []
    }

    /// The probability of all cells that are likelier than one cell: the level of the smallest region that includes it.
    func mass(above cell: Int) -> Double {
        let least = probabilities[cell]
        return probabilities.reduce(0) { $1 > least ? $0 + $1 : $0 }
    }

    /// The likeliest cells that together have a probability, likeliest first.
    func cells(holding probability: Double) -> [Int] {
        let order = probabilities.indices.filter { probabilities[$0] > 0 }
            .sorted { (probabilities[$0], $1) > (probabilities[$1], $0) }
        return prefix(of: order, holding: probability)
    }

    /// The first of some cells that together have a probability.
    private func prefix(of order: [Int], holding probability: Double) -> [Int] {
        var sum = 0.0
        var count = 0
        while count < order.count, sum < probability {
            sum += probabilities[order[count]]
            count += 1
        }
        return Array(order.prefix(count))
    }

    /// The mean position of the cells on the likeliest floor, and that floor.
    func position(_ cells: [Cell]) -> (position: FloorPosition, floor: String?)? {
        var floors: [String?: (weight: Double, x: Double, y: Double)] = [:]
        for (cell, weight) in probabilities.enumerated() where weight > 0 {
            var sum = floors[cells[cell].floor] ?? (0, 0, 0)
            sum.weight += weight
            sum.x += weight * cells[cell].position.x
            sum.y += weight * cells[cell].position.y
            floors[cells[cell].floor] = sum
        }
        let best = floors.max { ($0.value.weight, $1.key ?? "") < ($1.value.weight, $0.key ?? "") }
        guard let (floor, sum) = best else { return nil }
        return (FloorPosition(x: sum.x / sum.weight, y: sum.y / sum.weight), floor)
    }

    /// The region with a probability.
    ///
    /// - Parameter position: The middle of the region's circle.
    func region(_ probability: Double, _ cells: [Cell], around position: FloorPosition) -> Region {
        let chosen = self.cells(holding: probability)
        let corners = chosen.flatMap { cell in
            let half = cells[cell].area.squareRoot() / 2
            let middle = cells[cell].position
            return [(-half, -half), (half, -half), (half, half), (-half, half)].map { x, y in
                FloorPosition(x: middle.x + x, y: middle.y + y)
            }
        }
        let distances = cells.map { $0.position.distance(to: position) }
        let byDistance = probabilities.indices.filter { probabilities[$0] > 1e-9 }
            .sorted { distances[$0] < distances[$1] }
        let circle = prefix(of: byDistance, holding: probability).last.map { distances[$0] } ?? 0
        let smallest = chosen.first.map { (cells[$0].area / .pi).squareRoot() } ?? 0
        return Region(
            area: chosen.reduce(0) { $0 + cells[$1].area }, radius: max(circle, smallest), polygon: Self.hull(corners))
    }

    /// The convex hull of some points, counterclockwise (Andrew's monotone chain).
    private static func hull(_ points: [FloorPosition]) -> [FloorPosition] {
        var sorted: [FloorPosition] = []
        for point in points.sorted(by: { ($0.x, $0.y) < ($1.x, $1.y) }) where point != sorted.last {
            sorted.append(point)
        }
        guard sorted.count > 2 else { return sorted }
        func chain(_ points: some Sequence<FloorPosition>) -> [FloorPosition] {
            var chain: [FloorPosition] = []
            for point in points {
                while chain.count >= 2 {
                    let (a, b) = (chain[chain.count - 2], chain[chain.count - 1])
                    guard (b.x - a.x) * (point.y - a.y) - (b.y - a.y) * (point.x - a.x) <= 0 else { break }
                    chain.removeLast()
                }
                chain.append(point)
            }
            chain.removeLast()
            return chain
        }
        return chain(sorted) + chain(sorted.reversed())
    }
}
