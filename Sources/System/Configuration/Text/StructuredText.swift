/// Text as strings of JSON (RFC 8259, section 7).
public enum JSONText {
    /// In double quotes. Escaped is what JSON demands: quotes, backslashes and the controls below U+0020, of which line
    /// feeds, carriage returns and tabulators have a short form; and DEL, which terminals obey.
    public static func quoted(_ text: String) -> String {
        // Most strings need nothing.
        guard text.utf8.contains(where: mayNeedEscaping) else { return "\"\(text)\"" }
        var result = "\""
        result.reserveCapacity(text.utf8.count + 2)
        appendEscaped(text, to: &result) { $0.value < 0x20 || $0.value == 0x7F }
        return result + "\""
    }

    /// The same in UTF-8, behind what is there.
    public static func append(quoted text: String, to result: inout [UInt8]) {
        guard !text.utf8.contains(where: mayNeedEscaping) else {
            result += quoted(text).utf8
            return
        }
        result.append(UInt8(ascii: "\""))
        result += text.utf8
        result.append(UInt8(ascii: "\""))
    }

    /// The same that may stand inside a script element of a page: no `<`, `>`, `&` and `'` is left, so that neither an
    /// end tag nor a comment can begin there. What a page may not hold is escaped too; noncharacters beyond U+FFFF
    /// become U+FFFD.
    public static func quotedForScript(_ text: String) -> String {
        var result = "\""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\"", "\\", "<", ">", "&", "'", "\u{2028}", "\u{2029}": result += escape(scalar)
            case _ where ScalarKind.isForbiddenInMarkup(scalar):
                result += scalar.value > 0xFFFF ? "\\ufffd" : escape(scalar)
            default: result.unicodeScalars.append(scalar)
            }
        }
        return result + "\""
    }

    private static func mayNeedEscaping(_ octet: UInt8) -> Bool {
        octet < 0x20 || octet == UInt8(ascii: "\"") || octet == UInt8(ascii: "\\") || octet == 0x7F
    }

    /// With a backslash before quotes and backslashes, short forms for line feeds, carriage returns and tabulators, and
    /// `\u` for whatever else is `forbidden`.
    static func appendEscaped(_ text: String, to result: inout String, forbidden: (Unicode.Scalar) -> Bool) {
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\"": result += "\\\""
            case "\\": result += "\\\\"
            case "\n": result += "\\n"
            case "\r": result += "\\r"
            case "\t": result += "\\t"
            case _ where forbidden(scalar): result += escape(scalar)
            default: result.unicodeScalars.append(scalar)
            }
        }
    }

    /// `\u` and four digits for each unit of UTF-16.
    static func escape(_ scalar: Unicode.Scalar) -> String {
        var result = ""
        for unit in String(scalar).utf16 {
            let digits = String(unit, radix: 16)
            result += "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
        }
        return result
    }
}

/// Text in YAML that every reader takes for that text.
public enum YAMLText {
    /// A scalar in double quotes, where nothing is a tag, an anchor, a comment, a number or a key. What YAML does not
    /// allow or would fold is escaped, in the way that JSON has too (YAML 1.2, section 7.3.1).
    public static func quoted(_ text: String) -> String {
        var result = "\""
        JSONText.appendEscaped(text, to: &result) { scalar in
            switch scalar.value {
            case 0..<0x20, 0x7F..<0xA0, 0x2028, 0x2029, 0xFEFF, 0xFFFE, 0xFFFF: true
            default: false
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
        // Most values need nothing.
        guard value.utf8.contains(where: needsEscaping) else { return "\"\(value)\"" }
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

    private static func needsEscaping(_ octet: UInt8) -> Bool {
        octet == UInt8(ascii: "\\") || octet == UInt8(ascii: "\"") || octet == UInt8(ascii: "\n")
    }
}

/// Text as words of a POSIX shell.
public enum ShellText {
    /// Words as a command line that somebody could type. A word that holds anything but letters, digits and
    /// `-_./:=,+%@` stands between single quotes.
    public static func line(_ words: [String]) -> String { words.map(word).joined(separator: " ") }

    private static func word(_ word: String) -> String {
        let isPlain = word.utf8.allSatisfy {
            "-_./:=,+%@".utf8.contains($0) || Character(Unicode.Scalar($0)).isLetter
                || Character(Unicode.Scalar($0)).isNumber
        }
        return isPlain && !word.isEmpty ? word : "'" + word.replacing("'", with: "'\\''") + "'"
    }
}
