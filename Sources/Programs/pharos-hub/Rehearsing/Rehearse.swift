internal import Airtime
internal import ArgumentParser
internal import CommandSupport
internal import Configuration
internal import LinuxHost
internal import Planner
internal import Positioning
internal import Rehearsal
internal import Sites

struct Rehearse: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "rehearse",
        abstract: "Rehearse a fleet on simulated air, and compare each value of its plan with the received value.",
        discussion: """
            pharos rehearse museum.json --site museum-site.json
            pharos rehearse museum-site.json --hours 2 --phones 20 --seed 7
            pharos rehearse museum.json --site museum-site.json --random-faults 3 --record heard
            pharos rehearse museum.json --site museum-site.json --faults faults.json --json >seed-1.json
            pharos rehearse --add seed-1.json seed-2.json

            All machines run the code of `pharos run` on virtual controllers. Phones stand at places of the floor and \
            walk along its paths; the receivers of the site listen. The report compares intervals, losses, silences, \
            levels, detection, telemetry and ephemeral ids with what the plan and the fleet promise. If a promise does \
            not hold, the report names the beacon and the reason, and the exit status is 1. Equal files, options and \
            seeds give equal results.

            A faults file has {"version": 1, "faults": [{"kind": "stops", "beacon": "hall-desk", "atS": 600}]} with \
            the kinds stops, interval, identity, clone, weak, deaf (names a "receiver"), broker-away and clock-jump.
            """)

    @Argument(
        help: ArgumentHelp(
            "A fleet file, the directory that `pharos fleet generate` wrote, or a site file that refers to a fleet. With --add: "
                + "the reports.",
            valueName: "file"), completion: .file())
    var files: [String] = []

    @Option(
        help: ArgumentHelp(
            "The site file of the floor: positions, walls, paths, receivers and target.", valueName: "file"),
        completion: .file())
    var site: String?

    @Option(
        parsing: .unconditional,
        help: ArgumentHelp("Simulated time, at most 240 h.", valueName: "h"),
        transform: { try RehearseValue.hours($0) })
    var hours: Double = 24

    @Option(
        help: ArgumentHelp("Number of phones at a time, 0...2000.", valueName: "number"),
        transform: { try OptionValue.integer($0, in: 0...Rehearsal.mostPhones) })
    var phones: Int = 100

    @Option(
        help: ArgumentHelp(
            "The phones' scanners with weights, such as android-low-power:6,continuous:1, or with percentages (default: those "
                + "of the site). See pharos plan scanners.", valueName: "name:weight,..."))
    var scanners: String?

    @Option(
        help: ArgumentHelp("File with scanners of your own, for --scanners.", valueName: "file"), completion: .file())
    var scannerFile: String?

    @Option(
        help: ArgumentHelp(
            "PHY on which the phones receive extended advertising: 1M or coded (default: none, legacy PDUs only, as apps on "
                + "phones do unless they ask for more; continuous receives all).", valueName: "phy"),
        completion: .list(ScannerPHY.allCases.map(\.rawValue)), transform: RehearseValue.scannerPHY)
    var scannerPhy: ScannerPHY?

    @Option(
        help: ArgumentHelp("Seed of all random numbers.", valueName: "number"),
        transform: { UInt64(try OptionValue.integer($0, in: 0...Int.max)) })
    var seed: UInt64 = 1

    @Option(help: ArgumentHelp("Plant the faults of this file.", valueName: "file"), completion: .file())
    var faults: String?

    @Option(
        help: ArgumentHelp("Plant this number of faults at random, 1...1000.", valueName: "number"),
        transform: { try OptionValue.integer($0, in: 1...1000) })
    var randomFaults: Int?

    @Option(
        help: ArgumentHelp(
            "Write what each receiver receives to RECEIVER.btsnoop in this directory, for pharos audit --replay.",
            valueName: "directory"), completion: .directory)
    var record: String?

    @Option(
        parsing: .unconditional,
        help: ArgumentHelp(
            "Capture: a packet is received if it is this many dB stronger than all packets that overlap it, 0...40.",
            valueName: "dB"),
        transform: { try OptionValue.number($0, in: 0...40, "dB") })
    var captureDb: Double = 12

    @Option(
        help: ArgumentHelp("Chip of the beacons, for the battery life. See pharos plan energy.", valueName: "name"),
        completion: .list(BeaconChip.all.map(\.name)), transform: RehearseValue.chip)
    var chip: BeaconChip?

    @Option(
        help: ArgumentHelp("Battery of the beacons, for the battery life.", valueName: "name"),
        completion: .list(BeaconBattery.all.map(\.name)), transform: RehearseValue.battery)
    var battery: BeaconBattery?

    @Option(
        parsing: .unconditional,
        help: ArgumentHelp(
            "Start of the part of the simulated time that --json and --html contain event by event.", valueName: "s"),
        transform: { try RehearseValue.seconds($0, in: 0...864_000) })
    var playFromS: Double?

    @Option(
        parsing: .unconditional,
        help: ArgumentHelp("Length of the part that begins at --play-from-s, at most 3600 s.", valueName: "s"),
        transform: { try RehearseValue.seconds($0, in: 1...3600) })
    var playS: Double?

    @Option(
        help: ArgumentHelp(
            "Write the report as one self-contained page to this file. The page replays the part that --play-from-s "
                + "and --play-s choose (default: a minute around the first planted fault, or the first minute).",
            valueName: "file"),
        completion: .file(), transform: OptionValue.page)
    var html: String?

    @Flag(help: "Print one JSON object with the report and all counts.")
    var json = false

    @Flag(help: "Add the reports of several seeds that --json has printed, and judge them together.")
    var add = false

    @Option(
        help: ArgumentHelp("Number of threads, 1...64 (default: one per processor).", valueName: "number"),
        transform: { try OptionValue.integer($0, in: 1...64) })
    var threads: Int?

    @Flag(help: "Print the JSON Schema of faults files, for editors.")
    var schema = false

    func validate() throws {
        if schema { return }
        if html == "-", json { throw ValidationError("Only one of --html and --json can go to standard output.") }
        try OutputFiles.refuseOverwriting([("--html", html)], read: files + [site, faults, scannerFile])
        if add {
            guard files.count > 1 else { throw ValidationError("--add needs two reports or more.") }
            guard site == nil, faults == nil, randomFaults == nil, record == nil, playFromS == nil, playS == nil else {
                throw ValidationError("--add reads reports: leave out the options of a rehearsal.")
            }
            return
        }
        guard files.count == 1 else {
            throw ValidationError(
                files.isEmpty ? "Name a fleet file." : "Name one fleet file; --add adds several reports.")
        }
        if scannerFile != nil, scanners == nil { throw ValidationError("--scanner-file needs --scanners.") }
        if scannerFile == nil, scanners != nil { _ = try mix() }
        if faults != nil, randomFaults != nil {
            throw ValidationError("Give --faults or --random-faults, not both.")
        }
        if (chip == nil) != (battery == nil) { throw ValidationError("--chip and --battery belong together.") }
        if files[0] == "-" || site == "-" || faults == "-" {
            throw ValidationError("A rehearsal reads several files and needs their names: - is not possible.")
        }
        if let playFromS, playFromS >= hours * 3600 {
            throw ValidationError("--play-from-s: the rehearsal ends before this time.")
        }
    }

    func run() throws {
        if schema { return Terminal.write(FaultsFile.schema) }
        // A rehearsal may take minutes, so check first that the page can be written.
        if let html, html != "-" { try NewFile.checkDirectory(of: html) }
        if add { return try addReports() }
        let fleet = try RehearsedFleet(file: files[0], siteFile: site)
        var options = Rehearsal.Options()
        options.hours = hours
        options.phones = phones
        options.scanners = try scanners.map { _ in try mix() }
        options.scannerPHY = scannerPhy
        options.seed = seed
        options.faults = try plantedFaults(fleet)
        if playFromS != nil || playS != nil || html != nil {
            let fault = html == nil ? nil : options.faults.map(\.atS).min()
            let from = playFromS ?? fault.map { max(0, $0 - 30) } ?? 0
            options.playbackRange = from...min(hours * 3600, from + (playS ?? 60))
        }
        options.recordDirectory = record
        options.captureDecibels = captureDb
        if let chip, let battery { options.battery = (chip, battery) }
        if let threads { options.threads = threads }
        options.arguments = arguments
        let rehearsal = try Rehearsal(fleet, options)
        if let record {
            do throws(SystemError) {
                if !Files.isDirectory(record) { try Files.makeDirectory(record) }
            } catch {
                throw Failure(.osError, "--record \(record): \(error.text)")
            }
        }
        let progressLine = ProgressLine()
        defer { progressLine.finish() }
        let result = try rehearsal.run(version: CommandProgram.version) { share in
            progressLine.report(Int(share * 1000), of: 1000, "parts of the time")
            return true
        }
        guard let result else { return }
        var report = result.report
        // The page also shows the picture of the floor.
        if html != nil, let siteFile = fleet.siteFile { report.site?.picture = try MapFile.drawnSite(siteFile).picture }
        try show(report)
    }

    /// The arguments of this command except the seed and the outputs, with which the same run can be started again.
    private var arguments: String {
        var words = [files[0]]
        func add(_ name: String, _ value: String?) {
            if let value { words += ["--\(name)", value] }
        }
        add("site", site)
        add("hours", RehearseValue.text(hours))
        add("phones", "\(phones)")
        add("scanners", scanners)
        add("scanner-file", scannerFile)
        add("scanner-phy", scannerPhy?.rawValue)
        add("faults", faults)
        add("random-faults", randomFaults.map { "\($0)" })
        if captureDb != 12 { add("capture-db", RehearseValue.text(captureDb)) }
        add("chip", chip?.name)
        add("battery", battery?.name)
        return words.joined(separator: " ")
    }

    private func mix() throws -> ScannerMix {
        var ownScanners: [ScannerPreset] = []
        if let scannerFile {
            let (decoded, problems) = ScannerFile.decode(try InputFile.read(scannerFile))
            guard let decoded else { throw Failure(problems, of: scannerFile) }
            ownScanners = decoded
        }
        do {
            return try ScannerText.mix(scanners ?? "", own: ownScanners)
        } catch let mistake as Mistake {
            throw ValidationError("--scanners \(scanners ?? ""): \(mistake)")
        }
    }

    private func plantedFaults(_ fleet: RehearsedFleet) throws -> [RehearsalFault] {
        if let randomFaults {
            return RehearsalFault.random(randomFaults, in: fleet, hours: hours, seed: seed)
        }
        guard let faults else { return [] }
        let (decoded, problems) = FaultsFile.decode(try InputFile.read(faults), for: fleet, hours: hours)
        guard let decoded else { throw Failure(problems, of: faults) }
        return decoded
    }

    private func addReports() throws {
        var sum: RehearsalTallies?
        for file in files {
            let tallies = try RehearsalTallies(report: try InputFile.read(file, limit: 1 << 29), file: file)
            guard sum != nil else {
                sum = tallies
                continue
            }
            do throws(RehearsalError) {
                try sum?.add(tallies)
            } catch {
                throw RehearsalError(error.kind, error.messages.map { "\(file): \($0)" })
            }
        }
        guard let sum else { return }
        try show(RehearsalReport(sum, version: CommandProgram.version, site: nil))
    }

    private func show(_ report: RehearsalReport) throws {
        // Print the report first, so that it is not lost if the page cannot be written.
        if json {
            Terminal.write(report.json.line + "\n")
        } else if html != "-" {
            Terminal.show(report.text)
        }
        if let html {
            try MapFile.write(RehearsalPage(report).html, to: html)
            if !json, html != "-" { Terminal.writeLine("page written: \(TerminalText.line(html))") }
        }
        guard !report.holds else { return }
        if !json, html != "-" { Terminal.write("replay: pharos \(report.version) \(report.replay)\n") }
        throw Failure(.failure)
    }
}

