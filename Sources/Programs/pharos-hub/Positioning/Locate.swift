internal import ArgumentParser
internal import BluetoothTypes
internal import CommandSupport
internal import Configuration
internal import HCITransports
internal import LinuxHost
internal import Listener
internal import Positioning
internal import Sites

struct Locate: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "locate", abstract: "Show where this receiver is on a map.",
        discussion: """
            pharos locate map.json --adapter hci0
            pharos locate map.json --from walk.btsnoop --json
            pharos scan --json | pharos locate map.json --from - --json
            pharos locate map.json --from walk.jsonl --algorithm nn --scores --json
            pharos locate map.json --from walk.jsonl --all-algorithms
            pharos locate map.json --from walk.jsonl --site museum-site.json

            Each second has a state. fix: a position with a region that contains the true position in 95 % of cases. \
            poor: an uncertain position. none: no position, with the reason. If the site has rooms, the likeliest room \
            is shown with its probability. While the receiver moves, its heading is shown with the interval that \
            contains the true heading in 95 % of cases. A receiver that stands still has no heading.
            """)

    @Argument(help: "A map, or - for standard input.", completion: .file())
    var map: String

    @OptionGroup var source: RunSourceOptions

    @Option(parsing: .unconditional, help: .timeLimit, transform: OptionValue.duration)
    var durationS: Int?

    @Option(
        help: ArgumentHelp(
            "The algorithm (default: that of the map): \(MapFit.Choice.names.dropFirst().joined(separator: ", ")).",
            valueName: "name"),
        completion: .list(Array(MapFit.Choice.names.dropFirst())), transform: OptionValue.named)
    var algorithm: PositioningAlgorithm?

    @Flag(
        help: """
            Show the answers of all algorithms next to each other, and of the baselines if the map has the positions \
            of the beacons.
            """)
    var allAlgorithms = false

    @OptionGroup var parameters: AlgorithmOptions

    @Option(
        help: ArgumentHelp("The time between two lines (default: 1 s).", valueName: "s"),
        transform: OptionValue.round)
    var everyS: Int?

    @Option(
        help: ArgumentHelp(
            "A site file. Answers name its rooms, the algorithm hmm does not let the receiver pass through its walls, and "
                + "pages show its walls and outline.",
            valueName: "file"),
        completion: .file())
    var site: String?

    @Option(
        help: ArgumentHelp(
            "A table of the true positions of the receiver, with the columns session, time, x, y.", valueName: "file"),
        completion: .file())
    var truth: String?

    @Option(
        help: ArgumentHelp("Write a page with the positions on the floor plan to this file.", valueName: "file"),
        completion: .file(), transform: OptionValue.page)
    var html: String?

    @Option(
        help: ArgumentHelp("Write a drawing of the positions, for print, to this file.", valueName: "file"),
        completion: .file())
    var svg: String?

    @Flag(help: "Also print the score of every place. Implies --json.")
    var scores = false

    @Flag(help: "Print one JSON object per line.")
    var json = false

    func validate() throws {
        if source.from != nil, durationS != nil {
            throw ValidationError("Give --from or --duration-s, not both: a file ends by itself.")
        }
        if html == "-" || svg == "-", json || scores || html == svg {
            throw ValidationError("Only one of --html, --svg and --json can go to standard output.")
        }
        if allAlgorithms, algorithm != nil { throw ValidationError("Give --algorithm or --all-algorithms, not both.") }
        try OutputFiles.refuseOverwriting(
            [("--html", html), ("--svg", svg)], read: [map, source.from, source.fleet, site, truth])
        if map == "-", source.from == "-" {
            throw ValidationError("Only one of the map and the file of --from can come from standard input.")
        }
    }

    func run() throws {
        let map = try MapFile.read(map)
        let isDrawn = html != nil || svg != nil
        let site = try site.map { path in try isDrawn ? MapFile.drawnSite(path) : MapFile.site(path) }
        var locator = try RunLocator(map, settings: settings(algorithm ?? map.settings.algorithm, map), site: site)
        locator.wantsScores = scores
        var compared = allAlgorithms ? ComparedLocators(map, site: site) { settings($0, map) } : nil
        compared?.wantsScores = scores
        for notice in compared?.notices ?? [] { Terminal.writeMessage(notice) }
        let printer = LocatePrinter(
            locator, compared: compared, lineMicroseconds: everyS, truth: try truth.map { path in try RunTruth(path) },
            form: form)
        if html != nil || svg != nil { printer.track = LocatedTrack(locator.map, site: site) }
        try source.run(printer, shared: map.sharedIdentities, duration: durationS, purpose: "pharos locate")
        printer.finish()
        guard let track = printer.track else { return }
        let page = TrackPage(track, command: CommandProgram.commandLine)
        if let html { try MapFile.write(page.html, to: html) }
        if let svg { try MapFile.write(page.svg, to: svg) }
    }

    private func settings(_ algorithm: PositioningAlgorithm, _ map: SignalMap) -> LocatorSettings {
        var settings = map.settings
        if algorithm != settings.algorithm {
            settings.algorithm = algorithm
            settings.window = nil
        }
        parameters.apply(to: &settings)
        return settings
    }

    private var form: LocatePrinter.Form {
        if html == "-" || svg == "-" { return .nothing }
        if scores { return .scores }
        if json { return .json }
        return Terminal.canRedraw && source.from == nil ? .floor : .lines
    }
}

