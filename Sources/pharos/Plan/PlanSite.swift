internal import Airtime
internal import ArgumentParser
internal import LinuxHost
internal import PlanReport
internal import Profiles
internal import Sites

struct PlanSite: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "site",
        abstract: "What is heard on a floor plan, its weakest spots, and where to put beacons.",
        discussion: "The format of site files: pharos plan site --schema, or the samples beside the beacon profiles.")

    @Argument(help: "A site in JSON, or - for standard input.")
    var file: String?

    @Option(
        parsing: .unconditional,
        help: ArgumentHelp("Places to look at, on a square grid (default: 2000).", valueName: "n"),
        transform: PlanValue.places)
    var places: Int = 2000

    @Flag(help: "Propose a placement even where beacons are given.")
    var propose = false

    @Flag(help: "Print the JSON Schema of site files, for editors.")
    var schema = false

    @OptionGroup var output: PlanOutput

    func validate() throws {
        guard schema || file != nil else { throw ValidationError("Name a site file, or ask for its --schema.") }
    }

    func run() throws {
        if schema { return Terminal.write(SiteSchema.text) }
        guard let file else { return }
        let octets = try InputFile.read(file, limit: 1 << 28)
        let name = file == "-" ? "standard input" : file
        let (site, problems) = Site.decode(octets)
        guard let site else {
            let isJSON = JSONDocument.parse(octets).problems.isEmpty
            let lines = problems.filter { $0.severity == .error }.map { $0.text(file: name) }
            throw Failure(isJSON ? .configuration : .dataFormat, lines.joined(separator: "\npharos: "))
        }
        for problem in problems { Terminal.writeError("pharos: \(problem.text(file: name))\n") }
        let question = SiteQuestion(site: site, places: places, proposes: propose || site.beacons.isEmpty)
        try question.answer(SiteProgress()).show(output)
    }
}

/// A line on a terminal while a large site is computed.
struct SiteProgress {
    private let isShown = Terminal.errorIsTerminal
    private let start = BootClock.nanoseconds()

    func report(_ done: Int, of total: Int) {
        guard isShown, done % 64 == 0, BootClock.nanoseconds() - start > 1_000_000_000 else { return }
        Terminal.writeError("\r\u{1B}[K\(done) of \(total) places")
    }

    func finish() {
        if isShown { Terminal.writeError("\r\u{1B}[K") }
    }
}

extension PlanValue {
    static func places(_ text: String) throws -> Int {
        let value = try OptionValue.integer(text)
        guard (1...100_000).contains(value) else { throw Mistake("\(value) is out of range 1...100000") }
        return value
    }
}
