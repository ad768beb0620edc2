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
            pharos history key-peter --from yesterday
            pharos history key-peter --from "today 10:00" --totals
            pharos history desk --from 2026-11-01 --to 2026-11-30 --csv
            pharos history key-peter --history hall.db --json
            pharos history key-peter --history museum.json --heard

            Shows the events that `pharos listen` and `pharos collect` have stored for a beacon, a zone or a room, the \
            oldest first. Times are local; with --utc, and always in JSON and in --csv, they are in UTC. Without \
            --history, all files NAME.db of the state directory are read. A file that cannot be read is reported, and \
            the events of the other files are shown. If --history names the file of a listener or a \
            collector, its database is read. The last table shows how long a beacon was in each room of a collector, \
            and in each zone of each receiver. Time in which the listener or the collector did not run does not count.
            """)

    @Argument(help: "The name of a beacon, a zone or a room.")
    var name: String

    @Option(
        help: ArgumentHelp(
            "Start of the time span: yesterday, \"today 10:00\", 10:00, 2026-11-01 or 2026-11-01T08:00:00Z.",
            valueName: "time"))
    var from: String?

    @Option(
        help: ArgumentHelp(
            "End of the time span. Without a time, the whole day is included; without seconds, the whole minute.",
            valueName: "time"))
    var to: String?

    @Flag(help: "Read and show times in UTC (default: local times).")
    var utc = false

    @Option(
        help: ArgumentHelp(
            "Database of a listener or a collector, or the file of one. May be repeated.", valueName: "file"),
        completion: .file(extensions: ["db", "json"]))
    var history: [String] = []

    @Option(
        help: ArgumentHelp("Directory of databases (default: /var/lib/pharos).", valueName: "directory"),
        completion: .directory)
    var stateDir: String?

    @Flag(help: "Also show, minute by minute, which receivers of a collector have received the beacon.")
    var heard = false

    @Flag(help: "Show only how long each beacon was in each room or zone.")
    var totals = false

    @Flag(help: "Print comma-separated values, for spreadsheets.")
    var csv = false

    @Flag(help: "Print JSON, one line for each event.")
    var json = false

    func validate() throws {
        if csv && json { throw ValidationError("Give either --csv or --json.") }
        if !history.isEmpty, stateDir != nil, !history.contains(where: { $0.hasSuffix(".json") }) {
            throw ValidationError("--history names files; --state-dir cannot be used with it.")
        }
        if totals && heard { throw ValidationError("Give either --totals or --heard.") }
        guard try range.from <= range.to else { throw ValidationError("--from is later than --to.") }
    }

    /// The time span in microseconds since 1970, both ends included.
    private var range: (from: Int64, to: Int64) {
        get throws {
            (
                try from.map { try microseconds($0, of: "--from", isEnd: false) } ?? .min,
                try to.map { try microseconds($0, of: "--to", isEnd: true) } ?? .max
            )
        }
    }

    private func microseconds(_ text: String, of option: String, isEnd: Bool) throws -> Int64 {
        let now = Int(WallClock.microseconds() / 1_000_000)
        let seconds =
            RFC3339Time(text)?.secondsSince1970
            ?? (utc ? TimeZoneChoice.utc : .local).seconds(text, isEnd: isEnd, now: now)
        guard let seconds else {
            throw ValidationError(
                "\(option): \(TerminalText.quoted(text, to: 60)) is not a time: write \(TimeZoneChoice.forms)")
        }
        return Int64(seconds) * 1_000_000 + (isEnd ? 999_999 : 0)
    }

    func run() throws {
        let (start, end) = try range
        let range = start...end
        let files =
            try history.isEmpty
            ? FoundFiles.usable(databasesInStateDirectory()) { try open($0, range) }
            : history.map { try open($0, range) }
        // Each database has one cursor for events, and with --heard another cursor for minutes.
        let cursors = files.enumerated().flatMap { file in file.element.cursors.map { (file.offset, $0) } }
        var times = RoomTimes(pauses: try files.map { try $0.source.pauses(until: WallClock.microseconds()) })
        if start > .min {
            // The events before the time span are needed to know where the beacons were at its start.
            try HistoryCursor.merge(files.map { $0.source.events(of: name, .min...start - 1) }) {
                times.take($0, from: $1)
            }
            times.begin(at: start)
        }
        var output = HistoryOutput(totals ? .nothing : json ? .json : csv ? .csv : .table(utc ? .utc : .local))
        try HistoryCursor.merge(cursors.map(\.1)) { event, cursorIndex in
            // A reader such as `head` may have closed the output.
            if !Terminal.outputIsGone {
                output.add(event, stayMicroseconds: times.take(event, from: cursors[cursorIndex].0))
            }
        }
        output.finish()
        if output.eventCount == 0 {
            let names = try files.reduce(into: Set<String>()) { $0.formUnion(try $1.source.names()) }
            guard names.contains(name) else { throw unknownName(knownNames: names) }
            let hint = from == nil && to == nil ? "; --heard shows which receivers have received it" : " in that time"
            Terminal.writeMessage("\(TerminalText.quoted(name, to: 60)) has no events\(hint)")
        }
        show(times.totals(of: name, at: min(end, WallClock.microseconds())), isFirst: totals || output.eventCount == 0)
    }

    /// Opens a database, and reads its first events, so that an error in reading is reported before any output.
    private func open(
        _ file: String, _ range: ClosedRange<Int64>
    ) throws -> (source: HistorySource, cursors: [HistoryCursor]) {
        let source = try HistorySource(file, stateDirectory: stateDir)
        var cursors = [source.events(of: name, range)]
        if heard { cursors.append(source.minutes(of: name, range)) }
        for index in cursors.indices { _ = try cursors[index].peek() }
        return (source, cursors)
    }

    private func databasesInStateDirectory() throws -> [String] {
        let directory = stateDir ?? StateDirectory.usual
        var reason =
            "there is no database here yet: `pharos listen` makes one, and so does `pharos collect` with \"history\" in its "
            + "file; or name a file with --history"
        do throws(SystemError) {
            let files = try Files.listing(directory).filter { $0.hasSuffix(".db") }.map { "\(directory)/\($0)" }
            if !files.isEmpty { return files }
        } catch {
            if error.errno != SystemError.noEntry {
                reason = "there is no database here that this user may read; use sudo, or name a file with --history"
            }
        }
        throw Failure(.noInput, "\(directory): \(reason)")
    }

    private func unknownName(knownNames: Set<String>) -> Failure {
        let advice = NearestWord.find(name, among: knownNames.sorted()).map {
            "; did you mean \(TerminalText.quoted($0, to: 60))?"
        }
        return Failure(
            .noInput,
            "there are no events of a beacon, a zone or a room \(TerminalText.quoted(name, to: 60))"
                + (advice ?? "; the events of a zone that several beacons share are found by the name of the zone"))
    }

    /// Prints the time in each room or zone: after the table of events, or alone with --totals.
    private func show(_ rows: [RoomTimes.Row], isFirst: Bool) {
        if totals, json {
            Terminal.write(rows.map { $0.json.line + "\n" }.joined())
        } else if totals, csv {
            Terminal.write(
                ([RoomTimes.Row.header.joined(separator: ",")] + rows.map(\.csv)).map { $0 + "\r\n" }.joined())
        } else if !json, !csv, !rows.isEmpty {
            var table = Table(
                ["beacon", "room or zone", "receiver", "time", "stays", ""],
                alignment: [.left, .left, .left, .right, .right, .left])
            for row in rows { table.add(row.cells) }
            Terminal.show((isFirst ? "" : "\n") + table.text)
        }
    }
}

/// Prints the events that are added. A long table is printed in parts, each of which has a header.
private struct HistoryOutput {
    enum Form {
        case json, csv, nothing
        case table(TimeZoneChoice)
    }

    private(set) var eventCount = 0
    private let form: Form
    private var table = HistoryOutput.emptyTable
    private var rowCount = 0
    private var lines = ""

    /// The number of rows in each part of a table.
    private static let rowsPerPart = 10_000
    private static var emptyTable: Table {
        Table(
            ["at", "event", "zone", "beacon", "receiver", "for s", "dBm", "m", "why"],
            alignment: [.left, .left, .left, .left, .left, .right, .right, .right, .left])
    }

    init(_ form: Form) {
        self.form = form
        if case .csv = form { lines = HistoryRow.header.joined(separator: ",") + "\r\n" }
    }

    /// - Parameter stayMicroseconds: The duration of the stay that the event ends; `nil` if it ends no stay.
    mutating func add(_ event: EventStore.Event, stayMicroseconds: Int64?) {
        eventCount += 1
        switch form {
        case .json: lines += event.json + "\n"
        case .csv: lines += HistoryRow(event).csv + "\r\n"
        case .nothing: return
        case .table(let zone):
            table.add(HistoryRow(event).cells(zone, stayMicroseconds: stayMicroseconds))
            rowCount += 1
            if rowCount == Self.rowsPerPart { finish() }
        }
        if lines.utf8.count > 1 << 16 { finish() }
    }

    /// Prints all events that have not been printed yet.
    mutating func finish() {
        Terminal.write(lines)
        lines = ""
        guard rowCount > 0 else { return }
        Terminal.show(table.text)
        (table, rowCount) = (Self.emptyTable, 0)
    }
}
