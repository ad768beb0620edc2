internal import Airtime
internal import Positioning
internal import Sites

/// What the lines of a moment say of where one beacon is.
///
/// Only receivers in reach of the cells in question are asked: those that heard it say where it can be, and what they
/// leave is compared with those that did not.
struct BeaconEvidence: CellEvidence {
    /// A receiver that heard it, and how loud.
    struct Heard {
        let receiver: Int
        /// Where its levels begin.
        let row: Int
        /// In 128ths of a dBm.
        let level: Int
    }

    /// Who has listened and did not hear it.
    enum Silence {
        case receivers([Int])
        /// The sums of all who have listened, by plane, less those of rows that are to be left out.
        case sums([SilenceSums], except: [Int])
    }

    private let plan: RoomPlan
    /// At 1 m, by plane, in 128ths of a dBm.
    private let powers: [Int]
    /// The loudest first.
    private let heard: [Heard]
    private let silence: Silence
    private let owed: Float
    /// Of how many states every receiver was asked that did not hear it.
    private(set) var asked = 0
    let most: Double
    let least: Double
    /// What a single level tells at most.
    private let mostOfOne: Double

    /// However many packets were not heard, it is no surer than this that it was not there.
    static let leastSilence = Float(log(BeaconTrail.leastChance))
    /// So much of the weight is left out. What is left out of one second is missing where the levels of a later one
    /// find it a thousand times as likely: of a hundredth, places were 9 cm off.
    let tolerance = 1e-5

    /// - Parameters:
    ///   - powers: At 1 m, by plane, in 128ths of a dBm.
    ///   - owed: How many packets a receiver should have heard.
    init(_ plan: RoomPlan, powers: [Int], heard: [Heard], silence: Silence, owed: Double) {
        self.plan = plan
        self.powers = powers
        self.heard = heard.sorted { ($0.level, $1.receiver) > ($1.level, $0.receiver) }
        self.silence = silence
        self.owed = Float(owed)
        mostOfOne = plan.hearing.map(\.most).max() ?? 0
        most = Double(heard.count) * mostOfOne
        least = Double(heard.count) * (plan.hearing.map(\.least).min() ?? 0)
    }

