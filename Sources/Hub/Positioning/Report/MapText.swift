internal import BluetoothTypes
public import Configuration

/// Formats numbers and names for the output of commands.
public enum MapText {
    /// Returns a number with two decimals and without a unit; a dash for `nil`.
    public static func metres(_ value: Double?) -> String {
        value?.isFinite == true ? NumberFormat.fixed(value, 2) : "-"
    }

    /// Returns a share in whole percent without the percent sign; a dash for `nil`.
    public static func percent(_ share: Double?) -> String {
        share.map { "\(Int(min(1e6, max(-1e6, ($0 * 100).rounded()))))" } ?? "-"
    }

    /// Returns an interval such as `1.52…2.31`; a dash if it is not known.
    public static func interval(_ ends: [Double]) -> String {
        ends.count == 2 ? "\(metres(ends[0]))…\(metres(ends[1]))" : "-"
    }

    /// Returns a number with its noun, such as `1 place` or `2 places`.
    static func count(_ number: Int, _ word: String) -> String { NumberFormat.count(number, word) }

    /// Returns a name from a file, shortened and escaped for a line in a terminal.
    public static func line(_ name: String) -> String { TerminalText.line(TerminalText.shortened(name, to: 40)) }

    /// Returns a beacon's key or a place's name. Up to 100 characters are shown, because many identities differ only at
    /// their ends.
    public static func key(_ name: String) -> String { TerminalText.line(TerminalText.shortened(name, to: 100)) }

    /// Returns the name of a place, with its floor if it has one.
    public static func name(_ place: Place) -> String {
        line(place.name) + (place.floor.map { " on \(line($0))" } ?? "")
    }

    /// Returns a score with twelve significant digits. It is null if the place is not a candidate, and "infinity" if
    /// the place is impossible.
    public static func score(_ value: Double?) -> JSONValue {
        guard let value, !value.isNaN else { return .null }
        guard value.isFinite else { return "infinity" }
        return .real(significant(value))
    }

    /// Returns a number rounded to twelve significant digits.
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
