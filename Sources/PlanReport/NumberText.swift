/// Numbers as text, the same in every locale, and never `nan` or `inf`.
enum NumberText {
    /// What stands where there is no number.
    static let none = "–"

    /// With so many decimals, 0...9; a dash for what is not finite. Numbers too large to be written out are written as
    /// Swift writes them.
    static func fixed(_ value: Double?, _ decimals: Int) -> String {
        guard let value, value.isFinite else { return none }
        let places = min(max(0, decimals), 9)
        let scale = (0..<places).reduce(1.0) { product, _ in product * 10 }
        let scaled = (abs(value) * scale).rounded()
        guard scaled < 9e15 else { return "\(value)" }
        let digits = String(Int64(scaled))
        let sign = value < 0 && scaled > 0 ? "-" : ""
        guard places > 0 else { return sign + digits }
        let padded = String(repeating: "0", count: max(0, places + 1 - digits.count)) + digits
        return sign + padded.dropLast(places) + "." + padded.suffix(places)
    }

    /// With about so many significant digits and no trailing zeros: "2.15", "120", "0.00043".
    static func significant(_ value: Double?, _ digits: Int = 3) -> String {
        guard let value, value.isFinite else { return none }
        guard value != 0 else { return "0" }
        var magnitude = 0
        var rest = abs(value)
        while rest >= 10, magnitude < 15 { (rest, magnitude) = (rest / 10, magnitude + 1) }
        while rest < 1, magnitude > -9 { (rest, magnitude) = (rest * 10, magnitude - 1) }
        guard rest >= 1 else { return "\(value)" }
        var text = fixed(value, digits - 1 - magnitude)
        guard text.contains(".") else { return text }
        while text.hasSuffix("0") { text.removeLast() }
        if text.hasSuffix(".") { text.removeLast() }
        return text
    }

    /// All digits, so that reading it gives the same number; nil for what is not finite.
    static func exact(_ value: Double?) -> String? {
        guard let value, value.isFinite else { return nil }
        return "\(value)"
    }

    /// A share of one, in percent: "16.7 %", "0.0012 %", and "100 %" only for what is nearly that.
    static func percent(_ share: Double?) -> String {
        guard let share, share.isFinite else { return none }
        return significant(share * 100, share > 0.999 && share < 1 ? 5 : 3) + " %"
    }

    /// A time in the unit that reads best: "83 ms", "2.15 s", "3 min 5 s", "2 h 10 min".
    static func duration(_ seconds: Double?) -> String {
        guard let seconds, seconds.isFinite, seconds >= 0 else { return none }
        if seconds < 0.9995 { return significant(seconds * 1000) + " ms" }
        if seconds < 99.95 { return significant(seconds) + " s" }
        guard seconds < 1e9 else { return significant(seconds) + " s" }
        let whole = Int(seconds.rounded())
        return whole < 3600
            ? "\(whole / 60) min \(whole % 60) s"
            : "\(whole / 3600) h \(whole % 3600 / 60) min"
    }
}
