internal import Airtime
internal import ArgumentParser
internal import BluetoothTypes
internal import CommandSupport
internal import Configuration
internal import Fleet
internal import FleetStore
internal import LinuxHost
internal import Planner
internal import Sites

struct PlanSite: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "site",
        abstract: "Show coverage and weak spots of a floor plan, and where to add beacons.",
        discussion: """
            The format of site files: pharos plan site --schema, or the shipped samples. --scanner, --scanners and the \
            scan options replace the scanner of the file.
            """)

    @Argument(help: "Site file (JSON), or - for standard input.", completion: .file())
    var file: String?

    @Option(
        parsing: .unconditional,
        help: ArgumentHelp(
            "Approximate number of places to compute, on a square grid (default: 2000).", valueName: "n"),
        transform: PlanValue.places)
    var places: Int = 2000

    @Flag(help: "Propose the fewest additional beacons that reach the target.")
    var propose = false

    @Flag(help: "Propose a placement that ignores the existing beacons.")
    var fromScratch = false

    @Option(
        help: ArgumentHelp("Write the site with the proposed beacons to this file.", valueName: "file"),
        completion: .file())
    var writeSite: String?

    @Option(
        help: ArgumentHelp("Write a fleet of the proposed beacons to this file.", valueName: "file"),
        completion: .file())
    var writeFleet: String?

    @Option(
        parsing: .unconditional,
        help: ArgumentHelp(
            "Number of beacons that a receiver at each place must find (default: the target of the file, or 1).",
            valueName: "n"),
        transform: { try OptionValue.integer($0, in: SiteCoverage.Target.beaconRange) })
    var targetBeacons: Int?

    @OptionGroup var receiver: PlanScannerOptions
    @OptionGroup var replaceOption: ReplaceOption

    @Flag(help: "Print the JSON Schema of site files, for editors.")
    var schema = false

    @OptionGroup var output: PlanOutput

    func validate() throws {
        guard schema || file != nil else { throw ValidationError("Give a site file, or --schema.") }
        if fromScratch, !propose { throw ValidationError("--from-scratch needs --propose.") }
        if replaceOption.force, writeSite == nil, writeFleet == nil {
            throw ValidationError("--force needs --write-site or --write-fleet.")
        }
        for (option, path) in [("--write-site", writeSite), ("--write-fleet", writeFleet)] where path == "-" {
            throw ValidationError("\(option) needs a file name; the answer goes to standard output.")
        }
        try OutputFiles.refuseOverwriting(
            [("--write-site", writeSite), ("--write-fleet", writeFleet), ("--html", output.html)],
            read: [file, receiver.scannerFile])
    }

    func run() throws {
        if schema { return Terminal.write(Site.schema) }
        guard let file else { return }
        // Refuse existing files before the computation, which may take long.
        for path in [writeSite, writeFleet].compactMap(\.self) where !replaceOption.force && Files.exists(path) {
            throw Failure(.usage, "\(path): this file exists; choose another name, or use --force")
        }
        let octets = try InputFile.read(file, limit: Self.sizeLimit)
        let name = Files.inputName(file)
        let (decoded, faults) = Site.decode(octets)
        guard var site = decoded else {
            throw Failure(faults, of: file)
        }
        if receiver.isGiven { site.scanners = try receiver.mix }
        if let targetBeacons {
            site.target = try SiteCoverage.Target(
                seconds: site.target.seconds, probability: site.target.probability, beacons: targetBeacons)
        }
        var problems = faults
        let (fleet, warnings) = try SiteCompanions.fillFleet(of: &site, file)
        problems += warnings
        if output.html != nil { try SiteCompanions.readPicture(of: &site, file) }
        for line in FileProblem.lines(problems, file: name) { Terminal.writeMessage(line) }
        let proposal: SiteQuestion.Proposal? =
            propose || site.beacons.isEmpty ? (fromScratch ? .fromScratch : .addition) : nil
        if proposal == nil, let option = [writeSite, writeFleet].compactMap(\.self).first {
            throw ValidationError("There is nothing to write to \(option): add --propose.")
        }
        let question = SiteQuestion(
            site: site, fleet: fleet, places: places, proposal: proposal, drawsControls: output.html != nil)
        let watch = try PlanWatch(callsPerCheck: 16)
        let finding = try question.finding { progress in watch.report { progress } }
        watch.finish()
        if let writeSite {
            let picture = site.picture.map { SitePath.relative($0.path(ofSite: file), toFile: writeSite) }
            try write(writeSite, finding.proposed) { try $0.siteFile(from: octets, picture: picture) }
            for part in site.scanners.parts
            where part.scanner.losesTime && !ScannerPreset.all.contains(part.scanner) {
                Terminal.writeMessage(
                    "warning: \(writeSite): a site file cannot contain a window gap or dead time, so those of "
                        + "\(TerminalText.line(part.scanner.name)) are left out: use the file with --scanner-file")
            }
        }
        if let writeFleet {
            var generator = SystemRandomNumberGenerator()
            let uuid = FixedOctets<16>.randomUUID(using: &generator)
            try write(writeFleet, finding.proposed) { $0.fleetFile(uuid: uuid.uuidText) }
        }
        try output.show(finding.answer)
    }

    private func write(
        _ path: String, _ proposed: ProposedSite?, _ text: (ProposedSite) throws -> String
    ) throws {
        guard let proposed else {
            return Terminal.writeMessage("\(path) was not written: no beacons are proposed")
        }
        try replaceOption.write(text(proposed), to: path)
    }

    /// The largest size of a site file, in bytes: 32 MiB, which is enough for the largest site. Reading a larger file
    /// would take gigabytes of memory.
    static let sizeLimit = 1 << 25
}
