internal import Configuration

/// Reads a text of known form from its start.
struct TextCursor {
    let octets: [UInt8]
    var offset = 0

    init(_ octets: [UInt8]) {
        self.octets = octets
    }

    var isAtEnd: Bool { offset == octets.count }

    mutating func take(_ text: StaticString) -> Bool {
        let count = text.utf8CodeUnitCount
        guard octets.count - offset >= count else { return false }
        let octets = octets
        let span = octets.span
        let start = offset
        let isThere = text.withUTF8Buffer { wanted in
            for index in 0..<count where unsafe wanted[index] != span[start + index] { return false }
            return true
        }
        if isThere { offset += count }
        return isThere
    }

    /// At least one letter, digit, `.`, `_` or `-`.
    mutating func takeWord() -> Range<Int>? {
        take { NameRule.isPlain($0) }
    }

    /// Names with slashes between them.
    mutating func takePath() -> Range<Int>? {
        take { NameRule.isPlain($0) || $0 == UInt8(ascii: "/") }
    }

    mutating func takeUntilQuote(limit: Int) -> Range<Int>? {
        let range = take { $0 != UInt8(ascii: "\"") && $0 >= 0x20 }
        return range.flatMap { $0.count <= limit ? $0 : nil }
    }

    mutating func takeNumber() -> Int? {
        guard let range = take(while: { PlainNumber.isDigit($0) }) else { return nil }
        return PlainNumber.whole(octets, range)
    }

    mutating func takeHexadecimal(octets count: Int, separated: Bool) -> UInt64? {
        let octets = octets
        let span = octets.span
        let length = separated ? 3 * count - 1 : 2 * count
        guard span.count - offset >= length else { return nil }
        var value: UInt64 = 0
        for index in 0..<length {
            let octet = span[offset + index]
            if separated, index % 3 == 2 {
                guard octet == UInt8(ascii: ":") else { return nil }
                continue
            }
            guard let digit = Self.digit(octet) else { return nil }
            value = value << 4 | UInt64(digit)
        }
        offset += length
        return value
    }

    /// Up to the line's end, which stays.
    mutating func takeLine() -> Range<Int>? { take { $0 != 0x0A } }

    @inline(__always)
    static func digit(_ octet: UInt8) -> UInt8? {
        switch octet {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): octet - UInt8(ascii: "0")
        case UInt8(ascii: "a")...UInt8(ascii: "f"): octet - UInt8(ascii: "a") + 10
        case UInt8(ascii: "A")...UInt8(ascii: "F"): octet - UInt8(ascii: "A") + 10
        default: nil
        }
    }

    @inline(__always)
    private mutating func take(while isWanted: (UInt8) -> Bool) -> Range<Int>? {
        let octets = octets
        let span = octets.span
        var end = offset
        while end < span.count, isWanted(span[end]) { end += 1 }
        guard end > offset else { return nil }
        let range = offset..<end
        offset = end
        return range
    }
}
