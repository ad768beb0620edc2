internal import BluetoothTypes

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
