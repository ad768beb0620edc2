internal import ArgumentParser
internal import BluetoothTypes
internal import CommandSupport
internal import Fleet
internal import FleetStore
internal import LinuxHost

struct FleetLabels: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "labels",
        abstract: "Draw labels for the machines with names, identities and QR codes.",
        discussion: """
            If the name of the output ends in .pdf, one document is written with `rsvg-convert`. Otherwise an SVG is \
            written for each page. Pages are A4; print them without scaling (100 %).

            The codes contain name, group and identities as text, or a URL of your own:

              --url 'https://example.org/b/{name}'

            Possible names in braces: \(LabelURL.variables.joined(separator: ", ")).
            """)

    @OptionGroup var source: FleetArgument
    @OptionGroup var filter: BeaconFilter

    @Option(
        name: .shortAndLong,
        help: ArgumentHelp(
            "The file to write: labels.pdf or labels.svg. Several pages become labels-1.svg, labels-2.svg and so on.",
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

    @Option(help: ArgumentHelp("Number of labels of the first page that are already used up.", valueName: "n"))
    var skipLabels: Int = 0

    @Option(
        help: ArgumentHelp("URL in the codes, with names in braces, such as {name}.", valueName: "template"),
        transform: Self.url)
    var url: LabelURL?

    @Flag(help: "Draw lines for cutting, for plain paper.")
    var cutLines = false

    func validate() throws {
        try OptionValue.check("--skip-labels", skipLabels, in: 0...paper.labelsPerPage - 1)
    }

    func run() throws {
        let beacons = sort.sorted(try filter.apply(to: try source.manifest().beacons, of: source.fleet))
        guard !beacons.isEmpty else { throw Failure(.configuration, "\(source.fleet): the fleet has no beacons") }
        var urls: [String] = []
        do throws(LabelURLError) {
            if let url { for beacon in beacons { urls.append(try url.text(for: beacon)) } }
        } catch {
            throw Failure(.usage, "--url: \(error)")
        }
        let sheet = LabelSheet(beacons, paper: paper, skipping: skipLabels, hasCutLines: cutLines, urls: urls)
        if output == "-", sheet.pageCount > 1 {
            throw Failure(
                .usage, "--output -: \(sheet.pageCount) pages need a file; name one that ends in .svg or .pdf")
        }
        let files = LabelFiles(sheet, output: output)
        let progress = ProgressLine()
        defer { progress.finish() }
        try files.write { done in
            if let done {
                progress.report(done, of: sheet.pageCount, "pages")
            } else {
                progress.report { "\(sheet.pageCount) pages are converted to one document" }
            }
        }
        progress.finish()
        guard output != "-" else { return }
        let (labels, pages) = (NumberFormat.count(beacons.count, "label"), NumberFormat.count(sheet.pageCount, "page"))
        Terminal.writeLine("\(labels) on \(pages): \(files.names)")
        let earlier = files.earlierPages
        guard let first = earlier.first, let last = earlier.last else { return }
        let names = earlier.count == 1 ? first : "\(first) to \(last)"
        Terminal.writeMessage(
            "warning: \(NumberFormat.count(earlier.count, "page")) of an earlier run may no longer be right: \(names)")
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
