internal import ArgumentParser
internal import CommandSupport
internal import Fleet
internal import FleetStore
internal import LinuxHost

struct FleetLabels: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "labels",
        abstract: "Draw labels with names, identities and QR codes, for whoever mounts the boxes.",
        discussion: """
            An output that ends in .pdf becomes one document, which needs `rsvg-convert`; any other name becomes one SVG \
            for each page. Pages are A4, to be printed at their own size (100 %).

            Codes hold name, place and identities as text, or a URL of your own: --url 'https://example.org/b/{name}'. In \
            braces: \(LabelURL.variables.joined(separator: ", ")).
            """)

    @OptionGroup var source: FleetArgument
    @OptionGroup var filter: BeaconFilter

    @Option(
        name: .shortAndLong,
        help: ArgumentHelp(
            "Where to write them: labels.pdf, or labels.svg, which becomes labels-1.svg, labels-2.svg, … for several pages.",
            valueName: "file"), completion: .file())
    var output: String

    @Option(
        help: ArgumentHelp(
            "Order of the labels: \(LabelOrder.allCases.map(\.rawValue).joined(separator: ", ")) (default: group).",
            valueName: "order"),
        completion: .list(LabelOrder.allCases.map(\.rawValue)), transform: Self.order)
    var sort: LabelOrder = .group

    @Option(
        help: ArgumentHelp(
            "Labels of this size in mm: \(LabelPaper.all.map(\.name).joined(separator: ", ")).", valueName: "size"),
        completion: .list(LabelPaper.all.map(\.name)), transform: Self.paper)
    var paper: LabelPaper = .standard

    @Option(help: ArgumentHelp("Labels of the first page that are already used.", valueName: "n"))
    var skipLabels: Int = 0

    @Option(
        help: ArgumentHelp("What the codes lead to, with {name} and others.", valueName: "template"),
        transform: Self.url)
    var url: LabelURL?

    @Flag(help: "Draw lines to cut along, for plain paper.")
    var cutLines = false

    func validate() throws {
        guard (0..<paper.labelsPerPage).contains(skipLabels) else {
            throw ValidationError("--skip-labels \(skipLabels) is out of range 0...\(paper.labelsPerPage - 1).")
        }
    }

    func run() throws {
        let beacons = sort.sorted(try filter.apply(to: try source.manifest().beacons, of: source.fleet))
        guard !beacons.isEmpty else { throw Failure(.configuration, "\(source.fleet): there are no beacons in it") }
        var urls: [String] = []
        do throws(LabelURLError) {
            if let url { for beacon in beacons { urls.append(try url.text(for: beacon)) } }
        } catch {
            throw Failure(.usage, "--url: \(error)")
        }
        let sheet = LabelSheet(beacons, paper: paper, skipping: skipLabels, hasCutLines: cutLines, urls: urls)
        let files = LabelFiles(sheet, output: output)
        let progress = ProgressLine()
        defer { progress.finish() }
        try files.write { done in
            if let done {
                progress.report(done, of: sheet.pageCount, "pages")
            } else {
                progress.report { "\(sheet.pageCount) pages become one document" }
            }
        }
        progress.finish()
        let pages = sheet.pageCount == 1 ? "1 page" : "\(sheet.pageCount) pages"
        Terminal.write("\(beacons.count) \(beacons.count == 1 ? "label" : "labels") on \(pages): \(files.names)\n")
    }

    private static func order(_ text: String) throws -> LabelOrder {
        guard let order = LabelOrder(rawValue: text) else {
            throw Mistake("use one of " + LabelOrder.allCases.map(\.rawValue).joined(separator: ", "))
        }
        return order
    }

    private static func url(_ text: String) throws -> LabelURL {
        do throws(LabelURLError) { return try LabelURL(text) } catch { throw Mistake("\(error)") }
    }

    private static func paper(_ text: String) throws -> LabelPaper {
        guard let paper = LabelPaper(named: text) else {
            throw Mistake("use one of " + LabelPaper.all.map(\.name).joined(separator: ", "))
        }
        return paper
    }
}
