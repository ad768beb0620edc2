public import BeaconFrames
public import BluetoothTypes
internal import Crypto

extension EddystoneUID {
    /// The namespace that a domain name gives: the first 10 octets of its SHA-1 (github google/eddystone,
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
