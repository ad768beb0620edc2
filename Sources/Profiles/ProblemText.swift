/// Foreign text inside messages: quoted, and never so long that the message drowns in it.
enum ProblemText {
    static let limit = 40

    /// In double quotes with everything invisible escaped.
    static func quoted(_ text: String) -> String {
        JSONValue.string(shortened(text)).line
    }

    static func shortened(_ text: String) -> String {
        text.count <= limit ? text : text.prefix(limit) + "…"
    }
}
