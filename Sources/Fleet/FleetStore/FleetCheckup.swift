public import Configuration
public import Fleet

/// What `fleet check` finds: every problem of a fleet file, its tables and its lock, and the air of each site.
public struct FleetCheckup: Sendable {
    /// The fleet file, as it was named.
    public let file: String
    /// The fleet's name; `nil` where nothing can be made of the file.
    public let fleet: String?
    /// Of all files, in their order.
    public let problems: [FileProblem]
    /// How many beacons the fleet file has; `nil` where nothing can be made of it.
    public let beacons: Int?
    /// In the order of the file; none where no identities can be given out.
    public let sites: [FleetReport.Site]
    /// Whether there is no error, so that profiles can be made.
    public let isGood: Bool

    /// More sites than these are not listed as text.
    private static let siteLimit = 50

    /// Checks a fleet on all cores.
    ///
    /// - Parameter progress: Gets how many beacons of how many are done, now and then.
    /// - Throws: Where the fleet file or its lock cannot be read at all.
    public init(
        _ file: String, progress: (_ done: Int, _ all: Int) -> Void = { _, _ in }
    ) throws(FleetStoreError) {
        var files = try FleetFiles(file)
        let report = try files.check(progress: progress)
        self.file = files.file
        fleet = files.fleet?.name
        problems = files.problems
        beacons = files.fleet?.beaconCount
        sites = report?.sites ?? []
        isGood = !files.hasErrors && report != nil
    }

    /// Whether a file that the fleet names is not there or cannot be read.
    public var lacksFile: Bool { problems.contains { $0.kind == .missing } }

    /// One line a problem; of a good fleet also its size, and a row for each site whose air the model knows.
    public var text: String {
        var text = problems.map { "\($0)\n" }.joined()
        guard isGood, let fleet, let beacons else { return text }
        text += "\(file): good, \(beacons == 1 ? "1 beacon" : "\(beacons) beacons") in the fleet \(fleet)\n"
        let sites = sites.filter { $0.collisionFreeProbability != nil }
        guard !sites.isEmpty else { return text }
        var table = Table(
            ["site", "beacons", "advertisements", "free of collisions (%)"], alignment: [.left, .right, .right, .right])
        for site in sites.prefix(Self.siteLimit) {
            let percent = ((site.collisionFreeProbability ?? 0) * 1000).rounded() / 10
            table.add([site.name.isEmpty ? "–" : site.name, "\(site.beacons)", "\(site.advertisements)", "\(percent)"])
        }
        let rest = sites.count - Self.siteLimit
        return text + table.text + (rest > 0 ? "and \(rest) more sites\n" : "")
    }

    /// The same for programs, with all sites.
    public var json: JSONValue {
        .record([
            ("file", .string(file)), ("good", .boolean(isGood)),
            ("beacons", .optional(beacons) { .integer($0) }),
            ("sites", .array(sites.map(Self.json))),
            ("problems", .array(problems.map(\.json))),
        ])
    }

    private static func json(_ site: FleetReport.Site) -> JSONValue {
        .record([
            ("name", .string(site.name)), ("beacons", .integer(site.beacons)),
            ("advertisements", .integer(site.advertisements)),
            ("collisionFreeProbability", .optional(site.collisionFreeProbability) { .decimal("\($0)") }),
        ])
    }
}
