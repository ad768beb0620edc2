package import BluetoothTypes

/// The counts of one or several batches. Merging is associative, and merging with an empty tally changes nothing.
public protocol SimulationTally: Sendable {
    init()
    /// Adds the tally of the batches that follow.
    mutating func merge(_ next: Self)
}

/// Adds up the batches of a simulation, or of one part of it (``SimulationShard``), until a goal is met.
///
/// The caller runs the batches on any threads and adds their tallies in the order of the batches' numbers. The sum
/// checks the goal after each batch, and ignores all batches after the batch that meets the goal. So the result depends
/// on neither the number of cores nor their speed. To stop early, add no more batches: ``tally`` contains the batches
/// so far.
public struct BatchSum<Tally: SimulationTally>: Sendable {
    private let goal: PrecisionGoal
    private let shard: SimulationShard?
    private let estimate: @Sendable (Tally) -> Estimate?
    private var isMet = false

    /// The merged tallies of the first ``batches`` batches of the simulation, or of the part.
    public private(set) var tally = Tally()
    public private(set) var batches = 0

    /// - Parameter estimate: Returns the value whose precision is compared with the goal.
    public init(_ goal: PrecisionGoal, estimate: @escaping @Sendable (Tally) -> Estimate?) {
        self.goal = goal
        shard = nil
        self.estimate = estimate
    }

    /// Creates the sum of one part of a simulation. The sum is finished when this part has enough batches for all parts
    /// together to meet the goal.
    ///
    /// The confidence interval of all parts together is narrower than that of one part, by a factor of the square root
    /// of the number of parts. Each part runs a little more than its share, so that all parts together rarely miss the
    /// goal.
    ///
    /// - Parameters:
    ///   - goal: The goal of all parts together.
    ///   - least: The minimum number of batches of this part.
    ///   - estimate: Returns the value whose precision is compared with the goal.
    public init(
        _ goal: PrecisionGoal, shard: SimulationShard, atLeast least: Int = 0,
        estimate: @escaping @Sendable (Tally) -> Estimate?
    ) {
        self.goal = goal.share(ofParts: shard.count, minimumBatches: least)
        self.shard = shard
        self.estimate = estimate
    }

    /// True if ``tally`` is final.
    public var isFinished: Bool { isMet || (shard?.batch(at: batches) ?? batches) >= goal.maximumBatches }

    /// Adds the next batch: the batch with the number ``batches``, or in the sum of a part the part's batch at this
    /// position. Does nothing if the sum is finished.
    public mutating func add(_ next: Tally) {
        guard !isFinished else { return }
        tally.merge(next)
        batches += 1
        isMet = meetsGoal
    }

    private var meetsGoal: Bool {
        guard shard != nil else { return goal.isMet(by: estimate(tally)) }
        // A part ends with a whole block of batches, because another part runs the next block.
        return batches % SimulationShard.block == 0 && batches >= goal.minimumBatches && goal.isPrecise(estimate(tally))
    }
}

extension SplitMix64 {
    /// Creates the generator of one batch. Its numbers depend only on the seed and the index.
    ///
    /// The index is mixed by the generator itself, so that neighboring indices give unrelated numbers.
    init(seed: UInt64, batch index: Int) {
        var root = SplitMix64(seed: seed)
        var mixed = SplitMix64(seed: root.next() ^ UInt64(truncatingIfNeeded: index))
        self.init(seed: mixed.next())
    }

    /// Returns a random number in 0..<1 with 53 random bits.
    @inline(__always)
    package mutating func nextUnit() -> Double {
        Double(next() >> 11) * 0x1p-53
    }
}

/// The number of hits among trials, over one or several batches.
///
/// It stores sums of whole numbers, so merging is exact and the result does not depend on the order.
public struct ShareTally: SimulationTally, Hashable {
    public private(set) var batches: Int
    public private(set) var hits: Int
    public private(set) var trials: Int
    private var hitsSquared: Int128
    private var trialsSquared: Int128
    private var product: Int128

    /// Creates a tally without trials.
    public init() {
        (batches, hits, trials, hitsSquared, trialsSquared, product) = (0, 0, 0, 0, 0, 0)
    }

    /// Creates the tally of one batch.
    public init(hits: Int, trials: Int) {
        (batches, self.hits, self.trials) = (1, hits, trials)
        hitsSquared = Int128(hits) * Int128(hits)
        trialsSquared = Int128(trials) * Int128(trials)
        product = Int128(hits) * Int128(trials)
    }

    public mutating func merge(_ next: ShareTally) {
        batches += next.batches
        hits += next.hits
        trials += next.trials
        hitsSquared += next.hitsSquared
        trialsSquared += next.trialsSquared
        product += next.product
    }

    /// Hits over trials; nil without trials.
    public var share: Double? {
        trials > 0 ? Double(hits) / Double(trials) : nil
    }

