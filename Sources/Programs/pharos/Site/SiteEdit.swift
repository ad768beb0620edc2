internal import ArgumentParser
internal import CommandSupport
internal import Configuration
internal import EddystoneSecurity
internal import LinuxHost
internal import Planner
internal import Sites

struct SiteEdit: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "edit", abstract: "Draw a floor in the browser, and see what is received while you draw.",
        discussion: """
            pharos site edit museum.json
            pharos site edit --html editor.html

            Draws outline, walls, rooms, beacons, receivers and paths, to scale, over the picture of the site. The \
            page is on this machine only (127.0.0.1), and its address has a secret token. A file that does not exist \
            yet is created when you save. The editor ends with its button Close, or with Ctrl-C.

            With --html, the command writes a page that opens and saves site files without Pharos.
            """)

    @Argument(help: "Site file (JSON).", completion: .file())
    var file: String?

    @Option(
        help: ArgumentHelp("Port on 127.0.0.1 (default: a free port).", valueName: "port"),
        transform: OptionValue.uint16)
    var port: UInt16?

    @Flag(help: "Print the address only, and do not open the browser.")
    var noBrowser = false

    @Option(
        help: ArgumentHelp("Write a page that opens and saves site files without Pharos, and end.", valueName: "file"),
        completion: .file(), transform: OptionValue.page)
    var html: String?

    func validate() throws {
        guard let html else {
            guard let file else { throw ValidationError("Give a site file, or --html.") }
            if file == "-" { throw ValidationError("Give the name of a file: the editor writes it.") }
            if port == 0 { throw ValidationError("Give a port of 1...65535, or leave out --port for a free port.") }
            return
        }
        if html == "-" { throw ValidationError("--html needs a file name.") }
        try OutputFiles.refuseOverwriting([("--html", html)], read: [file])
        if port != nil || noBrowser { throw ValidationError("--port and --no-browser cannot be combined with --html.") }
    }

    func run() throws {
        if let html { return try writePage(html) }
        guard let file else { return }
        let signals = try SignalDescriptor()
        SignalDescriptor.ignoreBrokenPipes()
        let session = SiteEditSession(file)
        // If the editor cannot open the file, end the command with an error before the browser opens.
        _ = try session.page()
        let server: LoopbackServer
        do throws(SystemError) {
            server = try LoopbackServer(port: port ?? 0, bodyLimit: PlanSite.sizeLimit)
        } catch {
            throw Failure(
                error.errno == SystemError.accessDenied ? .notPermitted : .unavailable,
                "\(error); choose another --port, or leave out --port for a free port")
        }
        Terminal.writeLine("editing \(TerminalText.line(file)) at \(server.address)")
        Terminal.writeLine("Close the editor with its button Close, or with Ctrl-C.")
        if !noBrowser { Self.openBrowser(server.address) }
        try server.run(until: signals) { session.reply(to: $0) }
    }

    private func writePage(_ path: String) throws {
        var page = SiteEditorPage(saving: .browser, fileName: file ?? "a floor")
        if let file { page = try SiteEditSession(file).page(saving: .browser) }
        try PageFile.write(page.html, to: path)
        Terminal.writeLine("page written: \(TerminalText.line(path))")
    }

    /// Opens an address in the user's browser if there is a display. Failures are ignored, because the address was
    /// printed too.
    private static func openBrowser(_ address: String) {
        let displays = ["DISPLAY", "WAYLAND_DISPLAY"].compactMap(Terminal.environment)
        guard displays.contains(where: { !$0.isEmpty }) else { return }
        // Start the browser in its own session, so that it stays open when this program ends.
        let script = "setsid --fork xdg-open \"$1\" >/dev/null 2>&1 </dev/null"
        guard let shell = try? ChildProcess(["sh", "-c", script, "sh", address]) else { return }
        _ = shell.wait(until: MonotonicClock.nanoseconds() + 1_000_000_000)
    }
}

/// Reads and writes the site file for the editor's page.
final class SiteEditSession {
    private let path: String

    init(_ path: String) { self.path = path }

    /// The contents of the file with their fingerprint.
    private struct Contents {
        /// The bytes of the file; `nil` if there is no such file.
        let octets: [UInt8]?

        var fingerprint: String { octets.map(Fingerprint.text(of:)) ?? "new" }
    }

    private func read() throws(SystemError) -> Contents {
        do throws(SystemError) {
            return Contents(octets: try Files.read(path, limit: PlanSite.sizeLimit))
        } catch  where error.errno == SystemError.noEntry {
            return Contents(octets: nil)
        }
    }

