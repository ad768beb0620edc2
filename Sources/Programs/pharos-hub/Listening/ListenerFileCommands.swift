internal import ArgumentParser
internal import BeaconFrames
internal import BeaconService
internal import BluetoothTypes
internal import CommandSupport
internal import Configuration
internal import HubService
internal import LinuxHost
internal import Listener
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
        commandName: "check", abstract: "List every problem of a listener file; exit 1 when there is an error.")

    @OptionGroup var source: CheckedFile

    func run() throws { try source.report { try CheckResult(listener: $0, needsZones: false) } }
}

struct ZonesCheck: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "check",
        abstract: "List every problem of a listener file and its zones; exit 1 when there is an error.")

    @OptionGroup var source: CheckedFile

    func run() throws { try source.report { try CheckResult(listener: $0, needsZones: true) } }
}

/// The file that a command checks, and the form of the result.
struct CheckedFile: ParsableArguments {
    @Argument(help: ArgumentHelp("A file in JSON, or - for standard input.", valueName: "file"), completion: .file())
    var file: String

    @Flag(help: "Print one JSON object.")
    var json = false

    /// Prints the problems, or a summary if there are none.
    func report(_ check: (String) throws -> CheckResult) throws {
        let result = try check(file)
        if json {
            let members: [(String, JSONValue)] = [
                ("file", .string(file == "-" ? "standard input" : file)),
                ("errors", .array(result.errors.map(JSONValue.string))),
                ("warnings", .array(result.warnings.map(JSONValue.string))),
            ]
            Terminal.write(JSONValue.record(members).line + "\n")
        } else {
            // A warning about a place of the file has the word after the place.
            let warnings = result.warnings.map { $0.contains(": warning: ") ? $0 : "warning: \($0)" }
            let lines = result.errors + warnings
            let summary = result.errors.isEmpty ? [result.summary] : []
            Terminal.show((lines + summary).map { TerminalText.line($0) + "\n" }.joined())
        }
        if !result.errors.isEmpty { throw Failure(.failure) }
    }
}

/// The problems of a file, each in one sentence with its place.
struct CheckResult {
    var errors: [String] = []
    var warnings: [String] = []
    /// What the file contains, if it has no error.
    var summary = ""

    /// Checks a listener file and the files that it names.
    ///
    /// - Throws: if a file cannot be read.
    init(listener path: String, needsZones: Bool) throws {
        let name = path == "-" ? "standard input" : path
        do throws(ListenerServiceError) {
            let hub = try HubFile(path: path)
            warnings = hub.warnings
            if hub.zones.isEmpty, needsZones { errors = ["\(name): the file has no zones: add a list \"zones\""] }
            let counts = [
                Self.count(HubFile.beacons(hub.known).count, "beacon"), Self.count(hub.zones.count, "zone"),
                Self.count(hub.hooks.count, "hook"),
            ]
            summary = "\(name): the listener \(hub.listener.name) with \(counts.joined(separator: ", ")) is correct"
        } catch {
            switch error {
            case .service(.refused(.invalid, let lines)), .service(.refused(.malformed, let lines)): errors = lines
            default: throw error
            }
        }
    }

    init(errors: [String], warnings: [String], summary: String) {
        (self.errors, self.warnings, self.summary) = (errors, warnings, summary)
    }

    static func count(_ number: Int, _ noun: String) -> String { "\(number) \(noun)\(number == 1 ? "" : "s")" }
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

    @Option(help: ArgumentHelp("Name of the site, for a collector.", valueName: "name"))
    var site: String?

    @Option(help: ArgumentHelp("Address of an MQTT broker, such as mqtt://broker.", valueName: "url"))
    var broker: String?

    func run() throws {
        var members = try start.members
        if let site { members.append(("place", .record([("site", .string(site))]))) }
        if let broker {
            members.append(("mqtt", .record([("url", .string(broker)), ("homeAssistant", .boolean(true))])))
        }
        try start.write(members, next: "pharos listen \(start.file) --print")
    }
}

