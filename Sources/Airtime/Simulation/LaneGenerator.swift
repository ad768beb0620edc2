import BluetoothTypes

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
