/// Reading JSON texts (RFC 8259) with the place of every value.
///
/// Strict: everything the grammar forbids is a problem, and so are duplicate keys, a byte order mark and nesting deeper
/// than ``depthLimit``. Forgiving all the same: where it is clear what was meant (a trailing comma, a comment, a
/// missing quote round a key), the fault is reported and reading goes on, so that one run finds as much as possible.
public enum JSONDocument {
    /// How many arrays and objects may stand inside each other.
    public static let depthLimit = 64
    /// After so many problems reading stops.
    public static let problemLimit = 100

    /// Reads a whole text.
    ///
    /// - Parameter file: What the text is called in the problems.
    /// - Returns: the root, `nil` when the text cannot be followed to its end, and every problem in the order of the
    ///   text. The text is valid only when there are no problems.
    public static func parse(_ octets: [UInt8], file: String? = nil) -> (root: JSONNode?, problems: [FileProblem]) {
        var parser = JSONParser(octets, file: file)
        let root = parser.parseDocument()
        return (root, parser.problems.sorted { $0.position < $1.position })
    }
}

/// Reads one JSON text. Wherever it is clear what was meant, a fault is noted and reading goes on.
struct JSONParser {
    var scanner: JSONScanner
    private(set) var problems: [FileProblem] = []
    /// Set by a fault after which nothing that follows could be trusted.
    private(set) var isStopped = false
    private let file: String?

    init(_ octets: [UInt8], file: String?) {
        self.file = file
        scanner = JSONScanner(octets)
        if let encoding = TextEncoding.wideUnits(octets) {
            stop("this file is \(encoding); JSON is UTF-8, so save it as that", path: .root)
        } else if scanner.illFormed.count > 9 {
            stop(
                "this is no text in UTF-8, from \(scanner.illFormed[0]) on: save it in that encoding, or name another file",
                path: .root)
        } else {
            for position in scanner.illFormed {
                report("these bytes are not UTF-8; save the file in that encoding", at: position, path: .root)
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

    /// Reports at the next scalar and ends reading.
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

    /// A value of any kind; `nil` after a fault that ends reading.
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

    /// A number, `true`, `false` or `null`, or what somebody took for one.
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
        case "true", "false", "null": return "\(shown) is written \(word.lowercased())"
        case "none", "nil", "undefined": return "\(shown) is no JSON value; null is"
        case "yes", "on": return "\(shown) is no JSON value; true is"
        case "no", "off": return "\(shown) is no JSON value; false is"
        case "nan", "infinity", "-infinity": return "\(shown) is no JSON number"
        case let word where word.hasPrefix("0x"):
            return "JSON has no hexadecimal numbers: write \(shown) in decimal, or as a string where that is allowed"
        case let word where word.first == "+": return "\(shown) is no JSON number: it has no sign before positive ones"
        case let word where word.first == "." || word.last == ".":
            return "\(shown) is no JSON number: digits stand on both sides of the point"
        case let word where word.drop { $0 == "-" }.first == "0" && word.dropFirst().allSatisfy(\.isNumber):
            return "\(shown) is no JSON number: it has no leading zeros"
        case let word where word.first.map { $0.isNumber || $0 == "-" } ?? false:
            return "\(shown) is no JSON number"
        default: return "\(shown) is no JSON value; a string stands in double quotes"
        }
    }

    /// Passes over white space and, with a problem each, over comments.
    mutating func skipSpace(path: JSONPath) {
        while let scalar = scanner.next {
            switch scalar {
            case " ", "\t", "\n", "\r": scanner.take()
            case "/" where scanner.peek(1) == "/", "#":
                report("JSON has no comments; take it out", at: scanner.position, path: path)
                _ = scanner.take { $0 != "\n" && $0 != "\r" }
            case "/" where scanner.peek(1) == "*":
                report("JSON has no comments; take it out", at: scanner.position, path: path)
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

    /// A scalar as part of a sentence.
    static func show(_ scalar: Unicode.Scalar) -> String {
        if scalar == "'" { return "a single quote; strings stand in double quotes" }
        let isVisible = scalar.value > 0x20 && scalar.value != 0x7F && scalar.properties.generalCategory != .control
        return isVisible && scalar != "\u{FEFF}" ? "\"\(scalar)\"" : "U+" + hexadecimal(scalar)
    }

    static func hexadecimal(_ scalar: Unicode.Scalar) -> String {
        let digits = String(scalar.value, radix: 16, uppercase: true)
        return String(repeating: "0", count: max(0, 4 - digits.count)) + digits
    }
}

/// The Unicode scalars of a JSON text, with the position of the next one.
struct JSONScanner {
    private let scalars: [Unicode.Scalar]
    private var index = 0
    private(set) var position = JSONPosition(line: 1, column: 1)
    /// Where octets stood that are no UTF-8; each is read as U+FFFD.
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

    /// The scalar `distance` places after the next one.
    func peek(_ distance: Int) -> Unicode.Scalar? {
        index + distance < scalars.count ? scalars[index + distance] : nil
    }

    /// Takes the next scalar.
    @discardableResult
    mutating func take() -> Unicode.Scalar? {
        guard index < scalars.count else { return nil }
        let scalar = scalars[index]
        Self.advance(&position, over: scalar, after: index > 0 ? scalars[index - 1] : nil)
        index += 1
        return scalar
    }

    /// Takes the next scalar if it is `scalar`.
    mutating func take(_ scalar: Unicode.Scalar) -> Bool {
        guard next == scalar else { return false }
        take()
        return true
    }

    /// Takes scalars for as long as they satisfy `condition`.
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
