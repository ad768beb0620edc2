internal import BluetoothTypes

/// A parser of JSON texts (RFC 8259) that keeps the position of every value.
///
/// It is strict: everything that the grammar forbids is a problem, and so are duplicate keys, a byte order mark and
/// nesting deeper than ``depthLimit``. If the meaning is clear in spite of a mistake (a trailing comma, a comment, a
/// key without quotes), the parser reports the mistake and continues, so that one run finds as many mistakes as
/// possible.
public enum JSONDocument {
    /// The largest depth of lists and objects that are nested inside each other.
    public static let depthLimit = 64
    /// The number of problems after which the parser stops.
    public static let problemLimit = 100

    /// Parses a whole text.
    ///
    /// - Parameter file: The name of the file for the problems; `nil` if it is unknown.
    /// - Returns: The root, `nil` if the parser could not read to the end; and every problem in the order of the text.
    ///   The text is valid only if there are no problems.
    public static func parse(_ octets: [UInt8], file: String? = nil) -> (root: JSONNode?, problems: [FileProblem]) {
        var parser = JSONParser(octets, file: file)
        let root = parser.parseDocument()
        return (root, parser.problems.sorted { $0.position < $1.position })
    }
}

/// Parses one JSON text.
struct JSONParser {
    var scanner: JSONScanner
    private(set) var problems: [FileProblem] = []
    /// True if parsing has stopped, because a mistake makes the rest of the text unreadable or there are too many
    /// problems.
    private(set) var isStopped = false
    private let file: String?

    init(_ octets: [UInt8], file: String?) {
        self.file = file
        scanner = JSONScanner(octets)
        if let encoding = TextEncoding.wideUnits(octets) {
            stop("this file is \(encoding); save it as UTF-8", path: .root)
        } else if CSVTable.isTable(octets) {
            stop("this is a table (CSV), and a JSON file is expected; name a JSON file", path: .root)
        } else if scanner.illFormed.count > 9 {
            stop(
                "from \(scanner.illFormed[0]) on, this is not text in UTF-8; save the file as UTF-8, or name another file",
                path: .root)
        } else {
            for position in scanner.illFormed {
                report("these bytes are not UTF-8; save the file as UTF-8", at: position, path: .root)
            }
        }
    }

    mutating func report(_ message: String, at position: JSONPosition, path: JSONPath) {
        guard problems.count < JSONDocument.problemLimit else {
            isStopped = true
            return
        }
        problems.append(FileProblem(message, at: position, path: path, kind: .malformed, in: file))
    }

    /// Reports a problem at the next scalar and stops.
    mutating func stop(_ message: String, path: JSONPath) {
        guard !isStopped else { return }
        report(message, at: scanner.position, path: path)
        isStopped = true
    }

    mutating func parseDocument() -> JSONNode? {
        guard !isStopped else { return nil }
        if scanner.next == "\u{FEFF}" {
            let message = "the file starts with a byte order mark; save it as UTF-8 without one"
            report(message, at: scanner.position, path: .root)
            scanner.take()
        }
        skipSpace(path: .root)
        guard scanner.next != nil else {
            stop("the file is empty; a JSON value is expected", path: .root)
            return nil
        }
        guard let root = parseValue(path: .root, depth: 0), !isStopped else { return nil }
        skipSpace(path: .root)
        if !isStopped, scanner.next != nil {
            report("nothing may follow the end of the JSON value", at: scanner.position, path: .root)
        }
        return root
    }

    /// Parses a value of any kind; returns `nil` after a mistake that stops the parser.
    mutating func parseValue(path: JSONPath, depth: Int) -> JSONNode? {
        let position = scanner.position
        func node(_ value: JSONNode.Value?) -> JSONNode? { value.map { JSONNode($0, at: position, path: path) } }
        switch scanner.next {
        case "{": return node(parseObject(path: path, depth: depth))
        case "[": return node(parseArray(path: path, depth: depth))
        case "\"": return node(.string(parseString(path: path)))
        case .some(let scalar) where Self.isWord(scalar) || "+-.".unicodeScalars.contains(scalar):
            return node(parseWord(path: path))
        case .some(let scalar):
            stop("a value is expected here, not \(Self.show(scalar))", path: path)
            return nil
        case nil:
            stop("the file ends where a value is expected", path: path)
            return nil
        }
    }

