/// Foreign text inside messages: quoted, and never so long that the message drowns in it.
package enum ProblemText {
    /// In double quotes with everything invisible escaped.
    package static func quoted(_ text: String) -> String {
        let line = JSONValue.string(shortened(text)).line
        guard line.unicodeScalars.contains(where: isInvisible) else { return line }
        var result = ""
        for scalar in line.unicodeScalars {
            guard isInvisible(scalar) else {
                result.unicodeScalars.append(scalar)
                continue
            }
            for unit in String(scalar).utf16 {
                let digits = String(unit, radix: 16)
                result += "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
            }
        }
        return result
    }

    /// What JSON lets stand and a terminal obeys: DEL and the controls behind it, and marks that turn the direction of
    /// writing around.
    private static func isInvisible(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.properties.generalCategory {
        case .control, .format, .lineSeparator, .paragraphSeparator: true
        default: false
        }
    }

    package static func shortened(_ text: String, to limit: Int = 40) -> String {
        text.count <= limit ? text : text.prefix(limit) + "…"
    }
}
