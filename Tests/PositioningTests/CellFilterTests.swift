import Airtime
import BluetoothTypes
import Positioning
import Sites
import Testing

/// Evidence from a table of log-likelihoods. Each is the sum of two parts, and the first part is its upper bound.
private struct TableEvidence: CellEvidence {
    let rough: [Double]
    let fine: [Double]
    let cells: Int
    var isQuiet = false
    var most: Double { rough.max() ?? 0 }
    var least: Double { rough.min() ?? 0 }
    let tolerance = 1e-5

    func bounds(of states: [Int32]) -> [Double] { states.map { rough[Int($0)] } }

    func refine(_ bounds: inout [Double], of states: [Int32]) {
        for (index, state) in states.enumerated() { bounds[index] += fine[Int(state)] }
    }

    func candidates(plane: Int, from limit: Double) -> [Int32] {
        (plane * cells..<(plane + 1) * cells).filter { rough[$0] >= limit || limit <= least }.map { Int32($0) }
    }

    func mean(plane: Int) -> Double? {
        guard isQuiet else { return nil }
        return (plane * cells..<(plane + 1) * cells).reduce(0) { $0 + exp(rough[$1] + fine[$1]) } / Double(cells)
    }
}

/// Compares a filter that keeps few cells with a filter that keeps all cells.
@Suite struct CellFilterTests {
    private static let grid = CellGrid(
        [
            .init(floor: "0", low: .init(x: 0, y: 0), high: .init(x: 36, y: 18)),
            .init(floor: "1", low: .init(x: 200, y: 0), high: .init(x: 236, y: 18)),
        ], step: 1)
    private static let walls = [Wall(from: .init(x: 20, y: -1), to: .init(x: 20, y: 18), attenuation: 6)]
    private static let offsets = [-6.0, 0, 6]
    private static let prior = [0.25, 0.5, 0.25]
    private static let receivers = [(5.0, 5.0), (15, 20), (25, 5), (35, 20), (205, 5), (225, 20)]

    private static func levels(at place: FloorPosition) -> [Double] {
        receivers.map { x, y in
            let floors = abs(place.x - x) > 100 ? 30.0 : 0
            let dx = abs(place.x - x) > 100 ? abs(place.x - x) - 200 : place.x - x
            return -59 - floors - 25 * log10(max(0.5, (dx * dx + (place.y - y) * (place.y - y)).squareRoot()))
        }
    }

    /// The expected levels at each cell, by receiver.
    private static let expected = grid.cells.map { levels(at: $0.position) }

    /// Returns the evidence of the levels at all receivers. The first part is from levels above -85 dBm, with a
    /// standard deviation of 5 dB. The second part is from receivers with lower levels, which count as silent.
    private static func evidence(_ heard: [Double]) -> TableEvidence {
        var (rough, fine) = ([Double](), [Double]())
        for offset in offsets {
            for expected in expected {
                var (sure, silent) = (0.0, 0.0)
                for (number, level) in heard.enumerated() {
                    let error = level - expected[number] - offset
                    if level > -85 {
                        sure += log(exp(-error * error / 50) + 1e-12)
                    } else {
                        silent += max(-3, -max(0, expected[number] + offset + 90) / 4)
                    }
                }
                rough.append(sure)
                fine.append(silent)
            }
        }
        return TableEvidence(rough: rough, fine: fine, cells: grid.cells.count, isQuiet: heard.allSatisfy { $0 <= -85 })
    }

    /// Returns half the sum of the absolute differences.
    private static func distance(_ first: [Double], _ second: [Double]) -> Double {
        zip(first, second).reduce(0) { $0 + abs($1.0 - $1.1) } / 2
    }

    private struct Pair {
        var all = CellFilter(grid, planes: offsets.count, walls: walls)
        var few: CellFilter
        var scratch = CellScratch()

        init() {
            few = all.sparse(prior: prior)
            all.begin(prior: prior)
        }

        mutating func predict(_ seconds: Double) {
            all.predict(seconds: seconds)
            few.predict(seconds: seconds, &scratch)
        }

        mutating func update(_ heard: [Double]) {
            var evidence = CellFilterTests.evidence(heard)
            all.update(zip(evidence.rough, evidence.fine).map { $0 + $1 })
            few.update(&evidence, &scratch)
        }

        var distance: Double { CellFilterTests.distance(all.probabilities, few.probabilities) }
    }

    @Test func aWalkIsTheSame() {
        var random = SplitMix64(seed: 11)
        var pair = Pair()
        var (worst, states) = (0.0, 0)
        for second in 0..<30 {
            let place = FloorPosition(x: 2 + Double(second) * 1.1, y: 9 + 8 * cos(Double(second) / 5))
            if second > 0 { pair.predict(1) }
            pair.update(Self.levels(at: place).map { $0 + 3 + 5 * ModelTests.normal(&random) })
            worst = max(worst, pair.distance)
            if second > 3 { states = max(states, pair.few.states.count) }
            #expect(abs(pair.few.probabilities.reduce(0, +) - 1) < 1e-9)
        }
        // A state that was left out in one second can become much likelier in a later second.
        #expect(worst < 5e-3, "\(worst)")
        #expect(states < Self.grid.cells.count * Self.offsets.count * 2 / 3, "\(states)")
        #expect(Self.distance(pair.all.planeProbabilities, pair.few.planeProbabilities) < 1e-3)
    }

    @Test func aLeapToAnotherFloorIsFollowedAsFast() {
        var pair = Pair()
        var worst = 0.0
        for second in 0..<20 {
            if second > 0 { pair.predict(1) }
            pair.update(Self.levels(at: second < 10 ? .init(x: 6, y: 6) : .init(x: 224, y: 18)))
            worst = max(worst, pair.distance)
        }
        #expect(worst < 1e-3, "\(worst)")
        let floor = Self.grid.cells.indices.filter { Self.grid.cells[$0].floor == "1" }
        #expect(floor.reduce(0) { $0 + pair.few.probabilities[$1] } > 0.99)
    }

    @Test func silenceLeadsToTheSameBlindCorners() {
        var pair = Pair()
        for second in 0..<10 {
            if second > 0 { pair.predict(1) }
            pair.update(Self.levels(at: .init(x: 30, y: 10)))
        }
        for _ in 0..<12 {
            pair.predict(5)
            pair.update([Double](repeating: -100, count: Self.receivers.count))
            #expect(pair.distance < 3e-3, "\(pair.distance)")
        }
    }

    @Test func evidenceThatExcludesAllCellsChangesNothing() {
        var pair = Pair()
        pair.update(Self.levels(at: .init(x: 30, y: 10)))
        let before = pair.few.probabilities
        let never = [Double](repeating: -.infinity, count: before.count * Self.offsets.count)
        var evidence = TableEvidence(rough: never, fine: never, cells: before.count)
        pair.few.update(&evidence, &pair.scratch)
        #expect(pair.few.probabilities == before)
        pair.few.predict(seconds: .nan, &pair.scratch)
        #expect(pair.few.probabilities == before)
    }
}
