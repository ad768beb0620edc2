/// Foreign text inside messages: quoted, and never so long that the message drowns in it.
package enum ProblemText {
    /// In double quotes with everything invisible escaped.
    package static func quoted(_ text: String) -> String {
        JSONValue.string(shortened(text)).line
    }

    package static func shortened(_ text: String, to limit: Int = 40) -> String {
        text.count <= limit ? text : text.prefix(limit) + "…"
    }
}
