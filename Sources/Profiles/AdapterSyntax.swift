/// Which texts name an adapter. Whether it exists is asked when it is opened.
enum AdapterSyntax {
    static let forms = [
        "hci0", "hci0:user", "hci0:mgmt", "tcp:HOST:PORT", "unix:PATH", "serial:PATH@BAUD", "virtual",
    ]

    static func accepts(_ text: String) -> Bool {
        guard !text.unicodeScalars.contains(where: { $0.value < 0x20 || $0.value == 0x7F }) else { return false }
        if text == "virtual" { return true }
        if text.hasPrefix("unix:") { return text.utf8.count > 5 }
        if text.hasPrefix("tcp:") { return hasNumber(text.dropFirst(4), after: ":", limit: 65_535) }
        if text.hasPrefix("serial:") { return hasNumber(text.dropFirst(7), after: "@", limit: 100_000_000) }
        guard text.hasPrefix("hci") else { return false }
        let parts = text.dropFirst(3).split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
        guard let index = parts.first, index == "0" || number(index, limit: 65_535) != nil else { return false }
        return parts.count == 1 || parts[1] == "user" || parts[1] == "mgmt"
    }

    /// Something, the last `separator`, and a number from 1.
    private static func hasNumber(_ text: Substring, after separator: Character, limit: Int) -> Bool {
        guard let place = text.lastIndex(of: separator), place > text.startIndex,
            !text.unicodeScalars.contains(" ") || separator == "@"
        else { return false }
        return number(text[text.index(after: place)...], limit: limit) != nil
    }

    /// Digits without a leading zero.
    private static func number(_ text: Substring, limit: Int) -> Int? {
        guard let first = text.utf8.first, first != UInt8(ascii: "0"),
            text.utf8.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }),
            let value = Int(text), value <= limit
        else { return nil }
        return value
    }
}
