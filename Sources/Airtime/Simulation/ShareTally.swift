/// How often something happened among trials, over one batch or many.
///
/// Sums of whole numbers only: merging is exact, so any split into cores gives the same result.
public struct ShareTally: SimulationTally, Hashable {
    public private(set) var batches: Int
    public private(set) var hits: Int
    public private(set) var trials: Int
    private var hitsSquared: Int128
    private var trialsSquared: Int128
    private var product: Int128

    /// Nothing yet.
    public init() {
        (batches, hits, trials, hitsSquared, trialsSquared, product) = (0, 0, 0, 0, 0, 0)
    }

    /// One batch.
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

    /// The share with its standard error from the scatter of the batches, which holds whatever is correlated within
    /// them; nil without trials or with fewer than two batches.
    public var estimate: Estimate? {
        guard batches > 1, let share else { return nil }
        let mean = Double(trials) / Double(batches)
        // Of a ratio: the scatter of hits - share·trials.
        let squares = Double(hitsSquared) - 2 * share * Double(product) + share * share * Double(trialsSquared)
        let scatter = (max(0, squares) / Double(batches * (batches - 1))).squareRoot() / mean
        // Where all trials agree there is no scatter to see, and yet no certainty.
        let unseen = hits == 0 || hits == trials ? 1 / Double(trials) : 0
        return Estimate(value: share, standardError: max(scatter, unseen), batches: batches)
    }
}
