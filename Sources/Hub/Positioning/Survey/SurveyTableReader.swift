internal import Airtime
internal import BluetoothTypes
public import Configuration
internal import Sightings

/// Reads a survey from a table. The long form has one row for each reading, the wide form one column for each beacon.
///
/// Rows with the same session, place, position, floor and heading form one stay, even if other rows are between them.
/// Rows of a stay with the same time form one vector.
///
/// If a row cannot be read, the whole table is refused.
public struct SurveyTableReader {
    private let table: CSVTable
    private let columns: TableColumns
    private let notReceivedLevel: Double?
    private let acceptsZeroLevel: Bool
    private let acceptsRowsWithoutPlace: Bool
    private var problems: [FileProblem]
    /// The number of readings whose value is not a level, by the value in whole dBm.
    private var refusedLevels: [Int: Int] = [:]
    /// The faults in rows, by the start of their message. Messages about the same kind of fault have the same start.
    private var rowFaults: [String: RowFault] = [:]
    private var rowCount = 0
    /// The line numbers of the rows with a fault.
    private var faultyRows: Set<Int> = []
    private var stays: [TableStay] = []
    /// The index of each stay in `stays`.
    private var indexOfStay: [StayKey: Int] = [:]
    /// The number of each beacon in the survey, by its key as written in the table.
    private var numberOfName: [String: Int] = [:]
    /// The columns of beacons in the wide form, with the beacons' numbers.
    private var wideColumns: [(offset: Int, beacon: Int)] = []

    /// Reads a table.
    ///
    /// - Parameters:
    ///   - notReceivedLevel: The number that means "not received", such as 100 or -200; `nil` if every number must be a
    ///     level.
    ///   - acceptsZeroLevel: True if 0 dBm is a level.
    ///   - acceptsRowsWithoutPlace: True if the table contains runs to locate. All rows of one session then form one
    ///     run in the order of time, and need no place.
    /// - Returns: The survey, and each kind of problem with its rows. The survey is `nil` if the header or a row cannot
    ///   be used.
    public static func read(
        _ octets: [UInt8], file: String, notReceivedLevel: Double? = nil, acceptsZeroLevel: Bool = false,
        acceptsRowsWithoutPlace: Bool = false
    ) -> (survey: Survey?, problems: [FileProblem]) {
        guard octets.contains(where: { $0 != 0x20 && $0 != 0x09 && $0 != 0x0A && $0 != 0x0D }) else {
            let message =
                "the file is empty: a survey has one JSON object in each line, as `pharos map record` writes it, or is a "
                + "table with a header row"
            return (nil, [FileProblem(message, at: .init(line: 1, column: 1), kind: .malformed)])
        }
        let (table, problems) = CSVTable.open(Self.translated(octets) ?? octets, file: file)
        guard let table, !problems.contains(where: \.isError) else { return (nil, problems) }
        var reader = SurveyTableReader(
            table: table, notReceivedLevel: notReceivedLevel, acceptsZeroLevel: acceptsZeroLevel,
            acceptsRowsWithoutPlace: acceptsRowsWithoutPlace, problems: problems)
        let survey = reader.read()
        return (survey, reader.problems)
    }

    private init(
        table: CSVTable, notReceivedLevel: Double?, acceptsZeroLevel: Bool, acceptsRowsWithoutPlace: Bool,
        problems: [FileProblem]
    ) {
        self.table = table
        columns = TableColumns(table)
        self.notReceivedLevel = notReceivedLevel
        self.acceptsZeroLevel = acceptsZeroLevel
        self.acceptsRowsWithoutPlace = acceptsRowsWithoutPlace
        self.problems = problems
    }

    // MARK: Files of the signal-mapping tool

