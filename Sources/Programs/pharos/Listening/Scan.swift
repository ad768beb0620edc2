internal import ArgumentParser
internal import BluetoothTypes
internal import CommandSupport
internal import HCI
internal import LinuxHost
internal import Listener
internal import Sightings

struct Scan: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "scan", abstract: "Show the beacons that are received.",
        discussion: """
            pharos scan
            pharos scan --known museum.json --json --every-s 1
            pharos scan --monitor ibeacon:fb0b57a2-8228-44cd-913a-94a122ba1206
            pharos scan --replay capture.btsnoop --json

            On a terminal, the table is updated until you press q. Into a pipe, it is printed once per second. Copy an \
            identity from it into `pharos find`. Tags and phones of networks (Find My, Find Hub, SmartTag, Tile, \
            Fast Pair, Exposure Notification) are only counted, because they change their addresses.

            Receiving on hciN needs CAP_NET_RAW. The virtual adapter receives simulated beacons: those of the files of \
            --known, or a sample if there is no --known. Sensor values are simulated, too (21 degrees Celsius, 2.9 V). \
            With virtual?path=tour, the receiver moves from beacon to beacon.
            """)

    @OptionGroup var source: ScanSourceOptions
    @OptionGroup var selection: ScanSelection

    @Option(
        help: ArgumentHelp("Report all beacons once in each round of this many seconds.", valueName: "seconds"),
        transform: OptionValue.round)
    var everyS: Int?

    @Flag(help: "Report the distance of the known beacons in each round (--every-s, default 1).")
    var ranging = false

    @Option(
        parsing: .singleValue,
        help: ArgumentHelp(
            """
            Report only when a region is entered or left, or becomes unknown because nothing at all is received. A \
            region is ibeacon:UUID[-MAJOR[-MINOR]], uid:NAMESPACE[-INSTANCE], an identity, or the name of a known \
            beacon. May be repeated.
            """, valueName: "region"))
    var monitor: [String] = []

    @Option(help: ArgumentHelp("Order of the table: name, rssi, last or rate.", valueName: "key"))
    var sort: ScanOrder = .name

    @OptionGroup var distance: DistanceOptions

    @Flag(help: "Print one line of JSON for each report, round or event of a region.")
    var json = false

    func validate() throws {
        if ranging && selection.known.isEmpty {
            throw ValidationError("--ranging needs --known: it reports the distance of beacons with a name.")
        }
        if source.replay == "-" && selection.known.contains("-") {
            throw ValidationError("Standard input cannot be both the recording and the known beacons.")
        }
        if ranging && !monitor.isEmpty { throw ValidationError("--ranging and --monitor cannot be combined.") }
        if !monitor.isEmpty, case .managed(let index)? = source.adapter {
            throw ValidationError(
                "The kernel drops repeated reports on hci\(index):mgmt, so no exit can be detected: use hci\(index).")
        }
        if !monitor.isEmpty && everyS != nil { throw ValidationError("--monitor has no rounds: leave out --every-s.") }
    }

    func run() throws {
        let known = try KnownBeacons(selection.known)
        for warning in known.warnings { Terminal.writeMessage(warning) }
        let regions = try monitor.map { text throws(ListenerServiceError) in try known.region(text) }
        let form: ScanForm =
            !regions.isEmpty
            ? .regions
            : ranging || everyS != nil
                ? .rounds : json ? .reports : source.replay != nil || Terminal.canRedraw ? .table : .tables
        let strangers: SightingTable.Strangers =
            !ranging && (known.isEmpty || selection.strangers || regions.contains { $0.pattern != nil })
            ? .kept(SightingTable.defaultStrangers) : .counted
        let filter = try selection.filter(known)
        let source = try source.open(known, levels: selection.levels)
        let output = ScanOutput(
            source, form: form, json: json, order: sort, rule: distance.rule, filter: filter,
            regions: regions.map(\.name))
        let processor = SightingProcessor(
            table: known.table(source.clock, strangers: strangers), regions: regions,
            roundMicroseconds: form == .rounds || form == .tables ? everyS ?? 1_000_000 : nil)
        let keys = self.source.replay == nil && Terminal.outputIsTerminal ? TerminalKeys() : nil
        defer { keys?.end() }
        output.canQuit = keys != nil
        try source.run(ScanEngine(processor, output, keys))
        if let replay = self.source.replay, source.counts.reports == 0 {
            Terminal.writeMessage(
                "\(Files.inputName(replay)): there are no received advertisements in this file; `pharos decode` shows what a "
                    + "sender sent")
        }
    }
}

/// The options for the source of reports.
struct ScanSourceOptions: ParsableArguments {
    @Option(name: .shortAndLong, help: .receivingAdapter, completion: .adapters, transform: OptionValue.adapter)
    var adapter: AdapterName?

    @Option(help: .recording, completion: .file())
    var replay: String?

