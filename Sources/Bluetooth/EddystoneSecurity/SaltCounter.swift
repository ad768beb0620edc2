/// Salts for the encrypted telemetry of one identity key, none of which is used twice.
///
/// The nonce of encrypted telemetry is the start of the window that an ephemeral id lasts (2^K seconds) and a salt of 16
/// bits (github google/eddystone, eddystone-tlm/tlm-encrypted.md). Two frames with one nonce and different telemetry
/// show whoever hears both the difference of the two. Random salts meet again after some 300 frames; these are counted,
/// in each window from another random start, so that a salt does not tell which frames of two windows come from one
/// beacon.
///
/// All advertisements with one key share one counter: their nonces are made of the same windows.
public struct SaltCounter: Hashable, Sendable {
    private struct Window: Hashable, Sendable {
        /// t with its lowest K bits cleared, in seconds.
        let start: UInt32
        let first: UInt16
        /// The number of used salts, 0...65536.
        var used: Int
    }

    /// Those that a clock which is put right may come back to, the latest at the end.
    private var windows: [Window] = []
    private static let remembered = 8

    /// A counter without used salts.
    public init() {}

    /// The salt of the next frame.
    ///
    /// - Parameters:
    ///   - seconds: t, the beacon's own counter, as for `seal(_:at:exponent:salt:)`.
    ///   - exponent: K of the beacon's ephemeral ids.
    ///   - first: The first salt of a new window; `nil` for a random salt.
    ///   - randomness: For the first salt of each window.
    /// - Returns: `nil` when all 65,536 have been used in this window: nothing may be encrypted before the next one.
    public mutating func next(
        at seconds: UInt32, exponent: RotationExponent, first: UInt16? = nil,
        using randomness: inout some RandomNumberGenerator
    ) -> UInt16? {
        let start = exponent.quantized(seconds)
        let index: Int
        if let known = windows.firstIndex(where: { $0.start == start }) {
            index = known
        } else {
            let chance = UInt16.random(in: 0...UInt16.max, using: &randomness)
            windows.append(Window(start: start, first: first ?? chance, used: 0))
            if windows.count > Self.remembered { windows.removeFirst() }
            index = windows.count - 1
        }
        guard windows[index].used <= Int(UInt16.max) else { return nil }
        defer { windows[index].used += 1 }
        return windows[index].first &+ UInt16(truncatingIfNeeded: windows[index].used)
    }
}
