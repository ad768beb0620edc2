internal import BluetoothTypes

/// Writes strings of JSON (RFC 8259, section 7).
public enum JSONText {
    /// Returns the text in double quotes, with quotes, backslashes and all invisible characters escaped. JSON requires
    /// escapes only for control characters below U+0020. But terminals also execute other control characters, and some
    /// invisible characters reverse the text around them.
    public static func quoted(_ text: String) -> String {
        guard text.utf8.contains(where: mayNeedEscaping) else { return "\"\(text)\"" }
        var result = "\""
        result.reserveCapacity(text.utf8.count + 2)
        appendEscaped(text, to: &result, forbidden: ScalarKind.isInvisible)
        return result + "\""
    }

    /// Appends the text in double quotes, as ``quoted(_:)`` returns it, in UTF-8.
    public static func append(quoted text: String, to result: inout [UInt8]) {
        guard !text.utf8.contains(where: mayNeedEscaping) else {
            result += quoted(text).utf8
            return
        }
        result.append(UInt8(ascii: "\""))
        result += text.utf8
        result.append(UInt8(ascii: "\""))
    }

    /// Returns the text in double quotes for a script element of an HTML page. `<`, `>`, `&` and `'` are escaped, so
    /// that the text can begin neither an end tag nor a comment. Characters that HTML does not allow are escaped as
    /// well; noncharacters above U+FFFF become U+FFFD.
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

    /// Returns true if the byte is a character that must be escaped, or part of a character that is not ASCII.
    private static func mayNeedEscaping(_ octet: UInt8) -> Bool {
        octet < 0x20 || octet == UInt8(ascii: "\"") || octet == UInt8(ascii: "\\") || octet >= 0x7F
    }

    /// Appends the text with a backslash before quotes and backslashes, short forms for line feeds, carriage returns
    /// and tabs, and `\u` for all other `forbidden` scalars.
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

    /// Returns `\u` and four digits for each UTF-16 unit of the scalar.
    static func escape(_ scalar: Unicode.Scalar) -> String {
        String(scalar).utf16.map { "\\u" + NumberFormat.padded($0, to: 4, radix: 16) }.joined()
    }
}

/// Writes strings of YAML.
public enum YAMLText {
    /// Returns the text in double quotes, so that no reader interprets it as a tag, a comment, a number or a key.
    /// Characters that YAML does not allow or would fold are escaped as in JSON (YAML 1.2, section 7.3.1).
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

/// Writes label values of the Prometheus text format (version 0.0.4).
public enum PrometheusText {
    /// Returns the value of a label in double quotes, with quotes, backslashes and line feeds escaped.
    public static func label(_ value: String) -> String {
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

/// Writes command lines for a POSIX shell.
public enum ShellText {
    /// Returns a command line. Words with characters other than letters, digits and `-_./:=,+%@` are put in single
    /// quotes.
    public static func line(_ words: [String]) -> String { words.map(word).joined(separator: " ") }

    private static func word(_ word: String) -> String {
        let isPlain = word.utf8.allSatisfy {
            "-_./:=,+%@".utf8.contains($0) || Character(Unicode.Scalar($0)).isLetter
                || Character(Unicode.Scalar($0)).isNumber
        }
        return isPlain && !word.isEmpty ? word : "'" + word.replacing("'", with: "'\\''") + "'"
    }
}
