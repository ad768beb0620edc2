internal import BluetoothTypes

/// Takes values out of a JSON tree and collects everything that is wrong with them: what the decoders of beacon profiles
/// and of this package's other kinds of files share.
///
/// Each reader gives `nil` for a value that is absent or wrong; only the latter is a problem.
package struct ConfigurationDecoder {
    /// The version of the formats that this package reads, the same for all kinds of files.
    package static let version = 1
    /// Of a name that is good for files and units, in characters.
    package static let nameLimit = 64

    /// Of errors, and of warnings, as many as anybody reads.
    private var found: [FileProblem] = []
    /// How many were found, listed or not.
    private var counts: [FileProblem.Severity: Int] = [:]
    /// Where the last of them stands.
    private var end = JSONPosition(line: 1, column: 1)

    package init() {}

    /// What is wrong, in the order in which it was found. Of more errors, or more warnings, than
    /// ``JSONDocument/problemLimit`` the first ones, and how many more there are.
    package var problems: [FileProblem] {
        let missing = counts.values.reduce(0, +) - found.count
        guard missing > 0 else { return found }
        let isError = counts[.error, default: 0] > JSONDocument.problemLimit
        return found + [
            FileProblem(
                "\(missing) more problems are not listed", at: end, severity: isError ? .error : .warning)
        ]
    }

    /// Whether no more errors are listed: looking for more is in vain.
    package var isFull: Bool { counts[.error, default: 0] >= JSONDocument.problemLimit }

    private mutating func add(_ problem: FileProblem) {
        counts[problem.severity, default: 0] += 1
        end = max(end, problem.position)
        if counts[problem.severity, default: 0] <= JSONDocument.problemLimit { found.append(problem) }
    }

    package mutating func error(_ message: String, at node: JSONNode) {
        add(FileProblem(message, at: node.position, path: node.path))
    }

    /// An error about a key, not about its value.
    package mutating func error(_ message: String, at member: JSONMember) {
        add(FileProblem(message, at: member.keyPosition, path: member.value.path))
    }

    package mutating func warning(_ message: String, at node: JSONNode) {
        add(FileProblem(message, at: node.position, path: node.path, severity: .warning))
    }

    /// An object with no other keys than `keys`.
    ///
    /// - Parameter hints: What to say about keys that people expect and that are not there.
    package mutating func object(
        _ node: JSONNode?, keys: [String], hint: (String) -> String? = { _ in nil }
    ) -> JSONNode? {
        guard let node else { return nil }
        guard case .object(let members) = node.value else {
            wrongKind(node, expected: "an object")
            return nil
        }
        // A file made by mistake may hold any number of them: nobody reads more than these.
        let unknown = members.filter { !keys.contains($0.key) }
        let wasFull = isFull
        for member in unknown.prefix(JSONDocument.problemLimit) {
            let advice: String
            if let hint = hint(member.key) {
                advice = hint
            } else if let nearest = NearestWord.find(member.key, among: keys) {
                advice = "did you mean \"\(nearest)\"?"
            } else {
                advice = "known here: " + keys.joined(separator: ", ")
            }
            error("the key \(ProblemText.quoted(member.key)) is not known; \(advice)", at: member)
        }
        let rest = unknown.count - JSONDocument.problemLimit
        if rest > 0, wasFull {
            counts[.error, default: 0] += rest
        } else if rest > 0 {
            // Also where those keys are all that is listed: it says how many there are.
            counts[.error, default: 0] += 1
            found.append(
                FileProblem("\(rest) more keys here are not known", at: node.position, path: node.path))
        }
        return node
    }

    /// The member of an object that must be there.
    ///
    /// - Parameter purpose: What it says, for the message.
    package mutating func required(_ key: String, in object: JSONNode, _ purpose: String) -> JSONNode? {
        if let node = object[key] { return node }
        error("the key \"\(key)\" is missing: \(purpose)", at: object)
        return nil
    }

    /// A list with at least one element, or with `count` elements.
    package mutating func list(
        _ node: JSONNode?, of what: String, count: ClosedRange<Int> = 1...Int.max
    ) -> [JSONNode]? {
        guard let node else { return nil }
        guard case .array(let elements) = node.value else {
            wrongKind(node, expected: "a list of \(what)")
            return nil
        }
        guard !elements.isEmpty || count.contains(0) else {
            error("the list is empty; at least one of the \(what) is needed", at: node)
            return nil
        }
        guard elements.count >= count.lowerBound else {
            error("at least \(count.lowerBound) \(what) are needed, not \(elements.count)", at: node)
            return nil
        }
        guard elements.count <= count.upperBound else {
            error("\(elements.count) \(what) are more than the \(count.upperBound) that there may be", at: node)
            return nil
        }
        return elements
    }

    package mutating func text(_ node: JSONNode?) -> String? {
        guard let node else { return nil }
        guard case .string(let text) = node.value else {
            wrongKind(node, expected: "a string")
            return nil
        }
        return text
    }

    package mutating func boolean(_ node: JSONNode?) -> Bool? {
        guard let node else { return nil }
        guard case .boolean(let value) = node.value else {
            wrongKind(node, expected: "true or false")
            return nil
        }
        return value
    }

    package mutating func number(_ node: JSONNode?, expected: String = "a number") -> JSONNumber? {
        guard let node else { return nil }
        guard case .number(let number) = node.value else {
            wrongKind(node, expected: expected)
            return nil
        }
        return number
    }

    /// A whole number in `range`; `1.0` and `1e0` are whole.
    package mutating func integer(
        _ node: JSONNode?, in range: ClosedRange<Int>, unit: String = "", expected: String = "a whole number"
    ) -> Int? {
        guard let node, let number = number(node, expected: expected) else { return nil }
        guard number.isWhole else {
            error("\(expected) is expected, not \(ProblemText.shortened(number.text))", at: node)
            return nil
        }
        guard let value = number.integer, range.contains(value) else {
            outOfRange(ProblemText.shortened(number.text), range, unit: unit, at: node)
            return nil
        }
        return value
    }

    /// A whole number in `range`, or a string of `0x` and up to `digits` hexadecimal digits.
    package mutating func code(_ node: JSONNode?, in range: ClosedRange<Int>, digits: Int) -> Int? {
        let example = "\"0x" + String(repeating: "0", count: digits - 1) + "6\""
        let expected = "a whole number, or a string such as \(example),"
        guard let node, case .string(let text) = node.value else {
            return integer(node, in: range, expected: expected)
        }
        let octets = text.utf8
        guard octets.count > 2, octets.count <= 2 + digits, text.hasPrefix("0x") || text.hasPrefix("0X"),
            octets.dropFirst(2).allSatisfy({ Character(Unicode.Scalar($0)).isHexDigit }),
            let value = Int(text.dropFirst(2), radix: 16)
        else {
            error("\(expected) is expected, not \(ProblemText.quoted(text))", at: node)
            return nil
        }
        guard range.contains(value) else {
            outOfRange(text, range, unit: "", at: node)
            return nil
        }
        return value
    }

    /// Octets as hexadecimal digits, with or without single spaces, colons or dashes between octets.
    ///
    /// - Parameter count: How many there must be; `nil` for any number.
    package mutating func octets(_ node: JSONNode?, count: Int? = nil) -> [UInt8]? {
        guard let node, let text = text(node) else { return nil }
        do throws(HexadecimalError) {
            let octets = try Hexadecimal.octets(text)
            guard Self.isTidy(text) else {
                error("only single spaces, colons or dashes may stand between bytes", at: node)
                return nil
            }
            if let count, octets.count != count {
                throw HexadecimalError(.wrongLength(expected: count, found: octets.count), at: 0)
            }
            return octets
        } catch {
            self.error(error.description, at: node)
            return nil
        }
    }

    private static func isTidy(_ text: String) -> Bool {
        var previousIsDigit = false
        for octet in text.utf8 {
            let isDigit = Character(Unicode.Scalar(octet)).isHexDigit
            let isSeparator = octet == UInt8(ascii: " ") || octet == UInt8(ascii: ":") || octet == UInt8(ascii: "-")
            guard isDigit || isSeparator && previousIsDigit else { return false }
            previousIsDigit = isDigit
        }
        return previousIsDigit || text.isEmpty
    }

    /// One of a few words.
    package mutating func word<Word: RawRepresentable<String> & CaseIterable>(_ node: JSONNode?, of type: Word.Type)
        -> Word?
    {
        guard let node, let text = text(node) else { return nil }
        if let word = Word(rawValue: text) { return word }
        notAWord(text, Word.allCases.map(\.rawValue), at: node)
        return nil
    }

    package mutating func notAWord(_ text: String, _ words: [String], at node: JSONNode) {
        let advice = NearestWord.find(text, among: words).map { "did you mean \"\($0)\"?" }
        error(
            "\(ProblemText.quoted(text)) is not known; " + (advice ?? "one of " + words.joined(separator: ", ")),
            at: node)
    }

    package mutating func wrongKind(_ node: JSONNode, expected: String) {
        switch node.value {
        case .malformed: break
        case .string(let text):
            error("\(expected) is expected, not the string \(ProblemText.quoted(text))", at: node)
        default: error("\(expected) is expected, not \(node.kind)", at: node)
        }
    }

    package mutating func outOfRange(_ value: String, _ range: ClosedRange<Int>, unit: String, at node: JSONNode) {
        let unit = unit.isEmpty ? "" : " " + unit
        error("\(value) is out of range \(range.lowerBound)...\(range.upperBound)\(unit)", at: node)
    }

    /// The version of the file's format, which is the same for all kinds of files.
    package mutating func version(_ node: JSONNode?) {
        guard let node, let number = number(node), number.integer != Self.version else { return }
        error(
            "version \(ProblemText.shortened(number.text)) of the format is not known, only \(Self.version) is",
            at: node)
    }

    /// A name that is good for files and units.
    package mutating func name(_ node: JSONNode?) -> String? {
        guard let node, let name = text(node) else { return nil }
        let isGood = name.utf8.allSatisfy { Self.isLetterOrDigit($0) || "._-".utf8.contains($0) }
        guard isGood, let first = name.utf8.first, Self.isLetterOrDigit(first) else {
            error(
                "\(ProblemText.quoted(name)) is no good name for files and units: letters, digits, \".\", \"_\" "
                    + "and \"-\", with a letter or digit first", at: node)
            return nil
        }
        guard name.utf8.count <= Self.nameLimit else {
            error("\(name.utf8.count) characters are more than the \(Self.nameLimit) of a name", at: node)
            return nil
        }
        return name
    }

    private static func isLetterOrDigit(_ octet: UInt8) -> Bool {
        switch octet {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"):
            true
        default: false
        }
    }
}
