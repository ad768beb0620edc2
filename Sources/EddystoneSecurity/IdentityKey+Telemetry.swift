public import BeaconFrames
internal import BluetoothTypes

/// Encrypted telemetry: github google/eddystone, eddystone-tlm/tlm-encrypted.md.
extension IdentityKey {
    /// Encrypts `telemetry`.
    ///
    /// - Parameters:
    ///   - telemetry: What to send.
    ///   - seconds: t, the beacon's own counter.
    ///   - exponent: K of the beacon's ephemeral ids.
    ///   - salt: A number that must not be used twice with this key while an ephemeral id lasts: see ``SaltCounter``.
    public func seal(
        _ telemetry: EddystoneTLM, at seconds: UInt32, exponent: RotationExponent, salt: UInt16
    ) throws(EddystoneSecurityError) -> EddystoneEncryptedTLM {
        let eax = EAX(key: octets)
        let nonce = Self.nonce(seconds: seconds, exponent: exponent, salt: salt)
        let encrypted = try eax.crypt(telemetry.telemetry, nonce: nonce)
        let tag = try eax.tag(encrypted, nonce: nonce)
        return EddystoneEncryptedTLM(encrypted: encrypted, salt: salt, mic: Self.mic(tag))
    }

    /// Decrypts a received frame; `nil` where its message integrity check does not hold, because key, time or exponent
    /// are others or because the frame was altered.
    ///
    /// - Parameters:
    ///   - frame: What was received.
    ///   - seconds: The beacon's counter t when the frame was sent.
    ///   - exponent: K of the beacon's ephemeral ids.
    public func open(
        _ frame: EddystoneEncryptedTLM, at seconds: UInt32, exponent: RotationExponent
    ) throws(EddystoneSecurityError) -> EddystoneTLM? {
        let eax = EAX(key: octets)
        let nonce = Self.nonce(seconds: seconds, exponent: exponent, salt: frame.salt)
        let tag = try eax.tag(frame.encrypted, nonce: nonce)
        guard Self.mic(tag) == frame.mic else { return nil }
        return try EddystoneTLM(telemetry: eax.crypt(frame.encrypted, nonce: nonce))
    }

    private static func nonce(seconds: UInt32, exponent: RotationExponent, salt: UInt16) -> [UInt8] {
        var nonce: [UInt8] = []
        nonce.append(bigEndian: exponent.quantized(seconds))
        nonce.append(bigEndian: salt)
        return nonce
    }

    /// The tag cut to its first two octets.
    private static func mic(_ tag: FixedOctets<16>) -> UInt16 { UInt16(tag[0]) << 8 | UInt16(tag[1]) }
}