/// Parses the values of options of a rehearsal.
private enum RehearseValue {
    /// Parses a simulated time such as `24`, `90 min` or `2h`; returns hours. A number without a unit is in hours.
    static func hours(_ text: String) throws -> Double {
        let isPlain = Double(OptionValue.plainSpaces(text)) != nil
        let (digits, unit) = OptionValue.timeSpan(text)
        guard let number = Double(digits), number > 0 else {
            throw Mistake("write a number of hours above 0, such as 24" + OptionValue.plainNumberAdvice(text))
        }
        let hours = isPlain ? number : number * Double(unit) / 3_600_000
        guard hours >= 0.01, hours <= Rehearsal.longestHours else {
            throw Mistake("it is out of range 0.01...240 h")
        }
        return hours
    }

    /// Parses a time such as `90`, `90s` or `1.5 min`; returns seconds.
    static func seconds(_ text: String, in range: ClosedRange<Double>) throws -> Double {
        let seconds = Double(try OptionValue.duration(text)) / 1_000_000
        guard range.contains(seconds) else {
            throw Mistake("\(text) is out of range \(Self.text(range.lowerBound))...\(Self.text(range.upperBound)) s")
        }
        return seconds
    }

    /// Returns a number as text, without a decimal point if it is whole.
    static func text(_ number: Double) -> String { Int(exactly: number).map { "\($0)" } ?? "\(number)" }

    static func scannerPHY(_ text: String) throws -> ScannerPHY {
        guard let phy = ScannerPHY(rawValue: text) else { throw Mistake("use 1M or coded") }
        return phy
    }

    static func chip(_ text: String) throws -> BeaconChip {
        guard let chip = BeaconChip.named(text) else {
            throw OptionValue.unknown(text, BeaconChip.all.map(\.name))
        }
        return chip
    }

    static func battery(_ text: String) throws -> BeaconBattery {
        guard let battery = BeaconBattery.named(text) else {
            throw OptionValue.unknown(text, BeaconBattery.all.map(\.name))
        }
        return battery
    }
}
