internal import ArgumentParser
internal import CommandSupport
internal import LinuxHost
internal import Positioning

struct MapFit: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "fit", abstract: "Make a map from surveys.",
        discussion: """
            pharos map fit survey.jsonl --output map.json
            pharos map fit may.jsonl june.csv --absent 100 --output map.json --beacon-positions museum-site.json
            pharos map fit survey.jsonl --algorithm gauss --output map.json
            pharos map fit --from-site museum-site.json --output map.json

            By default, the command leaves out each visit in turn, locates it with every algorithm, and takes the \
            algorithm with the smallest mean error. It prints how much better that algorithm is. Equal surveys give \
            equal files.

            --from-site computes the levels from a site file: from the positions and powers of the beacons, the path \
            loss and the walls. The name of a beacon in the site file must be its name or identity in received \
            reports. For beacons of a fleet, the map has their identities.
            """)

    /// The value of the option for the algorithm: one algorithm, or `auto` to choose from all of them.
    enum Choice {
        case auto
        case one(PositioningAlgorithm)

        init(_ text: String) throws {
            guard text != "auto" else {
                self = .auto
                return
            }
            guard let algorithm = PositioningAlgorithm(rawValue: text) else {
                throw Mistake("use " + Self.names.joined(separator: ", "))
            }
            self = .one(algorithm)
        }

        static let names =
            ["auto"] + (PositioningAlgorithm.allCases + PositioningAlgorithm.baselines).map(\.rawValue)
    }

    @Argument(help: "Surveys as JSON Lines or CSV, or - for standard input.", completion: .file())
    var survey: [String] = []

    @Option(
        name: .shortAndLong, help: ArgumentHelp("The file of the map, or - for standard output.", valueName: "map"),
        completion: .file())
    var output: String

    @Option(
        help: ArgumentHelp(
            "The algorithm (default: auto): \(Choice.names.joined(separator: ", ")).", valueName: "name"),
        completion: .list(Choice.names), transform: Choice.init)
    var algorithm: Choice = .auto

    @Option(
        help: ArgumentHelp(
            "The side of a grid cell, for the algorithms field and hmm, 0.05...1000 m (default: 0.5, or 1 on large sites).",
            valueName: "m"),
        transform: { try OptionValue.number($0, in: 0.05...1000, "m") })
    var gridM: Double?

    @Option(
        help: ArgumentHelp("A site or fleet file with the positions of the beacons.", valueName: "file"),
        completion: .file())
    var beaconPositions: String?

    @Option(
        help: ArgumentHelp("Make a map from this site file, without a survey.", valueName: "site"), completion: .file())
    var fromSite: String?

    @OptionGroup var levels: SurveyReadingOptions
    @OptionGroup var parameters: AlgorithmOptions

    @Flag(help: "Print one JSON object.")
    var json = false

    func validate() throws {
        if survey.isEmpty, fromSite == nil { throw ValidationError("Give at least one survey, or --from-site.") }
        if fromSite != nil, !survey.isEmpty || beaconPositions != nil {
            throw ValidationError(
                "--from-site takes no survey and no --beacon-positions: the site file has all positions.")
        }
        if output == "-", json { throw ValidationError("Only one of --output - and --json can go to standard output.") }
        try OutputFiles.refuseOverwriting([("--output", output)], read: survey + [fromSite, beaconPositions])
    }

    func run() throws {
        if let fromSite { return try fit(site: fromSite) }
        let files = try levels.read(survey)
        let positions = try beaconPositions.map { path in try MapFile.beaconPositions(path) } ?? [:]
        var baseSettings = LocatorSettings()
        baseSettings.gridMetres = gridM
        parameters.apply(to: &baseSettings)
        let candidates: [PositioningAlgorithm] =
            switch algorithm {
            case .auto: AlgorithmChoice.candidates
            case .one(let algorithm): [algorithm]
            }
        let choice = try MapFitting.choose(
            files.survey, positions: positions, candidates: candidates, base: baseSettings,
            keepsNeighbors: parameters.neighbors
        )
        var map = choice.map
        map.sources = files.sources
        if !positions.isEmpty, !map.beacons.contains(where: { $0.position != nil }) {
            Terminal.writeMessage(
                "\(beaconPositions ?? ""): this file has none of the beacons of the surveys")
        }
        let report = FitReport(choice, files.survey, output: output)
        try MapFile.write(map, to: output, report: report.text, or: report.json, asJSON: json)
    }

    /// Makes a map from a site file, without a survey.
    private func fit(site path: String) throws {
        var settings = LocatorSettings()
        if case .one(let algorithm) = algorithm { settings.algorithm = algorithm }
        settings.gridMetres = gridM
        parameters.apply(to: &settings)
        let map = try MapFile.map(ofSite: path, settings: settings)
        let report = FitReport(siteMap: map, output: output)
        try MapFile.write(map, to: output, report: report.text, or: report.json, asJSON: json)
    }
}
