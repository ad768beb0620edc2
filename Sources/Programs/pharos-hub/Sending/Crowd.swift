internal import Advertiser
internal import Airtime
internal import ArgumentParser
internal import BeaconService
internal import BluetoothTypes
internal import CommandSupport
internal import Configuration
internal import LinuxHost
internal import Listener
internal import VirtualController

struct Crowd: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "crowd", abstract: "Send many beacons in turn from one radio, to test receivers.",
        discussion: """
            pharos crowd --identities 300 --adapter hci0
            pharos crowd museum.json --adapter hci0 --dwell-ms 500
            pharos crowd --identities 20 --adapter virtual --duration-s 5

            Each identity has a static random address of its own. A controller with extended advertising sends as many \
            identities at the same time as it has advertising sets. Any other controller sends one identity after the \
            other. Without --dwell-ms, each identity stays on the air for the shortest possible time, in which it \
            sends at least one advertising event. This is one advertising interval and the largest random delay: \
            together 110 ms on controllers before Bluetooth 5.0, and 30 ms on later controllers. A crowd tests how \
            many beacons a receiver can keep apart; it does not imitate their density on the air.
            """)

    @Argument(
        help: ArgumentHelp(
            "Profiles, fleets, or outputs of `pharos fleet generate` whose beacons are sent. Advertisements that change, "
                + "such as Eddystone-TLM, are left out.", valueName: "files"), completion: .file())
    var files: [String] = []

    @Option(
        parsing: .unconditional,
        help: ArgumentHelp("Number of identities to generate, 1...\(GeneratedCrowd.largest).", valueName: "n"),
        transform: { try OptionValue.integer($0, in: 1...GeneratedCrowd.largest) })
    var identities: Int?

    @Option(
        help: ArgumentHelp(
            "Format of the generated identities: ibeacon, altbeacon or uid (default: ibeacon).", valueName: "format"),
        completion: .list(CrowdFormat.allCases.map(\.rawValue)), transform: OptionValue.named)
    var format: CrowdFormat?

    @Option(
        help: ArgumentHelp(
            "UUID of the generated iBeacons, and the first 16 bytes of the AltBeacon ids (default: from --seed).",
            valueName: "uuid"), transform: OptionValue.uuid)
    var uuid: FixedOctets<16>?

    @Option(
        help: ArgumentHelp("Namespace of the generated Eddystone-UIDs (default: from --seed).", valueName: "hex"),
        transform: OptionValue.namespace)
    var namespace: FixedOctets<10>?

    @Option(
        help: ArgumentHelp(
            "Text that determines the generated addresses (default: \(GeneratedCrowd.defaultSeed)). Give each radio in a room "
                + "its own text.",
            valueName: "text"))
    var seed = GeneratedCrowd.defaultSeed

    @Option(name: .shortAndLong, help: .hciAdapter, completion: .adapters, transform: OptionValue.adapter)
    var adapter: AdapterName?

    @Option(
        parsing: .unconditional,
        help: ArgumentHelp(
            "How long each identity stays on the air: 500, 500ms or 2s (default: as short as possible).",
            valueName: "ms"),
        transform: Self.milliseconds)
    var dwellMs: Int?

    @Option(
        help: ArgumentHelp(
            "Advertising interval: 100, 152.5, 100ms or 1.28s (default: the shortest of the controller).",
            valueName: "ms"),
        transform: OptionValue.interval)
    var intervalMs: RequestedInterval?

    @Option(
        parsing: .unconditional,
        help: ArgumentHelp(
            "Stop after this many seconds. This should be long enough for one turn of each identity.",
            valueName: "seconds"),
        transform: OptionValue.duration)
    var durationS: Int?

    @Option(
        help: ArgumentHelp(
            "Warn if this scanner can miss an identity's turn on the air; see pharos plan scanners.", valueName: "name"),
        completion: .list(ScannerPreset.all.map(\.name)), transform: Self.scanner)
    var scanner: ScannerPreset?

    @Option(
        parsing: .unconditional,
        help: ArgumentHelp("Scan window of a scanner that `pharos plan scanners` does not list.", valueName: "ms"),
        transform: Self.scanTime)
    var scanWindowMs: Int?

    @Option(
        parsing: .unconditional,
        help: ArgumentHelp("Scan interval of a scanner that `pharos plan scanners` does not list.", valueName: "ms"),
        transform: Self.scanTime)
    var scanIntervalMs: Int?

    @Option(
        help: ArgumentHelp(
            "Controller that the virtual adapter imitates: \(OptionValue.modelNames) (default: raspberry-pi).",
            valueName: "model"), completion: .models, transform: OptionValue.model)
    var like: VirtualControllerModel = .raspberryPi

    @Flag(help: "Print one line of JSON at the start, every 10 s, and at the end.")
    var json = false

    func validate() throws {
        if files.isEmpty && identities == nil {
            throw ValidationError("Give the number of --identities, or a file with beacons.")
        }
        if !files.isEmpty && identities != nil {
            throw ValidationError("Give --identities or files, not both: a file says how many beacons it has.")
        }
        if !files.isEmpty && (format != nil || uuid != nil || namespace != nil) {
            throw ValidationError("--format, --uuid and --namespace are for generated identities: give --identities.")
        }
        if uuid != nil && format == .eddystoneUID {
            throw ValidationError("--uuid is for ibeacon and altbeacon; --format uid has a --namespace.")
        }
        if namespace != nil && format != .eddystoneUID { throw ValidationError("--namespace needs --format uid.") }
        if scanner != nil && (scanWindowMs != nil || scanIntervalMs != nil) {
            throw ValidationError("Give --scanner, or --scan-window-ms with --scan-interval-ms.")
        }
        guard (scanWindowMs == nil) == (scanIntervalMs == nil) else {
            throw ValidationError("--scan-window-ms and --scan-interval-ms belong together.")
        }
        if let window = scanWindowMs, let interval = scanIntervalMs, window > interval {
            throw ValidationError("--scan-window-ms is longer than --scan-interval-ms.")
        }
    }

    func run() throws {
        var options = CrowdRun.Options(adapter: adapter, identities: try crowd())
        options.interval = intervalMs?.interval
        options.dwellMicroseconds = dwellMs
        options.durationMicroseconds = durationS
        options.model = like
        do {
            let run = try CrowdRun(options)
            let output = CrowdOutput(json: json)
            output.begin(run.facts, reception(run.facts))
            if let warning = try durationS.flatMap({ try run.facts.check($0) }) {
                Terminal.writeMessage("warning: " + warning)
            }
            output.end(try run.run(every: output.progressInterval, output.progress))
        } catch BeaconServiceError.advertising(.impossible(let reason)) {
            // The options request something that this controller cannot do.
            throw Failure(.usage, reason)
        }
    }

    private func crowd() throws -> [CrowdIdentity] {
        guard let count = identities else { return try describedIdentities() }
        var crowd = GeneratedCrowd(count: count)
        crowd.format = format ?? .iBeacon
        (crowd.uuid, crowd.namespace, crowd.seed) = (uuid, namespace, seed)
        return crowd.identities
    }

    /// Returns the identities of the beacons that the files describe.
    private func describedIdentities() throws -> [CrowdIdentity] {
        let known = try KnownBeacons(files)
        for warning in known.warnings { Terminal.writeMessage(warning) }
        var crowd = DescribedCrowd(seed: seed)
        for beacon in try known.virtualBeacons.advertisements() { crowd.add(beacon.name, beacon.advertisements) }
        if crowd.changingCount > 0 {
            let count = crowd.changingCount
            Terminal.writeMessage(
                "\(count) advertisement\(count == 1 ? " is" : "s are") left out, because the content changes while it is on "
                    + "the air")
        }
        guard !crowd.identities.isEmpty else {
            throw Failure(
                .configuration,
                "\(files.joined(separator: ", ")): no advertisement has a fixed content that a crowd can send")
        }
        return crowd.identities
    }

    /// Returns the expected reception of the crowd by the scanner of the options; `nil` if no scanner is given.
    private func reception(_ facts: CrowdFacts) -> CrowdFacts.Reception? {
        if let scanner {
            return facts.reception(
                window: scanner.pattern.windowMicroseconds, scanInterval: scanner.pattern.intervalMicroseconds)
        }
        guard let scanWindowMs, let scanIntervalMs else { return nil }
        return facts.reception(window: scanWindowMs, scanInterval: scanIntervalMs)
    }

    // MARK: Values

    private static func scanner(_ text: String) throws -> ScannerPreset {
        guard let preset = ScannerPreset(named: text.lowercased()) else {
            throw Mistake("use one of " + ScannerPreset.all.map(\.name).joined(separator: ", "))
        }
        return preset
    }

    /// Parses a time such as `500`, `500ms` or `2s`, where a number without a unit is in milliseconds; returns
    /// microseconds.
    private static func milliseconds(_ text: String) throws -> Int {
        guard let microseconds = OptionValue.microseconds(ofMilliseconds: text),
            (1...86_400_000_000).contains(microseconds)
        else {
            throw Mistake("write milliseconds such as 500, or with a unit: 500ms, 2s; at most a day")
        }
        return microseconds
    }

    private static func scanTime(_ text: String) throws -> Int {
        guard let microseconds = OptionValue.microseconds(ofMilliseconds: text),
            (2500...40_959_375).contains(microseconds)
        else {
            throw Mistake("write milliseconds in the range 2.5...40959.375, such as 512")
        }
        return microseconds
    }
}

