/// The law of the wait from one received event to the next, by recursion over time.
///
/// Every received event lies in a covered stretch of the scanner's cycle, uniformly. From there the recursion follows
/// the masses of the events to come over an absolute grid: one period later, spread by advDelay, then split into
/// received (the wait ends), lost within reach, and out of reach. Starts are followed in tiles of about 10 ms, which
/// are merged in pairs as time goes on: a tile blurs its times by 1/128 at most, evenly to both sides, and stays so
/// narrow that the uneven part, at the edges of the windows, moves no share by more than about 0.03 %.
struct GapRecursion: Sendable {
    let coverage: CoverageSet
    let kernel: PeriodKernel
    let chain: LossChain
    private(set) var histogram = GapHistogram()
    /// The step up to which the histogram is complete.
    private(set) var completeSteps = 0
    /// The share of all paths that fell below the floor.
    private(set) var lostMass = 0.0
    private var groups: [[GapTile]] = []
    private var stride: Int
    private let widest: Int
    /// Covered so nearly without a gap that the phase does not matter: what is not covered counts as lost.
    let isEven: Bool
    // Working memory.
    private var shares: [Double] = []
    private var within = EventStretch()
    private var outside = EventStretch()
    private var arrived: [Double] = []
    private var tapped: [Double] = []

    /// From this share of covered starts on, the phase does not matter.
    static let evenShare = 0.999
    /// Masses below this are no longer followed, at the ends of a stretch; the whole is one.
    private static let floor = 3e-10
    private static let tileFloor = 1e-8
    /// Times are at least this many tile widths long before the width doubles.
    private static let ratio = 64
    private static let tilesPerWindow = 200
    /// A tile of width B is off by B/2 in a part B/W of its paths; that over the mean wait is a share.
    private static let tolerance = 0.0003

    init(coverage: CoverageSet, kernel: PeriodKernel, chain: LossChain) {
        self.coverage = coverage
        self.kernel = kernel
        let share = coverage.share
        isEven = share >= Self.evenShare
        self.chain = isEven ? chain.scaled(by: share) : chain
        let longest = coverage.intervals.map { $0.upperBound - $0.lowerBound }.max() ?? 0
        let meanWait = (Double(kernel.steps) + Double(kernel.jitterSteps) / 2) / max(1e-9, share * chain.received)
        widest = Int(min(1e9, (Self.tolerance * 2 * longest * meanWait).squareRoot()))
        stride = max(15, min(widest, kernel.steps / Self.ratio), Int(longest) / Self.tilesPerWindow) | 1
        guard share > 0 else { return }
        if isEven {
            groups = [[start(of: 0..<1, weights: [1])]]
        } else {
            groups = coverage.starts(longestPeriod: Double(kernel.steps + kernel.width)).map {
                tiles(of: $0.interval, weight: $0.weight)
            }
        }
    }

    /// How far below ``completeSteps`` masses may still be added: a tile that is merged moves its middle.
    var marginSteps: Int { 2 * stride }

    /// Whether anything is left to follow.
    var isFinished: Bool { groups.allSatisfy { $0.isEmpty } }

    /// Follows all paths until twice the time so far, at most to `limit`.
    mutating func advance(limit: Int) {
        if 2 * stride * Self.ratio <= completeSteps, 2 * stride <= widest {
            stride *= 2
            for index in groups.indices {
                var tiles = take(index)
                pair(&tiles)
                groups[index] = tiles
            }
        }
        let target = min(limit, max(stride * Self.ratio, completeSteps + completeSteps / 2))
        guard target > completeSteps else { return }
        for group in groups.indices {
            var tiles = take(group)
            var kept = 0
            for index in tiles.indices {
                run(&tiles[index], until: target)
                let mass = tiles[index].mass(enough: Self.tileFloor)
                if mass < Self.tileFloor {
                    lostMass += mass
                } else {
                    if kept < index { tiles.swapAt(kept, index) }
                    kept += 1
                }
            }
            tiles.removeLast(tiles.count - kept)
            groups[group] = tiles
        }
        completeSteps = target
    }

