internal import ArgumentParser
internal import BeaconService
internal import Configuration
internal import LinuxHost
internal import Profiles

struct ProfileCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "profile", abstract: "Make, check and show beacon profiles.",
        subcommands: [ProfileInit.self, ProfileCheck.self, ProfileShow.self, ProfileSchema.self])
}

struct ProfileCheck: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "check", abstract: "List every problem of one or more profiles; exit 1 when there is an error.")

    @Argument(help: "Beacon profiles in JSON, or - for standard input.", completion: .file())
    var files: [String]

    @Flag(help: "Print one JSON object.")
    var json = false

    func run() throws {
        var reports: [ProfileReport] = []
        var unreadable: [String] = []
        for file in files {
            do {
                reports.append(ProfileReport(try ProfileReport.read(file), file: file, checksName: true))
            } catch {
                unreadable += error.messages
            }
        }
        show(reports)
        guard unreadable.isEmpty else { throw Failure(.noInput, unreadable) }
        if reports.contains(where: { $0.profile == nil }) { throw Failure(.failure) }
    }

    private func show(_ reports: [ProfileReport]) {
        if json {
            Terminal.write(JSONValue.record([("files", .array(reports.map(\.json)))]).line + "\n")
        } else {
            for report in reports {
                for problem in report.problems { Terminal.write(problem.text(file: report.file) + "\n") }
                if report.problems.isEmpty { Terminal.write("\(report.file): good\n") }
            }
        }
    }
}

struct ProfileShow: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "show", abstract: "Print a profile with all defaults filled in.")

    @Argument(help: "A beacon profile in JSON, or - for standard input.", completion: .file())
    var file: String

    func run() throws {
        let report = ProfileReport(try ProfileReport.read(file), file: file)
        guard let profile = report.profile else { throw report.refusal }
        Terminal.write(profile.json.pretty)
    }
}

struct ProfileSchema: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "schema", abstract: "Print the JSON Schema of beacon profiles, for editors.")

    func run() {
        Terminal.write(BeaconSchema.text)
    }
}
