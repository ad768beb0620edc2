public import BluetoothTypes

extension EddystoneUID {
    /// The namespace that a version 4 UUID gives: its octets 5...10 are left out, so that only random bits are lost.
    ///
    /// `8b0ca750-e7a7-4e14-bd99-095477cb3e77` gives `8b0ca750095477cb3e77` (github google/eddystone,
    /// eddystone-uid/README.md). A namespace from a domain name is made by EddystoneSecurity.
    ///
    /// - Throws: ``NamespaceError`` for a UUID of another version, whose remaining octets would not be unique.
    public static func namespace(fromUUID uuid: FixedOctets<16>) throws(NamespaceError) -> FixedOctets<10> {
        let version = uuid[6] >> 4
        guard version == 4 else { throw .notRandom(version: version) }
        var namespace = FixedOctets<10>()
        for index in 0..<10 { namespace[index] = uuid[index < 4 ? index : index + 6] }
        return namespace
    }
}

/// Why no Eddystone-UID namespace can be derived.
public enum NamespaceError: Error, Hashable, Sendable, CustomStringConvertible {
    /// A UUID of this version, not of version 4.
    case notRandom(version: UInt8)
    /// Nothing to hash.
    case emptyDomain
    /// A character that no domain name has, with the number of characters before it.
    case notADomain(Character, offset: Int)

    public var description: String {
        switch self {
        case .notRandom(let version):
            "a namespace can be taken from a random (version 4) UUID only, and this one says version \(version)"
        case .emptyDomain:
            "the domain name is empty"
        case .notADomain(let character, let offset):
            "\"\(character)\" at character \(offset + 1) is not part of a domain name; give example.org, not a URL"
        }
    }
}
