internal import TextEscaping

/// Text from outside, made safe to stand in a page.
enum HTMLEscaping {
    static func text(_ raw: String) -> String { MarkupText.escaped(raw) }
    static func json(_ raw: String) -> String { JSONText.quotedForScript(raw) }
    static func shortened(_ raw: String, to length: Int) -> String { MarkupText.shortened(raw, to: length) }
}
