internal import ArgumentParser
internal import BeaconFrames
internal import BeaconService
internal import BluetoothTypes
internal import CommandSupport
internal import Configuration
internal import HubService
internal import LinuxHost
internal import Listener
internal import Messaging
internal import Sightings

struct ListenGroup: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "listen", abstract: "Run a listener: zones, history, hooks and messages from received beacons.",
        discussion: """
            pharos listen init hall.json --beacon key-peter=ibeacon:fb0b57a2-8228-44cd-913a-94a122ba1206-1-7
            pharos listen check hall.json
            pharos listen hall.json --print
            pharos listen hall.json

            `pharos listen run --help` shows the options of a listener; the word run may be left out.
            """,
        subcommands: [Listen.self, ListenCheck.self, ListenInit.self], defaultSubcommand: Listen.self)
}

struct ZonesGroup: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "zones", abstract: "Show when beacons enter and leave the zones of a listener file.",
        discussion: """
            pharos zones init desk.json --beacon key-peter=ibeacon:fb0b57a2-8228-44cd-913a-94a122ba1206-1-7
            pharos zones check desk.json
            pharos zones desk.json
            pharos zones desk.json --replay capture.btsnoop --json

            `pharos zones run --help` shows the options for zones; the word run may be left out.
            """,
        subcommands: [ZonesCommand.self, ZonesCheck.self, ZonesInit.self], defaultSubcommand: ZonesCommand.self)
}

// MARK: check

struct ListenCheck: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "check", abstract: "List every problem of a listener file; exit 1 if there is an error.")

    @OptionGroup var source: CheckedFile

    func run() throws { try source.report { try CheckResult(listener: $0, needsZones: false) } }
}

struct ZonesCheck: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "check",
        abstract: "List every problem of a listener file and its zones; exit 1 if there is an error.")

    @OptionGroup var source: CheckedFile

    func run() throws { try source.report { try CheckResult(listener: $0, needsZones: true) } }
}

/// The arguments of a check command: the file, and whether the result is printed as JSON.
struct CheckedFile: ParsableArguments {
    @Argument(help: ArgumentHelp("A file in JSON, or - for standard input.", valueName: "file"), completion: .file())
    var file: String

    @Flag(help: "Print one JSON object.")
    var json = false

    /// Prints the problems, and a summary if the file has no error. Throws a ``Failure`` if it has errors.
    func report(_ check: (String) throws -> CheckResult) throws {
        let result = try check(file)
        if json {
            let members: [(String, JSONValue)] = [
                ("file", .string(Files.inputName(file))),
                ("errors", .array(result.errors.map(JSONValue.string))),
                ("warnings", .array(result.warnings.map(JSONValue.string))),
            ]
            Terminal.write(JSONValue.record(members).line + "\n")
        } else {
            // If a warning has a position in the file, it already contains the word `warning` after the position.
            let warnings = result.warnings.map { $0.contains(": warning: ") ? $0 : "warning: \($0)" }
            let lines = result.errors + warnings
            let summary = result.errors.isEmpty ? [result.summary] : []
            Terminal.show((lines + summary).map { TerminalText.line($0) + "\n" }.joined())
        }
        if !result.errors.isEmpty { throw Failure(.failure) }
    }
}

/// The problems of a file, each in one sentence with its position.
struct CheckResult {
    var errors: [String] = []
    var warnings: [String] = []
    /// One sentence about the contents of the file, which is printed if the file has no error.
    var summary = ""

