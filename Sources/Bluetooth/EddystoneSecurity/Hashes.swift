public import BeaconFrames
public import BluetoothTypes
internal import Crypto

/// A short name for the contents of a file.
public enum Fingerprint {
    /// The first eight bytes of the SHA-256 in hexadecimal, which distinguish the versions of a file.
    public static func text(of octets: [UInt8]) -> String {
        Hexadecimal.text(SHA256.hash(data: octets).prefix(8))
    }
}

/// The SHA-256 of bytes that come piece by piece.
public struct RunningDigest: Sendable {
    private var hash = SHA256()

    /// Of nothing yet.
    public init() {}

    /// Takes the next bytes.
    public mutating func take(_ octets: [UInt8]) { hash.update(data: octets) }

    /// The digest of all bytes so far, in hexadecimal.
    public var text: String { Hexadecimal.text(hash.finalize()) }
}

extension DeviceAddress {
    /// A box's own static random address: 46 bits of SHA-256 of its machine id and a name, so that it stays the same
    /// over restarts and no two names share one.
    ///
    /// The machine id itself is confidential (machine-id(5)); a hash of it may be shown to everybody.
    public static func staticRandom(machineID: String, name: String) -> DeviceAddress {
        let digest = SHA256.hash(data: Array((machineID + "\n" + name).utf8))
        var octets = FixedOctets<6>()
        for (index, octet) in digest.prefix(6).enumerated() { octets[index] = octet }
        return .staticRandom(from: octets)
    }
}

extension EddystoneUID {
    /// The namespace that a domain name gives: the first 10 bytes of its SHA-1 (github google/eddystone,
    /// eddystone-uid/README.md).
    ///
    /// The name is hashed as it is given; in capitals it gives another namespace.
    ///
    /// - Throws: ``NamespaceError`` for an empty name and for characters that no domain name has, such as those of a
    ///   URL. Names beyond ASCII are given in their `xn--` form.
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
