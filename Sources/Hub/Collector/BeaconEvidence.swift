internal import Airtime
internal import Positioning
internal import Sites

/// The log-likelihood of each cell for one beacon in one second. It has two parts: the levels at the receivers that
/// received the beacon, and the silence of the receivers that worked and did not receive it.
///
/// The power of a beacon may be unknown. The filter then has one plane, which is a set of all cells, for each possible
/// power. A state is a cell of a plane. The levels exclude most states. The silence is computed only for the remaining
/// states, and only for receivers in range.
struct BeaconEvidence: CellEvidence {
    /// A receiver that received the beacon, and the received level.
    struct Reception {
        let receiver: Int
        /// The start of the receiver's levels in the ``LevelTable``.
        let row: Int
        /// The received level, in 128ths of a dBm.
        let level: Int
    }

    /// The receivers that worked and did not receive the beacon.
    enum Silence {
        /// The numbers of these receivers.
        case receivers([Int])
        /// The sums of all receivers that worked, by plane, and the rows of the receivers whose part must be subtracted
        /// from the sums.
        case sums([SilenceSums], except: [Int])
    }

    private let plan: RoomPlan
    /// The power at 1 m by plane, in 128ths of a dBm.
    private let powers: [Int]
    /// The receivers that received the beacon, the highest level first.
    private let heard: [Reception]
    private let silence: Silence
    /// The number of packets that each receiver would have received without loss.
    private let expectedPackets: Float
    /// The number of states for which the silence was computed receiver by receiver.
    private(set) var computedStates = 0
    let most: Double
    let least: Double
    /// The largest log-likelihood of one level.
    private let mostOfOne: Double

    /// The smallest log-likelihood of the silence of one receiver, even if it missed many packets.
    static let leastSilence = Float(log(BeaconTrail.leastChance))
    /// The share of the probability that may be left out. With 0.01, positions were wrong by 9 cm, because a cell that
    /// is left out in one second is missing when later levels make it a thousand times as likely.
    let tolerance = 1e-5

    /// - Parameters:
    ///   - powers: The power at 1 m by plane, in 128ths of a dBm.
    ///   - expectedPackets: The number of packets that a receiver would have received without loss.
    init(_ plan: RoomPlan, powers: [Int], heard: [Reception], silence: Silence, expectedPackets: Double) {
        self.plan = plan
        self.powers = powers
        self.heard = heard.sorted { ($0.level, $1.receiver) > ($1.level, $0.receiver) }
        self.silence = silence
        self.expectedPackets = Float(expectedPackets)
        mostOfOne = plan.likelihoods.map(\.most).max() ?? 0
        most = Double(heard.count) * mostOfOne
        least = Double(heard.count) * (plan.likelihoods.map(\.least).min() ?? 0)
    }

    /// A range of successive states that belong to one plane and one floor.
    private struct Segment {
        let range: Range<Int>
        let plane: Int
        let floor: Int
    }

    private func segments(_ states: [Int32]) -> [Segment] {
        var result: [Segment] = []
        var index = 0
        while index < states.count {
            let plane = Int(states[index]) / plan.cellCount
            let floor = plan.floors[Int(states[index]) - plane * plan.cellCount]
            let cells = plan.levels.floors[floor]
            let (first, end) = (cells.lowerBound + plane * plan.cellCount, cells.upperBound + plane * plan.cellCount)
            let start = index
            while index < states.count, Int(states[index]) >= first, Int(states[index]) < end { index += 1 }
            result.append(Segment(range: start..<index, plane: plane, floor: floor))
        }
        return result
    }

    func bounds(of states: [Int32]) -> [Double] {
        var result = [Double](repeating: 0, count: states.count)
        guard !heard.isEmpty else { return result }
        for segment in segments(states) {
            let table = plan.likelihoods[segment.floor]
            for received in heard {
                let base = received.row - segment.plane * plan.cellCount
                let above = received.level - powers[segment.plane]
                for index in segment.range {
                    let expected = Int(plan.levels.levels[base + Int(states[index])])
                    result[index] += Double(table.reception(above - expected))
                }
            }
        }
        return result
    }