    /// Checks a listener file and the files that it names.
    ///
    /// - Throws: An error if the listener file cannot be read.
    init(listener path: String, needsZones: Bool) throws {
        let name = Files.inputName(path)
        do throws(ListenerServiceError) {
            let hub = try HubFile(path: path)
            let environment = hub.environmentProblems(
                at: path, searchPath: Terminal.environment("PATH") ?? "/usr/local/bin:/usr/bin:/bin")
            (errors, warnings) = (environment.errors, hub.warnings + environment.warnings)
            if hub.zones.isEmpty, needsZones { errors += ["\(name): the file has no zones: add a list \"zones\""] }
            let counts = [
                NumberFormat.count(HubFile.beacons(hub.known).count, "beacon"),
                NumberFormat.count(hub.zones.count, "zone"), NumberFormat.count(hub.hooks.count, "hook"),
            ]
            summary = "\(name): the listener \(hub.listener.name) with \(counts.joined(separator: ", ")) is correct"
        } catch {
            // If the listener file itself cannot be read, throw that error. A problem of a file that the listener file
            // names is listed as a problem of the listener file.
            if path != "-" { _ = try InputFile.read(path) }
            errors = error.messages
        }
    }

    init(errors: [String], warnings: [String], summary: String) {
        (self.errors, self.warnings, self.summary) = (errors, warnings, summary)
    }
}

// MARK: init

struct ListenInit: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "init", abstract: "Write a listener file to start from.",
        discussion: """
            pharos listen init hall.json
            pharos listen init hall.json --beacon key-peter=ibeacon:fb0b57a2-8228-44cd-913a-94a122ba1206-1-7
            pharos listen init hall.json --known museum.json --site museum

            `pharos scan` shows the identities of beacons. Without --beacon and --known, the file lists all beacons \
            that are received.
            """)

    @OptionGroup var start: ListenerStart

    @OptionGroup var destination: ListenerDestination

    func run() throws {
        try start.write(try start.members + destination.members, next: "pharos listen \(start.file) --print")
    }
}

struct ZonesInit: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "init", abstract: "Write a listener file with a zone to start from.",
        discussion: """
            pharos zones init desk.json --beacon key-peter=ibeacon:fb0b57a2-8228-44cd-913a-94a122ba1206-1-7
            pharos zones init door.json --beacon cat=address:C0:01:02:03:04:05 --above-dbm -70
            pharos zones init keys.json --beacon "keys=name:Peter's keys" --above-dbm -70
            pharos zones init east.json --beacon cat=address:C0:01:02:03:04:05 --zone cat-east --broker mqtt://broker

            `pharos scan` shows the identities of beacons. If several receivers of a site publish to a broker, give each \
            zone its own name.
            """)

    @OptionGroup var start: ListenerStart

    @OptionGroup var destination: ListenerDestination

    @Option(
        help: ArgumentHelp(
            "Name of the zone (default: near; with --broker, the name of the receiver and -near).",
            valueName: "name"))
    var zone: String?

    @Option(
        help: ArgumentHelp(
            "Distance below which a beacon is inside (default: 2). If a beacon is named only by an address, a name or a "
                + "service, its distance is unknown, and the default is --above-dbm -70.",
            valueName: "m"), transform: { try OptionValue.number($0, in: 0.01...1000, "m") })
    var withinM: Double?

    @Option(
        parsing: .unconditional,
        help: ArgumentHelp("Level above which a beacon is inside, instead of a distance.", valueName: "dBm"))
    var aboveDbm: Int?

    /// The level bound of a new zone whose beacons have no distance, in dBm: the level of a typical beacon in the same
    /// room.
    private static let defaultLevel = -70

    func validate() throws {
        if withinM != nil, aboveDbm != nil { throw ValidationError("Give either --within-m or --above-dbm.") }
        guard start.beacon.isEmpty else { return }
        throw ValidationError(
            start.known.isEmpty
                ? "Give at least one --beacon NAME=IDENTITY."
                : "--known does not say which of its beacons are in the zone: give at least one --beacon NAME=IDENTITY "
                    + "too, or use `pharos listen init` and write the zone with a \"tag\" of the fleet.")
    }

    func run() throws {
        let beacons = try start.beacons
        let names = beacons.map { JSONValue.string($0.name) }
        let zone = zone ?? (destination.broker == nil ? "near" : "\(start.receiver)-near")
        let metres = JSONValue.number(JSONNumber(thousandths: Int(((withinM ?? 2) * 1000).rounded())))
        let hasDistances = withinM != nil || beacons.allSatisfy { HubFile.containsPower($0.patterns) }
        let level = aboveDbm ?? (hasDistances ? nil : Self.defaultLevel)
        let bound = level.map { ("aboveDbm", JSONValue.integer($0)) } ?? ("withinM", metres)
        // With several beacons, let each of them enter and leave on its own, with its own events and times.
        let scope = names.count > 1 ? [("per", JSONValue.string("beacon"))] : []
        let zones = JSONValue.array([.record([("name", .string(zone)), ("beacons", .array(names))] + scope + [bound])])
        try start.write(
            try start.members + destination.members + [("zones", zones)], next: "pharos zones \(start.file)")
        for beacon in beacons where withinM != nil && !HubFile.containsPower(beacon.patterns) {
            Terminal.writeMessage(
                "\(TerminalText.quoted(beacon.name, to: 40)) has no identity that states the power at 1 m, so its distance "
                    + "is unknown and it never enters the zone: use --above-dbm instead of --within-m")
        }
    }
}

