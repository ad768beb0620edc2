internal import Crypto

/// The cipher of one direction of an encrypted connection: ChaCha20-Poly1305 with a counter as nonce (Noise Protocol
/// Framework, revision 34, section 5.1).
struct NoiseCipher: Sendable {
    private let key: SymmetricKey
    /// The number of messages so far, which is the next nonce.
    private var count: UInt64 = 0

    init(_ key: [UInt8]) { self.key = SymmetricKey(data: key) }

    private mutating func nextNonce() throws -> ChaChaPoly.Nonce {
        var octets = [UInt8](repeating: 0, count: 4)
        for shift in stride(from: 0, to: 64, by: 8) { octets.append(UInt8(truncatingIfNeeded: count >> UInt64(shift))) }
        count += 1
        return try ChaChaPoly.Nonce(data: octets)
    }

    /// - Returns: The encrypted bytes, followed by their authentication tag of 16 bytes.
    mutating func encrypt(_ octets: [UInt8], authenticating other: [UInt8] = []) throws -> [UInt8] {
        let box = try ChaChaPoly.seal(octets, using: key, nonce: nextNonce(), authenticating: other)
        return Array(box.ciphertext) + Array(box.tag)
    }

    /// - Throws: An error if the sender's key differs, or a byte was changed.
    mutating func decrypt(_ octets: [UInt8], authenticating other: [UInt8] = []) throws -> [UInt8] {
        guard octets.count >= 16 else { throw CryptoKitError.incorrectParameterSize }
        let box = try ChaChaPoly.SealedBox(
            nonce: nextNonce(), ciphertext: octets.dropLast(16), tag: octets.suffix(16))
        return Array(try ChaChaPoly.open(box, using: key, authenticating: other))
    }
}

/// The responder's side of the handshake Noise_NNpsk0_25519_ChaChaPoly_SHA256 (Noise Protocol Framework, revision 34,
/// sections 5 and 9). Both sides prove that they have the shared key, and agree on a new key for each direction.
struct NoiseHandshake {
    private var chainingKey: [UInt8]
    private var hash: [UInt8]
    private var cipher = NoiseCipher([UInt8](repeating: 0, count: 32))

    init(_ key: ProxyKey, prologue: [UInt8]) {
        hash = Array(SHA256.hash(data: Array("Noise_NNpsk0_25519_ChaChaPoly_SHA256".utf8)))
        chainingKey = hash
        mix(hash: prologue)
        // The modifier psk0 of the pattern means that the shared key is mixed in before all other keys.
        let keys = derive(key.octets, 3)
        chainingKey = keys[0]
        mix(hash: keys[1])
        cipher = NoiseCipher(keys[2])
    }

    /// Answers the client's handshake message.
    ///
    /// - Returns: The answer, and the ciphers for both directions.
    /// - Throws: An error if the client has a different key.
    mutating func answer(_ message: [UInt8]) throws -> (message: [UInt8], receive: NoiseCipher, send: NoiseCipher) {
        let clientOctets = Array(message.prefix(32))
        let clientKey = try Curve25519.KeyAgreement.PublicKey(rawRepresentation: clientOctets)
        mix(hash: clientOctets)
        mix(key: clientOctets)
        let sealed = Array(message.dropFirst(32))
        _ = try cipher.decrypt(sealed, authenticating: hash)
        mix(hash: sealed)

        let privateKey = Curve25519.KeyAgreement.PrivateKey()
        let publicOctets = Array(privateKey.publicKey.rawRepresentation)
        mix(hash: publicOctets)
        mix(key: publicOctets)
        let shared = try privateKey.sharedSecretFromKeyAgreement(with: clientKey)
        mix(key: unsafe shared.withUnsafeBytes { unsafe Array($0) })
        let proof = try cipher.encrypt([], authenticating: hash)
        let keys = derive([], 2)
        return (publicOctets + proof, NoiseCipher(keys[0]), NoiseCipher(keys[1]))
    }

    private mutating func mix(hash octets: [UInt8]) { hash = Array(SHA256.hash(data: hash + octets)) }

    private mutating func mix(key octets: [UInt8]) {
        let keys = derive(octets, 2)
        chainingKey = keys[0]
        cipher = NoiseCipher(keys[1])
    }

    /// Returns `count` keys, derived from the chaining key and `octets` with HKDF (section 4.3).
    private func derive(_ octets: [UInt8], _ count: UInt8) -> [[UInt8]] {
        let extractedKey = Self.code(chainingKey, octets)
        var keys: [[UInt8]] = []
        for number in 1...count { keys.append(Self.code(extractedKey, (keys.last ?? []) + [number])) }
        return keys
    }

    private static func code(_ key: [UInt8], _ octets: [UInt8]) -> [UInt8] {
        Array(HMAC<SHA256>.authenticationCode(for: octets, using: SymmetricKey(data: key)))
    }
}
