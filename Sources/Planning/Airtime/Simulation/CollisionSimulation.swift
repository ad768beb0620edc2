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

/// One channel under N equal advertisers, block after block, without sorting.
///
/// Time is cut into buckets of one airtime, and a bucket keeps only its earliest and latest start. Two packets of one
/// bucket always overlap, and packets two buckets apart never do; so a packet is clear when it is alone in its bucket,
/// and the latest of the bucket before and the earliest of the bucket behind are at least one airtime away.
///
/// A block is the largest number of buckets that fits into T, so an advertiser starts at most one packet in it. The
/// unit of time is the airtime over a power of two, 2¹² to 2²⁰, and all times are counted from the block's beginning,
/// so that they fit into 32 bits.
struct CollisionTimeline {
    /// Stands for "no start" in a bucket: its distance to every time exceeds an airtime and still fits into 32 bits.
    static let noStart: Int32 = 1 << 30
    static let lanes = SIMD16<Int32>.scalarCount
    /// The last two buckets of the block before stand in front of a block's own, so that they have their neighbors.
    static let carried = 2

    let advertisers: Int
    let bucketCount: Int
    let airtimeBits: Int32
    let interval: Int32
    let block: Int32
    private let delay: LaneScale
    private let longest: Double
    private let shortest: Double

    /// The buckets of a block; nil for an interval that does not fit into the unit of time.
    static func bucketCount(_ group: AdvertiserGroup) -> Int? {
        let airtime = group.airtimeMicroseconds
        let longest = (group.intervalMicroseconds * 2 + AdvertisingDelay.maximumMicroseconds) / airtime
        guard longest < 0x1p18 else { return nil }
        return max(1, Int(group.intervalMicroseconds / airtime))
    }

    init(_ group: AdvertiserGroup, bucketCount: Int) {
        shortest = group.intervalMicroseconds / group.airtimeMicroseconds
        let delay = AdvertisingDelay.maximumMicroseconds / group.airtimeMicroseconds
        longest = shortest + delay
        var bits: Int32 = 20
        while bits > 0, (shortest + longest) * Double(1 << bits) >= Double(Self.noStart) { bits -= 1 }
        advertisers = group.count
        self.bucketCount = bucketCount
        airtimeBits = bits
        interval = Int32(shortest * Double(1 << bits))
        block = Int32(bucketCount) << bits
        self.delay = LaneScale(limit: delay * Double(1 << bits))
    }

    /// Lets `blocks` blocks pass, from the stationary state on, after a first one that has nothing before it.
    ///
    /// - Returns: how many packets started in the blocks, and how many were clear in the stretch of the same length
    ///   that ends one bucket earlier: the last bucket of a block waits for its neighbor.
    func pass(blocks: Int, seeds: inout SplitMix64) -> (started: Int, clear: Int) {
        var next = starts(&seeds)
        var draws = LaneGenerator(seededBy: &seeds)
        // Starts that are not due in a block fall beyond its buckets, where nobody looks.
        let count = Int(longest) + 1 + Self.carried + Self.lanes
        var earliest = [Int32](repeating: Self.noStart, count: count)
        var latest = [Int32](repeating: -Self.noStart, count: count)
        var (started, clear) = (0, 0)
        unsafe next.withUnsafeMutableBytes { next in
            unsafe earliest.withUnsafeMutableBytes { earliest in
                unsafe latest.withUnsafeMutableBytes { latest in
                    let slots = unsafe CollisionSlots(earliest: earliest, latest: latest, airtimeBits: airtimeBits)
                    for number in 0...max(0, blocks) {
                        unsafe slots.enter(next, count: advertisers)
                        let due = unsafe advance(next, &draws)
                        let alone = unsafe slots.clear(bucketCount)
                        unsafe slots.carryOver(bucketCount, block: block)
                        if number > 0 { (started, clear) = (started + due, clear + alone) }
                    }
                }
            }
        }
        return (started, clear)
    }

