/// Something in a configuration file that is wrong, or that the user should know.
public struct ProfileProblem: Error, Hashable, Sendable {
    public enum Severity: String, Hashable, Sendable {
        /// The file is good all the same.
        case warning
        case error
    }

    public var path: JSONPath
    public var position: JSONPosition
    /// One sentence that says what is wrong and what to do.
    public var message: String
    public var severity: Severity

    public init(_ message: String, at position: JSONPosition, path: JSONPath, severity: Severity = .error) {
        self.path = path
        self.position = position
        self.message = message
        self.severity = severity
    }

    /// A fault of the JSON text is an error.
    public init(_ problem: JSONProblem) {
        self.init(problem.message, at: problem.position, path: problem.path)
    }

    public var line: Int { position.line }
    public var column: Int { position.column }

    /// As compilers write it: `profiles/lobby.json:7:14: advertisements[0].major: 70000 is out of range 0...65535`;
    /// a warning says so after the place.
    public func text(file: String) -> String { "\(file):\(description)" }
}

extension ProfileProblem: CustomStringConvertible {
    public var description: String {
        let path = path.components.isEmpty ? "" : "\(path): "
        return "\(position): " + (severity == .warning ? "warning: " : "") + path + message
    }
}
