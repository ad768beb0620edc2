import Crypto
import FoundationEssentials
import Testing

@testable import Planner

/// The script and the style of the page are constant, and so are their hashes.
@Suite struct PageScriptTests {
    @Test(arguments: [("script", PageScript.text, PageScript.source), ("style", PageStyle.text, PageStyle.source)])
    func theHashIsThatOfTheText(name: String, text: String, source: String) {
        let hash = Data(SHA256.hash(data: Data(text.utf8))).base64EncodedString()
        #expect(source == "'sha256-\(hash)'", "the page's \(name) was changed: its hash belongs in PageScript.swift")
    }

    @Test func nothingInItEndsItsElement() {
        for word in ["</", "<!--", "\u{FFFD}"] {
            #expect(!PageScript.text.contains(word))
            #expect(!PageStyle.text.contains(word))
        }
    }
}
