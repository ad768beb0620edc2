internal import BluetoothTypes

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

/// The buckets of a `CollisionTimeline`, two carried over and then those of the block, while they are worked on.
///
/// Memory safety rests on the timeline: it allocates a slot for every start that can occur, and one vector more than
/// the slots that are looked at.
@unsafe struct CollisionSlots {
    private let earliest: UnsafeMutableRawBufferPointer
    private let latest: UnsafeMutableRawBufferPointer
    private let airtimeBits: Int32

    init(earliest: UnsafeMutableRawBufferPointer, latest: UnsafeMutableRawBufferPointer, airtimeBits: Int32) {
        unsafe (self.earliest, self.latest) = (earliest, latest)
        unsafe self.airtimeBits = airtimeBits
    }

    /// Enters the first `count` starts into their buckets.
    @inline(__always)
    func enter(_ starts: UnsafeMutableRawBufferPointer, count: Int) {
        let starts = unsafe starts.assumingMemoryBound(to: Int32.self)
        let earliest = unsafe earliest.assumingMemoryBound(to: Int32.self)
        let latest = unsafe latest.assumingMemoryBound(to: Int32.self)
        for index in 0..<count {
            let start = unsafe starts[index]
            let slot = unsafe Int(start &>> airtimeBits) &+ CollisionTimeline.carried
            unsafe earliest[slot] = min(earliest[slot], start)
            // At least one more than what stood there, so that equal starts are not taken for one.
            unsafe latest[slot] = max(latest[slot] &+ 1, start)
        }
    }

    /// The clear packets of the second carried bucket and of all the block's buckets but the last.
    @inline(__always)
    func clear(_ bucketCount: Int) -> Int {
        var clear = SIMD16<UInt32>()
        let airtime = unsafe SIMD16(repeating: Int32(1) << airtimeBits)
        let size = MemoryLayout<Int32>.size
        let lanes = SIMD16<Int32>(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15)
        var left = bucketCount
        while left > 0 {
            let here = (bucketCount - left + 1) * size
            let first = unsafe earliest.loadUnaligned(fromByteOffset: here, as: SIMD16<Int32>.self)
            let behind = unsafe earliest.loadUnaligned(fromByteOffset: here + size, as: SIMD16<Int32>.self)
            let last = unsafe latest.loadUnaligned(fromByteOffset: here, as: SIMD16<Int32>.self)
            let before = unsafe latest.loadUnaligned(fromByteOffset: here - size, as: SIMD16<Int32>.self)
            // Each difference is negative where its condition fails; so is the first of an empty bucket.
            let fails = (first &- last) | (first &- airtime &- before) | (behind &- airtime &- last)
            let isInside = (lanes &- Int32(truncatingIfNeeded: left)) &>> 31
            clear &+= SIMD16(truncatingIfNeeded: ~fails & isInside) &>> 31
            left -= CollisionTimeline.lanes
        }
        return Int(clear.wrappedSum())
    }

    /// Makes the block's last two buckets those before the next block, and empties all others.
    @inline(__always)
    func carryOver(_ bucketCount: Int, block: Int32) {
        let none = CollisionTimeline.noStart
        let earliest = unsafe earliest.assumingMemoryBound(to: Int32.self)
        let latest = unsafe latest.assumingMemoryBound(to: Int32.self)
        let own = CollisionTimeline.carried..<bucketCount + CollisionTimeline.carried
        for slot in 0..<CollisionTimeline.carried {
            let (first, last) = unsafe (earliest[bucketCount + slot], latest[bucketCount + slot])
            unsafe earliest[slot] = first == none ? first : first &- block
            unsafe latest[slot] = last == -none ? last : last &- block
        }
        for slot in own { unsafe earliest[slot] = none }
        for slot in own { unsafe latest[slot] = -none }
    }
}
