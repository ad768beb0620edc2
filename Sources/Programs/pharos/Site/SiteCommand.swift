internal import ArgumentParser
internal import CommandSupport
internal import Configuration
internal import LinuxHost
internal import Planner
internal import Sites

struct SiteCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "site",
        abstract: "Make, draw and check site files: floors with a picture, walls, rooms and beacons.",
        discussion: """
            A site file is a floor for `pharos plan site`, `pharos locate` and `pharos collect`. Example:

              pharos site init museum --image plan.png --width-m 48
              pharos site edit museum.json
              pharos site check museum.json
              pharos plan site museum.json --html museum.html
            """,
        subcommands: [SiteInit.self, SiteEdit.self, SiteCheck.self, SiteSchemaCommand.self])
}

struct SiteSchemaCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "schema", abstract: "Print the JSON Schema of site files, for editors.")

    func run() { Terminal.write(Site.schema) }
}

struct SiteCheck: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "check",
        abstract: "List every problem of site files, of their pictures and fleets; exit 1 if there is an error.")

    @Argument(help: "Site files in JSON, or - for standard input.", completion: .file())
    var files: [String]

    @Flag(help: "Print one JSON object.")
    var json = false

    func run() throws {
        var reports: [Report] = []
        var unreadable: [String] = []
        for file in files {
            do {
                reports.append(try Report(of: file))
            } catch {
                unreadable += ExitStatus.messages(of: error)
            }
        }
        if json {
            Terminal.write(JSONValue.record([("files", .array(reports.map(\.json)))]).line + "\n")
        } else {
            for report in reports { for line in report.lines { Terminal.writeLine(line) } }
        }
        guard unreadable.isEmpty else { throw Failure(.noInput, unreadable) }
        if reports.contains(where: { !$0.isGood }) { throw Failure(.failure) }
    }

    /// The problems of one file.
    private struct Report {
        let file: String
        let isGood: Bool
        private var problems: [FileProblem]
        /// The problems of the files that the site file names.
        private var companionProblems: [String] = []

        init(of file: String) throws {
            let octets = try InputFile.read(file, limit: PlanSite.sizeLimit)
            self.file = Files.inputName(file)
            let (decoded, problems) = Site.decode(octets)
            self.problems = problems
            guard var site = decoded else {
                isGood = false
                return
            }
            do {
                let (_, warnings) = try SiteCompanions.fillFleet(of: &site, file)
                self.problems += warnings
            } catch {
                companionProblems += ExitStatus.messages(of: error)
            }
            do throws(FloorPictureError) {
                try site.readPicture(ofSite: file)
            } catch {
                self.problems.append(error.problem)
            }
            isGood = companionProblems.isEmpty && !self.problems.contains { $0.severity == .error }
        }

        var lines: [String] {
            let lines = FileProblem.lines(problems, file: file) + companionProblems
            return lines.isEmpty ? ["\(file): good"] : lines
        }

        var json: JSONValue {
            .record([
                ("file", .string(file)), ("good", .boolean(isGood)),
                (
                    "problems",
                    .array(
                        problems.map(\.json)
                            + companionProblems.map { .record([("severity", "error"), ("message", .string($0))]) })
                ),
            ])
        }
    }
}