    /// Returns the page of the editor with the present contents of the file.
    ///
    /// Throws an error if the file cannot be read, or is not a site file.
    func page(saving: SiteEditorPage.Saving = .program) throws -> SiteEditorPage {
        let contents = try read()
        var page = SiteEditorPage(saving: saving, fileName: path)
        page.fingerprint = contents.fingerprint
        guard let octets = contents.octets else {
            guard saving == .program else { throw Failure(.noInput, "\(path): this file does not exist") }
            try NewFile.checkDirectory(of: path)
            page.isNew = true
            page.text = JSONValue.record([("version", .integer(Site.version)), ("name", .string(newName))]).line
            return page
        }
        let (decoded, problems) = Site.decode(octets)
        guard var site = decoded else { throw Failure(problems, of: path) }
        page.text = String(decoding: octets, as: UTF8.self)
        page.problems = problems
        // If the picture or the fleet is missing, the page shows a problem, but the drawing can still be edited.
        do throws(FloorPictureError) {
            try site.readPicture(ofSite: path)
        } catch {
            page.problems.append(error.problem)
        }
        if let image = site.picture?.image {
            page.picture = .init(address: image.dataAddress, width: image.width, height: image.height)
        }
        if site.fleet != nil {
            do {
                page.problems += try SiteCompanions.fillFleet(of: &site, path).warnings
                page.fleetBeacons = site.beacons
            } catch {
                for message in ExitStatus.messages(of: error) {
                    page.problems.append(FileProblem(message, at: JSONPosition(line: 1, column: 1)))
                }
            }
        }
        return page
    }

    /// The name of a new site: the name of its file, with hyphens for the characters that a name must not have.
    private var newName: String {
        let stem = InputFile.stem(of: path)
        let name = stem.map { $0.isASCII && ($0.isLetter || $0.isNumber) || "._-".contains($0) ? String($0) : "-" }
        let start = name.joined().drop { "._-".contains($0) }
        return start.isEmpty ? "floor" : String(start.prefix(64))
    }

    /// Returns the reply to a request of the page.
    func reply(to request: HTTPRequest) -> LoopbackServer.Reply {
        switch (request.method, request.target) {
        case ("GET", "/"): .answer(pageAnswer)
        case ("PUT", "/file"): .answer(saveAnswer(request))
        case ("POST", "/close"): .last(Self.json(200, [("message", .string("closed"))]))
        case (_, "/"), (_, "/file"), (_, "/close"): .answer(HTTPAnswer(405, "use GET for the page, PUT for the file"))
        default: .answer(HTTPAnswer(404, "there is nothing at this address"))
        }
    }

    private var pageAnswer: HTTPAnswer {
        do {
            return HTTPAnswer(200, type: "text/html; charset=utf-8", Array(try page().html.utf8))
        } catch {
            return HTTPAnswer(422, ExitStatus.messages(of: error).joined(separator: "\n"))
        }
    }

    /// Writes the file. Writes nothing if the file has changed since the page read it, or if the new text is not a site
    /// file without errors.
    private func saveAnswer(_ request: HTTPRequest) -> HTTPAnswer {
        guard let expected = request[field: "if-match"] else {
            return Self.json(428, [("message", .string("the request does not say which version it replaces"))])
        }
        let edited = EditedSite(request.body)
        guard edited.isGood, let text = edited.text else {
            return Self.json(
                422,
                [
                    ("message", .string("the program refuses this file")),
                    ("problems", .array(edited.problems.map(\.json))),
                ])
        }
        do {
            let present = try read()
            guard expected == "\"\(present.fingerprint)\"" else {
                return Self.json(
                    412,
                    [
                        ("message", .string("another program has changed the file meanwhile")),
                        ("fingerprint", .string(present.fingerprint)),
                    ])
            }
            try write(Array(text.utf8), isNew: present.octets == nil)
        } catch {
            let text = ExitStatus.messages(of: error).joined(separator: "; ")
            return Self.json(500, [("message", .string(text))])
        }
        return Self.json(
            200,
            [
                ("fingerprint", .string(Fingerprint.text(of: Array(text.utf8)))),
                ("problems", .array(edited.problems.map(\.json))),
            ])
    }

    private func write(_ octets: [UInt8], isNew: Bool) throws {
        if isNew {
            try Files.create(path, with: octets, mode: 0o644)
        } else {
            try Files.replace(path, with: octets, keepsRights: true)
        }
    }

    private static func json(_ status: Int, _ members: [(String, JSONValue)]) -> HTTPAnswer {
        HTTPAnswer(status, type: "application/json", Array((JSONValue.record(members).line + "\n").utf8))
    }
}
