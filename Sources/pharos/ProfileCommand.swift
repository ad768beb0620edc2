internal import ArgumentParser
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
        var unreadable: [Failure] = []
        for file in files {
            do {
                reports.append(ProfileReport(try InputFile.readProfile(file), file: file))
            } catch let failure as Failure {
                unreadable.append(failure)
            }
        }
        show(reports)
        guard unreadable.isEmpty else {
            throw Failure(.noInput, unreadable.flatMap(\.messages))
        }
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
        let report = ProfileReport(try InputFile.readProfile(file), file: file)
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

/// What decoding a profile found.
struct ProfileReport {
    /// Far more than any profile needs.
    static let sizeLimit = 1 << 22

    let file: String
    let profile: BeaconProfile?
    let problems: [FileProblem]

    init(_ octets: [UInt8], file: String) {
        self.file = file == "-" ? "standard input" : file
        (profile, problems) = BeaconProfile.decode(octets)
    }

    /// All problems at once, as the error of a command that needs a good profile.
    var refusal: Failure {
        let lines = problems.filter { $0.severity == .error }.map { $0.text(file: file) }
        return Failure(
            problems.refusal == .malformed ? .dataFormat : .configuration, lines)
    }

    var json: JSONValue {
        .record([
            ("file", .string(file)), ("good", .boolean(profile != nil)),
            ("problems", .array(problems.map(\.json))),
        ])
    }
}

/// Profiles that people name without their directory: installed ones, and the samples.
enum SampleProfile {
    private static let directories = ["profiles", "/etc/pharos", "/usr/share/pharos/profiles"]

    /// Where a profile of that name lies, as advice behind "there is no such file"; empty where there is none.
    static func advice(for name: String) -> String {
        guard !name.isEmpty, !name.hasPrefix("-") else { return "" }
        let file = name.hasSuffix(".json") ? name : name + ".json"
        let found = (name.contains("/") ? [file] : ["."].map { "\($0)/\(file)" } + directories.map { "\($0)/\(file)" })
            .first { Files.exists($0) && $0 != name }
        return found.map { "; did you mean \($0.hasPrefix("./") ? String($0.dropFirst(2)) : $0)?" } ?? ""
    }
}
