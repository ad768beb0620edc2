internal import BluetoothTypes

/// A JSON number as it was written, converted only on demand and never by way of binary floating point.
public struct JSONNumber: Hashable, Sendable, CustomStringConvertible {
    /// The text of the number, such as `152.5` or `1e3`.
    public let text: String

    /// A number without a fraction, of any size.
    public init(_ value: some BinaryInteger) {
        text = String(value)
    }

    /// A number of thousandths: 152500 is `152.5`.
    public init(thousandths value: Int) {
        text = DecimalText.thousandths(value)
    }

    /// `text` as RFC 8259 has numbers; `nil` for anything else.
    public init?(_ text: String) {
        guard Self.isGrammatical(Array(text.utf8)) else { return nil }
        self.text = text
    }

    /// Whether nothing stands behind the decimal point; `1.0` and `1e3` are whole.
    public var isWhole: Bool { DecimalDigits(text).exponent >= 0 }

    /// The exact value; `nil` when it is not whole or has more than 18 digits.
    public var integer: Int? {
        let number = DecimalDigits(text)
        return number.exponent >= 0 ? number.value(shifted: 0) : nil
    }

    /// The value in thousandths, what is finer rounded half away from zero; `nil` when it has more than 18 digits.
    public var thousandths: Int? { DecimalDigits(text).value(shifted: 3) }

    /// Compares exactly with a number of thousandths, however many digits there are.
    public func isLess(thanThousandths bound: Int) -> Bool { DecimalDigits(text).compare(thousandths: bound) < 0 }

    /// Compares exactly with a number of thousandths, however many digits there are.
    public func isGreater(thanThousandths bound: Int) -> Bool { DecimalDigits(text).compare(thousandths: bound) > 0 }

    public var description: String { text }

    /// RFC 8259, 6: `-`, digits without a leading zero, a fraction, an exponent.
    private static func isGrammatical(_ text: [UInt8]) -> Bool {
        var rest = text[...]
        func digits() -> Int {
            let run = rest.prefix { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }.count
            rest = rest.dropFirst(run)
            return run
        }
        if rest.first == UInt8(ascii: "-") { rest.removeFirst() }
        let startsWithZero = rest.first == UInt8(ascii: "0")
        let whole = digits()
        guard whole == 1 || whole > 1 && !startsWithZero else { return false }
        if rest.first == UInt8(ascii: ".") {
            rest.removeFirst()
            guard digits() > 0 else { return false }
        }
        if rest.first == UInt8(ascii: "e") || rest.first == UInt8(ascii: "E") {
            rest.removeFirst()
            if rest.first == UInt8(ascii: "+") || rest.first == UInt8(ascii: "-") { rest.removeFirst() }
            guard digits() > 0 else { return false }
        }
        return rest.isEmpty
    }
}

/// What a JSON number is worth: taken out of its text only where somebody asks, because most are only printed.
private struct DecimalDigits {
    private let isNegative: Bool
    /// Significant digits, 0...9, without leading or trailing zeros: none for zero.
    private let digits: [UInt8]
    /// The number is its digits times ten to this power.
    let exponent: Int

    /// More than any text has digits, and far from overflow: sums with it keep their sense.
    private static let exponentLimit = 1_000_000_000_000_000

    /// From a text that is known to keep to the grammar.
    init(_ text: String) {
        var digits: [UInt8] = []
        var exponent = 0
        var written = 0
        var (inFraction, inExponent, exponentIsNegative) = (false, false, false)
        for octet in text.utf8 {
            switch octet {
            case UInt8(ascii: "."): inFraction = true
            case UInt8(ascii: "e"), UInt8(ascii: "E"): inExponent = true
            case UInt8(ascii: "-") where inExponent: exponentIsNegative = true
            case UInt8(ascii: "0")...UInt8(ascii: "9"):
                let digit = octet - UInt8(ascii: "0")
                if inExponent {
                    written = min(written * 10 + Int(digit), Self.exponentLimit)
                } else {
                    if !digits.isEmpty || digit != 0 { digits.append(digit) }
                    if inFraction { exponent -= 1 }
                }
            default: break
            }
        }
        exponent += exponentIsNegative ? -written : written
        while digits.last == 0 {
            digits.removeLast()
            exponent += 1
        }
        isNegative = text.utf8.first == UInt8(ascii: "-")
        self.digits = digits
        self.exponent = digits.isEmpty ? 0 : exponent
    }

    /// The value times ten to `places`, rounded half away from zero; `nil` when it has more than 18 digits.
    func value(shifted places: Int) -> Int? {
        magnitude(shifted: places).map { isNegative ? -$0 : $0 }
    }

    /// Negative where the number is less than so many thousandths, positive where it is greater.
    func compare(thousandths bound: Int) -> Int {
        guard let value = value(shifted: 3) else { return isNegative ? -1 : 1 }
        if value != bound { return value < bound ? -1 : 1 }
        // Rounded to the bound: the digits after the thousandths decide. They start with 5...9 if it was upwards.
        guard exponent < -3, !digits.isEmpty else { return 0 }
        let kept = digits.count + exponent + 3
        let roundedUp = kept >= 0 && kept < digits.count && digits[kept] >= 5
        return roundedUp == isNegative ? 1 : -1
    }

    /// The digits before the decimal point of the value times ten to `places`, rounded half up.
    private func magnitude(shifted places: Int) -> Int? {
        let power = exponent + places
        let wholeDigits = digits.count + power
        guard wholeDigits <= 18 else { return nil }
        guard wholeDigits >= 0, !digits.isEmpty else { return 0 }
        var value = 0
        for index in 0..<wholeDigits { value = value * 10 + (index < digits.count ? Int(digits[index]) : 0) }
        if wholeDigits < digits.count, digits[wholeDigits] >= 5 { value += 1 }
        return value
    }
}

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
