internal import BluetoothTypes
internal import Crypto
internal import CryptoExtras

/// Encrypts single blocks with AES-128, and computes the OMAC that EAX needs.
///
/// swift-crypto provides AES blocks and CMAC, but not EAX. Eddystone needs EAX only for 12 bytes, which is less than
/// one block.
struct AESBlock {
    private let key: SymmetricKey

    init(key: SymmetricKey) {
        self.key = key
    }

    /// Returns `block` encrypted in electronic codebook mode.
    func encrypt(_ block: FixedOctets<16>) throws(EddystoneSecurityError) -> FixedOctets<16> {
        var result = block
        do {
            // For speed, the block is encrypted in place, without an array: a listener tries all its keys for each new
            // address.
            try unsafe withUnsafeMutableBytes(of: &result) { octets in
                var buffer = unsafe octets
                try unsafe AES.permute(&buffer, key: key)
            }
        } catch {
            throw .refused("AES block")
        }
        return result
    }

    /// Returns the OMAC of a block of zeros with `tweak` as its last byte, followed by `message`. EAX uses the tweaks
    /// 0, 1 and 2.
    func omac(_ tweak: UInt8, _ message: [UInt8]) throws(EddystoneSecurityError) -> FixedOctets<16> {
        var block = FixedOctets<16>()
        block[15] = tweak
        let mac: AES.CMAC.MAC
        do {
            var state = try AES.CMAC(key: key)
            state.update(data: block.octets + message)
            mac = state.finalize()
        } catch {
            throw .refused("AES-CMAC")
        }
        guard let result = FixedOctets<16>(Array(mac)) else { throw .refused("AES-CMAC") }
        return result
    }
}

/// AES-128-EAX (Bellare, Rogaway and Wagner) with an empty header, for messages of 12 bytes.
struct EAX {
    private let cipher: AESBlock

    init(key: SymmetricKey) {
        cipher = AESBlock(key: key)
    }

    /// Encrypts or decrypts `message`. In counter mode, both are the same operation. The first block of the keystream
    /// is enough for 12 bytes.
    func crypt(_ message: FixedOctets<12>, nonce: [UInt8]) throws(EddystoneSecurityError) -> FixedOctets<12> {
        let counter = try cipher.omac(0, nonce)
        let keystream = try cipher.encrypt(counter)
        var result = message
        for index in 0..<12 { result[index] ^= keystream[index] }
        return result
    }

    /// Returns all 16 bytes of the tag of `ciphertext`. The tag includes the OMAC of the header, which is not zero
    /// although the header is empty.
    func tag(_ ciphertext: FixedOctets<12>, nonce: [UInt8]) throws(EddystoneSecurityError) -> FixedOctets<16> {
        let nonceMAC = try cipher.omac(0, nonce)
        let headerMAC = try cipher.omac(1, [])
        let messageMAC = try cipher.omac(2, ciphertext.octets)
        var tag = FixedOctets<16>()
        for index in 0..<16 { tag[index] = nonceMAC[index] ^ headerMAC[index] ^ messageMAC[index] }
        return tag
    }
}

/// The error for an invalid key, or for a failure of the cryptography library.
public enum EddystoneSecurityError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The shared secret is all zero: the public key of the other side is invalid.
    case weakPublicKey
    /// The cryptography library refused an operation, which cannot happen with keys and messages of the right size.
    case refused(String)

    public var description: String {
        switch self {
        case .weakPublicKey:
            "the public key is invalid: its shared secret is all zeros (RFC 7748 6.1)"
        case .refused(let operation):
            "the cryptography library reports an error: \(operation)"
        }
    }
}
