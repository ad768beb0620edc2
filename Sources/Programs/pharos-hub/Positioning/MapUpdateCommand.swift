internal import ArgumentParser
internal import CommandSupport
internal import LinuxHost
internal import Positioning

struct MapUpdateCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "update", abstract: "Add a new survey to a map.",
        discussion: """
            pharos map update map.json --survey june.jsonl
            pharos map update map.json --survey june.jsonl --output newer.json

            Places that agree with the new survey keep their old seconds (the levels of each second) in addition to \
            the new seconds. Other surveyed places are replaced. Old readings of beacons that were moved or removed \
            are left out. The algorithm stays the same; its errors and regions are measured again.
            """)

    @Argument(help: "The map.", completion: .file())
    var map: String

    @Option(
        parsing: .singleValue,
        help: ArgumentHelp("A new survey, JSON Lines or CSV. May be repeated.", valueName: "survey"),
        completion: .file())
    var survey: [String]

    @Option(
        name: .shortAndLong,
        help: ArgumentHelp("The file of the new map (default: replace the old map).", valueName: "map"),
        completion: .file())
    var output: String?

    @OptionGroup var levels: SurveyReadingOptions

    @Flag(help: "Print one JSON object.")
    var json = false

    func validate() throws {
        if survey.isEmpty { throw ValidationError("Give the new --survey.") }
        if output == "-", json { throw ValidationError("Only one of --output - and --json can go to standard output.") }
        try OutputFiles.refuseOverwriting([("--output", output)], read: survey)
        if map == "-", survey.contains("-") {
            throw ValidationError("Only one of the map and the survey can come from standard input.")
        }
    }

    func run() throws {
        let old = try MapFile.read(map)
        let files = try levels.read(survey)
        let usedHashes = Set(old.sources.map(\.sha256))
        if let repeated = files.sources.first(where: { usedHashes.contains($0.sha256) }) {
            throw Failure(
                .dataFormat, "\(repeated.name): \(map) was made from this survey already; give only new surveys")
        }
        for source in files.sources where old.sources.contains(where: { $0.name == source.name }) {
            Terminal.writeMessage(
                "warning: \(source.name): the map was made from an earlier version of this file, and contains the recordings "
                    + "of both versions")
        }
        let update = try MapFitting.update(old, with: files.survey, name: map, files: survey)
        let choice = try MapFitting.choose(
            update.survey, positions: old.beaconPositions, candidates: [old.settings.algorithm], base: old.settings,
            keepsNeighbors: old.settings.neighbors)
        var new = choice.map
        new.sources = old.sources + files.sources.filter { !old.sources.contains($0) }
        let output = output ?? map
        let report = UpdateReport(update, FitReport(choice, update.survey, output: output))
        try MapFile.write(new, to: output, report: report.text, or: report.json, asJSON: json)
    }
}
