/// Text from a file, another machine or the air, made safe to stand in a line on a terminal, in a message or in a
/// journal.
///
/// A terminal obeys control characters, line ends break tables and forge lines, marks for the direction of writing turn
/// around what stands beside them, and any number of combining marks fits into one character. None of that passes here.
public enum TerminalText {
    /// The text in one line, without quotes. What is invisible or controls a terminal becomes `\u` and four hexadecimal
    /// digits, two of them beyond U+FFFF (UTF-16): `\u001b` is ESC.
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

    /// The text in double quotes, shortened and with everything invisible escaped, as a string of JSON.
    ///
    /// - Parameter limit: Columns that it may take before it is escaped, without the quotes.
    public static func quoted(_ text: String, to limit: Int = 40) -> String {
        line(JSONText.quoted(shortened(text, to: limit)))
    }

    /// The text up to a width, with an ellipsis in the last column where something was left out. Nothing is escaped.
    ///
    /// - Parameter limit: Columns: see ``columns(of:)``. Less than 1 counts as 1.
    public static func shortened(_ text: String, to limit: Int) -> String {
        // Every octet of UTF-8 is at most one column wide.
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

    /// How many columns a terminal needs for the text: 2 for wide characters (East Asian ones, emoji), 0 for a combining
    /// mark, 1 for each further mark from the fifth on one character on, and 1 for everything else. So no text of a
    /// given width is longer than five times that many scalars.
    public static func columns(of text: String) -> Int {
        var counter = ColumnCounter()
        for scalar in text.unicodeScalars { counter.add(scalar) }
        return counter.columns
    }

    private struct ColumnCounter {
        private(set) var columns = 0
        /// Marks on the last character; a text that begins with one has no character to put it on.
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

/// What a scalar does to the text around it.
enum ScalarKind {
    /// Controls of either set, line and paragraph ends, marks for the direction of writing and other format characters,
    /// and noncharacters.
    static func isInvisible(_ scalar: Unicode.Scalar) -> Bool {
        if scalar.value < 0x7F { return scalar.value < 0x20 }
        if isNoncharacter(scalar) { return true }
        switch scalar.properties.generalCategory {
        case .control, .format, .lineSeparator, .paragraphSeparator: return true
        default: return false
        }
    }

    /// Controls, overrides of the direction of writing, and noncharacters: what neither HTML nor XML may hold or a page
    /// should obey. Tabulators and line feeds are among them.
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

    /// East Asian wide and full-width characters and emoji (UAX #11, by blocks).
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
