// rounded() needs the C library's libm, which this import links.
internal import Glibc

/// Formats numbers with a unit and a precision. The text does not depend on the locale, and is never `nan` or `inf`.
public enum NumberFormat {
    /// The text for a missing number: a dash without a unit.
    public static let none = "–"

    /// Returns `value` with a fixed number of decimals: `3.50 m`.
    ///
    /// - Parameters:
    ///   - decimals: The number of digits after the decimal point, 0...12.
    ///   - unit: The unit, which follows the number after a space. An empty unit adds nothing.
    /// - Returns: The formatted number; ``none`` if `value` is `nil` or not finite. If the number times 10^`decimals`
    ///   is 9e15 or more, the number is written as Swift prints a `Double`.
    public static func fixed(_ value: Double?, _ decimals: Int, unit: String = "") -> String {
        guard let value, value.isFinite else { return none }
        return number(value, decimals) + suffix(unit)
    }

    /// Returns `value` with at most `decimals` decimals, without zeros at their end: `3.5`, `4`.
    ///
    /// - Parameter decimals: The largest number of digits after the decimal point, 0...12.
    /// - Returns: The formatted number; ``none`` if `value` is `nil` or not finite.
    public static func rounded(_ value: Double?, _ decimals: Int) -> String {
        guard let value, value.isFinite else { return none }
        return trimmed(number(value, decimals))
    }

    /// Returns `value` with `digits` significant digits, without zeros at the end of a fraction: `2.15 s`, `120`,
    /// `0.00043`.
    ///
    /// Digits before the decimal point are never rounded: `1023`. A number below 1e-4 or of at least 1e15 is written
    /// with an exponent: `3.2e-12`.
    ///
    /// - Parameters:
    ///   - digits: The number of significant digits, 1...12.
    ///   - unit: The unit, which follows the number after a space. An empty unit adds nothing.
    /// - Returns: The formatted number; ``none`` if `value` is `nil` or not finite.
    public static func significant(_ value: Double?, _ digits: Int = 3, unit: String = "") -> String {
        guard let value, value.isFinite else { return none }
        let magnitude = abs(value)
        if value == 0 { return "0" + suffix(unit) }
        if magnitude < 1e-4 || magnitude >= 1e15 { return scientific(value, digits) + suffix(unit) }
        var decimals = 0
        while magnitude * tenTo(decimals) < tenTo(digits - 1), decimals < 12 { decimals += 1 }
        return trimmed(number(value, decimals)) + suffix(unit)
    }

    /// Returns a share of 0...1 in percent: `16.7 %`, `0.0012 %`. Shares close to 1 get more digits, so that 99.97 % is
    /// not printed as 100 %.
    ///
    /// - Returns: The formatted share; ``none`` if `share` is `nil` or not finite.
    public static func percent(_ share: Double?) -> String {
        guard let share, share.isFinite else { return none }
        // A share this small may be a rounding error of a share that is exactly zero.
        if share > 0, share < 1e-9 { return "< 1e-7 %" }
        var (complement, nines) = (1 - share, 0)
        while share > 0.99, share < 1, complement < 0.1, nines < 6 {
            (complement, nines) = (complement * 10, nines + 1)
        }
        return significant(share * 100, nines > 0 ? 2 + nines : 3, unit: "%")
    }

    /// Returns a time in seconds with a unit that suits its length: `83 ms`, `2.15 s`, `11.7 min`, `2.5 h`.
    ///
    /// - Returns: The formatted time; ``none`` if `seconds` is `nil`, negative or not finite.
    public static func duration(_ seconds: Double?) -> String {
        guard let seconds, seconds.isFinite, seconds >= 0 else { return none }
        if seconds < 1 { return significant(seconds * 1000, unit: "ms") }
        if seconds < 600 { return significant(seconds, unit: "s") }
        if seconds < 7200 { return significant(seconds / 60, unit: "min") }
        return significant(seconds / 3600, unit: "h")
    }

    /// Returns a time in milliseconds with up to seven significant digits, so that steps of 0.625 ms are visible:
    /// `1022.5 ms`.
    public static func milliseconds(_ value: Double?) -> String { significant(value, 7, unit: "ms") }

    /// Returns `value` with all digits, so that parsing the text gives the same number; `nil` if `value` is not finite.
    public static func exact(_ value: Double?) -> String? {
        guard let value, value.isFinite else { return nil }
        return "\(value)"
    }

    /// Returns a whole number with leading zeros, so that it has at least `width` digits: `007`. The number must not be
    /// negative.
    public static func padded(_ value: some BinaryInteger, to width: Int, radix: Int = 10) -> String {
        let digits = String(value, radix: radix)
        return String(repeating: "0", count: max(0, width - digits.utf8.count)) + digits
    }

    /// Returns a number with a noun. If the number is not 1, the noun gets an `s`: `1 beacon`, `3 beacons`.
    public static func count(_ number: some BinaryInteger, _ noun: String) -> String {
        "\(number) \(noun)\(number == 1 ? "" : "s")"
    }

    /// Returns `text`, a decimal number, without the zeros at the end of its fraction.
    public static func trimmed(_ text: String) -> String {
        guard text.contains("."), !text.contains("e") else { return text }
        var short = Substring(text)
        while short.last == "0" { short.removeLast() }
        if short.last == "." { short.removeLast() }
        return String(short)
    }

    private static func suffix(_ unit: String) -> String { unit.isEmpty ? "" : " " + unit }

    private static func number(_ value: Double, _ decimals: Int) -> String {
        let places = min(max(0, decimals), 12)
        let scaled = (abs(value) * tenTo(places)).rounded()
        guard scaled < 9e15 else { return "\(value)" }
        let sign = value < 0 && scaled > 0 ? "-" : ""
        guard places > 0 else { return sign + String(Int64(scaled)) }
        let padded = padded(Int64(scaled), to: places + 1)
        return sign + padded.dropLast(places) + "." + padded.suffix(places)
    }

    private static func scientific(_ value: Double, _ digits: Int) -> String {
        var (mantissa, exponent) = (abs(value), 0)
        while mantissa < 1 { (mantissa, exponent) = (mantissa * 10, exponent - 1) }
        // A mantissa that rounds up to 10 is written as 1 with the next exponent.
        while mantissa >= 10 - 5 / tenTo(digits) { (mantissa, exponent) = (mantissa / 10, exponent + 1) }
        return (value < 0 ? "-" : "") + trimmed(number(mantissa, digits - 1)) + "e\(exponent)"
    }

    private static func tenTo(_ power: Int) -> Double {
        (0..<max(0, power)).reduce(1.0) { product, _ in product * 10 }
    }
}
