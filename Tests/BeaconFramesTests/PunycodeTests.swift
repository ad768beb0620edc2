import BeaconFrames
import Testing

@Suite struct PunycodeTests {
    /// Pairs that Python's codec punycode also gives.
    @Test(arguments: [
        ("https://müller.de", "https://xn--mller-kva.de"), ("https://MÜLLER.de", "https://xn--mller-kva.de"),
        ("http://bücher.com", "http://xn--bcher-kva.com"), ("https://例え.jp", "https://xn--r8jz45g.jp"),
    ])
    func theAdviceHasTheASCIIFormOfTheHost(_ text: String, _ advice: String) throws {
        let error = try #require(throws: URLEncodingError.self) { try CompressedURL(text) }
        #expect("\(error)".hasSuffix("write the host in Punycode; did you mean \(advice)?"), "\(error)")
    }

    @Test(arguments: ["https://mu\u{308}ller.de", "https://a b.de", "https://😀.de"])
    func otherHostsGetNoSuggestion(_ text: String) throws {
        let error = try #require(throws: URLEncodingError.self) { try CompressedURL(text) }
        #expect(!"\(error)".contains("did you mean"), "\(error)")
    }
}
