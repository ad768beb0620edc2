/// Names in a text, each as `${name}`, for which other texts are filled in. `${` without a `}` after it is plain text.
package enum NamedTexts {
    /// Returns the text with the text of each name filled in.
    package static func fill(_ text: String, _ value: (String) -> String) -> String {
        var result = ""
        var rest = text[...]
        while let start = rest.firstRange(of: "${"), let end = rest[start.upperBound...].firstIndex(of: "}") {
            result += rest[..<start.lowerBound] + value(String(rest[start.upperBound..<end]))
            rest = rest[rest.index(after: end)...]
        }
        return result + rest
    }

    /// The names in a text, in its order.
    package static func names(in text: String) -> [String] {
        var names: [String] = []
        _ = fill(text) {
            names.append($0)
            return ""
        }
        return names
    }
}
