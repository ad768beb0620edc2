public import BeaconFrames
public import BluetoothTypes
internal import Crypto
internal import CryptoExtras

/// K: an ephemeral id, and the nonce of encrypted telemetry, turn over every 2^K seconds. 0...15.
public struct RotationExponent: RawRepresentable, Hashable, Sendable {
    public let rawValue: UInt8

    /// What Eddystone allows: periods of 1 s to 32,768 s (github google/eddystone, eddystone-eid/eid-computation.md).
    public static let range = 0...15

    /// `nil` outside 0...15.
    public init?(rawValue: UInt8) {
        guard Self.range.contains(Int(rawValue)) else { return nil }
        self.rawValue = rawValue
    }

    /// - Throws: `ValueOutOfRange` outside 0...15.
    public init(_ value: Int) throws(ValueOutOfRange) {
        guard let octet = UInt8(exactly: value), let exponent = Self(rawValue: octet) else {
            throw ValueOutOfRange("rotation exponent", value, range: Self.range)
        }
        self = exponent
    }

    /// Seconds between two turn-overs.
    public var periodSeconds: UInt32 { 1 << UInt32(rawValue) }

    /// `seconds` with its lowest K bits cleared: the instant of the last turn-over.
    public func quantized(_ seconds: UInt32) -> UInt32 { seconds & ~(periodSeconds - 1) }
}

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
        return try AESBlock(key: symmetricKey).encrypt(block)
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
        let encrypted = try AESBlock(key: SymmetricKey(data: temporaryKey(at: seconds).octets)).encrypt(block)
        var id = FixedOctets<8>()
        for index in 0..<8 { id[index] = encrypted[index] }
        return id
    }
}

/// Finding out whose an ephemeral id is, which takes trying the keys of all beacons that it may come from.
extension IdentityKey {
    /// The counter at which this key's beacon turned over to `id`, if it did so in some time.
    ///
    /// Made to be asked of a million keys: the temporary key is computed once, not once an id, and no id is made whole.
    ///
    /// - Parameters:
    ///   - id: What was received.
    ///   - seconds: When it may have been sent, by the beacon's own counter; an id that was being sent at either end
    ///     counts.
    ///   - exponent: K; the id stays the same for 2^K seconds.
    /// - Returns: t with its lowest K bits cleared; `nil` where the id is none of this key's in that time.
    public func turnOver(
        to id: FixedOctets<8>, in seconds: ClosedRange<UInt32>, exponent: RotationExponent
    ) throws(EddystoneSecurityError) -> UInt32? {
        let wanted = Self.number(id)
        var counter = exponent.quantized(seconds.lowerBound)
        var upperHalf: UInt32?
        var temporaryKey = SymmetricKey(data: [UInt8]())
        var block = [UInt8](repeating: 0, count: 16)
        let ownKey = symmetricKey
        while true {
            if upperHalf != counter >> 16 {
                // What `temporaryKey(at:)` does, in arrays: a generic copy costs more than AES itself.
                Self.fill(&block, 0xFF, counter >> 16)
                do { try AES.permute(&block, key: ownKey) } catch { throw .refused("AES block") }
                temporaryKey = SymmetricKey(data: block)
                upperHalf = counter >> 16
            }
            Self.fill(&block, exponent.rawValue, counter)
            do { try AES.permute(&block, key: temporaryKey) } catch { throw .refused("AES block") }
            var found: UInt64 = 0
            for index in 0..<8 { found = found << 8 | UInt64(block[index]) }
            if found == wanted { return counter }
            let (next, isOver) = counter.addingReportingOverflow(exponent.periodSeconds)
            guard !isOver, next <= seconds.upperBound else { return nil }
            counter = next
        }
    }

    /// Eleven zeros, one octet, and a number.
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
        let eax = EAX(key: symmetricKey)
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

    /// The tag cut to its first two octets.
    private static func mic(_ tag: FixedOctets<16>) -> UInt16 { UInt16(tag[0]) << 8 | UInt16(tag[1]) }
}