struct ZonesInit: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "init", abstract: "Write a listener file with a zone to start from.",
        discussion: """
            pharos zones init desk.json --beacon key-peter=ibeacon:fb0b57a2-8228-44cd-913a-94a122ba1206-1-7
            pharos zones init door.json --beacon cat=address:C0:01:02:03:04:05 --above-dbm -70
            pharos zones init keys.json --beacon "keys=name:Peter's keys" --above-dbm -70

            `pharos scan` shows the identities of beacons.
            """)

    @OptionGroup var start: ListenerStart

    @Option(help: ArgumentHelp("Name of the zone (default: near).", valueName: "name"))
    var zone = "near"

    @Option(help: ArgumentHelp("Distance below which a beacon is inside (default: 2).", valueName: "metres"))
    var withinM: Double?

    @Option(
        parsing: .unconditional,
        help: ArgumentHelp("Level above which a beacon is inside, instead of a distance.", valueName: "dBm"))
    var aboveDbm: Int?

    func validate() throws {
        if withinM != nil, aboveDbm != nil { throw ValidationError("Give either --within-m or --above-dbm.") }
        if start.beacon.isEmpty { throw ValidationError("Give at least one --beacon NAME=IDENTITY.") }
    }

    func run() throws {
        let names = try start.beacons.map { JSONValue.string($0.name) }
        let metres = JSONValue.number(JSONNumber(thousandths: Int(((withinM ?? 2) * 1000).rounded())))
        let bound = aboveDbm.map { ("aboveDbm", JSONValue.integer($0)) } ?? ("withinM", metres)
        let zones = JSONValue.array([.record([("name", .string(zone)), ("beacons", .array(names)), bound])])
        try start.write(try start.members + [("zones", zones)], next: "pharos zones \(start.file)")
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
            "Fleet or profile with known beacons, relative to the new file. May be repeated.", valueName: "file"),
        completion: .file())
    var known: [String] = []

    @Flag(help: "Replace the file if it exists.")
    var force = false

    var beacons: [(name: String, pattern: RegionPattern)] {
        get throws { try beacon.map { try Self.beacon($0) } }
    }

    /// The members of the file.
    var members: [(String, JSONValue)] {
        get throws {
            var entries = try beacons.map { beacon in
                JSONValue.record([("name", .string(beacon.name))] + KnownBeaconText.members(beacon.pattern))
            }
            let directory = InputFile.directory(of: file)
            for path in known {
                let root = JSONDocument.parse(try InputFile.read(directory + path)).root
                let isFleet = root?["groups"] != nil || root?["sites"] != nil || root?["template"] != nil
                entries.append(.record([(isFleet ? "fleet" : "profile", .string(path))]))
            }
            let own = name ?? NewHubFile.stem(of: file)
            return [("version", .integer(1)), ("name", .string(own))]
                + (entries.isEmpty ? [("strangers", .string("list"))] : [("known", .array(entries))])
        }
    }

    private static func beacon(_ text: String) throws -> (name: String, pattern: RegionPattern) {
        guard let mark = text.firstIndex(of: "="), mark != text.startIndex,
            let pattern = pattern(String(text[text.index(after: mark)...]))
        else {
            throw ValidationError(
                "--beacon \(TerminalText.quoted(text, to: 80)): write NAME=IDENTITY with an identity as `pharos scan` "
                    + "shows it, such as key-peter=ibeacon:fb0b57a2-8228-44cd-913a-94a122ba1206-1-7, or with "
                    + "\"name:TEXT\" or service:0xFFF6")
        }
        if case .one(.eddystoneEID) = pattern {
            throw ValidationError(
                "--beacon \(TerminalText.quoted(text, to: 80)): an ephemeral id changes; give the beacon's profile with "
                    + "--known")
        }
        return (String(text[..<mark]), pattern)
    }

    /// Reads an identity, all iBeacons of a UUID, all Eddystone-UIDs of a namespace, a local name or a service.
    private static func pattern(_ text: String) -> RegionPattern? {
        if text.hasPrefix("name:") { return .localName(String(text.dropFirst(5))) }
        if text.hasPrefix("service:") { return BluetoothUUID(text.dropFirst(8)).map { .service($0.expanded) } }
        return BeaconIdentity(text).map { .one($0) } ?? RegionPattern(text)
    }

    func write(_ members: [(String, JSONValue)], next: String) throws {
        let text = JSONValue.record(members).pretty
        try NewHubFile.write(text, to: file, force: force, next: next) {
            let (_, problems) = ListenerFile.decode(Array(text.utf8))
            return problems
        }
    }
}

/// The identity of a beacon as listener files have it.
enum KnownBeaconText {
    private static func integer(_ value: some BinaryInteger) -> JSONValue { .integer(Int(value)) }

    static func members(_ pattern: RegionPattern) -> [(String, JSONValue)] {
        switch pattern {
        case .one(let identity): members(identity)
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

/// Writes a new file of this program.
enum NewHubFile {
    /// The name of a file without its folder and `.json`; `hall` for standard output.
    static func stem(of path: String) -> String {
        guard path != "-" else { return "hall" }
        let name = path.split(separator: "/").last.map(String.init) ?? ""
        return name.hasSuffix(".json") ? String(name.dropLast(5)) : name
    }

    /// - Parameters:
    ///   - next: The command to try next.
    ///   - check: Returns the problems of the text.
    static func write(
        _ text: String, to path: String, force: Bool, next: String, _ check: () throws -> [FileProblem]
    ) throws {
        let errors = try check().filter(\.isError)
        guard errors.isEmpty else { throw Failure(.usage, errors.map { "\($0.path): \($0.message)" }) }
        if path == "-" { return Terminal.write(text) }
        if force {
            do throws(SystemError) {
                try Files.replace(path, with: Array(text.utf8))
            } catch {
                throw Failure(.osError, "\(path): \(error.text)")
            }
        } else {
            guard !Files.exists(path) else {
                throw Failure(.usage, "\(path): this file exists; choose another name, or use --force")
            }
            try NewFile.write(text, to: path)
        }
        Terminal.show("\(path): written; try it with `\(next)`\n")
    }
}
