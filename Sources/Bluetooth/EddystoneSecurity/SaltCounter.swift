/// Numbers the salts for the encrypted telemetry of one identity key, so that no salt is used twice in a time window.
///
/// A window is the time in which the ephemeral id stays the same, 2^K seconds. The nonce of encrypted telemetry
/// consists of the start of the window and a salt of 16 bits (github google/eddystone, eddystone-tlm/tlm-encrypted.md).
/// Two frames with the same nonce would reveal the difference of their telemetry. Random salts would repeat after about
/// 300 frames, so each salt is the previous salt plus 1. Each window starts at a new random salt. If the salts
/// continued from one window to the next, an observer could recognise the beacon in the next window.
///
/// All advertisements with one key share one counter, because their nonces have the same windows.
public struct SaltCounter: Hashable, Sendable {
    private struct Window: Hashable, Sendable {
        /// The beacon's own counter, in seconds, at the start of the window: its lowest K bits are 0.
        let start: UInt32
        /// The first salt of the window.
        let firstSalt: UInt16
        /// The number of salts used in the window, 0...65536.
        var usedSalts: Int
    }

    /// The most recent windows, the latest at the end. Earlier windows are kept because a corrected clock may return to
    /// them.
    private var windows: [Window] = []
    /// The largest number of windows that are kept.
    private static let maximumWindows = 8

    /// A counter without used salts.
    public init() {}

    /// Returns the salt of the next frame.
    ///
    /// - Parameters:
    ///   - seconds: The beacon's own counter in seconds, as for `seal(_:at:exponent:salt:)`.
    ///   - exponent: The exponent K of the beacon's ephemeral ids.
    ///   - first: The first salt of a new window; `nil` for a random salt.
    ///   - randomness: The source of the first salt of each window.
    /// - Returns: The salt; `nil` if all 65,536 salts of this window are used. In that case, encrypt no frame until the
    ///   next window starts.
    public mutating func next(
        at seconds: UInt32, exponent: RotationExponent, first: UInt16? = nil,
        using randomness: inout some RandomNumberGenerator
    ) -> UInt16? {
        let start = exponent.quantized(seconds)
        let index: Int
        if let knownIndex = windows.firstIndex(where: { $0.start == start }) {
            index = knownIndex
        } else {
            let randomSalt = UInt16.random(in: 0...UInt16.max, using: &randomness)
            windows.append(Window(start: start, firstSalt: first ?? randomSalt, usedSalts: 0))
            if windows.count > Self.maximumWindows { windows.removeFirst() }
            index = windows.count - 1
        }
        guard windows[index].usedSalts <= Int(UInt16.max) else { return nil }
        defer { windows[index].usedSalts += 1 }
        return windows[index].firstSalt &+ UInt16(truncatingIfNeeded: windows[index].usedSalts)
    }
}
