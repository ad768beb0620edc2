public import BluetoothTypes

/// A URL in the compressed form of Eddystone-URL: a scheme byte and 1...17 bytes. Each of these bytes is a character or
/// an expansion code, which stands for a text such as `.com/`.
///
/// The specification is eddystone-url/README.md in github google/eddystone.
public struct CompressedURL: Hashable, Sendable {
    /// The scheme byte: 0...3, or any value in a received frame.
    public let scheme: UInt8
    /// The bytes after the scheme; only the first ``length`` bytes are valid.
    private let storage: FixedOctets<17>
    private let length: UInt8
    /// The number of bytes after the scheme: 1...17. An invalid received frame may have 0.
    public var count: Int { Int(length) }

    /// The largest number of bytes after the scheme.
    public static let limit = 17

    /// A received URL, valid or not; `nil` if `range` has more than 17 bytes or is not inside the span.
    public init?(scheme: UInt8, encoded span: Span<UInt8>, range: Range<Int>) {
        guard range.lowerBound >= 0, range.upperBound <= span.count else { return nil }
        self.init(scheme: scheme, encoded: span.extracting(range))
    }

    /// A received URL, valid or not; `nil` if there are more than 17 bytes.
    @inline(__always)
    init?(scheme: UInt8, encoded: Span<UInt8>) {
        guard encoded.count <= Self.limit else { return nil }
        var storage = FixedOctets<17>()
        for index in 0..<encoded.count { storage[index] = encoded[index] }
        self.scheme = scheme
        self.storage = storage
        length = UInt8(truncatingIfNeeded: encoded.count)
    }

    /// The bytes after the scheme.
    public var encoded: ArraySlice<UInt8> { storage.octets.prefix(count) }
}

extension CompressedURL {
    /// The texts for the scheme bytes 00...03, in order.
    static let schemes = ["http://www.", "https://www.", "http://", "https://"]

    /// The texts for the expansion codes 00...0D, in order.
    static let expansions = [
        ".com/", ".org/", ".edu/", ".net/", ".info/", ".biz/", ".gov/",
        ".com", ".org", ".edu", ".net", ".info", ".biz", ".gov",
    ]

    /// The bytes that are sent as characters: graphic ASCII. All other bytes are expansion codes or reserved.
    static let literals: ClosedRange<UInt8> = 0x21...0x7E

    /// Returns the text of a byte after the scheme; `nil` for the reserved bytes 0E...20 and 7F...FF.
    static func text(of octet: UInt8) -> String? {
        if literals.contains(octet) { return String(UnicodeScalar(octet)) }
        return Int(octet) < expansions.count ? expansions[Int(octet)] : nil
    }

    /// The whole URL as text. Reserved bytes are percent-encoded: `https://example%0E`.
    public var text: String {
        let scheme = Int(scheme) < Self.schemes.count ? Self.schemes[Int(scheme)] : Self.percentEncoded(scheme)
        return encoded.reduce(into: scheme) { $0 += Self.text(of: $1) ?? Self.percentEncoded($1) }
    }

    private static func percentEncoded(_ octet: UInt8) -> String { "%" + Hexadecimal.text(octet).uppercased() }

    /// Checks that the URL may be sent. A received URL may be invalid.
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

extension CompressedURL {
    /// The shortest valid encoding of `text`.
    ///
    /// The scheme may be in upper or lower case; it is sent in lower case, as RFC 3986 3.1 allows. The rest of the URL
    /// is not changed. Expansion codes may be anywhere in the URL. Of two equally short encodings, the encoding with
    /// the longer scheme and the longer codes is chosen, as most senders do.
    ///
    /// A longer scheme does not always give a shorter encoding. For `https://www.info/`, the scheme `https://www.` (01)
    /// needs 5 more bytes, `info/`. The scheme `https://` (03) needs only 4: `www` and the code for `.info/` (04).
    ///
    /// - Throws: ``URLEncodingError`` if the text contains a character that cannot be sent, has an unknown scheme, has
    ///   nothing after the scheme, or is too long even in its shortest encoding.
    public init(_ text: String) throws(URLEncodingError) {
        let octets = try Self.graphicASCII(text)
        let (schemeCode, rest) = try Self.split(octets)
        guard !rest.isEmpty else { throw .empty }
        var best = (scheme: schemeCode + 2, encoded: Self.shortest(rest))
        let www = Array("www.".utf8)
        if rest.count > www.count, rest.starts(with: www) {
            let encoded = Self.shortest(Array(rest.dropFirst(www.count)))
            if encoded.count <= best.encoded.count { best = (schemeCode, encoded) }
        }
        guard best.encoded.count <= Self.limit else { throw .tooLong(scheme: best.scheme, encoded: best.encoded) }
        guard let url = Self(scheme: best.scheme, encoded: best.encoded.span, range: best.encoded.indices) else {
            throw .tooLong(scheme: best.scheme, encoded: best.encoded)
        }
        self = url
    }

