public import BeaconFrames
public import BluetoothTypes
internal import Crypto
internal import FoundationEssentials

/// Computes short texts that identify the contents of a file, from the SHA-256 of its bytes.
public enum Fingerprint {
    /// Returns the first eight bytes of the SHA-256 in hexadecimal. Different versions of a file have different texts.
    public static func text(of octets: [UInt8]) -> String {
        Hexadecimal.text(SHA256.hash(data: octets).prefix(8))
    }

    /// Returns the source expression that allows a script or style in a Content-Security-Policy: the SHA-256 of `text`
    /// in Base64, in single quotes.
    public static func policySource(of text: String) -> String {
        "'sha256-\(Data(SHA256.hash(data: Data(text.utf8))).base64EncodedString())'"
    }
}

/// The SHA-256 of bytes that arrive in pieces.
public struct IncrementalDigest: Sendable {
    private var hash = SHA256()

    /// A digest of no bytes.
    public init() {}

    /// Adds the next bytes.
    public mutating func update(_ octets: [UInt8]) { hash.update(data: octets) }

    /// The digest of all bytes so far, in hexadecimal.
    public var text: String { Hexadecimal.text(hash.finalize()) }
}

extension DeviceAddress {
    /// Returns the static random address that a machine uses for `name`: 46 bits of the SHA-256 of its machine id and
    /// the name. The address does not change after a restart, and different names have different addresses.
    ///
    /// The machine id must stay confidential (machine-id(5)), but a hash of it may be published.
    public static func staticRandom(machineID: String, name: String) -> DeviceAddress {
        let digest = SHA256.hash(data: Array((machineID + "\n" + name).utf8))
        var addressOctets = FixedOctets<6>()
        for (index, octet) in digest.prefix(6).enumerated() { addressOctets[index] = octet }
        return .staticRandom(from: addressOctets)
    }
}

extension EddystoneUID {
    /// Returns the namespace for a domain name: the first 10 bytes of the name's SHA-1 (github google/eddystone,
    /// eddystone-uid/README.md).
    ///
    /// The name is hashed unchanged, so upper-case letters give a different namespace.
    ///
    /// - Parameter domain: A domain name in ASCII; other names must be in their `xn--` form.
    /// - Throws: ``NamespaceError`` for an empty name and for characters that are not allowed in domain names.
    public static func namespace(fromDomain domain: String) throws(NamespaceError) -> FixedOctets<10> {
        guard !domain.isEmpty else { throw .emptyDomain }
        for (offset, character) in domain.enumerated() where !isAllowed(character) {
            throw .notADomain(character, offset: offset)
        }
        var namespace = FixedOctets<10>()
        for (index, octet) in Insecure.SHA1.hash(data: Array(domain.utf8)).prefix(10).enumerated() {
            namespace[index] = octet
        }
        return namespace
    }

    private static func isAllowed(_ character: Character) -> Bool {
        character.isASCII && (character.isLetter || character.isNumber) || "-._".contains(character)
    }
}
