extension JSONParser {
    /// From the opening to the closing quote. Faults inside are reported, and replaced by U+FFFD.
    mutating func parseString(path: JSONPath) -> String {
        let opening = scanner.position
        scanner.take()
        var text = String.UnicodeScalarView()
        while let scalar = scanner.next {
            switch scalar {
            case "\"":
                scanner.take()
                return String(text)
            case "\n", "\r":
                // Most likely the quote is missing, so the rest of the line has been taken for text.
                report("the string that begins here is not closed on its line", at: opening, path: path)
                return String(text)
            case "\\":
                text.append(parseEscape(path: path))
            case "\u{0}"..."\u{1F}":
                let code = Self.hexadecimal(scalar)
                report(
                    "the control character U+\(code) is written \\u\(code) in a string", at: scanner.position,
                    path: path)
                scanner.take()
                text.append(scalar)
            default:
                scanner.take()
                text.append(scalar)
            }
        }
        stop("the file ends inside the string that begins at \(opening)", path: path)
        return String(text)
    }

    /// A backslash and what belongs to it.
    private mutating func parseEscape(path: JSONPath) -> Unicode.Scalar {
        let position = scanner.position
        scanner.take()
        guard let letter = scanner.next else { return "\u{FFFD}" }
        if let plain = Self.escapes[letter] {
            scanner.take()
            return plain
        }
        guard letter == "u" else {
            report(
                "a backslash is followed by one of \" \\ / b f n r t u, not by \(Self.show(letter))", at: position,
                path: path)
            // The line's end or the closing quote is left to the string.
            return "\u{FFFD}"
        }
        scanner.take()
        guard let unit = parseHexadecimal(path: path, escape: position) else { return "\u{FFFD}" }
        if let scalar = Unicode.Scalar(UInt32(unit)) { return scalar }
        guard unit < 0xDC00, scanner.next == "\\", scanner.peek(1) == "u" else {
            report("half of a surrogate pair without the other half", at: position, path: path)
            return "\u{FFFD}"
        }
        let second = scanner.position
        scanner.take()
        scanner.take()
        guard let low = parseHexadecimal(path: path, escape: second) else { return "\u{FFFD}" }
        guard (0xDC00...0xDFFF).contains(low) else {
            report("half of a surrogate pair without the other half", at: position, path: path)
            return Unicode.Scalar(UInt32(low)) ?? "\u{FFFD}"
        }
        return Unicode.Scalar(0x10000 + (UInt32(unit) - 0xD800) << 10 + (UInt32(low) - 0xDC00)) ?? "\u{FFFD}"
    }

    private static let escapes: [Unicode.Scalar: Unicode.Scalar] = [
        "\"": "\"", "\\": "\\", "/": "/", "b": "\u{8}", "f": "\u{C}", "n": "\n", "r": "\r", "t": "\t",
    ]

    /// The four digits of `\uXXXX`.
    private mutating func parseHexadecimal(path: JSONPath, escape: JSONPosition) -> UInt16? {
        var value: UInt16 = 0
        for _ in 0..<4 {
            guard let scalar = scanner.next, scalar.isASCII, let digit = Character(scalar).hexDigitValue else {
                report("\\u is followed by four hexadecimal digits", at: escape, path: path)
                return nil
            }
            value = value << 4 | UInt16(digit)
            scanner.take()
        }
        return value
    }
}