/// The options that determine where a listener with a new file publishes.
struct ListenerDestination: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "Name of a site with a collector. The collector, and not this listener, then publishes in which room each "
                + "beacon is. Without a site, topics contain the word home.",
            valueName: "name"))
    var site: String?

    @Option(help: ArgumentHelp("Address of an MQTT broker, such as mqtt://broker.", valueName: "url"))
    var broker: String?

    func validate() throws {
        if let site, let problem = ConfigurationDecoder.problem(ofName: site) {
            throw ValidationError("--site: \(problem).")
        }
        guard let broker else { return }
        do throws(BrokerAddress.Mistake) {
            _ = try BrokerAddress(broker)
        } catch {
            throw ValidationError("--broker \(TerminalText.quoted(broker, to: 80)): \(error.text)")
        }
    }

    /// The members of the file that these options determine.
    var members: [(String, JSONValue)] {
        var members: [(String, JSONValue)] = []
        if let site { members.append(("place", .record([("site", .string(site))]))) }
        if let broker {
            let beacons: [(String, JSONValue)] = site == nil ? [] : [("beacons", .boolean(false))]
            members.append(
                ("mqtt", .record([("url", .string(broker))] + beacons + [("homeAssistant", .boolean(true))])))
        }
        return members
    }
}

/// The options for a new listener file.
struct ListenerStart: ParsableArguments {
    @Argument(help: ArgumentHelp("File to write, or - for standard output.", valueName: "file"), completion: .file())
    var file: String

    @Option(help: ArgumentHelp("Name of the receiver (default: the file's name).", valueName: "name"))
    var name: String?

    @Option(
        parsing: .singleValue,
        help: ArgumentHelp(
            "A known beacon and its identity, as `scan` shows it, or name:TEXT or service:UUID. May be repeated.",
            valueName: "name=id"))
    var beacon: [String] = []

    @Option(
        parsing: .singleValue,
        help: ArgumentHelp(
            "Fleet or profile with known beacons; the path is relative to the new file. May be repeated.",
            valueName: "file"),
        completion: .file())
    var known: [String] = []

    @OptionGroup var replaceOption: ReplaceOption

    func validate() throws { _ = try beacons }

    /// The name of the receiver.
    var receiver: String { name ?? NewHubFile.stem(of: file) }

    /// The beacons with their identities, in the order in which their names first occur on the command line.
    var beacons: [(name: String, patterns: [RegionPattern])] {
        get throws {
            var beacons: [(name: String, patterns: [RegionPattern])] = []
            for text in beacon {
                let (name, pattern) = try Self.beacon(text)
                guard let index = beacons.firstIndex(where: { $0.name == name }) else {
                    beacons.append((name, [pattern]))
                    continue
                }
                let key = KnownBeaconMembers.members(pattern).first?.0
                if beacons[index].patterns.contains(where: { KnownBeaconMembers.members($0).first?.0 == key }) {
                    throw ValidationError(
                        "--beacon \(TerminalText.quoted(text, to: 80)): \(TerminalText.quoted(name, to: 40)) has an identity of "
                            + "this kind already: give each beacon its own name")
                }
                beacons[index].patterns.append(pattern)
            }
            return beacons
        }
    }

