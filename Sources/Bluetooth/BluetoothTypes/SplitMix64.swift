/// The random generator of simulations and tests: a seed gives the same numbers on every machine.
///
/// Sebastiano Vigna's SplitMix64 (public domain). Not for secrets: one number reveals all numbers that follow.
///
/// ```swift
/// var generator = SplitMix64(seed: 1)
/// let delay = generator.next(upTo: 10_000)  // advDelay in microseconds
/// ```
public struct SplitMix64: RandomNumberGenerator, Sendable {
    private var state: UInt64

    /// A generator at the start of the sequence that `seed` names; every seed, zero too, is a good one.
    public init(seed: UInt64) {
        state = seed
    }

    /// The next 64 bits of the sequence.
    public mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ mixed >> 30) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ mixed >> 27) &* 0x94D0_49BB_1331_11EB
        return mixed ^ mixed >> 31
    }

    /// A number of 0...`limit`, evenly spread to within 2⁻⁴⁰ for limits below 2²⁴.
    ///
    /// Our own multiplication instead of the standard library's `random(in:)`, so that a seed keeps its meaning from
    /// one toolchain to the next.
    public mutating func next(upTo limit: UInt32) -> Int {
        Int((UInt64(limit) + 1).multipliedFullWidth(by: next()).high)
    }
}
