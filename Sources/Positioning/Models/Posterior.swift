public import Airtime

/// Where a receiver is with a given probability, at most: the smallest set of cells that holds it.
public struct Region: Hashable, Sendable {
    /// In m².
    public let area: Double
    /// Of the circle around the position that holds as much, in metres.
    public let radius: Double
    /// The corners of the smallest convex polygon around its cells, counterclockwise.
    public let polygon: [FloorPosition]
}

/// How likely each of some cells is.
struct Posterior: Sendable {
    /// Their sum is 1.
    let probabilities: [Double]

    /// From log-likelihoods by offset and cell, summed over the offsets.
    ///
    /// - Parameters:
    ///   - temper: What the log-likelihoods are divided by.
    ///   - priors: The logarithm of each offset's own probability.
    init(_ logLikelihoods: [Double], cells: Int, temper: Double, priors: [Double]) {
        var best = -Double.infinity
        for (offset, prior) in priors.enumerated() {
            for cell in 0..<cells { best = max(best, logLikelihoods[offset * cells + cell] / temper + prior) }
        }
        var weights = [Double](repeating: 0, count: cells)
        var sum = 0.0
        for (offset, prior) in priors.enumerated() {
            for cell in 0..<cells {
                let exponent = logLikelihoods[offset * cells + cell] / temper + prior - best
                guard exponent > -40 else { continue }
                let weight = exp(exponent)
                weights[cell] += weight
                sum += weight
            }
        }
        probabilities = sum > 0 ? weights.map { $0 / sum } : weights
    }

    init(_ probabilities: [Double]) {
        self.probabilities = probabilities
    }

    /// The probability of all cells that are likelier than one: the level of the smallest region that ends with it.
    func mass(above cell: Int) -> Double {
        let least = probabilities[cell]
        return probabilities.reduce(0) { $1 > least ? $0 + $1 : $0 }
    }

    /// The likeliest cells that hold `level` together, likeliest first.
    func cells(holding level: Double) -> [Int] {
        // The many that hold almost nothing need no order.
        let least = 1e-4 * (1 - level) / Double(max(1, probabilities.count))
        let order = probabilities.indices.filter { probabilities[$0] > least }
            .sorted { (probabilities[$0], $1) > (probabilities[$1], $0) }
        var sum = 0.0
        var count = 0
        while count < order.count, sum < level {
            sum += probabilities[order[count]]
            count += 1
        }
        return Array(order.prefix(count))
    }

    /// The mean of the cells on the likeliest floor.
    func position(_ cells: [Cell]) -> (position: FloorPosition, floor: String?)? {
        var byFloor: [String?: (weight: Double, x: Double, y: Double)] = [:]
        for (cell, weight) in probabilities.enumerated() where weight > 0 {
            let known = byFloor[cells[cell].floor] ?? (0, 0, 0)
            let position = cells[cell].position
            byFloor[cells[cell].floor] = (
                known.weight + weight, known.x + weight * position.x, known.y + weight * position.y
            )
        }
        guard let best = byFloor.max(by: { ($0.value.weight, $1.key ?? "") < ($1.value.weight, $0.key ?? "") }) else {
            return nil
        }
        let (weight, x, y) = best.value
        return (FloorPosition(x: x / weight, y: y / weight), best.key)
    }

    func region(_ level: Double, _ cells: [Cell], around position: FloorPosition) -> Region {
        let chosen = self.cells(holding: level)
        var corners: [FloorPosition] = []
        for cell in chosen {
            let half = cells[cell].area.squareRoot() / 2
            let middle = cells[cell].position
            for (dx, dy) in [(-half, -half), (half, -half), (half, half), (-half, half)] {
                corners.append(FloorPosition(x: middle.x + dx, y: middle.y + dy))
            }
        }
        let byDistance = probabilities.indices.filter { probabilities[$0] > 1e-9 }
            .map { (distance: cells[$0].position.distance(to: position), weight: probabilities[$0]) }
            .sorted { $0.distance < $1.distance }
        var sum = 0.0
        var radius = 0.0
        for cell in byDistance where sum < level {
            sum += cell.weight
            radius = cell.distance
        }
        let smallest = chosen.first.map { (cells[$0].area / .pi).squareRoot() } ?? 0
        return Region(
            area: chosen.reduce(0) { $0 + cells[$1].area }, radius: max(radius, smallest),
            polygon: Self.hull(corners))
    }

    /// Andrew's monotone chain.
    static func hull(_ points: [FloorPosition]) -> [FloorPosition] {
        let sorted = Set(points).sorted { ($0.x, $0.y) < ($1.x, $1.y) }
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
