internal import Airtime
internal import Positioning
internal import Sites

/// The log-likelihood of each cell for one beacon in one second. It has two parts: the levels at the receivers that
/// received the beacon, and the silence of the receivers that worked and did not receive it.
///
/// A plane contains every cell once. The filter has one plane for each possible power of the beacon, so there are
/// several planes if the power is unknown. A state is a cell of a plane. The levels exclude most states. The silence is
/// computed only for the remaining states, and only for receivers in range.
struct BeaconEvidence: CellEvidence {
    /// A receiver that received the beacon, and the received level.
    struct Reception {
        let receiver: Int
        /// The index at which the receiver's levels start in ``LevelTable/levels``.
        let row: Int
        /// The received level, in 128ths of a dBm.
        let level: Int
    }

    /// The receivers that worked and did not receive the beacon.
    enum Silence {
        /// The indices of these receivers.
        case receivers([Int])
        /// For each plane, the sums over all receivers that worked. `except` contains the rows of the receivers that
        /// received the beacon: their contributions must be subtracted from the sums.
        case sums([SilenceSums], except: [Int])
    }

    private let plan: RoomPlan
    /// For each plane, the power at 1 m, in 128ths of a dBm.
    private let powers: [Int]
    /// The receivers that received the beacon, the highest level first.
    private let receptions: [Reception]
    private let silence: Silence
    /// The number of packets that a receiver would receive if no packet were lost.
    private let expectedPackets: Float
    /// The number of states for which the silence was computed receiver by receiver.
    private(set) var computedStates = 0
    let most: Double
    let least: Double
    /// The largest possible log-likelihood of a single level.
    private let mostOfOneLevel: Double

    /// The lower limit of the log-likelihood of one receiver's silence, however many packets it missed.
    static let leastSilence = Float(log(BeaconTrail.leastSilenceLikelihood))
    /// The share of the probability that the omitted states may have in total. A share of 0.01 made positions wrong by
    /// 9 cm, because an omitted cell is missing if later levels make it a thousand times as likely.
    let tolerance = 1e-5

    /// - Parameters:
    ///   - powers: For each plane, the power at 1 m, in 128ths of a dBm.
    ///   - expectedPackets: The number of packets that a receiver would receive if no packet were lost.
    init(_ plan: RoomPlan, powers: [Int], receptions: [Reception], silence: Silence, expectedPackets: Double) {
        self.plan = plan
        self.powers = powers
        self.receptions = receptions.sorted { ($0.level, $1.receiver) > ($1.level, $0.receiver) }
        self.silence = silence
        self.expectedPackets = Float(expectedPackets)
        mostOfOneLevel = plan.likelihoods.map(\.most).max() ?? 0
        most = Double(receptions.count) * mostOfOneLevel
        least = Double(receptions.count) * (plan.likelihoods.map(\.least).min() ?? 0)
    }

