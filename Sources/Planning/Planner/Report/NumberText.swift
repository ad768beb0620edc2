/// Numbers as text: the same in every locale, on the page and on a terminal, and never `nan` or `inf`.
public enum NumberText {
    /// What stands where there is no number.
    public static let none = "–"

    /// Significant digits without zeros at the end: "2.15", "120", "0.00043". Whole numbers keep all of theirs ("1023"),
    /// and what is tiny keeps its size: "3.2e-12", never "0". A dash for what is not finite.
    public static func significant(_ value: Double?, _ digits: Int = 3) -> String {
        guard let value, value.isFinite else { return none }
        guard value != 0 else { return "0" }
        let magnitude = abs(value)
        if magnitude < 1e-4 || magnitude >= 1e15 { return scientific(value, digits) }
        var decimals = 0
        while magnitude * tenTo(decimals) < tenTo(digits - 1), decimals < 12 { decimals += 1 }
        return trimmed(fixed(value, decimals))
    }

    /// A share of one, in percent: "16.7 %", "0.0012 %", and "100 %" only for what is nearly that.
    public static func percent(_ share: Double?) -> String {
        guard let share, share.isFinite else { return none }
        // What is left of a rounding error is not told from nothing.
        if share > 0, share < 1e-9 { return "< 1e-7 %" }
        // 99.97 % must not be read as certainty.
        var (rest, nines) = (1 - share, 0)
        while share > 0.99, share < 1, rest < 0.1, nines < 6 { (rest, nines) = (rest * 10, nines + 1) }
        return significant(share * 100, nines > 0 ? 2 + nines : 3) + " %"
    }

    /// A time in seconds, in the unit that reads best: "83 ms", "2.15 s", "11.7 min", "2.5 h". A dash for what is
    /// negative or not finite.
    public static func duration(_ seconds: Double?) -> String {
        guard let seconds, seconds.isFinite, seconds >= 0 else { return none }
        if seconds < 1 { return significant(seconds * 1000) + " ms" }
        if seconds < 600 { return significant(seconds) + " s" }
        return seconds < 7200 ? significant(seconds / 60) + " min" : significant(seconds / 3600) + " h"
    }

    /// A time in ms with all digits that controllers tell apart: "1022.5 ms".
    static func milliseconds(_ value: Double?) -> String {
        value.map(\.isFinite) == true ? significant(value, 7) + " ms" : none
    }

    /// All digits, so that reading it gives the same number; nil for what is not finite.
    static func exact(_ value: Double?) -> String? {
        guard let value, value.isFinite else { return nil }
        return "\(value)"
    }

    /// With so many decimals, 0...12; a dash for what is not finite. Numbers too large to be written out are written as
    /// Swift writes them.
    package static func fixed(_ value: Double?, _ decimals: Int) -> String {
        guard let value, value.isFinite else { return none }
        let places = min(max(0, decimals), 12)
        let scaled = (abs(value) * tenTo(places)).rounded()
        guard scaled < 9e15 else { return "\(value)" }
        let digits = String(Int64(scaled))
        let sign = value < 0 && scaled > 0 ? "-" : ""
        guard places > 0 else { return sign + digits }
        let padded = String(repeating: "0", count: max(0, places + 1 - digits.count)) + digits
        return sign + padded.dropLast(places) + "." + padded.suffix(places)
    }

    /// Without the zeros that end a fraction.
    package static func trimmed(_ text: String) -> String {
        guard text.contains("."), !text.contains("e") else { return text }
        var short = Substring(text)
        while short.last == "0" { short.removeLast() }
        if short.last == "." { short.removeLast() }
        return String(short)
    }

    private static func scientific(_ value: Double, _ digits: Int) -> String {
        var (mantissa, exponent) = (abs(value), 0)
        while mantissa < 1 { (mantissa, exponent) = (mantissa * 10, exponent - 1) }
        // What rounds up to 10 has one digit more.
        while mantissa >= 10 - 5 / tenTo(digits) { (mantissa, exponent) = (mantissa / 10, exponent + 1) }
        return (value < 0 ? "-" : "") + trimmed(fixed(mantissa, digits - 1)) + "e\(exponent)"
    }

    private static func tenTo(_ power: Int) -> Double {
        (0..<max(0, power)).reduce(1.0) { product, _ in product * 10 }
    }
}
