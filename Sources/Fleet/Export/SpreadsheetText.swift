/// Cells of a CSV file (RFC 4180) that spreadsheets take for what they are: text stays text.
///
/// Spreadsheets run a cell that begins with `=`, `+`, `-` or `@` as a formula, quoted or not, and some split lines at
/// semicolons whatever the quotes say.
enum SpreadsheetText {
    /// A text from a fleet file: always in quotes, with an apostrophe before whatever a formula could begin with, at the
    /// start and behind everything that some spreadsheet takes for the end of a cell.
    static func text(_ raw: String) -> String {
        var result = "\""
        var mayBegin = true
        for scalar in raw.unicodeScalars {
            switch scalar {
            case "\"":
                result += "\"\""
                mayBegin = true
            case "\u{0}"..."\u{1F}", "\u{7F}"..."\u{9F}", "\u{2028}", "\u{2029}", " ", "\u{A0}":
                // Line feeds and tabulators would be ends of cells; blanks before a formula do not hinder it.
                result += " "
            case "=", "+", "-", "@", "\u{FF1D}", "\u{FF0B}", "\u{FF0D}", "\u{FF20}", "|", "%":
                if mayBegin { result += "'" }
                result.unicodeScalars.append(scalar)
                mayBegin = scalar == "|"
            default:
                result.unicodeScalars.append(scalar)
                mayBegin = scalar == ";" || scalar == ","
            }
        }
        return result + "\""
    }

    /// Hexadecimal digits, which would lose their leading zeros or become a power of ten without the prefix.
    static func hexadecimal(_ digits: some CustomStringConvertible) -> String { "0x\(digits)" }

    static func line(_ cells: [String]) -> String { cells.joined(separator: ",") + "\r\n" }
}
