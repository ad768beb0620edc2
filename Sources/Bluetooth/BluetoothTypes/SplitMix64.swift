/// The random generator of simulations and tests: a seed gives the same numbers on every machine.
///
/// The algorithm is Sebastiano Vigna's SplitMix64 (public domain). Do not use it for secrets: all later numbers can be
/// computed from one number.
///
/// ```swift
/// var generator = SplitMix64(seed: 1)
/// let delay = generator.next(upTo: 10_000)  // advDelay in microseconds
/// ```
public struct SplitMix64: RandomNumberGenerator, Sendable {
    private var state: UInt64

    /// A generator at the start of the sequence of `seed`. Every seed is suitable, including zero.
    public init(seed: UInt64) {
        state = seed
    }

    /// Returns the next 64 bits of the sequence.
    public mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ mixed >> 30) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ mixed >> 27) &* 0x94D0_49BB_1331_11EB
        return mixed ^ mixed >> 31
    }

    /// Returns a random whole number of 0...`limit`. For limits below 2²⁴, the probabilities of the numbers differ by
    /// at most 2⁻⁴⁰ of their value.
    ///
    /// The standard library's `random(in:)` is not used, because another version of Swift could return other numbers
    /// for the same seed.
    public mutating func next(upTo limit: UInt32) -> Int {
        Int((UInt64(limit) + 1).multipliedFullWidth(by: next()).high)
    }
}