    /// Converts a file of the signal-mapping tool of a thesis of 2013 to a table with the columns of Pharos. Returns
    /// `nil` for every other file.
    ///
    /// Each measurement becomes a place, and the number of the measurement becomes its name. `map record --move` can
    /// set the position of the place later.
    private static func translated(_ octets: [UInt8]) -> [UInt8]? {
        let firstLine = octets.prefix { $0 != UInt8(ascii: "\n") }.filter { $0 != UInt8(ascii: "\r") }
        let cells = firstLine.split(separator: UInt8(ascii: "\t"), omittingEmptySubsequences: false)
            .map { String(decoding: $0, as: UTF8.self) }
        guard cells.count > 1 else { return nil }
        if cells[0] == "measurement" { return Array("place".utf8) + octets.dropFirst("measurement".utf8.count) }
        // The dump has no header. Each line has the number of the measurement, a beacon and a level. All readings of a
        // measurement form one vector.
        guard cells.count == 3, !cells[1].isEmpty, Double(cells[0]) != nil, Double(cells[2]) != nil else { return nil }
        var table = Array("place\tbeacon\trssi\ttime\n".utf8)
        for line in octets.split(separator: UInt8(ascii: "\n")) {
            table += line.last == UInt8(ascii: "\r") ? line.dropLast() : line
            table += Array("\t0\n".utf8)
        }
        return table
    }

    // MARK: Rows

    /// The cells that distinguish one stay from another.
    private struct StayKey: Hashable {
        var session: String?
        var place: String?
        var floor: String?
        var position: FloorPosition?
        var heading: Double?
    }

    /// A stay with the rows that have been read so far.
    private struct TableStay {
        var key: StayKey
        var line: Int
        /// The time of each vector, in the order of the table.
        var times: [Double] = []
        /// The index of each vector, by its time.
        var indexOfTime: [Double: Int] = [:]
        /// The levels of each vector in dBm, by beacon.
        var vectors: [[Int: [Double]]] = []

        /// A copy of the stay whose vectors are in the order of time.
        var inOrder: TableStay {
            let order = times.indices.sorted { (times[$0], $0) < (times[$1], $1) }
            var copy = self
            copy.times = order.map { times[$0] }
            copy.vectors = order.map { vectors[$0] }
            return copy
        }
    }

    private mutating func read() -> Survey? {
        let known = Set(SurveyTable.columns)
        let isLong = columns.has("beacon") && columns.has("rssi")
        let beaconColumns = table.header.enumerated().filter {
            !known.contains(columns.names[$0.offset]) && !$0.element.isEmpty
        }
        let start = JSONPosition(line: 1, column: 1)
        guard isLong || !beaconColumns.isEmpty else {
            report("the table needs the columns beacon and rssi, or one column per beacon", at: start)
            return nil
        }
        guard acceptsRowsWithoutPlace || columns.has("place") || columns.has("x") && columns.has("y") else {
            report("the table needs the column place, or the columns x and y", at: start)
            return nil
        }
        var survey = Survey()
        survey.begin(Survey.Recording())
        for (offset, name) in isLong ? [] : beaconColumns {
            if let beacon = columns.key(name).flatMap({ survey.number(of: $0) }) {
                wideColumns.append((offset, beacon))
            }
        }
        var rows = table.rows
        var row = CSVRow()
        while rows.next(&row) {
            rowCount += 1
            if let fault = row.fault {
                report(fault.message, in: row.line)
                continue
            }
            do throws(FileProblem) {
                try read(row, isLong: isLong, into: &survey)
            } catch {
                report(error.message, in: row.line)
            }
        }
        if acceptsRowsWithoutPlace { stays = Self.runs(stays) }
        for stay in stays {
            guard let first = stay.times.min(), let last = stay.times.max(), last - first > SurveyTime.longest else {
                continue
            }
            let days = Int(min((last - first) / 86_400, 1e15))
            report(
                "the times span \(days) days, but at most \(Int(SurveyTime.longest / 86_400)) are allowed",
                in: stay.line)
        }
        guard rowFaults.isEmpty else {
            refuse()
            return nil
        }
        for (index, stay) in stays.enumerated() { add(stay, number: index + 1, to: &survey) }
        for (value, count) in refusedLevels.sorted(by: { $0.key < $1.key }) {
            warn(ReceivedLevel.leftOut(count, of: value, advice: "--absent \(value) if it means \"not received\""))
        }
        return survey
    }

