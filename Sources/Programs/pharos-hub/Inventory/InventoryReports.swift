internal import ArgumentParser
internal import BluetoothTypes
internal import CommandSupport
internal import Configuration
internal import FleetStore
internal import Inventory
internal import LinuxHost
internal import Listener
internal import Sites

struct InventoryCheckCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "check",
        abstract: "Check an inventory for problems, and for items that cannot be found in time.")

    @OptionGroup var source: InventoryFile

    @Option(
        parsing: .singleValue,
        help: ArgumentHelp(
            "Profile, fleet or listener file with the beacons' intervals. May be repeated.", valueName: "file"),
        completion: .file())
    var known: [String] = []

    @Flag(help: "Print one JSON object.")
    var json = false

    func run() throws {
        let store = source.store
        let name = Files.inputName(source.file)
        let octets = try store.readOctets()
        let known = try KnownBeacons(known).beacons
        let (inventory, decodingProblems) = Inventory.decode(octets)
        guard let inventory else {
            let problems = decodingProblems.filter(\.isError).map { $0.text(file: name) }
            Terminal.show(
                problems.map { $0 + "\n" }.joined(), or: InventoryCheck.json(file: name, problems: problems),
                asJSON: json)
            throw Failure(.failure)
        }
        var problems: [String] = []
        var site: Site?
        if let file = inventory.site {
            do throws(InventoryError) {
                site = try InventoryStore.site(store.path(of: file))
            } catch {
                problems = error.messages
            }
        }
        let report = source.file == "-" ? nil : try store.report(inventory)
        var photos: [String] = []
        for photo in inventory.items.compactMap(\.photo) {
            do throws(InventoryError) { _ = try ItemPhoto(store.path(of: photo)) } catch { photos += error.messages }
        }
        let check = InventoryCheck(
            inventory, known: known, learned: report?.learnedIntervals ?? [:], site: site, wrongPhotos: photos)
        Terminal.show(
            check.text(file: name, problems: problems), or: check.json(file: name, problems: problems), asJSON: json)
        if !problems.isEmpty { throw Failure(.failure) }
    }
}

struct InventoryReport: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "report",
        abstract: "Report which items a count has found, and what has changed since the previous count.",
        discussion: """
            pharos inventory report tools.json --html tools.html --csv tools.csv
            pharos inventory report tools.json --pdf tools.pdf --mail-to store@example.org

            A PDF needs the program `rsvg-convert`; mail needs `sendmail`. Use - as a file for standard output. The \
            page and the PDF contain the photos of the items: JPEG, PNG, GIF or WebP (WebP only in the page), up to 1 \
            MiB each and 12 MiB together. Mail without --pdf contains the page.
            """)

    @OptionGroup var source: InventoryFile

    @Option(help: ArgumentHelp("Use this count (default: the last count).", valueName: "name"))
    var count: String?

    @Option(
        help: ArgumentHelp("Write an HTML page.", valueName: "file"), completion: .file(), transform: OptionValue.page)
    var html: String?

    @Option(help: ArgumentHelp("Write a PDF document.", valueName: "file"), completion: .file())
    var pdf: String?

    @Option(help: ArgumentHelp("Write a table in CSV.", valueName: "file"), completion: .file())
    var csv: String?

    @Flag(help: "Print one JSON object.")
    var json = false

    @Option(
        parsing: .singleValue,
        help: ArgumentHelp(
            "Send the report by mail, as PDF with --pdf, otherwise as HTML. May be repeated.", valueName: "address"))
    var mailTo: [String] = []

    func validate() throws {
        for address in mailTo where !MailMessage.isAddress(address) {
            throw ValidationError(
                "--mail-to \(ProblemText.quoted(address)): use a mail address such as store@example.org.")
        }
        if [html, pdf, csv].filter({ $0 == "-" }).count + (json ? 1 : 0) > 1 {
            throw ValidationError("Only one form of the report can go to standard output.")
        }
        try OutputFiles.refuseOverwriting(
            [("--html", html), ("--pdf", pdf), ("--csv", csv)], read: [source.file])
    }

    func run() throws {
        let inventory = try source.store.read()
        try source.refuseOverwriting([("--html", html), ("--pdf", pdf), ("--csv", csv)], of: inventory)
        var report = try source.store.lastReport(inventory, of: count)
        if html != nil || pdf != nil || !mailTo.isEmpty {
            let (photos, problems) = source.store.photos(of: report, inventory)
            report.photos = photos
            for problem in problems { Terminal.writeMessage("warning: \(problem)") }
        }
        for warning in report.warnings { Terminal.writeMessage("warning: \(warning)") }
        if let html { try ExportFile.write(report.html, to: html) }
        if let csv { try ExportFile.write(report.csv, to: csv) }
        var document: [UInt8]?
        if let pdf {
            let missingPhotos = ReportDelivery.photosMissing(inPDFOf: report)
            if missingPhotos > 0 {
                Terminal.writeMessage(
                    "warning: the PDF leaves out the photos of \(NumberFormat.count(missingPhotos, "item")), which are WebP: "
                        + "use JPEG, PNG or GIF")
            }
            let octets = try ReportDelivery.pdf(report)
            if pdf == "-" { Terminal.write(octets) } else { try ExportFile.write(octets: octets, to: pdf) }
            document = octets
        }
        if json { Terminal.write(report.json.line + "\n") }
        if !mailTo.isEmpty {
            try ReportDelivery.send(MailMessage(report, pdf: document, to: mailTo), to: mailTo)
            Terminal.writeMessage("sent to \(mailTo.joined(separator: ", "))")
        }
        if html == nil, pdf == nil, csv == nil, !json, mailTo.isEmpty { Terminal.show(report.text) }
    }
}

struct InventoryMapCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "map", abstract: "Draw the items on the floor plan.",
        discussion: "Without --html and --svg, the page is written to standard output.")

    @OptionGroup var source: InventoryFile

    @Option(
        help: ArgumentHelp("Site file with the floor plan (default: the site of the inventory).", valueName: "file"),
        completion: .file())
    var site: String?

    @Option(help: ArgumentHelp("Use this count (default: the last count).", valueName: "name"))
    var count: String?

    @Option(
        help: ArgumentHelp("Write an HTML page.", valueName: "file"), completion: .file(), transform: OptionValue.page)
    var html: String?

    @Option(help: ArgumentHelp("Write only the drawing, as SVG.", valueName: "file"), completion: .file())
    var svg: String?

    func validate() throws {
        if html == "-" && svg == "-" {
            throw ValidationError("Only one of the page and the drawing can go to standard output.")
        }
        try OutputFiles.refuseOverwriting([("--html", html), ("--svg", svg)], read: [source.file, site])
    }

    func run() throws {
        let inventory = try source.store.read()
        try source.refuseOverwriting([("--html", html), ("--svg", svg)], of: inventory)
        let report =
            count == nil ? try source.store.report(inventory) : try source.store.lastReport(inventory, of: count)
        let plan = try (site ?? inventory.site.map(source.store.path(of:))).map { try InventoryStore.drawnSite($0) }
        let map = InventoryMap(inventory, on: plan, report)
        if map.unplaced > 0 {
            Terminal.writeMessage(
                "warning: \(map.unplaced) of \(inventory.items.count) items have no position and are only in "
                    + "the table")
        }
        if let svg { try ExportFile.write(map.svg, to: svg) }
        if let html = html ?? (svg == nil ? "-" : nil) { try ExportFile.write(map.html, to: html) }
    }
}