    /// The tiles of a group, out of it: what they hold is changed in place then.
    private mutating func take(_ group: Int) -> [GapTile] {
        var tiles: [GapTile] = []
        swap(&tiles, &groups[group])
        return tiles
    }

    /// Makes one tile of every two neighbors.
    private mutating func pair(_ tiles: inout [GapTile]) {
        for index in Swift.stride(from: 0, to: tiles.count - 1, by: 2) {
            // Taken out of the array, so that what the tiles hold is not copied.
            var (tile, other) = (GapTile.none, GapTile.none)
            swap(&tile, &tiles[index])
            swap(&other, &tiles[index + 1])
            align(&tile, with: other)
            align(&other, with: tile)
            tile.merge(other)
            swap(&tile, &tiles[index / 2])
        }
        guard tiles.count > 1 else { return }
        if tiles.count % 2 == 1 { tiles.swapAt(tiles.count - 1, tiles.count / 2) }
        tiles.removeLast(tiles.count / 2)
    }

    /// Brings a tile that is a whole event behind to the same event, so that the two merge into a narrow band.
    private mutating func align(_ tile: inout GapTile, with other: GapTile) {
        guard let goal = other.pending?.lowerBound else { return }
        while let pending = tile.pending, pending.lowerBound + kernel.steps / 2 < goal { step(&tile, pending) }
    }

    /// The tiles of one covered stretch, each with its first event done.
    private mutating func tiles(of interval: Range<Double>, weight: Double) -> [GapTile] {
        let steps = Int(interval.lowerBound)..<Int(interval.upperBound.rounded(.up))
        let total = (interval.upperBound - interval.lowerBound) / weight
        return Swift.stride(from: steps.lowerBound, to: steps.upperBound, by: stride).map { first in
            let part = first..<min(first + stride, steps.upperBound)
            let weights = part.map { step in
                max(0, min(interval.upperBound, Double(step + 1)) - max(interval.lowerBound, Double(step))) / total
            }
            return start(of: part, weights: weights)
        }
    }

    /// The first event after the start, exactly: step by step, so that short waits are not blurred by the tile.
    private mutating func start(of steps: Range<Int>, weights: [Double]) -> GapTile {
        let origin = steps.lowerBound + kernel.steps
        let width = steps.count + kernel.width
        let hazard = chain.hazards[chain.afterReceived]
        let covered = fill(origin..<origin + width)
        outside.setZero(origin..<origin + width)
        within.setZero(origin..<origin + width)
        var moment = 0.0
        var whole = 0.0
        for (index, weight) in weights.enumerated() {
            moment += weight * Double(steps.lowerBound + index)
            whole += weight
            let reached = covered.clamped(to: index..<index + kernel.width)
            let delays = reached.isEmpty ? 0..<0 : reached.lowerBound - index..<reached.upperBound - index
            spread(weight, at: index, covered: delays, hazard: hazard)
        }
        var tile = GapTile(
            center: whole > 0 ? moment / whole : Double(steps.lowerBound), end: steps.upperBound,
            lanes: Array(repeating: Lane(), count: chain.hazards.count))
        tile.lanes[chain.fresh].addSuccessors(of: outside, kernel: kernel, tapped: &tapped)
        tile.lanes[chain.successors[chain.afterReceived]].addSuccessors(of: within, kernel: kernel, tapped: &tapped)
        return tile
    }

