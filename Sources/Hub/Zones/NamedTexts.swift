/// Replaces each `${name}` in a text. `${` without a following `}` is not changed.
package enum NamedTexts {
    /// Returns the text with each `${name}` replaced by the value of that name.
    package static func fill(_ text: String, _ value: (String) -> String) -> String {
        var result = ""
        var remainder = text[...]
        while let start = remainder.firstRange(of: "${"), let end = remainder[start.upperBound...].firstIndex(of: "}") {
            result += remainder[..<start.lowerBound] + value(String(remainder[start.upperBound..<end]))
            remainder = remainder[remainder.index(after: end)...]
        }
        return result + remainder
    }

    /// Returns the names of all `${name}` in a text, in order of appearance.
    package static func names(in text: String) -> [String] {
        var names: [String] = []
        _ = fill(text) {
            names.append($0)
            return ""
        }
        return names
    }
}
