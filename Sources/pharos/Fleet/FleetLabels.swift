internal import ArgumentParser
internal import Fleet
internal import LinuxHost
internal import QRCodes

struct FleetLabels: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "labels",
        abstract: "Draws labels with names, identities and QR codes, for whoever hangs up the boxes.",
        discussion: """
            Each page is an SVG of A4, to be printed at its own size (100 %). `rsvg-convert -f pdf -o labels.pdf \
            labels-*.svg` makes one document of them.
            """)

    @OptionGroup var source: FleetArgument

    @Option(
        name: .shortAndLong,
        help: ArgumentHelp(
            "Where to write them; further pages get a number: labels.svg, or labels-1.svg, labels-2.svg, …",
            valueName: "file"))
    var output: String

    @Option(
        help: ArgumentHelp(
            "Labels of this size in mm: \(LabelPaper.all.map(\.name).joined(separator: ", ")).", valueName: "size"),
        transform: Self.paper)
    var paper: LabelPaper = .standard

    @Option(help: ArgumentHelp("So many labels of the first page are used already.", valueName: "n"))
    var skipLabels: Int = 0

    @Option(help: ArgumentHelp("Only this beacon; may be given more than once.", valueName: "name"))
    var beacon: [String] = []

    @Flag(help: "Draw lines to cut along, for plain paper.")
    var cutLines = false

    func validate() throws {
        guard (0..<paper.labelsPerPage).contains(skipLabels) else {
            throw ValidationError("--skip-labels \(skipLabels) is out of range 0...\(paper.labelsPerPage - 1).")
        }
    }

    func run() throws {
        var beacons = try source.manifest().beacons
        if !beacon.isEmpty {
            let names = Set(beacons.map(\.name))
            for name in beacon where !names.contains(name) {
                throw Failure(.usage, "--beacon \(name): there is no beacon of that name in \(source.fleet)")
            }
            let wanted = Set(beacon)
            beacons.removeAll { !wanted.contains($0.name) }
        }
        let sheet = LabelSheet(beacons, paper: paper, skipping: skipLabels, hasCutLines: cutLines)
        guard sheet.pageCount > 0 else { throw Failure(.configuration, "\(source.fleet): there are no beacons in it") }
        for index in 0..<sheet.pageCount {
            let page: String
            do { page = try sheet.page(index) } catch { throw Failure(.software, "\(error)") }
            try OutputText.write(page, to: name(of: index, of: sheet.pageCount))
        }
        let pages = sheet.pageCount == 1 ? "1 page" : "\(sheet.pageCount) pages"
        Terminal.write("\(beacons.count) labels on \(pages): \(name(of: 0, of: sheet.pageCount))")
        Terminal.write(sheet.pageCount > 1 ? " to \(name(of: sheet.pageCount - 1, of: sheet.pageCount))\n" : "\n")
    }

    /// Numbers have as many digits as the last one, so that names sort as pages do.
    private func name(of index: Int, of count: Int) -> String {
        guard count > 1 else { return output }
        let digits = String(index + 1)
        let number = String(repeating: "0", count: String(count).count - digits.count) + digits
        let stem = output.hasSuffix(".svg") ? String(output.dropLast(4)) : output
        return "\(stem)-\(number).svg"
    }

    private static func paper(_ text: String) throws -> LabelPaper {
        guard let paper = LabelPaper(named: text) else {
            throw Mistake("use one of " + LabelPaper.all.map(\.name).joined(separator: ", "))
        }
        return paper
    }
}
