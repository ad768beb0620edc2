/// Converts whole numbers of thousandths to decimal text and back, without binary floating point.
public enum DecimalText {
    /// Returns `value` thousandths as a decimal number without zeros at its end: 152500 gives `152.5`.
    public static func thousandths(_ value: Int) -> String {
        var octets: [UInt8] = []
        append(thousandths: value, to: &octets)
        return String(decoding: octets, as: UTF8.self)
    }

    /// Appends `value` thousandths as a decimal number, in ASCII and without zeros at its end.
    public static func append(thousandths value: Int, to octets: inout [UInt8]) {
        if value < 0 { octets.append(UInt8(ascii: "-")) }
        append(value.magnitude / 1000, places: 1, to: &octets)
        var (digits, places) = (value.magnitude % 1000, 3)
        guard digits != 0 else { return }
        while digits % 10 == 0 { (digits, places) = (digits / 10, places - 1) }
        octets.append(UInt8(ascii: "."))
        append(digits, places: places, to: &octets)
    }

    /// Appends a whole number in ASCII.
    public static func append(_ value: Int, to octets: inout [UInt8]) {
        if value < 0 { octets.append(UInt8(ascii: "-")) }
        append(value.magnitude, places: 1, to: &octets)
    }

    /// Appends the digits of `value`, with leading zeros up to `places` digits.
    private static func append(_ value: UInt, places: Int, to octets: inout [UInt8]) {
        if value > 9 || places > 1 { append(value / 10, places: places - 1, to: &octets) }
        octets.append(UInt8(ascii: "0") + UInt8(value % 10))
    }

    /// Reads a decimal number as thousandths, with halves rounded away from zero; `nil` for other texts and for numbers
    /// that are too large.
    public static func thousandths(_ text: some StringProtocol) -> Int? {
        var digits = text[...]
        let isNegative = digits.first == "-"
        if isNegative || digits.first == "+" { digits.removeFirst() }
        let parts = digits.split(separator: ".", maxSplits: 1, omittingEmptySubsequences: false)
        guard let wholeDigits = parts.first, !wholeDigits.isEmpty, wholeDigits.allSatisfy(isDigit),
            let whole = Int(wholeDigits), whole < 1 << 50
        else { return nil }
        var fraction = 0
        if parts.count == 2 {
            guard !parts[1].isEmpty, parts[1].allSatisfy(isDigit) else { return nil }
            let padded = (String(parts[1]) + "0000").prefix(4)
            guard let tenThousandths = Int(padded) else { return nil }
            fraction = (tenThousandths + 5) / 10
        }
        return (isNegative ? -1 : 1) * (whole * 1000 + fraction)
    }

    /// Returns true if the character is one of the digits 0 to 9. A comparison with "0"..."9" would also accept "1"
    /// with a combining accent.
    private static func isDigit(_ character: Character) -> Bool { character.isASCII && character.isNumber }
}

/// The error for a number that is outside the range of a field.
public struct ValueOutOfRange: Error, Hashable, Sendable, CustomStringConvertible {
    /// The name of the field for the user, such as `major`.
    public let field: String
    /// The refused number.
    public let value: Int
    /// The range of the field.
    public let range: ClosedRange<Int>
    /// The unit of the value and the range, such as `dBm`; empty for numbers without a unit.
    public let unit: String

    /// An error about `field`, with the unit of the value and the range.
    public init(_ field: String, _ value: Int, range: ClosedRange<Int>, unit: String = "") {
        self.field = field
        self.value = value
        self.range = range
        self.unit = unit
    }

    public var description: String {
        let unit = unit.isEmpty ? "" : " " + unit
        return "\(field): \(value) is out of range \(range.lowerBound)...\(range.upperBound)\(unit)"
    }
}