    /// The members of the file that these options determine.
    var members: [(String, JSONValue)] {
        get throws {
            var entries = try beacons.map { beacon in
                JSONValue.record([("name", .string(beacon.name))] + beacon.patterns.flatMap(KnownBeaconMembers.members))
            }
            let directory = Files.directory(of: file)
            for path in known {
                let root = JSONDocument.parse(try InputFile.read(directory + path)).root
                let isFleet = root?["groups"] != nil || root?["sites"] != nil || root?["template"] != nil
                entries.append(.record([(isFleet ? "fleet" : "profile", .string(path))]))
            }
            return [("version", .integer(1)), ("name", .string(receiver))]
                + (entries.isEmpty ? [("strangers", .string("list"))] : [("known", .array(entries))])
        }
    }

    private static func beacon(_ text: String) throws -> (name: String, pattern: RegionPattern) {
        func refusal(_ reason: String) -> ValidationError {
            ValidationError("--beacon \(TerminalText.quoted(text, to: 80)): \(reason)")
        }
        guard let equalsSign = text.firstIndex(of: "="), equalsSign != text.startIndex else {
            throw refusal(
                "the name is missing: write NAME=IDENTITY, such as "
                    + "key-peter=ibeacon:fb0b57a2-8228-44cd-913a-94a122ba1206-1-7")
        }
        let identity = String(text[text.index(after: equalsSign)...])
        guard let pattern = pattern(identity) else { throw refusal(IdentityMistake.text(identity)) }
        if case .identity(.eddystoneEID) = pattern {
            throw refusal("an ephemeral id changes; give the beacon's profile with --known")
        }
        return (String(text[..<equalsSign]), pattern)
    }

    /// Reads a pattern: an identity, all iBeacons with a UUID, all Eddystone-UIDs with a namespace, a local name, or a
    /// service.
    private static func pattern(_ text: String) -> RegionPattern? {
        if text.hasPrefix("name:") { return .localName(String(text.dropFirst(5))) }
        if text.hasPrefix("service:") { return BluetoothUUID(text.dropFirst(8)).map { .service($0.expanded) } }
        return BeaconIdentity(text).map { .identity($0) } ?? RegionPattern(text)
    }

    func write(_ members: [(String, JSONValue)], next: String) throws {
        let text = JSONValue.record(members).pretty
        try NewHubFile.write(text, to: file, replaceOption, next: next) {
            HubFile.problems(Array(text.utf8))
        }
    }
}

/// Explains which part of a wrong identity is wrong.
enum IdentityMistake {
    private static let forms = [
        "ibeacon": "ibeacon:UUID-MAJOR-MINOR", "altbeacon": "altbeacon:COMPANY-ID with 4 and 40 hexadecimal digits",
        "uid": "uid:NAMESPACE-INSTANCE with 20 and 12 hexadecimal digits", "url": "url:https://example.org",
        "eid": "eid: with 16 hexadecimal digits", "address": "address:C0:01:02:03:04:05",
        "service": "service:0xFFF6, or a service UUID of 32 hexadecimal digits",
    ]

    /// - Parameter identity: A text that is not a valid identity.
    static func text(_ identity: String) -> String {
        let kind = identity.firstIndex(of: ":").map { String(identity[..<$0]) } ?? ""
        guard let form = forms[kind] else {
            return "an identity begins with its kind, as `pharos scan` shows it: ibeacon:, altbeacon:, uid:, url:, "
                + "address:, name: or service:"
        }
        let value = String(identity.dropFirst(kind.count + 1))
        return kind == "ibeacon" ? iBeacon(value) : "\(ProblemText.quoted(value)) is wrong: write \(form)"
    }

