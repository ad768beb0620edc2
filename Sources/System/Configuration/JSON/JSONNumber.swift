internal import BluetoothTypes

/// A JSON number that keeps the digits with which it was written. It is only converted when a value is requested, and
/// never through binary floating point.
public struct JSONNumber: Hashable, Sendable, CustomStringConvertible {
    /// The text of the number, such as `152.5` or `1e3`.
    public let text: String

    /// Creates a whole number of any size.
    public init(_ value: some BinaryInteger) {
        text = String(value)
    }

    /// Creates a number from thousandths: 152500 is `152.5`.
    public init(thousandths value: Int) {
        text = DecimalText.thousandths(value)
    }

    /// Creates a number from its text; `nil` if RFC 8259 does not allow the text.
    public init?(_ text: String) {
        guard Self.isGrammatical(Array(text.utf8)) else { return nil }
        self.text = text
    }

    /// True if the number has no fraction. `1.0` and `1e3` are whole.
    public var isWhole: Bool { DecimalDigits(text).exponent >= 0 }

    /// The exact value; `nil` if it is not whole or has more than 18 digits.
    public var integer: Int? {
        let number = DecimalDigits(text)
        return number.exponent >= 0 ? number.value(shifted: 0) : nil
    }

    /// The value in thousandths, rounded half away from zero; `nil` if it has more than 18 digits.
    public var thousandths: Int? { DecimalDigits(text).value(shifted: 3) }

    /// Returns true if the number is less than `bound` thousandths, compared exactly.
    public func isLess(thanThousandths bound: Int) -> Bool { DecimalDigits(text).compare(thousandths: bound) < 0 }

    /// Returns true if the number is greater than `bound` thousandths, compared exactly.
    public func isGreater(thanThousandths bound: Int) -> Bool { DecimalDigits(text).compare(thousandths: bound) > 0 }

    public var description: String { text }

    /// Returns true if the text follows RFC 8259, section 6: an optional `-`, digits without a leading zero, an
    /// optional fraction and an optional exponent.
    private static func isGrammatical(_ text: [UInt8]) -> Bool {
        var unread = text[...]
        func skipDigits() -> Int {
            let count = unread.prefix { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }.count
            unread = unread.dropFirst(count)
            return count
        }
        if unread.first == UInt8(ascii: "-") { unread.removeFirst() }
        let startsWithZero = unread.first == UInt8(ascii: "0")
        let wholeDigits = skipDigits()
        guard wholeDigits == 1 || wholeDigits > 1 && !startsWithZero else { return false }
        if unread.first == UInt8(ascii: ".") {
            unread.removeFirst()
            guard skipDigits() > 0 else { return false }
        }
        if unread.first == UInt8(ascii: "e") || unread.first == UInt8(ascii: "E") {
            unread.removeFirst()
            if unread.first == UInt8(ascii: "+") || unread.first == UInt8(ascii: "-") { unread.removeFirst() }
            guard skipDigits() > 0 else { return false }
        }
        return unread.isEmpty
    }
}

/// The digits and the exponent of a JSON number.
private struct DecimalDigits {
    private let isNegative: Bool
    /// The significant digits, 0...9, without leading and trailing zeros; empty for zero.
    private let digits: [UInt8]
    /// The exponent of ten: the value is the digits as a whole number, times ten to the power of the exponent.
    let exponent: Int

    /// The limit for exponents; larger exponents are reduced to it. It is larger than the number of digits of any text,
    /// and small enough that sums do not overflow.
    private static let exponentLimit = 1_000_000_000_000_000

    /// Splits a text, which must follow the grammar of JSON numbers, into digits and exponent.
    init(_ text: String) {
        var digits: [UInt8] = []
        var exponent = 0
        var statedExponent = 0
        var (inFraction, inExponent, exponentIsNegative) = (false, false, false)
        for octet in text.utf8 {
            switch octet {
            case UInt8(ascii: "."): inFraction = true
            case UInt8(ascii: "e"), UInt8(ascii: "E"): inExponent = true
            case UInt8(ascii: "-") where inExponent: exponentIsNegative = true
            case UInt8(ascii: "0")...UInt8(ascii: "9"):
                let digit = octet - UInt8(ascii: "0")
                if inExponent {
                    statedExponent = min(statedExponent * 10 + Int(digit), Self.exponentLimit)
                } else {
                    if !digits.isEmpty || digit != 0 { digits.append(digit) }
                    if inFraction { exponent -= 1 }
                }
            default: break
            }
        }
        exponent += exponentIsNegative ? -statedExponent : statedExponent
        while digits.last == 0 {
            digits.removeLast()
            exponent += 1
        }
        isNegative = text.utf8.first == UInt8(ascii: "-")
        self.digits = digits
        self.exponent = digits.isEmpty ? 0 : exponent
    }

    /// Returns the value times ten to the power of `places`, rounded half away from zero; `nil` if it has more than 18
    /// digits.
    func value(shifted places: Int) -> Int? {
        magnitude(shifted: places).map { isNegative ? -$0 : $0 }
    }

    /// Returns a negative number if the value is less than `bound` thousandths, a positive number if it is greater, and
    /// 0 if both are equal.
    func compare(thousandths bound: Int) -> Int {
        guard let value = value(shifted: 3) else { return isNegative ? -1 : 1 }
        if value != bound { return value < bound ? -1 : 1 }
        // The rounded value equals the bound, so the digits after the thousandths decide. If they start with 5...9, the
        // value was rounded away from zero.
        guard exponent < -3, !digits.isEmpty else { return 0 }
        let keptDigits = digits.count + exponent + 3
        let wasRoundedAway = keptDigits >= 0 && keptDigits < digits.count && digits[keptDigits] >= 5
        return wasRoundedAway == isNegative ? 1 : -1
    }

    /// Returns the value times ten to the power of `places`, without the sign and rounded half up; `nil` if it has more
    /// than 18 digits.
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
