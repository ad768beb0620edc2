extension JSONParser {
    /// From `{` to `}`.
    mutating func parseObject(path: JSONPath, depth: Int) -> JSONNode.Value? {
        let opening = scanner.position
        guard enter(depth, path: path) else { return nil }
        var members: [JSONMember] = []
        var places: [String: JSONPosition] = [:]
        skipSpace(path: path)
        while !scanner.take("}") {
            guard let member = parseMember(in: path, depth: depth) else {
                noteEnd(of: "object", opening, path: path)
                return nil
            }
            if let first = places[member.key] {
                report(
                    "the key \(ProblemText.quoted(member.key)) stands here a second time; the first is at \(first)",
                    at: member.keyPosition, path: path)
            } else {
                places[member.key] = member.keyPosition
                members.append(member)
            }
            guard finishItem(before: "}", of: "object", opening, path: path) else { return nil }
        }
        return .object(members)
    }

    /// From `[` to `]`.
    mutating func parseArray(path: JSONPath, depth: Int) -> JSONNode.Value? {
        let opening = scanner.position
        guard enter(depth, path: path) else { return nil }
        var elements: [JSONNode] = []
        skipSpace(path: path)
        while !scanner.take("]") {
            guard scanner.next != nil else {
                noteEnd(of: "list", opening, path: path)
                return nil
            }
            guard let element = parseValue(path: path.index(elements.count), depth: depth + 1) else { return nil }
            elements.append(element)
            guard finishItem(before: "]", of: "list", opening, path: path) else { return nil }
        }
        return .array(elements)
    }

    /// Takes the opening bracket, unless the nesting is too deep.
    private mutating func enter(_ depth: Int, path: JSONPath) -> Bool {
        guard depth < JSONDocument.depthLimit else {
            stop("more than \(JSONDocument.depthLimit) lists and objects inside each other", path: path)
            return false
        }
        scanner.take()
        return !isStopped
    }

    /// Key, colon and value.
    private mutating func parseMember(in path: JSONPath, depth: Int) -> JSONMember? {
        let position = scanner.position
        let key: String
        switch scanner.next {
        case "\"": key = parseString(path: path)
        case .some(let scalar) where Self.isWord(scalar):
            key = scanner.take(while: Self.isWord)
            report("the key \(ProblemText.shortened(key)) stands without double quotes", at: position, path: path)
        case .some(let scalar):
            stop("a key in double quotes is expected here, not \(Self.show(scalar))", path: path)
            return nil
        case nil: return nil
        }
        let valuePath = path.key(key)
        skipSpace(path: path)
        if !scanner.take(":") {
            guard let next = scanner.next, next != "}", next != ",", next != "=" else {
                stop("a colon and a value are expected after the key \(ProblemText.quoted(key))", path: path)
                return nil
            }
            report("a colon is missing after the key \(ProblemText.quoted(key))", at: scanner.position, path: path)
        }
        skipSpace(path: valuePath)
        guard !isStopped, let value = parseValue(path: valuePath, depth: depth + 1) else { return nil }
        return JSONMember(key: key, keyPosition: position, value: value)
    }

    /// After a member or an element: the comma, or nothing before the closing bracket.
    private mutating func finishItem(
        before closing: Unicode.Scalar, of kind: String, _ opening: JSONPosition, path: JSONPath
    ) -> Bool {
        skipSpace(path: path)
        guard let next = scanner.next, !isStopped else {
            noteEnd(of: kind, opening, path: path)
            return false
        }
        if next == closing { return true }
        let position = scanner.position
        if scanner.take(",") {
            skipSpace(path: path)
            if scanner.next == closing {
                report("the last item has no comma after it; take it out", at: position, path: path)
            } else if scanner.next == nil {
                noteEnd(of: kind, opening, path: path)
                return false
            }
            return !isStopped
        }
        guard next == "\"" || next == "{" || next == "[" || Self.isWord(next) || next == "-" else {
            stop("a comma or \"\(closing)\" is expected here, not \(Self.show(next))", path: path)
            return false
        }
        report("a comma is missing before this", at: position, path: path)
        return !isStopped
    }

    private mutating func noteEnd(of kind: String, _ opening: JSONPosition, path: JSONPath) {
        guard scanner.next == nil else { return }
        stop("the file ends inside the \(kind) that begins at \(opening)", path: path)
    }
}

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