/// The options for the source of the reports from which a receiver is located.
struct RunSourceOptions: ParsableArguments {
    @Option(name: .shortAndLong, help: .hciAdapter, completion: .adapters, transform: OptionValue.adapter)
    var adapter: AdapterName?

    @Option(
        help: ArgumentHelp(
            """
            Read a file instead of an adapter: btsnoop, pcap, pcapng, the output of pharos scan --json, JSON Lines or \
            CSV. The format is recognized by the contents. Use - for standard input.
            """, valueName: "file"), completion: .file())
    var from: String?

    @Option(
        help: ArgumentHelp(
            "A fleet, profile or listener file, which gives beacons their names and the keys of ephemeral ids.",
            valueName: "file"), completion: .file())
    var fleet: String?

    @OptionGroup var levels: SurveyReadingOptions

    func validate() throws {
        if from != nil, adapter != nil { throw ValidationError("Give --from or --adapter, not both.") }
    }

    /// Passes the source's reports to a consumer, second by second.
    ///
    /// - Parameters:
    ///   - shared: The identities that several devices send.
    ///   - isOnlyKnown: True to leave out beacons that are not in the file of --fleet.
    ///   - duration: The time after which receiving from an adapter ends, in microseconds; `nil` for no limit.
    func run(
        _ consumer: any RunConsumer, shared: Set<BeaconKey>, isOnlyKnown: Bool = false, duration: Int? = nil,
        purpose: String
    ) throws {
        let known = try KnownBeacons(fleet.map { [$0] } ?? [])
        for warning in known.warnings { Terminal.writeMessage(warning) }
        if let from {
            var file = RunFile(from, known, rules: levels.rules, shared: shared)
            file.isOnlyKnown = isOnlyKnown
            return try file.run(consumer)
        }
        var options = SightingSource.Options(adapter: adapter)
        options.durationMicroseconds = duration
        options.virtualBeacons = known.virtualBeacons
        options.purpose = purpose
        let source = try SightingSource.live(options)
        let gatherer = SecondGatherer(
            known, source.clock, isOnlyKnown: isOnlyKnown, shared: shared, acceptsZeroLevel: levels.acceptZero)
        gatherer.passSeconds(to: consumer, source.clock, of: source)
        try source.run(gatherer)
    }
}

/// Prints the position of a receiver, second by second.
final class LocatePrinter: RunConsumer {
    enum Form {
        case json
        case scores
        case lines
        /// Nothing is printed, because a page or a drawing is written to standard output.
        case nothing
        /// A drawing of the floor, which is updated each second.
        case floor
    }

    private var locator: RunLocator
    /// The locators of all algorithms; `nil` if only one algorithm is used.
    private var compared: ComparedLocators?
    /// The time between two lines; `nil` to print each second.
    private let lineMicroseconds: Int?
    private let truth: RunTruth?
    private let form: Form
    /// The positions for a page or a drawing; `nil` if neither is requested.
    var track: LocatedTrack?
    private var session: String?
    /// The time of the next line.
    private var nextLineMicroseconds: Int?
    /// The errors of the positions by algorithm, in metres.
    private var errors: [PositioningAlgorithm: [Double]] = [:]
    private var block = LiveBlock()

