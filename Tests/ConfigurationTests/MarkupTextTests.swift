import Configuration
import Testing

@Suite struct MarkupTextTests {
    @Test(arguments: [
        ("<script>", "&lt;script&gt;"), ("a & b", "a &amp; b"), ("\"'", "&quot;&#39;"), ("Ünïcode ☀️", "Ünïcode ☀️"),
        ("\u{0}\u{1B}[31m", "\u{FFFD}\u{FFFD}[31m"), ("\u{202E}txt", "\u{FFFD}txt"), ("a\tb\nc", "a\tb\nc"),
        ("\u{FFFE}\u{1FFFF}", "\u{FFFD}\u{FFFD}"), ("\u{2066}\u{85}", "\u{FFFD}\u{FFFD}"),
    ])
    func escapesTextForElementsAndAttributes(raw: String, escaped: String) {
        #expect(MarkupText.escaped(raw) == escaped)
    }

    @Test(arguments: [("abc", 3, "abc"), ("abcd", 3, "ab…"), ("abcd", 0, "…"), ("", 0, "")])
    func longTextsAreShortened(raw: String, length: Int, short: String) {
        #expect(MarkupText.shortened(raw, to: length) == short)
    }
}

@Suite struct JSONTextTests {
    @Test(arguments: [
        ("plain Ünïcode", #""plain Ünïcode""#), ("", #""""#), ("a\"b\\c", #""a\"b\\c""#),
        ("\n\r\t\u{0}\u{1B}\u{7F}", #""\n\r\t\u0000\u001b\u007f""#), ("\u{2028}", #""\u2028""#),
        ("\u{85}a\u{202E}b\u{9B}", #""\u0085a\u202eb\u009b""#), ("日本 é", #""日本 é""#),
    ])
    func quotesStringsAsJSON(raw: String, quoted: String) {
        #expect(JSONText.quoted(raw) == quoted)
    }

    @Test(arguments: [
        ("</script>", #""\u003c/script\u003e""#), ("\"\\", #""\u0022\u005c""#), ("\u{2028}", #""\u2028""#),
        ("\u{7}", #""\u0007""#), ("plain", #""plain""#), ("\u{1FFFF}", #""\ufffd""#), ("<!--", #""\u003c!--""#),
        ("\t\n", #""\u0009\u000a""#),
    ])
    func quotedStringCannotEndAScriptElement(raw: String, quoted: String) {
        #expect(JSONText.quotedForScript(raw) == quoted)
    }
}

@Suite struct TableTextTests {
    @Test(arguments: [
        ("plain", "\"plain\""), ("=1+1", "\"'=1+1\""), ("a;=1", "\"a;'=1\""), ("x\n@y", "\"x @y\""),
        (" \t-1", "\"  '-1\""), ("say \"+1\"", "\"say \"\"'+1\"\"\""), ("\u{FF1D}1", "\"'\u{FF1D}1\""),
    ])
    func escapesFormulasInSpreadsheetCells(raw: String, cell: String) {
        #expect(SpreadsheetText.text(raw) == cell)
    }

    @Test(arguments: [
        ("00ff", "0x00ff"), ("", "0x"), ("=1+1", "\"'=1+1\""), ("ab\r\n=cmd", "\"ab  =cmd\""), ("12,34", "\"12,34\""),
        ("１２", "\"１２\""),
    ])
    func prefixesHexadecimalDigitsAndQuotesOtherText(raw: String, cell: String) {
        #expect(SpreadsheetText.hexadecimal(raw) == cell)
    }

    @Test(arguments: [
        ("plain", "\"plain\""), ("yes", "\"yes\""), ("a: b # c", "\"a: b # c\""), ("\"\\\n\t", #""\"\\\n\t""#),
        ("\u{1B}\u{85}\u{FEFF}", #""\u001b\u0085\ufeff""#),
    ])
    func quotesYAMLScalarsAsText(raw: String, quoted: String) {
        #expect(YAMLText.quoted(raw) == quoted)
    }

    @Test(arguments: [("plain", "\"plain\""), ("a\"} 1\nb\\", #""a\"} 1\nb\\""#)])
    func escapesQuotesInPrometheusLabels(raw: String, label: String) {
        #expect(PrometheusText.label(raw) == label)
    }
}
