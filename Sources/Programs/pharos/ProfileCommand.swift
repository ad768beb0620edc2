internal import ArgumentParser
internal import BeaconFrames
internal import BeaconService
internal import BluetoothTypes
internal import CommandSupport
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
        commandName: "check", abstract: "List every problem of one or more profiles; exit 1 if there is an error.",
        discussion: """
            If this machine does not have a profile's key file, there is only a warning on standard error: the profile \
            may be for another machine.
            """)

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
        // A missing key is only a warning, because the profile may be for another machine, which has the key.
        for problem in reports.flatMap(\.keyProblems) { Terminal.writeMessage("warning: \(problem)") }
        guard unreadable.isEmpty else { throw Failure(.noInput, unreadable) }
        if reports.contains(where: { $0.profile == nil }) { throw Failure(.failure) }
    }

    private func show(_ reports: [ProfileReport]) {
        if json {
            Terminal.write(JSONValue.record([("files", .array(reports.map(\.json)))]).line + "\n")
        } else {
            for report in reports {
                for problem in report.problems { Terminal.writeLine(problem.text(file: report.file)) }
                if report.problems.isEmpty { Terminal.writeLine("\(report.file): good") }
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

/// `profile init`: writes a new profile, from options or from answers on the terminal.
struct ProfileInit: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "init", abstract: "Write a beacon profile to start from.",
        discussion: """
            pharos profile init lobby.json
            pharos profile init lobby.json --type eddystone-url --url https://example.org

            Without --type, the command asks on the terminal which frame to send. An iBeacon and an AltBeacon get a \
            new random identity, an Eddystone-UID a new random namespace, and an Eddystone-EID a new key in the file \
            NAME.key. The measured power is a typical value: measure your own beacon before you rely on distances.
            """)

    @Argument(help: "File to write (default: the beacon's name with .json).", completion: .file())
    var file: String?

    @Option(
        help: ArgumentHelp("Frame to send: \(Self.names).", valueName: "type"),
        completion: .list(FrameKind.allCases.map(\.rawValue)), transform: Self.frame)
    var type: FrameKind?

    @Option(
        help: ArgumentHelp("Name of the beacon: letters, digits, \".\", \"_\" and \"-\".", valueName: "name"))
    var name: String?

    @Option(help: ArgumentHelp("Name that phones show, at most 29 bytes.", valueName: "name"))
    var localName: String?

    @Option(help: ArgumentHelp("Web address that an eddystone-url sends.", valueName: "url"))
    var url: String?

    @Option(
        help: ArgumentHelp("UUID that an ibeacon sends (default: a random one).", valueName: "uuid"),
        transform: OptionValue.uuid)
    var uuid: FixedOctets<16>?

    @Option(
        parsing: .unconditional,
        help: ArgumentHelp("Major of an ibeacon, 0...65535 (default: 1).", valueName: "number"),
        transform: OptionValue.uint16)
    var major: UInt16?

    @Option(
        parsing: .unconditional,
        help: ArgumentHelp("Minor of an ibeacon, 0...65535 (default: 1).", valueName: "number"),
        transform: OptionValue.uint16)
    var minor: UInt16?

    @Option(
        parsing: .unconditional, help: ArgumentHelp("Requested radio power, -127...20.", valueName: "dBm"),
        transform: OptionValue.radioPower)
    var radioPowerDbm: RadioPower?

    @Option(help: ArgumentHelp("Advertising interval, such as 100, 100ms or 1.28s.", valueName: "ms"))
    var intervalMs: String?

    @OptionGroup
    var replaceOption: ReplaceOption

    private static let names = FrameKind.allCases.map(\.rawValue).joined(separator: ", ")

    func run() throws {
        let isAsking = type == nil
        guard !isAsking || Terminal.inputIsTerminal else {
            throw Failure(.usage, "without a terminal, give --type \(Self.names)")
        }
        let type = try type ?? ask(Self.question, default: "1", Self.frame)
        if let file { try NewFile.checkDirectory(of: file) }
        let givenName = try name.map(Self.beaconName) ?? file.map(Self.nameOfFile)
        let name =
            try givenName
            ?? (isAsking ? ask("Name of the beacon", default: "my-beacon", Self.beaconName) : "my-beacon")
        let interval =
            try intervalMs.map(OptionValue.interval)
            ?? (isAsking
                ? ask("Advertising interval in ms", default: "100", OptionValue.interval)
                : RequestedInterval(.nonconnectableMinimumBefore5))
        var url: String?
        if type != .eddystoneURL, self.url != nil {
            throw Failure(.usage, "--url goes with --type eddystone-url, not with \(type.rawValue)")
        }
        if type == .eddystoneURL {
            url = try self.url.map(Self.url) ?? (isAsking ? ask("Web address", default: nil, Self.url) : nil)
        }
        if type != .iBeacon, uuid != nil || major != nil || minor != nil {
            throw Failure(.usage, "--uuid, --major and --minor go with --type ibeacon, not with \(type.rawValue)")
        }
        if localName != nil, type == .eddystoneEID {
            throw Failure(
                .usage, "--local-name cannot be combined with eddystone-eid: the name would identify the beacon")
        }
        var generator = SystemRandomNumberGenerator()
        let firstProfile = FirstProfile(
            type, name: name, interval: interval, url: url, localName: localName, using: &generator)
        guard let profile = firstProfile else {
            throw Failure(.usage, "an eddystone-url needs a web address: --url https://example.org")
        }
        let path = file ?? name + ".json"
        // Check the whole profile: for example, the local name may be too long.
        let text = try withOptions(profile.text)
        let report = ProfileReport(Array(text.utf8), file: path)
        guard report.profile != nil else { throw report.refusal }
        try write(profile, text, to: path)
        let power =
            profile.hasMeasuredPower
            ? " Its measured power is typical (\(BeaconProfile.typicalMeasuredPower)), not measured." : ""
        Terminal.show(
            """
            Wrote \(TerminalText.line(path)).\(power)
            Next: pharos advertise \(TerminalText.line(path)) --adapter virtual

            """)
    }

    /// Returns the text of a profile with the values of --uuid, --major, --minor and --radio-power-dbm.
    private func withOptions(_ text: String) throws -> String {
        let values = [
            uuid.map { "uuid=\"\($0.uuidText)\"" }, major.map { "major=\($0)" }, minor.map { "minor=\($0)" },
            radioPowerDbm.map { "radioPowerDbm=\(Int($0.dBm))" },
        ]
        var octets = Array(text.utf8)
        for value in values.compactMap(\.self) {
            guard let edit = ProfileEdit(value) else { continue }
            do throws(ProfileEditError) {
                octets = try edit.applied(to: octets)
            } catch {
                throw Failure(.usage, error.messages)
            }
        }
        return String(decoding: octets, as: UTF8.self)
    }

    private func write(_ profile: FirstProfile, _ text: String, to path: String) throws {
        if let keyFile = profile.keyFile {
            let keyPath = Files.directory(of: path) + keyFile
            do throws(SystemError) {
                if !Files.exists(keyPath) {
                    let digits = Hexadecimal.text(Privileges.randomOctets(16)) + "\n"
                    try Files.createSecret(keyPath, with: Array(digits.utf8))
                    Terminal.writeLine("Wrote \(keyPath), a new identity key; keep it secret.")
                }
            } catch {
                throw Failure(.osError, "\(keyPath): \(error.text)")
            }
        }
        try replaceOption.write(text, to: path)
    }

    private static let question =
        "Frames: "
        + FrameKind.allCases.enumerated().map { "\($0.offset + 1) \($0.element.rawValue)" }.joined(separator: ", ")
        + "\nFrame to send, by number or name"

    /// Asks on the terminal until the answer is valid. An empty line means the default.
    private func ask<Value>(
        _ question: String, default preset: String?, _ read: (String) throws -> Value
    ) throws -> Value {
        while true {
            guard let line = Terminal.answer(to: question + (preset.map { " [\($0)]" } ?? "") + ": ") else {
                throw Failure(.usage, "the input ended early; no file was written")
            }
            // Remove spaces only at both ends. Spaces inside an answer stay, because a URL without them would be a
            // different URL.
            let answer = String(line.drop(while: \.isWhitespace).reversed().drop(while: \.isWhitespace).reversed())
            do {
                if answer.isEmpty, preset == nil { continue }
                return try read(answer.isEmpty ? preset ?? "" : answer)
            } catch {
                Terminal.writeError("\(error)\n")
            }
        }
    }

    /// Returns a kind of frame by its number in the list, by its name, or by its name without `eddystone-`, as in
    /// `pharos encode url`.
    private static func frame(_ text: String) throws -> FrameKind {
        let all = FrameKind.allCases
        if let number = Int(text), all.indices.contains(number - 1) { return all[number - 1] }
        let word = text.lowercased()
        if let kind = all.first(where: { $0.rawValue == word || $0.rawValue == "eddystone-" + word }) { return kind }
        let advice = NearestWord.find(word, among: all.map(\.rawValue)).map { "did you mean \($0)? " } ?? ""
        throw Mistake(advice + "use a number of 1...\(all.count), or one of \(names)")
    }

    private static func beaconName(_ text: String) throws -> String {
        do throws(FileProblem) { return try FirstProfile.name(text) } catch { throw Mistake(error.message) }
    }

    /// Returns the name of a file without its ending as the name of the beacon.
    private static func nameOfFile(_ path: String) throws -> String {
        do {
            return try beaconName(stem(path))
        } catch {
            throw Failure(.usage, "\(error); give the beacon a name with --name, or rename the file")
        }
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
