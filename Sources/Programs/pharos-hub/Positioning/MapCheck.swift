internal import ArgumentParser
internal import CommandSupport
internal import Configuration
internal import LinuxHost
internal import Positioning

struct MapCheck: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "check", abstract: "List every problem of surveys; exit 1 when there is an error.",
        discussion: """
            pharos map check may.jsonl june.jsonl

            Looked for are stays that are too short, that have one heading, or whose levels belong elsewhere; beacons that \
            were moved or renamed between sessions, that share an identity or tell nothing; and places that cannot be told \
            apart.
            """)

    @Argument(help: "Surveys as JSON Lines or CSV, or - for standard input.", completion: .file())
    var survey: [String] = []

    @OptionGroup var levels: SurveyReadingOptions

    @Flag(help: "Print one JSON object.")
    var json = false

    func validate() throws {
        if survey.isEmpty { throw ValidationError("Name at least one survey.") }
    }

    func run() throws {
        let report = CheckReport(try SurveyFiles(survey, reading: levels.reading, keepsPackets: false))
        Terminal.write(json ? report.json.line + "\n" : report.text)
        if !report.isGood { throw Failure(.failure) }
    }
}
