/// An error in a configuration file, or a warning about it.
public struct FileProblem: Error, Hashable, Sendable {
    /// The severity of a problem.
    public enum Severity: String, Hashable, Sendable {
        /// The file can be used.
        case warning
        /// The file cannot be used.
        case error
    }

    /// The kind of a problem.
    public enum Kind: Hashable, Sendable {
        /// The file, or a file that it names, cannot be read.
        case missing
        /// The text does not follow the grammar of its format: it is not JSON, CSV or UTF-8.
        case malformed
        /// The text follows the grammar, but a value is not allowed.
        case invalid
    }

    /// The path of the file as the user wrote it; `nil` if the reader does not know it.
    public var file: String?
    public var kind: Kind
    public var severity: Severity
    public var position: JSONPosition
    /// The path of the value that the problem is about; the root for files that are not JSON.
    public var path: JSONPath
    /// A sentence with the problem and what to do.
    public var message: String
    /// True if the problem is about the key of the value at ``path``, not about the value.
    public var isAboutKey = false
    /// True if the value is of another kind than expected, such as a number instead of a string.
    public var isAboutKind = false

    /// Creates a problem at a position, by default an error about a value that is not allowed.
    public init(
        _ message: String, at position: JSONPosition, path: JSONPath = .root, severity: Severity = .error,
        kind: Kind = .invalid, in file: String? = nil
    ) {
        self.file = file
        self.kind = kind
        self.severity = severity
        self.position = position
        self.path = path
        self.message = message
    }

    public var isError: Bool { severity == .error }
    /// The line of the problem, from 1.
    public var line: Int { position.line }
    /// The column of the problem in Unicode scalars, from 1.
    public var column: Int { position.column }

    /// The largest width of a path in a message, in columns.
    private static let pathLimit = 200

    /// Returns the problem with the path of its file.
    public func inFile(_ file: String) -> FileProblem {
        var problem = self
        problem.file = file
        return problem
    }

    /// Returns the problem in the style of compilers:
    /// `profiles/lobby.json:7:14: advertisements[0].major: 70000 is out of range 0...65535`. A warning has `warning: `
    /// after the position.
    public func text(file: String) -> String { TerminalText.line("\(file):\(textWithoutFile)") }

    private var textWithoutFile: String {
        let path = path.components.isEmpty ? "" : ProblemText.shortened(path.description, to: Self.pathLimit) + ": "
        return "\(position): " + (severity == .warning ? "warning: " : "") + path + message
    }

    /// Returns the problems sorted by file and position. The files are in the order of their first problems.
    public static func sorted(_ problems: [FileProblem]) -> [FileProblem] {
        var order: [String?: Int] = [:]
        for problem in problems where order[problem.file] == nil { order[problem.file] = order.count }
        return problems.enumerated().sorted { left, right in
            let files = (order[left.element.file] ?? 0, order[right.element.file] ?? 0)
            if files.0 != files.1 { return files.0 < files.1 }
            let positions = (left.element.position, right.element.position)
            return positions.0 == positions.1 ? left.offset < right.offset : positions.0 < positions.1
        }.map(\.element)
    }

    /// The problem as an object of `problems` in the output of `--json`. It has the key `file` only if the file is
    /// known.
    public var json: JSONValue {
        .record(
            (file.map { [("file", .string($0))] } ?? []) + [
                ("line", .integer(line)), ("column", .integer(column)), ("path", .string(path.description)),
                ("severity", .string(severity.rawValue)), ("message", .string(message)),
            ])
    }
}

extension FileProblem: CustomStringConvertible {
    /// The problem as text, with the path of the file if it is known.
    public var description: String { file.map { text(file: $0) } ?? TerminalText.line(textWithoutFile) }
}

extension Sequence where Element == FileProblem {
    /// The most serious kind among the errors, in the order missing, malformed, invalid; `nil` if there are no errors.
    public var refusal: FileProblem.Kind? {
        let kinds = Set(filter(\.isError).map(\.kind))
        return [.missing, .malformed, .invalid].first(where: kinds.contains)
    }
}