/// Prints the progress of a crowd: as an updated view on a terminal, as lines to a file or pipe, or as JSON.
final class CrowdOutput {
    private let json: Bool
    private let isLive: Bool
    private var block = LiveBlock()

    init(json: Bool) {
        self.json = json
        isLive = !json && Terminal.canRedraw
    }

    /// The time between two calls of ``progress(_:)``, in microseconds.
    var progressInterval: Int { isLive ? 500_000 : 10_000_000 }

    func begin(_ facts: CrowdFacts, _ reception: CrowdFacts.Reception?) {
        Terminal.show(facts.lines.joined(separator: "\n") + "\n", or: facts.json(reception), asJSON: json)
        guard let reception else { return }
        if reception.share < 1 {
            Terminal.writeMessage("warning: " + reception.sentence)
        } else if !json {
            Terminal.show(reception.sentence + "\n")
        }
    }

    func progress(_ report: CrowdReport) {
        // Do not wait for a stopped terminal, because that would delay the crowd.
        guard Terminal.takesOutput() else { return }
        if json {
            Terminal.write(report.json(isLast: false).line + "\n")
        } else if isLive {
            let width = Terminal.columns
            block.draw(report.lines.map { $0.count > width ? String($0.prefix(max(0, width - 1))) + "…" : $0 })
        } else {
            Terminal.show(report.lines.joined(separator: "\n") + "\n")
        }
    }

    func end(_ report: CrowdReport) {
        guard Terminal.takesOutput(within: 1000) else { return }
        Terminal.show(
            "off the air after " + report.lines.joined(separator: "\n") + "\n", or: report.json(isLast: true),
            asJSON: json)
    }
}