    /// States of one plane and floor that follow each other.
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
            let table = plan.hearing[segment.floor]
            for sound in heard {
                let base = sound.row - segment.plane * plan.cellCount
                let above = sound.level - powers[segment.plane]
                for index in segment.range {
                    let expected = Int(plan.levels.levels[base + Int(states[index])])
                    result[index] += Double(table.hearing(above - expected))
                }
            }
        }
        return result
    }

    mutating func refine(_ bounds: inout [Double], of states: [Int32]) {
        switch silence {
        case .receivers(let silent):
            asked += states.count
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
            plan.sensitivities[segment.floor] + plan.hearing[segment.floor].leastMargin - powers[segment.plane]
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
        let table = plan.hearing[segment.floor]
        let base = row - segment.plane * plan.cellCount
        let above = powers[segment.plane] - plan.sensitivities[segment.floor]
        let least = Self.leastSilence
        for index in segment.range {
            let margin = above + Int(plan.levels.levels[base + Int(states[index])])
            guard margin > table.leastMargin else { continue }
            bounds[index] += factor * Double(max(least, owed * table.silence(margin)))
        }
    }

    func candidates(plane: Int, from limit: Double) -> [Int32] {
        let first = plane * plan.cellCount
        guard let loudest = heard.first else { return (first..<first + plan.cellCount).map { Int32($0) } }
        // Every cell is looked at: nothing is asked of the plan, or of those that heard it, that a number tells.
        let levels = plan.levels.levels
        let (row, above) = (loudest.row, loudest.level - powers[plane])
        let others = heard.dropFirst().map { (row: $0.row, above: $0.level - powers[plane]) }
        let mostOfOthers = Double(others.count) * mostOfOne
        var result: [Int32] = []
        for (floor, cells) in plan.levels.floors.enumerated() {
            let table = plan.hearing[floor]
            var (low, high) = (Int.min, Int.max)
            if let errors = table.errors(from: limit - mostOfOthers) {
                guard !errors.isEmpty else { continue }
                (low, high) = (above - errors.upperBound + 1, above - errors.lowerBound)
            }
            guard plan.levels.loudest[loudest.receiver][floor] >= low else { continue }
            for cell in cells {
                let level = Int(levels[row + cell])
                guard level >= low, level <= high else { continue }
                var sum = Double(table.hearing(above - level))
                var rest = mostOfOthers
                for other in others {
                    guard sum + rest >= limit else { break }
                    sum += Double(table.hearing(other.above - Int(levels[other.row + cell])))
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

/// What it tells of each cell that all who have listened did not hear a beacon.
struct SilenceSums: Sendable {
    /// By cell.
    let logs: [Float]
    /// Of the likelihoods.
    let mean: Double
}

/// The sums of silence of beacons that are alike, as long as the same receivers listen.
struct SilenceCache: Sendable {
    private struct Key: Hashable {
        let power: Int
        let owed: Double
    }

    private struct Kind: Hashable {
        let powers: [Int]
        let owed: Double
    }

    private var listening: [Bool] = []
    private var known: [Key: SilenceSums] = [:]
    /// Of how many states the receivers were asked one by one.
    private var asked: [Kind: Int] = [:]
    /// Sums of more kinds of beacons are forgotten, and what was asked of more.
    private static let limit = 64
    private static let askedLimit = 4096

    /// By plane.
    ///
    /// - Parameters:
    ///   - listening: By receiver.
    ///   - powers: At 1 m, by plane, in 128ths of a dBm.
    ///   - owed: How many packets a receiver should have heard.
    mutating func sums(_ plan: RoomPlan, _ listening: [Bool], powers: [Int], owed: Double) -> [SilenceSums] {
        attend(listening)
        return powers.map { sums(plan, power: $0, owed: owed) }
    }

    /// The same where the receivers were asked so often for beacons that are alike that sums had been no dearer: sums ask
    /// them once of each cell.
    mutating func worthwhileSums(
        _ plan: RoomPlan, _ listening: [Bool], powers: [Int], owed: Double
    ) -> [SilenceSums]? {
        attend(listening)
        guard asked[Kind(powers: powers, owed: owed)] ?? 0 >= powers.count * plan.cellCount else { return nil }
        return powers.map { sums(plan, power: $0, owed: owed) }
    }

    /// The receivers that listen were asked one by one.
    ///
    /// - Parameter states: Of how many.
    mutating func note(_ states: Int, powers: [Int], owed: Double) {
        guard states > 0 else { return }
        if asked.count >= Self.askedLimit { asked = [:] }
        asked[Kind(powers: powers, owed: owed), default: 0] += states
    }

    private mutating func attend(_ listening: [Bool]) {
        if listening != self.listening { (self.listening, known, asked) = (listening, [:], [:]) }
    }

    private mutating func sums(_ plan: RoomPlan, power: Int, owed: Double) -> SilenceSums {
        let key = Key(power: power, owed: owed)
        if let sums = known[key] { return sums }
        // What is forgotten must become worth its while anew.
        if known.count >= Self.limit { (known, asked) = ([:], [:]) }
        let new = Self.sums(plan, listening, power, Float(owed))
        known[key] = new
        return new
    }

    private static func sums(_ plan: RoomPlan, _ listening: [Bool], _ power: Int, _ owed: Float) -> SilenceSums {
        // What those that heard it add is taken away again: the rest must not be lost beside it.
        var logs = [Double](repeating: 0, count: plan.cellCount)
        let least = BeaconEvidence.leastSilence
        for (receiver, row) in plan.levels.rows.enumerated() where listening[receiver] {
            guard let row else { continue }
            for (floor, cells) in plan.levels.floors.enumerated() {
                let table = plan.hearing[floor]
                let above = power - plan.sensitivities[floor]
                guard above + plan.levels.loudest[receiver][floor] > table.leastMargin else { continue }
                for cell in cells {
                    let margin = above + Int(plan.levels.levels[row + cell])
                    guard margin > table.leastMargin else { continue }
                    logs[cell] += Double(max(least, owed * table.silence(margin)))
                }
            }
        }
        let mean = logs.reduce(0) { $0 + exp($1) } / Double(max(1, plan.cellCount))
        return SilenceSums(logs: logs.map(Float.init), mean: mean)
    }
}

/// What putting a second together needs for a moment, and keeps for the next one.
struct CellWorkspace: Sendable {
    var scratch = CellScratch()
    /// Of who has spoken in the second that ends, and of late.
    var spoken = SilenceCache()
    var recent = SilenceCache()
}

extension FloorBounds {
    /// How far a place is from it, in metres; 0 inside.
    func distance(to place: FloorPosition) -> Double {
        let (dx, dy) = (max(low.x - place.x, 0, place.x - high.x), max(low.y - place.y, 0, place.y - high.y))
        return (dx * dx + dy * dy).squareRoot()
    }
}
