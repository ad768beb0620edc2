public import BluetoothTypes
internal import Crypto

/// How beacon and resolver come to the same identity key without sending it: X25519, then HKDF-SHA256 with both public
/// keys as salt (github google/eddystone, eddystone-eid/eid-computation.md).
extension IdentityKey {
    /// On the beacon: from its private key and the resolver's public one.
    ///
    /// - Throws: ``EddystoneSecurityError/weakPublicKey`` where the shared secret would be all zero.
    public init(
        beaconPrivateKey: FixedOctets<32>, resolverPublicKey: FixedOctets<32>
    ) throws(EddystoneSecurityError) {
        let beaconPublicKey = try Self.publicKey(of: beaconPrivateKey)
        try self.init(
            privateKey: beaconPrivateKey, publicKey: resolverPublicKey,
            salt: resolverPublicKey.octets + beaconPublicKey.octets)
    }

    /// On the resolver: from its private key and the beacon's public one.
    ///
    /// - Throws: ``EddystoneSecurityError/weakPublicKey`` where the shared secret would be all zero.
    public init(
        resolverPrivateKey: FixedOctets<32>, beaconPublicKey: FixedOctets<32>
    ) throws(EddystoneSecurityError) {
        let resolverPublicKey = try Self.publicKey(of: resolverPrivateKey)
        try self.init(
            privateKey: resolverPrivateKey, publicKey: beaconPublicKey,
            salt: resolverPublicKey.octets + beaconPublicKey.octets)
    }

    /// The X25519 public key that belongs to a private one (any 32 octets from a secure generator).
    public static func publicKey(of privateKey: FixedOctets<32>) throws(EddystoneSecurityError) -> FixedOctets<32> {
        do {
            let key = try Curve25519.KeyAgreement.PrivateKey(rawRepresentation: privateKey.octets)
            if let octets = FixedOctets<32>(Array(key.publicKey.rawRepresentation)) { return octets }
        } catch {
            throw .refused("X25519 private key")
        }
        throw .refused("X25519 public key")
    }

    private init(
        privateKey: FixedOctets<32>, publicKey: FixedOctets<32>, salt: [UInt8]
    ) throws(EddystoneSecurityError) {
        let secret: SharedSecret
        do {
            let privateKey = try Curve25519.KeyAgreement.PrivateKey(rawRepresentation: privateKey.octets)
            let publicKey = try Curve25519.KeyAgreement.PublicKey(rawRepresentation: publicKey.octets)
            secret = try privateKey.sharedSecretFromKeyAgreement(with: publicKey)
        } catch {
            // With 32 octets on both sides, the only secret that the library refuses is the one of zeros.
            throw .weakPublicKey
        }
        let isZero = unsafe secret.withUnsafeBytes { octets in unsafe octets.allSatisfy { $0 == 0 } }
        guard !isZero else { throw .weakPublicKey }
        let key = secret.hkdfDerivedSymmetricKey(
            using: SHA256.self, salt: salt, sharedInfo: [UInt8](), outputByteCount: 16)
        let derived = unsafe key.withUnsafeBytes { octets in unsafe FixedOctets<16>(octets) }
        guard let derived else { throw .refused("HKDF-SHA256") }
        self.init(derived)
    }
}
