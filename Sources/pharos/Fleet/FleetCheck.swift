internal import ArgumentParser
internal import Configuration
internal import Fleet
internal import FleetStore
internal import LinuxHost

struct FleetCheck: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "check",
        abstract: "List every problem of a fleet, its tables and its lock; exit 1 when there is an error.")

    @Argument(help: "A fleet in JSON.", completion: .file())
    var file: String

    @Flag(help: "Print one JSON object.")
    var json = false

    func run() throws {
        var files = try FleetFiles(file)
        let progress = ProgressLine()
        defer { progress.finish() }
        let report = try files.check { progress.report($0, of: $1, "beacons") }
        progress.finish()
        show(files, report)
        if files.problems.contains(where: { $0.kind == .missing }) { throw Failure(.noInput) }
        if files.hasErrors || report == nil { throw Failure(.failure) }
    }

    private func show(_ files: FleetFiles, _ report: FleetReport?) {
        if json {
            Terminal.write(Self.json(files, report).line + "\n")
            return
        }
        for problem in files.problems { Terminal.write("\(problem)\n") }
        guard !files.hasErrors, let report, let fleet = files.fleet else { return }
        let count = report.beacons == 1 ? "1 beacon" : "\(report.beacons) beacons"
        Terminal.write("\(file): good, \(count) in the fleet \(fleet.name)\n")
        let sites = report.sites.filter { $0.collisionFreeProbability != nil }
        guard !sites.isEmpty else { return }
        var table = Table(
            ["site", "beacons", "advertisements", "free of collisions (%)"], alignment: [.left, .right, .right, .right])
        for site in sites.prefix(Self.siteLimit) {
            let percent = ((site.collisionFreeProbability ?? 0) * 1000).rounded() / 10
            table.add([site.name.isEmpty ? "–" : site.name, "\(site.beacons)", "\(site.advertisements)", "\(percent)"])
        }
        Terminal.write(table.text)
        if sites.count > Self.siteLimit { Terminal.write("and \(sites.count - Self.siteLimit) more sites\n") }
    }

    private static let siteLimit = 50

    private static func json(_ files: FleetFiles, _ report: FleetReport?) -> JSONValue {
        .record([
            ("file", .string(files.file)), ("good", .boolean(!files.hasErrors && report != nil)),
            ("beacons", .optional(files.fleet) { .integer($0.beaconCount) }),
            (
                "sites",
                .array(
                    (report?.sites ?? []).map { site in
                        .record([
                            ("name", .string(site.name)), ("beacons", .integer(site.beacons)),
                            ("advertisements", .integer(site.advertisements)),
                            (
                                "collisionFreeProbability",
                                .optional(site.collisionFreeProbability) { .decimal("\($0)") }
                            ),
                        ])
                    })
            ),
            ("problems", .array(files.problems.map(\.json))),
        ])
    }
}
