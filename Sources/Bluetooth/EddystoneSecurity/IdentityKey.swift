public import BeaconFrames
public import BluetoothTypes
internal import Crypto
internal import CryptoExtras
internal import Glibc

/// The 16-byte key for the ephemeral ids and the encrypted telemetry of an Eddystone beacon.
///
/// The key is never printed: its description, its reflection and the errors of this module contain no byte of it.
///
/// All copies of a key share one buffer. It is overwritten when the last copy is released. The following are not
/// overwritten: the bytes that ``octets`` returns, the text from which a key was read (see ``SecretOctets``), and
/// temporary values on the stack or in registers.
public struct IdentityKey: Sendable {
    private let storage: Storage

    /// A copy of the key's bytes for writing a key file. Do not pass it to code that prints.
    public var octets: FixedOctets<16> { storage.octets }

    /// A key with these bytes.
    public init(_ octets: FixedOctets<16>) {
        storage = Storage(octets)
    }

    /// Reads 32 hexadecimal digits, with or without separators.
    ///
    /// - Throws: ``IdentityKeyTextError``, which does not contain the text.
    public init(hexadecimal text: some StringProtocol) throws(IdentityKeyTextError) {
        do throws(HexadecimalError) {
            self.init(try FixedOctets<16>(hexadecimal: text))
        } catch {
            throw IdentityKeyTextError()
        }
    }

    /// Reads the contents of a key file: 32 hexadecimal digits in UTF-8. The contents are overwritten even if they are
    /// not a key.
    ///
    /// - Parameter text: The text, which is overwritten and emptied. Copies of it are not overwritten.
    /// - Throws: ``IdentityKeyTextError``, which does not contain the text.
    public init(wiping text: inout [UInt8]) throws(IdentityKeyTextError) {
        defer { SecretOctets.wipe(&text) }
        var key = FixedOctets<16>()
        var count = 0
        for octet in text {
            // Separators are only allowed between bytes.
            if count % 2 == 0, Hexadecimal.separators.contains(octet) { continue }
            guard count < 32, let digit = octet.hexadecimalValue else { throw IdentityKeyTextError() }
            key[count / 2] = key[count / 2] << 4 | digit
            count += 1
        }
        guard count == 32 else { throw IdentityKeyTextError() }
        self.init(key)
    }

    /// Reads a key of 16 bytes that another program exported: 32 hexadecimal digits, or 24 characters of Base64, with
    /// or without a leading `irk:`.
    ///
    /// - Parameter text: The text, which is overwritten and emptied. Copies of it are not overwritten.
    /// - Throws: ``IdentityKeyTextError``, which does not contain the text.
    public init(wipingExported text: inout [UInt8]) throws(IdentityKeyTextError) {
        defer { SecretOctets.wipe(&text) }
        var key = FixedOctets<16>()
        var (digits, count, padding, isBase64) = (UInt32(0), 0, 0, true)
        // Base64 of 16 bytes: 22 characters of 6 bits, of which the last 4 bits are 0, and two padding characters.
        for octet in Self.withoutPrefix(text) where !Self.blanks.contains(octet) {
            if octet == UInt8(ascii: "=") {
                padding += 1
                continue
            }
            guard padding == 0, count < 22, let digit = Self.base64Digit(octet) else {
                isBase64 = false
                break
            }
            digits = digits << 6 | UInt32(digit)
            count += 1
            guard count.isMultiple(of: 4) else { continue }
            for index in 0..<3 {
                key[count / 4 * 3 - 3 + index] = UInt8(truncatingIfNeeded: digits >> (16 - 8 * UInt32(index)))
            }
        }
        if isBase64, count == 22, padding == 0 || padding == 2, digits & 0xF == 0 {
            key[15] = UInt8(truncatingIfNeeded: digits >> 4)
            self.init(key)
            return
        }
        var hexadecimal = Array(Self.withoutPrefix(text))
        try self.init(wiping: &hexadecimal)
    }

    private static let blanks = Array(" \t\r\n".utf8)

    private static func withoutPrefix(_ text: [UInt8]) -> ArraySlice<UInt8> {
        let start = text.drop { blanks.contains($0) }
        return start.starts(with: Array("irk:".utf8)) ? start.dropFirst(4) : start
    }

    private static func base64Digit(_ octet: UInt8) -> UInt8? {
        switch octet {
        case UInt8(ascii: "A")...UInt8(ascii: "Z"): octet - UInt8(ascii: "A")
        case UInt8(ascii: "a")...UInt8(ascii: "z"): octet - UInt8(ascii: "a") + 26
        case UInt8(ascii: "0")...UInt8(ascii: "9"): octet - UInt8(ascii: "0") + 52
        case UInt8(ascii: "+"), UInt8(ascii: "-"): 62
        case UInt8(ascii: "/"), UInt8(ascii: "_"): 63
        default: nil
        }
    }

