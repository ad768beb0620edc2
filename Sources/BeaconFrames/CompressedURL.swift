internal import BluetoothTypes

/// A URL as Eddystone-URL sends it: a scheme octet and 1...17 octets of text and expansion codes, stored in place.
///
/// github google/eddystone, eddystone-url/README.md.
public struct CompressedURL: Hashable, Sendable {
    /// 0...3; anything when received.
    public let scheme: UInt8
    private let storage: FixedOctets<17>
    private let length: UInt8
    /// Octets after the scheme, 0...17 (0 only when received).
    public var count: Int { Int(length) }

    /// The most octets after the scheme.
    public static let limit = 17

    /// Octets as received; `nil` when `range` is over 17 octets or leaves the span.
    public init?(scheme: UInt8, encoded span: Span<UInt8>, range: Range<Int>) {
        guard range.lowerBound >= 0, range.upperBound <= span.count else { return nil }
        self.init(scheme: scheme, encoded: span.extracting(range))
    }

    /// Octets as received; `nil` when there are over 17.
    @inline(__always)
    init?(scheme: UInt8, encoded: Span<UInt8>) {
        guard encoded.count <= Self.limit else { return nil }
        var storage = FixedOctets<17>()
        for index in 0..<encoded.count { storage[index] = encoded[index] }
        self.scheme = scheme
        self.storage = storage
        length = UInt8(truncatingIfNeeded: encoded.count)
    }

    /// The octets after the scheme.
    public var encoded: ArraySlice<UInt8> { storage.octets.prefix(count) }
}

extension CompressedURL {
    /// What scheme octets 00...03 stand for.
    static let schemes = ["http://www.", "https://www.", "http://", "https://"]

    /// What codes 00...0D stand for.
    static let expansions = [
        ".com/", ".org/", ".edu/", ".net/", ".info/", ".biz/", ".gov/",
        ".com", ".org", ".edu", ".net", ".info", ".biz", ".gov",
    ]

    /// The octets that stand for themselves: graphic ASCII.
    static let literals: ClosedRange<UInt8> = 0x21...0x7E

    /// What an octet after the scheme stands for; `nil` for the reserved ones, 0E...20 and 7F...FF.
    static func text(of octet: UInt8) -> String? {
        if literals.contains(octet) { return String(UnicodeScalar(octet)) }
        return Int(octet) < expansions.count ? expansions[Int(octet)] : nil
    }

    /// The whole URL. Octets that the specification reserves appear percent-encoded: `https://example%0E`.
    public var text: String {
        let scheme = Int(scheme) < Self.schemes.count ? Self.schemes[Int(scheme)] : Self.percentEncoded(scheme)
        return encoded.reduce(into: scheme) { $0 += Self.text(of: $1) ?? Self.percentEncoded($1) }
    }

    private static func percentEncoded(_ octet: UInt8) -> String { "%" + Hexadecimal.text(octet).uppercased() }

    /// Refuses what may be received but not sent.
    ///
    /// - Throws: ``URLEncodingError`` for a reserved scheme or code, and for an empty URL.
    public func validate() throws(URLEncodingError) {
        guard Int(scheme) < Self.schemes.count else { throw .reservedScheme(scheme) }
        guard count > 0 else { throw .empty }
        for (index, octet) in encoded.enumerated() where Self.text(of: octet) == nil {
            throw .reservedCode(octet, offset: index)
        }
    }
}

extension CompressedURL: CustomStringConvertible {
    public var description: String { text }
}
