internal import ArgumentParser
internal import Fleet
internal import LinuxHost
internal import QRCodes

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
        let isDocument = output.hasSuffix(".pdf")
        let progress = ProgressLine()
        defer { progress.finish() }
        if isDocument {
            try writeDocument(sheet, progress)
        } else {
            for index in 0..<sheet.pageCount {
                progress.report(index, of: sheet.pageCount, "pages")
                try OutputText.write(try page(index, of: sheet), to: name(of: index, of: sheet.pageCount))
            }
        }
        progress.finish()
        let pages = sheet.pageCount == 1 ? "1 page" : "\(sheet.pageCount) pages"
        let first = isDocument ? output : name(of: 0, of: sheet.pageCount)
        Terminal.write("\(beacons.count) \(beacons.count == 1 ? "label" : "labels") on \(pages): \(first)")
        let hasMore = sheet.pageCount > 1 && !isDocument
        Terminal.write(hasMore ? " to \(name(of: sheet.pageCount - 1, of: sheet.pageCount))\n" : "\n")
    }

    /// All pages in one PDF, which rsvg-convert makes of them.
    private func writeDocument(_ sheet: LabelSheet, _ progress: ProgressLine) throws {
        let directory = try TemporaryDirectory()
        var files: [String] = []
        for index in 0..<sheet.pageCount {
            progress.report(index, of: sheet.pageCount, "pages")
            files.append("\(directory.path)/\(index).svg")
            try Files.create(files[index], with: Array(try page(index, of: sheet).utf8))
        }
        progress.report { "\(sheet.pageCount) pages become one document" }
        let job = ["rsvg-convert", "--format", "pdf"] + files
        let answer = try ProcessPool.run([job], parallel: 1, timeoutSeconds: 600, outputLimit: 1 << 30).first
        switch answer {
        case .ended(let document, _, 0): try OutputText.write(octets: document, to: output)
        case .ended(_, let errors, let code):
            let said = errors.split(separator: UInt8(ascii: "\n")).first.map { String(decoding: $0, as: UTF8.self) }
            throw Failure(.software, "rsvg-convert ended with \(code): \(said ?? "it did not say why")")
        case .notStarted:
            throw Failure(
                .unavailable,
                "rsvg-convert, which makes PDF of the pages, is not there: apt-get install librsvg2-bin, or give "
                    + "--output a name that ends in .svg")
        case .late, nil: throw Failure(.temporaryFailure, "rsvg-convert did not make the document within 600 s")
        }
    }

    private func page(_ index: Int, of sheet: LabelSheet) throws -> String {
        do throws(QRCodeError) {
            return try sheet.page(index)
        } catch {
            throw Failure(.software, "\(error)")
        }
    }

    /// Numbers have as many digits as the last one, so that names sort as pages do.
    private func name(of index: Int, of count: Int) -> String {
        guard count > 1 else { return output }
        let digits = String(index + 1)
        let number = String(repeating: "0", count: String(count).count - digits.count) + digits
        let stem = output.hasSuffix(".svg") ? String(output.dropLast(4)) : output
        return "\(stem)-\(number).svg"
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