    /// Parses a number, `true`, `false` or `null`, and reports any other word.
    private mutating func parseWord(path: JSONPath) -> JSONNode.Value {
        let position = scanner.position
        let word = scanner.take { Self.isWord($0) || "+-.".unicodeScalars.contains($0) }
        switch word {
        case "true": return .boolean(true)
        case "false": return .boolean(false)
        case "null": return .null
        default: break
        }
        if let number = JSONNumber(word) { return .number(number) }
        report(Self.complaint(about: word), at: position, path: path)
        return .malformed
    }

    private static func complaint(about word: String) -> String {
        let shown = ProblemText.shortened(word)
        switch word.lowercased() {
        case "true", "false", "null": return "write \(word.lowercased()) instead of \(shown)"
        case "none", "nil", "undefined": return "\(shown) is not a JSON value; write null"
        case "yes", "on": return "\(shown) is not a JSON value; write true"
        case "no", "off": return "\(shown) is not a JSON value; write false"
        case "nan", "infinity", "-infinity": return "\(shown) is not a JSON number"
        case let word where word.hasPrefix("0x"):
            return "JSON has no hexadecimal numbers: write \(shown) in decimal, or as a string where that is allowed"
        case let word where word.first == "+": return "\(shown) is not a JSON number: remove the plus sign"
        case let word where word.first == "." || word.last == ".":
            return "\(shown) is not a JSON number: the decimal point needs digits on both sides"
        case let word where word.drop { $0 == "-" }.first == "0" && word.dropFirst().allSatisfy(\.isNumber):
            return "\(shown) is not a JSON number: remove the leading zeros"
        case let word where word.first.map { $0.isNumber || $0 == "-" } ?? false:
            return "\(shown) is not a JSON number"
        default: return "\(shown) is not a JSON value; put strings in double quotes"
        }
    }

    /// Skips white space and comments, and reports the comments.
    mutating func skipSpace(path: JSONPath) {
        while let scalar = scanner.next {
            switch scalar {
            case " ", "\t", "\n", "\r": scanner.take()
            case "/" where scanner.peek(1) == "/", "#":
                report("JSON has no comments; remove this comment", at: scanner.position, path: path)
                _ = scanner.take { $0 != "\n" && $0 != "\r" }
            case "/" where scanner.peek(1) == "*":
                report("JSON has no comments; remove this comment", at: scanner.position, path: path)
                scanner.take()
                scanner.take()
                while scanner.next != nil, !(scanner.next == "*" && scanner.peek(1) == "/") { scanner.take() }
                scanner.take()
                scanner.take()
            default: return
            }
        }
    }

    static func isWord(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar {
        case "a"..."z", "A"..."Z", "0"..."9", "_", "$": true
        default: false
        }
    }

    /// Returns a description of a scalar as part of a sentence.
    static func show(_ scalar: Unicode.Scalar) -> String {
        if scalar == "'" { return "a single quote; put strings in double quotes" }
        let isVisible = scalar.value > 0x20 && scalar.value != 0x7F && scalar.properties.generalCategory != .control
        return isVisible && scalar != "\u{FEFF}" ? "\"\(scalar)\"" : "U+" + hexadecimal(scalar)
    }

    static func hexadecimal(_ scalar: Unicode.Scalar) -> String {
        String(Hexadecimal.number(scalar.value, width: 4).dropFirst(2))
    }
}

// MARK: Objects and lists

extension JSONParser {
    /// Parses an object from `{` to `}`.
    mutating func parseObject(path: JSONPath, depth: Int) -> JSONNode.Value? {
        let opening = scanner.position
        guard enter(depth, path: path) else { return nil }
        var members: [JSONMember] = []
        var keyPositions: [String: JSONPosition] = [:]
        skipSpace(path: path)
        while !scanner.take("}") {
            guard let member = parseMember(in: path, depth: depth) else {
                reportEnd(of: "object", opening, path: path)
                return nil
            }
            takeDecimalComma(after: member.value)
            if let firstPosition = keyPositions[member.key] {
                report(
                    "the key \(ProblemText.quoted(member.key)) appears twice; the first is at \(firstPosition)",
                    at: member.keyPosition, path: path)
            } else {
                keyPositions[member.key] = member.keyPosition
                members.append(member)
            }
            guard finishItem(before: "}", of: "object", opening, path: path) else { return nil }
        }
        return .object(members)
    }

