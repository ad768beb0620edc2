/// How likely an interferer that met one of our packets meets a later one as well, given our own delays in between.
///
/// Entry (d, z): the interferer hit d events ago, our own delays since then add up to z, its own are d draws of
/// U(0, J). It hits again when the difference stays within tau on either side: 2·tau times the density of its sum at
/// z, averaged over the offsets of both hits (a triangle of half width 2·tau).
struct RecollisionTable: Sendable {
    private static let nodesPerDelay = 256
    /// By lag from 1 on, at z = i·J/256.
    private let nodes: [[Double]]

    /// `width`: tau/J, at most 1/2.
    init(width: Double, lags: Int) {
        let perDelay = Self.nodesPerDelay
        var density = Array(repeating: 1.0, count: perDelay)
        var nodes: [[Double]] = []
        for lag in 1...max(1, lags) {
            if lag > 1 { density = Self.spread(density, over: perDelay) }
            nodes.append(Self.averaged(density, halfWidth: 2 * width, perDelay: perDelay))
        }
        self.nodes = nodes
    }

    /// At `sum` in units of J.
    func probability(lag: Int, sum: Double) -> Double {
        let table = nodes[lag - 1]
        let place = min(max(0, sum * Double(Self.nodesPerDelay)), Double(table.count - 1))
        let index = min(Int(place), table.count - 2)
        let part = place - Double(index)
        return table[index] + part * (table[index + 1] - table[index])
    }

    /// The density of one more delay: a box of one unit, on cells; each cell gives half a cell to either side.
    private static func spread(_ density: [Double], over count: Int) -> [Double] {
        var result = Array(repeating: 0.0, count: density.count + count)
        var sum = 0.0
        for index in result.indices {
            let entering = index < density.count ? density[index] : 0
            let leaving = index >= count ? density[index - count] : 0
            // The mean over the cell of the sliding integral, which is linear within it.
            result[index] = (sum + (entering - leaving) / 2) / Double(count)
            sum += entering - leaving
        }
        return result
    }

    /// `halfWidth`·(density ⋆ triangle) at the nodes, from its second antiderivative.
    private static func averaged(_ density: [Double], halfWidth: Double, perDelay: Int) -> [Double] {
        let cell = 1 / Double(perDelay)
        var first = [0.0]
        var second = [0.0]
        for (index, value) in density.enumerated() {
            second.append(second[index] + first[index] * cell + value * cell * cell / 2)
            first.append(first[index] + value * cell)
        }
        func antiderivative(_ z: Double) -> Double {
            guard z > 0 else { return 0 }
            let index = min(Int(z / cell), density.count)
            let rest = z - Double(index) * cell
            let value = index < density.count ? density[index] : 0
            return second[index] + first[index] * rest + value * rest * rest / 2
        }
        return (0...density.count).map { index in
            let z = Double(index) * cell
            let sum = antiderivative(z + halfWidth) - 2 * antiderivative(z) + antiderivative(z - halfWidth)
            return sum / halfWidth
        }
    }
}
