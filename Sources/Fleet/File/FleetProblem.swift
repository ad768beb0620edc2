public import Profiles

/// Something in one of a fleet's files that is wrong, or that the user should know.
public struct FleetProblem: Error, Hashable, Sendable {
    public enum Kind: Hashable, Sendable {
        /// The file cannot be read.
        case missing
        /// The file is no JSON, or no CSV.
        case malformed
        /// What the file says cannot be.
        case content
    }

    /// As it was named on the command line, or beside the fleet file.
    public var file: String
    public var problem: ProfileProblem
    public var kind: Kind

    public init(_ problem: ProfileProblem, in file: String, kind: Kind = .content) {
        self.problem = problem
        self.file = file
        self.kind = kind
    }

    public var isError: Bool { problem.severity == .error }

    /// Those of one file in its order, the files in the order in which they were first named.
    public static func sorted(_ problems: [FleetProblem]) -> [FleetProblem] {
        var order: [String: Int] = [:]
        for problem in problems where order[problem.file] == nil { order[problem.file] = order.count }
        return problems.enumerated().sorted { left, right in
            let files = (order[left.element.file] ?? 0, order[right.element.file] ?? 0)
            if files.0 != files.1 { return files.0 < files.1 }
            let positions = (left.element.problem.position, right.element.problem.position)
            return positions.0 == positions.1 ? left.offset < right.offset : positions.0 < positions.1
        }.map(\.element)
    }
}

extension FleetProblem: CustomStringConvertible {
    /// As compilers write it: `fleet.json:7:14: template.advertisements[0].major: …`.
    public var description: String { problem.text(file: file) }
}

/// The problems of all files: each once, and no more than anybody reads.
struct ProblemList: Sendable {
    /// More than these are counted only.
    static let limit = 1000

    private(set) var problems: [FleetProblem] = []
    private(set) var omitted = 0
    private(set) var hasErrors = false
    var isFull: Bool { problems.count >= Self.limit }
    private var known: Set<FleetProblem> = []

    mutating func add(_ problem: FleetProblem) {
        if problem.isError { hasErrors = true }
        guard problems.count < Self.limit else {
            omitted += 1
            return
        }
        if known.insert(problem).inserted { problems.append(problem) }
    }

    mutating func add(_ message: String, at node: JSONNode, in file: String, severity: ProfileProblem.Severity = .error)
    {
        add(FleetProblem(.init(message, at: node.position, path: node.path, severity: severity), in: file))
    }

    mutating func add(_ list: [ProfileProblem], in file: String, kind: FleetProblem.Kind = .content) {
        for problem in list { add(FleetProblem(problem, in: file, kind: kind)) }
    }

    /// In the order of ``FleetProblem/sorted(_:)``, with a word about those that were only counted.
    var sorted: [FleetProblem] {
        var result = FleetProblem.sorted(problems)
        if omitted > 0, let file = result.last?.file {
            let start = JSONPosition(line: 1, column: 1)
            let message = "\(omitted) more problems are not listed"
            result.append(
                FleetProblem(.init(message, at: start, path: .root, severity: hasErrors ? .error : .warning), in: file))
        }
        return result
    }
}
