internal import Airtime
public import Configuration

/// Reads a survey from a table: the long form with one row per reading, or the wide form with one column per beacon.
///
/// Rows with the same session, place, position, floor and heading form one stay, even if other rows are between them.
/// Rows of a stay with the same time form one vector.
public struct SurveyTableReader {
    private let table: CSVTable
    private let columns: TableColumns
    private let absent: Double?
    private let acceptsZero: Bool
    private let acceptsRuns: Bool
    private var problems: [FileProblem]
    private var refused: [Int: Int] = [:]
    private var unlisted = 0
    private var stays: [TableStay] = []
    private var byKey: [StayKey: Int] = [:]
    private var numberOfName: [String: Int] = [:]
    /// The columns of beacons in the wide form, with the beacons' numbers.
    private var wide: [(offset: Int, beacon: Int)] = []

    /// Reads a table.
    ///
    /// - Parameters:
    ///   - absent: The number that means "not received", such as 100 or -200. If `nil`, every number must be a level.
    ///   - acceptsZero: True if 0 dBm is a level.
    ///   - acceptsRuns: True if the table holds runs that are to be located. The rows of one session then form one run
    ///     in the order of time, and they need no place.
    /// - Returns: The survey, or `nil` if the table has no usable header, and every problem with its row.
    public static func read(
        _ octets: [UInt8], file: String, absent: Double? = nil, acceptsZero: Bool = false,
        acceptsRuns: Bool = false
    ) -> (survey: Survey?, problems: [FileProblem]) {
        let (table, problems) = CSVTable.open(Self.translated(octets) ?? octets, file: file)
        guard let table, !problems.contains(where: \.isError) else { return (nil, problems) }
        var reader = SurveyTableReader(
            table: table, absent: absent, acceptsZero: acceptsZero, acceptsRuns: acceptsRuns, problems: problems)
        let survey = reader.read()
        return (survey, reader.problems)
    }

    private init(
        table: CSVTable, absent: Double?, acceptsZero: Bool, acceptsRuns: Bool, problems: [FileProblem]
    ) {
        self.table = table
        columns = TableColumns(table)
        self.absent = absent
        self.acceptsZero = acceptsZero
        self.acceptsRuns = acceptsRuns
        self.problems = problems
    }

    // MARK: Files of the signal-mapping tool