    private static func graphicASCII(_ text: String) throws(URLEncodingError) -> [UInt8] {
        var octets: [UInt8] = []
        for (offset, scalar) in text.unicodeScalars.enumerated() {
            guard let octet = UInt8(exactly: scalar.value), literals.contains(octet) else {
                throw .illegalCharacter(scalar, offset: offset, in: text)
            }
            octets.append(octet)
        }
        return octets
    }

    /// Returns 0 for http or 1 for https, and the text after the two slashes.
    private static func split(_ octets: [UInt8]) throws(URLEncodingError) -> (code: UInt8, rest: [UInt8]) {
        guard !octets.isEmpty else { throw .empty }
        for (code, scheme) in [(UInt8(0), "http://"), (1, "https://")] {
            let prefix = octets.prefix(scheme.utf8.count).map(lowercased)
            if prefix == Array(scheme.utf8) { return (code, Array(octets.dropFirst(prefix.count))) }
        }
        throw .unknownScheme(String(decoding: octets, as: UTF8.self))
    }

    private static func lowercased(_ octet: UInt8) -> UInt8 {
        (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(octet) ? octet | 0x20 : octet
    }

    /// Returns a valid URL to suggest in the message about a text that cannot be sent. It adds a missing scheme,
    /// removes spaces at both ends, writes the host in Punycode, and percent-encodes characters after the host. Returns
    /// `nil` if the result cannot be sent either.
    static func suggestion(for text: String) -> String? {
        var trimmed = text.drop(while: \.isWhitespace)
        while trimmed.last?.isWhitespace == true { trimmed.removeLast() }
        var scheme = "https://"
        var rest = trimmed
        for knownScheme in ["http", "https"] where rest.lowercased().hasPrefix(knownScheme + ":") {
            scheme = knownScheme + "://"
            rest = rest.dropFirst(knownScheme.count + 1).drop { $0 == "/" }
        }
        let host = rest.prefix { !"/?#".contains($0) }
        guard host.contains("."), !host.contains("@") else { return nil }
        let isASCII = host.utf8.allSatisfy(literals.contains)
        guard let asciiHost = isASCII ? String(host) : Punycode.host(host) else { return nil }
        let path = rest.dropFirst(host.count).utf8.map { octet in
            literals.contains(octet) ? String(UnicodeScalar(octet)) : percentEncoded(octet)
        }
        let url = scheme + asciiHost + path.joined()
        return (try? Self(url)) == nil ? nil : url
    }

    /// Returns the shortest encoding of `text`. The search goes from the end to the start. At each position, it chooses
    /// either the character or a matching code, so that the encoding from there to the end is as short as possible.
    private static func shortest(_ text: [UInt8]) -> [UInt8] {
        let codes = expansions.map { Array($0.utf8) }
        var costs = [Int](repeating: 0, count: text.count + 1)
        var choices = [(octet: UInt8, length: Int)](repeating: (0, 1), count: text.count)
        for offset in text.indices.reversed() {
            choices[offset] = (text[offset], 1)
            costs[offset] = costs[offset + 1] + 1
            for (code, expansion) in codes.enumerated() where text[offset...].starts(with: expansion) {
                let cost = costs[offset + expansion.count] + 1
                let isLonger = expansion.count > choices[offset].length
                if cost < costs[offset] || cost == costs[offset] && isLonger {
                    costs[offset] = cost
                    choices[offset] = (UInt8(code), expansion.count)
                }
            }
        }
        var encoded: [UInt8] = []
        var offset = 0
        while offset < text.count {
            encoded.append(choices[offset].octet)
            offset += choices[offset].length
        }
        return encoded
    }
}

/// The reason why a URL cannot be sent as Eddystone-URL.
public enum URLEncodingError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The text starts with neither `http://` nor `https://`.
    case unknownScheme(String)
    /// The text contains a character that is not graphic ASCII; `offset` counts the characters before it.
    case illegalCharacter(Unicode.Scalar, offset: Int, in: String)
    /// Nothing follows the scheme.
    case empty
    /// The shortest encoding has more than 17 bytes after its scheme byte.
    case tooLong(scheme: UInt8, encoded: [UInt8])
    /// The received scheme byte is above 03.
    case reservedScheme(UInt8)
    /// A received byte is 0E...20 or 7F...FF. `offset` is its position after the scheme byte, from 0.
    case reservedCode(UInt8, offset: Int)

