internal import ArgumentParser
internal import BeaconService
internal import BluetoothTypes
internal import CommandSupport
internal import HubService
internal import LinuxHost
internal import Listener

struct Listen: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "run", abstract: "Run a listener (the word run may be left out).",
        discussion: """
            pharos listen hall.json
            pharos listen hall.json --print
            pharos listen hall.json --print --replay capture.btsnoop --json
            pharos listen --schema

            This is the service that systemd runs (systemctl enable --now pharos-listen@NAME). It stores the events of \
            zones in an SQLite file, starts hooks (programs of yours), publishes to a broker, and writes each event to \
            the journal. \
            SIGHUP reads the listener file again, SIGTERM stops the service. If the adapter is missing, the service \
            waits for it.

            --print shows what the service would receive, in rounds: the known beacons by name, each present, gone or \
            unknown, and the number of other senders. If nothing at all is received for longer than usual, beacons \
            become unknown, not gone.
            """)

    @Argument(help: "Listener file in JSON, or - for standard input.", completion: .file())
    var file: String?

    @Flag(name: .customLong("print"), help: "Print what is received, and store nothing.")
    var onlyPrints = false

    @Option(name: .shortAndLong, help: .receivingAdapter, completion: .adapters, transform: OptionValue.adapter)
    var adapter: AdapterName?

    @Option(help: .recording, completion: .file())
    var replay: String?

    @Option(parsing: .unconditional, help: .timeLimit, transform: OptionValue.duration)
    var durationS: Int?

    @Option(
        help: ArgumentHelp("Length of the rounds in which --print prints (default: 1).", valueName: "seconds"),
        transform: OptionValue.round)
    var everyS: Int?

    @Option(
        help: ArgumentHelp("Directory for stored data (default: /var/lib/pharos).", valueName: "directory"),
        completion: .directory)
    var stateDir: String?

    @Option(
        help: ArgumentHelp("Directory for status files and locks (default: /run/pharos).", valueName: "directory"),
        completion: .directory)
    var runtimeDir: String?

    @Option(
        help: ArgumentHelp(
            "File for the Prometheus metrics (default: NAME.listener.prom in the runtime directory).",
            valueName: "file"),
        completion: .file())
    var metricsFile: String?

    @Flag(help: "Print JSON, one line for each event, or with --print for each round.")
    var json = false

    @Flag(help: "Print the JSON Schema of listener files, for editors.")
    var schema = false

    func validate() throws {
        guard schema || file != nil else { throw ValidationError("Give a listener file, or use --schema.") }
        if !onlyPrints && !schema {
            if replay != nil { throw ValidationError("--replay needs --print. To replay zones, use `pharos zones`.") }
            if everyS != nil { throw ValidationError("--every-s needs --print.") }
            if file == "-" {
                throw ValidationError("The service must be able to read its file again: standard input cannot be used.")
            }
        } else if onlyPrints, stateDir != nil || runtimeDir != nil || metricsFile != nil {
            throw ValidationError(
                "--print stores nothing; --state-dir, --runtime-dir and --metrics-file cannot be used with it.")
        }
        if replay != nil && (adapter != nil || durationS != nil) {
            throw ValidationError("--replay reads a file; --adapter and --duration-s cannot be used with it.")
        }
        if file == "-" && replay == "-" {
            throw ValidationError("Standard input cannot be both the listener file and the recording.")
        }
    }

    func run() throws {
        if schema { return Terminal.write(HubFile.schema) }
        guard let file else { return }
        guard onlyPrints else { return try serve(file) }
        let listener = try ListenerFile.read(file)
        let known = try KnownBeacons(withInventoriesOf: listener, at: file)
        for warning in known.warnings { Terminal.writeMessage(warning) }
        if !listener.serviceKeys.isEmpty {
            Terminal.writeMessage(
                "\(file): --print does not use \(listener.serviceKeys.joined(separator: ", "))")
        }
        let source = try open(listener, known)
        source.useLevels(of: listener)
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
        options.printsEvents = json
        try ListenService.run(options)
    }

    private func open(_ listener: ListenerFile, _ known: KnownBeacons) throws -> SightingSource {
        if let replay { return try .recording(replay) }
        var options = SightingSource.Options(adapter: adapter ?? listener.adapter)
        options.settings = listener.settings
        options.durationMicroseconds = durationS
        options.virtualBeacons = known.virtualBeacons
        options.purpose = "pharos listen \(listener.name)"
        return try .live(options)
    }
}