    /// The share with its standard error; nil without trials or with fewer than two batches. The error is computed from
    /// the scatter between batches, so it is valid even if trials within a batch are correlated.
    public var estimate: Estimate? {
        guard batches > 1, let share else { return nil }
        let trialsPerBatch = Double(trials) / Double(batches)
        // The scatter of the ratio hits/trials is computed from the scatter of hits - share·trials.
        let squaredDeviations =
            Double(hitsSquared) - 2 * share * Double(product) + share * share * Double(trialsSquared)
        let scatter = (max(0, squaredDeviations) / Double(batches * (batches - 1))).squareRoot() / trialsPerBatch
        // If all trials are hits, or if there are no hits, there is no scatter, but the share is still uncertain.
        let minimumError = hits == 0 || hits == trials ? 1 / Double(trials) : 0
        return Estimate(value: share, standardError: max(scatter, minimumError), batches: batches)
    }
}

/// A simulated value with its standard error.
public struct Estimate: Hashable, Sendable {
    public let value: Double
    /// The standard error of the value, from the scatter of independent batches.
    public let standardError: Double
    /// The number of independent batches, at least 2.
    public let batches: Int

    public init(value: Double, standardError: Double, batches: Int) {
        self.value = value
        self.standardError = standardError
        self.batches = max(2, batches)
    }

    /// Half the width of the 95 % confidence interval: standard errors times Student's t.
    public var halfWidth95: Double { standardError * Self.student95(degrees: batches - 1) }

    /// The 95 % confidence interval; it may include impossible values, such as negative ones.
    public var confidence95: ClosedRange<Double> { value - halfWidth95...value + halfWidth95 }

    /// The two-sided 95 % point of Student's t.
    static func student95(degrees: Int) -> Double {
        let pointsOfFewDegrees = [12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306]
        guard degrees > pointsOfFewDegrees.count else { return pointsOfFewDegrees[max(degrees, 1) - 1] }
        // Cornish and Fisher's expansion around the normal distribution.
        let (normal, inverse) = (1.959964, 1 / Double(degrees))
        return normal + inverse * (2.372271 + inverse * (2.822500 + inverse * 2.555850))
    }
}

/// The goal at which a simulation stops: a narrow confidence interval, or the maximum number of batches.
public struct PrecisionGoal: Hashable, Sendable {
    /// The limit of half the width of the 95 % confidence interval.
    public enum Width: Hashable, Sendable {
        /// The limit in the unit of the value.
        case absolute(Double)
        /// The limit as a share of the value: 0.01 is one per cent.
        case relative(Double)
    }

    public let halfWidth: Width
    /// The simulation does not stop before this number of batches, because with fewer batches the scatter is uncertain.
    public let minimumBatches: Int
    public let maximumBatches: Int

    /// Throws for a width that is not positive, fewer than two batches, and a maximum below the minimum.
    public init(
        halfWidth: Width, minimumBatches: Int = 20, maximumBatches: Int = 100_000
    ) throws(AirtimeError) {
        let width =
            switch halfWidth {
            case .absolute(let width), .relative(let width): width
            }
        guard width > 0, width.isFinite else { throw .quantity(name: "a confidence interval's width", value: width) }
        guard minimumBatches >= 2, minimumBatches <= maximumBatches else {
            throw .quantity(name: "a number of batches", value: Double(min(minimumBatches, maximumBatches)))
        }
        self.init(halfWidth, minimumBatches, maximumBatches)
    }

    private init(_ halfWidth: Width, _ minimumBatches: Int, _ maximumBatches: Int) {
        self.halfWidth = halfWidth
        self.minimumBatches = minimumBatches
        self.maximumBatches = maximumBatches
    }

    /// Returns the goal of one of `parts` equal parts. The confidence interval of a part may be wider by a factor of
    /// 0.8 times the square root of the number of parts; the factor 0.8 leaves a reserve for chance.
    func share(ofParts parts: Int, minimumBatches least: Int) -> PrecisionGoal {
        let widening = 0.8 * Double(parts).squareRoot()
        let width: Width =
            switch halfWidth {
            case .absolute(let width): .absolute(width * widening)
            case .relative(let width): .relative(width * widening)
            }
        return PrecisionGoal(width, max(least, (minimumBatches + parts - 1) / parts), maximumBatches)
    }

    /// Returns true if the confidence interval is narrow enough, and there are at least `minimumBatches` batches.
    public func isMet(by estimate: Estimate?) -> Bool {
        guard let estimate, estimate.batches >= minimumBatches else { return false }
        return isPrecise(estimate)
    }

    /// Returns true if the confidence interval is narrow enough.
    func isPrecise(_ estimate: Estimate?) -> Bool {
        guard let estimate else { return false }
        return switch halfWidth {
        case .absolute(let width): estimate.halfWidth95 <= width
        case .relative(let width): estimate.halfWidth95 <= width * abs(estimate.value)
        }
    }
}
