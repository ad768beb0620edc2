public import BluetoothTypes
internal import Crypto

/// The 16 octets from which an Eddystone beacon makes its ephemeral ids and encrypts its telemetry.
///
/// It never shows itself: its description, its reflection and the errors of this module hold no octet of it.
public struct IdentityKey: Sendable {
    /// The key itself, for the file that keeps it. Hand it to nothing that prints.
    public let octets: FixedOctets<16>

    public init(_ octets: FixedOctets<16>) {
        self.octets = octets
    }

    /// Reads 32 hexadecimal digits, with or without separators.
    ///
    /// - Throws: ``IdentityKeyTextError``, which does not repeat what it read.
    public init(hexadecimal text: some StringProtocol) throws(IdentityKeyTextError) {
        do throws(HexadecimalError) {
            octets = try FixedOctets<16>(hexadecimal: text)
        } catch {
            throw IdentityKeyTextError()
        }
    }
}

extension IdentityKey: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    public var description: String { "identity key (hidden)" }
    public var debugDescription: String { description }
    public var customMirror: Mirror { Mirror(self, children: EmptyCollection<Mirror.Child>()) }
}

/// A text that is no identity key.
public struct IdentityKeyTextError: Error, Hashable, Sendable, CustomStringConvertible {
    public init() {}

    public var description: String { "an identity key has 16 octets: 32 hexadecimal digits" }
}

/// K: an ephemeral id, and the nonce of encrypted telemetry, turn over every 2^K seconds. 0...15.
public struct RotationExponent: RawRepresentable, Hashable, Sendable {
    public let rawValue: UInt8

    public static let range = 0...15

    /// `nil` outside 0...15.
    public init?(rawValue: UInt8) {
        guard Self.range.contains(Int(rawValue)) else { return nil }
        self.rawValue = rawValue
    }

    /// - Throws: ``ValueOutOfRange`` outside 0...15.
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

/// What went wrong in this module.
public enum EddystoneSecurityError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The shared secret is all zero: the other side's public key is one of the few that must not be used.
    case weakPublicKey
    /// The cryptography library refused an operation that cannot fail with the sizes used here.
    case refused(String)

    public var description: String {
        switch self {
        case .weakPublicKey:
            "the public key gives a shared secret of zeros and must not be used (RFC 7748 6.1)"
        case .refused(let operation):
            "the cryptography library refused: \(operation)"
        }
    }
}
