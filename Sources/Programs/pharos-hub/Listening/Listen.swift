internal import ArgumentParser
internal import BeaconService
internal import BluetoothTypes
internal import CommandSupport
internal import HubService
internal import LinuxHost
internal import Listener

struct Listen: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "listen", abstract: "Hear the beacons that a listener file knows.",
        discussion: """
            pharos listen hall.json
            pharos listen hall.json --print
            pharos listen hall.json --print --replay capture.btsnoop --json
            pharos listen --schema

            The service, meant for systemd (systemctl enable --now pharos-listen@NAME): it keeps who is in which zone in \
            one file of SQLite, starts hooks, and tells each event in the journal; SIGHUP reads the file again, SIGTERM \
            ends it. It waits for a missing adapter.

            --print tells round by round what would be kept: the known beacons by name, present, gone or unknown, and \
            how many others there are. Nobody is gone while nothing can be heard.
            """)

    @Argument(help: "A listener file in JSON, or - for standard input.", completion: .file())
    var file: String?

    @Flag(name: .customLong("print"), help: "Tell it here, in the foreground, and keep nothing.")
    var isPrinted = false

    @Option(
        name: .shortAndLong,
        help: ArgumentHelp(
            "hci0, hci0:user, hci0:mgmt (presence only), tcp:HOST:PORT, unix:PATH, serial:PATH@RATE or virtual.",
            valueName: "name"),
        completion: .adapters, transform: OptionValue.adapter)
    var adapter: AdapterName?

    @Option(
        help: ArgumentHelp("Read a btsnoop, pcap or pcapng file, or - for standard input.", valueName: "file"),
        completion: .file())
    var replay: String?

    @Option(
        parsing: .unconditional, help: ArgumentHelp("Stop after so many seconds.", valueName: "seconds"),
        transform: OptionValue.duration)
    var durationS: Int?

    @Option(
        help: ArgumentHelp("Tell in rounds of so many seconds (default: 1).", valueName: "seconds"),
        transform: OptionValue.round)
    var everyS: Int?

    @Option(
        help: ArgumentHelp("Directory of what is kept (default: /var/lib/pharos).", valueName: "directory"),
        completion: .directory)
    var stateDir: String?

    @Option(
        help: ArgumentHelp("Directory of status files and locks (default: /run/pharos).", valueName: "directory"),
        completion: .directory)
    var runtimeDir: String?

    @Option(
        help: ArgumentHelp(
            "File for the Prometheus metrics (default: NAME.listener.prom in the runtime directory).",
            valueName: "file"),
        completion: .file())
    var metricsFile: String?

    @Flag(help: "Print one JSON object a line: of --print one a round, else one an event.")
    var json = false

    @Flag(help: "Print the JSON Schema of listener files, for editors.")
    var schema = false

    func validate() throws {
        guard schema || file != nil else { throw ValidationError("Name a listener file, or ask for its --schema.") }
        if !isPrinted && !schema {
            if replay != nil { throw ValidationError("--replay goes with --print; `pharos zones` replays zones.") }
            if everyS != nil { throw ValidationError("--every-s goes with --print.") }
            if file == "-" { throw ValidationError("The service reads its file again: it cannot be standard input.") }
        } else if isPrinted, stateDir != nil || runtimeDir != nil || metricsFile != nil {
            throw ValidationError(
                "--print keeps nothing: it goes without --state-dir, --runtime-dir and --metrics-file.")
        }
        if replay != nil && (adapter != nil || durationS != nil) {
            throw ValidationError("--replay reads a file: it goes without --adapter and --duration-s.")
        }
        if file == "-" && replay == "-" { throw ValidationError("Standard input is either the file or the recording.") }
    }

    func run() throws {
        if schema { return Terminal.write(HubSchema.text) }
        guard let file else { return }
        guard isPrinted else { return try serve(file) }
        let listener = try ListenerFile.read(file)
        let known = try KnownBeacons(withInventoriesOf: listener, at: file)
        for warning in known.warnings { Terminal.writeError("pharos: \(warning)\n") }
        if !listener.serviceKeys.isEmpty {
            Terminal.writeError(
                "pharos: \(file): --print makes no use of \(listener.serviceKeys.joined(separator: ", "))\n")
        }
        let source = try open(listener, known)
        source.levelOffset = listener.levelOffset
        try source.run(ListenPrinter(listener, known, source, roundMicroseconds: everyS ?? 1_000_000, json: json))
    }

    private func serve(_ file: String) throws {
        var options = ListenService.Options(path: file)
        options.adapter = adapter
        options.stateDirectory = stateDir
        options.runtimeDirectory = runtimeDir
        options.metricsFile = metricsFile
        options.duration = durationS
        options.version = CommandProgram.version
        if json { options.onLine = { Terminal.write($0) } }
        try ListenService.run(options)
    }

    private func open(_ listener: ListenerFile, _ known: KnownBeacons) throws -> SightingSource {
        if let replay { return try .recording(replay) }
        var options = SightingSource.Options(adapter: adapter ?? listener.adapter)
        options.settings = listener.settings
        options.durationMicroseconds = durationS
        options.samples = known.profiles
        options.purpose = "pharos listen \(listener.name)"
        return try .live(options)
    }
}
