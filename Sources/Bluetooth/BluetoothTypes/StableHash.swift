/// A hash of 64 bits that depends only on the bytes: it is the same on every machine and in every version of Pharos.
///
/// The algorithm is FNV-1a. It is not a cryptographic hash.
public enum StableHash {
    /// Returns the hash of `octets`. A different seed gives a different hash.
    public static func of(_ octets: some Sequence<UInt8>, seed: UInt64 = 0) -> UInt64 {
        octets.reduce(seed ^ 0xCBF2_9CE4_8422_2325) { ($0 ^ UInt64($1)) &* 0x0000_0100_0000_01B3 }
    }

    /// Returns the hash of a text in UTF-8.
    public static func of(_ text: String, seed: UInt64 = 0) -> UInt64 { of(text.utf8, seed: seed) }

    /// Returns the hash of a text after one step of ``SplitMix64``, so that similar names, such as box-1 and box-2,
    /// have very different values.
    public static func scattered(_ text: String, seed: UInt64 = 0) -> UInt64 {
        var generator = SplitMix64(seed: of(text, seed: seed))
        return generator.next()
    }
}