    public var description: String {
        switch self {
        case .unknownScheme(let text):
            "the URL \"\(text)\" starts with neither http:// nor https://, the only schemes of Eddystone-URL"
                + Self.question(text)
        case .illegalCharacter(let scalar, let offset, let text):
            "\(Self.name(scalar)) at character \(offset + 1) of the URL cannot be sent: only the ASCII "
                + "characters 0x21...0x7E can; "
                + (scalar.value > 0x7F && Self.isInHost(offset, of: text)
                    ? "write the host in Punycode" : "percent-encode it") + Self.question(text)
        case .empty:
            "the URL is empty, or has nothing after its scheme"
        case .tooLong(let scheme, let encoded):
            "the URL takes \(encoded.count) bytes after its scheme, \(encoded.count - CompressedURL.limit) more than "
                + "the \(CompressedURL.limit) of Eddystone-URL; use a shorter address, such as one of a link shortener; encoded: "
                + Hexadecimal.text([scheme] + encoded)
        case .reservedScheme(let scheme):
            "the URL's scheme byte \(Hexadecimal.number(scheme, width: 2)) is reserved: 0x00...0x03 are defined"
        case .reservedCode(let code, let offset):
            "byte \(offset + 1) after the URL's scheme, \(Hexadecimal.number(code, width: 2)), is reserved"
        }
    }

    /// Returns true if the character with the number `offset`, from 0, is part of the host.
    private static func isInHost(_ offset: Int, of text: String) -> Bool {
        let start = String(String.UnicodeScalarView(text.unicodeScalars.prefix(offset)))
        let rest = start.firstRange(of: "://").map { start[$0.upperBound...] } ?? start[...]
        return !rest.contains { "/?#".contains($0) }
    }

    private static func question(_ text: String) -> String {
        CompressedURL.suggestion(for: text).map { "; did you mean \($0)?" } ?? ""
    }

    private static func name(_ scalar: Unicode.Scalar) -> String {
        if scalar == " " { return "a space" }
        if scalar.value < 0x20 || scalar.value == 0x7F || (0x80...0x9F).contains(scalar.value) {
            return "the control character \(Hexadecimal.number(scalar.value, width: 2))"
        }
        return "\"\(scalar)\""
    }
}

/// Eddystone-URL: `10 | power at 0 m | scheme | encoded URL of 1...17 bytes`.
public struct EddystoneURL: EncodableFrame {
    /// The URL in Eddystone's compressed form.
    public var url: CompressedURL
    public var measuredPower: MeasuredPowerAtZeroMeters

    /// A frame with these values, which are not checked. `advertisingData(flags:)` refuses values that may not be sent.
    public init(url: CompressedURL, measuredPower: MeasuredPowerAtZeroMeters) {
        self.url = url
        self.measuredPower = measuredPower
    }
}

extension EddystoneURL {
    /// The number of bytes before the encoded URL: type, power and scheme.
    static let headerLength = 3

    /// Reads a frame that starts with its type byte. Reserved schemes, reserved codes and an empty URL are accepted.
    @inline(__always)
    init?(frame: Span<UInt8>) {
        guard frame.count >= Self.headerLength,
            let url = CompressedURL(
                scheme: frame[2], encoded: frame.extracting(Self.headerLength..<frame.count))
        else { return nil }
        self.init(url: url, measuredPower: MeasuredPowerAtZeroMeters(octet: frame[1]))
    }

    /// The list of service UUIDs and the service data, without Flags. Forbidden values are encoded too; ``validate()``
    /// reports them.
    public var adStructures: [ADStructure] {
        Eddystone.structures([0x10, measuredPower.octet, url.scheme] + url.encoded)
    }

    /// Checks that the frame may be sent.
    ///
    /// - Throws: ``BeaconFrameError`` for a measured power outside -100...20 dBm, and for a URL that is empty or has a
    ///   reserved scheme or code.
    public func validate() throws(BeaconFrameError) {
        do throws(URLEncodingError) { try url.validate() } catch { throw .url(error) }
        try measuredPower.checkRange()
    }
}
