/// Text from outside, made safe to stand in a page.
enum HTMLEscaping {
    /// As text between tags, or as an attribute's value between double quotes. Characters that HTML does not allow
    /// (controls, noncharacters) become U+FFFD.
    static func text(_ raw: String) -> String {
        var result = ""
        result.reserveCapacity(raw.utf8.count)
        for scalar in raw.unicodeScalars {
            switch scalar {
            case "&": result += "&amp;"
            case "<": result += "&lt;"
            case ">": result += "&gt;"
            case "\"": result += "&quot;"
            case "'": result += "&#39;"
            case "\t", "\n": result.unicodeScalars.append(scalar)
            case _ where isForbidden(scalar): result += "\u{FFFD}"
            default: result.unicodeScalars.append(scalar)
            }
        }
        return result
    }

    /// As a string of JSON, quotes included, that may stand inside a script element: no `<` and no `&` is left, so
    /// neither an end tag nor a comment can begin there.
    static func json(_ raw: String) -> String {
        var result = "\""
        for scalar in raw.unicodeScalars {
            switch scalar {
            case "\"", "\\", "<", ">", "&", "'": result += escape(scalar)
            case _ where scalar.value < 0x20 || scalar.value == 0x2028 || scalar.value == 0x2029 || isForbidden(scalar):
                result += escape(scalar)
            default: result.unicodeScalars.append(scalar)
            }
        }
        return result + "\""
    }

    /// The text up to a length in scalars (one character may consist of any number of them), with an ellipsis where
    /// something was left out.
    static func shortened(_ raw: String, to length: Int) -> String {
        guard raw.unicodeScalars.count > length else { return raw }
        return String(String.UnicodeScalarView(raw.unicodeScalars.prefix(max(0, length - 1)))) + "…"
    }

    /// HTML 13.1: controls other than white space, and noncharacters. Directional overrides are forbidden here as
    /// well: a name must not turn around what stands beside it.
    private static func isForbidden(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.value {
        case 0..<0x20, 0x7F..<0xA0, 0xFDD0...0xFDEF, 0x202A...0x202E, 0x2066...0x2069: true
        default: scalar.value & 0xFFFE == 0xFFFE
        }
    }

    private static func escape(_ scalar: Unicode.Scalar) -> String {
        guard scalar.value <= 0xFFFF else { return "\\ufffd" }
        let digits = String(scalar.value, radix: 16)
        return "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
    }
}
