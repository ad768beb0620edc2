import Testing

@testable import Fleet

/// Tests/Oracles/test_fleet_labels.py reads the codes with ZBar.
@Suite("QR codes of labels")
struct QRCodeTests {
    @Test("Codes have the smallest size that holds the text")
    func sizes() throws {
        #expect(try #require(QRCode("")).size == 21)
        #expect(try #require(QRCode("hall-2")).size == 21)
        #expect(try #require(QRCode(String(repeating: "ä", count: 150))).size == 69)
    }

    @Test("Text of more than 2331 bytes is refused")
    func tooLong() {
        #expect(QRCode(String(repeating: "a", count: 2331)) != nil)
        #expect(QRCode(String(repeating: "a", count: 2332)) == nil)
    }

    @Test("The path covers exactly the dark modules")
    func path() throws {
        let code = try #require(QRCode("museum / ground / hall"))
        var dark = 0
        for row in 0..<code.size {
            for column in 0..<code.size where code.isDark(row: row, column: column) { dark += 1 }
        }
        let lengths = code.path.split(separator: "h").compactMap { part in
            part.hasPrefix("-") || part.hasPrefix("M") ? nil : part.split(separator: "v").first.flatMap { Int($0) }
        }
        #expect(lengths.reduce(0, +) == dark)
        #expect(!code.isDark(row: -1, column: 0))
        #expect(!code.isDark(row: 0, column: code.size))
    }
}
