/// Salts for the encrypted telemetry of one identity key. No salt is used twice in a window.
///
/// The nonce of encrypted telemetry consists of the start of the window of an ephemeral id (2^K seconds) and a salt of
/// 16 bits (github google/eddystone, eddystone-tlm/tlm-encrypted.md). Two frames with one nonce would reveal the
/// difference of their telemetry. Random salts repeat after about 300 frames, so these salts are counted. Each window
/// starts at another random salt, so salts do not reveal which frames of two windows come from one beacon.
///
/// All advertisements with one key share one counter, because their nonces have the same windows.
public struct SaltCounter: Hashable, Sendable {
    private struct Window: Hashable, Sendable {
        /// The start of the window in seconds: t with its lowest K bits cleared.
        let start: UInt32
        let first: UInt16
        /// The number of used salts, 0...65536.
        var used: Int
    }

    /// The last windows, the latest at the end: a corrected clock may return to an earlier window.
    private var windows: [Window] = []
    /// The largest number of windows that are kept.
    private static let remembered = 8

    /// A counter without used salts.
    public init() {}

    /// The salt of the next frame.
    ///
    /// - Parameters:
    ///   - seconds: t, the beacon's own counter, as for `seal(_:at:exponent:salt:)`.
    ///   - exponent: K of the beacon's ephemeral ids.
    ///   - first: The first salt of a new window; `nil` for a random salt.
    ///   - randomness: The source of the first salt of each window.
    /// - Returns: The salt; `nil` if all 65,536 salts of this window are used. Then nothing may be encrypted before the
    ///   next window.
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