    @Option(
        help: ArgumentHelp("Write all HCI packets to a new btsnoop file.", valueName: "file"),
        completion: .file())
    var record: String?

    @Flag(help: "Replace the file of --record if it exists.")
    var force = false

    @Flag(help: "Ask for scan responses. Shows names, but costs other devices' batteries.")
    var active = false

    @Flag(help: "Also receive LE Coded. The radio then listens to LE 1M only half of the time.")
    var coded = false

    @Option(
        help: ArgumentHelp(
            "Scan interval, after which the channel changes, 2.5...10240 (default: 60).", valueName: "ms"),
        transform: OptionValue.milliseconds)
    var scanIntervalMs: Double?

    @Option(
        help: ArgumentHelp(
            "Scan window: how long to listen after each change (default: the whole interval).", valueName: "ms"),
        transform: OptionValue.milliseconds)
    var scanWindowMs: Double?

    @Option(parsing: .unconditional, help: .timeLimitInSeconds, transform: OptionValue.duration)
    var durationS: Int?

    func validate() throws {
        if replay != nil && (adapter != nil || record != nil || durationS != nil) {
            throw ValidationError("--replay reads a file: leave out --adapter, --record and --duration-s.")
        }
        if record == "-" {
            throw ValidationError("--record needs the name of a file: standard output shows the beacons.")
        }
        if force, record == nil { throw ValidationError("--force needs --record.") }
        if replay != nil && (active || coded || scanIntervalMs != nil || scanWindowMs != nil) {
            throw ValidationError(
                "--replay reads a file that was recorded before: leave out --active, --coded, --scan-interval-ms "
                    + "and --scan-window-ms.")
        }
        _ = try settings()
    }

    /// Creates the source. Only files are opened here; the adapter is opened later.
    func open(_ known: KnownBeacons, levels: ClosedRange<Int8>?) throws -> SightingSource {
        if let replay { return try .recording(replay, levels: levels) }
        // A file that is not empty is not replaced. An empty file may have been created for the recording, and pipes
        // and devices have no contents.
        if let record, !force, let size = Files.size(record), size > 0 {
            throw Failure(.usage, "\(record): this file exists; choose another name, or use --force")
        }
        var options = SightingSource.Options(adapter: adapter)
        options.settings = try settings()
        options.recording = record
        options.durationMicroseconds = durationS
        options.virtualBeacons = known.virtualBeacons
        options.purpose = "pharos scan"
        return try .live(options, levels: levels)
    }

    /// Returns the scan parameters.
    private func settings() throws -> ScanSettings {
        let intervalMs = scanIntervalMs ?? 60
        let interval = try interval(intervalMs, of: "--scan-interval-ms", upTo: 10_240)
        let window = try self.interval(scanWindowMs ?? intervalMs, of: "--scan-window-ms", upTo: intervalMs)
        do {
            var settings = try ScanSettings(isActive: active, interval: interval, window: window)
            settings.isCoded = coded
            return settings
        } catch {
            throw ValidationError("\(error)")
        }
    }

    private func interval(_ milliseconds: Double, of option: String, upTo limit: Double) throws -> ScanInterval {
        guard milliseconds >= 2.5, milliseconds <= limit,
            let interval = ScanInterval(microseconds: Int((milliseconds * 1000).rounded()))
        else {
            let limit = limit == limit.rounded() ? "\(Int(limit))" : "\(limit)"
            throw ValidationError("\(option) \(milliseconds) is out of range 2.5...\(limit) ms.")
        }
        return interval
    }
}

/// The options that select the reports to show.
struct ScanSelection: ParsableArguments {
    @Option(parsing: .singleValue, help: .knownBeacons, completion: .file())
    var known: [String] = []

    @Option(
        parsing: .singleValue,
        help: ArgumentHelp(
            "Show only a kind (ibeacon, altbeacon, uid, url, eid or address), an identity or a name. May be repeated.",
            valueName: "what"))
    var only: [String] = []

    @Option(
        parsing: .unconditional,
        help: ArgumentHelp("Leave out reports with a lower level, -127...20.", valueName: "dBm"),
        transform: Self.level)
    var minRssiDbm: Int8?

    @Option(
        parsing: .unconditional,
        help: ArgumentHelp("Leave out reports outside this range of levels, such as -110..0.", valueName: "dBm..dBm"),
        transform: Self.range)
    var plausibleDbm: ClosedRange<Int8>?

    @Flag(help: "Also show beacons that --known does not name.")
    var strangers = false

    private static func level(_ text: String) throws -> Int8 {
        let value = try OptionValue.integer(text)
        guard let level = Int8(exactly: value), LevelTally.range.contains(level) else {
            throw Mistake("\(value) is out of range -127...20")
        }
        return level
    }