    /// Spreads one start by the period's kernel, from `offset` of both stretches on, and splits what falls on the delays
    /// `covered`.
    private mutating func spread(_ weight: Double, at offset: Int, covered: Range<Int>, hazard: Double) {
        let (width, missed) = (kernel.width, 1 - hazard)
        precondition(offset >= 0 && offset + width <= min(outside.count, within.count))
        precondition(covered.isEmpty || (covered.upperBound <= width && offset + covered.upperBound <= shares.count))
        arrived.grow(to: width)
        unsafe kernel.weights.withUnsafeBufferPointer { parts in
            unsafe outside.withMutableValues { outside in
                for delay in 0..<covered.lowerBound { unsafe outside[offset &+ delay] += weight * parts[delay] }
                for delay in covered.upperBound..<width { unsafe outside[offset &+ delay] += weight * parts[delay] }
                guard !covered.isEmpty else { return }
                unsafe within.withMutableValues { within in
                    unsafe arrived.withUnsafeMutableBufferPointer { arrived in
                        unsafe shares.withUnsafeBufferPointer { shares in
                            for delay in covered {
                                let mass = unsafe weight * parts[delay]
                                let inside = unsafe mass * shares[offset &+ delay]
                                unsafe outside[offset &+ delay] += mass - inside
                                unsafe within[offset &+ delay] += inside * missed
                                unsafe arrived[delay] = inside
                            }
                        }
                    }
                }
            }
        }
        guard !covered.isEmpty else { return }
        unsafe arrived.withUnsafeBufferPointer { arrived in
            unsafe histogram.add(
                UnsafeBufferPointer(rebasing: arrived[covered]), times: hazard, at: kernel.steps + covered.lowerBound)
        }
    }

    private mutating func fill(_ steps: Range<Int>) -> Range<Int> {
        guard isEven else { return coverage.fill(&shares, steps: steps) }
        if shares.count < steps.count { shares = Array(repeating: 1, count: steps.count) }
        return 0..<steps.count
    }

    /// Follows one tile until all its events before `target` (counted from its last start) are done.
    private mutating func run(_ tile: inout GapTile, until target: Int) {
        while let pending = tile.pending, pending.lowerBound < tile.end + target { step(&tile, pending) }
    }

    /// Does the events of one period, or all there are if they span less.
    private mutating func step(_ tile: inout GapTile, _ pending: Range<Int>) {
        // What follows these events comes after them all, so that every lane can be done in one go.
        let next = pending.lowerBound
        let chunk = next..<min(next + kernel.steps, pending.upperBound)
        let center = Int(tile.center.rounded())
        let covered = fill(chunk)
        let reach = covered.lowerBound + next..<covered.upperBound + next
        outside.clear()
        for state in tile.lanes.indices where tile.lanes[state].range.lowerBound < chunk.upperBound {
            guard !tile.lanes[state].isEmpty else { continue }
            let taken = tile.lanes[state].take(before: chunk.upperBound, floor: Self.floor)
            lostMass += taken.lost
            let hit = reach.clamped(to: taken.steps)
            let hazard = chain.hazards[state]
            if !hit.isEmpty {
                tile.lanes[state].receive(
                    hit, of: taken, shares: shares, from: next, hazard: hazard, after: hit.lowerBound - center,
                    histogram: &histogram, lost: &within)
            }
            tile.lanes[state].put(taken, into: &outside)
            if !hit.isEmpty, hazard < 1 {
                tile.lanes[chain.successors[state]].addSuccessors(of: within, kernel: kernel, tapped: &tapped)
            }
        }
        if !isEven { tile.lanes[chain.fresh].addSuccessors(of: outside, kernel: kernel, tapped: &tapped) }
    }
}

/// Starts that lie close together: all paths from received events of one short stretch of a window, followed until
/// their next received event.
struct GapTile: Sendable {
    /// The middle of the starts: the wait of a path at step x is x - center.
    var center: Double
    /// The last of the starts.
    var end: Int
    var lanes: [Lane]

    /// In the place of one that was taken out.
    static let none = GapTile(center: 0, end: 0, lanes: [])

    /// The mass of all lanes, or some number above `enough` where it is far above it.
    func mass(enough: Double) -> Double {
        var sum = 0.0
        for lane in lanes {
            sum += lane.mass(enough: enough)
            if sum > enough { return sum }
        }
        return sum
    }

    /// From the first event to come to the last; nil when there is none.
    var pending: Range<Int>? {
        var low = Int.max
        var high = Int.min
        for index in lanes.indices where !lanes[index].isEmpty {
            low = min(low, lanes[index].range.lowerBound)
            high = max(high, lanes[index].range.upperBound)
        }
        return low < high ? low..<high : nil
    }

    /// One tile of two neighbors.
    mutating func merge(_ other: GapTile) {
        center = (center + other.center) / 2
        end = max(end, other.end)
        for index in lanes.indices { lanes[index].add(other.lanes[index]) }
    }
}