    /// The key for the cryptography library.
    var symmetricKey: SymmetricKey { storage.symmetricKey }

    @safe private final class Storage: @unchecked Sendable {
        /// The 16 bytes of the key. They are not changed between `init` and `deinit`, so threads can share them.
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

/// The error for a text that is not an identity key.
public struct IdentityKeyTextError: Error, Hashable, Sendable, CustomStringConvertible {
    /// Creates the error. Its description says what an identity key looks like, and contains no part of the refused
    /// text.
    public init() {}

    public var description: String { "an identity key has 16 bytes: 32 hexadecimal digits" }
}

/// Overwrites secrets that are no longer needed.
public enum SecretOctets {
    /// Overwrites an array's bytes with zeros and empties it. Copies of the array are not overwritten.
    public static func wipe(_ octets: inout [UInt8]) {
        unsafe octets.withUnsafeMutableBytes { unsafe wipe($0) }
        octets = []
    }

    /// Overwrites memory with zeros. The compiler does not remove this call as useless (explicit_bzero(3)).
    static func wipe(_ memory: UnsafeMutableRawBufferPointer) {
        guard let start = memory.baseAddress else { return }
        unsafe explicit_bzero(start, memory.count)
    }
}

/// Lets a beacon and a resolver compute the same identity key without sending it. The key results from X25519 and then
/// HKDF-SHA256, with both public keys as salt (github google/eddystone, eddystone-eid/eid-computation.md).
extension IdentityKey {
    /// Computes the identity key on the beacon, from the beacon's private key and the resolver's public key.
    ///
    /// - Throws: ``EddystoneSecurityError/weakPublicKey`` if the shared secret would be all zero.
    public init(
        beaconPrivateKey: FixedOctets<32>, resolverPublicKey: FixedOctets<32>
    ) throws(EddystoneSecurityError) {
        let beaconPublicKey = try Self.publicKey(of: beaconPrivateKey)
        try self.init(
            privateKey: beaconPrivateKey, publicKey: resolverPublicKey,
            salt: resolverPublicKey.octets + beaconPublicKey.octets)
    }

    /// Computes the identity key on the resolver, from the resolver's private key and the beacon's public key.
    ///
    /// - Throws: ``EddystoneSecurityError/weakPublicKey`` if the shared secret would be all zero.
    public init(
        resolverPrivateKey: FixedOctets<32>, beaconPublicKey: FixedOctets<32>
    ) throws(EddystoneSecurityError) {
        let resolverPublicKey = try Self.publicKey(of: resolverPrivateKey)
        try self.init(
            privateKey: resolverPrivateKey, publicKey: beaconPublicKey,
            salt: resolverPublicKey.octets + beaconPublicKey.octets)
    }

    /// Returns the X25519 public key of a private key. Any 32 bytes from a secure random generator are a private key.
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
            // With keys of 32 bytes, this error has only one cause: a shared secret of zeros.
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

/// The rotation exponent K, 0...15: an ephemeral id and the nonce of encrypted telemetry change every 2^K seconds.
public struct RotationExponent: RawRepresentable, Hashable, Sendable {
    public let rawValue: UInt8

    /// The range of Eddystone: periods of 1 s to 32,768 s (github google/eddystone, eddystone-eid/eid-computation.md).
    public static let range = 0...15

    /// An exponent from a byte; `nil` outside 0...15.
    public init?(rawValue: UInt8) {
        guard Self.range.contains(Int(rawValue)) else { return nil }
        self.rawValue = rawValue
    }

    /// An exponent from a number.
    ///
    /// - Throws: `ValueOutOfRange` outside 0...15.
    public init(_ value: Int) throws(ValueOutOfRange) {
        guard let octet = UInt8(exactly: value), let exponent = Self(rawValue: octet) else {
            throw ValueOutOfRange("rotation exponent", value, range: Self.range)
        }
        self = exponent
    }

    /// The time between two changes of the ephemeral id, 2^K seconds.
    public var periodSeconds: UInt32 { 1 << UInt32(rawValue) }

    /// Returns `seconds` with its lowest K bits cleared: the time of the last change of the ephemeral id.
    public func quantized(_ seconds: UInt32) -> UInt32 { seconds & ~(periodSeconds - 1) }
}

/// Computes ephemeral ids: github google/eddystone, eddystone-eid/eid-computation.md.
extension IdentityKey {
    /// The first value of a new beacon's own counter, in seconds. The temporary key changes 256 s later, so even a
    /// short test of a new beacon includes this change.
    public static let firstCounter: UInt32 = 65280

