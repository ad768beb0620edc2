/// Escapes text from files, other machines and received frames, for a line on a terminal, in a message or in a journal.
///
/// Without escapes, such text could:
/// - control the terminal with escape sequences,
/// - break tables and imitate other lines with line ends,
/// - reverse the text around it with controls of the writing direction,
/// - cover other lines with combining marks.
public enum TerminalText {
    /// Returns the text in one line without quotes. Invisible and control characters become `\u` and four hexadecimal
    /// digits for each UTF-16 unit: `\u001b` is ESC.
    public static func line(_ text: String) -> String {
        guard text.unicodeScalars.contains(where: ScalarKind.isInvisible) else { return text }
        var result = ""
        for scalar in text.unicodeScalars {
            if ScalarKind.isInvisible(scalar) {
                result += JSONText.escape(scalar)
            } else {
                result.unicodeScalars.append(scalar)
            }
        }
        return result
    }

    /// Returns the text in double quotes, shortened and with invisible characters escaped, as a string of JSON.
    ///
    /// - Parameter limit: The largest number of columns before escaping, without the quotes.
    public static func quoted(_ text: String, to limit: Int = 40) -> String {
        JSONText.quoted(shortened(text, to: limit))
    }

    /// Returns the text shortened to a width that includes an ellipsis. It is not escaped.
    ///
    /// - Parameter limit: The width in columns, at least 1; see ``columns(of:)``.
    public static func shortened(_ text: String, to limit: Int) -> String {
        // A text has at most one column for each byte of its UTF-8.
        guard text.utf8.count > limit else { return text }
        var counter = ColumnCounter()
        var end = text.unicodeScalars.startIndex
        for index in text.unicodeScalars.indices {
            counter.add(text.unicodeScalars[index])
            if counter.columns > limit { return String(text.unicodeScalars[..<end]) + "…" }
            if counter.columns < limit { end = text.unicodeScalars.index(after: index) }
        }
        return text
    }

    /// Returns the number of terminal columns of the text: 2 for a wide character (East Asian, emoji), 0 for each of
    /// the first four combining marks on a character, and 1 for every other scalar. So a text has at most five scalars
    /// per column.
    public static func columns(of text: String) -> Int {
        var counter = ColumnCounter()
        for scalar in text.unicodeScalars { counter.add(scalar) }
        return counter.columns
    }

    /// Returns the text with long lines broken between words. If a broken line is a row of a table, it continues at the
    /// column of the row's last cell, if there is enough room. Words between backticks, such as commands, stay
    /// together.
    ///
    /// - Parameter limit: The largest width of a line in columns. A wider word is not broken.
    public static func wrapped(_ text: String, to limit: Int) -> String {
        let lines = text.split(separator: "\n", omittingEmptySubsequences: false)
        return lines.map { wrappedLine($0, limit) }.joined(separator: "\n")
    }

    private static func wrappedLine(_ line: Substring, _ limit: Int) -> String {
        // A text has at most one column for each byte of its UTF-8.
        guard line.utf8.count > limit, visibleColumns(of: line) > limit else { return String(line) }
        let indent = indent(of: line, limit)
        var (result, column, isFirst) = ("", 0, true)
        for word in words(of: line) {
            let width = visibleColumns(of: word.text)
            if isFirst || column + word.spaces + width <= limit {
                result += String(repeating: " ", count: word.spaces) + word.text
                column += word.spaces + width
            } else {
                // A word that is too wide for the indented line begins further to the left.
                let start = max(0, min(indent, limit - width))
                result += "\n" + String(repeating: " ", count: start) + word.text
                column = start + width
            }
            isFirst = false
        }
        return result
    }

    /// Returns the words of a line, each with the number of spaces before it. A text between backticks is one word.
    private static func words(of line: Substring) -> [(spaces: Int, text: String)] {
        var words: [(spaces: Int, text: String)] = []
        var (spaces, word, isCode) = (0, "", false)
        for character in line {
            if character == "`" { isCode.toggle() }
            if character == " ", !isCode {
                if !word.isEmpty {
                    words.append((spaces, word))
                    (spaces, word) = (0, "")
                }
                spaces += 1
            } else {
                word.append(character)
            }
        }
        return word.isEmpty ? words : words + [(spaces, word)]
    }

