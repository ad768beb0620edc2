internal import Airtime
public import Configuration

/// Reads a survey from a table: the long form with one row per reading, or the wide form with one column per beacon.
///
/// Rows with the same session, place, position, floor and heading form one stay, even if other rows are between them.
/// Rows of a stay with the same time form one vector.
public struct SurveyTableReader {
    private let table: CSVTable
    private let absent: Double?
    private let acceptsZero: Bool
    private let acceptsRuns: Bool
    private var problems: [FileProblem]
    private var refused: [Int: Int] = [:]
    private var unlisted = 0

    /// Reads a table.
    ///
    /// - Parameters:
    ///   - absent: The number that means "not received", such as 100 or -200. If `nil`, every number must be a level.
    ///   - acceptsZero: Whether 0 dBm is a level.
    ///   - acceptsRuns: Whether the table holds runs that are to be located. The rows of one session then form one run in
    ///     the order of time, and they need no place.
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
        var position: FloorPosition?
        var floor: String?
        var heading: Double?
    }

    private struct TableStay {
        var key: StayKey
        var line: Int
        /// The time of each vector, in the order of the table.
        var times: [Double] = []
        var byTime: [Double: Int] = [:]
        var vectors: [[Int: [Double]]] = []

        /// The same stay with its vectors in the order of time.
        var inOrder: TableStay {
            let order = times.indices.sorted { (times[$0], $0) < (times[$1], $1) }
            var copy = self
            copy.times = order.map { times[$0] }
            copy.vectors = order.map { vectors[$0] }
            return copy
        }
    }

    private mutating func read() -> Survey? {
        let columns = Dictionary(
            table.header.enumerated().map { ($0.element, $0.offset) }
        ) { first, _ in first }
        let known = Set(SurveyTable.columns)
        let isLong = columns["beacon"] != nil && columns["rssi"] != nil
        let beaconColumns = table.header.enumerated().filter { !known.contains($0.element) && !$0.element.isEmpty }
        guard isLong || !beaconColumns.isEmpty else {
            report(
                "the table needs the columns beacon and rssi, or one column per beacon", at: .init(line: 1, column: 1))
            return nil
        }
        guard acceptsRuns || columns["place"] != nil || columns["x"] != nil && columns["y"] != nil else {
            report("the table needs the column place, or the columns x and y", at: .init(line: 1, column: 1))
            return nil
        }
        var survey = Survey()
        survey.begin(Survey.Recording())
        let numbers = isLong ? [] : beaconColumns.map { BeaconKey($0.element).flatMap { survey.number(of: $0) } }
        var stays: [TableStay] = []
        var byKey: [StayKey: Int] = [:]
        var numberOfName: [String: Int] = [:]
        var rows = table.rows
        var row = CSVRow()
        while rows.next(&row) {
            let position = JSONPosition(line: row.line, column: 1)
            if let fault = row.fault {
                report(fault.message, at: position)
                continue
            }
            guard let key = stayKey(row, columns, at: position) else { continue }
            guard let time = real("time", row, columns, at: position) else { continue }
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
            if isLong {
                let name = text("beacon", row, columns)
                guard let value = level(text("rssi", row, columns), at: position), let name else { continue }
                guard let beacon = numberOfName[name] ?? BeaconKey(name).flatMap({ survey.number(of: $0) }) else {
                    report("\(ProblemText.quoted(name)) is not the key of a beacon", at: position)
                    continue
                }
                numberOfName[name] = beacon
                stays[stay].vectors[vector][beacon, default: []].append(value)
            } else {
                for (index, column) in beaconColumns.enumerated() {
                    guard let beacon = numbers[index], column.offset < row.cells.count else { continue }
                    let text = row.cells[column.offset].string(in: table.octets)
                    guard !text.isEmpty, let value = level(text, at: position) else { continue }
                    stays[stay].vectors[vector][beacon, default: []].append(value)
                }
            }
        }
        if acceptsRuns { stays = Self.runs(stays) }
        for (index, stay) in stays.enumerated() { add(stay, number: index + 1, to: &survey) }
        for (value, count) in refused.sorted(by: { $0.key < $1.key }) {
            warn(
                ReceivedLevel.leftOut(count, of: value, advice: "--absent \(value) if it means \"not received\""),
                at: .init(line: 1, column: 1))
        }
        if unlisted > 0 {
            problems.append(
                FileProblem(
                    "\(unlisted) more problems are not listed", at: .init(line: 1, column: 1), severity: .warning,
                    in: table.file))
        }
        return survey
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

    /// `nil` for a cell that is empty or missing.
    private func text(_ column: String, _ row: CSVRow, _ columns: [String: Int]) -> String? {
        guard let index = columns[column], index < row.cells.count else { return nil }
        let text = row.cells[index].string(in: table.octets)
        return text.isEmpty ? nil : text
    }

    /// `.some(nil)` for an empty cell. `nil` for a cell that is not a number, which is reported.
    private mutating func real(
        _ column: String, _ row: CSVRow, _ columns: [String: Int], at position: JSONPosition
    ) -> Double?? {
        guard let text = text(column, row, columns) else { return .some(nil) }
        guard let value = Double(text), value.isFinite else {
            report("\(column) is not a number: \(ProblemText.quoted(text))", at: position)
            return nil
        }
        return .some(value)
    }

    private mutating func stayKey(
        _ row: CSVRow, _ columns: [String: Int], at position: JSONPosition
    ) -> StayKey? {
        guard let x = real("x", row, columns, at: position), let y = real("y", row, columns, at: position),
            let heading = real("heading", row, columns, at: position)
        else { return nil }
        var place: FloorPosition?
        if let x, let y {
            guard abs(x) <= Survey.extent, abs(y) <= Survey.extent else {
                report("the position is farther than \(Int(Survey.extent)) m from the origin", at: position)
                return nil
            }
            place = FloorPosition(x: x, y: y)
        }
        let turned = heading.map { $0 - ($0 / 360).rounded(.down) * 360 }
        return StayKey(
            session: text("session", row, columns), place: text("place", row, columns), position: place,
            floor: text("floor", row, columns), heading: turned)
    }

    /// `nil` for "not received", and for a number that is not a level, which is counted or reported.
    private mutating func level(_ text: String?, at position: JSONPosition) -> Double? {
        guard let text, !text.isEmpty else { return nil }
        guard let value = Double(text) else {
            report("\(ProblemText.quoted(text)) is not a level in dBm", at: position)
            return nil
        }
        if let absent, value == absent || value.isNaN && absent.isNaN { return nil }
        if let level = ReceivedLevel.level(value, acceptsZero: acceptsZero) { return level }
        if value.isFinite, abs(value) < 1e6 {
            refused[Int(value.rounded()), default: 0] += 1
        } else {
            report("\(ProblemText.quoted(text)) is not a level in dBm", at: position)
        }
        return nil
    }

    // MARK: Problems

    private mutating func report(_ message: String, at position: JSONPosition) {
        add(FileProblem(message, at: position, kind: .malformed, in: table.file))
    }

    private mutating func warn(_ message: String, at position: JSONPosition) {
        add(FileProblem(message, at: position, severity: .warning, in: table.file))
    }

    private mutating func add(_ problem: FileProblem) {
        guard problems.count < JSONDocument.problemLimit else {
            unlisted += 1
            return
        }
        problems.append(problem)
    }
}
