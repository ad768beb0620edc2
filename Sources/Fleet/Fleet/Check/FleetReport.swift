public import Configuration

/// The result of checking a fleet.
public struct FleetReport: Sendable {
    /// In the order of the files.
    public var problems: [FileProblem]
    /// The number of beacons.
    public var beacons: Int
    /// The advertisements of each site.
    public var traffic = FleetTraffic()

    /// Whether there is no error.
    public var isGood: Bool { !problems.contains(where: \.isError) }
}

/// The contents of a fleet's directory of identity keys.
public struct FleetKeyFolder: Sendable {
    /// As the fleet file names it.
    public var path: String
    /// The names of all files in it; `nil` when there is no such directory.
    public var files: Set<String>?
    /// The files that other users may read.
    public var exposed: Set<String>

    /// - Parameters:
    ///   - path: The directory, as the fleet file names it.
    ///   - files: The names of all files in it; `nil` when there is no such directory.
    ///   - exposed: The files that other users may read.
    public init(path: String, files: Set<String>?, exposed: Set<String> = []) {
        self.path = path
        self.files = files
        self.exposed = exposed
    }

    /// Why a key cannot be used; `nil` for a good one, and when there is no directory at all.
    func fault(_ file: String) -> String? {
        guard let files else { return nil }
        if !files.contains(file) {
            return "there is no key \(ProblemText.quoted(file)) in \(path); `pharos fleet keys` makes it"
        }
        return exposed.contains(file)
            ? "others may read the key \(ProblemText.quoted(file)) in \(path): chmod 0600" : nil
    }
}

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