    /// A part of a list of states. All of its states are of one plane and one floor.
    private struct Segment {
        /// The indices in the list.
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
            let firstState = cells.lowerBound + plane * plan.cellCount
            let endState = cells.upperBound + plane * plan.cellCount
            let start = index
            while index < states.count, Int(states[index]) >= firstState, Int(states[index]) < endState { index += 1 }
            result.append(Segment(range: start..<index, plane: plane, floor: floor))
        }
        return result
    }

    func bounds(of states: [Int32]) -> [Double] {
        var result = [Double](repeating: 0, count: states.count)
        guard !receptions.isEmpty else { return result }
        for segment in segments(states) {
            let table = plan.likelihoods[segment.floor]
            for reception in receptions {
                let base = reception.row - segment.plane * plan.cellCount
                let relativeLevel = reception.level - powers[segment.plane]
                for index in segment.range {
                    let expected = Int(plan.levels.levels[base + Int(states[index])])
                    result[index] += Double(table.reception(relativeLevel - expected))
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
                let firstState = segment.plane * plan.cellCount
                for index in segment.range {
                    bounds[index] += Double(sums[segment.plane].logs[Int(states[index]) - firstState])
                }
                for row in rows { add(row, segment, &bounds, states, times: -1) }
            }
        }
    }

    private func add(_ silent: [Int], _ segment: Segment, _ bounds: inout [Double], _ states: [Int32]) {
        let firstState = segment.plane * plan.cellCount
        guard let segmentBounds = FloorBounds(segment.range.lazy.map { plan.positions[Int(states[$0]) - firstState] })
        else { return }
        let neededLevel =
            plan.sensitivities[segment.floor] + plan.likelihoods[segment.floor].leastMargin - powers[segment.plane]
        let reaches = plan.levels.floors.indices.map { plan.reach(from: $0, to: segment.floor, level: neededLevel) }
        for receiver in silent {
            guard let location = plan.receiverLocations[receiver], let row = plan.levels.rows[receiver],
                segmentBounds.distance(to: location.position) <= reaches[location.floor],
                plan.levels.loudest[receiver][segment.floor] > neededLevel
            else { continue }
            if receptions.contains(where: { $0.receiver == receiver }) { continue }
            add(row, segment, &bounds, states, times: 1)
        }
    }

    private func add(
        _ row: Int, _ segment: Segment, _ bounds: inout [Double], _ states: [Int32], times factor: Double
    ) {
        let table = plan.likelihoods[segment.floor]
        let base = row - segment.plane * plan.cellCount
        let marginAtOneMeter = powers[segment.plane] - plan.sensitivities[segment.floor]
        let least = Self.leastSilence
        for index in segment.range {
            let margin = marginAtOneMeter + Int(plan.levels.levels[base + Int(states[index])])
            guard margin > table.leastMargin else { continue }
            bounds[index] += factor * Double(max(least, expectedPackets * table.silence(margin)))
        }
    }

    func candidates(plane: Int, from limit: Double) -> [Int32] {
        let firstState = plane * plan.cellCount
        guard let loudest = receptions.first else {
            return (firstState..<firstState + plan.cellCount).map { Int32($0) }
        }
        // The loop below visits every cell, so it uses only local variables, which are faster than properties.
        let levels = plan.levels.levels
        let (row, relativeLevel) = (loudest.row, loudest.level - powers[plane])
        let others = receptions.dropFirst().map { (row: $0.row, relativeLevel: $0.level - powers[plane]) }
        let mostOfOthers = Double(others.count) * mostOfOneLevel
        var result: [Int32] = []
        for (floor, cells) in plan.levels.floors.enumerated() {
            let table = plan.likelihoods[floor]
            var (low, high) = (Int.min, Int.max)
            if let errors = table.errors(from: limit - mostOfOthers) {
                guard !errors.isEmpty else { continue }
                (low, high) = (relativeLevel - errors.upperBound + 1, relativeLevel - errors.lowerBound)
            }
            guard plan.levels.loudest[loudest.receiver][floor] >= low else { continue }
            for cell in cells {
                let level = Int(levels[row + cell])
                guard level >= low, level <= high else { continue }
                var sum = Double(table.reception(relativeLevel - level))
                var mostOfRemaining = mostOfOthers
                for other in others {
                    guard sum + mostOfRemaining >= limit else { break }
                    sum += Double(table.reception(other.relativeLevel - Int(levels[other.row + cell])))
                    mostOfRemaining -= mostOfOneLevel
                }
                if sum + mostOfRemaining >= limit { result.append(Int32(firstState + cell)) }
            }
        }
        return result
    }

    func mean(plane: Int) -> Double? {
        guard receptions.isEmpty, case .sums(let sums, let rows) = silence, rows.isEmpty else { return nil }
        return sums[plane].mean
    }
}

/// For each cell, the log-likelihood that no working receiver receives a beacon in this cell.
struct SilenceSums: Sendable {
    /// The log-likelihood by cell.
    let logs: [Float]
    /// The mean of the likelihoods (not of their logarithms) of all cells.
    let mean: Double
}

/// Keeps the ``SilenceSums`` while the same receivers work. Beacons with equal power and an equal number of expected
/// packets share them.
struct SilenceCache: Sendable {
    private struct Key: Hashable {
        let power: Int
        let expectedPackets: Double
    }

    /// The properties of a beacon on which the sums of its planes depend.
    private struct BeaconKind: Hashable {
        let powers: [Int]
        let expectedPackets: Double
    }

    /// For each receiver, true if it worked when ``cachedSums`` were computed.
    private var listening: [Bool] = []
    /// The sums that have been computed.
    private var cachedSums: [Key: SilenceSums] = [:]
    /// For each kind of beacon, the number of states for which the silence was computed receiver by receiver.
    private var computedStates: [BeaconKind: Int] = [:]
    /// The largest number of elements of ``cachedSums``.
    private static let sumsLimit = 64
    /// The largest number of elements of ``computedStates``.
    private static let computedStatesLimit = 4096