    /// Returns the temporary key (TK): the AES encryption of 11 zero bytes, 0xFF, two zero bytes and the upper half of
    /// the counter. It changes every 65,536 s.
    ///
    /// - Parameter seconds: The beacon's own counter in seconds (t in the specification).
    private func temporaryKey(at seconds: UInt32) throws(EddystoneSecurityError) -> FixedOctets<16> {
        var block = FixedOctets<16>()
        block[11] = 0xFF
        block[14] = UInt8(truncatingIfNeeded: seconds >> 24)
        block[15] = UInt8(truncatingIfNeeded: seconds >> 16)
        return try AESBlock(key: symmetricKey).encrypt(block)
    }

    /// Returns the ephemeral id at `seconds`: the first 8 bytes of an AES encryption with the temporary key.
    ///
    /// - Parameters:
    ///   - seconds: The beacon's own counter in seconds (t in the specification). It does not start again when the
    ///     beacon restarts.
    ///   - exponent: The exponent K; the id stays the same for 2^K seconds.
    public func ephemeralID(
        at seconds: UInt32, exponent: RotationExponent
    ) throws(EddystoneSecurityError) -> FixedOctets<8> {
        let quantized = exponent.quantized(seconds)
        var block = FixedOctets<16>()
        block[11] = exponent.rawValue
        for index in 0..<4 {
            block[12 + index] = UInt8(truncatingIfNeeded: quantized >> UInt32(24 - 8 * index))
        }
        let encrypted = try AESBlock(key: SymmetricKey(data: temporaryKey(at: seconds).octets)).encrypt(block)
        var id = FixedOctets<8>()
        for index in 0..<8 { id[index] = encrypted[index] }
        return id
    }
}

/// Finds out if an ephemeral id belongs to a key. A resolver must try the keys of all its beacons.
extension IdentityKey {
    /// Returns the value that the beacon's own counter had when a beacon with this key started to send `id`.
    ///
    /// For speed, the temporary key is computed only once for each 65,536 s: a resolver calls this function for many
    /// keys.
    ///
    /// - Parameters:
    ///   - id: The received id.
    ///   - seconds: The possible values of the beacon's own counter at the time when it sent `id`.
    ///   - exponent: The exponent K; the id stays the same for 2^K seconds.
    /// - Returns: The counter with its lowest K bits cleared; `nil` if the key does not give this id at any of
    ///   `seconds`.
    public func startCounter(
        of id: FixedOctets<8>, in seconds: ClosedRange<UInt32>, exponent: RotationExponent
    ) throws(EddystoneSecurityError) -> UInt32? {
        let receivedID = Self.number(id)
        var counter = exponent.quantized(seconds.lowerBound)
        var upperHalf: UInt32?
        var temporaryKey = SymmetricKey(data: [UInt8]())
        var block = [UInt8](repeating: 0, count: 16)
        let identityKey = symmetricKey
        while true {
            if upperHalf != counter >> 16 {
                // The same computation as `temporaryKey(at:)`, but with arrays: copying generic `FixedOctets` takes
                // longer than AES itself.
                Self.fill(&block, 0xFF, counter >> 16)
                do { try AES.permute(&block, key: identityKey) } catch { throw .refused("AES block") }
                temporaryKey = SymmetricKey(data: block)
                upperHalf = counter >> 16
            }
            Self.fill(&block, exponent.rawValue, counter)
            do { try AES.permute(&block, key: temporaryKey) } catch { throw .refused("AES block") }
            var computedID: UInt64 = 0
            for index in 0..<8 { computedID = computedID << 8 | UInt64(block[index]) }
            if computedID == receivedID { return counter }
            let (nextCounter, overflows) = counter.addingReportingOverflow(exponent.periodSeconds)
            guard !overflows, nextCounter <= seconds.upperBound else { return nil }
            counter = nextCounter
        }
    }

    /// Fills a block with eleven zeros, one byte, and a 32-bit number, most significant byte first.
    private static func fill(_ block: inout [UInt8], _ octet: UInt8, _ number: UInt32) {
        for index in 0..<11 { block[index] = 0 }
        block[11] = octet
        for index in 0..<4 { block[12 + index] = UInt8(truncatingIfNeeded: number >> UInt32(24 - 8 * index)) }
    }

