internal import BluetoothTypes
internal import Configuration

/// The problems of all files. At most a thousand problems are listed.
struct ProblemList: Sendable {
    /// The maximum number of listed problems. Further problems are only counted.
    static let limit = 1000

    private(set) var problems: [FileProblem] = []
    private(set) var omitted = 0
    private(set) var hasErrors = false
    private var isCut = false
    var isFull: Bool { problems.count >= Self.limit }
    private var listed: Set<FileProblem> = []
    /// For each kind of problem in each column of a table: the position of its first problem in ``problems``, the
    /// number of further cells with this problem, and the rows of the first and the last of these further cells.
    private var cells: [CellFault: (index: Int, moreCount: Int, firstRow: Int, lastRow: Int)] = [:]

    private struct CellFault: Hashable {
        let file: String
        let path: JSONPath
        /// The message without the values of the cell.
        let message: String
    }

    /// Records that the search for problems was ended because this list is full.
    mutating func cut() { isCut = true }

    mutating func add(_ problem: FileProblem) {
        if problem.isError { hasErrors = true }
        guard problems.count < Self.limit else {
            omitted += 1
            return
        }
        if listed.insert(problem).inserted { problems.append(problem) }
    }

    /// Adds a problem of a cell. If several cells of a column have the same fault, only the first cell is listed, with
    /// the number of the other cells.
    mutating func addCell(_ problem: FileProblem) {
        let fault = CellFault(
            file: problem.file ?? "", path: problem.path, message: Self.withoutValues(problem.message))
        let row = problem.position.line
        if let earlier = cells[fault] {
            cells[fault] = (
                earlier.index, earlier.moreCount + 1, earlier.moreCount == 0 ? row : earlier.firstRow, row
            )
            if problem.isError { hasErrors = true }
        } else {
            if problems.count < Self.limit { cells[fault] = (problems.count, 0, row, row) }
            add(problem)
        }
    }

    /// Returns the message without quoted texts. Words that contain a digit are replaced.
    private static func withoutValues(_ message: String) -> String {
        let parts = message.split(separator: "\"", omittingEmptySubsequences: false).enumerated()
            .map { $0.offset % 2 == 0 ? String($0.element) : "" }
        return parts.joined(separator: "\"").split(separator: " ")
            .map { $0.utf8.contains { (0x30...0x39).contains($0) } ? "#" : $0 }.joined(separator: " ")
    }

    mutating func add(_ message: String, at node: JSONNode, in file: String, severity: FileProblem.Severity = .error) {
        add(FileProblem(message, at: node.position, path: node.path, severity: severity, in: file))
    }

    mutating func add(_ list: [FileProblem], in file: String) {
        for problem in list { add(problem.inFile(file)) }
    }

    /// The problems in the order of ``FileProblem/sorted(_:)``, with a note about the problems that were only counted.
    var sorted: [FileProblem] {
        var problems = problems
        for fault in cells.values where fault.moreCount > 0 {
            let rows =
                fault.moreCount == 1 ? "row \(fault.firstRow)" : "rows \(fault.firstRow) to \(fault.lastRow)"
            let count = NumberFormat.count(fault.moreCount, "more cell")
            problems[fault.index].message +=
                problems[fault.index].path == .root
                ? "; the same is true of \(NumberFormat.count(fault.moreCount, "more row")), \(rows)"
                : "; the same is true of \(count) of this column, \(rows)"
        }
        var result = FileProblem.sorted(problems)
        if omitted > 0 || isCut, let file = result.last?.file {
            let start = JSONPosition(line: 1, column: 1)
            let message =
                isCut
                ? "the search stopped after \(Self.limit) problems; correct these and check again"
                : "\(omitted) more problems are not listed"
            result.append(FileProblem(message, at: start, severity: hasErrors ? .error : .warning, in: file))
        }
        return result
    }
}
