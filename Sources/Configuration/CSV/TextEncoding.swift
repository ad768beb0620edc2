/// Whether octets are text in UTF-8, and if not, where.
package enum TextEncoding {
    /// U+FEFF in UTF-8, which some spreadsheets put before their texts.
    package static let byteOrderMark: [UInt8] = [0xEF, 0xBB, 0xBF]

    /// A name for units of 16 or 32 bits, told by the byte order mark or the zeros in the text.
    package static func wideUnits(_ octets: [UInt8]) -> String? {
        let start = Array(octets.prefix(4))
        if start.starts(with: [0xFF, 0xFE, 0, 0]) || start.starts(with: [0, 0, 0xFE, 0xFF]) { return "UTF-32" }
        if start.starts(with: [0xFF, 0xFE]) || start.starts(with: [0xFE, 0xFF]) { return "UTF-16" }
        guard start.count == 4 else { return nil }
        return (start[0] == 0) != (start[1] == 0) && (start[2] == 0) != (start[3] == 0) ? "UTF-16" : nil
    }

    /// The offsets of the first octets that are no UTF-8 (RFC 3629), at most `limit`.
    package static func illFormed(_ octets: [UInt8], limit: Int) -> [Int] {
        let span = octets.span
        let count = span.count
        var found: [Int] = []
        var index = 0
        while index < count, found.count < limit {
            let octet = span[index]
            if octet < 0x80 {
                index += 1
                continue
            }
            let length = sequenceLength(span, at: index)
            if length == 0 { found.append(index) }
            index += max(1, length)
        }
        return found
    }

    /// 0 for octets that begin no character.
    private static func sequenceLength(_ span: Span<UInt8>, at index: Int) -> Int {
        func isIn(_ place: Int, _ range: ClosedRange<UInt8>) -> Bool {
            index + place < span.count && range.contains(span[index + place])
        }
        let rest: ClosedRange<UInt8> = 0x80...0xBF
        switch span[index] {
        case 0xC2...0xDF: return isIn(1, rest) ? 2 : 0
        case 0xE0: return isIn(1, 0xA0...0xBF) && isIn(2, rest) ? 3 : 0
        case 0xED: return isIn(1, 0x80...0x9F) && isIn(2, rest) ? 3 : 0
        case 0xE1...0xEF: return isIn(1, rest) && isIn(2, rest) ? 3 : 0
        case 0xF0: return isIn(1, 0x90...0xBF) && isIn(2, rest) && isIn(3, rest) ? 4 : 0
        case 0xF4: return isIn(1, 0x80...0x8F) && isIn(2, rest) && isIn(3, rest) ? 4 : 0
        case 0xF1...0xF3: return isIn(1, rest) && isIn(2, rest) && isIn(3, rest) ? 4 : 0
        default: return 0
        }
    }
}