    private static func number(_ id: FixedOctets<8>) -> UInt64 {
        var number: UInt64 = 0
        for index in 0..<8 { number = number << 8 | UInt64(id[index]) }
        return number
    }
}

/// Encrypts and decrypts telemetry: github google/eddystone, eddystone-tlm/tlm-encrypted.md.
extension IdentityKey {
    /// Encrypts `telemetry`.
    ///
    /// - Parameters:
    ///   - telemetry: The telemetry to send.
    ///   - seconds: The beacon's own counter in seconds (t in the specification).
    ///   - exponent: The exponent K of the beacon's ephemeral ids.
    ///   - salt: A number that must not be used twice with this key while the ephemeral id stays the same: see
    ///     ``SaltCounter``.
    public func seal(
        _ telemetry: EddystoneTLM, at seconds: UInt32, exponent: RotationExponent, salt: UInt16
    ) throws(EddystoneSecurityError) -> EddystoneEncryptedTLM {
        let eax = EAX(key: symmetricKey)
        let nonce = Self.nonce(seconds: seconds, exponent: exponent, salt: salt)
        let encrypted = try eax.crypt(telemetry.telemetry, nonce: nonce)
        let tag = try eax.tag(encrypted, nonce: nonce)
        return EddystoneEncryptedTLM(encrypted: encrypted, salt: salt, mic: Self.mic(tag))
    }

    /// Decrypts a received frame. The result is `nil` if the message integrity check fails: the key, the time or the
    /// exponent is wrong, or the frame was changed.
    ///
    /// - Parameters:
    ///   - frame: The received frame.
    ///   - seconds: The value of the beacon's own counter when the frame was sent, in seconds.
    ///   - exponent: The exponent K of the beacon's ephemeral ids.
    public func open(
        _ frame: EddystoneEncryptedTLM, at seconds: UInt32, exponent: RotationExponent
    ) throws(EddystoneSecurityError) -> EddystoneTLM? {
        let eax = EAX(key: symmetricKey)
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

    /// Returns the message integrity check: the first two bytes of the tag.
    private static func mic(_ tag: FixedOctets<16>) -> UInt16 { UInt16(tag[0]) << 8 | UInt16(tag[1]) }
}

/// The identity resolving key (IRK) of a phone or watch, which derives its resolvable private addresses from it. A
/// receiver that has the key recognises the device after each change of its address.
///
/// Some programs export a key with the most significant byte first, the order of the specification. Others export it
/// with the least significant byte first, the order of transmission. This type therefore tries both orders.
///
/// Like an ``IdentityKey``, the key is never printed.
public struct IdentityResolvingKey: Sendable {
    /// The order of the bytes of an exported key.
    public enum ByteOrder: String, Hashable, Sendable {
        case mostSignificantFirst = "most-significant-first"
        case leastSignificantFirst = "least-significant-first"
    }

    /// The cipher with the key's bytes in the order of the exported key.
    private let cipher: AESBlock
    /// The cipher with the key's bytes in reverse order.
    private let reversedCipher: AESBlock

    /// A resolving key with the 16 bytes of `key`, in either order.
    public init(_ key: IdentityKey) {
        cipher = AESBlock(key: key.symmetricKey)
        reversedCipher = AESBlock(key: IdentityKey(key.octets.reversed).symmetricKey)
    }

    /// Returns true if `address` was derived from this key in one of the two byte orders.
    public func resolves(_ address: DeviceAddress) -> Bool { byteOrder(provenBy: address) != nil }

    /// Returns the order of the key's bytes if `address` was derived from this key; `nil` if it was not. The lower half
    /// of a resolvable private address is the hash `ah` of its upper half (Core Specification 5.4, Vol 6 Part B 1.3.2.3
    /// and Vol 3 Part H 2.2.2). An address that was derived from another key is accepted with a probability of 2 in
    /// 16,777,216.
    public func byteOrder(provenBy address: DeviceAddress) -> ByteOrder? {
        guard address.randomKind == .resolvablePrivate else { return nil }
        if Self.resolves(address, cipher) { return .mostSignificantFirst }
        return Self.resolves(address, reversedCipher) ? .leastSignificantFirst : nil
    }

    /// Returns a resolvable private address that is derived from the key's bytes in the order of the exported key.
    ///
    /// - Parameter random: The random upper half of the address; its two highest bits are replaced.
    public func address(from random: FixedOctets<3>) throws(EddystoneSecurityError) -> DeviceAddress {
        var octets = FixedOctets<6>()
        for index in 0..<3 { octets[index] = random[index] }
        octets[0] = octets[0] & 0x3F | 0x40
        var input = FixedOctets<16>()
        for index in 0..<3 { input[13 + index] = octets[index] }
        let hash = try cipher.encrypt(input)
        for index in 0..<3 { octets[3 + index] = hash[13 + index] }
        return DeviceAddress(octets)
    }

    private static func resolves(_ address: DeviceAddress, _ cipher: AESBlock) -> Bool {
        var input = FixedOctets<16>()
        for index in 0..<3 { input[13 + index] = address.octets[index] }
        guard let hash = try? cipher.encrypt(input) else { return false }
        return hash[13] == address.octets[3] && hash[14] == address.octets[4] && hash[15] == address.octets[5]
    }
}
