internal import ArgumentParser
internal import Auditing
internal import BluetoothTypes
internal import CommandSupport
internal import Configuration
internal import FleetStore
internal import LinuxHost
internal import Listener
internal import Planner
internal import Sites

struct Audit: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "audit", abstract: "Compare what is received with what should be sent.",
        discussion: """
            pharos audit lobby.json
            pharos audit museum.json --adapter hci0 --adapter hci1 --html audit.html
            pharos audit museum.json --replay hall.btsnoop --replay stairs.btsnoop --json
            pharos audit museum.json --walk --group museum/ground

            Listens for 30 s, or for 60 times the longest advertising interval if that is longer. Exits with 1 if an \
            advertisement has one of these verdicts: silent, wrong-octets, wrong-address, wrong-interval, wrong-phy, \
            weak, obstructed, long-silence, telemetry, low-battery, cloned, impostor. The verdict ok and warnings \
            (stranger, not-in-range, unjudged, truncated) do not change the exit code. The exit code is also 1 if \
            advertisements could be judged but none was. Reports that a receiver lost never count against a beacon.

            With --walk, carry the receiver past the beacons and press Ctrl-C at the end: each beacon must be received \
            at least once with the right bytes, and with the right interval if enough was received to measure it.

            With --replay and a site file (--site), recordings that are named after receivers of the file, such as \
            hall.btsnoop, are compared with the levels of the plan. A beacon is weak if shadowing cannot explain its \
            low level. It is obstructed if only one receiver receives it too weakly, so that there must be an obstacle \
            between the two. A silent beacon is not-in-range if the plan expects it out of range of the receivers.

            A listener's history (--history) and messages (--mqtt) cannot be audited: they contain events, not the \
            bytes, addresses and times that an audit needs. `pharos scan --record FILE` records them for --replay.
            """)

    @Argument(
        help: ArgumentHelp(
            "Profiles, fleets, or the output of `pharos fleet generate`.", valueName: "file"), completion: .file())
    var files: [String]

    @Option(
        name: .shortAndLong, parsing: .singleValue,
        help: ArgumentHelp(
            "hci0, hci0:user, tcp:HOST:PORT, unix:PATH, serial:PATH@RATE or virtual. May be repeated.",
            valueName: "name"),
        completion: .adapters, transform: OptionValue.adapter)
    var adapter: [AdapterName] = []

    @Option(
        parsing: .singleValue,
        help: ArgumentHelp(
            "Read a btsnoop, pcap or pcapng file, or - for standard input. May be repeated.", valueName: "file"),
        completion: .file())
    var replay: [String] = []

    @Option(parsing: .singleValue, help: .hidden)
    var history: [String] = []

    @Option(parsing: .singleValue, help: .hidden)
    var mqtt: [String] = []

    @Option(
        parsing: .unconditional, help: ArgumentHelp("Listen for this many seconds.", valueName: "seconds"),
        transform: OptionValue.duration)
    var durationS: Int?

    @Flag(
        help: """
            Walk past the beacons: judge whether each was received, with the right bytes, and at the right interval \
            if it was received often enough. Listens until Ctrl-C, or for --duration-s.
            """)
    var walk = false

    @Option(
        help: ArgumentHelp(
            """
            Audit only the beacons of the site with this name. With a site file instead of a name, the receivers are \
            on the floor of this file, and beacons of other floors need not be received.
            """, valueName: "name or file"), completion: .file())
    var site: String?

    @Option(
        parsing: .singleValue,
        help: ArgumentHelp(
            "Audit only beacons of this group, such as museum/ground. May be repeated.", valueName: "path"))
    var group: [String] = []

    @Option(help: ArgumentHelp("Voltage below which a battery is low, 1000...6000.", valueName: "mV"))
    var lowBatteryMv = 2400

    @Option(
        parsing: .unconditional,
        help: ArgumentHelp(
            "Run this program for each verdict except ok, with the advertisement as JSON on standard input, and with "
                + "PHAROS_BEACON, PHAROS_VERDICT and PHAROS_REASON in its environment.", valueName: "program"),
        completion: .file())
    var hook: String?

    @Option(help: ArgumentHelp("The floor of the receivers, with its name in the fleet.", valueName: "name"))
    var floor: String?

    @Flag(help: "Print one JSON object.")
    var json = false

    @Option(
        help: ArgumentHelp("Also write a web page with the report to this file.", valueName: "file"),
        completion: .file(), transform: OptionValue.page)
    var html: String?

    func validate() throws {
        if let option = history.isEmpty ? mqtt.isEmpty ? nil : "--mqtt" : "--history" {
            throw ValidationError(
                "\(option): listeners do not store the bytes, addresses and times of advertisements, which an audit "
                    + "needs. Record with `pharos scan --record FILE`, and use --replay.")
        }
        if !replay.isEmpty && (!adapter.isEmpty || durationS != nil) {
            throw ValidationError("--replay reads a file: leave out --adapter and --duration-s.")
        }
        if files.count(where: { $0 == "-" }) + replay.count(where: { $0 == "-" }) > 1 {
            throw ValidationError("Standard input can be read only once.")
        }
        if durationS == 0 { throw ValidationError("--duration-s must be more than 0.") }
        try OptionValue.check("--low-battery-mv", lowBatteryMv, in: 1000...6000)
        if html == "-" { throw ValidationError("--html needs a file name; the verdicts go to standard output.") }
        try OutputFiles.refuseOverwriting([("--html", html)], read: files + replay + [site])
        for case .managed(let index) in adapter {
            throw ValidationError(
                "The kernel drops repeated reports on hci\(index):mgmt, so none can be counted: use hci\(index).")
        }
    }

    func run() throws {
        let isNamedSite = site.map { !$0.hasSuffix(".json") && $0 != "-" && !Files.exists($0) } ?? false
        let files = try AuditedFiles(
            files, selection: BeaconSelection(sites: isNamedSite ? [site ?? ""] : [], groups: group))
        for warning in files.warnings { Terminal.writeMessage(warning) }
        let place = try place(of: files, siteFile: isNamedSite ? nil : site)
        let hook = hook.flatMap { Self.usable($0) }
        var auditor =
            replay.isEmpty
            ? try listen(files)
            : try AuditRun.replay(files, recordings: replay) { Terminal.writeMessage($0) }
        var model = SilenceModel()
        auditor.lowBatteryMillivolts = lowBatteryMv
        if let site, !isNamedSite { auditor.expectedLevels = try levels(site, files) }
        let report = auditor.report(at: place, isWalk: walk, &model)
        // Print the result first, so that it is not lost if the page cannot be written.
        Terminal.show(report.text, or: report.json, asJSON: json)
        if let hook { Self.run(hook, report) }
        if let html {
            let page = report.page(title: pageTitle, command: CommandProgram.commandLine)
            try PageFile.write(page.html, to: html)
            if !json { Terminal.writeLine("page written: \(html)") }
        }
        if !report.isGood { throw Failure(.failure) }
    }

    /// The title of the page: the names of the files without directories and `.json`, or their number if there are more
    /// than three.
    private var pageTitle: String {
        let names = files.map(InputFile.stem)
        return names.count > 3 ? "Audit of \(names.count) files" : "Audit of \(names.joined(separator: ", "))"
    }

    private func listen(_ files: AuditedFiles) throws -> Auditor {
        let progressLine = ProgressLine()
        defer { progressLine.finish() }
        let start = MonotonicClock.nanoseconds()
        return try AuditRun.listen(files, adapters: adapter, duration: durationS, isWalk: walk) { progress in
            progressLine.report {
                "listening for \((MonotonicClock.nanoseconds() - start) / 1_000_000_000) s: \(progress.heard) of "
                    + "\(progress.expected) advertisements received, \(progress.reports) reports"
            }
        } say: { sentence, isWarning in
            if isWarning || !Terminal.errorIsTerminal { Terminal.writeMessage(sentence) }
        }
    }

    /// Returns the place of the receivers; `nil` if none is given. Throws an error if the files have no beacon at the
    /// place, because then no beacon could be checked.
    private func place(of files: AuditedFiles, siteFile: String?) throws -> AuditPlace? {
        guard let place = try namedPlace(siteFile) else { return nil }
        let groupsWithFloor = files.beacons.map(\.group).filter { $0.count > 1 }
        if let floor, !groupsWithFloor.contains(where: { $0[1] == floor }) {
            let floors = Set(groupsWithFloor.map { TerminalText.line($0[1]) }).sorted()
            throw Failure(
                .usage,
                "--floor \(TerminalText.line(floor)): no beacon is on that floor; "
                    + (floors.isEmpty
                        ? "the files name no floors: leave out --floor"
                        : "the floors are \(floors.joined(separator: ", "))"))
        }
        if !files.beacons.contains(where: { place.contains($0.group) }) {
            throw Failure(
                .configuration,
                (siteFile ?? "--floor") + ": no beacon of \(self.files.joined(separator: ", ")) is at that place")
        }
        return place
    }

    /// Returns the place that the site file and --floor name; `nil` if neither is given.
    private func namedPlace(_ site: String?) throws -> AuditPlace? {
        guard let site else { return floor.map { AuditPlace(site: nil, floor: $0) } }
        let (decoded, faults) = Site.decode(try InputFile.read(site))
        guard let decoded else { throw Failure(faults, of: site) }
        return AuditPlace(
            site: decoded.fleet?.site ?? (decoded.fleet == nil ? decoded.name : nil),
            floor: floor ?? decoded.fleet?.floor)
    }

    /// Returns the levels that a site file predicts at the receivers. A recording such as hall.btsnoop belongs to the
    /// receiver `hall`. Returns `nil` if the site file names none of the receivers.
    private func levels(_ file: String, _ files: AuditedFiles) throws -> ExpectedLevels? {
        let decoded = Site.decode(try InputFile.read(file)).site
        guard var floor = decoded, !replay.isEmpty else { return nil }
        let names = replay.map { String(($0.split(separator: "/").last ?? "").prefix { $0 != "." }) }
        let positions = names.map { name in floor.receivers.first { $0.name == name }?.position }
        // Several recordings of one receiver have the same shadowing, so only the first of them counts.
        var seen: Set<String> = []
        let isFirst = names.map { seen.insert($0).inserted }
        guard positions.contains(where: { $0 != nil }) else { return nil }
        _ = try SiteCompanions.fillFleet(of: &floor, file)
        let model = SiteModel(beacons: floor.beacons, walls: floor.walls, radio: floor.radio)
        var levels: [String: [Double?]] = [:]
        var reach: [String: Double] = [:]
        for (index, beacon) in floor.beacons.enumerated() {
            let links = positions.map { $0.map { model.link(index, at: $0) } }
            levels[beacon.name] = links.map { $0?.power }
            if links.allSatisfy({ $0 != nil }) {
                let audible = zip(links, isFirst).map { link, isFirst in isFirst ? link?.audible ?? 0 : 0 }
                reach[beacon.name] = 1 - audible.reduce(1) { $0 * (1 - $1) }
            }
        }
        return ExpectedLevels(levels, shadowing: floor.radio.shadowing, reach: reach)
    }

    /// The longest time for which a hook may run, in nanoseconds.
    private static let hookNanoseconds: UInt64 = 10_000_000_000

    /// Returns the program of --hook. If it cannot be run, prints a warning and returns `nil`, because the audit works
    /// without it. A name without a slash is searched in PATH.
    private static func usable(_ hook: String) -> String? {
        if !hook.contains("/") || Files.isExecutable(hook) { return hook }
        warn(hook, Files.exists(hook) ? "this is not a program that this user may run" : "there is no such program")
        return nil
    }

    /// Runs the program once for each verdict except ok, which has no reason. A failure of the program is only
    /// reported.
    private static func run(_ hook: String, _ report: AuditReport) {
        for audit in report.advertisements {
            for (verdict, reason) in zip(audit.verdicts, audit.reasons) {
                do throws(SystemError) {
                    let child = try ChildProcess(
                        [hook], octets: Array((audit.json.line + "\n").utf8),
                        environment: [
                            "PHAROS_BEACON=\(audit.beacon)", "PHAROS_VERDICT=\(verdict.rawValue)",
                            "PHAROS_REASON=\(reason)",
                        ])
                    let code = child.wait(until: MonotonicClock.nanoseconds() + hookNanoseconds)
                    if code != 0 { warn(hook, "it ended with \(code)") }
                } catch {
                    // The program would not start for the other verdicts either.
                    return warn(hook, error.text)
                }
            }
        }
    }

    private static func warn(_ hook: String, _ text: String) {
        Terminal.writeError("pharos: --hook \(TerminalText.line(hook)): \(text)\n")
    }
}
