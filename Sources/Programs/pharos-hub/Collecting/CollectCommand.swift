internal import ArgumentParser
internal import Collector
internal import CommandSupport
internal import Configuration
internal import LinuxHost
internal import Positioning
internal import Sites
internal import Store

struct CollectCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "run", abstract: "Combine the reports of all receivers (the word run may be left out).",
        discussion: """
            pharos collect museum.json --from hall=hall.jsonl --from desk=desk.jsonl
            pharos listen hall.json --print --json | pharos collect museum.json
            pharos scan --every-s 1 --json | pharos collect museum.json --from hall=-
            pharos collect museum.json
            mosquitto_sub -t 'pharos/museum/sightings/#' -F %J | pharos collect museum.json --from -

            Reads the lines that `scan --json`, `listen --print --json` and an MQTT subscriber write. If the file has \
            "mqtt": {"url": "mqtt://broker"} and there is no --from, it reads what all receivers of the site publish \
            there, and publishes where each beacon is. Lines of a receiver that the file does not name are an error \
            (exit 65); if they come from the broker, they are ignored with a warning. A receiver that sends nothing \
            for 15 s counts as dead, and so does a receiver that works but receives nothing. Beacons that only a dead \
            receiver could receive become unknown, not gone. `pharos where` reads the state file, and `pharos history` \
            reads the database of "history". `pharos status` shows a collector that follows the broker and has no \
            --state-file. If the file has "postgresql", several collectors of one site can follow the broker: one is \
            active, and the others stand by until it ends.
            """)

    @Argument(
        help: ArgumentHelp("A collector file in JSON, or - for standard input.", valueName: "file"),
        completion: .file())
    var file: String?

    @Option(
        parsing: .singleValue,
        help: ArgumentHelp(
            "A recording in JSON Lines, or - for standard input. NAME=FILE names the receiver if the lines do not. "
                + "May be repeated (default: the broker of the file; without one, standard input).",
            valueName: "source"), completion: .file())
    var from: [String] = []

    @Option(
        help: ArgumentHelp(
            "State file with the position of each beacon (default: NAME.where.json in the runtime directory).",
            valueName: "file"),
        completion: .file())
    var stateFile: String?

    @Option(
        help: ArgumentHelp("Directory of state files (default: /run/pharos).", valueName: "directory"),
        completion: .directory)
    var runtimeDir: String?

    @Option(
        help: ArgumentHelp(
            "Directory for databases (default: $STATE_DIRECTORY, or /var/lib/pharos).",
            valueName: "directory"), completion: .directory)
    var stateDir: String?

    @Option(
        parsing: .unconditional,
        help: ArgumentHelp("Also print where each beacon is, at this interval.", valueName: "seconds"),
        transform: { try OptionValue.seconds($0, in: 1...86_400) })
    var everyS: Int?

    @Flag(help: "Print JSON, one line for each event.")
    var json = false

    @Flag(help: "Print the JSON Schema of collector files, for editors.")
    var schema = false

    func validate() throws {
        if schema { return }
        guard let file else { throw ValidationError("Name a collector file.") }
        let streams = from.isEmpty ? 0 : sources.count { $0.path == "-" } + (file == "-" ? 1 : 0)
        if streams > 1 { throw ValidationError("Standard input can be read only once.") }
        if stateFile != nil && runtimeDir != nil {
            throw ValidationError("--state-file names the file; --runtime-dir cannot be used with it.")
        }
        for source in sources where source.path.isEmpty {
            throw ValidationError("--from \(source.receiver ?? "")=: the file is missing.")
        }
    }

    /// The sources of --from. A value with a slash before its first = is only a path, without the name of a receiver.
    private var sources: [CollectedSource] {
        (from.isEmpty ? ["-"] : from).map { text in
            guard let equalsSign = text.firstIndex(of: "="), !text[..<equalsSign].contains("/"),
                equalsSign != text.startIndex
            else { return CollectedSource(receiver: nil, path: text) }
            return CollectedSource(
                receiver: String(text[..<equalsSign]), path: String(text[text.index(after: equalsSign)...]))
        }
    }

    func run() throws {
        if schema { return Terminal.write(CollectorFile.schema) }
        guard let path = file else { return }
        let (decoded, problems) = CollectorFile.decode(try InputFile.read(path))
        guard var collector = decoded else { throw Failure(problems, of: path) }
        for warning in problems {
            Terminal.writeMessage("\(warning.text(file: Files.inputName(path)))")
        }
        if path == "-", from.isEmpty, collector.broker == nil {
            throw ValidationError(
                "Standard input can be read only once: name the collector file, or give the receivers' lines with --from."
            )
        }
        for source in sources {
            guard let name = source.receiver, !collector.receivers.contains(where: { $0.name == name }) else {
                continue
            }
            let names = collector.receivers.map(\.name).prefix(20).joined(separator: ", ")
            throw Failure(.usage, "--from \(name)=: \(path) has no receiver of this name; its receivers are \(names)")
        }
        let directory = Files.directory(of: path)
        let sites = try collector.floors.map {
            try MapFile.site($0.site.hasPrefix("/") ? $0.site : directory + $0.site)
        }
        collector.placeReceivers(by: sites)
        let brokerSection = from.isEmpty ? collector.broker : nil
        let statePath = stateFile ?? "\(runtimeDir ?? WhereFile.directory)/\(collector.name)\(WhereFile.ending)"
        let followsBroker = brokerSection != nil
        if followsBroker, Terminal.inputIsPipe {
            Terminal.writeMessage(
                "standard input is not read, because the file names a broker: use --from - to read it")
        }
        // Create a missing directory, as a listener does. A failure to write the state is reported later.
        if stateFile == nil { try? Files.makeDirectory(runtimeDir ?? WhereFile.directory) }
        let signals = try SignalDescriptor()
        let locks = try lock(collector, at: path, state: statePath, followsBroker: followsBroker, signals)
        guard let locks else { return }
        let ledger = ledger(collector)
        let service = CollectorService(
            collector, RoomPlan(collector, sites: sites), state: statePath,
            isShared: stateFile == nil && runtimeDir == nil, ledger: ledger,
            uploader: try uploader(collector, in: directory, ledger, takesLock: followsBroker))
        let statusDirectory = stateFile == nil && followsBroker ? runtimeDir ?? WhereFile.directory : nil
        let run = CollectRun(
            service, everySeconds: everyS, json: json, signals: signals, statusDirectory: statusDirectory)
        try withExtendedLifetime(locks) {
            guard let brokerSection else { return try run.read(sources) }
            try run.follow {
                try CollectorBroker(
                    brokerSection, site: collector.name, in: directory, state: statePath,
                    version: CommandProgram.version)
            }
        }
    }

    /// Takes the locks of a collector that reads live lines. If another collector of the same file or of the same
    /// databases runs on this machine, a collector with PostgreSQL and a broker waits on standby until the other
    /// collector ends. Any other collector throws an error.
    ///
    /// - Returns: The locks; `nil` if a signal arrived while this collector was on standby.
    private func lock(
        _ file: CollectorFile, at path: String, state: String, followsBroker: Bool, _ signals: SignalDescriptor
    ) throws -> CollectorLocks? {
        guard followsBroker || sources.contains(where: { $0.path == "-" }) else {
            return CollectorLocks()
        }
        var directories = Set<String>()
        if followsBroker { directories.insert(Files.directory(of: state)) }
        if let history = file.history?.path(of: file.name, in: StateDirectory.path(stateDir)) {
            directories.insert(Files.directory(of: history))
        }
        let lockedFile = followsBroker && path != "-" ? path : nil
        var standsBy = false
        while true {
            switch CollectorLocks.take(file.name, in: directories.sorted(), file: lockedFile) {
            case .taken(let locks): return locks
            case .held(let process):
                guard followsBroker, file.postgreSQL != nil else {
                    throw Failure(
                        .unavailable,
                        "a collector of \(file.name) is already running\(process.map { " (process \($0))" } ?? ""): stop it "
                            + "first; with \"postgresql\" in the file, this collector would stand by")
                }
            }
            if !standsBy { Terminal.writeError(CollectRun.standbyMessage(TerminalText.line(file.name))) }
            standsBy = true
            _ = try Poller.wait([.init(signals.descriptor, .read)], milliseconds: 200)
            if signals.take() != nil { return nil }
        }
    }

    private func ledger(_ file: CollectorFile) -> EventLedger? {
        guard let path = file.history?.path(of: file.name, in: StateDirectory.path(stateDir)) else { return nil }
        try? Files.makeDirectory(Files.directory(of: path), mode: 0o700)
        let ledger = EventLedger(path: path)
        ledger.open()
        return ledger
    }

    private func uploader(
        _ file: CollectorFile, in directory: String, _ ledger: EventLedger?, takesLock: Bool
    ) throws -> PostgreSQLUploader? {
        guard let section = file.postgreSQL else { return nil }
        let state = StateDirectory.path(stateDir)
        try? Files.makeDirectory(state, mode: 0o700)
        return try PostgreSQLUploader(
            try PostgreSQLOptions(section, in: directory), site: file.name,
            outbox: "\(state)/\(file.name).postgresql.spool", ledger: ledger, takesLock: takesLock)
    }
}

