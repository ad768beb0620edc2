import BluetoothTypes

/// N equal advertisers on one channel, played event by event: the share of packets that overlap with no other.
///
/// Checks `(1 - 2·tau/E)^(N-1)` without sharing anything with it. A batch is a stretch of time that begins in the
/// stationary state and has its own generator, so batches are independent of each other and may run in any order, on
/// any core; their means, not the packets, give the confidence interval, because losses come in runs.
public struct CollisionSimulation: BatchedSimulation {
    /// The largest fleet: 4 octets of memory for each.
    public static let maximumCount = 10_000_000

    public let group: AdvertiserGroup
    public let seed: UInt64
    private let bucketCount: Int
    /// The stretches of one interval (rounded down to whole airtimes) that a batch counts.
    public let blocksPerBatch: Int

    /// Refuses fewer than one and more than ten million advertisers, and intervals beyond 130,000 airtimes.
    ///
    /// - Parameter batchWork: how many advertisers and airtimes a batch passes, 1...2³⁰; 4 million take some
    ///   milliseconds.
    public init(_ group: AdvertiserGroup, seed: UInt64, batchWork: Int = 1 << 22) throws(AirtimeError) {
        guard (1...Self.maximumCount).contains(group.count) else { throw .count(group.count) }
        guard let bucketCount = CollisionTimeline.bucketCount(group) else {
            throw .interval(group.intervalMicroseconds)
        }
        guard (1...1 << 30).contains(batchWork) else {
            throw .quantity(name: "a batch's work", value: Double(batchWork))
        }
        self.group = group
        self.seed = seed
        self.bucketCount = bucketCount
        blocksPerBatch = max(1, batchWork / (bucketCount + group.count))
    }

    /// Some million packets, or fewer of a fleet that is sparse: trials are packets, hits those that were clear.
    public func batch(_ index: Int) -> ShareTally {
        var seeds = SplitMix64(seed: seed, batch: index)
        let timeline = CollisionTimeline(group, bucketCount: bucketCount)
        let (started, clear) = timeline.pass(blocks: blocksPerBatch, seeds: &seeds)
        return ShareTally(hits: clear, trials: started)
    }
}