    private static func range(_ text: String) throws -> ClosedRange<Int8> {
        guard let dots = text.firstRange(of: "..") else { throw Mistake("write a range such as -110..0") }
        let (low, high) = (try level(String(text[..<dots.lowerBound])), try level(String(text[dots.upperBound...])))
        guard low <= high else { throw Mistake("\(low) is above \(high)") }
        return low...high
    }

    /// The levels of the reports to show, in dBm; `nil` for all levels.
    var levels: ClosedRange<Int8>? {
        guard minRssiDbm != nil || plausibleDbm != nil else { return nil }
        let plausible = plausibleDbm ?? LevelTally.range
        return min(
            plausible.upperBound, max(plausible.lowerBound, minRssiDbm ?? plausible.lowerBound))...plausible.upperBound
    }

    func filter(_ known: KnownBeacons) throws -> ScanFilter {
        var filter = ScanFilter()
        for text in only {
            if BeaconIdentity.kinds.contains(text) {
                filter.kinds.insert(text)
            } else if let pattern = RegionPattern(text) {
                filter.patterns.append(pattern)
            } else if known.names.contains(text) {
                filter.names.insert(text)
            } else {
                throw Failure(
                    .usage,
                    "--only \(text): use a kind (\(BeaconIdentity.kinds.joined(separator: ", "))), an identity such as "
                        + "ibeacon:UUID-1-2, or the name of a known beacon")
            }
        }
        return filter
    }
}

/// The options for the conversion of levels into distances.
struct DistanceOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp("log, altbeacon or radius (default: log).", valueName: "model"),
        completion: .list(DistanceModel.allCases.map(\.rawValue)), transform: OptionValue.named)
    var distanceModel: DistanceModel = .log

    @Option(help: ArgumentHelp("Path-loss exponent, 1...6; 2 in free space.", valueName: "n"))
    var pathLossExponent: Double = 2

    @Option(
        help: ArgumentHelp(
            "How much walls and bodies change the level (shadowing): the standard deviation, 0...20.", valueName: "dB"))
    var shadowingDb: Double = 6

    func validate() throws {
        try OptionValue.check("--path-loss-exponent", pathLossExponent, in: 1...6)
        try OptionValue.check("--shadowing-db", shadowingDb, in: 0...20)
    }

    var rule: DistanceEstimate.Rule {
        var rule = DistanceEstimate.Rule()
        rule.model = distanceModel
        rule.exponent = pathLossExponent
        rule.shadowingDecibels = shadowingDb
        return rule
    }
}

/// Passes sightings to a `SightingProcessor`, and the events of the `SightingProcessor` to the output.
final class ScanEngine: SightingConsumer {
    private var processor: SightingProcessor
    private let output: ScanOutput
    private let keys: TerminalKeys?
    private var nextKeyCheck = HeardInstant(nanoseconds: 0)
    private var hasListened = false
    private var isEnded = false

    /// - Parameter keys: The keys of the terminal, of which q ends the scan; `nil` if keys are not read.
    init(_ processor: SightingProcessor, _ output: ScanOutput, _ keys: TerminalKeys?) {
        self.processor = processor
        self.output = output
        self.keys = keys
    }

    var nextWakeUp: HeardInstant? { processor.nextWakeUp }
    var isSatisfied: Bool { isEnded || Terminal.outputIsGone }

    func begin(at now: HeardInstant) { processor.begin(at: now) }

    /// Prints the events up to `now`.
    func advance(to now: HeardInstant) {
        while let event = processor.nextEvent(until: now) { output.show(event, processor.table) }
    }

    func receive(_ report: HeardReport, _ octets: Span<UInt8>, _ range: Range<Int>) {
        let trackIndex = processor.receive(report.sighting, octets, range)
        guard output.form == .reports else { return }
        output.show(report, range.map { octets[$0] }, trackIndex, processor.table)
    }

    /// Passes the state of the receiver to the processor. While the receiver fails, no beacon leaves.
    func change(_ state: ListeningState, at now: HeardInstant) {
        if state.isListening { processor.startListening(at: now) } else { processor.stopListening(at: now) }
        if hasListened, state != .off { output.show(state, at: now) }
        hasListened = hasListened || state.isListening
    }

    func handleIdle(at now: HeardInstant) {
        output.repaint(processor.table, at: now)
        output.flush()
        // This function is called for each report, so it checks the keys at most every 0.1 s.
        guard let keys, now >= nextKeyCheck else { return }
        nextKeyCheck = now.advanced(byMicroseconds: 100_000)
        isEnded = isEnded || keys.next().contains { $0 == UInt8(ascii: "q") || $0 == UInt8(ascii: "Q") }
    }

    func say(_ sentence: String, isWarning: Bool) { output.say(sentence, isWarning: isWarning) }

    /// Prints the remaining events.
    func finish(at now: HeardInstant) {
        advance(to: now)
        if let event = processor.finish(at: now) { output.show(event, processor.table) }
        output.finish(processor.table, at: now)
    }
}