    private static func iBeacon(_ text: String) -> String {
        let form = "ibeacon:UUID-MAJOR-MINOR"
        if text.contains("{") || text.contains("}") { return "write the UUID without braces: \(form)" }
        let isAllowed = { (character: Character) in character == "-" || character.isHexDigit }
        if let wrongCharacter = text.first(where: { !isAllowed($0) }) {
            return
                "\(ProblemText.quoted(String(wrongCharacter))) is not part of \(form): separate UUID, major and minor by '-'"
        }
        let parts = text.split(separator: "-", omittingEmptySubsequences: false)
        let groupCount = parts[0].count == 32 ? 1 : min(5, parts.count)
        let digits = parts[..<groupCount].joined().count
        // The groups of a UUID have 8, 4, 4, 4 and 12 digits.
        guard digits == 32, groupCount == 1 || parts.count >= 5 else {
            return
                "the UUID \(ProblemText.quoted(parts[..<groupCount].joined(separator: "-"))) has \(digits) hexadecimal digits "
                + "instead of 32: write \(form)"
        }
        for (name, number) in zip(["major", "minor"], parts[groupCount...]) where UInt16(number) == nil {
            return "the \(name) number \(ProblemText.quoted(String(number))) is out of range 0...65535"
        }
        return "there is something after the minor number: write \(form)"
    }
}

/// Converts the identity of a beacon into the members of a listener file.
enum KnownBeaconMembers {
    private static func integer(_ value: some BinaryInteger) -> JSONValue { .integer(Int(value)) }

    static func members(_ pattern: RegionPattern) -> [(String, JSONValue)] {
        switch pattern {
        case .identity(let identity): members(identity)
        case .iBeacon(let uuid, let major, let minor):
            [
                (
                    "ibeacon",
                    .record(
                        [("uuid", .string(uuid.uuidText))] + (major.map { [("major", integer($0))] } ?? [])
                            + (minor.map { [("minor", integer($0))] } ?? []))
                )
            ]
        case .eddystoneUID(let namespace, let instance):
            [
                (
                    "uid",
                    .record(
                        [("namespace", .string("\(namespace)"))]
                            + (instance.map { [("instance", .string("\($0)"))] } ?? []))
                )
            ]
        case .localName(let name): [("localName", .string(name))]
        case .service: [("service", .string(String(pattern.description.dropFirst("service:".count))))]
        }
    }

    private static func members(_ identity: BeaconIdentity) -> [(String, JSONValue)] {
        switch identity {
        case .iBeacon(let uuid, let major, let minor):
            return [
                (
                    "ibeacon",
                    .record([
                        ("uuid", .string(uuid.uuidText)), ("major", integer(major)), ("minor", integer(minor)),
                    ])
                )
            ]
        case .altBeacon(let company, let id):
            return [("altbeacon", .record([("companyId", integer(company)), ("id", .string("\(id)"))]))]
        case .eddystoneUID(let namespace, let instance):
            return [
                ("uid", .record([("namespace", .string("\(namespace)")), ("instance", .string("\(instance)"))]))
            ]
        case .eddystoneURL(let url): return [("url", .string(url.text))]
        case .eddystoneEID(let id): return [("eid", .string("\(id)"))]
        case .address(let address): return [("address", .string("\(address)"))]
        }
    }
}

/// Writes new configuration files.
enum NewHubFile {
    /// Returns the name of a file without its directory and `.json`; `hall` for standard output.
    static func stem(of path: String) -> String { path == "-" ? "hall" : InputFile.stem(of: path) }

    /// Checks the text of a file, writes the file, and prints what to do next.
    ///
    /// - Parameters:
    ///   - next: The command that the message recommends to try next.
    ///   - check: Returns the problems of the text.
    static func write(
        _ text: String, to path: String, _ replaceOption: ReplaceOption, next: String,
        _ check: () throws -> [FileProblem]
    ) throws {
        let errors = try check().filter(\.isError)
        guard errors.isEmpty else { throw Failure(.usage, errors.map { "\($0.path): \($0.message)" }) }
        if path == "-" { return Terminal.write(text) }
        try replaceOption.write(text, to: path)
        Terminal.show("\(path): written; try it with `\(next)`\n")
    }
}
