/// Something in a configuration file that is wrong, or that the user should know.
public struct FileProblem: Error, Hashable, Sendable {
    /// Whether the file can be used all the same.
    public enum Severity: String, Hashable, Sendable {
        /// The file is good all the same.
        case warning
        case error
    }

    /// What a problem means for whoever wants to use the file.
    public enum Kind: Hashable, Sendable {
        /// The file, or one that it names, cannot be read.
        case missing
        /// The text does not follow the grammar of its format: no JSON, no CSV, no UTF-8.
        case malformed
        /// The text is well formed, and what it says cannot be.
        case invalid
    }

    /// As it was named on the command line, or beside the file that names it; `nil` where the reader was not told.
    public var file: String?
    public var kind: Kind
    public var severity: Severity
    public var position: JSONPosition
    /// The value that the problem is about; the root for files that are no JSON.
    public var path: JSONPath
    /// One sentence that says what is wrong and what to do.
    public var message: String

    /// - Parameters are as the properties of the same names.
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
    /// From 1.
    public var line: Int { position.line }
    /// In Unicode scalars, from 1.
    public var column: Int { position.column }

    /// Of a path in a message, in characters.
    private static let pathLimit = 200

    /// The same problem, said of `file`.
    public func inFile(_ file: String) -> FileProblem {
        var problem = self
        problem.file = file
        return problem
    }

    /// As compilers write it: `profiles/lobby.json:7:14: advertisements[0].major: 70000 is out of range 0...65535`;
    /// a warning says so after the place.
    public func text(file: String) -> String { "\(file):\(place)" }

    private var place: String {
        // Keys may be as long as the file.
        let path = path.components.isEmpty ? "" : ProblemText.shortened(path.description, to: Self.pathLimit) + ": "
        return "\(position): " + (severity == .warning ? "warning: " : "") + path + message
    }

    /// Those of one file in its order, the files in the order in which they were first named.
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

    /// One object of the `problems` that commands print with `--json`; `file` only where it is known.
    public var json: JSONValue {
        .record(
            (file.map { [("file", .string($0))] } ?? []) + [
                ("line", .integer(line)), ("column", .integer(column)), ("path", .string(path.description)),
                ("severity", .string(severity.rawValue)), ("message", .string(message)),
            ])
    }
}

extension FileProblem: CustomStringConvertible {
    /// With the file's name where it is known.
    public var description: String { file.map { text(file: $0) } ?? place }
}

extension Sequence where Element == FileProblem {
    /// What is worst about the errors: a missing file before a malformed one, that before an invalid one; `nil` without
    /// errors.
    public var refusal: FileProblem.Kind? {
        let kinds = Set(filter(\.isError).map(\.kind))
        return [.missing, .malformed, .invalid].first(where: kinds.contains)
    }
}

/// Finds what somebody meant who mistyped a word.
package enum NearestWord {
    /// The one of `words` with the fewest typing errors, else the shortest that contains the word; `nil` when all are
    /// too far off to be meant.
    package static func find(_ word: String, among words: [String]) -> String? {
        guard word.utf8.count <= 40 else { return nil }
        let limit = max(2, word.utf8.count / 3)
        let given = word.lowercased()
        let nearest = words.map { (word: $0, distance: distance(given, $0.lowercased())) }
            .filter { $0.distance <= limit }
            .min { $0.distance < $1.distance }
        if let nearest { return nearest.word }
        guard given.utf8.count > 2 else { return nil }
        return words.filter { $0.lowercased().contains(given) }.min { $0.utf8.count < $1.utf8.count }
    }

    /// Octets inserted, removed, replaced or swapped with their neighbor (optimal string alignment).
    static func distance(_ left: String, _ right: String) -> Int {
        let (left, right) = (Array(left.utf8), Array(right.utf8))
        var beforeLast: [Int] = []
        var last = Array(0...right.count)
        for (row, octet) in left.enumerated() {
            var current = [row + 1]
            for (column, other) in right.enumerated() {
                var cost = min(last[column + 1] + 1, current[column] + 1, last[column] + (octet == other ? 0 : 1))
                if row > 0, column > 0, octet == right[column - 1], left[row - 1] == other {
                    cost = min(cost, beforeLast[column - 1] + 1)
                }
                current.append(cost)
            }
            (beforeLast, last) = (last, current)
        }
        return last[right.count]
    }
}

/// Foreign text inside messages: quoted, and never so long that the message drowns in it.
package enum ProblemText {
    /// In double quotes with everything invisible escaped, at most 40 columns and an ellipsis.
    package static func quoted(_ text: String) -> String { TerminalText.quoted(shortened(text), to: 41) }

    /// At most so many columns, and an ellipsis where something was left out. Not escaped.
    package static func shortened(_ text: String, to limit: Int = 40) -> String {
        TerminalText.shortened(text, to: limit + 1)
    }
}

/// The kinds of JSON files, told apart by the keys that only they have: for whoever gives one where another is expected.
public enum FileKind: Hashable, Sendable {
    case beaconProfile
    case fleet
    case site
    case listener
    case inventory
    case collector
    case signalMap
    case fleetLock
    case manifest

    /// Recognizes a file by the keys of its outermost object; `nil` for what looks like none of them.
    public init?(_ root: JSONNode) {
        func has(_ key: String) -> Bool { root[key] != nil }
        if has("advertisements") {
            self = .beaconProfile
        } else if has("template") {
            self = .fleet
        } else if has("outline") || has("walls") || has("receiverSensitivityDbm") {
            self = .site
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

    /// With its article, such as `a fleet file`.
    public var name: String {
        switch self {
        case .beaconProfile: "a beacon profile"
        case .fleet: "a fleet file"
        case .site: "a site file"
        case .listener: "a listener file"
        case .inventory: "an inventory"
        case .collector: "a collector file"
        case .signalMap: "a map of signals"
        case .fleetLock: "the lock of a fleet"
        case .manifest: "the manifest of a fleet"
        }
    }

    /// The command that takes such a file.
    public var command: String {
        switch self {
        case .beaconProfile: "pharos profile check"
        case .fleet, .fleetLock: "pharos fleet check"
        case .site: "pharos plan site"
        case .listener: "pharos listen --print"
        case .inventory: "pharos inventory check"
        case .collector: "pharos collect"
        case .signalMap: "pharos map show"
        case .manifest: "pharos fleet status"
        }
    }
}

extension ConfigurationDecoder {
    /// Whether `root` may be a file of kind `expected`; else one error says what it is, in place of one for each key.
    package mutating func expect(_ expected: FileKind, _ root: JSONNode) -> Bool {
        guard let found = FileKind(root), found != expected else { return true }
        let command =
            found == .fleetLock ? "`pharos fleet check` takes the fleet file beside it" : "`\(found.command)` takes it"
        error("this is \(found.name), not \(expected.name): \(command)", at: root)
        return false
    }
}
