internal import TextEscaping

/// Foreign text inside messages: quoted, and never so long that the message drowns in it.
package enum ProblemText {
    /// In double quotes with everything invisible escaped, at most 40 columns and an ellipsis.
    package static func quoted(_ text: String) -> String { TerminalText.quoted(shortened(text), to: 41) }

    /// At most so many columns, and an ellipsis where something was left out. Not escaped.
    package static func shortened(_ text: String, to limit: Int = 40) -> String {
        TerminalText.shortened(text, to: limit + 1)
    }
}