/// How long the wait from one received event to the next is: masses over time, counted in steps of the recursion.
///
/// The first bins hold one step each; later ones grow with time, so that a bin is never wider than 1/4096 of its time
/// and hours fit into a few thousand numbers. A mass at step i stands for waits from i - 1/2 to i + 1/2.
struct GapHistogram: Sendable {
    private static let half = 4096
    private(set) var masses: [Double] = []

    /// Adds `values` times `factor` to consecutive steps from `first` on.
    mutating func add(_ values: UnsafeBufferPointer<Double>, times factor: Double, at first: Int) {
        guard !values.isEmpty else { return }
        let lastBin = Self.bin(of: first + values.count - 1)
        if lastBin >= masses.count { grow(to: lastBin) }
        var index = 0
        while index < values.count {
            // All steps up to the next zone share the width of their bins.
            let step = max(0, first + index)
            let zone = step < 2 * Self.half ? 0 : Int.bitWidth - 1 - (step / Self.half).leadingZeroBitCount
            let end = min(values.count, (2 * Self.half << zone) - first)
            unsafe Self.add(values, index..<end, times: factor, to: &masses, step: first, zone: zone)
            index = end
        }
    }

    private static func add(
        _ values: UnsafeBufferPointer<Double>, _ part: Range<Int>, times factor: Double, to masses: inout [Double],
        step: Int, zone: Int
    ) {
        unsafe masses.withUnsafeMutableBufferPointer { masses in
            if zone == 0, step >= 0 {
                for index in part { unsafe masses[step &+ index] += values[index] * factor }
            } else {
                for index in part {
                    let bin = half * zone + max(0, step + index) >> zone
                    unsafe masses[bin] += values[index] * factor
                }
            }
        }
    }

    private mutating func grow(to bin: Int) {
        masses.append(contentsOf: repeatElement(0, count: max(Self.half, bin + 1 - masses.count)))
    }

    /// Bins 0..<8192 are steps; from there on each zone of 4096 bins covers twice the time of the one before.
    static func bin(of step: Int) -> Int {
        guard step >= 2 * half else { return max(0, step) }
        let zone = Int.bitWidth - 1 - (step / half).leadingZeroBitCount
        return half * zone + step >> zone
    }

    /// The end of the bins that are as wide as this one, and how many steps that is.
    static func zone(of bin: Int) -> (end: Int, width: Double) {
        let zone = max(0, bin / half - 1)
        return ((zone + 2) * half, Double(1 << zone))
    }

    /// The first step of a bin: the inverse of `bin(of:)`.
    static func firstStep(of bin: Int) -> Int {
        guard bin >= 2 * half else { return bin }
        let zone = bin / half - 1
        return (bin - zone * half) << zone
    }
}

/// From one advertising event to the next, on the grid: T later, spread by advDelay ~ U(0, J).
///
/// A mass that is uniform within its step arrives uniform over J around the same place, that is a trapezoid. A T
/// between two steps is shared between them, which keeps its mean; the variance of advDelay grows by 1.2 % at most.
struct PeriodKernel: Sendable {
    /// T in whole steps.
    let steps: Int
    /// J in steps; 0 without advDelay.
    let jitterSteps: Int
    /// What one step gives to itself, the next and the one after it, before the J-wide box.
    let taps: (Double, Double, Double)
    /// The weights of the steps from `steps` on; they sum to one.
    let weights: [Double]

    init(intervalSteps: Double, jitterSteps: Int) {
        steps = Int(intervalSteps)
        self.jitterSteps = jitterSteps
        let part = intervalSteps - Double(steps)
        if jitterSteps > 0 {
            let half = 0.5 / Double(jitterSteps)
            taps = ((1 - part) * half, half, part * half)
        } else {
            taps = (1 - part, part, 0)
        }
        let box = max(1, jitterSteps)
        var weights = Array(repeating: 0.0, count: box + 2)
        for index in 0..<box {
            weights[index] += taps.0
            weights[index + 1] += taps.1
            weights[index + 2] += taps.2
        }
        self.weights = weights
    }

    /// How many steps one step spreads over.
    var width: Int { weights.count }
}
