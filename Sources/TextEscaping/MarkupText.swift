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
