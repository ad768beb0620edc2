import Testing

@testable import PlanReport

/// FIPS 180-4's examples, and lengths around a block.
@Suite struct ContentHashTests {
    @Test(arguments: [
        ("", "'sha256-47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU='"),
        ("abc", "'sha256-ungWv48Bz+pBQUDeXa4iI7ADYaOWF3qctBD/YfIAFa0='"),
        (
            "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
            "'sha256-JI1qYdIGOLjlwCaTDD5gOaM85Flk/yFn9uzt1BnbBsE='"
        ),
    ])
    func hashesAreThoseOfTheStandard(text: String, source: String) {
        #expect(ContentHash.source(of: text) == source)
    }

    @Test(arguments: [([0x4D], "TQ=="), ([0x4D, 0x61], "TWE="), ([0x4D, 0x61, 0x6E], "TWFu"), ([], "")])
    func base64IsPadded(octets: [UInt8], text: String) {
        #expect(ContentHash.base64(octets) == text)
    }
}
