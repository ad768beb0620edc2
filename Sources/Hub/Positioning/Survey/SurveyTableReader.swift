internal import Airtime
public import Configuration

/// Reads a survey from a table: the long form with one row a reading, or the wide one with one column a beacon.
///
/// Rows with equal session, place, position, floor and heading are one stay wherever they stand; of those, equal times are
/// one vector.
public struct SurveyTableReader {
    private let table: CSVTable
    private let absent: Double?
    private let acceptsZero: Bool
    private let acceptsRuns: Bool
    private var problems: [FileProblem]
    private var refused: [Int: Int] = [:]
    private var unlisted = 0

    /// A number that stands for "not heard", and what was read.
    ///
    /// - Parameters:
    ///   - absent: What stands for "not heard", such as 100 or -200. Without it every number must be a level.
    ///   - acceptsZero: Whether a level of 0 dBm is one.
    ///   - acceptsRuns: Whether these are runs of somebody who is to be located: those of one session, in the order of
    ///     time, wherever they were, and none needs a place.
    /// - Returns: the survey, `nil` where the table cannot be followed, and every problem by its row.
    public static func read(
        _ octets: [UInt8], file: String, absent: Double? = nil, acceptsZero: Bool = false,
        acceptsRuns: Bool = false
    ) -> (survey: Survey?, problems: [FileProblem]) {
        let (table, problems) = CSVTable.open(MeasurementTable.translated(octets) ?? octets, file: file)
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

    /// What tells one stay from another.
    private struct StayKey: Hashable {
        var session: String?
        var place: String?
        var position: FloorPosition?
        var floor: String?
        var heading: Double?
    }

    private struct Gathered {
        var key: StayKey
        var line: Int
        /// By time, in the order of the table.
        var times: [Double] = []
        var byTime: [Double: Int] = [:]
        var vectors: [[(beacon: Int, level: Double)]] = []

        /// By time; of equal times the first is first.
        var inOrder: Gathered {
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
            report("neither columns beacon and rssi nor one column a beacon", at: .init(line: 1, column: 1))
            return nil
        }
        guard acceptsRuns || columns["place"] != nil || columns["x"] != nil && columns["y"] != nil else {
            report("no column place, and no columns x and y", at: .init(line: 1, column: 1))
            return nil
        }
        var survey = Survey()
        survey.begin(Survey.Recording())
        let numbers = isLong ? [] : beaconColumns.map { BeaconKey($0.element).flatMap { survey.number(of: $0) } }
        var stays: [Gathered] = []
        var byKey: [StayKey: Int] = [:]
        var cache: [String: Int?] = [:]
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
                stays.append(Gathered(key: key, line: row.line))
            }
            let seconds = time ?? Double(stays[stay].times.count)
            let vector = stays[stay].byTime[seconds] ?? stays[stay].vectors.count
            if vector == stays[stay].vectors.count {
                stays[stay].byTime[seconds] = vector
                stays[stay].times.append(seconds)
                stays[stay].vectors.append([])
            }
            if isLong {
                let name = text("beacon", row, columns)
                guard let value = level(text("rssi", row, columns), at: position), let name else { continue }
                if cache[name] == nil { cache[name] = .some(BeaconKey(name).flatMap { survey.number(of: $0) }) }
                guard let beacon = cache[name] ?? nil else {
                    report("\(ProblemText.quoted(name)) is no key of a beacon", at: position)
                    continue
                }
                stays[stay].vectors[vector].append((beacon, value))
            } else {
                for (index, column) in beaconColumns.enumerated() {
                    guard let beacon = numbers[index], column.offset < row.cells.count else { continue }
                    let text = row.cells[column.offset].string(in: table.octets)
                    guard !text.isEmpty, let value = level(text, at: position) else { continue }
                    stays[stay].vectors[vector].append((beacon, value))
                }
            }
        }
        if acceptsRuns { stays = Self.runs(stays) }
        for (index, gathered) in stays.enumerated() { add(gathered, number: index + 1, to: &survey) }
        for (value, count) in refused.sorted(by: { $0.key < $1.key }) {
            warn(
                ReceivedLevel.leftOut(count, of: value, advice: "--absent \(value) where it means \"not heard\""),
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

    /// Those of one session are one run, unless their times say that they are several.
    private static func runs(_ stays: [Gathered]) -> [Gathered] {
        var bySession: [String?: Int] = [:]
        var sessions: [[Gathered]] = []
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
            var run = Gathered(key: StayKey(session: stays[0].key.session), line: stays[0].line)
            run.times = times
            run.vectors = stays.flatMap(\.vectors)
            return [run.inOrder]
        }
    }

    private func add(_ gathered: Gathered, number: Int, to survey: inout Survey) {
        var stay = Survey.Stay(
            number: number, place: gathered.key.place, position: gathered.key.position, floor: gathered.key.floor,
            heading: gathered.key.heading, session: gathered.key.session)
        stay.line = gathered.line
        survey.begin(stay)
        for (index, readings) in gathered.vectors.enumerated() {
            var byBeacon: [Int: [Double]] = [:]
            for reading in readings { byBeacon[reading.beacon, default: []].append(reading.level) }
            survey.append(
                seconds: gathered.times[index],
                byBeacon.sorted { $0.key < $1.key }.map { (beacon: $0.key, levels: $0.value) })
        }
    }

    // MARK: Cells

    /// `nil` for a cell that is empty or not there.
    private func text(_ column: String, _ row: CSVRow, _ columns: [String: Int]) -> String? {
        guard let index = columns[column], index < row.cells.count else { return nil }
        let text = row.cells[index].string(in: table.octets)
        return text.isEmpty ? nil : text
    }

    /// `.some(nil)` for a cell that is empty; `nil` for one that is no number, which is reported.
    private mutating func real(
        _ column: String, _ row: CSVRow, _ columns: [String: Int], at position: JSONPosition
    ) -> Double?? {
        guard let text = text(column, row, columns) else { return .some(nil) }
        guard let value = Double(text), value.isFinite else {
            report("\(column) is no number: \(ProblemText.quoted(text))", at: position)
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

    /// `nil` for what means "not heard", and for what is no level, which is counted or reported.
    private mutating func level(_ text: String?, at position: JSONPosition) -> Double? {
        guard let text, !text.isEmpty else { return nil }
        guard let value = Double(text) else {
            report("\(ProblemText.quoted(text)) is no level in dBm", at: position)
            return nil
        }
        if let absent, value == absent || value.isNaN && absent.isNaN { return nil }
        if let level = ReceivedLevel.level(value, acceptsZero: acceptsZero) { return level }
        if value.isFinite, abs(value) < 1e6 {
            refused[Int(value.rounded()), default: 0] += 1
        } else {
            report("\(ProblemText.quoted(text)) is no level in dBm", at: position)
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
