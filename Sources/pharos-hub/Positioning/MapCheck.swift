internal import ArgumentParser
internal import CommandSupport
internal import Configuration
internal import LinuxHost
internal import Positioning
internal import PositioningFiles

struct MapCheck: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "check", abstract: "List every problem of surveys; exit 1 when there is an error.")

    @Argument(help: "Surveys as JSON Lines or CSV, or - for standard input.", completion: .file())
    var survey: [String] = []

    @OptionGroup var levels: SurveyReadingOptions

    @Flag(help: "Print one JSON object.")
    var json = false

    func validate() throws {
        if survey.isEmpty { throw ValidationError("Name at least one survey.") }
    }

    func run() throws {
        let report = CheckReport(try SurveyFiles(survey, reading: levels.reading))
        Terminal.write(json ? report.json.line + "\n" : report.text)
        if !report.isGood { throw Failure(.failure) }
    }
}