    /// Reads one row.
    private mutating func read(_ row: CSVRow, isLong: Bool, into survey: inout Survey) throws(FileProblem) {
        let key = try stayKey(row)
        let time = try columns.time(row)
        let stay = indexOfStay[key] ?? stays.count
        if stay == stays.count {
            indexOfStay[key] = stay
            stays.append(TableStay(key: key, line: row.line))
        }
        let seconds = time ?? Double(stays[stay].times.count)
        let vector = stays[stay].indexOfTime[seconds] ?? stays[stay].vectors.count
        if vector == stays[stay].vectors.count {
            stays[stay].indexOfTime[seconds] = vector
            stays[stay].times.append(seconds)
            stays[stay].vectors.append([:])
        }
        guard isLong else {
            for (offset, beacon) in wideColumns where offset < row.cells.count {
                do throws(FileProblem) {
                    let text = row.cells[offset].string(in: table.octets)
                    guard let level = try level(text, of: table.header[offset]) else { continue }
                    stays[stay].vectors[vector][beacon, default: []].append(level)
                } catch {
                    report(error.message, in: row.line)
                }
            }
            return
        }
        guard let level = try level(columns.text("rssi", row) ?? "", of: "rssi"),
            let name = columns.text("beacon", row)
        else { return }
        guard let beacon = numberOfName[name] ?? columns.key(name).flatMap({ survey.number(of: $0) }) else {
            throw columns.problem("\(ProblemText.quoted(name)) cannot be the key of a beacon", row)
        }
        numberOfName[name] = beacon
        stays[stay].vectors[vector][beacon, default: []].append(level)
    }

    /// Joins the stays of one session into one run. If two of their vectors have the same time, does not join them.
    private static func runs(_ stays: [TableStay]) -> [TableStay] {
        var indexOfSession: [String?: Int] = [:]
        var sessions: [[TableStay]] = []
        for stay in stays {
            let index = indexOfSession[stay.key.session] ?? sessions.count
            if index == sessions.count {
                indexOfSession[stay.key.session] = index
                sessions.append([])
            }
            sessions[index].append(stay)
        }
        return sessions.flatMap { stays in
            let times = stays.flatMap(\.times)
            guard stays.count > 1, Set(times).count == times.count else { return stays.map(\.inOrder) }
            var run = TableStay(key: StayKey(session: stays[0].key.session), line: stays[0].line)
            run.times = times
            run.vectors = stays.flatMap(\.vectors)
            return [run.inOrder]
        }
    }

    private func add(_ tableStay: TableStay, number: Int, to survey: inout Survey) {
        var stay = Survey.Stay(
            number: number, place: tableStay.key.place, position: tableStay.key.position,
            floor: tableStay.key.floor, heading: tableStay.key.heading, session: tableStay.key.session)
        stay.line = tableStay.line
        survey.begin(stay)
        for (seconds, levels) in zip(tableStay.times, tableStay.vectors) {
            survey.append(
                seconds: seconds, levels.sorted { $0.key < $1.key }.map { (beacon: $0.key, levels: $0.value) })
        }
    }

    // MARK: Cells

    private func stayKey(_ row: CSVRow) throws(FileProblem) -> StayKey {
        var key = StayKey(
            session: columns.text("session", row), place: columns.text("place", row), floor: columns.text("floor", row))
        if let x = try columns.real("x", row), let y = try columns.real("y", row) {
            guard abs(x) <= Survey.extent, abs(y) <= Survey.extent else {
                throw columns.problem("the position is farther than \(Int(Survey.extent)) m from the origin", row)
            }
            key.position = FloorPosition(x: x, y: y)
        }
        key.heading = try columns.real("heading", row).map { $0 - ($0 / 360).rounded(.down) * 360 }
        return key
    }

