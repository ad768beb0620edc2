import Testing

@testable import Planner

@Suite struct PageScriptTests {
    @Test func nothingInItEndsItsElement() {
        for word in ["</", "<!--", "\u{FFFD}"] {
            #expect(!PageScript.text.contains(word))
            #expect(!PageStyle.text.contains(word))
        }
    }
}
