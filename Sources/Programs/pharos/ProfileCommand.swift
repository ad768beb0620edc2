public import ArgumentParser
internal import BeaconFrames
internal import BeaconService
internal import BluetoothTypes
internal import CommandSupport
internal import Configuration
internal import LinuxHost
public import Profiles

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

extension FirstProfile.Frame: ExpressibleByArgument {}

/// `profile init`: writes a first profile, from options or from answers on the terminal.
struct ProfileInit: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "init", abstract: "Write a beacon profile to start from.",
        discussion: """
            Without --type it asks on the terminal. An iBeacon gets a new random UUID, an Eddystone-UID a new random \
            namespace. The measured power is a typical value: measure your own beacon before you rely on distances.
            """)

    @Argument(help: "File to write (default: the beacon's name with .json).", completion: .file())
    var file: String?

    @Option(help: "Frame to send: ibeacon, eddystone-uid or eddystone-url.")
    var type: FirstProfile.Frame?

    @Option(
        help: ArgumentHelp("Name of the beacon: letters, digits, \".\", \"_\" and \"-\".", valueName: "name"))
    var name: String?

    @Option(help: ArgumentHelp("Web address that an eddystone-url sends.", valueName: "url"))
    var url: String?

    @Option(help: ArgumentHelp("Advertising interval, such as 100, 100ms or 1.28s.", valueName: "ms"))
    var intervalMs: String?

    func run() throws {
        let isAsking = type == nil
        guard !isAsking || Terminal.inputIsTerminal else {
            throw Failure(.usage, "without a terminal, give --type ibeacon, eddystone-uid or eddystone-url")
        }
        let type =
            try type ?? ask("What to send (ibeacon, eddystone-uid, eddystone-url)", default: "ibeacon", Self.frame)
        let given = name ?? file.map(Self.stem)
        let name =
            try given.map(Self.beaconName)
            ?? (isAsking ? ask("Name of the beacon", default: "my-beacon", Self.beaconName) : "my-beacon")
        let interval =
            try intervalMs.map(OptionValue.interval)
            ?? (isAsking
                ? ask("Advertising interval in ms", default: "100", OptionValue.interval)
                : RequestedInterval(.nonconnectableMinimumBefore5))
        var url: String?
        if type == .eddystoneURL {
            url = try self.url.map(Self.url) ?? (isAsking ? ask("Web address", default: nil, Self.url) : nil)
        }
        var generator = SystemRandomNumberGenerator()
        guard let profile = FirstProfile(type, name: name, interval: interval, url: url, using: &generator) else {
            throw Failure(.usage, "an eddystone-url needs a web address: --url https://example.org")
        }
        let path = file ?? name + ".json"
        try NewFile.write(profile.text, to: path)
        Terminal.write(
            """
            Wrote \(path). Its measured power is typical (\(BeaconProfile.typicalMeasuredPower)), not measured.
            Next: pharos advertise \(path) --adapter virtual

            """)
    }

    /// Asks until the answer is valid. An empty line chooses the default.
    private func ask<Value>(
        _ question: String, default preset: String?, _ read: (String) throws -> Value
    ) throws -> Value {
        while true {
            Terminal.writeError(question + (preset.map { " [\($0)]" } ?? "") + ": ")
            guard let line = readLine() else { throw Failure(.usage, "the input ended early; no file was written") }
            // Blanks inside an answer are part of it: a URL without them would be another URL.
            let answer = String(line.drop(while: \.isWhitespace).reversed().drop(while: \.isWhitespace).reversed())
            do {
                if answer.isEmpty, preset == nil { continue }
                return try read(answer.isEmpty ? preset ?? "" : answer)
            } catch {
                Terminal.writeError("\(error)\n")
            }
        }
    }

    private static func frame(_ text: String) throws -> FirstProfile.Frame {
        if let frame = FirstProfile.Frame(rawValue: text) { return frame }
        throw Mistake("use one of " + FirstProfile.Frame.allCases.map(\.rawValue).joined(separator: ", "))
    }

    private static func beaconName(_ text: String) throws -> String {
        do throws(FileProblem) { return try FirstProfile.name(text) } catch { throw Mistake(error.message) }
    }

    private static func url(_ text: String) throws -> String {
        do { _ = try CompressedURL(text) } catch { throw Mistake("\(error)") }
        return text
    }

    private static func stem(_ path: String) -> String {
        let name = path.split(separator: "/").last.map(String.init) ?? path
        return name.hasSuffix(".json") ? String(name.dropLast(5)) : name
    }
}
