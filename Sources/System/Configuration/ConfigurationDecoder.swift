internal import BluetoothTypes

/// Reads values from a JSON tree, and collects their problems. The decoders of all file formats use it.
///
/// Each function that reads a value returns `nil` if the value is missing. If the value is wrong, it reports a problem
/// and returns `nil`.
package struct ConfigurationDecoder {
    /// The version of all file formats of this package.
    package static let version = 1
    /// The largest number of characters in a name, which is used for files and systemd units.
    package static let nameLimit = 64

    /// The listed problems: at most ``JSONDocument/problemLimit`` errors and as many warnings.
    private var listed: [FileProblem] = []
    /// The number of problems of each severity, including problems that are not listed.
    private var counts: [FileProblem.Severity: Int] = [:]
    /// The last position in the file at which there is a problem.
    private var lastPosition = JSONPosition(line: 1, column: 1)

    package init() {}

    /// The problems in the order in which they were found. If there are more than ``JSONDocument/problemLimit`` errors
    /// or warnings, an additional last problem states how many are not listed.
    package var problems: [FileProblem] {
        let unlistedCount = counts.values.reduce(0, +) - listed.count
        guard unlistedCount > 0 else { return listed }
        let isError = counts[.error, default: 0] > JSONDocument.problemLimit
        return listed + [
            FileProblem(
                "\(unlistedCount) more problems are not listed", at: lastPosition,
                severity: isError ? .error : .warning)
        ]
    }

    /// True if no further error would be listed, so that the caller can stop.
    package var isFull: Bool { counts[.error, default: 0] >= JSONDocument.problemLimit }

    private mutating func add(_ problem: FileProblem) {
        counts[problem.severity, default: 0] += 1
        lastPosition = max(lastPosition, problem.position)
        if counts[problem.severity, default: 0] <= JSONDocument.problemLimit { listed.append(problem) }
    }

    package mutating func error(_ message: String, at node: JSONNode) {
        add(FileProblem(message, at: node.position, path: node.path))
    }

    /// Reports an error about the key of a member, not about its value.
    package mutating func error(_ message: String, at member: JSONMember) {
        var problem = FileProblem(message, at: member.keyPosition, path: member.value.path)
        problem.isAboutKey = true
        add(problem)
    }

    package mutating func warning(_ message: String, at node: JSONNode) {
        add(FileProblem(message, at: node.position, path: node.path, severity: .warning))
    }

    /// Returns the node if it is an object, and reports all keys of the object that are not in `keys`.
    ///
    /// - Parameter hint: Returns advice for an unknown key; if it returns `nil`, the message suggests the most similar
    ///   key.
    package mutating func object(
        _ node: JSONNode?, keys: [String], hint: (String) -> String? = { _ in nil }
    ) -> JSONNode? {
        guard let node else { return nil }
        guard case .object(let members) = node.value else {
            wrongKind(node, expected: "an object")
            return nil
        }
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
        let unlistedKeys = unknown.count - JSONDocument.problemLimit
        if unlistedKeys > 0, wasFull {
            counts[.error, default: 0] += unlistedKeys
        } else if unlistedKeys > 0 {
            counts[.error, default: 0] += 1
            listed.append(
                FileProblem("\(unlistedKeys) more keys here are not known", at: node.position, path: node.path))
        }
        return node
    }

    /// Returns a required member of an object.
    ///
    /// - Parameter purpose: The meaning of the member, for the message.
    package mutating func required(_ key: String, in object: JSONNode, _ purpose: String) -> JSONNode? {
        if let node = object[key] { return node }
        error("the key \"\(key)\" is missing: \(purpose)", at: object)
        return nil
    }

    /// Returns the elements of a list. Their number must be in `count`.
    package mutating func list(
        _ node: JSONNode?, of what: String, count: ClosedRange<Int> = 1...Int.max
    ) -> [JSONNode]? {
        guard let node else { return nil }
        guard case .array(let elements) = node.value else {
            wrongKind(node, expected: "a list of \(what)")
            return nil
        }
        guard !elements.isEmpty || count.contains(0) else {
            error(
                "the list is empty; add at least one of the \(what), or remove the key if it is optional",
                at: node)
            return nil
        }
        guard elements.count >= count.lowerBound else {
            error("at least \(count.lowerBound) \(what) are needed, not \(elements.count)", at: node)
            return nil
        }
        guard elements.count <= count.upperBound else {
            error("\(elements.count) \(what) are more than the maximum of \(count.upperBound)", at: node)
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

    /// Reads a whole number in `range`. `1.0` and `1e0` are whole.
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

    /// Reads a whole number in `range`, or a string of `0x` and up to `digits` hexadecimal digits.
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

    /// Reads bytes as hexadecimal digits, with or without a space, a colon or a dash between two bytes.
    ///
    /// - Parameter count: The number of bytes; `nil` for any number.
    package mutating func octets(_ node: JSONNode?, count: Int? = nil) -> [UInt8]? {
        guard let node, let text = text(node) else { return nil }
        do throws(HexadecimalError) {
            let octets = try Hexadecimal.octets(text)
            guard Self.isTidy(text) else {
                error("only a single space, colon or dash may be between two bytes", at: node)
                return nil
            }
            if let count, octets.count != count {
                throw HexadecimalError(.wrongLength(expected: count, found: octets.count), at: 0)
            }
            return octets
        } catch {
            if let count, case .halfOctet = error.reason {
                let digits = text.count { $0.isHexDigit }
                self.error("\(digits) hexadecimal digits where \(2 * count) are needed", at: node)
            } else {
                self.error(error.description, at: node)
            }
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

    /// Reads one of the words of an enumeration.
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
        let found: String
        switch node.value {
        case .malformed: return
        case .string(let text): found = "the string \(ProblemText.quoted(text))"
        default: found = "\(node.kind)"
        }
        var problem = FileProblem("\(expected) is expected, not \(found)", at: node.position, path: node.path)
        problem.isAboutKind = true
        add(problem)
    }

    package mutating func outOfRange(_ value: String, _ range: ClosedRange<Int>, unit: String, at node: JSONNode) {
        let unit = unit.isEmpty ? "" : " " + unit
        error("\(value) is out of range \(range.lowerBound)...\(range.upperBound)\(unit)", at: node)
    }

    /// Checks the version of the file format.
    package mutating func version(_ node: JSONNode?) {
        guard let node, let number = number(node), number.integer != Self.version else { return }
        error(
            "version \(ProblemText.shortened(number.text)) of the format is not known; use \(Self.version)",
            at: node)
    }

    /// Reads a name that can be used for files and systemd units.
    package mutating func name(_ node: JSONNode?) -> String? {
        guard let node, let name = text(node) else { return nil }
        if let problem = Self.problem(ofName: name) {
            error(problem, at: node)
            return nil
        }
        return name
    }

    /// Returns the reason why a text is not a name that can be used for files and systemd units; `nil` for a valid
    /// name.
    package static func problem(ofName name: String) -> String? {
        let isGood = name.utf8.allSatisfy { $0.isASCIILetterOrDigit || "._-".utf8.contains($0) }
        let rule =
            "use at most \(nameLimit) letters (a-z, A-Z), digits, \".\", \"_\" and \"-\", and begin with a letter or "
            + "digit"
        guard isGood, let first = name.utf8.first, first.isASCIILetterOrDigit else {
            return "\(ProblemText.quoted(name)) is not a valid name: \(rule)"
        }
        return name.utf8.count <= nameLimit ? nil : "the name has \(name.utf8.count) characters: \(rule)"
    }
}

/// Reads values that occur in several kinds of files.
extension ConfigurationDecoder {
    /// The largest number of characters in a label, if the format sets no other limit.
    package static let labelLimit = 100

    /// Reads a number, and returns it in thousandths; `range` is also in thousandths. Further decimals are rounded.
    package mutating func thousandths(_ node: JSONNode?, in range: ClosedRange<Int>, unit: String) -> Int? {
        guard let node, let number = self.number(node) else { return nil }
        guard let value = number.thousandths, !number.isLess(thanThousandths: range.lowerBound),
            !number.isGreater(thanThousandths: range.upperBound)
        else {
            error(
                "\(ProblemText.shortened(number.text)) is out of range \(DecimalText.thousandths(range.lowerBound))..."
                    + "\(DecimalText.thousandths(range.upperBound)) \(unit)", at: node)
            return nil
        }
        return value
    }

    /// Reads a number in `range`.
    package mutating func real(_ node: JSONNode?, in range: ClosedRange<Double>, unit: String = "") -> Double? {
        guard let node, let number = number(node) else { return nil }
        guard let value = Double(number.text), range.contains(value) else {
            let bounds = "\(JSONValue.real(range.lowerBound).line)...\(JSONValue.real(range.upperBound).line)"
            error(
                "\(ProblemText.shortened(number.text)) is out of range \(bounds)" + (unit.isEmpty ? "" : " " + unit),
                at: node)
            return nil
        }
        return value
    }

    /// The smallest number that is read as percent. Numbers between 1 and this number are refused, because they are
    /// ambiguous: 2 may mean 2 %, or be a mistake for 0.2.
    package static let leastPercent = 10.0

    /// Reads a share as a fraction of one, such as 0.95, or in percent, such as 95. Returns the fraction.
    ///
    /// - Parameter range: The range of the share as a fraction of one.
    package mutating func share(_ node: JSONNode?, in range: ClosedRange<Double>) -> Double? {
        guard let node, let number = number(node) else { return nil }
        guard let value = Double(number.text), value > 1, value <= 100 else { return real(node, in: range) }
        if value >= Self.leastPercent, range.contains(value / 100) { return value / 100 }
        let bounds = "\(JSONValue.real(range.lowerBound).line)...\(JSONValue.real(range.upperBound).line)"
        let share = JSONValue.real(value / 100).line
        let advice = range.contains(value / 100) ? "; for \(number.text) %, write \(share)" : ""
        error("\(ProblemText.shortened(number.text)) is out of range \(bounds)\(advice)", at: node)
        return nil
    }

    /// Reads the path of a file. The file is not opened.
    package mutating func filePath(_ node: JSONNode?, of what: String) -> String? {
        guard let node, let path = text(node) else { return nil }
        guard !path.isEmpty, !path.utf8.contains(0) else {
            error("the name of \(what) is expected", at: node)
            return nil
        }
        return path
    }

    /// Reads a text that is shown to people, such as a title.
    ///
    /// - Parameter limit: The largest number of characters.
    package mutating func label(
        _ node: JSONNode?, limit: Int = labelLimit, isEmptyGood: Bool = false
    ) -> String? {
        guard let node, let text = self.text(node) else { return nil }
        if text.isEmpty, !isEmptyGood {
            error("a text is expected, but this one is empty", at: node)
            return nil
        }
        let count = text.unicodeScalars.count
        guard count <= limit else {
            error("\(count) characters are more than the maximum of \(limit)", at: node)
            return nil
        }
        return text
    }
}
