internal import BluetoothTypes

/// Escapes text for HTML and XML, including SVG.
public enum MarkupText {
    /// Returns the text for the content of an element, or for an attribute in single or double quotes. Characters that
    /// HTML and XML do not allow, and controls of the writing direction, become U+FFFD. Tabs and line feeds are not
    /// changed.
    public static func escaped(_ text: String) -> String {
        var result = ""
        result.reserveCapacity(text.utf8.count)
        for scalar in text.unicodeScalars {
            switch scalar {
            case "&": result += "&amp;"
            case "<": result += "&lt;"
            case ">": result += "&gt;"
            case "\"": result += "&quot;"
            case "'": result += "&#39;"
            case "\t", "\n": result.unicodeScalars.append(scalar)
            case _ where ScalarKind.isForbiddenInMarkup(scalar): result += "\u{FFFD}"
            default: result.unicodeScalars.append(scalar)
            }
        }
        return result
    }

    /// Returns the text shortened to at most `length` Unicode scalars, including an ellipsis. It is not escaped.
    public static func shortened(_ text: String, to length: Int) -> String {
        guard text.unicodeScalars.count > length else { return text }
        return String(String.UnicodeScalarView(text.unicodeScalars.prefix(max(0, length - 1)))) + "…"
    }
}

/// Writes cells of a CSV file (RFC 4180) that spreadsheets do not run as formulas.
///
/// Spreadsheets run a cell that begins with `=`, `+`, `-` or `@` as a formula, even in quotes. Some spreadsheets also
/// split lines at semicolons within quotes.
public enum SpreadsheetText {
    /// Returns the text of a cell without the apostrophe that ``text(_:)`` inserts at its start.
    public static func raw(_ text: String) -> String {
        guard text.first == "'", let next = text.dropFirst().first,
            "=+-@|%\u{FF1D}\u{FF0B}\u{FF0D}\u{FF20}".contains(next)
        else { return text }
        return String(text.dropFirst())
    }

    /// Returns a text as a cell in double quotes. An apostrophe is inserted before each character that could begin a
    /// formula: at the start of the cell, and after each character at which a spreadsheet may end the cell.
    public static func text(_ raw: String) -> String {
        var result = "\""
        var mayBeginFormula = true
        for scalar in raw.unicodeScalars {
            switch scalar {
            case "\"":
                result += "\"\""
                mayBeginFormula = true
            case "\u{0}"..."\u{1F}", "\u{7F}"..."\u{9F}", "\u{2028}", "\u{2029}", " ", "\u{A0}":
                // Line feeds and tabs would end a cell in some spreadsheets. A formula may also begin after blanks.
                result += " "
            case "=", "+", "-", "@", "\u{FF1D}", "\u{FF0B}", "\u{FF0D}", "\u{FF20}", "|", "%":
                if mayBeginFormula { result += "'" }
                result.unicodeScalars.append(scalar)
                mayBeginFormula = scalar == "|"
            default:
                result.unicodeScalars.append(scalar)
                mayBeginFormula = scalar == ";" || scalar == ","
            }
        }
        return result + "\""
    }

    /// Returns hexadecimal digits as a cell with the prefix `0x`. Without the prefix, spreadsheets would remove leading
    /// zeros or read digits such as `12e3` as a power of ten. Any other text is returned as ``text(_:)`` does.
    public static func hexadecimal(_ digits: some CustomStringConvertible) -> String {
        let digits = "\(digits)"
        return digits.utf8.allSatisfy { $0.hexadecimalValue != nil } ? "0x\(digits)" : text(digits)
    }

    /// Returns a line of cells, which are already escaped, with CR LF at its end.
    public static func line(_ cells: [String]) -> String { cells.joined(separator: ",") + "\r\n" }
}