    /// Returns the sums of each plane.
    ///
    /// - Parameters:
    ///   - listening: For each receiver, true if it worked.
    ///   - powers: For each plane, the power at 1 m, in 128ths of a dBm.
    ///   - expectedPackets: The number of packets that a receiver would receive if no packet were lost.
    mutating func sums(_ plan: RoomPlan, _ listening: [Bool], powers: [Int], expectedPackets: Double) -> [SilenceSums] {
        update(listening)
        return powers.map { sums(plan, power: $0, expectedPackets: expectedPackets) }
    }

    /// Returns the sums of each plane if computing them is worthwhile; otherwise `nil`. It is worthwhile if the silence
    /// has already been computed receiver by receiver for at least as many states as the planes have cells.
    mutating func worthwhileSums(
        _ plan: RoomPlan, _ listening: [Bool], powers: [Int], expectedPackets: Double
    ) -> [SilenceSums]? {
        update(listening)
        let kind = BeaconKind(powers: powers, expectedPackets: expectedPackets)
        guard computedStates[kind] ?? 0 >= powers.count * plan.cellCount else { return nil }
        return powers.map { sums(plan, power: $0, expectedPackets: expectedPackets) }
    }

    /// Records the number of states for which the silence was computed receiver by receiver.
    mutating func note(_ stateCount: Int, powers: [Int], expectedPackets: Double) {
        guard stateCount > 0 else { return }
        if computedStates.count >= Self.computedStatesLimit { computedStates = [:] }
        computedStates[BeaconKind(powers: powers, expectedPackets: expectedPackets), default: 0] += stateCount
    }

    private mutating func update(_ listening: [Bool]) {
        if listening != self.listening { (self.listening, cachedSums, computedStates) = (listening, [:], [:]) }
    }

    private mutating func sums(_ plan: RoomPlan, power: Int, expectedPackets: Double) -> SilenceSums {
        let key = Key(power: power, expectedPackets: expectedPackets)
        if let sums = cachedSums[key] { return sums }
        if cachedSums.count >= Self.sumsLimit { (cachedSums, computedStates) = ([:], [:]) }
        let computed = Self.sums(plan, listening, power, Float(expectedPackets))
        cachedSums[key] = computed
        return computed
    }

    private static func sums(
        _ plan: RoomPlan, _ listening: [Bool], _ power: Int, _ expectedPackets: Float
    ) -> SilenceSums {
        // The logarithms are added up as Double, because the logarithms of receivers that received the beacon are
        // subtracted again later, which needs precision.
        var logs = [Double](repeating: 0, count: plan.cellCount)
        let least = BeaconEvidence.leastSilence
        for (receiver, row) in plan.levels.rows.enumerated() where listening[receiver] {
            guard let row else { continue }
            for (floor, cells) in plan.levels.floors.enumerated() {
                let table = plan.likelihoods[floor]
                let marginAtOneMeter = power - plan.sensitivities[floor]
                guard marginAtOneMeter + plan.levels.loudest[receiver][floor] > table.leastMargin else { continue }
                for cell in cells {
                    let margin = marginAtOneMeter + Int(plan.levels.levels[row + cell])
                    guard margin > table.leastMargin else { continue }
                    logs[cell] += Double(max(least, expectedPackets * table.silence(margin)))
                }
            }
        }
        let mean = logs.reduce(0) { $0 + exp($1) } / Double(max(1, plan.cellCount))
        return SilenceSums(logs: logs.map(Float.init), mean: mean)
    }
}

/// Working memory for the calculations of a second. It is reused in each second, which avoids allocations.
struct CellWorkspace: Sendable {
    var scratch = CellScratch()
    /// The sums for the receivers that sent a line in this second.
    var current = SilenceCache()
    /// The sums for the receivers that sent a line recently (see ``BeaconTrail/ReceiverStates/isRecent``).
    var recent = SilenceCache()
}

extension FloorBounds {
    /// Returns the distance of a position from the bounds, in metres; 0 if the position is inside.
    func distance(to position: FloorPosition) -> Double {
        let dx = max(low.x - position.x, 0, position.x - high.x)
        let dy = max(low.y - position.y, 0, position.y - high.y)
        return (dx * dx + dy * dy).squareRoot()
    }
}
