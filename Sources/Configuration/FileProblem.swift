/// Something in a configuration file that is wrong, or that the user should know.
public struct FileProblem: Error, Hashable, Sendable {
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
