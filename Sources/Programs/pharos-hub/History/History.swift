internal import ArgumentParser
internal import CommandSupport
internal import Configuration
internal import LinuxHost
internal import Store

struct History: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "history", abstract: "Show what happened to a beacon or in a zone.",
        discussion: """
            pharos history key-peter
            pharos history desk --from 2026-11-01 --to 2026-11-30 --csv
            pharos history key-peter --history hall.db --json
            pharos history key-peter --history museum.json --heard

            Shows the events that `pharos listen` and `pharos collect` have stored for a beacon, a zone or a room, the oldest \
            first. Without --history, all files NAME.db of the state directory are read; one that cannot be read is \
            reported, and the others are shown. A collector file stands for the database in its "postgresql" or "history".
            """)

    @Argument(help: "The name of a beacon, a zone or a room.")
    var name: String

    @Option(
        help: ArgumentHelp("Start of the time span: 2026-11-01, or 2026-11-01T08:00:00Z.", valueName: "time"),
        transform: HistoryTime.start)
    var from: Int64?

    @Option(
        help: ArgumentHelp("End of the time span. A day is included.", valueName: "time"),
        transform: HistoryTime.end)
    var to: Int64?

    @Option(
        help: ArgumentHelp(
            "Database of a listener or a collector, or a collector file. May be repeated.", valueName: "file"),
        completion: .file(extensions: ["db", "json"]))
    var history: [String] = []

    @Option(
        help: ArgumentHelp("Directory of databases (default: /var/lib/pharos).", valueName: "directory"),
        completion: .directory)
    var stateDir: String?

    @Flag(help: "Also show, minute by minute, which receivers of a collector have received the beacon.")
    var heard = false

    @Flag(help: "Print comma-separated values, for spreadsheets.")
    var csv = false

    @Flag(help: "Print JSON, one line for each event.")
    var json = false

    func validate() throws {
        if csv && json { throw ValidationError("Give either --csv or --json.") }
        if !history.isEmpty, stateDir != nil, !history.contains(where: { $0.hasSuffix(".json") }) {
            throw ValidationError("--history names files; --state-dir cannot be used with it.")
        }
        if let from, let to, from > to { throw ValidationError("--from is later than --to.") }
    }

    func run() throws {
        let range = (from ?? .min)...(to ?? .max)
        let files =
            try history.isEmpty ? FoundFiles.usable(found()) { try open($0, range) } : history.map { try open($0, range) }
        var output = HistoryOutput(json ? .json : csv ? .csv : .table)
        try HistoryCursor.merge(files.flatMap(\.cursors)) { event in
            // A reader such as head has enough.
            if !Terminal.outputIsGone { output.add(event) }
        }
        output.finish()
        if output.count == 0 {
            let names = try files.reduce(into: Set<String>()) { $0.formUnion(try $1.source.names()) }
            guard names.contains(name) else { throw unknown(names) }
            let rest = from == nil && to == nil ? "; --heard shows which receivers have received it" : " in that time"
            Terminal.writeMessage("nothing happened with \(TerminalText.quoted(name, to: 60))\(rest)")
        }
    }

    /// Opens a database and reads its first events, so that a file that cannot be read is reported at once.
    private func open(
        _ file: String, _ range: ClosedRange<Int64>
    ) throws -> (source: HistorySource, cursors: [HistoryCursor]) {
        let source = try HistorySource(file, stateDirectory: stateDir)
        var cursors = [source.events(of: name, range)]
        if heard { cursors.append(source.minutes(of: name, range)) }
        for place in cursors.indices { _ = try cursors[place].peek() }
        return (source, cursors)
    }

    private func found() throws -> [String] {
        let directory = stateDir ?? "/var/lib/pharos"
        let files = Files.names(in: directory).filter { $0.hasSuffix(".db") }.map { "\(directory)/\($0)" }
        guard !files.isEmpty else {
            throw Failure(
                .noInput,
                "\(directory): there is no database here that this user may read; use sudo, or name a file with --history"
            )
        }
        return files
    }

    private func unknown(_ names: Set<String>) -> Failure {
        let advice = NearestWord.find(name, among: names.sorted()).map {
            "; did you mean \(TerminalText.quoted($0, to: 60))?"
        }
        return Failure(
            .noInput,
            "there are no events of a beacon, a zone or a room \(TerminalText.quoted(name, to: 60))\(advice ?? "")")
    }
}

/// Prints events one by one. A long table is printed in parts with a header each.
private struct HistoryOutput {
    enum Form { case json, csv, table }

    private(set) var count = 0
    private let form: Form
    private var table = HistoryOutput.empty
    private var lines = ""

    /// The number of rows of a part.
    private static let part = 10_000
    private static var empty: Table {
        Table(
            ["at", "event", "zone", "beacon", "receiver", "for s", "dBm", "m", "why"],
            alignment: [.left, .left, .left, .left, .left, .right, .right, .right, .left])
    }

    init(_ form: Form) {
        self.form = form
        if form == .csv { lines = HistoryRow.header.joined(separator: ",") + "\r\n" }
    }

    mutating func add(_ event: EventStore.Event) {
        count += 1
        switch form {
        case .json: lines += event.json + "\n"
        case .csv: lines += HistoryRow(event).csv + "\r\n"
        case .table:
            table.add(HistoryRow(event).cells)
            if count % Self.part == 0 { flush() }
        }
        if lines.utf8.count > 1 << 16 { flush() }
    }

    private mutating func flush() {
        Terminal.write(lines)
        lines = ""
        guard form == .table else { return }
        Terminal.show(table.text)
        table = Self.empty
    }

    mutating func finish() {
        if form != .table || count % Self.part > 0 { flush() }
    }
}

/// Reads the ends of a time span, in microseconds since 1970.
private enum HistoryTime {
    static func start(_ text: String) throws -> Int64 { try seconds(text, rest: "T00:00:00Z") * 1_000_000 }

    static func end(_ text: String) throws -> Int64 { try seconds(text, rest: "T23:59:59Z") * 1_000_000 + 999_999 }

    private static func seconds(_ text: String, rest: String) throws -> Int64 {
        guard let time = RFC3339Time(text) ?? RFC3339Time(text + rest) else {
            throw Mistake("write a time as 2026-03-01, or as 2026-03-01T12:00:00Z")
        }
        return Int64(time.secondsSince1970)
    }
}
