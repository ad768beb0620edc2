/// Writes words of other Latin alphabets with the letters a to z.
package enum PlainLetters {
    /// Returns `text` with plain letters instead of letters with marks: `ae` for `ä`, `ss` for `ß`, `e` for `é`.
    /// Characters that are not Latin letters are not changed.
    package static func text(_ text: String) -> String {
        var result = ""
        for scalar in text.unicodeScalars {
            switch scalar {
            case _ where scalar.isASCII: result.unicodeScalars.append(scalar)
            case "ä", "ö", "ü": result += plain(scalar) + "e"
            case "Ä", "Ö", "Ü": result += plain(scalar) + "e"
            case "ß": result += "ss"
            case "ẞ": result += "SS"
            // A combining diaeresis, which follows its letter as a separate scalar.
            case "\u{308}": result += result.last.map { "aouAOU".contains($0) } == true ? "e" : ""
            case _ where scalar.properties.generalCategory == .nonspacingMark: break
            default: result += plain(scalar)
            }
        }
        return result
    }

    /// Returns the plain letter that the Unicode name of a scalar contains, such as `e` for `LATIN SMALL LETTER E WITH
    /// ACUTE`; other scalars are returned unchanged.
    private static func plain(_ scalar: Unicode.Scalar) -> String {
        let words = (scalar.properties.name ?? "").split(separator: " ")
        guard words.count > 3, words[0] == "LATIN", words[2] == "LETTER", words[3].count <= 2 else {
            return String(Character(scalar))
        }
        return words[1] == "SMALL" ? words[3].lowercased() : String(words[3])
    }
}
