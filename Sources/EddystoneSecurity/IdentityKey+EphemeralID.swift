public import BluetoothTypes

/// Ephemeral ids: github google/eddystone, eddystone-eid/eid-computation.md.
extension IdentityKey {
    /// The beacon's counter when it is switched on for the first time, in seconds: shortly before the temporary key
    /// turns over, so that a test of a new beacon sees it happen.
    public static let firstCounter: UInt32 = 65280

    /// TK: AES of 11 zeros, FF, two zeros and the upper half of the counter. Turns over every 65536 s.
    ///
    /// - Parameter seconds: t, the beacon's own counter.
    func temporaryKey(at seconds: UInt32) throws(EddystoneSecurityError) -> FixedOctets<16> {
        var block = FixedOctets<16>()
        block[11] = 0xFF
        block[14] = UInt8(truncatingIfNeeded: seconds >> 24)
        block[15] = UInt8(truncatingIfNeeded: seconds >> 16)
        return try AESBlock(key: octets).encrypt(block)
    }

    /// The id that is sent at `seconds`: the first 8 octets of AES with the temporary key.
    ///
    /// - Parameters:
    ///   - seconds: t, the beacon's own counter, which goes on over restarts.
    ///   - exponent: K; the id stays the same for 2^K seconds.
    public func ephemeralID(
        at seconds: UInt32, exponent: RotationExponent
    ) throws(EddystoneSecurityError) -> FixedOctets<8> {
        let quantized = exponent.quantized(seconds)
        var block = FixedOctets<16>()
        block[11] = exponent.rawValue
        for index in 0..<4 {
            block[12 + index] = UInt8(truncatingIfNeeded: quantized >> UInt32(24 - 8 * index))
        }
        let encrypted = try AESBlock(key: temporaryKey(at: seconds)).encrypt(block)
        var id = FixedOctets<8>()
        for index in 0..<8 { id[index] = encrypted[index] }
        return id
    }
}