    /// Returns the level in a cell, in dBm; `nil` for "not received", and for a number that is not a level. Such
    /// numbers are counted for a warning.
    private mutating func level(_ text: String, of column: String) throws(FileProblem) -> Double? {
        guard !text.isEmpty else { return nil }
        guard let value = columns.number(text) else { throw notALevel(text, column) }
        if let notReceivedLevel, value == notReceivedLevel || value.isNaN && notReceivedLevel.isNaN { return nil }
        if let level = ReceivedLevel.level(value, acceptsZeroLevel: acceptsZeroLevel) { return level }
        guard value.isFinite, abs(value) < 1e6 else { throw notALevel(text, column) }
        refusedLevels[Int(value.rounded()), default: 0] += 1
        return nil
    }

    private func notALevel(_ text: String, _ column: String) -> FileProblem {
        FileProblem(
            "\(ProblemText.quoted(column)) is not a level in dBm: \(ProblemText.quoted(text))"
                + (Double(text)?.isNaN == true ? "; use --absent \(text) if it means \"not received\"" : ""),
            at: JSONPosition(line: 1, column: 1))
    }

    // MARK: Problems

    /// A fault that occurs in at least one row.
    private struct RowFault {
        /// The message about the first row with the fault.
        let message: String
        /// The line of the first row with the fault.
        let firstLine: Int
        /// The line of the last row with the fault so far.
        var lastLine: Int
        /// The number of rows with the fault.
        var rows = 1
    }

    private mutating func report(_ message: String, at position: JSONPosition) {
        problems.append(FileProblem(message, at: position, kind: .malformed, in: table.file))
    }

    private mutating func warn(_ message: String) {
        problems.append(
            FileProblem(message, at: JSONPosition(line: 1, column: 1), severity: .warning, in: table.file))
    }

    /// Counts a fault in the row on `line`. Messages that differ only in the text of the cell count as one fault.
    private mutating func report(_ message: String, in line: Int) {
        faultyRows.insert(line)
        let messageStart = message.firstRange(of: ": \"").map { String(message[..<$0.lowerBound]) } ?? message
        guard var fault = rowFaults[messageStart] else {
            rowFaults[messageStart] = RowFault(message: message, firstLine: line, lastLine: line)
            return
        }
        // Count a row only once, even if several of its cells have the fault.
        if fault.lastLine != line { fault.rows += 1 }
        fault.lastLine = line
        rowFaults[messageStart] = fault
    }

    /// Adds the faults in rows to the problems, and adds the message that the table was not read.
    private mutating func refuse() {
        for fault in rowFaults.values.sorted(by: { ($0.firstLine, $0.message) < ($1.firstLine, $1.message) }) {
            let more = fault.rows - 1
            let otherRows =
                more == 0
                ? "" : "; \(more) more \(more == 1 ? "row has" : "rows have") this problem, up to row \(fault.lastLine)"
            report(fault.message + otherRows, at: JSONPosition(line: fault.firstLine, column: 1))
        }
        let count = faultyRows.count
        report(
            "the table was not read, because \(count) of \(rowCount) rows \(count == 1 ? "has" : "have") problems. Numbers "
                + "have a decimal point, or a decimal comma if semicolons or tabs separate the cells. Times are seconds, "
                + "milliseconds since 1970, or dates such as 2026-05-01T09:00:00Z. Levels are in dBm",
            at: JSONPosition(line: 1, column: 1))
    }
}

/// The forms of a time in a table.
enum SurveyTime {
    /// The longest span of a stay or a run, in seconds: 366 days.
    static let longest = 31_622_400.0

    /// Returns a time in seconds. Small numbers are seconds. Large numbers are milliseconds or microseconds since 1970,
    /// if this gives a date in 1973 or later. Returns `nil` for numbers between these ranges.
    static func seconds(_ value: Double) -> Double? {
        switch abs(value) {
        case ..<1e10: value
        case 1e11..<1e14: value / 1000
        case 1e14..<1e17: value / 1_000_000
        default: nil
        }
    }

