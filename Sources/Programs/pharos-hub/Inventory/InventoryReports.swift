internal import ArgumentParser
internal import CommandSupport
internal import Configuration
internal import FleetStore
internal import Inventory
internal import LinuxHost
internal import Listener
internal import Sightings
internal import Sites

struct InventoryCheckCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "check",
        abstract: "List everything that is wrong with an inventory, and what cannot be found in time.")

    @OptionGroup var source: InventoryFile

    @Option(
        parsing: .singleValue,
        help: ArgumentHelp("A profile, a fleet or a listener file with intervals. May be repeated.", valueName: "file"),
        completion: .file())
    var known: [String] = []

    @Flag(help: "Print one JSON object.")
    var json = false

    func run() throws {
        let name = source.file == "-" ? "standard input" : source.file
        let (inventory, found) = Inventory.decode(try InputFile.read(source.file))
        let beacons = try KnownBeacons(known).beacons
        guard let inventory else {
            let problems = found.filter(\.isError)
            if json {
                let value = JSONValue.record([
                    ("file", .string(name)), ("good", false),
                    ("problems", .array(problems.map { .string($0.text(file: name)) })), ("warnings", .array([])),
                    ("beacons", .array([])),
                ])
                Terminal.write(value.line + "\n")
            } else {
                for problem in problems { Terminal.write(problem.text(file: name) + "\n") }
            }
            throw Failure(.failure)
        }
        var problems: [String] = []
        var site: Site?
        if let file = inventory.site {
            do throws(SiteFile.Problem) {
                site = try SiteFile.read(source.store.place(file))
            } catch {
                problems = error.messages
            }
        }
        let report = source.file == "-" ? nil : try source.store.report(inventory)
        let heard = Dictionary(
            (report?.outcomes ?? []).compactMap { outcome in
                outcome.intervalMicroseconds.map { (outcome.item.beacon, $0) }
            }
        ) { first, _ in first }
        let photos = inventory.items.compactMap(\.photo).filter { !Files.exists(source.store.place($0)) }
        let check = InventoryCheck(inventory, known: beacons, heard: heard, site: site, missingPhotos: photos)
        if json {
            Terminal.write(check.json(file: name, problems: problems).line + "\n")
        } else {
            for problem in problems { Terminal.write(problem + "\n") }
            for warning in check.warnings { Terminal.write("\(name): warning: \(warning)\n") }
            if problems.isEmpty {
                let known = check.beacons.filter { $0.isFastEnough != nil }.count
                Terminal.write(
                    "\(name): \(inventory.items.count) items; of \(known) the interval is known, and "
                        + "\(check.beacons.count { $0.isFastEnough == true }) can be found within 6 s\n")
            }
        }
        if !problems.isEmpty { throw Failure(.failure) }
    }
}

/// The site file whose plan an inventory is on.
enum SiteFile {
    /// Why it cannot be used, problem by problem.
    struct Problem: Error {
        let status: ExitStatus
        let messages: [String]
    }

    static func read(_ path: String) throws(Problem) -> Site {
        let octets: [UInt8]
        do {
            octets = try Files.read(path)
        } catch {
            throw Problem(status: .noInput, messages: ["\(path): this site file cannot be read: \(error.text)"])
        }
        let (site, problems) = Site.decode(octets)
        if let site { return site }
        let errors = problems.filter(\.isError)
        throw Problem(
            status: errors.refusal == .malformed ? .dataFormat : .configuration,
            messages: errors.map { $0.text(file: path) })
    }
}

