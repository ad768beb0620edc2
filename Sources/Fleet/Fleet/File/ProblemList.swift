internal import Configuration

/// The problems of all files: each once, and at most a thousand.
struct ProblemList: Sendable {
    /// Further problems are only counted.
    static let limit = 1000

    private(set) var problems: [FileProblem] = []
    private(set) var omitted = 0
    private(set) var hasErrors = false
    private var isCut = false
    var isFull: Bool { problems.count >= Self.limit }
    private var known: Set<FileProblem> = []

    /// Notes that the search ended because this list is full.
    mutating func cut() { isCut = true }

    mutating func add(_ problem: FileProblem) {
        if problem.isError { hasErrors = true }
        guard problems.count < Self.limit else {
            omitted += 1
            return
        }
        if known.insert(problem).inserted { problems.append(problem) }
    }

    mutating func add(_ message: String, at node: JSONNode, in file: String, severity: FileProblem.Severity = .error) {
        add(FileProblem(message, at: node.position, path: node.path, severity: severity, in: file))
    }

    mutating func add(_ list: [FileProblem], in file: String) {
        for problem in list { add(problem.inFile(file)) }
    }

    /// In the order of ``FileProblem/sorted(_:)``, with a note about those that were only counted.
    var sorted: [FileProblem] {
        var result = FileProblem.sorted(problems)
        if omitted > 0 || isCut, let file = result.last?.file {
            let start = JSONPosition(line: 1, column: 1)
            let message =
                isCut
                ? "the search ended with the first \(Self.limit) problems; correct these and check again"
                : "\(omitted) more problems are not listed"
            result.append(FileProblem(message, at: start, severity: hasErrors ? .error : .warning, in: file))
        }
        return result
    }
}
