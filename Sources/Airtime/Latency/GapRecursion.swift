/// The law of the wait from one received event to the next, by recursion over time.
///
/// Every received event lies in a covered stretch of the scanner's cycle, uniformly. From there the recursion follows
/// the masses of the events to come over an absolute grid: one period later, spread by advDelay, then split into
/// received (the wait ends), lost within reach, and out of reach. Starts are followed in tiles of about 10 ms, which
/// are merged in pairs whenever the time doubles: a tile never blurs its times by more than 1/256.
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
    /// Covered so nearly without a gap that the phase does not matter; then the share of covered starts.
    private let evenShare: Double?
    private var scratch = GapScratch()

    /// Masses below this are no longer followed, at the ends of a stretch; the whole is one.
    private static let floor = 1e-10
    private static let tileFloor = 1e-8
    /// Times are at least this many tile widths long before the width doubles.
    private static let ratio = 256
    private static let tilesPerWindow = 200

    init(coverage: CoverageSet, kernel: PeriodKernel, chain: LossChain) {
        self.coverage = coverage
        self.kernel = kernel
        self.chain = chain
        let share = coverage.share
        evenShare = share >= 0.999 ? share : nil
        let longest = coverage.intervals.map { $0.upperBound - $0.lowerBound }.max() ?? 0
        stride = max(15, Int(longest) / Self.tilesPerWindow) | 1
        guard share > 0 else { return }
        if evenShare != nil {
            groups = [[start(of: 0..<1, weights: [1])]]
        } else {
            groups = coverage.intervals.map { tiles(of: $0) }
        }
    }

    /// Whether anything is left to follow.
    var isFinished: Bool { groups.allSatisfy { $0.isEmpty } }

    /// Follows all paths until twice the time so far, at most to `limit`.
    mutating func advance(limit: Int) {
        if completeSteps > 0, stride * Self.ratio <= completeSteps {
            stride *= 2
            for index in groups.indices { groups[index] = Self.pairs(groups[index]) }
        }
        let target = min(limit, max(stride * Self.ratio, completeSteps + completeSteps / 2))
        guard target > completeSteps else { return }
        for group in groups.indices {
            var tiles: [GapTile] = []
            swap(&tiles, &groups[group])
            for index in tiles.indices {
                run(&tiles[index], until: target)
                let mass = tiles[index].mass
                if mass < Self.tileFloor { lostMass += mass } else { groups[group].append(tiles[index]) }
            }
        }
        completeSteps = target
    }

    private static func pairs(_ tiles: [GapTile]) -> [GapTile] {
        Swift.stride(from: 0, to: tiles.count, by: 2).map { index in
            var tile = tiles[index]
            if index + 1 < tiles.count { tile.merge(tiles[index + 1]) }
            return tile
        }
    }

    /// The tiles of one covered stretch, each with its first event done.
    private mutating func tiles(of interval: Range<Double>) -> [GapTile] {
        let steps = Int(interval.lowerBound)..<Int(interval.upperBound.rounded(.up))
        let total = coverage.share * coverage.period
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
        var outside = Array(repeating: 0.0, count: width)
        var within = outside
        var moment = 0.0
        var whole = 0.0
        for (index, weight) in weights.enumerated() {
            moment += weight * Double(steps.lowerBound + index)
            whole += weight
            for (delay, part) in kernel.weights.enumerated() {
                let mass = weight * part
                let inside = covered.contains(index + delay) ? mass * scratch.shares[index + delay] : 0
                outside[index + delay] += mass - inside
                guard inside > 0 else { continue }
                within[index + delay] += inside * (1 - hazard)
                histogram.add(inside * hazard, at: kernel.steps + delay)
            }
        }
        var tile = GapTile(
            center: whole > 0 ? moment / whole : Double(steps.lowerBound), end: steps.upperBound,
            lanes: Array(repeating: Lane(), count: chain.hazards.count))
        tile.lanes[chain.fresh].addSuccessors(of: outside, at: origin, kernel: kernel)
        tile.lanes[chain.successors[chain.afterReceived]].addSuccessors(of: within, at: origin, kernel: kernel)
        return tile
    }

    private mutating func fill(_ steps: Range<Int>) -> Range<Int> {
        guard let evenShare else { return coverage.fill(&scratch.shares, steps: steps) }
        if scratch.shares.count < steps.count {
            scratch.shares = Array(repeating: evenShare, count: steps.count)
        }
        return 0..<steps.count
    }

    /// Follows one tile until all its events before `target` (counted from its last start) are done.
    private mutating func run(_ tile: inout GapTile, until target: Int) {
        let stop = tile.end + target
        let center = Int(tile.center.rounded())
        while true {
            var next = stop
            for lane in tile.lanes where !lane.range.isEmpty { next = min(next, lane.range.lowerBound) }
            guard next < stop else { return }
            let chunk = next..<min(stop, next + kernel.steps)
            let covered = fill(chunk)
            scratch.begin(states: chain.hazards.count)
            for state in tile.lanes.indices where !tile.lanes[state].range.isEmpty {
                let (first, lost) = tile.lanes[state].take(
                    before: chunk.upperBound, floor: Self.floor, into: &scratch.taken)
                lostMass += lost
                scratch.split(
                    at: first, in: chunk, covered: covered, hazard: chain.hazards[state],
                    successor: chain.successors[state], fresh: chain.fresh, center: center, histogram: &histogram)
            }
            for state in tile.lanes.indices where !scratch.parts[state].range.isEmpty {
                let part = scratch.parts[state]
                tile.lanes[state].addSuccessors(of: part.values, at: part.start, kernel: kernel)
            }
        }
    }
}
