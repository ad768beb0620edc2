internal import Airtime
internal import ArgumentParser
internal import Configuration
internal import LinuxHost
internal import PlanReport
internal import Sites

struct PlanSite: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "site",
        abstract: "What is heard on a floor plan, its weakest spots, and where to put beacons.",
        discussion: "The format of site files: pharos plan site --schema, or the samples beside the beacon profiles.")

    @Argument(help: "A site in JSON, or - for standard input.", completion: .file())
    var file: String?

    @Option(
        parsing: .unconditional,
        help: ArgumentHelp("Look at about so many places, on a square grid (default: 2000).", valueName: "n"),
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
        let octets = try InputFile.read(file, limit: Self.sizeLimit)
        let name = file == "-" ? "standard input" : file
        let (decoded, faults) = Site.decode(octets)
        guard var site = decoded else {
            let isJSON = JSONDocument.parse(octets).problems.isEmpty
            let lines = Self.lines(faults.filter { $0.severity == .error }, file: name)
            throw Failure(isJSON ? .configuration : .dataFormat, lines)
        }
        var problems = faults
        var fleet: SiteFleet?
        if let reference = site.fleet {
            let own = SiteFleet(reference, file: file)
            problems += try own.place(on: &site, name: name)
            fleet = own
        }
        for line in Self.lines(problems, file: name) { Terminal.writeError("pharos: \(line)\n") }
        let question = SiteQuestion(
            site: site, fleet: fleet, places: places, proposes: propose || site.beacons.isEmpty)
        try question.answer(SiteProgress()).show(output)
    }

    /// Enough for the largest site; a tree of more takes memory by the gigabyte.
    private static let sizeLimit = 1 << 25

    /// Nobody reads more problems than these.
    private static func lines(_ problems: [FileProblem], file: String) -> [String] {
        let lines = problems.prefix(JSONDocument.problemLimit).map { $0.text(file: file) }
        let rest = problems.count - lines.count
        return rest > 0 ? lines + ["\(file): \(rest) more like these"] : lines
    }
}

/// A line on a terminal while a large site is computed, and the way to end it before its time.
final class SiteProgress {
    private let isShown = Terminal.errorIsTerminal
    private let start = BootClock.nanoseconds()
    private let signals: SignalDescriptor
    private var calls = 0
    /// Somebody has seen enough: what there is shall be told.
    private(set) var isStopped = false

    init() throws { signals = try SignalDescriptor() }

    /// To be called for each place; looks up only now and then.
    func report(_ text: @autoclosure () -> String) {
        calls += 1
        guard calls % 16 == 0 else { return }
        if signals.take() != nil { isStopped = true }
        guard isShown, BootClock.nanoseconds() - start > 1_000_000_000 else { return }
        Terminal.writeError("\r\u{1B}[K\(text())")
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
