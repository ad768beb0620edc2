/// One of several parts of a simulation, which may be played on different machines.
///
/// A part plays whole blocks of batches, each `count`-th of them, so that every part sees as much of everything as the
/// whole does. Merged in the order of the batches' numbers the parts give what one run would have given.
public struct SimulationShard: Hashable, Sendable {
    /// Which part, 1...count.
    public let index: Int
    public let count: Int
    /// Batches that follow each other in one part: as many as there are groups in a ``LatencyTally``.
    public static let block = LatencyTally.groupCount
    /// More parts than these are refused.
    public static let countLimit = 100_000

    /// Throws for a number of parts outside 1...100,000, and a part that is none of them.
    public init(_ index: Int, of count: Int) throws(AirtimeError) {
        guard (1...Self.countLimit).contains(count) else {
            throw .quantity(name: "a number of parts of a simulation", value: Double(count))
        }
        guard (1...count).contains(index) else {
            throw .quantity(name: "a part of a simulation (1...\(count))", value: Double(index))
        }
        self.index = index
        self.count = count
    }

    /// The number of this part's batch at a position, counted from 0.
    public func batch(at position: Int) -> Int {
        (position / Self.block * count + index - 1) * Self.block + position % Self.block
    }

    /// Which of `count` parts plays a batch, counted from 1, and at which position.
    public static func owner(ofBatch batch: Int, among count: Int) -> (index: Int, position: Int) {
        let (block, rest) = batch.quotientAndRemainder(dividingBy: Self.block)
        return (block % count + 1, block / count * Self.block + rest)
    }
}

/// Sums what the batches of one part counted, until it has played enough for the whole to meet its goal.
///
/// The interval of the whole is narrower than that of a part by the root of the number of parts, but for chance: each
/// part plays a little more than its share, so that the whole hardly ever falls short.
public struct ShardSum<Tally: SimulationTally>: Sendable {
    private let width: PrecisionGoal.Width
    private let leastBatches: Int
    private let mostBatches: Int
    private let judged: @Sendable (Tally) -> Estimate?
    private var isMet = false

    public private(set) var tally = Tally()
    /// So many batches of this part were added.
    public private(set) var batches = 0

    /// - Parameters:
    ///   - goal: Of the whole.
    ///   - least: The fewest batches of this part, whatever it finds.
    ///   - judged: The value whose precision is asked for.
    public init(
        _ goal: PrecisionGoal, shard: SimulationShard, atLeast least: Int = 0,
        judged: @escaping @Sendable (Tally) -> Estimate?
    ) {
        let looser = Self.reserve * Double(shard.count).squareRoot()
        switch goal.halfWidth {
        case .absolute(let width): self.width = .absolute(width * looser)
        case .relative(let width): self.width = .relative(width * looser)
        }
        leastBatches = max(least, (goal.minimumBatches + shard.count - 1) / shard.count)
        mostBatches = goal.maximumBatches
        self.judged = judged
        self.shard = shard
    }

    private let shard: SimulationShard
    private static var reserve: Double { 0.8 }

    /// Whether this part has played enough. It ends with a whole block, because another part plays the next.
    public var isFinished: Bool { isMet || shard.batch(at: batches) >= mostBatches }

    /// The tally of this part's next batch, at position ``batches``. Ignored where the sum is final.
    public mutating func add(_ next: Tally) {
        guard !isFinished else { return }
        tally.merge(next)
        batches += 1
        guard batches % SimulationShard.block == 0, batches >= leastBatches, let estimate = judged(tally) else {
            return
        }
        isMet =
            switch width {
            case .absolute(let width): estimate.halfWidth95 <= width
            case .relative(let width): estimate.halfWidth95 <= width * abs(estimate.value)
            }
    }
}

/// What one batch of an ``AirSimulation`` counted for all beacons and receivers together, as whole numbers: a form in
/// which it can be written down, read elsewhere and merged there.
public struct BatchCounts: Hashable, Sendable {
    /// Hits and trials in turn, then the latencies' bins.
    public let numbers: [Int]

    /// - Parameter tally: Of one batch.
    public init(_ tally: AirTally) {
        let all = tally.all
        let shares = [all.audible, all.clear, all.anyClear, all.received, all.lossAfterLoss] + all.runs
        numbers = [shares.count] + shares.flatMap { [$0.hits, $0.trials] } + all.latency.numbers
    }

    /// Throws for numbers that no batch counts.
    public init?(numbers: [Int], batch: Int) {
        self.numbers = numbers
        guard tally(batch: batch) != nil else { return nil }
    }

    /// The tally of the batch of that number, without what single receivers and beacons have of it; `nil` where these
    /// are no counts.
    public func tally(batch: Int) -> AirTally? {
        var rest = numbers[...]
        guard let count = rest.popFirst(), (5...5 + AirSimulation.longestRun).contains(count), rest.count >= 2 * count
        else { return nil }
        var shares: [ShareTally] = []
        for _ in 0..<count {
            guard let hits = rest.popFirst(), let trials = rest.popFirst(), (0...1 << 48).contains(trials),
                (0...trials).contains(hits)
            else { return nil }
            shares.append(ShareTally(hits: hits, trials: trials))
        }
        guard let latency = LatencyTally(numbers: rest, batch: batch) else { return nil }
        var tally = AirTally()
        tally.all.audible = shares[0]
        tally.all.clear = shares[1]
        tally.all.anyClear = shares[2]
        tally.all.received = shares[3]
        tally.all.lossAfterLoss = shares[4]
        tally.all.runs = Array(shares[5...])
        tally.all.latency = latency
        return tally
    }
}
