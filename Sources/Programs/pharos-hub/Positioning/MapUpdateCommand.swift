internal import ArgumentParser
internal import CommandSupport
internal import Configuration
internal import LinuxHost
internal import Positioning

struct MapUpdateCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "update", abstract: "Put a new survey into a map.",
        discussion: """
            pharos map update map.json --survey june.jsonl
            pharos map update map.json --survey june.jsonl --output newer.json

            Places that agree with the new survey keep what they have, beside the new; places that do not are replaced. \
            What was known of a beacon that was moved or is gone is left out. The algorithm stays; errors and regions are \
            fitted anew.
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
        help: ArgumentHelp("Where the new map goes (default: in place of the old one).", valueName: "map"),
        completion: .file())
    var output: String?

    @OptionGroup var levels: SurveyReadingOptions

    @Flag(help: "Print one JSON object.")
    var json = false

    func validate() throws {
        if survey.isEmpty { throw ValidationError("Name the new --survey.") }
        if output == "-", json { throw ValidationError("--output - and --json both want standard output.") }
        try OutputFiles.refuseOverwriting([("--output", output)], read: survey)
        if map == "-", survey.contains("-") {
            throw ValidationError("Standard input is either the map or the survey.")
        }
    }

    func run() throws {
        let old = try MapFile.read(map)
        let files = try levels.read(survey)
        let update = try MapFitting.update(old, with: files.survey, name: map, files: survey)
        let choice = try MapFitting.choose(
            update.survey, positions: old.beaconPositions, candidates: [old.settings.algorithm], base: old.settings,
            keepsNeighbors: old.settings.neighbors)
        var new = choice.map
        new.sources = old.sources + files.sources.filter { !old.sources.contains($0) }
        for notice in new.notices { Terminal.writeError("pharos: \(notice)\n") }
        let output = output ?? map
        try MapFile.write(new, to: output)
        let report = UpdateReport(update, FitReport(choice, update.survey, output: output))
        if output == "-" { return Terminal.writeError(report.text) }
        Terminal.write(json ? report.json.line + "\n" : report.text + "wrote \(output)\n")
    }
}