    /// Returns the time of an RFC 3339 date, in seconds since 1970. A blank may replace the T. A date without a time
    /// zone is in UTC.
    static func seconds(_ text: String) -> Double? {
        var octets = Array(text.utf8)
        guard octets.count >= 19 else { return nil }
        if octets[10] == 0x20 { octets[10] = UInt8(ascii: "T") }
        let rest = String(decoding: octets[19...], as: UTF8.self)
        let digits =
            rest.hasPrefix(".") || rest.hasPrefix(",") ? rest.dropFirst().prefix { $0.isASCII && $0.isNumber } : ""
        let zone = rest.dropFirst(digits.isEmpty ? 0 : digits.count + 1)
        let whole = String(decoding: octets[..<19], as: UTF8.self) + (zone.isEmpty ? "Z" : String(zone))
        guard let time = RFC3339Time(whole) else { return nil }
        return Double(time.secondsSince1970) + (digits.isEmpty ? 0 : Double("0." + String(digits)) ?? 0)
    }
}

/// The cells of a table with a header, by the names of their columns.
///
/// The names may be in upper or lower case. Some column names of other programs are recognised too.
struct TableColumns {
    private static let aliases = [
        "timestamp": "time", "datetime": "time", "mac": "beacon", "bssid": "beacon", "address": "beacon",
        "rss": "rssi", "signal": "rssi", "location": "place",
    ]

    private let table: CSVTable
    /// The names of the columns in their order.
    let names: [String]
    private let columns: [String: Int]
    /// True if the column of beacons contains addresses. Addresses may be written without separators.
    private let hasAddresses: Bool

    init(_ table: CSVTable) {
        self.table = table
        let exact = table.header.map { SurveyTable.columns.contains($0.lowercased()) ? $0.lowercased() : $0 }
        names = exact.map { name in
            guard let known = Self.aliases[name.lowercased()], !exact.contains(known) else { return name }
            return known
        }
        columns = Dictionary(names.enumerated().map { ($0.element, $0.offset) }) { first, _ in first }
        hasAddresses = columns["beacon"].map { table.header[$0].lowercased() != "beacon" } ?? false
    }

    func has(_ column: String) -> Bool { columns[column] != nil }

    /// Returns the text of a cell; `nil` if the cell is empty or missing.
    func text(_ column: String, _ row: CSVRow) -> String? {
        guard let index = columns[column], index < row.cells.count else { return nil }
        let text = SpreadsheetText.raw(row.cells[index].string(in: table.octets))
        return text.isEmpty ? nil : text
    }

    /// Returns a number. It may have a decimal comma if commas do not separate the cells.
    func number(_ text: String) -> Double? {
        if let value = Double(text) { return value }
        guard table.separator != UInt8(ascii: ","), text.count(where: { $0 == "," }) == 1, !text.contains(".") else {
            return nil
        }
        return Double(text.replacing(",", with: "."))
    }

    /// Returns the number in a cell; `nil` if the cell is empty or missing.
    ///
    /// - Throws: If the text is not a number.
    func real(_ column: String, _ row: CSVRow) throws(FileProblem) -> Double? {
        guard let text = text(column, row) else { return nil }
        guard let value = number(text), value.isFinite else {
            throw problem("\(column) is not a number: \(ProblemText.quoted(text))", row)
        }
        return value
    }

    /// Returns the time in a cell, in seconds; `nil` if the cell is empty or missing.
    ///
    /// - Throws: If the text is neither a number nor a date.
    func time(_ row: CSVRow) throws(FileProblem) -> Double? {
        guard let text = text("time", row) else { return nil }
        guard let value = number(text).flatMap(SurveyTime.seconds) ?? SurveyTime.seconds(text), value.isFinite else {
            throw problem("time is not a time: \(ProblemText.quoted(text))", row)
        }
        return value
    }

    /// Returns the key of a beacon. All spellings of an address give one key.
    func key(_ text: String) -> BeaconKey? {
        let isAddress = hasAddresses || text.contains(":") || text.contains("-")
        if isAddress, text.utf8.count <= 17, let address = DeviceAddress(text) { return BeaconKey(.address(address)) }
        return BeaconKey(text)
    }

    /// Creates the error for a row.
    func problem(_ message: String, _ row: CSVRow) -> FileProblem {
        FileProblem(message, at: JSONPosition(line: row.line, column: 1), kind: .malformed, in: table.file)
    }
}
