internal import ArgumentParser
internal import Collector
internal import CommandSupport
internal import Configuration
internal import LinuxHost
internal import Positioning
internal import Sites

struct CollectCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "collect", abstract: "Put together what all receivers of a site hear: who is in which room.",
        discussion: """
            pharos collect museum.json --from hall=hall.jsonl --from desk=desk.jsonl
            pharos listen hall.json --print --json | pharos collect museum.json --from hall=-
            pharos collect museum.json
            mosquitto_sub -t 'pharos/museum/#' -F %J | pharos collect museum.json --from -

            It reads what `scan --json`, `listen --print --json` and a subscriber of a broker write, or, where the file \
            has "mqtt": {"url": "mqtt://broker"} and there is no --from, what all receivers of the site tell that broker, \
            which is told where everybody is. A receiver that says nothing for 15 s is dead: that it hears nothing counts \
            for nothing, nobody leaves because of it, and what only it could hear is unknown. `pharos where` reads the \
            state file, and `pharos history` what "history" keeps. Of several collectors on one broker those with the \
            lowest lease tell; another one takes over 30 s after the last word of the first.
            """)

    @Argument(
        help: ArgumentHelp("A collector file in JSON, or - for standard input.", valueName: "file"),
        completion: .file())
    var file: String?

    @Option(
        parsing: .singleValue,
        help: ArgumentHelp(
            "A recording in JSON Lines, or - for standard input, with the receiver's name where its lines tell none: NAME=FILE. May be repeated (default: the broker of the file, else -).",
            valueName: "source"), completion: .file())
    var from: [String] = []

    @Option(
        help: ArgumentHelp(
            "Where to keep who is where (default: NAME.where.json in the runtime directory).", valueName: "file"),
        completion: .file())
    var stateFile: String?

    @Option(
        help: ArgumentHelp("Directory of state files (default: /run/pharos).", valueName: "directory"),
        completion: .directory)
    var runtimeDir: String?

    @Option(
        help: ArgumentHelp(
            "Directory of what \"history\" keeps (default: $STATE_DIRECTORY, or /var/lib/pharos).",
            valueName: "directory"), completion: .directory)
    var stateDir: String?

    @Option(
        parsing: .unconditional,
        help: ArgumentHelp("Tell where everybody is each so many seconds, too.", valueName: "seconds"),
        transform: { try OptionValue.integer($0, in: 1...86_400) })
    var everyS: Int?

    @Flag(help: "Print one JSON object a line, one an event.")
    var json = false

    @Flag(help: "Print the JSON Schema of collector files, for editors.")
    var schema = false

    func validate() throws {
        if schema { return }
        guard let file else { throw ValidationError("Name a collector file.") }
        let streams = sources.filter { $0.path == "-" }.count + (file == "-" ? 1 : 0)
        if streams > 1 { throw ValidationError("Standard input is one file or one receiver, not several.") }
        if stateFile != nil && runtimeDir != nil {
            throw ValidationError("--state-file names the file: it goes without --runtime-dir.")
        }
        for source in sources where source.path.isEmpty {
            throw ValidationError("--from \(source.receiver ?? "")=: the file is missing.")
        }
    }

    /// Receivers and their files; a path with a slash before its first = has no name before it.
    private var sources: [CollectedSource] {
        (from.isEmpty ? ["-"] : from).map { text in
            guard let mark = text.firstIndex(of: "="), !text[..<mark].contains("/"), mark != text.startIndex else {
                return CollectedSource(receiver: nil, path: text)
            }
            return CollectedSource(receiver: String(text[..<mark]), path: String(text[text.index(after: mark)...]))
        }
    }

    func run() throws {
        if schema { return Terminal.write(CollectorSchema.text) }
        guard let path = file else { return }
        let (decoded, problems) = CollectorFile.decode(try InputFile.read(path))
        guard let collector = decoded else { throw Failure(problems, of: path) }
        for warning in problems {
            Terminal.writeError("pharos: \(warning.text(file: path == "-" ? "standard input" : path))\n")
        }
        for source in sources {
            guard let name = source.receiver, !collector.receivers.contains(where: { $0.name == name }) else {
                continue
            }
            let names = collector.receivers.map(\.name).prefix(20).joined(separator: ", ")
            throw Failure(.usage, "--from \(name)=: \(path) has no receiver of this name; there are \(names)")
        }
        let directory = InputFile.directory(of: path)
        let sites = try collector.floors.map {
            try MapFile.site($0.site.hasPrefix("/") ? $0.site : directory + $0.site)
        }
        let section = from.isEmpty ? collector.broker : nil
        let state = stateFile ?? "\(runtimeDir ?? WhereFile.directory)/\(collector.name)\(WhereFile.ending)"
        let run = CollectRun(
            SightingCollector(collector, RoomPlan(collector, sites: sites)), state: state,
            isAsked: stateFile != nil || runtimeDir != nil, everySeconds: everyS, json: json,
            broker: try section.map { try CollectorBroker($0, collector, in: directory, state: state) },
            history: collector.history.map { CollectorHistory($0, of: collector.name, in: stateDir) },
            uploader: try collector.siteStore.map {
                try SiteUploader(
                    $0, of: collector.name, in: directory,
                    path: "\(CollectorHistory.directory(stateDir))/\(collector.name).postgresql.spool")
            })
        try run.read(section == nil ? sources : [])
    }
}

/// A receiver's lines.
struct CollectedSource {
    /// `nil` where the lines say it.
    let receiver: String?
    let path: String
}

/// State files: what a collector leaves for `where`.
enum WhereFile {
    static let directory = "/run/pharos"
    static let ending = ".where.json"
}
