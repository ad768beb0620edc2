/// Text made safe to stand in HTML and XML, SVG included.
public enum MarkupText {
    /// As text between tags, or as an attribute's value between quotes of either kind. Characters that HTML and XML do
    /// not allow, and overrides of the direction of writing, become U+FFFD; tabulators and line feeds stay.
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

    /// The text up to a length in scalars (one character may consist of any number of them), with an ellipsis where
    /// something was left out. Nothing is escaped.
    public static func shortened(_ text: String, to length: Int) -> String {
        guard text.unicodeScalars.count > length else { return text }
        return String(String.UnicodeScalarView(text.unicodeScalars.prefix(max(0, length - 1)))) + "…"
    }
}

/// Cells of a CSV file (RFC 4180) that spreadsheets take for what they are: text stays text.
///
/// Spreadsheets run a cell that begins with `=`, `+`, `-` or `@` as a formula, quoted or not, and some split lines at
/// semicolons whatever the quotes say.
public enum SpreadsheetText {
    /// A text from outside: always in quotes, with an apostrophe before whatever a formula could begin with, at the
    /// start and behind everything that some spreadsheet takes for the end of a cell.
    public static func text(_ raw: String) -> String {
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

    /// Hexadecimal digits, which would lose their leading zeros or become a power of ten without the prefix. What is not
    /// made of such digits is text.
    public static func hexadecimal(_ digits: some CustomStringConvertible) -> String {
        let digits = "\(digits)"
        return digits.utf8.allSatisfy(isHexadecimal) ? "0x\(digits)" : text(digits)
    }

    private static func isHexadecimal(_ octet: UInt8) -> Bool {
        switch octet {
        case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "a")...UInt8(ascii: "f"),
            UInt8(ascii: "A")...UInt8(ascii: "F"):
            true
        default: false
        }
    }

    /// Cells as one line, with its end (RFC 4180). The cells are escaped already.
    public static func line(_ cells: [String]) -> String { cells.joined(separator: ",") + "\r\n" }
}
