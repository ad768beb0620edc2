internal import ArgumentParser
internal import BluetoothTypes
internal import CommandSupport
internal import Configuration
internal import HubService
internal import LinuxHost
internal import Listener
internal import Sightings
internal import Zones

struct ZonesCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "run",
        abstract: "Show when beacons enter and leave the zones (the word run may be left out).",
        discussion: """
            pharos zones desk.json
            pharos zones desk.json --adapter virtual --duration-s 5
            pharos zones desk.json --replay capture.btsnoop --json

            The zones work as in `pharos listen`, but nothing is stored. If nothing at all is received \
            for longer than usual (at least 5 s), the receiver may have failed: the zones are unknown, and no beacon \
            leaves until something is received again.
            """)

    @Argument(help: "Listener file in JSON with zones, or - for standard input.", completion: .file())
    var file: String

    @Option(name: .shortAndLong, help: .hciAdapter, completion: .adapters, transform: OptionValue.adapter)
    var adapter: AdapterName?

    @Option(help: .recording, completion: .file())
    var replay: String?

    @Option(parsing: .unconditional, help: .timeLimit, transform: OptionValue.duration)
    var durationS: Int?

    @Flag(help: "Print JSON, one line for each event.")
    var json = false

    func validate() throws {
        if replay != nil && (adapter != nil || durationS != nil) {
            throw ValidationError("--replay reads a file; --adapter and --duration-s cannot be used with it.")
        }
        if file == "-" && replay == "-" {
            throw ValidationError("Standard input cannot be both the listener file and the recording.")
        }
    }

    func run() throws {
        let hub = try HubFile(path: file)
        for warning in hub.warnings { Terminal.writeMessage(warning) }
        guard !hub.zones.isEmpty else {
            throw Failure(.configuration, "\(file): the file has no zones: add a list \"zones\"")
        }
        let source = try open(hub)
        source.useLevels(of: hub.listener)
        let printer = ZonePrinter(hub, source, isRecorded: replay != nil, json: json)
        defer { printer.flush() }
        try source.run(printer)
        printer.printSummary()
    }

    private func open(_ hub: HubFile) throws -> SightingSource {
        if let replay { return try .recording(replay) }
        let adapter = adapter ?? hub.listener.adapter
        if case .managed(let index)? = adapter {
            throw Failure(
                .usage,
                "hci\(index):mgmt reports only that beacons are present, not when they are silent: use hci\(index) or "
                    + "hci\(index):user")
        }
        var options = SightingSource.Options(adapter: adapter)
        options.settings = hub.listener.settings
        options.durationMicroseconds = durationS
        options.virtualBeacons = hub.known.virtualBeacons
        options.purpose = "pharos zones \(hub.listener.name)"
        return try .live(options)
    }
}

/// Receives reports, and prints the events of zones as lines of JSON or of text.
private final class ZonePrinter: SightingConsumer {
    private let json: Bool
    private let monitor: ZoneMonitor
    private let clockQuality: ClockQuality
    private var context: ZoneEvent.Context
    private var output: LineOutput
    private var row = JSONWriter()

    init(_ file: HubFile, _ source: SightingSource, isRecorded: Bool, json: Bool) {
        self.json = json
        output = LineOutput(isData: json)
        monitor = ZoneMonitor(file, source)
        clockQuality = ClockQuality(isRecorded: isRecorded)
        context = ZoneEvent.Context(file, source, clockQuality, isRecorded: isRecorded)
    }

    var nextWakeUp: HeardInstant? { monitor.engine.nextWakeUp }
    var isSatisfied: Bool { Terminal.outputIsGone }

    func advance(to now: HeardInstant) { show(monitor.advance(to: now)) }

    func receive(_ report: HeardReport, _ octets: Span<UInt8>, _ range: Range<Int>) {
        let events = monitor.receive(report, octets, range)
        for warning in monitor.takeWarnings() { Terminal.writeMessage(warning) }
        show(events)
    }

    func change(_ state: ListeningState, at now: HeardInstant) { show(monitor.change(state, at: now)) }

    func handleIdle(at now: HeardInstant) { output.flush() }

    func say(_ sentence: String, isWarning: Bool) { Terminal.writeMessage(sentence) }

    func finish(at now: HeardInstant) { show(monitor.advance(to: now)) }

    private func show(_ events: [ZoneEvent]) {
        for event in events {
            context.clock = clockQuality.text
            if json {
                event.write(context, into: &row)
                output.addLine(&row)
            } else {
                output.add(ZoneText.line(event, context) + "\n")
            }
        }
    }

    func flush() { output.flush() }

    /// Prints the zones with the beacons inside at the end, and the numbers of their events. Prints nothing with
    /// --json.
    func printSummary() {
        flush()
        guard !json else { return }
        let engine = monitor.engine
        var table = Table(["zone", "inside", "enters", "exits"], alignment: [.left, .left, .right, .right])
        for (zone, rule) in engine.rules.enumerated() {
            let inside = engine.inside(zone)
            let names = engine.isKnown ? (inside.isEmpty ? "-" : inside.joined(separator: " ")) : "unknown"
            table.add([
                rule.name, TerminalText.line(TerminalText.shortened(names, to: 60)),
                "\(engine.count(.enter, of: zone))", "\(engine.count(.exit, of: zone))",
            ])
        }
        Terminal.show("\n" + table.text)
    }
}