/// Finds the known word that a mistyped word probably means.
package enum NearestWord {
    /// Returns the most similar of `words`; `nil` if no word is similar. The order of preference is: a word that
    /// differs by at most one typing error, the shortest word that begins with `word`, the word with the fewest typing
    /// errors, the shortest word that contains `word`.
    package static func find(_ word: String, among words: [String]) -> String? {
        guard word.utf8.count <= 40 else { return nil }
        let limit = max(2, word.utf8.count / 3)
        let lowercasedWord = word.lowercased()
        let nearest = words.map { (word: $0, distance: distance(lowercasedWord, $0.lowercased())) }
            .filter { $0.distance <= limit }
            .min { $0.distance < $1.distance }
        if let nearest, nearest.distance <= 1 { return nearest.word }
        guard lowercasedWord.utf8.count > 2 else { return nearest?.word }
        let completion = words.filter { $0.lowercased().hasPrefix(lowercasedWord) }
            .min { $0.utf8.count < $1.utf8.count }
        if let word = completion ?? nearest?.word { return word }
        return words.filter { $0.lowercased().contains(lowercasedWord) }.min { $0.utf8.count < $1.utf8.count }
    }

    /// Returns the smallest number of changes that turn `left` into `right`: a byte is inserted, removed or replaced,
    /// or two neighbouring bytes are swapped (optimal string alignment).
    static func distance(_ left: String, _ right: String) -> Int {
        let (left, right) = (Array(left.utf8), Array(right.utf8))
        // Row r holds the distances from the first r bytes of `left` to each beginning of `right`.
        var rowBeforePrevious: [Int] = []
        var previousRow = Array(0...right.count)
        for (row, octet) in left.enumerated() {
            var currentRow = [row + 1]
            for (column, other) in right.enumerated() {
                var cost = min(
                    previousRow[column + 1] + 1, currentRow[column] + 1,
                    previousRow[column] + (octet == other ? 0 : 1))
                if row > 0, column > 0, octet == right[column - 1], left[row - 1] == other {
                    cost = min(cost, rowBeforePrevious[column - 1] + 1)
                }
                currentRow.append(cost)
            }
            (rowBeforePrevious, previousRow) = (previousRow, currentRow)
        }
        return previousRow[right.count]
    }
}

/// Prepares text from files for messages: quoted and shortened.
package enum ProblemText {
    /// Returns the text in double quotes with invisible characters escaped, at most 40 columns and an ellipsis.
    package static func quoted(_ text: String) -> String { TerminalText.quoted(shortened(text), to: 41) }

    /// Returns the text without escapes, at most `limit` columns and an ellipsis.
    package static func shortened(_ text: String, to limit: Int = 40) -> String {
        TerminalText.shortened(text, to: limit + 1)
    }
}

/// The kinds of JSON files, which are recognised by their keys. A message about a file of the wrong kind names the
/// kind.
public enum FileKind: Hashable, Sendable {
    case beaconProfile
    case fleet
    case site
    case scanners
    case listener
    case inventory
    case collector
    case signalMap
    case fleetLock
    case manifest

    /// Recognizes a file by the keys of its root object; `nil` if no kind has these keys.
    public init?(_ root: JSONNode) {
        func has(_ key: String) -> Bool { root[key] != nil }
        if has("advertisements") {
            self = .beaconProfile
        } else if has("template") {
            self = .fleet
        } else if ["outline", "walls", "picture", "receiverSensitivityDbm"].contains(where: has)
            || has("receivers") && root["beacons"]?[0]?["position"] != nil
        {
            self = .site
        } else if has("scanners"), !has("beacons") {
            self = .scanners
        } else if has("items"), has("name") || has("version") {
            self = .inventory
        } else if has("receivers") {
            self = .collector
        } else if has("statistics"), has("places") {
            self = .signalMap
        } else if ["known", "irks", "rssiOffsetDb", "strangers", "zones"].contains(where: has) {
            self = .listener
        } else if has("fleet"), has("beacons") {
            self = has("groups") ? .fleetLock : .manifest
        } else {
            return nil
        }
    }

    /// The name with its article, such as `a fleet file`.
    public var name: String {
        switch self {
        case .beaconProfile: "a beacon profile"
        case .fleet: "a fleet file"
        case .site: "a site file"
        case .scanners: "a file with scanners"
        case .listener: "a listener file"
        case .inventory: "an inventory"
        case .collector: "a collector file"
        case .signalMap: "a map of signals"
        case .fleetLock: "the lock of a fleet"
        case .manifest: "the manifest of a fleet"
        }
    }

    /// The command that uses a file of this kind.
    public var command: String {
        switch self {
        case .beaconProfile: "pharos profile check"
        case .fleet, .fleetLock: "pharos fleet check"
        case .site: "pharos plan site"
        case .scanners: "pharos plan scanners --scanner-file"
        case .listener: "pharos listen --print"
        case .inventory: "pharos inventory check"
        case .collector: "pharos collect"
        case .signalMap: "pharos map show"
        case .manifest: "pharos fleet status"
        }
    }
}

extension ConfigurationDecoder {
    /// Returns true if `root` may be a file of the kind `expected`. Otherwise reports a single error, which names the
    /// kind of the file.
    package mutating func expect(_ expected: FileKind, _ root: JSONNode) -> Bool {
        guard let actual = FileKind(root), actual != expected else { return true }
        let command =
            actual == .fleetLock ? "use `pharos fleet check` with its fleet file" : "use `\(actual.command)`"
        error("this is \(actual.name), not \(expected.name): \(command)", at: root)
        return false
    }
}
