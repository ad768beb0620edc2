/// Text in YAML that every reader takes for that text.
public enum YAMLText {
    /// A scalar in double quotes, where nothing is a tag, an anchor, a comment, a number or a key. What YAML does not
    /// allow or would fold is escaped, in the way that JSON has too (YAML 1.2, section 7.3.1).
    public static func quoted(_ text: String) -> String {
        var result = "\""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\"": result += "\\\""
            case "\\": result += "\\\\"
            case "\n": result += "\\n"
            case "\r": result += "\\r"
            case "\t": result += "\\t"
            case "\u{0}"..."\u{1F}", "\u{7F}"..."\u{9F}", "\u{2028}", "\u{2029}", "\u{FEFF}", "\u{FFFE}", "\u{FFFF}":
                result += JSONText.escape(scalar)
            default: result.unicodeScalars.append(scalar)
            }
        }
        return result + "\""
    }
}

/// Text in Prometheus' text format (version 0.0.4).
public enum PrometheusText {
    /// A label's value, with its quotes. Three characters may not stand in it as they are: quotes, backslashes and line
    /// feeds.
    public static func label(_ value: String) -> String {
        var result = "\""
        for scalar in value.unicodeScalars {
            switch scalar {
            case "\\": result += "\\\\"
            case "\"": result += "\\\""
            case "\n": result += "\\n"
            default: result.unicodeScalars.append(scalar)
            }
        }
        return result + "\""
    }
}