    mutating func refine(_ bounds: inout [Double], of states: [Int32]) {
        switch silence {
        case .receivers(let silent):
            computedStates += states.count
            for segment in segments(states) { add(silent, segment, &bounds, states) }
        case .sums(let sums, let rows):
            for segment in segments(states) {
                let first = segment.plane * plan.cellCount
                for index in segment.range {
                    bounds[index] += Double(sums[segment.plane].logs[Int(states[index]) - first])
                }
                for row in rows { add(row, segment, &bounds, states, times: -1) }
            }
        }
    }

    private func add(_ silent: [Int], _ segment: Segment, _ bounds: inout [Double], _ states: [Int32]) {
        let first = segment.plane * plan.cellCount
        guard let box = FloorBounds(segment.range.lazy.map { plan.positions[Int(states[$0]) - first] }) else { return }
        let needed =
            plan.sensitivities[segment.floor] + plan.likelihoods[segment.floor].leastMargin - powers[segment.plane]
        let reaches = plan.levels.floors.indices.map { plan.reach(from: $0, to: segment.floor, level: needed) }
        for receiver in silent {
            guard let spot = plan.spots[receiver], let row = plan.levels.rows[receiver],
                box.distance(to: spot.position) <= reaches[spot.floor],
                plan.levels.loudest[receiver][segment.floor] > needed
            else { continue }
            if heard.contains(where: { $0.receiver == receiver }) { continue }
            add(row, segment, &bounds, states, times: 1)
        }
    }

    private func add(
        _ row: Int, _ segment: Segment, _ bounds: inout [Double], _ states: [Int32], times factor: Double
    ) {
        let table = plan.likelihoods[segment.floor]
        let base = row - segment.plane * plan.cellCount
        let above = powers[segment.plane] - plan.sensitivities[segment.floor]
        let least = Self.leastSilence
        for index in segment.range {
            let margin = above + Int(plan.levels.levels[base + Int(states[index])])
            guard margin > table.leastMargin else { continue }
            bounds[index] += factor * Double(max(least, expectedPackets * table.silence(margin)))
        }
    }

    func candidates(plane: Int, from limit: Double) -> [Int32] {
        let first = plane * plan.cellCount
        guard let loudest = heard.first else { return (first..<first + plan.cellCount).map { Int32($0) } }
        // The loop below visits every cell, so it uses only local variables, which are faster than properties.
        let levels = plan.levels.levels
        let (row, above) = (loudest.row, loudest.level - powers[plane])
        let others = heard.dropFirst().map { (row: $0.row, above: $0.level - powers[plane]) }
        let mostOfOthers = Double(others.count) * mostOfOne
        var result: [Int32] = []
        for (floor, cells) in plan.levels.floors.enumerated() {
            let table = plan.likelihoods[floor]
            var (low, high) = (Int.min, Int.max)
            if let errors = table.errors(from: limit - mostOfOthers) {
                guard !errors.isEmpty else { continue }
                (low, high) = (above - errors.upperBound + 1, above - errors.lowerBound)
            }
            guard plan.levels.loudest[loudest.receiver][floor] >= low else { continue }
            for cell in cells {
                let level = Int(levels[row + cell])
                guard level >= low, level <= high else { continue }
                var sum = Double(table.reception(above - level))
                var rest = mostOfOthers
                for other in others {
                    guard sum + rest >= limit else { break }
                    sum += Double(table.reception(other.above - Int(levels[other.row + cell])))
                    rest -= mostOfOne
                }
                if sum + rest >= limit { result.append(Int32(first + cell)) }
            }
        }
        return result
    }

    func mean(plane: Int) -> Double? {
        guard heard.isEmpty, case .sums(let sums, let rows) = silence, rows.isEmpty else { return nil }
        return sums[plane].mean
    }
}

/// The log-likelihood that no working receiver receives the beacon, for each cell in which the beacon may be.
struct SilenceSums: Sendable {
    /// The log-likelihood by cell.
    let logs: [Float]
    /// The mean of the likelihoods (not of their logarithms) of all cells.
    let mean: Double
}

/// Keeps the ``SilenceSums``, so that beacons with equal power and an equal number of expected packets share them, as
/// long as the same receivers work.
struct SilenceCache: Sendable {
    private struct Key: Hashable {
        let power: Int
        let expectedPackets: Double
    }

    private struct Kind: Hashable {
        let powers: [Int]
        let expectedPackets: Double
    }