    /// When each advertiser starts its first packet in the stationary state: whole vectors, of which nobody owns the
    /// spare numbers.
    private func starts(_ seeds: inout SplitMix64) -> [Int32] {
        var starts = [Int32](repeating: block, count: (advertisers + Self.lanes - 1) / Self.lanes * Self.lanes)
        for index in 0..<advertisers {
            // A random instant falls into a period in proportion to its length, and anywhere within it.
            let square = shortest * shortest + seeds.nextUnit() * (longest * longest - shortest * shortest)
            starts[index] = Int32(square.squareRoot() * seeds.nextUnit() * Double(Int32(1) << airtimeBits))
        }
        return starts
    }

    /// Draws the next start of all whose packet lies in this block, and counts them.
    @inline(__always)
    private func advance(_ next: UnsafeMutableRawBufferPointer, _ draws: inout LaneGenerator) -> Int {
        var due = SIMD16<Int32>()
        for offset in stride(from: 0, to: next.count, by: MemoryLayout<SIMD16<Int32>>.size) {
            let start = unsafe next.loadUnaligned(fromByteOffset: offset, as: SIMD16<Int32>.self)
            let isDue = (start &- block) &>> 31
            due &-= isDue
            let later = start &+ (isDue & (delay(draws.next()) &+ interval)) &- block
            unsafe next.storeBytes(of: later, toByteOffset: offset, as: SIMD16<Int32>.self)
        }
        let all = unsafe next.assumingMemoryBound(to: Int32.self)
        for spare in advertisers..<all.count { unsafe all[spare] = block }
        return Int(due.wrappedSum())
    }
}

/// Eight generators side by side that draw sixteen numbers, so that one instruction serves several advertisers.
///
/// Sebastiano Vigna's xorshift128+ (public domain): of the fast generators one that rotates nothing, because most
/// processors shift several numbers at once but rotate one.
struct LaneGenerator {
    private var first: SIMD8<UInt64>
    private var second: SIMD8<UInt64>

    init(seededBy seeds: inout SplitMix64) {
        (first, second) = (SIMD8(), SIMD8())
        for lane in first.indices {
            first[lane] = seeds.next()
            // A lane of zeros only would stay zero for ever.
            second[lane] = seeds.next() | 1
        }
    }

    /// Sixteen evenly spread numbers of 1..<2, in steps of 2⁻²³.
    @inline(__always)
    mutating func next() -> SIMD16<Float> {
        let mixed = first ^ first &<< 23
        first = second
        second = mixed ^ second ^ mixed &>> 18 ^ second &>> 5
        let halves = unsafe unsafeBitCast(first &+ second, to: SIMD16<UInt32>.self)
        // The upper bits of each half go behind the binary point of a number that begins with one.
        return unsafe unsafeBitCast(halves &>> 9 | 0x3F80_0000, to: SIMD16<Float>.self)
    }
}

/// Whole numbers of 0...`limit`, evenly spread and sixteen at a time.
///
/// Adding a power of two that leaves no bits behind the binary point turns a floating-point number into an integer in
/// its lowest bits: the only conversion that runs on sixteen numbers at once on every processor.
struct LaneScale {
    private let factor: Float
    private let offset: Float
    private let shift: UInt32

    /// `limit` is below 2³⁰; beyond 2²³ the numbers come in steps, of which there are always more than 2²².
    init(limit: Double) {
        var shift: UInt32 = 0
        while limit >= Double(1 << (23 + shift)) { shift += 1 }
        factor = Float(limit)
        offset = Float(1 << (23 + shift))
        self.shift = shift
    }

    @inline(__always)
    func callAsFunction(_ units: SIMD16<Float>) -> SIMD16<Int32> {
        let shifted = (units - 1) * factor + offset
        let bits = unsafe unsafeBitCast(shifted, to: SIMD16<UInt32>.self) &- offset.bitPattern
        return SIMD16(truncatingIfNeeded: bits &<< shift)
    }
}
