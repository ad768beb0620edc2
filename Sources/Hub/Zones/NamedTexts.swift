/// Replaces each `${name}` in a text. `${` without a following `}` is not changed.
package enum NamedTexts {
    /// Returns the text with each `${name}` replaced by the value of that name.
    package static func fill(_ text: String, _ value: (String) -> String) -> String {
        var result = ""
        var rest = text[...]
        while let start = rest.firstRange(of: "${"), let end = rest[start.upperBound...].firstIndex(of: "}") {
            result += rest[..<start.lowerBound] + value(String(rest[start.upperBound..<end]))
            rest = rest[rest.index(after: end)...]
        }
        return result + rest
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
