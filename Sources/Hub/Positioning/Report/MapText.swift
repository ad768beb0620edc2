internal import BluetoothTypes
public import Configuration

/// Formats numbers and names for the output of commands.
public enum MapText {
    /// A number with two decimals without a unit, or a dash for `nil`.
    public static func metres(_ value: Double?) -> String {
        value?.isFinite == true ? NumberFormat.fixed(value, 2) : "-"
    }

    /// A share in whole percent without the percent sign, or a dash for `nil`.
    public static func percent(_ share: Double?) -> String {
        share.map { "\(Int(min(1e6, max(-1e6, ($0 * 100).rounded()))))" } ?? "-"
    }

    /// An interval such as `1.52…2.31`, or a dash if it is unknown.
    public static func interval(_ ends: [Double]) -> String {
        ends.count == 2 ? "\(metres(ends[0]))…\(metres(ends[1]))" : "-"
    }

    /// `1 place`, `2 places`.
    static func count(_ number: Int, _ word: String) -> String { NumberFormat.count(number, word) }

    /// A name from a file, shortened and escaped for a line in a terminal.
    public static func line(_ name: String) -> String { TerminalText.line(TerminalText.shortened(name, to: 40)) }

    /// A beacon's key or a place's name. Up to 100 characters are shown, because identities often differ only at their
    /// ends.
    public static func key(_ name: String) -> String { TerminalText.line(TerminalText.shortened(name, to: 100)) }

    /// The name of a place, with its floor if it has one.
    public static func name(_ place: Place) -> String {
        line(place.name) + (place.floor.map { " on \(line($0))" } ?? "")
    }

    /// A score with twelve significant digits: null if the place is not a candidate, "infinity" if it is impossible.
    public static func score(_ value: Double?) -> JSONValue {
        guard let value, !value.isNaN else { return .null }
        guard value.isFinite else { return "infinity" }
        return .real(significant(value))
    }

    /// A number rounded to twelve significant digits.
    static func significant(_ value: Double) -> Double {
        guard value != 0, value.isFinite else { return value }
        let text = "\(abs(value))"
        // A text of up to 12 characters needs no rounding.
        guard text.utf8.count > 12 else { return value }
        var exponent = 0
        var scale = 1.0
        while abs(value) * scale < 1e11, exponent < 300 {
            scale *= 10
            exponent += 1
        }
        if exponent > 0 { return (value * scale).rounded() / scale }
        while abs(value) / scale >= 1e12 { scale *= 10 }
        return (value / scale).rounded() * scale
    }
}
