public import BluetoothTypes
internal import Crypto
internal import Glibc

/// The 16 octets from which an Eddystone beacon makes its ephemeral ids and encrypts its telemetry.
///
/// It never shows itself: its description, its reflection and the errors of this module hold no octet of it.
///
/// All copies of a key share one place in memory, which is overwritten when the last of them goes. That is as far as
/// Swift allows: what ``octets`` has handed out, the text that a key was read from (see ``SecretOctets``) and what the
/// compiler keeps on the stack or in registers meanwhile are not overwritten.
public struct IdentityKey: Sendable {
    private let storage: Storage

    /// A copy of the key itself, for the file that keeps it. Hand it to nothing that prints.
    public var octets: FixedOctets<16> { storage.octets }

    /// A key with these octets.
    public init(_ octets: FixedOctets<16>) {
        storage = Storage(octets)
    }

    /// Reads 32 hexadecimal digits, with or without separators.
    ///
    /// - Throws: ``IdentityKeyTextError``, which does not repeat what it read.
    public init(hexadecimal text: some StringProtocol) throws(IdentityKeyTextError) {
        do throws(HexadecimalError) {
            self.init(try FixedOctets<16>(hexadecimal: text))
        } catch {
            throw IdentityKeyTextError()
        }
    }

    /// Reads the contents of a key file, 32 hexadecimal digits in UTF-8, and overwrites them, whether or not they are a
    /// key.
    ///
    /// - Parameter text: Emptied. Copies of it are not reached: let there be none.
    /// - Throws: ``IdentityKeyTextError``, which does not repeat what it read.
    public init(wiping text: inout [UInt8]) throws(IdentityKeyTextError) {
        defer { SecretOctets.wipe(&text) }
        var key = FixedOctets<16>()
        var count = 0
        for octet in text {
            // Between octets only, as everywhere.
            if count % 2 == 0, Self.separators.contains(octet) { continue }
            guard count < 32, let digit = Self.digit(octet) else { throw IdentityKeyTextError() }
            key[count / 2] = key[count / 2] << 4 | digit
            count += 1
        }
        guard count == 32 else { throw IdentityKeyTextError() }
        self.init(key)
    }

    private static let separators = Array(" \t\r\n:-".utf8)

    private static func digit(_ octet: UInt8) -> UInt8? {
        switch octet {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): octet - UInt8(ascii: "0")
        case UInt8(ascii: "a")...UInt8(ascii: "f"): octet - UInt8(ascii: "a") + 10
        case UInt8(ascii: "A")...UInt8(ascii: "F"): octet - UInt8(ascii: "A") + 10
        default: nil
        }
    }

    /// The key as the cryptography library takes it, without a copy that stays.
    var symmetricKey: SymmetricKey { storage.symmetricKey }

    @safe private final class Storage: @unchecked Sendable {
        /// Never written to between `init` and `deinit`.
        private let buffer: UnsafeMutableRawBufferPointer

        init(_ octets: FixedOctets<16>) {
            unsafe buffer = .allocate(byteCount: 16, alignment: 1)
            for index in 0..<16 { unsafe buffer[index] = octets[index] }
        }

        deinit {
            unsafe SecretOctets.wipe(buffer)
            unsafe buffer.deallocate()
        }

        var octets: FixedOctets<16> {
            var result = FixedOctets<16>()
            for index in 0..<16 { result[index] = unsafe buffer[index] }
            return result
        }

        var symmetricKey: SymmetricKey { unsafe SymmetricKey(data: UnsafeRawBufferPointer(buffer)) }
    }
}

extension IdentityKey: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    public var description: String { "identity key (hidden)" }
    public var debugDescription: String { description }
    public var customMirror: Mirror { Mirror(self, children: EmptyCollection<Mirror.Child>()) }
}

/// A text that is no identity key.
public struct IdentityKeyTextError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The one error that there is: it says how a key is written, and nothing of what was read.
    public init() {}

    public var description: String { "an identity key has 16 octets: 32 hexadecimal digits" }
}

/// Overwriting of secrets that are needed no longer.
public enum SecretOctets {
    /// Overwrites an array's octets with zeros and empties it. Copies of the array are not reached: let there be none.
    public static func wipe(_ octets: inout [UInt8]) {
        unsafe octets.withUnsafeMutableBytes { unsafe wipe($0) }
        octets = []
    }

    /// The same for memory; not taken away by the compiler as a write that nobody reads (explicit_bzero(3)).
    static func wipe(_ memory: UnsafeMutableRawBufferPointer) {
        guard let start = memory.baseAddress else { return }
        unsafe explicit_bzero(start, memory.count)
    }
}

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
