internal import Crypto

/// The secret that a proxy and its clients share: 32 octets, which people write in Base64.
public struct ProxyKey: Sendable {
    let octets: [UInt8]

    /// The key that a text in Base64 says (RFC 4648, section 4): 44 characters, white space around them aside.
    ///
    /// - Returns: `nil` for any other text.
    public init?(base64 text: [UInt8]) {
        let isSpace = { (octet: UInt8) in octet == 0x20 || (0x09...0x0D).contains(octet) }
        let digits = text.drop(while: isSpace).reversed().drop(while: isSpace).reversed()
        guard digits.count == 44, digits.last == UInt8(ascii: "=") else { return nil }
        var bits: UInt32 = 0
        var octets: [UInt8] = []
        for (place, digit) in digits.dropLast().enumerated() {
            guard let value = Self.value(digit) else { return nil }
            bits = bits << 6 | value
            // Four digits are three octets; the last three are two, and two bits that are nothing.
            if place % 4 == 3 { octets += [16, 8, 0].map { UInt8(truncatingIfNeeded: bits >> $0) } }
        }
        octets += [10, 2].map { UInt8(truncatingIfNeeded: bits >> $0) }
        guard bits & 3 == 0 else { return nil }
        self.octets = octets
    }

    private static func value(_ digit: UInt8) -> UInt32? {
        switch digit {
        case UInt8(ascii: "A")...UInt8(ascii: "Z"): UInt32(digit - UInt8(ascii: "A"))
        case UInt8(ascii: "a")...UInt8(ascii: "z"): UInt32(digit - UInt8(ascii: "a")) + 26
        case UInt8(ascii: "0")...UInt8(ascii: "9"): UInt32(digit - UInt8(ascii: "0")) + 52
        case UInt8(ascii: "+"): 62
        case UInt8(ascii: "/"): 63
        default: nil
        }
    }
}

/// One direction of an encrypted connection: ChaCha20-Poly1305 under a nonce that counts (Noise Protocol Framework,
/// revision 34, section 5.1).
struct NoiseCipher: Sendable {
    private let key: SymmetricKey
    private var count: UInt64 = 0

    init(_ key: [UInt8]) { self.key = SymmetricKey(data: key) }

    private mutating func nextNonce() throws -> ChaChaPoly.Nonce {
        var octets = [UInt8](repeating: 0, count: 4)
        for shift in stride(from: 0, to: 64, by: 8) { octets.append(UInt8(truncatingIfNeeded: count >> UInt64(shift))) }
        count += 1
        return try ChaChaPoly.Nonce(data: octets)
    }

    /// - Returns: the octets encrypted, and their tag.
    mutating func encrypt(_ octets: [UInt8], authenticating other: [UInt8] = []) throws -> [UInt8] {
        let box = try ChaChaPoly.seal(octets, using: key, nonce: nextNonce(), authenticating: other)
        return Array(box.ciphertext) + Array(box.tag)
    }

    /// - Throws: where the key is another, or an octet was changed.
    mutating func decrypt(_ octets: [UInt8], authenticating other: [UInt8] = []) throws -> [UInt8] {
        guard octets.count >= 16 else { throw CryptoKitError.incorrectParameterSize }
        let box = try ChaChaPoly.SealedBox(
            nonce: nextNonce(), ciphertext: octets.dropLast(16), tag: octets.suffix(16))
        return Array(try ChaChaPoly.open(box, using: key, authenticating: other))
    }
}

/// The handshake Noise_NNpsk0_25519_ChaChaPoly_SHA256, as the one who answers (Noise Protocol Framework, revision 34,
/// sections 5 and 9): both prove that they have the key, and agree on two others.
struct NoiseHandshake {
    private var chainingKey: [UInt8]
    private var hash: [UInt8]
    private var cipher = NoiseCipher([UInt8](repeating: 0, count: 32))

    init(_ key: ProxyKey, prologue: [UInt8]) {
        hash = Array(SHA256.hash(data: Array("Noise_NNpsk0_25519_ChaChaPoly_SHA256".utf8)))
        chainingKey = hash
        mix(hash: prologue)
        // The pattern's psk0: the shared key comes before all else.
        let keys = derive(key.octets, 3)
        chainingKey = keys[0]
        mix(hash: keys[1])
        cipher = NoiseCipher(keys[2])
    }

    /// Takes the client's message, and answers it.
    ///
    /// - Returns: the answer, and the ciphers of what is received and what is sent from now on.
    /// - Throws: where the client has another key.
    mutating func answer(_ message: [UInt8]) throws -> (message: [UInt8], receive: NoiseCipher, send: NoiseCipher) {
        let theirs = Array(message.prefix(32))
        let theirKey = try Curve25519.KeyAgreement.PublicKey(rawRepresentation: theirs)
        mix(hash: theirs)
        mix(key: theirs)
        let sealed = Array(message.dropFirst(32))
        _ = try cipher.decrypt(sealed, authenticating: hash)
        mix(hash: sealed)

        let own = Curve25519.KeyAgreement.PrivateKey()
        let ours = Array(own.publicKey.rawRepresentation)
        mix(hash: ours)
        mix(key: ours)
        let shared = try own.sharedSecretFromKeyAgreement(with: theirKey)
        mix(key: unsafe shared.withUnsafeBytes { unsafe Array($0) })
        let proof = try cipher.encrypt([], authenticating: hash)
        let keys = derive([], 2)
        return (ours + proof, NoiseCipher(keys[0]), NoiseCipher(keys[1]))
    }

    private mutating func mix(hash octets: [UInt8]) { hash = Array(SHA256.hash(data: hash + octets)) }

    private mutating func mix(key octets: [UInt8]) {
        let keys = derive(octets, 2)
        chainingKey = keys[0]
        cipher = NoiseCipher(keys[1])
    }

    /// HKDF with the chaining key, as section 4.3 has it.
    private func derive(_ octets: [UInt8], _ count: UInt8) -> [[UInt8]] {
        let first = Self.code(chainingKey, octets)
        var keys: [[UInt8]] = []
        for number in 1...count { keys.append(Self.code(first, (keys.last ?? []) + [number])) }
        return keys
    }

    private static func code(_ key: [UInt8], _ octets: [UInt8]) -> [UInt8] {
        Array(HMAC<SHA256>.authenticationCode(for: octets, using: SymmetricKey(data: key)))
    }
}
