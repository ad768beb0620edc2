internal import Airtime
public import Configuration

/// What ``Fleet/check(_:keys:)`` found.
public struct FleetReport: Sendable {
    /// In the order of the files.
    public var problems: [FileProblem]
    public var beacons: Int
    public var sites: [Site]
    /// What is sent where.
    public var traffic = FleetTraffic()

    public var isGood: Bool { !problems.contains(where: \.isError) }

    /// The air of one site, as if every receiver heard all of it.
    public struct Site: Hashable, Sendable {
        /// Empty for beacons without a site.
        public var name: String
        public var beacons: Int
        public var advertisements: Int
        /// How likely a packet meets no other one on its channel; `nil` where the model does not say.
        public var collisionFreeProbability: Double?

        init(_ site: FleetTraffic.Site) {
            name = site.name
            beacons = site.beacons
            advertisements = site.advertisements
            collisionFreeProbability = (try? site.collisions())?.collisionFreeProbability
        }
    }
}

/// Which identity keys lie in a fleet's folder for them.
public struct FleetKeyFolder: Sendable {
    /// As the fleet file names it.
    public var path: String
    /// The names of all files in it; `nil` where there is no such folder.
    public var files: Set<String>?
    /// Those of them that others may read.
    public var exposed: Set<String>

    /// - Parameters are as the properties of the same names.
    public init(path: String, files: Set<String>?, exposed: Set<String> = []) {
        self.path = path
        self.files = files
        self.exposed = exposed
    }
}

/// The problems of all files: each once, and no more than anybody reads.
struct ProblemList: Sendable {
    /// More than these are counted only.
    static let limit = 1000

    private(set) var problems: [FileProblem] = []
    private(set) var omitted = 0
    private(set) var hasErrors = false
    private var isCut = false
    var isFull: Bool { problems.count >= Self.limit }
    private var known: Set<FileProblem> = []

    /// Nobody has looked for more: to be called where a search ends because this is full.
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

    /// In the order of ``FileProblem/sorted(_:)``, with a word about those that were only counted.
    var sorted: [FileProblem] {
        var result = FileProblem.sorted(problems)
        if omitted > 0 || isCut, let file = result.last?.file {
            let start = JSONPosition(line: 1, column: 1)
            let message =
                isCut
                ? "the search ended with the first \(Self.limit) problems; mend these and look again"
                : "\(omitted) more problems are not listed"
            result.append(FileProblem(message, at: start, severity: hasErrors ? .error : .warning, in: file))
        }
        return result
    }
}
