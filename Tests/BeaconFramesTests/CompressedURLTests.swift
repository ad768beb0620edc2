import BeaconFrames
import BluetoothTypes
import Testing

@Test(arguments: [
    ("https://github.com/citruz", "03 676974687562 00 63697472757a"),
    ("https://example.org/n2", "03 6578616d706c65 01 6e32"),
    ("http://www.example.com", "00 6578616d706c65 07"),
    ("https://www.example.com/", "01 6578616d706c65 00"),
    ("https://www.info/", "03 777777 04"),
    ("http://www.info/", "02 777777 04"),
    ("https://www.com/", "01 636f6d2f"),
    ("https://www.", "03 7777772e"),
    ("https://a.community", "03 61 07 6d756e697479"),
    ("https://a/b.gov/c.biz", "03 612f62 06 63 0c"),
    ("https://.info.net/.edu", "03 0b 03 09"),
    ("HTTPS://Example.ORG/a", "03 4578616d706c652e4f52472f61"),
    ("HtTp://www.a", "00 61"),
    ("http://WWW.a", "02 5757572e61"),
    ("https://~!", "03 7e21"),
])
func urlIsEncodedInItsShortestForm(text: String, octets: String) throws {
    let url = try CompressedURL(text)
    #expect([url.scheme] + url.encoded == octetRow(octets.filter { $0 != " " }))
    let scheme = text.prefix { $0 != ":" }.lowercased()
    #expect(url.text == scheme + text.drop { $0 != ":" })
}

@Test(arguments: [
    ("", URLEncodingError.empty),
    ("https://", .empty),
    ("http://", .empty),
    ("ftp://example.org", .unknownScheme("ftp://example.org")),
    ("example.org", .unknownScheme("example.org")),
    ("https:/example.org", .unknownScheme("https:/example.org")),
    ("https://a b", .illegalCharacter(" ", offset: 9, in: "https://a b")),
    (" https://a", .illegalCharacter(" ", offset: 0, in: " https://a")),
    ("https://a\n", .illegalCharacter("\n", offset: 9, in: "https://a\n")),
    ("https://a\u{7F}", .illegalCharacter("\u{7F}", offset: 9, in: "https://a\u{7F}")),
    ("https://a\u{0}b", .illegalCharacter("\u{0}", offset: 9, in: "https://a\u{0}b")),
    ("https://\u{E4}.org", .illegalCharacter("\u{E4}", offset: 8, in: "https://\u{E4}.org")),
    ("https://\u{1F600}", .illegalCharacter("\u{1F600}", offset: 8, in: "https://\u{1F600}")),
])
func aURLThatCannotBeSentIsRefused(text: String, error: URLEncodingError) {
    #expect(throws: error) { try CompressedURL(text) }
    #expect(!error.description.isEmpty)
}

@Test(arguments: [
    ("example.org", "https://example.org"),
    ("example.org/a b", "https://example.org/a%20b"),
    ("https:/example.org", "https://example.org"),
    ("HTTP:example.org", "http://example.org"),
    ("https://example.org/my menu", "https://example.org/my%20menu"),
    (" https://example.org\n", "https://example.org"),
    ("https://example.org/\u{E4}", "https://example.org/%C3%A4"),
    ("ftp://example.org", nil),
    ("a word", nil),
    ("mailto:somebody@example.org", nil),
    ("https://\u{E4}.org", "https://xn--4ca.org"),
    ("https://\u{1F600}.org", nil),
    ("https://example.org/much too long a path", nil),
])
func misspelledURLIsRefusedWithASuggestion(text: String, meant: String?) throws {
    let error = try #require(throws: URLEncodingError.self) { try CompressedURL(text) }
    if let meant {
        #expect(error.description.hasSuffix("; did you mean \(meant)?"), "\(error)")
        #expect(throws: Never.self) { try CompressedURL(meant) }
    } else {
        #expect(!error.description.contains("did you mean"), "\(error)")
    }
}

@Test func refusesURLsOver17OctetsWithTheExcess() throws {
    let fits = "https://" + String(repeating: "a", count: 17)
    #expect(try CompressedURL(fits).count == 17)
    let frame = EddystoneURL(
        url: try CompressedURL(fits), measuredPower: try MeasuredPowerAtZeroMeters(dBm: -20))
    #expect(try frame.advertisingData().octets.count == 31)

    let error = try #require(throws: URLEncodingError.self) { try CompressedURL(fits + "b.com") }
    #expect(error == .tooLong(scheme: 3, encoded: octetRow(String(repeating: "61", count: 17) + "6207")))
    #expect(
        error.description
            == "the URL takes 19 bytes after its scheme, 2 more than the 17 of Eddystone-URL; use a shorter address, such "
            + "as one of a link shortener; encoded: "
            + "03" + String(repeating: "61", count: 17) + "6207")
}

@Test func reservedOctetsAppearPercentEncodedInTheText() {
    #expect(compressed(3, "61 0e 62 80").text == "https://a%0Eb%80")
    #expect(compressed(9, "61").text == "%09a")
}

@Test func aReceivedURLOfEighteenOctetsOrOutsideItsSpanIsRefused() {
    let octets = [UInt8](repeating: 0x61, count: 18)
    let urls = [0..<18, 10..<19, -1..<3].map { CompressedURL(scheme: 0, encoded: octets.span, range: $0) }
    #expect(urls == [nil, nil, nil])
}

/// The texts are made of expansions and pieces of expansions, so that codes overlap.
@Test func noLegalEncodingIsShorterThanTheChosenEncoding() throws {
    var random = SplitMix64(seed: 0x5EED)
    let pieces = ["www.", ".com/", ".com", ".info", ".i", "nfo/", ".biz", "/", "a", ".", "com", ".gov/", "edu"]
    for _ in 0..<2000 {
        let rest = (0..<Int.random(in: 1...6, using: &random)).map { _ in pieces.randomElement(using: &random) ?? "" }
        let text = (Bool.random(using: &random) ? "http://" : "https://") + rest.joined()
        let length = shortestLength(of: Array(text.utf8))
        do throws(URLEncodingError) {
            let url = try CompressedURL(text)
            #expect(url.count == length, "\(text)")
            #expect(url.text == text)
        } catch {
            guard case .tooLong(_, let encoded) = error else { throw error }
            #expect(encoded.count == length, "\(text)")
        }
    }
}

/// Returns the smallest number of octets after the scheme, found by trying all encodings from the start.
private func shortestLength(of text: [UInt8]) -> Int {
    let codes = [
        ".com/", ".org/", ".edu/", ".net/", ".info/", ".biz/", ".gov/", ".com", ".org", ".edu", ".net", ".info",
        ".biz", ".gov",
    ].map { Array($0.utf8) }
    var lengths: [Int: Int] = [:]
    for scheme in ["http://www.", "https://www.", "http://", "https://"] where text.starts(with: scheme.utf8) {
        if scheme.utf8.count < text.count { lengths[scheme.utf8.count] = 0 }
    }
    for place in text.indices {
        guard let length = lengths[place] else { continue }
        for step in [1] + codes.filter({ text[place...].starts(with: $0) }).map(\.count) {
            lengths[place + step] = min(lengths[place + step] ?? .max, length + 1)
        }
    }
    return lengths[text.count] ?? .max
}