/// The locks of a collector: one in each directory in which it writes files, and one on the collector file itself.
struct CollectorLocks {
    /// The result of taking the locks: all locks were taken, or another process holds one of them. The id of that
    /// process is `nil` if it is not known.
    enum Result {
        case taken(CollectorLocks)
        case held(process: Int32?)
    }

    private var instances: [InstanceLock] = []
    private var file: OpenFileLock?

    /// Takes the locks. A directory that cannot be written is skipped, because the failure to write files there is
    /// reported later.
    ///
    /// - Parameter path: The path of the collector file; `nil` if the file is not locked, for example because it is
    ///   standard input.
    static func take(_ name: String, in directories: [String], file path: String?) -> Result {
        var locks = CollectorLocks()
        for directory in directories {
            do throws(InstanceLockError) {
                locks.instances.append(
                    try InstanceLock("\(name).collector", in: directory.isEmpty ? "." : directory))
            } catch {
                if case .held(_, let process) = error { return .held(process: process) }
            }
        }
        if let path {
            do throws(SystemError) {
                locks.file = try OpenFileLock(path)
            } catch {
                if error.errno == SystemError.wouldBlock { return .held(process: nil) }
            }
        }
        return .taken(locks)
    }
}

extension CollectorFile.History {
    /// Returns the path of the database.
    func path(of collector: String, in directory: String) -> String {
        let file = file ?? "\(collector).collect.db"
        return file.hasPrefix("/") ? file : "\(directory)/\(file)"
    }
}

extension PostgreSQLOptions {
    /// Creates the options for the PostgreSQL database of a collector file.
    ///
    /// - Parameter directory: The directory of the collector file, with a slash at the end.
    init(_ section: CollectorFile.PostgreSQL, in directory: String) throws(PostgreSQLError) {
        let file = section.passwordFile.map { $0.hasPrefix("/") ? $0 : directory + $0 }
        try self.init(connection: section.connection, passwordFile: file)
    }
}

/// A file or standard input with the lines of receivers.
struct CollectedSource {
    /// The name of the receiver; `nil` if the lines contain the name.
    let receiver: String?
    let path: String
}

/// The state files of collectors, which `where` reads.
enum WhereFile {
    static let directory = "/run/pharos"
    static let ending = ".where.json"
    /// The group that may read the state files in ``directory``.
    static let group = "pharos"
    static let groupAdvice =
        "this user may not read it; members of the group \(group) may (`sudo usermod -aG \(group) USER`, then log in "
        + "again), or use sudo"
}