    /// A file of the signal-mapping tool (the thesis of 2013) as a table with this project's columns. `nil` for every
    /// other file.
    ///
    /// A measurement becomes a place whose name is the measurement's number. `map record --move` can move it to its
    /// position later.
    private static func translated(_ octets: [UInt8]) -> [UInt8]? {
        let first = octets.prefix { $0 != UInt8(ascii: "\n") }.filter { $0 != UInt8(ascii: "\r") }
        let cells = first.split(separator: UInt8(ascii: "\t"), omittingEmptySubsequences: false)
            .map { String(decoding: $0, as: UTF8.self) }
        guard cells.count > 1 else { return nil }
        if cells[0] == "measurement" { return Array("place".utf8) + octets.dropFirst("measurement".utf8.count) }
        // The dump has no header: a number, a beacon and a level. All readings of a measurement are one vector.
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

    private struct TableStay {
        var key: StayKey
        var line: Int
        /// The time of each vector, in the order of the table.
        var times: [Double] = []
        var byTime: [Double: Int] = [:]
        var vectors: [[Int: [Double]]] = []

        /// A copy with the vectors in the order of time.
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
        let beaconColumns = table.header.enumerated().filter { !known.contains($0.element) && !$0.element.isEmpty }
        let start = JSONPosition(line: 1, column: 1)
        guard isLong || !beaconColumns.isEmpty else {
            report("the table needs the columns beacon and rssi, or one column per beacon", at: start)
            return nil
        }
        guard acceptsRuns || columns.has("place") || columns.has("x") && columns.has("y") else {
            report("the table needs the column place, or the columns x and y", at: start)
            return nil
        }
        var survey = Survey()
        survey.begin(Survey.Recording())
        for (offset, name) in isLong ? [] : beaconColumns {
            if let beacon = BeaconKey(name).flatMap({ survey.number(of: $0) }) { wide.append((offset, beacon)) }
        }
        var rows = table.rows
        var row = CSVRow()
        while rows.next(&row) {
            let position = JSONPosition(line: row.line, column: 1)
            if let fault = row.fault {
                report(fault.message, at: position)
                continue
            }
            do throws(FileProblem) {
                try read(row, isLong: isLong, into: &survey)
            } catch {
                report(error.message, at: position)
            }
        }
        if acceptsRuns { stays = Self.runs(stays) }
        for (index, stay) in stays.enumerated() { add(stay, number: index + 1, to: &survey) }
        for (value, count) in refused.sorted(by: { $0.key < $1.key }) {
            warn(ReceivedLevel.leftOut(count, of: value, advice: "--absent \(value) if it means \"not received\""))
        }
        if unlisted > 0 {
            problems.append(
                FileProblem("\(unlisted) more problems are not listed", at: start, severity: .warning, in: table.file))
        }
        return survey
    }

    /// Reads one row.
    private mutating func read(_ row: CSVRow, isLong: Bool, into survey: inout Survey) throws(FileProblem) {
        let key = try stayKey(row)
        let time = try columns.real("time", row)
        let stay = byKey[key] ?? stays.count
        if stay == stays.count {
            byKey[key] = stay
            stays.append(TableStay(key: key, line: row.line))
        }
        let seconds = time ?? Double(stays[stay].times.count)
        let vector = stays[stay].byTime[seconds] ?? stays[stay].vectors.count
        if vector == stays[stay].vectors.count {
            stays[stay].byTime[seconds] = vector
            stays[stay].times.append(seconds)
            stays[stay].vectors.append([:])
        }
        guard isLong else {
            for (offset, beacon) in wide where offset < row.cells.count {
                do throws(FileProblem) {
                    guard let level = try level(row.cells[offset].string(in: table.octets)) else { continue }
                    stays[stay].vectors[vector][beacon, default: []].append(level)
                } catch {
                    report(error.message, at: JSONPosition(line: row.line, column: 1))
                }
            }
            return
        }
        guard let level = try level(columns.text("rssi", row) ?? ""), let name = columns.text("beacon", row) else {
            return
        }
        guard let beacon = numberOfName[name] ?? BeaconKey(name).flatMap({ survey.number(of: $0) }) else {
            throw columns.problem("\(ProblemText.quoted(name)) is not the key of a beacon", row)
        }
        numberOfName[name] = beacon
        stays[stay].vectors[vector][beacon, default: []].append(level)
    }

    /// Joins the stays of one session into one run, unless two of their vectors have the same time.
    private static func runs(_ stays: [TableStay]) -> [TableStay] {
        var bySession: [String?: Int] = [:]
        var sessions: [[TableStay]] = []
        for stay in stays {
            let number = bySession[stay.key.session] ?? sessions.count
            if number == sessions.count {
                bySession[stay.key.session] = number
                sessions.append([])
            }
            sessions[number].append(stay)
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

    private func add(_ found: TableStay, number: Int, to survey: inout Survey) {
        var stay = Survey.Stay(
            number: number, place: found.key.place, position: found.key.position, floor: found.key.floor,
            heading: found.key.heading, session: found.key.session)
        stay.line = found.line
        survey.begin(stay)
        for (seconds, levels) in zip(found.times, found.vectors) {
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

    /// `nil` for "not received", and for a number that is not a level, which is counted.
    private mutating func level(_ text: String) throws(FileProblem) -> Double? {
        guard !text.isEmpty else { return nil }
        guard let value = Double(text) else { throw notALevel(text) }
        if let absent, value == absent || value.isNaN && absent.isNaN { return nil }
        if let level = ReceivedLevel.level(value, acceptsZero: acceptsZero) { return level }
        guard value.isFinite, abs(value) < 1e6 else { throw notALevel(text) }
        refused[Int(value.rounded()), default: 0] += 1
        return nil
    }

    private func notALevel(_ text: String) -> FileProblem {
        FileProblem("\(ProblemText.quoted(text)) is not a level in dBm", at: JSONPosition(line: 1, column: 1))
    }

    // MARK: Problems

    private mutating func report(_ message: String, at position: JSONPosition) {
        add(FileProblem(message, at: position, kind: .malformed, in: table.file))
    }

    private mutating func warn(_ message: String) {
        add(FileProblem(message, at: JSONPosition(line: 1, column: 1), severity: .warning, in: table.file))
    }

    private mutating func add(_ problem: FileProblem) {
        guard problems.count < JSONDocument.problemLimit else {
            unlisted += 1
            return
        }
        problems.append(problem)
    }
}

/// The cells of a table with a header, by the names of their columns.
struct TableColumns {
    private let table: CSVTable
    private let columns: [String: Int]

    init(_ table: CSVTable) {
        self.table = table
        columns = Dictionary(table.header.enumerated().map { ($0.element, $0.offset) }) { first, _ in first }
    }

    func has(_ column: String) -> Bool { columns[column] != nil }

    /// The text of a cell. `nil` if it is empty or missing.
    func text(_ column: String, _ row: CSVRow) -> String? {
        guard let index = columns[column], index < row.cells.count else { return nil }
        let text = row.cells[index].string(in: table.octets)
        return text.isEmpty ? nil : text
    }

    /// The number in a cell. `nil` if it is empty or missing.
    ///
    /// - Throws: If it is not a number.
    func real(_ column: String, _ row: CSVRow) throws(FileProblem) -> Double? {
        guard let text = text(column, row) else { return nil }
        guard let value = Double(text), value.isFinite else {
            throw problem("\(column) is not a number: \(ProblemText.quoted(text))", row)
        }
        return value
    }

    /// An error in a row.
    func problem(_ message: String, _ row: CSVRow) -> FileProblem {
        FileProblem(message, at: JSONPosition(line: row.line, column: 1), kind: .malformed, in: table.file)
    }
}
