internal import Airtime
internal import ArgumentParser
internal import BluetoothTypes
internal import CommandSupport
internal import LinuxHost
internal import Positioning
internal import Sites

struct MapSimulate: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "simulate",
        abstract: "Simulate a survey of the site that a file describes, or a walk through that site.",
        discussion: """
            pharos map simulate museum-site.json --output survey.jsonl
            pharos map simulate museum-site.json --path tour --output walk.jsonl --truth truth.csv

            Levels are computed from path loss and walls. Shadowing is constant over time, fading is random, and one \
            packet in ten is lost. Equal values of --seed give equal results.
            """)

    @Argument(help: "A site file that has beacons or names a fleet.", completion: .file())
    var site: String

    @Option(
        name: .shortAndLong,
        help: ArgumentHelp("The file of the survey or the walk, or - for standard output.", valueName: "file"),
        completion: .file())
    var output: String

    @Option(help: ArgumentHelp("Simulate a walk along this path of the site instead of a survey.", valueName: "name"))
    var path: String?

    @Option(
        help: ArgumentHelp(
            "Write the true positions of the walk as a table for pharos locate --truth to this file.", valueName: "file"
        ),
        completion: .file())
    var truth: String?

    @Option(
        help: ArgumentHelp("The distance between the places of the survey, 0.5...100 m (default: 4).", valueName: "m"),
        transform: { try OptionValue.number($0, in: 0.5...100, "m") })
    var everyM: Double?

    @Option(
        help: ArgumentHelp(
            "The time at each place, for all four headings together, 4...3600 s (default: 40).", valueName: "s"),
        transform: { try OptionValue.seconds($0, in: 4...3600) })
    var seconds: Int?

    @Option(
        help: ArgumentHelp("The number of days of the survey, 1...30 (default: 2).", valueName: "days"),
        transform: { try OptionValue.integer(OptionValue.number(of: $0, units: ["d", "day", "days"]), in: 1...30) })
    var days: Int?

    @Option(
        help: ArgumentHelp("The seed of the random numbers (default: 0).", valueName: "number"),
        transform: { UInt64(try OptionValue.integer($0, in: 0...Int.max)) })
    var seed: UInt64 = 0

    func validate() throws {
        if truth != nil, path == nil { throw ValidationError("--truth needs --path: only a walk has true positions.") }
        if path != nil, everyM != nil || seconds != nil || days != nil {
            throw ValidationError(
                "--every-m, --seconds and --days are for a survey, --path is for a walk: give one or the other.")
        }
        if output == "-", truth == "-" {
            throw ValidationError("Only one of --output and --truth can go to standard output.")
        }
        try OutputFiles.refuseOverwriting([("--output", output), ("--truth", truth)], read: [site])
    }

    func run() throws {
        let floor = try MapFile.simulatedSite(site, seed: seed)
        guard let path else {
            let places = floor.simulated.places(everyMetres: everyM ?? 4)
            guard !places.isEmpty, places.count <= SimulatedSite.placeLimit else {
                throw Failure(
                    .usage,
                    "--every-m: that makes \(places.isEmpty ? "no place" : "\(places.count) places"), 1 to "
                        + "\(SimulatedSite.placeLimit) are possible")
            }
            let survey = floor.simulated.survey(at: places, seconds: seconds ?? 40, days: days ?? 2)
            return try write(survey, "\(NumberFormat.count(places.count, "place")), \(survey.vectorCount) s")
        }
        guard let walk = floor.site.paths.first(where: { $0.name == path })?.walk else {
            let names = floor.site.paths.map { MapText.line($0.name) }.joined(separator: ", ")
            throw Failure(
                .usage,
                "--path \(MapText.line(path)): the site has \(names.isEmpty ? "no paths" : "the paths \(names)")")
        }
        let (run, positions) = floor.simulated.walk(walk)
        if let truth {
            var table = "time,x,y\n"
            for (second, position) in positions.enumerated() {
                table += "\(second),\(MapText.metres(position.x)),\(MapText.metres(position.y))\n"
            }
            try MapFile.write(table, to: truth)
        }
        try write(run, "\(NumberFormat.count(positions.count, "second"))")
    }

    private func write(_ survey: Survey, _ extent: String) throws {
        try MapFile.write(SurveyWriter.text(survey), to: output)
        guard output != "-", truth != "-" else { return }
        Terminal.writeLine("\(extent), \(NumberFormat.count(survey.beacons.count, "beacon")) to \(output)")
    }
}
