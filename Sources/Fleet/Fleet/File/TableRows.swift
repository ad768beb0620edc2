internal import Configuration

/// Reads the rows of a table as beacons.
struct TableRows {
    private let source: TableSource
    /// The group that the table belongs to.
    private let group: Int
    /// The columns that name a row's group.
    private let groupColumns: [Int]
    /// The groups by the cells that name them; `nil` inside for cells that name no group.
    private var groups: [[String]: Int?] = [:]

    private var table: CSVTable { source.table }
    private var columns: TableColumns { source.columns }

    init(_ source: TableSource, group: Int) {
        self.source = source
        self.group = group
        groupColumns = source.columns.group.map { [$0] } ?? source.columns.levels.compactMap { $0 }
    }

    mutating func read(into decoder: inout FleetDecoder) {
        var rows = table.rows
        var row = CSVRow()
        while rows.next(&row) {
            if let fault = row.fault {
                report(fault.message, at: fault.offset, column: nil, row, &decoder, kind: .malformed)
                continue
            }
            guard hasAllColumns(row, &decoder) else { continue }
            let number = groupNumber(row, &decoder)
            checkWords(row, &decoder)
            let beacon = beacon(row, in: number ?? group)
            if let fault = NameRule.beaconFault(beacon.name) ?? decoder.add(beacon) {
                report(fault, at: Int(row.cells[columns.name].start), column: columns.name, row, &decoder)
            }
        }
    }

    private func beacon(_ row: CSVRow, in group: Int) -> Fleet.Beacon {
        func cell(_ column: Int?) -> String? {
            guard let column, !row.cells[column].isEmpty else { return nil }
            return text(row, column)
        }
        func coordinate(_ index: Int) -> JSONNumber? { cell(columns.coordinates[index]).flatMap { JSONNumber($0) } }
        var beacon = Fleet.Beacon(
            name: text(row, columns.name), group: group, row: .init(table: source, start: row.start, line: row.line),
            host: cell(columns.host), serial: cell(columns.serial), was: cell(columns.was),
            controller: cell(columns.controller).flatMap { ControllerKind(rawValue: $0) })
        if let x = coordinate(0), let y = coordinate(1) {
            beacon.position = .plan(x: x, y: y, z: coordinate(2))
        } else if let latitude = coordinate(3), let longitude = coordinate(4) {
            beacon.position = .globe(latitude: latitude, longitude: longitude)
        }
        for (name, column) in columns.variables {
            if let text = cell(column) {
                beacon.variables[name] = Variable(value: .cell(text), origin: .column(column))
            }
        }
        return beacon
    }

    private func text(_ row: CSVRow, _ column: Int) -> String { row.cells[column].string(in: table.octets) }

    func report(
        _ message: String, at offset: Int, column: Int?, _ row: CSVRow, _ decoder: inout FleetDecoder,
        kind: FileProblem.Kind = .invalid
    ) {
        let path = column.map { JSONPath([.key(table.header[$0])]) } ?? .root
        decoder.problems.add(
            FileProblem(message, at: table.position(of: offset, in: row), path: path, kind: kind, in: table.file))
    }

    private func hasAllColumns(_ row: CSVRow, _ decoder: inout FleetDecoder) -> Bool {
        let expected = table.header.count
        if row.cells.count == expected { return true }
        // Spreadsheets end rows with separators.
        if row.cells.count > expected, row.cells[expected...].allSatisfy(\.isEmpty) { return true }
        let few = row.cells.count < expected
        let end = few ? row.cells.last.map { Int($0.end) } ?? row.start : Int(row.cells[expected].start)
        report(
            "the row has \(row.cells.count) cells, the header \(expected)"
                + (few ? "" : "; a cell with a separator in it stands in double quotes"),
            at: end, column: nil, row, &decoder, kind: .malformed)
        return false
    }

    /// The number of the row's group.
    private mutating func groupNumber(_ row: CSVRow, _ decoder: inout FleetDecoder) -> Int? {
        guard !groupColumns.isEmpty else { return group }
        let cells = groupColumns.map { text(row, $0) }
        if let known = groups[cells] { return known }
        // The search for the nearest name is slow, and no more problems are listed.
        let found = decoder.problems.isFull ? nil : find(row, &decoder)
        groups[cells] = .some(found)
        return found
    }

