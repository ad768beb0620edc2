import Configuration
import Testing

@Suite struct TerminalTextTests {
    @Test(arguments: [
        ("lobby", "lobby"), ("Empfang süd ☀", "Empfang süd ☀"), ("\u{1B}[31mred", "\\u001b[31mred"),
        ("a\nb\r\tc", "a\\u000ab\\u000d\\u0009c"), ("\u{9B}31m", "\\u009b31m"), ("\u{7F}", "\\u007f"),
        ("\u{202E}txt\u{2066}", "\\u202etxt\\u2066"), ("\u{2028}\u{2029}", "\\u2028\\u2029"),
        ("\u{200B}\u{FEFF}\u{AD}", "\\u200b\\ufeff\\u00ad"), ("\u{E0041}", "\\udb40\\udc41"), ("\u{FFFF}", "\\uffff"),
        ("日本", "日本"), ("e\u{301}", "e\u{301}"),
    ])
    func escapesControlAndInvisibleCharacters(raw: String, line: String) {
        #expect(TerminalText.line(raw) == line)
    }

    @Test func escapesAllControlAndDirectionCharacters() {
        for value in UInt32(0)...0x2FFF {
            guard let scalar = Unicode.Scalar(value) else { continue }
            let obeys =
                value < 0x20 || (0x7F..<0xA0).contains(value) || (0x202A...0x202E).contains(value)
                || (0x2066...0x2069).contains(value) || value == 0x200E || value == 0x200F
            guard obeys else { continue }
            #expect(!TerminalText.line(String(scalar)).unicodeScalars.contains(scalar))
            #expect(!TerminalText.quoted(String(scalar)).unicodeScalars.contains(scalar))
        }
    }

    @Test(arguments: [
        ("lobby", #""lobby""#), ("say \"hi\"", #""say \"hi\"""#), ("\u{1B}\n\u{202E}", #""\u001b\n\u202e""#),
        ("\\", #""\\""#),
    ])
    func quotesTextAsJSON(raw: String, quoted: String) {
        #expect(TerminalText.quoted(raw) == quoted)
    }

    @Test(arguments: [
        ("", 0), ("abc", 3), ("süd", 3), ("su\u{308}d", 3), ("日本", 4), ("한국", 4), ("ＡＢ", 4), ("🍏", 2), ("ﾊﾝ", 2),
        ("\u{301}", 1), ("a\u{301}\u{302}\u{303}\u{304}", 1), ("a\u{301}\u{302}\u{303}\u{304}\u{305}", 2),
    ])
    func countsTerminalColumns(text: String, columns: Int) {
        #expect(TerminalText.columns(of: text) == columns)
    }

    @Test(arguments: [
        ("abc", 3, "abc"), ("abcd", 3, "ab…"), ("日本語", 6, "日本語"), ("日本語", 5, "日本…"), ("日本語", 4, "日…"),
        ("süden", 5, "süden"), ("su\u{308}den", 4, "su\u{308}d…"), ("ab", 0, "…"), ("", 0, ""), ("日本", 1, "…"),
    ])
    func textsAreShortenedByColumns(text: String, limit: Int, short: String) {
        #expect(TerminalText.shortened(text, to: limit) == short)
    }

    /// One character with many combining marks can fill a screen.
    @Test func shortensRunsOfCombiningMarks() {
        for start in ["", "a", "日", "ab"] {
            let text = start + String(repeating: "\u{301}", count: 100_000) + "end"
            let short = TerminalText.shortened(text, to: 20)
            #expect(short.hasSuffix("…") && short.unicodeScalars.count <= 100)
            #expect(TerminalText.columns(of: short) <= 20)
            #expect(TerminalText.quoted(text, to: 20).unicodeScalars.count <= 102)
        }
    }

    @Test(
        "long lines wrap between words and continue below the last column of a table",
        arguments: [
            ("no break", "no break"),
            ("one two three four five six seven eight nine", "one two three four five six seven eight\nnine"),
            (
                "name  2  a remark of a table that is much longer",
                "name  2  a remark of a table that is much\n         longer"
            ),
            (
                "a sign with a cell far on the right   that does not fit",
                "a sign with a cell far on the right\nthat does not fit"
            ),
            (
                "- a note that is longer than the terminal is wide",
                "- a note that is longer than the terminal\n  is wide"
            ),
            (
                "    → `sudo make install`, or install the package",
                "    → `sudo make install`, or install the\n      package"
            ),
            ("run it again with `sudo make install PREFIX=/usr`", "run it again with\n`sudo make install PREFIX=/usr`"),
            (
                "\u{1B}[1;31mfail\u{1B}[0m  kernel  no Bluetooth here",
                "\u{1B}[1;31mfail\u{1B}[0m  kernel  no Bluetooth here"
            ),
            (
                "    9  fb  UUID      fb0b57a2-8228-44cd-913a-94a122ba1206",
                "    9  fb  UUID\n     fb0b57a2-8228-44cd-913a-94a122ba1206"
            ),
            (
                "https://example.org/a/path/that/is/longer/than/forty here",
                "https://example.org/a/path/that/is/longer/than/forty\nhere"
            ),
        ])
    func linesAreBrokenBetweenWords(text: String, expected: String) {
        #expect(TerminalText.wrapped(text, to: 41) == expected)
        #expect(TerminalText.wrapped(text + "\n", to: 41) == expected + "\n")
    }
}
