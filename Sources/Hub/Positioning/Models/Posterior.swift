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
    /// What each offset adds to the sum over the cells; empty where there are none.
    let offsetWeights: [Double]

    /// Cells and offsets that are less likely than e to this than the likeliest count for nothing.
    private static let least = -40.0

    /// From log-likelihoods by offset and cell, summed over the offsets.
    ///
    /// - Parameters:
    ///   - temper: What the log-likelihoods are divided by.
    ///   - priors: The logarithm of each offset's own probability.
    init(_ logLikelihoods: [Double], cells: Int, temper: Double, priors: [Double]) {
        var best = -Double.infinity
        for (offset, prior) in priors.enumerated() {
            best = max(best, Self.largest(logLikelihoods[offset * cells..<(offset + 1) * cells]) / temper + prior)
        }
        var weights = [Double](repeating: 0, count: cells)
        var offsetWeights = [Double](repeating: 0, count: priors.count)
        var sum = 0.0
        for (offset, prior) in priors.enumerated() {
            let start = offset * cells
            // Most fall short by far, and need no division to see it.
            let limit = (best - prior + Self.least - 1) * temper
            unsafe logLikelihoods[start..<start + cells].withUnsafeBufferPointer { own in
                for cell in 0..<cells where unsafe own[cell] > limit {
                    let exponent = unsafe own[cell] / temper + prior - best
                    guard exponent > Self.least else { continue }
                    let weight = exp(exponent)
                    weights[cell] += weight
                    offsetWeights[offset] += weight
                    sum += weight
                }
            }
        }
        probabilities = sum > 0 ? weights.map { $0 / sum } : weights
        self.offsetWeights = offsetWeights
    }

    /// The largest of many numbers, four at a time: none waits for the one before.
    private static func largest(_ values: ArraySlice<Double>) -> Double {
        unsafe values.withUnsafeBufferPointer { values in
            var most = SIMD4(repeating: -Double.infinity)
            var index = 0
            while index + 4 <= values.count {
                let next = unsafe SIMD4(values[index], values[index + 1], values[index + 2], values[index + 3])
                most.replace(with: next, where: next .> most)
                index += 4
            }
            return unsafe values[index...].reduce(most.max()) { max($0, $1) }
        }
    }

    init(_ probabilities: [Double]) {
        self.probabilities = probabilities
        offsetWeights = []
    }

    /// The probability of all cells that are likelier than one: the level of the smallest region that ends with it.
    func mass(above cell: Int) -> Double {
        let least = probabilities[cell]
        return probabilities.reduce(0) { $1 > least ? $0 + $1 : $0 }
    }

    /// The likeliest cells that hold `level` together, likeliest first.
    func cells(holding level: Double) -> [Int] {
        // The many that hold almost nothing need no order, and most of the others neither.
        let last = 1e-4 * (1 - level) / Double(max(1, probabilities.count))
        var least = (probabilities.max() ?? 0) / 8
        while true {
            least = least > last ? least : last
            let order = probabilities.indices.filter { probabilities[$0] > least }
                .sorted { (probabilities[$0], $1) > (probabilities[$1], $0) }
            var sum = 0.0
            var count = 0
            while count < order.count, sum < level {
                sum += probabilities[order[count]]
                count += 1
            }
            if sum >= level || least == last { return Array(order.prefix(count)) }
            least /= 32
        }
    }

    /// The mean of the cells on the likeliest floor.
    func position(_ cells: [Cell]) -> (position: FloorPosition, floor: String?)? {
        var floors: [(name: String?, weight: Double, x: Double, y: Double)] = []
        // The floors follow each other, so that a cell's is nearly always that of the cell before.
        var now = 0
        for (cell, weight) in probabilities.enumerated() where weight > 0 {
            let (name, position) = (cells[cell].floor, cells[cell].position)
            if floors.isEmpty || floors[now].name != name {
                now = floors.firstIndex { $0.name == name } ?? floors.count
                if now == floors.count { floors.append((name, 0, 0, 0)) }
            }
            floors[now].weight += weight
            floors[now].x += weight * position.x
            floors[now].y += weight * position.y
        }
        guard let best = floors.max(by: { ($0.weight, $1.name ?? "") < ($1.weight, $0.name ?? "") }) else {
            return nil
        }
        return (FloorPosition(x: best.x / best.weight, y: best.y / best.weight), best.name)
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
        let smallest = chosen.first.map { (cells[$0].area / .pi).squareRoot() } ?? 0
        return Region(
            area: chosen.reduce(0) { $0 + cells[$1].area },
            radius: max(radius(level, cells, around: position, chosen), smallest), polygon: Self.hull(corners))
    }

    /// Of the smallest circle around `position` that holds `level`: no larger than one around `chosen`, which hold it.
    private func radius(
        _ level: Double, _ cells: [Cell], around position: FloorPosition, _ chosen: [Int]
    ) -> Double {
        let distances = cells.map { $0.position.distance(to: position) }
        var reach = chosen.reduce(0) { max($0, distances[$1]) }
        while true {
            let byDistance = distances.indices.filter { distances[$0] <= reach && probabilities[$0] > 1e-9 }
                .sorted { distances[$0] < distances[$1] }
            var sum = 0.0
            var radius = 0.0
            for cell in byDistance where sum < level {
                sum += probabilities[cell]
                radius = distances[cell]
            }
            // Cells of next to nothing may be missing.
            if sum >= level || reach == .infinity { return radius }
            reach = .infinity
        }
    }

    /// Andrew's monotone chain.
    static func hull(_ points: [FloorPosition]) -> [FloorPosition] {
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