    private func find(_ row: CSVRow, _ decoder: inout FleetDecoder) -> Int? {
        var names: [(name: String, column: Int)] = []
        let own = decoder.groups[group].path
        if let column = columns.group {
            let text = row.cells[column].string(in: table.octets)
            names = text.split(separator: "/", omittingEmptySubsequences: false).map { (String($0), column) }
            if text.isEmpty { names = [] }
        } else {
            for (level, column) in columns.levels.enumerated() {
                guard let column else { continue }
                let name = row.cells[column].string(in: table.octets)
                if level < own.count {
                    guard name.isEmpty || name == own[level] else {
                        report(
                            "this \(Fleet.levelNames[level]) is \(ProblemText.quoted(name)), but the table belongs to "
                                + "the group \"\(own.joined(separator: "/"))\"",
                            at: Int(row.cells[column].start), column: column, row, &decoder)
                        return nil
                    }
                    continue
                }
                if name.isEmpty { continue }
                guard level == own.count + names.count else {
                    let missing = Fleet.levelNames[own.count + names.count]
                    report(
                        "a \(Fleet.levelNames[level]) is given and no \(missing): groups are sites, floors in them and "
                            + "rooms in those",
                        at: Int(row.cells[column].start), column: column, row, &decoder)
                    return nil
                }
                names.append((name, column))
            }
        }
        do throws(FleetDecoder.GroupFault) {
            return try decoder.group(names.map(\.name), from: group)
        } catch {
            let column = names.first?.column ?? columns.name
            report(error.description, at: Int(row.cells[column].start), column: column, row, &decoder)
            return nil
        }
    }
}

extension TableRows {
    /// Host, serial number, former name, controller and coordinates.
    func checkWords(_ row: CSVRow, _ decoder: inout FleetDecoder) {
        checkWord(columns.host, row, &decoder)
        checkWord(columns.serial, row, &decoder)
        if let column = columns.was, !row.cells[column].isEmpty,
            let fault = NameRule.fault(text(row, column))
        {
            report(fault, at: Int(row.cells[column].start), column: column, row, &decoder)
        }
        if let column = columns.controller, !row.cells[column].isEmpty {
            let text = row.cells[column].string(in: table.octets)
            if ControllerKind(rawValue: text) == nil {
                report(
                    "\(ProblemText.quoted(text)) is no kind of controller: "
                        + ControllerKind.allCases.map(\.rawValue).joined(separator: ", "),
                    at: Int(row.cells[column].start), column: column, row, &decoder)
            }
        }
        for (index, column) in columns.coordinates.enumerated() {
            guard let column, !row.cells[column].isEmpty else { continue }
            checkCoordinate(row.cells[column], index, column, row, &decoder)
        }
        if let fault = columns.coordinateFault(in: row) {
            let cell = row.cells[fault.column]
            report(fault.message, at: Int(cell.start), column: fault.column, row, &decoder)
        }
    }

    private func checkWord(_ column: Int?, _ row: CSVRow, _ decoder: inout FleetDecoder) {
        guard let column, !row.cells[column].isEmpty else { return }
        let cell = row.cells[column]
        guard !NameRule.isWord(cell.string(in: table.octets)) else { return }
        report(
            "\(ProblemText.quoted(cell.string(in: table.octets))) is no host's name, address or serial number: "
                + "letters, digits, \".\", \"_\", \"-\" and \":\"",
            at: Int(cell.start), column: column, row, &decoder)
    }

    func checkCoordinate(
        _ cell: CSVCell, _ index: Int, _ column: Int, _ row: CSVRow, _ decoder: inout FleetDecoder
    ) {
        let limit = index < 3 ? Fleet.extent : index == 3 ? 90 : 180
        let text = cell.string(in: table.octets)
        guard let number = JSONNumber(text) else {
            let hint = text.contains(",") ? "; a decimal number has a point" : ""
            report(
                "a number is expected, not \(ProblemText.quoted(text))\(hint)", at: Int(cell.start), column: column,
                row, &decoder)
            return
        }
        guard let value = Double(number.text), abs(value) <= limit else {
            let unit = index < 3 ? "m" : "degrees"
            report(
                "\(ProblemText.shortened(text)) is out of range \(Int(-limit))...\(Int(limit)) \(unit)",
                at: Int(cell.start), column: column, row, &decoder)
            return
        }
    }
}

extension TableColumns {
    /// Whether coordinates are there of which one makes no sense without another.
    fileprivate func coordinateFault(in row: CSVRow) -> (column: Int, message: String)? {
        func given(_ index: Int) -> Int? {
            guard let column = coordinates[index], !row.cells[column].isEmpty else { return nil }
            return column
        }
        if let x = given(0) ?? given(1) ?? given(2), given(0) == nil || given(1) == nil {
            return (x, "a place needs both x and y")
        }
        if let degrees = given(3) ?? given(4) {
            if given(3) == nil || given(4) == nil { return (degrees, "a place needs both latitude and longitude") }
            if given(0) != nil { return (degrees, "a place is given either by x and y or by latitude and longitude") }
        }
        return nil
    }
}
