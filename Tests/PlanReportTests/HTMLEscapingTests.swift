import Testing

@testable import PlanReport

@Suite struct HTMLEscapingTests {
    @Test(arguments: [
        ("<script>", "&lt;script&gt;"), ("a & b", "a &amp; b"), ("\"'", "&quot;&#39;"), ("Ünïcode ☀️", "Ünïcode ☀️"),
        ("\u{0}\u{1B}[31m", "\u{FFFD}\u{FFFD}[31m"), ("\u{202E}txt", "\u{FFFD}txt"), ("a\tb\nc", "a\tb\nc"),
        ("\u{FFFE}\u{1FFFF}", "\u{FFFD}\u{FFFD}"),
    ])
    func textStandsBetweenTagsAndInAttributes(raw: String, escaped: String) {
        #expect(HTMLEscaping.text(raw) == escaped)
    }

    @Test(arguments: [
        ("</script>", #""\u003c/script\u003e""#), ("\"\\", #""\u0022\u005c""#), ("\u{2028}", #""\u2028""#),
        ("\u{7}", #""\u0007""#), ("plain", #""plain""#), ("\u{1FFFF}", #""\ufffd""#),
    ])
    func jsonStandsInsideAScriptElement(raw: String, escaped: String) {
        #expect(HTMLEscaping.json(raw) == escaped)
    }

    @Test(arguments: [("abc", 3, "abc"), ("abcd", 3, "ab…"), ("abcd", 0, "…"), ("", 0, "")])
    func longTextsAreShortened(raw: String, length: Int, short: String) {
        #expect(HTMLEscaping.shortened(raw, to: length) == short)
    }
}