    init(
        _ locator: RunLocator, compared: ComparedLocators?, lineMicroseconds: Int?, truth: RunTruth?, form: Form
    ) {
        self.locator = locator
        self.compared = compared
        self.lineMicroseconds = lineMicroseconds
        self.truth = truth
        self.form = form
    }

    var isSatisfied: Bool { Terminal.outputIsGone }

    func begin(session: String?) {
        self.session = session
        nextLineMicroseconds = nil
        locator.begin(session: session)
        compared?.begin(session: session)
    }

    func take(seconds: Double, _ heard: [HeardBeacon]) {
        var instant = locator.locate(seconds: seconds, heard)
        instant.truth = truth?.spot(session: session, seconds: seconds)
        var comparedInstants = compared?.locate(seconds: seconds, heard)
        for index in comparedInstants?.indices ?? 0..<0 { comparedInstants?[index].truth = instant.truth }
        for located in comparedInstants ?? [instant] {
            if let error = located.error { errors[located.algorithm, default: []].append(error) }
        }
        if let lineMicroseconds {
            let now = Int((max(-1e11, min(1e11, seconds)) * 1e6).rounded())
            // If the time is before that of the last printed line, a new run has begun, so print the line.
            if let next = nextLineMicroseconds, now < next, now >= next - lineMicroseconds { return }
            nextLineMicroseconds = now + lineMicroseconds
        }
        track?.add(instant)
        switch form {
        case .nothing: break
        case .json, .scores:
            let json = instant.json(
                on: locator.map, rooms: locator.rooms, hasScores: form == .scores, compared: comparedInstants)
            Terminal.write(json.line + "\n")
        case .lines: Terminal.show(text(instant) + "\n" + table(comparedInstants))
        case .floor: draw(instant, table(comparedInstants))
        }
    }

    private func text(_ instant: LocatedInstant) -> String { instant.text(on: locator.map, rooms: locator.rooms) }

    private func table(_ instants: [LocatedInstant]?) -> String {
        instants.map { LocatedInstant.table($0, on: locator.map, rooms: locator.rooms) } ?? ""
    }

    private func draw(_ instant: LocatedInstant, _ table: String) {
        let linesBelow = [text(instant)] + table.split(separator: "\n").map(String.init)
        let (columns, rows) = (min(100, Terminal.columns), max(4, min(24, Terminal.rows - linesBelow.count - 1)))
        let text = TerminalFloor.text(instant, on: locator.map, columns: columns, rows: rows)
        let lines = text.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
        block.draw(lines.dropLast(lines.last == "" ? 1 : 0) + linesBelow)
    }

    func say(_ sentence: String, isWarning: Bool) {
        guard isWarning else { return }
        block = LiveBlock()
        Terminal.writeMessage(sentence)
    }

    /// Prints statistics of the errors of the positions, if the true positions are known.
    func finish() {
        guard form == .lines || form == .floor, !errors.isEmpty else { return }
        if let compared { return showErrors(of: compared.algorithms) }
        let errors = errors.values.flatMap(\.self)
        let percentiles = Percentiles(errors)
        guard let mean = percentiles.mean else { return }
        Terminal.show(
            "\(NumberFormat.count(errors.count, "second")): mean error \(MapText.metres(mean)) m, 75th percentile "
                + "\(MapText.metres(percentiles.value(at: 75))) m, 95th percentile "
                + "\(MapText.metres(percentiles.value(at: 95))) m\n")
    }

    private func showErrors(of algorithms: [PositioningAlgorithm]) {
        var table = Table(
            ["algorithm", "seconds", "mean error m", "75 % m", "95 % m"],
            alignment: [.left, .right, .right, .right, .right])
        for algorithm in algorithms {
            let errors = errors[algorithm] ?? []
            let percentiles = Percentiles(errors)
            table.add([
                algorithm.rawValue, "\(errors.count)", MapText.metres(percentiles.mean),
                MapText.metres(percentiles.value(at: 75)), MapText.metres(percentiles.value(at: 95)),
            ])
        }
        Terminal.show("\n" + table.text)
    }
}
