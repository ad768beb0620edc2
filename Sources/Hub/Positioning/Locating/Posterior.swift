public import Airtime

/// The area that contains the receiver with a given probability: the convex hull of the likeliest cells of one floor.
public struct Region: Hashable, Sendable {
    /// The area of ``polygon`` in m².
    public let area: Double
    /// The radius in metres of a circle around the located position. The circle has at least the probability of
    /// ``polygon``.
    public let radius: Double
    /// The corners of the convex hull of the cells, counterclockwise.
    public let polygon: [FloorPosition]

    /// Returns true if a position is inside the polygon, or at most a millimetre outside.
    func contains(_ position: FloorPosition) -> Bool {
        guard polygon.count > 2 else { return false }
        return zip(polygon, polygon.dropFirst() + polygon.prefix(1)).allSatisfy { from, to in
            let turn: Double = (to.x - from.x) * (position.y - from.y)
            let back: Double = (to.y - from.y) * (position.x - from.x)
            return turn - back >= -0.001 * from.distance(to: to)
        }
    }
}

/// The probability of each cell, given the received signals.
struct Posterior: Sendable {
    /// The probability of each cell. Their sum is 1.
    let probabilities: [Double]
    /// The weight of each receiver offset, not normalised. Empty if the posterior was made from probabilities.
    let offsetWeights: [Double]

    /// Computes the probabilities of cells, summed over the hypotheses of a window.
    ///
    /// - Parameters:
    ///   - temperature: The divisor of the log-likelihoods.
    ///   - priors: The logarithm of each receiver offset's prior probability.
    init(_ hypotheses: [WindowHypothesis], cells: Int, temperature: Double, priors: [Double]) {
        let logPriors = hypotheses.map { $0.logPrior + priors[$0.offset] }
        let best =
            zip(hypotheses, logPriors).map { ($0.logLikelihoods.max() ?? -.infinity) / temperature + $1 }.max() ?? 0
        var weights = [Double](repeating: 0, count: cells)
        var offsetWeights = [Double](repeating: 0, count: priors.count)
        for (hypothesis, logPrior) in zip(hypotheses, logPriors) {
            // Cells whose likelihood is below e⁻³⁰ times the likelihood of the likeliest cell count as impossible.
            let limit = (best - 30 - logPrior) * temperature
            var sum = 0.0
            for (cell, value) in hypothesis.logLikelihoods.enumerated() where value > limit {
                let weight = exp(value / temperature + logPrior - best)
                weights[cell] += weight
                sum += weight
            }
            offsetWeights[hypothesis.offset] += sum
        }
        let sum = weights.reduce(0, +)
        probabilities = sum > 0 ? weights.map { $0 / sum } : weights
        self.offsetWeights = offsetWeights
    }

    init(_ probabilities: [Double]) {
        self.probabilities = probabilities
        offsetWeights = []
    }

    /// Returns the first cells of a list: the smallest number of them that together have at least a given probability.
    private func prefix(of order: [Int], holding probability: Double) -> [Int] {
        var sum = 0.0
        var count = 0
        while count < order.count, sum < probability {
            sum += probabilities[order[count]]
            count += 1
        }
        return Array(order.prefix(count))
    }

    /// Returns the likeliest floor, and the mean position of the cells on this floor.
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

    /// Returns three values for one floor. `chosen` contains the likeliest cells that together have a share of the
    /// floor's probability. `likely` contains all cells with a probability that is not negligible. `wanted` is the
    /// probability that the chosen cells must have together.
    private func likeliest(
        _ share: Double, _ cells: [Cell], floor: String?
    ) -> (chosen: [Int], likely: [Int], wanted: Double) {
        let likely = probabilities.indices.filter { probabilities[$0] > 1e-9 && cells[$0].floor == floor }
        let wanted = share * likely.reduce(0) { $0 + probabilities[$1] }
        let byProbability = likely.sorted { (probabilities[$0], $1) > (probabilities[$1], $0) }
        return (prefix(of: byProbability, holding: wanted), likely, wanted)
    }

    /// Returns the region of one floor that contains the receiver with a probability, if the receiver is on this floor.
    ///
    /// - Parameter position: The middle of the region's circle.
    func region(_ probability: Double, _ cells: [Cell], around position: FloorPosition, floor: String?) -> Region {
        let (chosen, likely, wanted) = likeliest(probability, cells, floor: floor)
        let polygon = Self.hull(of: chosen.map { cells[$0] })
        // The hull may contain more cells than the chosen cells. The circle must have at least the probability of the
        // hull.
        let hull = Region(area: Self.area(of: polygon), radius: 0, polygon: polygon)
        let hullProbability = likely.reduce(0) { hull.contains(cells[$1].position) ? $0 + probabilities[$1] : $0 }
        let byDistance = likely.map { (distance: cells[$0].position.distance(to: position), cell: $0) }
            .sorted { $0.distance < $1.distance }
        let cellsInCircle = prefix(of: byDistance.map(\.cell), holding: max(wanted, hullProbability))
        let circleRadius = cellsInCircle.isEmpty ? 0 : byDistance[cellsInCircle.count - 1].distance
        let cellRadius = chosen.first.map { (cells[$0].area / .pi).squareRoot() } ?? 0
        return Region(area: hull.area, radius: max(circleRadius, cellRadius), polygon: polygon)
    }

    /// Returns true if a position is in the region that contains a given share of one floor's probability.
    func contains(_ position: FloorPosition, with probability: Double, _ cells: [Cell], floor: String?) -> Bool {
        let polygon = Self.hull(of: likeliest(probability, cells, floor: floor).chosen.map { cells[$0] })
        return Region(area: 0, radius: 0, polygon: polygon).contains(position)
    }

    /// Returns the convex hull of the rectangles of cells in a region.
    private static func hull(of cells: [Cell]) -> [FloorPosition] {
        hull(
            cells.flatMap { cell in
                [
                    cell.low, cell.high, FloorPosition(x: cell.low.x, y: cell.high.y),
                    FloorPosition(x: cell.high.x, y: cell.low.y),
                ]
            })
    }

    /// Returns the area of a polygon whose corners are counterclockwise.
    private static func area(of corners: [FloorPosition]) -> Double {
        zip(corners, corners.dropFirst() + corners.prefix(1)).reduce(0) { $0 + $1.0.x * $1.1.y - $1.1.x * $1.0.y } / 2
    }

    /// Returns the convex hull of some points, counterclockwise (Andrew's monotone chain).
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
