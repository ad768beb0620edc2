/// Numbers in octets, for tables of a million rows: says yes only to plain ones, so that everything else is looked at by
/// those who know every form.
package enum PlainNumber {
    /// Whether the octets are a JSON number without an exponent whose amount is below `limit`.
    package static func isBelow(_ limit: Int, _ text: [UInt8], _ range: Range<Int>) -> Bool {
        let span = text.span
        var index = range.lowerBound
        if index < range.upperBound, span[index] == UInt8(ascii: "-") { index += 1 }
        guard let whole = digits(span, index..<range.upperBound), whole.value < limit else { return false }
        index = whole.end
        guard index < range.upperBound else { return true }
        guard span[index] == UInt8(ascii: ".") else { return false }
        index += 1
        let start = index
        while index < range.upperBound, isDigit(span[index]) { index += 1 }
        return index > start && index == range.upperBound
    }

    /// A whole number without a sign and without leading zeros, at most nine digits.
    package static func whole(_ text: [UInt8], _ range: Range<Int>) -> Int? {
        guard let digits = digits(text.span, range), digits.end == range.upperBound else { return nil }
        return digits.value
    }

    private static func digits(_ span: Span<UInt8>, _ range: Range<Int>) -> (value: Int, end: Int)? {
        var value = 0
        var index = range.lowerBound
        while index < range.upperBound, index - range.lowerBound < 9, isDigit(span[index]) {
            value = value * 10 + Int(span[index] - UInt8(ascii: "0"))
            index += 1
        }
        let count = index - range.lowerBound
        guard count > 0, count == 1 || span[range.lowerBound] != UInt8(ascii: "0") else { return nil }
        return (value, index)
    }

    /// Whether the octets are a JSON number.
    package static func isNumber(_ text: [UInt8], _ range: Range<Int>) -> Bool {
        let span = text.span
        var index = range.lowerBound
        let end = range.upperBound
        if index < end, span[index] == UInt8(ascii: "-") { index += 1 }
        guard index < end, isDigit(span[index]) else { return false }
        let startsWithZero = span[index] == UInt8(ascii: "0")
        let first = index
        while index < end, isDigit(span[index]) { index += 1 }
        if startsWithZero, index > first + 1 { return false }
        if index < end, span[index] == UInt8(ascii: ".") {
            index += 1
            let start = index
            while index < end, isDigit(span[index]) { index += 1 }
            guard index > start else { return false }
        }
        if index < end, span[index] | 0x20 == UInt8(ascii: "e") {
            index += 1
            if index < end, span[index] == UInt8(ascii: "+") || span[index] == UInt8(ascii: "-") { index += 1 }
            let start = index
            while index < end, isDigit(span[index]) { index += 1 }
            guard index > start else { return false }
        }
        return index == end
    }

    @inline(__always)
    package static func isDigit(_ octet: UInt8) -> Bool { octet >= UInt8(ascii: "0") && octet <= UInt8(ascii: "9") }
}