struct InventoryReport: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "report", abstract: "Report a count: what was found, and what has changed since the one before.",
        discussion: """
            pharos inventory report tools.json --html tools.html --csv tools.csv
            pharos inventory report tools.json --pdf tools.pdf --mail-to store@example.org

            PDF needs `rsvg-convert`, mail the machine's `sendmail`. For a file, - is standard output.
            """)

    @OptionGroup var source: InventoryFile

    @Option(help: ArgumentHelp("Another count than the last one.", valueName: "name"))
    var count: String?

    @Option(help: ArgumentHelp("Write a page for browsers.", valueName: "file"), completion: .file())
    var html: String?

    @Option(help: ArgumentHelp("Write a document to print.", valueName: "file"), completion: .file())
    var pdf: String?

    @Option(help: ArgumentHelp("Write a table for spreadsheets.", valueName: "file"), completion: .file())
    var csv: String?

    @Flag(help: "Print one JSON object.")
    var json = false

    @Option(
        parsing: .singleValue,
        help: ArgumentHelp("Send it by mail, as PDF with --pdf, else as HTML. May be repeated.", valueName: "address"))
    var mailTo: [String] = []

    func validate() throws {
        for address in mailTo where !MailMessage.isAddress(address) {
            throw ValidationError(
                "--mail-to \(ProblemText.quoted(address)) is no mail address such as store@example.org.")
        }
        if [html, pdf, csv].filter({ $0 == "-" }).count + (json ? 1 : 0) > 1 {
            throw ValidationError("Standard output takes one form of the report.")
        }
    }

    func run() throws {
        let inventory = try source.store.read()
        let report = try source.store.lastReport(inventory, of: count)
        for warning in report.warnings { Terminal.writeError("pharos: warning: \(warning)\n") }
        if let html { try FleetStore.OutputFile.write(report.html, to: html) }
        if let csv { try FleetStore.OutputFile.write(report.csv, to: csv) }
        var document: [UInt8]?
        if let pdf {
            let octets = try ReportDocument.pdf(ReportSheets(report).pages)
            if pdf == "-" { Terminal.write(octets) } else { try FleetStore.OutputFile.write(octets: octets, to: pdf) }
            document = octets
        }
        if json { Terminal.write(report.json.line + "\n") }
        if !mailTo.isEmpty {
            let name = "\(report.inventory)-\(report.count)"
            let attachment =
                document.map { MailMessage.Attachment(name: name + ".pdf", type: "application/pdf", octets: $0) }
                ?? MailMessage.Attachment(
                    name: name + ".html", type: "text/html; charset=utf-8", octets: Array(report.html.utf8))
            let message = try MailMessage(
                to: mailTo, subject: "\(report.title): count \(report.count)", text: Self.text(report), attachment)
            try ReportDocument.send(message, to: mailTo)
            Terminal.writeError("pharos: sent to \(mailTo.joined(separator: ", "))\n")
        }
        if html == nil, pdf == nil, csv == nil, !json, mailTo.isEmpty { Terminal.write(Self.text(report)) }
    }

    private static func text(_ report: CountReport) -> String { report.text }
}

struct InventoryMapCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "map", abstract: "Draw the items on the site's plan.",
        discussion: "Without --html and --svg it writes the page to standard output.")

    @OptionGroup var source: InventoryFile

    @Option(
        help: ArgumentHelp("The plan (default: the site that the inventory names).", valueName: "file"),
        completion: .file())
    var site: String?

    @Option(help: ArgumentHelp("Another count than the last one.", valueName: "name"))
    var count: String?

    @Option(help: ArgumentHelp("Write a page for browsers.", valueName: "file"), completion: .file())
    var html: String?

    @Option(help: ArgumentHelp("Write the drawing alone.", valueName: "file"), completion: .file())
    var svg: String?

    func validate() throws {
        if html == "-" && svg == "-" { throw ValidationError("Standard output takes the page or the drawing.") }
    }

    func run() throws {
        let inventory = try source.store.read()
        let report =
            count == nil ? try source.store.report(inventory) : try source.store.lastReport(inventory, of: count)
        var plan: Site?
        if let file = site ?? inventory.site.map(source.store.place) {
            do throws(SiteFile.Problem) {
                plan = try SiteFile.read(file)
            } catch {
                throw Failure(error.status, error.messages)
            }
        }
        let map = InventoryMap(inventory, on: plan, report)
        if map.unplaced > 0 {
            Terminal.writeError(
                "pharos: warning: \(map.unplaced) of \(inventory.items.count) items have no position: they stand in the table only\n"
            )
        }
        if let svg { try FleetStore.OutputFile.write(map.svg, to: svg) }
        if let html = html ?? (svg == nil ? "-" : nil) { try FleetStore.OutputFile.write(map.html, to: html) }
    }
}