    /// Parses a list from `[` to `]`.
    mutating func parseArray(path: JSONPath, depth: Int) -> JSONNode.Value? {
        let opening = scanner.position
        guard enter(depth, path: path) else { return nil }
        var elements: [JSONNode] = []
        skipSpace(path: path)
        while !scanner.take("]") {
            guard scanner.next != nil else {
                reportEnd(of: "list", opening, path: path)
                return nil
            }
            guard let element = parseValue(path: path.index(elements.count), depth: depth + 1) else { return nil }
            elements.append(element)
            guard finishItem(before: "]", of: "list", opening, path: path) else { return nil }
        }
        return .array(elements)
    }

    /// Takes the opening bracket; returns `false` if the nesting is too deep.
    private mutating func enter(_ depth: Int, path: JSONPath) -> Bool {
        guard depth < JSONDocument.depthLimit else {
            stop("more than \(JSONDocument.depthLimit) lists and objects are inside each other", path: path)
            return false
        }
        scanner.take()
        return !isStopped
    }

    /// Parses a key, a colon and a value.
    private mutating func parseMember(in path: JSONPath, depth: Int) -> JSONMember? {
        let position = scanner.position
        let key: String
        switch scanner.next {
        case "\"": key = parseString(path: path)
        case .some(let scalar) where Self.isWord(scalar):
            key = scanner.take(while: Self.isWord)
            report("the key \(ProblemText.shortened(key)) is not in double quotes", at: position, path: path)
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

    /// Takes the digits after a decimal comma, and reports the mistake. A digit after a comma cannot begin the next
    /// key.
    private mutating func takeDecimalComma(after value: JSONNode) {
        func isDigit(_ scalar: Unicode.Scalar) -> Bool { ("0"..."9").contains(scalar) }
        guard case .number(let number) = value.value, scanner.next == ",", scanner.peek(1).map(isDigit) == true,
            !number.text.contains(where: { ".eE".contains($0) })
        else { return }
        scanner.take()
        let decimals = scanner.take(while: isDigit)
        report(
            "is this a decimal comma? write \(ProblemText.shortened("\(number.text).\(decimals)"))", at: value.position,
            path: value.path)
    }

    /// Takes the comma after a member or an element. After the last member or element it takes nothing: the next scalar
    /// is then the closing bracket. Returns `false` if parsing must stop.
    private mutating func finishItem(
        before closing: Unicode.Scalar, of kind: String, _ opening: JSONPosition, path: JSONPath
    ) -> Bool {
        skipSpace(path: path)
        guard let next = scanner.next, !isStopped else {
            reportEnd(of: kind, opening, path: path)
            return false
        }
        if next == closing { return true }
        let position = scanner.position
        if scanner.take(",") {
            skipSpace(path: path)
            if scanner.next == closing {
                report("remove the comma after the last item", at: position, path: path)
            } else if scanner.next == nil {
                reportEnd(of: kind, opening, path: path)
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

    /// Reports an object or a list that is not closed, if the text has ended.
    private mutating func reportEnd(of kind: String, _ opening: JSONPosition, path: JSONPath) {
        guard scanner.next == nil else { return }
        stop("the file ends inside the \(kind) that begins at \(opening)", path: path)
    }
}

// MARK: Strings

extension JSONParser {
    /// Parses a string from its opening to its closing quote. Mistakes inside are reported; a wrong escape becomes
    /// U+FFFD.
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
                report("the string that begins here is not closed on its line", at: opening, path: path)
                return String(text)
            case "\\":
                text.append(parseEscape(path: path))
            case "\u{0}"..."\u{1F}":
                let code = Self.hexadecimal(scalar)
                report(
                    "write the control character U+\(code) as \\u\(code) in a string", at: scanner.position,
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

    /// Parses a backslash and the characters that belong to the escape.
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
                "a backslash must be followed by one of \" \\ / b f n r t u, not by \(Self.show(letter))", at: position,
                path: path)
            return "\u{FFFD}"
        }
        scanner.take()
        guard let unit = parseHexadecimal(path: path, escape: position) else { return "\u{FFFD}" }
        if let scalar = Unicode.Scalar(UInt32(unit)) { return scalar }
        guard unit < 0xDC00, scanner.next == "\\", scanner.peek(1) == "u" else {
            report("this is half of a surrogate pair; the other half is missing", at: position, path: path)
            return "\u{FFFD}"
        }
        let secondPosition = scanner.position
        scanner.take()
        scanner.take()
        guard let low = parseHexadecimal(path: path, escape: secondPosition) else { return "\u{FFFD}" }
        guard (0xDC00...0xDFFF).contains(low) else {
            report("this is half of a surrogate pair; the other half is missing", at: position, path: path)
            return Unicode.Scalar(UInt32(low)) ?? "\u{FFFD}"
        }
        return Unicode.Scalar(0x10000 + (UInt32(unit) - 0xD800) << 10 + (UInt32(low) - 0xDC00)) ?? "\u{FFFD}"
    }

    private static let escapes: [Unicode.Scalar: Unicode.Scalar] = [
        "\"": "\"", "\\": "\\", "/": "/", "b": "\u{8}", "f": "\u{C}", "n": "\n", "r": "\r", "t": "\t",
    ]

    /// Parses the four digits of `\uXXXX`; returns `nil` after it has reported a mistake.
    private mutating func parseHexadecimal(path: JSONPath, escape: JSONPosition) -> UInt16? {
        var value: UInt16 = 0
        for _ in 0..<4 {
            guard let scalar = scanner.next, scalar.isASCII, let digit = Character(scalar).hexDigitValue else {
                report("\\u must be followed by four hexadecimal digits", at: escape, path: path)
                return nil
            }
            value = value << 4 | UInt16(digit)
            scanner.take()
        }
        return value
    }
}

/// The Unicode scalars of a JSON text, with the position of the next scalar to read.
struct JSONScanner {
    private let scalars: [Unicode.Scalar]
    private var index = 0
    private(set) var position = JSONPosition(line: 1, column: 1)
    /// The positions of bytes that are not UTF-8. Each of them is read as U+FFFD.
    let illFormed: [JSONPosition]

    init(_ octets: [UInt8]) {
        var scalars: [Unicode.Scalar] = []
        scalars.reserveCapacity(octets.count)
        var illFormed: [JSONPosition] = []
        var position = JSONPosition(line: 1, column: 1)
        var codec = UTF8()
        var iterator = octets.makeIterator()
        decoding: while true {
            switch codec.decode(&iterator) {
            case .scalarValue(let scalar): scalars.append(scalar)
            case .emptyInput: break decoding
            case .error:
                illFormed.append(position)
                scalars.append("\u{FFFD}")
            }
            Self.advance(&position, over: scalars[scalars.count - 1], after: scalars.dropLast().last)
        }
        self.scalars = scalars
        self.illFormed = illFormed
    }

    /// The next scalar, or `nil` at the end.
    var next: Unicode.Scalar? { peek(0) }

    /// Returns the scalar that is `distance` scalars after the next one; `nil` beyond the end.
    func peek(_ distance: Int) -> Unicode.Scalar? {
        index + distance < scalars.count ? scalars[index + distance] : nil
    }

    /// Takes and returns the next scalar; `nil` at the end.
    @discardableResult
    mutating func take() -> Unicode.Scalar? {
        guard index < scalars.count else { return nil }
        let scalar = scalars[index]
        Self.advance(&position, over: scalar, after: index > 0 ? scalars[index - 1] : nil)
        index += 1
        return scalar
    }

    /// Takes the next scalar if it equals `scalar`; returns true if it did.
    mutating func take(_ scalar: Unicode.Scalar) -> Bool {
        guard next == scalar else { return false }
        take()
        return true
    }

    /// Takes and returns the scalars before the first scalar that does not satisfy `condition`.
    mutating func take(while condition: (Unicode.Scalar) -> Bool) -> String {
        var text = String.UnicodeScalarView()
        while let scalar = next, condition(scalar) {
            text.append(scalar)
            take()
        }
        return String(text)
    }

    private static func advance(
        _ position: inout JSONPosition, over scalar: Unicode.Scalar, after previous: Unicode.Scalar?
    ) {
        switch scalar {
        case "\n" where previous == "\r": break
        case "\n", "\r":
            position.line += 1
            position.column = 1
        default: position.column += 1
        }
    }
}