    /// Returns the column at which a broken line continues: that of a table's last cell, or of the text after a sign
    /// such as `-`; 0 for other lines.
    private static func indent(of line: Substring, _ limit: Int) -> Int {
        var (column, indent, isStart) = (0, 0, true)
        for word in words(of: line) {
            column += word.spaces
            if isStart ? word.spaces > 0 : word.spaces > 1, column <= limit - leastCellWidth { indent = column }
            if isStart, ["-", "→"].contains(word.text) { indent = column + 2 }
            column += visibleColumns(of: word.text)
            isStart = false
        }
        return indent
    }

    /// The smallest width of a table's last cell, in columns, at which a broken line continues in this cell.
    private static let leastCellWidth = 24

    /// Returns the number of columns of a text without its escape sequences, which set colours.
    private static func visibleColumns(of text: some StringProtocol) -> Int {
        var counter = ColumnCounter()
        var isEscape = false
        for scalar in text.unicodeScalars {
            if scalar == "\u{1B}" {
                isEscape = true
            } else if isEscape {
                isEscape = !scalar.properties.isAlphabetic
            } else {
                counter.add(scalar)
            }
        }
        return counter.columns
    }

    private struct ColumnCounter {
        private(set) var columns = 0
        /// The number of combining marks on the last character. It is 4 at the start, so that a mark at the start of
        /// the text takes a column.
        private var marks = 4

        mutating func add(_ scalar: Unicode.Scalar) {
            if scalar.value < 0x300 {
                marks = 0
                columns += 1
            } else if ScalarKind.isCombining(scalar) {
                marks += 1
                if marks > 4 { columns += 1 }
            } else {
                marks = 0
                columns += ScalarKind.isWide(scalar) ? 2 : 1
            }
        }
    }
}

/// Properties of Unicode scalars that affect the text around them.
enum ScalarKind {
    /// Returns true if a scalar is a control, a line or paragraph end, a format character such as a control of the
    /// writing direction, or a noncharacter.
    static func isInvisible(_ scalar: Unicode.Scalar) -> Bool {
        if scalar.value < 0x7F { return scalar.value < 0x20 }
        if isNoncharacter(scalar) { return true }
        switch scalar.properties.generalCategory {
        case .control, .format, .lineSeparator, .paragraphSeparator: return true
        default: return false
        }
    }

    /// Returns true if a scalar is a control, including tabs and line feeds, a control of the writing direction, or a
    /// noncharacter.
    static func isForbiddenInMarkup(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.value {
        case 0..<0x20, 0x7F..<0xA0, 0x202A...0x202E, 0x2066...0x2069: true
        default: isNoncharacter(scalar)
        }
    }

    static func isNoncharacter(_ scalar: Unicode.Scalar) -> Bool {
        scalar.value & 0xFFFE == 0xFFFE || (0xFDD0...0xFDEF).contains(scalar.value)
    }

    static func isCombining(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.properties.generalCategory {
        case .nonspacingMark, .enclosingMark: true
        default: false
        }
    }

    /// Returns true if a scalar is an East Asian wide or full-width character or an emoji (UAX #11, by blocks).
    static func isWide(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.value {
        case 0x1100...0x115F, 0x2E80...0x303E, 0x3041...0xA4CF, 0xA960...0xA97F, 0xAC00...0xD7A3, 0xF900...0xFAFF,
            0xFE10...0xFE19, 0xFE30...0xFE6F, 0xFF01...0xFF60, 0xFFE0...0xFFE6, 0x1F300...0x1F64F, 0x1F680...0x1F6FF,
            0x1F900...0x1F9FF, 0x20000...0x3FFFD:
            true
        default: false
        }
    }
}