    /// For each receiver, true if it worked when ``known`` was computed.
    private var listening: [Bool] = []
    /// The sums that have been computed.
    private var known: [Key: SilenceSums] = [:]
    /// The number of states for which the silence was computed receiver by receiver.
    private var computedStates: [Kind: Int] = [:]
    /// The largest number of elements of ``known``.
    private static let limit = 64
    /// The largest number of elements of ``computedStates``.
    private static let computedStatesLimit = 4096

    /// Returns the sums of each plane.
    ///
    /// - Parameters:
    ///   - listening: For each receiver, true if it worked.
    ///   - powers: The power at 1 m by plane, in 128ths of a dBm.
    ///   - expectedPackets: The number of packets that a receiver would have received without loss.
    mutating func sums(_ plan: RoomPlan, _ listening: [Bool], powers: [Int], expectedPackets: Double) -> [SilenceSums] {
        update(listening)
        return powers.map { sums(plan, power: $0, expectedPackets: expectedPackets) }
    }

    /// Returns the sums of each plane if computing them is worthwhile: the silence was already computed receiver by
    /// receiver for at least as many states as the planes have cells. Otherwise returns `nil`.
    mutating func worthwhileSums(
        _ plan: RoomPlan, _ listening: [Bool], powers: [Int], expectedPackets: Double
    ) -> [SilenceSums]? {
        update(listening)
        let kind = Kind(powers: powers, expectedPackets: expectedPackets)
        guard computedStates[kind] ?? 0 >= powers.count * plan.cellCount else { return nil }
        return powers.map { sums(plan, power: $0, expectedPackets: expectedPackets) }
    }

    /// Notes that the silence was computed receiver by receiver.
    ///
    /// - Parameter states: The number of states.
    mutating func note(_ states: Int, powers: [Int], expectedPackets: Double) {
        guard states > 0 else { return }
        if computedStates.count >= Self.computedStatesLimit { computedStates = [:] }
        computedStates[Kind(powers: powers, expectedPackets: expectedPackets), default: 0] += states
    }

    private mutating func update(_ listening: [Bool]) {
        if listening != self.listening { (self.listening, known, computedStates) = (listening, [:], [:]) }
    }

    private mutating func sums(_ plan: RoomPlan, power: Int, expectedPackets: Double) -> SilenceSums {
        let key = Key(power: power, expectedPackets: expectedPackets)
        if let sums = known[key] { return sums }
        if known.count >= Self.limit { (known, computedStates) = ([:], [:]) }
        let new = Self.sums(plan, listening, power, Float(expectedPackets))
        known[key] = new
        return new
    }

    private static func sums(
        _ plan: RoomPlan, _ listening: [Bool], _ power: Int, _ expectedPackets: Float
    ) -> SilenceSums {
        // Added up as Double, because the parts of receivers that received the beacon are later subtracted again.
        var logs = [Double](repeating: 0, count: plan.cellCount)
        let least = BeaconEvidence.leastSilence
        for (receiver, row) in plan.levels.rows.enumerated() where listening[receiver] {
            guard let row else { continue }
            for (floor, cells) in plan.levels.floors.enumerated() {
                let table = plan.likelihoods[floor]
                let above = power - plan.sensitivities[floor]
                guard above + plan.levels.loudest[receiver][floor] > table.leastMargin else { continue }
                for cell in cells {
                    let margin = above + Int(plan.levels.levels[row + cell])
                    guard margin > table.leastMargin else { continue }
                    logs[cell] += Double(max(least, expectedPackets * table.silence(margin)))
                }
            }
        }
        let mean = logs.reduce(0) { $0 + exp($1) } / Double(max(1, plan.cellCount))
        return SilenceSums(logs: logs.map(Float.init), mean: mean)
    }
}

/// Working memory for the calculations of a second. It is kept for the next second, so that it is not allocated again.
struct CellWorkspace: Sendable {
    var scratch = CellScratch()
    /// The sums for the receivers that sent a line in this second.
    var current = SilenceCache()
    /// The sums for the receivers that sent a line recently (see ``BeaconTrail/ReceiverStates/isRecent``).
    var recent = SilenceCache()
}

extension FloorBounds {
    /// Returns the distance of a position from the bounds, in metres; 0 if the position is inside.
    func distance(to place: FloorPosition) -> Double {
        let (dx, dy) = (max(low.x - place.x, 0, place.x - high.x), max(low.y - place.y, 0, place.y - high.y))
        return (dx * dx + dy * dy).squareRoot()
    }
}
